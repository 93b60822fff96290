"""The modules that a Python script may import. The guest imports them before its jail closes; hints name them. Pure."""

from types import MappingProxyType
from typing import Final

MODULES: Final = (
    "abc argparse array ast asyncio base64 binascii bisect calendar cmath codecs collections collections.abc colorsys "
    "concurrent.futures configparser contextlib contextvars copy csv dataclasses datetime decimal difflib email email.message email.parser email.utils "
    "enum errno fnmatch fractions functools graphlib gzip hashlib heapq hmac html html.entities html.parser http "
    "inspect io ipaddress itertools json keyword locale logging math mimetypes numbers operator os os.path pathlib "
    "pprint queue random re reprlib sched secrets shlex statistics string stringprep struct sys textwrap threading "
    "time timeit tomllib traceback types typing unicodedata urllib.parse uuid warnings weakref xml.dom.minidom xml.etree.ElementTree "
    "zipfile zlib zoneinfo"
).split()
"""What `import` finds."""

PARTS: Final = MappingProxyType[str, tuple[str, ...]](
    {
        "numpy": (
            "numpy.char",
            "numpy.fft",
            "numpy.linalg",
            "numpy.ma",
            "numpy.polynomial",
            "numpy.random",
            "numpy.rec",
            "numpy.strings",
        ),
        "pandas": (
            "pandas.core.methods.describe",
            "pandas.core.methods.selectn",
            "pandas.core.methods.to_dict",
            "pandas.core.reshape.reshape",
            "pandas.io.formats.csvs",
            "pandas.io.formats.html",
            "pandas.io.formats.string",
        ),
    }
)
"""Package that may be preloaded to what it imports of itself only when it is used."""

AMBIENT: Final = frozenset({"tools", "inputs", "call_tool", "ToolError", "GlobalFunctionError"})
"""Names that a script has without importing them."""
