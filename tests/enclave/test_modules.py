"""Every module that scripts are promised, used as scripts use it, after nothing can be opened any more."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path
from typing import Any

import pytest

from ringfence.enclave.modules import MODULES
from tests.enclave.kit import Stage

USES: dict[str, tuple[str, Any]] = {
    "abc": ("abc.ABC.__name__", "ABC"),
    "argparse": ("p = argparse.ArgumentParser()\np.add_argument('--n', type=int)\np.parse_args(['--n', '3']).n", 3),
    "array": ("array.array('i', [1, 2]).tolist()", [1, 2]),
    "ast": ("ast.literal_eval('[1, {2: 3}]')[0]", 1),
    "asyncio": ("await asyncio.sleep(0, 1)", 1),
    "base64": ("base64.b64decode(base64.b64encode(b'hi')).decode()", "hi"),
    "binascii": ("binascii.hexlify(b'hi').decode()", "6869"),
    "bisect": ("bisect.bisect_left([1, 3], 2)", 1),
    "calendar": ("calendar.month(2026, 2).split()[:2]", ["February", "2026"]),
    "cmath": ("cmath.sqrt(-4).imag", 2.0),
    "codecs": ("[codecs.decode('uryyb', 'rot13'), codecs.encode('é', 'latin-1').hex()]", ["hello", "e9"]),
    "collections": ("collections.Counter('aab').most_common(1)", [["a", 2]]),
    "collections.abc": ("isinstance([], collections.abc.Sequence)", True),
    "colorsys": ("colorsys.rgb_to_hsv(1, 0, 0)", [0.0, 1.0, 1]),
    "concurrent.futures": ("list(concurrent.futures.ThreadPoolExecutor().map(abs, [-1, 2]))", [1, 2]),
    "configparser": ("c = configparser.ConfigParser()\nc.read_string('[a]\\nx = 1')\nc['a']['x']", "1"),
    "contextlib": ("with contextlib.suppress(KeyError):\n    {}['x']\ncontextlib.nullcontext(5).enter_result", 5),
    "contextvars": ("contextvars.ContextVar('v', default=1).get()", 1),
    "copy": ("copy.deepcopy({'a': [1]})", {"a": [1]}),
    "csv": ("next(csv.reader(['a,\"b,c\"']))", ["a", "b,c"]),
    "dataclasses": ("dataclasses.asdict(dataclasses.make_dataclass('P', ['x'])(1))", {"x": 1}),
    "datetime": ("datetime.datetime.strptime('2026-03-01', '%Y-%m-%d').strftime('%d %b %Y')", "01 Mar 2026"),
    "decimal": ("str(decimal.Decimal('0.1') + decimal.Decimal('0.2'))", "0.3"),
    "difflib": ("list(difflib.unified_diff(['a'], ['b'], lineterm=''))[-2:]", ["-a", "+b"]),
    "email": ("email.message_from_string('Subject: Hi\\n\\nText')['subject']", "Hi"),
    "email.message": ("m = email.message.EmailMessage()\nm['To'] = 'Änne <a@b.c>'\nm.set_content('ü')\n[m['to'], m.get_content()]", ["Änne <a@b.c>", "ü\n"]),
    "email.parser": ("email.parser.Parser().parsestr('A: b').keys()", ["A"]),
    "email.utils": ("email.utils.parseaddr('Ann <a@b.c>')", ["Ann", "a@b.c"]),
    "enum": ("enum.Enum('E', 'A B').B.value", 2),
    "errno": ("errno.errorcode[2]", "ENOENT"),
    "fnmatch": ("fnmatch.filter(['a.py', 'b.txt'], '*.py')", ["a.py"]),
    "fractions": ("str(fractions.Fraction(1, 3) + fractions.Fraction(1, 6))", "1/2"),
    "functools": ("functools.reduce(lambda a, b: a * b, [1, 2, 3, 4])", 24),
    "graphlib": ("list(graphlib.TopologicalSorter({'b': {'a'}}).static_order())", ["a", "b"]),
    "gzip": ("gzip.decompress(gzip.compress(b'hi')).decode()", "hi"),
    "hashlib": ("[hashlib.sha256(b'').hexdigest()[:8], hashlib.md5(b'').hexdigest()[:4], hashlib.blake2b(b'', digest_size=2).hexdigest()]", ["e3b0c442", "d41d", "b1fe"]),
    "heapq": ("heapq.nsmallest(2, [3, 1, 2])", [1, 2]),
    "hmac": ("hmac.new(b'k', b'm', 'sha1').hexdigest()[:4]", "772b"),
    "html": ("[html.escape('<a>'), html.unescape('&eacute;')]", ["&lt;a&gt;", "é"]),
    "html.entities": ("html.entities.name2codepoint['amp']", 38),
    "html.parser": ("p = html.parser.HTMLParser()\np.feed('<b>x</b>')\np.rawdata", ""),
    "http": ("http.HTTPStatus(404).phrase", "Not Found"),
    "inspect": ("str(inspect.signature(lambda a, *, b=1: 0))", "(a, *, b=1)"),
    "io": ("io.StringIO('a\\nb').readlines() + [io.BytesIO(b'x').read().decode()]", ["a\n", "b", "x"]),
    "ipaddress": ("str(ipaddress.ip_network('10.0.0.0/30')[1])", "10.0.0.1"),
    "itertools": ("list(itertools.chain([1], itertools.islice(itertools.count(5), 2)))", [1, 5, 6]),
    "json": ("json.loads(json.dumps({'a': [1, None, 'é']}))", {"a": [1, None, "é"]}),
    "keyword": ("keyword.iskeyword('for')", True),
    "locale": ("locale.atof('1.5')", 1.5),
    "logging": ("logging.basicConfig(level=logging.INFO)\nlogging.getLogger('x').info('seen')", None),
    "math": ("[math.isclose(math.hypot(3, 4), 5), math.comb(5, 2)]", [True, 10]),
    "mimetypes": ("mimetypes.guess_type('a.png')[0]", "image/png"),
    "numbers": ("isinstance(1, numbers.Integral)", True),
    "operator": ("operator.attrgetter('real')(3)", 3),
    "os": ("[os.sep, os.linesep, os.path.join('a', 'b')]", ["/", "\n", "a/b"]),
    "os.path": ("os.path.splitext('a/b.txt')", ["a/b", ".txt"]),
    "pathlib": ("str(pathlib.PurePosixPath('/a') / 'b.txt').upper()", "/A/B.TXT"),
    "pprint": ("pprint.pformat({'b': 1, 'a': 2})", "{'a': 2, 'b': 1}"),
    "queue": ("q = queue.SimpleQueue()\nq.put(1)\nq.get()", 1),
    "random": ("[random.Random(1).randint(1, 6), 0 <= random.random() < 1]", [2, True]),
    "re": ("re.sub(r'(?P<w>\\w+)', lambda m: m['w'].upper(), 'a b')", "A B"),
    "reprlib": ("len(reprlib.repr('x' * 100)) < 40", True),
    "sched": ("seen = []\ns = sched.scheduler()\ns.enter(0, 1, seen.append, (1,))\ns.run()\nseen", [1]),
    "secrets": ("[len(secrets.token_hex(4)), secrets.compare_digest('a', 'a'), secrets.choice([7])]", [8, True, 7]),
    "shlex": ("shlex.split('a \"b c\"')", ["a", "b c"]),
    "statistics": ("[statistics.mean([1, 2]), statistics.quantiles([1, 2, 3], n=2)]", [1.5, [2.0]]),
    "string": ("string.Template('$a').substitute(a=1) + string.ascii_letters[:2]", "1ab"),
    "stringprep": ("stringprep.in_table_a1('\\u0221')", True),
    "struct": ("struct.unpack('>H', b'\\x01\\x02')[0]", 258),
    "sys": ("[sys.maxsize > 0, sys.version_info >= (3, 11), sys.argv]", [True, True, [""]]),
    "textwrap": ("textwrap.fill('aa bb', 3)", "aa\nbb"),
    "threading": ("with threading.Lock():\n    x = threading.current_thread().name\nx", "MainThread"),
    "time": ("t = time.perf_counter()\ntime.sleep(0.001)\ntime.perf_counter() > t", True),
    "timeit": ("timeit.timeit('1', number=1) >= 0", True),
    "tomllib": ("tomllib.loads('a = [1]')", {"a": [1]}),
    "traceback": ("try:\n    1 / 0\nexcept ZeroDivisionError:\n    x = traceback.format_exc()\n[line for line in x.splitlines() if set(line) - set(' ~^')][1:]", ['  File "script.py", line 3, in <module>', "    1 / 0", "ZeroDivisionError: division by zero"]),
    "types": ("types.SimpleNamespace(a=1).a", 1),
    "typing": ("typing.get_args(typing.Literal['a', 'b'])", ["a", "b"]),
    "unicodedata": ("unicodedata.name('é')", "LATIN SMALL LETTER E WITH ACUTE"),
    "urllib.parse": ("urllib.parse.urlencode({'a': 'b c'})", "a=b+c"),
    "uuid": ("[uuid.uuid4().version, uuid.uuid1().version, str(uuid.uuid5(uuid.NAMESPACE_DNS, 'x'))[:8]]", [4, 1, "05b16a01"]),
    "warnings": ("warnings.warn('quiet')", None),
    "weakref": ("x = {1}\nweakref.ref(x)() is x", True),
    "xml.dom.minidom": ("xml.dom.minidom.parseString('<a><b>1</b></a>').documentElement.toprettyxml(indent=' ')", "<a>\n <b>1</b>\n</a>\n"),
    "xml.etree.ElementTree": ("xml.etree.ElementTree.fromstring('<a b=\"1\"/>').get('b')", "1"),
    "zipfile": ("import io\nb = io.BytesIO()\nwith zipfile.ZipFile(b, 'w', zipfile.ZIP_DEFLATED) as z: z.writestr('a.txt', 'hi')\nzipfile.ZipFile(b).read('a.txt').decode()", "hi"),
    "zlib": ("zlib.decompress(zlib.compress(b'hi')).decode()", "hi"),
    "zoneinfo": ("zoneinfo.ZoneInfo('Europe/Paris').key", "Europe/Paris"),
}  # fmt: skip
"""One line that uses each module as scripts do, and its value."""


def test_every_promised_module_has_a_line_that_uses_it() -> None:
    assert set(USES) == set(MODULES)


@pytest.mark.parametrize("module", MODULES)
def test_a_promised_module_can_be_imported_and_used_after_the_jail_has_closed(stage: Stage, module: str) -> None:
    source, value = USES[module]
    result = stage.script(f"import {module}\n{source}")
    assert (result.error, result.value) == (None, value)


MORE: list[tuple[str, Any]] = [
    ("from collections import defaultdict, OrderedDict, deque, namedtuple\nd = defaultdict(list)\nd['a'].append(1)\nPoint = namedtuple('Point', 'x y')\no = OrderedDict(a=1)\no.move_to_end('a')\n[d, deque([1, 2, 3], maxlen=2), Point(1, 2)._asdict()]", [{"a": [1]}, [2, 3], {"x": 1, "y": 2}]),
    ("from collections import Counter\nc = Counter('abb') - Counter('b')\n[c.total(), sorted(c.elements())]", [2, ["a", "b"]]),
    ("import csv, io\nout = io.StringIO()\nw = csv.DictWriter(out, ['a', 'b'])\nw.writeheader()\nw.writerow({'a': 1, 'b': 'x,y'})\n[row for row in csv.DictReader(io.StringIO(out.getvalue()))]", [{"a": "1", "b": "x,y"}]),
    ("import csv\n[csv.Sniffer().sniff('a;b\\n1;2').delimiter, csv.list_dialects()[:1]]", [";", ["excel"]]),
    ("import json\ntry:\n    json.loads('[1 2]')\nexcept json.JSONDecodeError as e:\n    return [e.lineno, e.colno, json.dumps({'b': 1, 'a': [1.5, None]}, indent=1, sort_keys=True)]", [1, 4, '{\n "a": [\n  1.5,\n  null\n ],\n "b": 1\n}']),
    ("import json, decimal\nstr(json.loads('1.10', parse_float=decimal.Decimal))", "1.10"),
    ("from decimal import *\ngetcontext().prec = 6\nwith localcontext() as c:\n    c.prec = 3\n    x = Decimal(1) / 3\n[str(x), str(Decimal(1) / 7), str(Decimal('2.675').quantize(Decimal('0.01'), ROUND_HALF_UP)), f'{Decimal(1234567):,}']", ["0.333", "0.142857", "2.68", "1,234,567"]),
    ("import decimal\ntry:\n    decimal.Decimal('x')\nexcept decimal.InvalidOperation as e:\n    return type(e).__name__", "InvalidOperation"),
    ("from fractions import Fraction\n[str(Fraction('0.125')), str(Fraction(3.5).limit_denominator(10)), float(Fraction(1, 4))]", ["1/8", "7/2", 0.25]),
    ("import statistics as s\n[s.median([3, 1, 2]), round(s.stdev([1, 2, 3]), 3), s.mode('aab'), s.fmean([1, 2]), s.multimode('ab'), round(s.correlation([1, 2, 3], [2, 4, 6]), 3), s.linear_regression([1, 2], [2, 4]).slope, round(s.NormalDist(0, 1).cdf(0), 1)]", [2, 1.0, "a", 1.5, ["a", "b"], 1.0, 2.0, 0.5]),
    ("import math\n[math.gcd(12, 18), math.prod([2, 3]), math.dist((0, 0), (3, 4)), math.floor(-1.5), math.isqrt(17), math.factorial(5), round(math.log2(8))]", [6, 6, 5.0, -2, 4, 120, 3]),
    ("import random\nr = random.Random(5)\n[r.sample(range(10), 3), r.choices('ab', k=2, weights=[1, 0]), round(r.gauss(0, 1), 3), len(random.SystemRandom().randbytes(3))]", [[9, 4, 5], ["a", "a"], -0.143, 3]),
    ("import itertools as i\n[[list(g) for _, g in i.groupby([1, 1, 2])], list(i.pairwise([1, 2, 3])), list(i.accumulate([1, 2])), list(i.zip_longest([1], [2, 3])), list(i.product('a', [1, 2])), len(list(i.permutations([1, 2, 3])))]", [[[1, 1], [2]], [[1, 2], [2, 3]], [1, 3], [[1, 2], [None, 3]], [["a", 1], ["a", 2]], 6]),
    ("import functools\n@functools.lru_cache(maxsize=None)\ndef fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)\n@functools.cache\ndef one(): return 1\n@functools.singledispatch\ndef kind(x): return 'other'\n@kind.register\ndef _(x: int): return 'int'\n[fib(30), fib.cache_info().misses, one(), kind(1), kind('a'), functools.partial(pow, 2)(3)]", [832040, 31, 1, "int", "other", 8]),
    ("import functools\n@functools.total_ordering\nclass A:\n    def __init__(self, n): self.n = n\n    def __eq__(self, o): return self.n == o.n\n    def __lt__(self, o): return self.n < o.n\nclass B:\n    @functools.cached_property\n    def x(self): return []\nb = B()\n[A(1) <= A(2), b.x is b.x, sorted([3, 1], key=functools.cmp_to_key(lambda a, b: a - b))]", [True, True, [1, 3]]),
    ("import operator as o\n[sorted([{'a': 2}, {'a': 1}], key=o.itemgetter('a')), o.methodcaller('upper')('x'), o.add(1, 2)]", [[{"a": 1}, {"a": 2}], "X", 3]),
    ("import heapq\nh = [5, 1, 4]\nheapq.heapify(h)\nheapq.heappush(h, 0)\n[heapq.heappop(h), heapq.nlargest(1, [1, 3], key=lambda n: -n), list(heapq.merge([1, 3], [2]))]", [0, [1], [1, 2, 3]]),
    ("import bisect\nx = [1, 3]\nbisect.insort(x, 2)\n[x, bisect.bisect(x, 2, key=lambda n: n)]", [[1, 2, 3], 2]),
    ("import string, textwrap\n[string.capwords('a b'), string.Formatter().format('{0!r:>4}', 'a'), textwrap.dedent('  a\\n  b'), textwrap.shorten('aaa bbb ccc', 8), textwrap.indent('a', '> ')]", ["A B", " 'a'", "a\nb", "[...]", "> a"]),
    ("import re\np = re.compile(r'(?P<y>\\d{4})-(?P<m>\\d\\d)', re.VERBOSE)\n[p.search('on 2026-03').groupdict(), re.split(r'[,;]\\s*', 'a, b;c'), re.escape('a.b'), [m.start() for m in re.finditer('a', 'aba')], re.fullmatch('a+', 'aa') is not None]", [{"y": "2026", "m": "03"}, ["a", "b", "c"], "a\\.b", [0, 2], True]),
    ("import re\ntry:\n    re.compile('(')\nexcept re.error as e:\n    return e.pos", 0),
    ("import uuid\nu = uuid.UUID('12345678123456781234567812345678')\n[u.hex[:4], u.version, str(uuid.uuid3(uuid.NAMESPACE_URL, 'x'))[:8], len({uuid.uuid1(), uuid.uuid1(), uuid.uuid4()})]", ["1234", None, "60a7f89c", 3]),
    ("import hashlib, hmac, base64\nh = hashlib.new('sha256')\nh.update(b'x')\n[h.hexdigest()[:6], hashlib.sha3_256(b'').hexdigest()[:6], hashlib.pbkdf2_hmac('sha256', b'p', b's', 10).hex()[:6], hmac.digest(b'k', b'm', 'sha256').hex()[:6], base64.urlsafe_b64encode(b'\\xff\\xfe').decode(), base64.b32encode(b'a').decode(), base64.b85encode(b'a').decode()]", ["2d7116", "a7ffc6", "1d6f1f", "b60090", "__4=", "ME======", "VE"]),
    ("import secrets\n[len(secrets.token_urlsafe(8)) > 8, secrets.randbelow(1), len(secrets.token_bytes(3)), secrets.SystemRandom().randint(2, 2)]", [True, 0, 3, 2]),
    ("import urllib.parse as p\nu = p.urlparse('https://a.b:8/c?d=1&d=2#e')\n[u.hostname, u.port, p.parse_qs(u.query), p.quote('a b/ü'), p.unquote('%C3%BC'), p.urljoin('http://a/b/', 'c'), p.urlsplit('//x').netloc]", ["a.b", 8, {"d": ["1", "2"]}, "a%20b/%C3%BC", "ü", "http://a/b/c", "x"]),
    ("import html, html.parser\nclass P(html.parser.HTMLParser):\n    links = []\n    def handle_starttag(self, tag, attrs): self.links += [v for k, v in attrs if k == 'href']\np = P()\np.feed('<p>x<a href=\"/a\">y</a>&amp;')\np.close()\n[p.links, html.unescape('&lt;&#39;&hellip;')]", [["/a"], "<'…"]),
    ("import xml.etree.ElementTree as ET\nroot = ET.fromstring('<r><i n=\"1\">a</i><i n=\"2\"/></r>')\nET.SubElement(root, 'x').text = '<'\nET.indent(root)\n[[e.get('n') for e in root.iter('i')], root.find('./i[@n=\"1\"]').text, root.findtext('x'), ET.tostring(root.find('x'), encoding='unicode').strip()]", [["1", "2"], "a", "<", "<x>&lt;</x>"]),
    ("import xml.etree.ElementTree as ET\ntry:\n    ET.fromstring('<a>')\nexcept ET.ParseError as e:\n    return e.position", [1, 3]),
    ("import unicodedata as u\n[u.normalize('NFD', 'é').encode('ascii', 'ignore').decode(), u.category('A'), u.lookup('EURO SIGN')]", ["e", "Lu", "€"]),
    ("from datetime import *\n[datetime.strptime('Mon 02 Mar 2026 14:05 +0100', '%a %d %b %Y %H:%M %z').isoformat(), date(2026, 3, 1).isocalendar().week, (date(2026, 3, 1) - timedelta(weeks=1)).isoformat(), datetime.fromtimestamp(0, timezone.utc).isoformat(), time.fromisoformat('04:05').minute, str(timedelta(hours=25)), date.fromisocalendar(2026, 1, 1).isoformat(), datetime.combine(date(2026, 1, 1), time(1)).isoformat(), date.today() <= datetime.now().date()]", ["2026-03-02T14:05:00+01:00", 9, "2026-02-22", "1970-01-01T00:00:00+00:00", 5, "1 day, 1:00:00", "2025-12-29", "2026-01-01T01:00:00", True]),
    ("import calendar\n[calendar.monthrange(2026, 2), calendar.isleap(2024), calendar.month_name[3], calendar.day_abbr[0], len(calendar.Calendar().monthdatescalendar(2026, 2)), calendar.timegm((1970, 1, 2, 0, 0, 0))]", [[6, 28], True, "March", "Mon", 5, 86400]),
    ("import time\n[time.strptime('2026', '%Y').tm_year, time.strftime('%H', time.gmtime(3600)), time.mktime(time.gmtime(5)), time.ctime(0)[:3], time.get_clock_info('monotonic').monotonic, time.process_time() >= 0]", [2026, "01", 5.0, "Thu", True, True]),
    ("from dataclasses import *\nfrom typing import ClassVar\n@dataclass(order=True, frozen=True, slots=True)\nclass P:\n    x: int\n    y: list = field(default_factory=list, compare=False)\n    z: ClassVar[int] = 3\np = P(1)\ntry:\n    p.x = 2\nexcept FrozenInstanceError:\n    return [asdict(replace(p, x=5)), P(1) < P(2), [f.name for f in fields(P)], astuple(p)]", [{"x": 5, "y": []}, True, ["x", "y"], [1, []]]),
    ("from __future__ import annotations\nfrom dataclasses import dataclass\nfrom typing import get_type_hints, ClassVar\n@dataclass\nclass Node:\n    value: int\n    next: Node | None = None\n    kinds: ClassVar[int] = 0\n[get_type_hints(Node)['next'] == (Node | None), Node(1), list(Node.__dataclass_fields__)]", [True, {"value": 1, "next": None}, ["value", "next", "kinds"]]),
    ("from enum import *\nclass C(str, Enum):\n    A = 'a'\nclass F(Flag):\n    X = auto()\n    Y = auto()\nclass S(StrEnum):\n    Q = auto()\n[C('a').name, (F.X | F.Y).value, S.Q, C.A == 'a', [c.value for c in C], IntEnum('I', 'P')['P']]", ["A", 3, "q", True, ["a"], 1]),
    ("from typing import *\nclass Row(TypedDict, total=False):\n    a: Required[int]\nclass N(NamedTuple):\n    x: int\n    y: str = 'd'\nT = TypeVar('T')\nclass Box(Generic[T]): pass\n@runtime_checkable\nclass Has(Protocol):\n    def go(self): ...\n[Row(a=1), N(1), isinstance(5, Has), get_origin(list[int]) is list, cast(int, 'x'), Box[int].__name__, sorted(Row.__required_keys__)]", [{"a": 1}, [1, "d"], False, True, "x", "Box", ["a"]]),
    ("from abc import *\nclass A(ABC):\n    @abstractmethod\n    def f(self): ...\ntry:\n    A()\nexcept TypeError as e:\n    return 'abstract' in str(e)", True),
    ("import contextlib\n@contextlib.contextmanager\ndef m():\n    yield 1\n@contextlib.asynccontextmanager\nasync def am():\n    yield 2\nwith contextlib.ExitStack() as s, m() as a:\n    s.callback(int)\n    async with am() as b, contextlib.AsyncExitStack(), contextlib.aclosing(x for x in []) if False else contextlib.nullcontext(): pass\n[a, b]", [1, 2]),
    ("import copy\nclass A:\n    def __init__(self): self.x = [1]\na = A()\n[copy.copy(a).x is a.x, copy.deepcopy(a).x is a.x]", [True, False]),
    ("import pprint\npprint.pformat({'k': list(range(30))}, width=40, compact=True).count('\\n')", 3),
    ("import io\nb = io.BytesIO(b'a\\nb')\nt = io.TextIOWrapper(b, encoding='utf-8')\n[t.readlines(), io.StringIO('x').getvalue(), io.BufferedReader(io.BytesIO(b'zz')).peek(1)[:1].decode()]", [["a\n", "b"], "x", "z"]),
    ("import gzip, zlib, io\nb = io.BytesIO()\nwith gzip.open(b, 'wt', encoding='utf-8') as f: f.write('é')\n[gzip.decompress(b.getvalue()).decode(), zlib.crc32(b'a'), zlib.decompressobj().decompress(zlib.compress(b'x')).decode()]", ["é", 3904355907, "x"]),
    ("import difflib\n[difflib.get_close_matches('appel', ['ape', 'apple']), round(difflib.SequenceMatcher(None, 'abc', 'abd').ratio(), 2), len(list(difflib.ndiff(['a'], ['b'])))]", [["apple", "ape"], 0.67, 2]),
    ("import logging\nlog = logging.getLogger('a.b')\nlog.setLevel(logging.DEBUG)\nh = logging.StreamHandler()\nh.setFormatter(logging.Formatter('%(levelname)s %(name)s %(message)s'))\nlog.addHandler(h)\nlog.propagate = False\ntry:\n    1 / 0\nexcept ZeroDivisionError:\n    log.exception('broke %d', 3)\nlog.debug('fine')", None),
    ("import argparse\np = argparse.ArgumentParser(prog='x')\nsub = p.add_subparsers(dest='cmd')\nsub.add_parser('go').add_argument('--n', type=int, default=1)\n[vars(p.parse_args(['go', '--n', '4'])), p.format_usage().strip()]", [{"cmd": "go", "n": 4}, "usage: x [-h] {go} ..."]),
    ("import ast\n[ast.literal_eval('{1: (2, None)}')[1], ast.unparse(ast.parse('x=1+2')), [n.id for n in ast.walk(ast.parse('a+b')) if isinstance(n, ast.Name)]]", [[2, None], "x = 1 + 2", ["a", "b"]]),
    ("import inspect, asyncio\nasync def f(a, /, b: int = 2, *c, d, **e): ...\ns = inspect.signature(f)\n[list(s.parameters), inspect.iscoroutinefunction(f), s.bind(1, d=3).arguments, inspect.getdoc(int)[:3]]", [["a", "b", "c", "d", "e"], True, {"a": 1, "d": 3}, "int"]),
    ("import inspect\ndef f():\n    return 1\ninspect.getsource(f)", "def f():\n    return 1\n"),
    ("import traceback\ntry:\n    raise ValueError('v') from KeyError('k')\nexcept ValueError as e:\n    text = ''.join(traceback.format_exception(e))\n    return ['direct cause' in text, traceback.format_exception_only(e), len(traceback.extract_tb(e.__traceback__)), traceback.TracebackException.from_exception(e).exc_type.__name__]", [True, ["ValueError: v\n"], 1, "ValueError"]),
    ("import struct, array, binascii\n[struct.calcsize('<IH'), struct.unpack('<h', b'\\xff\\xff')[0], array.array('d', [1.5]).itemsize, binascii.crc32(b'a')]", [6, -1, 8, 3904355907]),
    ("import pathlib, os\n[str(pathlib.Path('a') / 'b' / '..'), pathlib.PurePath('/x/y.tar.gz').suffixes, os.path.basename('/a/b'), os.getenv('HOME', 'none'), os.path.exists('/etc'), pathlib.Path('/etc/passwd').name, os.environ.get('PATH')]", ["a/b/..", [".tar", ".gz"], "b", "none", False, "passwd", None]),
    ("import weakref\nclass A: pass\na = A()\nd = weakref.WeakValueDictionary(k=a)\nr = weakref.ref(a)\nn = len(d)\ndel a\n[n, r() is None, len(d)]", [1, True, 0]),
    ("import types\nx = types.MappingProxyType({'a': 1})\n[x, types.SimpleNamespace(b=2).b, isinstance(len, types.BuiltinFunctionType), types.new_class('K').__name__]", [{"a": 1}, 2, True, "K"]),
    ("import locale\n[locale.format_string('%.2f', 1234.5, grouping=True)]", ["1234.50"]),
    ("import codecs\n[codecs.BOM_UTF8.hex(), codecs.getincrementaldecoder('utf-8')().decode(b'\\xc3'), 'ä'.encode('cp1252').hex(), b'\\xe4'.decode('iso-8859-15'), 'x'.encode('utf-7').decode(), 'ü'.encode('idna').decode(), 'a\\u0301'.encode('unicode_escape').decode(), 'é'.encode('ascii', 'xmlcharrefreplace').decode(), 'é'.encode('utf-16-le').hex()]", ["efbbbf", "", "e4", "ä", "x", "xn--tda", "a\\u0301", "&#233;", "e900"]),
    ("import warnings\nwith warnings.catch_warnings(record=True) as seen:\n    warnings.simplefilter('always')\n    warnings.warn('old', DeprecationWarning)\n[str(seen[0].message), seen[0].category.__name__]", ["old", "DeprecationWarning"]),
    ("import ipaddress as i\n[i.ip_address('::1').is_loopback, str(i.ip_interface('10.0.0.5/24').network), i.ip_address('10.0.0.5') in i.ip_network('10.0.0.0/8'), len(list(i.ip_network('10.0.0.0/29').hosts()))]", [True, "10.0.0.0/24", True, 6]),
    ("import email.utils, datetime, email\nm = email.message_from_bytes(b'Content-Type: multipart/mixed; boundary=x\\n\\n--x\\n\\none\\n--x--')\n[email.utils.format_datetime(datetime.datetime(2026, 1, 2)), email.utils.parsedate_to_datetime('Fri, 02 Jan 2026 00:00:00 +0000').year, [p.get_payload() for p in m.get_payload()], email.utils.formataddr(('Ä', 'a@b.c'))]", ["Fri, 02 Jan 2026 00:00:00 -0000", 2026, ["one"], "=?utf-8?b?w4Q=?= <a@b.c>"]),
    ("import tomllib\ntry:\n    tomllib.loads('a =')\nexcept tomllib.TOMLDecodeError as e:\n    return 'Invalid' in str(e)", True),
    ("import graphlib\ntry:\n    list(graphlib.TopologicalSorter({'a': ['b'], 'b': ['a']}).static_order())\nexcept graphlib.CycleError as e:\n    return len(e.args[1])", 3),
    ("import sys\n[sys.getsizeof([]) > 0, sys.getrecursionlimit() >= 1000, sys.byteorder, sys.platform, sys.maxunicode, sys.stdout.isatty(), sys.float_info.dig]", [True, True, "little", "linux", 1114111, False, 15]),
    ("import timeit, cmath, colorsys, numbers, keyword, reprlib, stringprep\n[timeit.repeat('1', number=1, repeat=2) != [], round(cmath.phase(-1), 2), colorsys.hsv_to_rgb(0, 0, 1), isinstance(1.5, numbers.Real), keyword.softkwlist[:1], reprlib.recursive_repr()(str)('a')]", [True, 3.14, [1, 1, 1], True, ["_"], "a"]),
]  # fmt: skip
"""Further ordinary uses, with what modules import only then, and their values."""


@pytest.mark.parametrize(("source", "value"), MORE)
def test_modules_do_what_they_do_elsewhere(stage: Stage, source: str, value: object) -> None:
    result = stage.script(source)
    assert (result.error, result.value) == (None, value)


def test_nothing_that_a_function_imports_is_missing(stage: Stage) -> None:
    loaded = set(stage.script("import sys\nsorted(name for name, module in sys.modules.items() if module)").value)
    missing = {late for name in MODULES for late in late_imports(name) if late not in loaded}
    assert missing <= OPTIONAL


OPTIONAL = {
    *("_md5 _sha1 _sha256 _sha2 _sha3 _blake2".split()),  # where there is no OpenSSL
    *("doctest getopt py_compile".split()),  # for modules that are run as programs
    *("concurrent.futures.process pickle tracemalloc grp pwd".split()),  # of no use without processes and files
    *("xml.parsers xml.parsers.expat".split()),  # another name of pyexpat
    "_suggestions",  # the C half of what traceback does itself as well
}
"""What functions of the modules import and scripts do without."""


def late_imports(name: str) -> set[str]:
    """What the functions of a module import when they are called."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return set()
    package = name if spec.submodule_search_locations else name.rpartition(".")[0]
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    found: set[str] = set()
    for node in (inner for function in functions for inner in ast.walk(function)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            found.add(".".join([*base, *([node.module] if node.module else [])]))
    return found
