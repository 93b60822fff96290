"""Names that the rules are about: builtins, attributes, modules, methods. Pure data; `rules.py` says what they mean."""

from __future__ import annotations

from typing import Final

from ringfence.enclave.modules import MODULES

# names with two underscores

READABLE: Final = frozenset("__name__ __doc__ __qualname__ __version__ __debug__".split())
"""May be read anywhere."""
CLASS_DATA: Final = frozenset("__slots__ __match_args__ __hash__ __all__ __version__ __author__ __doc__".split())
"""May be assigned at the top level or in a class body."""
PROTOCOL: Final = frozenset(
    """__init__ __post_init__ __new__ __call__ __repr__ __str__ __format__ __bytes__ __bool__ __hash__ __len__
    __length_hint__ __index__ __int__ __float__ __complex__ __round__ __trunc__ __floor__ __ceil__
    __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __iter__ __next__ __reversed__ __contains__ __getitem__ __setitem__
    __delitem__ __missing__ __enter__ __exit__ __aenter__ __aexit__ __aiter__ __anext__ __await__
    __add__ __radd__ __iadd__ __sub__ __rsub__ __isub__ __mul__ __rmul__ __imul__ __truediv__ __rtruediv__
    __itruediv__ __floordiv__ __rfloordiv__ __ifloordiv__ __mod__ __rmod__ __imod__ __divmod__ __rdivmod__ __pow__
    __rpow__ __ipow__ __matmul__ __rmatmul__ __imatmul__ __and__ __rand__ __iand__ __or__ __ror__ __ior__ __xor__
    __rxor__ __ixor__ __lshift__ __rlshift__ __ilshift__ __rshift__ __rrshift__ __irshift__ __neg__ __pos__ __abs__
    __invert__ __copy__ __deepcopy__ __fspath__ __dir__""".split()
)
"""Methods that a class may define, and call on `super()` or with `self`."""
HOOKS: Final = frozenset(
    """__getattr__ __getattribute__ __setattr__ __delattr__ __get__ __set__ __delete__ __set_name__ __init_subclass__
    __class_getitem__ __instancecheck__ __subclasscheck__ __subclasshook__ __prepare__ __mro_entries__ __reduce__
    __reduce_ex__ __getstate__ __setstate__ __getnewargs__ __getnewargs_ex__""".split()
)
STRICT_METHODS: Final = frozenset("__init__ __post_init__ __str__ __repr__".split())

ERROR_CHAIN: Final = frozenset("__cause__ __context__ __suppress_context__ __notes__".split())

FRAMES: Final = frozenset(
    """gi_frame gi_code gi_yieldfrom gi_suspended cr_frame cr_code cr_await cr_origin ag_frame ag_code ag_await f_back
    f_globals f_locals f_builtins f_code f_trace f_lasti f_lineno tb_frame tb_next tb_lasti tb_lineno with_traceback
    co_code co_consts co_names co_varnames co_freevars co_cellvars co_filename co_name co_firstlineno co_lines
    co_positions co_linetable co_flags co_stacksize co_argcount func_globals func_code func_closure func_defaults
    func_dict""".split()
)

# builtins

INTROSPECTION: Final = frozenset("globals locals vars dir".split())
DYNAMIC_CODE: Final = frozenset("eval exec compile __import__".split())
HOST: Final = frozenset("open input breakpoint help".split())
ATTRIBUTE_CALLS: Final = frozenset("getattr setattr delattr hasattr".split())
GETTERS: Final = frozenset("operator.attrgetter operator.methodcaller".split())
EXCEPTIONS: Final = frozenset(
    """BaseException BaseExceptionGroup Exception ExceptionGroup ArithmeticError AssertionError AttributeError
    BlockingIOError BrokenPipeError BufferError BytesWarning ChildProcessError ConnectionAbortedError ConnectionError
    ConnectionRefusedError ConnectionResetError DeprecationWarning EOFError EncodingWarning EnvironmentError
    FileExistsError FileNotFoundError FloatingPointError FutureWarning GeneratorExit IOError ImportError ImportWarning
    IndentationError IndexError InterruptedError IsADirectoryError KeyError KeyboardInterrupt LookupError MemoryError
    ModuleNotFoundError NameError NotADirectoryError NotImplementedError OSError OverflowError
    PendingDeprecationWarning PermissionError ProcessLookupError RecursionError ReferenceError ResourceWarning
    RuntimeError RuntimeWarning StopAsyncIteration StopIteration SyntaxError SyntaxWarning SystemError SystemExit
    TabError TimeoutError TypeError UnboundLocalError UnicodeDecodeError UnicodeEncodeError UnicodeError
    UnicodeTranslateError UnicodeWarning UserWarning ValueError Warning ZeroDivisionError
    PythonFinalizationError""".split()
)
BUILTINS: Final = EXCEPTIONS | frozenset(
    """abs aiter all anext any ascii bin bool bytearray bytes callable chr classmethod complex delattr dict divmod
    enumerate exit filter float format frozenset getattr hasattr hash hex id int isinstance issubclass iter len list map
    max memoryview min next object oct ord pow print property range repr reversed round set setattr slice sorted
    quit staticmethod str sum super tuple type zip Ellipsis NotImplemented __name__ __doc__ __debug__""".split()
)
STRICT_LACKS: Final = frozenset("id memoryview bytearray".split())
"""Builtins that the other levels have: they show addresses and raw memory."""
CLASSES: Final = frozenset(
    "bool bytearray bytes complex dict float frozenset int list object set slice str tuple type range".split()
)

# modules

STRICT_MODULES: Final = frozenset(
    """__future__ abc asyncio bisect calendar collections collections.abc dataclasses datetime decimal enum fractions
    functools heapq itertools json math operator random statistics string textwrap typing zoneinfo""".split()
)
SECURE_MODULES: Final = STRICT_MODULES | frozenset(
    """base64 binascii cmath colorsys concurrent.futures contextlib contextvars copy csv difflib fnmatch graphlib hashlib hmac
    html html.entities html.parser io keyword locale logging numbers pprint queue re reprlib secrets stringprep struct time
    unicodedata urllib.parse uuid xml.etree.ElementTree zlib""".split()
)
ALL_MODULES: Final = frozenset(MODULES) | {"__future__"}
PIVOTS: Final = frozenset(
    """sys os builtins bltns importlib subprocess ctypes socket threading inspect types gc marshal pickle code codeop
    signal weakref traceback linecache tokenize runpy pkgutil multiprocessing shutil tempfile posix _thread selectors
    ssl""".split()
)
"""Modules that other modules hold by accident."""
DEEP_PIVOTS: Final = frozenset(
    "sys os builtins bltns importlib subprocess ctypes marshal pickle runpy shutil posix".split()
)
"""Those of them that are reached only by going through modules (`re.enum.sys`): no object has such an attribute."""
OS_NAMES: Final = frozenset("path sep linesep pathsep curdir pardir extsep altsep name fspath PathLike urandom".split())
"""What of `os` does not reach for the host."""
SYS_NAMES: Final = frozenset(
    """argv exit maxsize maxunicode version version_info stdout stderr getsizeof float_info int_info byteorder platform
    getrecursionlimit setrecursionlimit intern hexversion implementation exc_info exception getdefaultencoding
    hash_info""".split()
)
HOST_NAMES: Final = frozenset(
    """inspect.currentframe inspect.stack inspect.trace inspect.getouterframes inspect.getinnerframes
    inspect.getframeinfo inspect.getclosurevars io.open io.open_code io.FileIO codecs.open os.path.exists
    os.path.isfile os.path.isdir os.path.getsize os.path.getmtime asyncio.create_subprocess_exec
    asyncio.create_subprocess_shell asyncio.open_connection asyncio.start_server asyncio.open_unix_connection
    asyncio.start_unix_server threading.settrace threading.setprofile""".split()
)
CODE_NAMES: Final = frozenset(
    """types.FunctionType types.LambdaType types.CodeType types.new_class types.prepare_class typing.get_type_hints
    timeit.timeit timeit.repeat timeit.Timer""".split()
)

# constructs

KNOWN_NODES: Final = frozenset(
    """Module FunctionDef AsyncFunctionDef ClassDef Return Delete Assign AugAssign AnnAssign For AsyncFor While If With
    AsyncWith Match Raise Try TryStar Assert Import ImportFrom Global Nonlocal Expr Pass Break Continue BoolOp NamedExpr
    BinOp UnaryOp Lambda IfExp Dict Set ListComp SetComp DictComp GeneratorExp Await Yield YieldFrom Compare Call
    FormattedValue JoinedStr Constant Attribute Subscript Starred Name List Tuple Slice Load Store Del And Or Add Sub
    Mult MatMult Div Mod Pow LShift RShift BitOr BitXor BitAnd FloorDiv Invert Not UAdd USub Eq NotEq Lt LtE Gt GtE Is
    IsNot In NotIn comprehension ExceptHandler arguments arg keyword alias withitem match_case MatchValue MatchSingleton
    MatchSequence MatchMapping MatchClass MatchStar MatchAs MatchOr TypeAlias TypeVar ParamSpec TypeVarTuple""".split()
)
NEW_NODES: Final = frozenset("TryStar TypeAlias TypeVar ParamSpec TypeVarTuple".split())
"""Known, and off at STRICT and SECURE until the attack files cover them."""
DATA_BASES: Final = frozenset(
    """enum.Enum enum.IntEnum enum.StrEnum enum.Flag enum.IntFlag typing.NamedTuple typing.TypedDict""".split()
)
DECORATORS: Final = frozenset(
    """dataclasses.dataclass property staticmethod classmethod functools.lru_cache functools.cache functools.wraps
    functools.total_ordering functools.cached_property functools.singledispatch abc.abstractmethod enum.unique
    typing.override typing.final typing.overload""".split()
)
ENDLESS: Final = frozenset("itertools.count itertools.cycle itertools.repeat".split())
CONSUMERS: Final = frozenset("list tuple set frozenset dict sorted sum max min len collections.Counter".split())
"""Functions that read an iterator to its end."""
