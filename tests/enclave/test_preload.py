"""Packages that the host preloads: they work where nothing can be opened, and open no door."""

from __future__ import annotations

import asyncio
import os
import sys
import sysconfig
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

import ringfence as rf
from ringfence.enclave.modules import MODULES, PARTS
from tests.enclave.kit import HANG, Stage, code, descendants, echo

pytestmark = pytest.mark.slow

PACKAGES = ["numpy", "pandas", "sortedcontainers", "markdown_it", "pathspec"]


@pytest.fixture(scope="module")
def loaded() -> Generator[Stage]:
    """One enclave with everything, for the whole module."""
    with Stage() as stage:
        yield stage


def play(stage: Stage, source: str, inputs: dict[str, Any] | None = None) -> Any:
    """The value of a script that has the packages."""
    result = stage.script(
        "import io, datetime\nimport numpy as np\nimport pandas as pd\n" + source,
        inputs,
        preload=PACKAGES,
        timeout=HANG,
    )
    assert result.error is None, (result.error, result.error.data.get("traceback"))
    return result.value


# numbers

NUMBERS = [
    pytest.param("np.arange(6).reshape(2, 3).sum(axis=0)", [3, 5, 7], id="sum"),
    pytest.param("(np.eye(2) * 2 @ np.ones((2, 2)))", [[2.0, 2.0], [2.0, 2.0]], id="matrix product"),
    pytest.param("a = np.random.rand(300, 300)\nbool(np.allclose(a @ np.linalg.inv(a), np.eye(300)))", True, id="large matrix product"),
    pytest.param("np.linalg.solve(np.array([[2.0, 0], [0, 4]]), [2, 4])", [1.0, 1.0], id="solve"),
    pytest.param("[round(float(v), 6) for v in np.linalg.eigvalsh([[2, 0], [0, 3]])]", [2.0, 3.0], id="eigenvalues"),
    pytest.param("[x.shape for x in np.linalg.svd(np.ones((3, 2)))]", [[3, 3], [2], [2, 2]], id="svd"),
    pytest.param("np.abs(np.fft.fft([1, 0, 0, 0]))", [1.0, 1.0, 1.0, 1.0], id="fft"),
    pytest.param("np.polynomial.Polynomial([1, 2, 3])(2)", 17.0, id="polynomial"),
    pytest.param("np.round(np.polyfit([0, 1, 2], [1, 3, 5], 1), 6)", [2.0, 1.0], id="polyfit"),
    pytest.param("np.ma.masked_array([1, 2, 3], mask=[0, 1, 0]).mean()", 2.0, id="masked"),
    pytest.param("np.random.default_rng(7).integers(0, 10, 3)", [9, 6, 6], id="generator with a seed"),
    pytest.param("np.random.seed(1)\nnp.random.randint(0, 10, 3)", [5, 8, 9], id="global seed"),
    pytest.param("np.percentile([1, 2, 3, 4], [25, 50])", [1.75, 2.5], id="percentile"),
    pytest.param("np.histogram([1, 1, 2], bins=2)[0]", [2, 1], id="histogram"),
    pytest.param("np.einsum('ij,j->i', np.ones((2, 2)), [1, 2])", [3.0, 3.0], id="einsum"),
    pytest.param("np.lib.stride_tricks.sliding_window_view(np.arange(4), 2)", [[0, 1], [1, 2], [2, 3]], id="windows"),
    pytest.param("np.char.upper(np.array(['a', 'b']))", ["A", "B"], id="texts"),
    pytest.param("np.rec.array([(1, 'x')], dtype=[('n', int), ('s', 'U1')]).n", [1], id="records"),
    pytest.param("np.loadtxt(io.StringIO('1 2\\n3 4'))", [[1.0, 2.0], [3.0, 4.0]], id="loadtxt from text"),
    pytest.param("np.genfromtxt(['1,2', '3,'], delimiter=',', filling_values=0)", [[1.0, 2.0], [3.0, 0.0]], id="genfromtxt from text"),
    pytest.param("b = io.BytesIO()\nnp.save(b, np.arange(3))\nb.seek(0)\nnp.load(b)", [0, 1, 2], id="saved to memory"),
    pytest.param("b = io.BytesIO()\nnp.savez_compressed(b, a=np.arange(2))\nb.seek(0)\nnp.load(b)['a']", [0, 1], id="compressed in memory"),
    pytest.param("str(np.busday_count('2026-01-01', '2026-02-01'))", "22", id="business days"),
    pytest.param("repr(np.array([1.5, 2]))", "array([1.5, 2. ])", id="repr"),
    pytest.param("{'n': np.int64(3), 'f': np.float32(0.5), 'b': np.bool_(True), 's': np.str_('x')}", {"n": 3, "f": 0.5, "b": True, "s": "x"}, id="single numbers"),
    pytest.param("[np.sum([]), np.vectorize(lambda n: n + 1)([1, 2])]", [0.0, [2, 3]], id="vectorize"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "value"), NUMBERS)
def test_numpy_computes_in_the_jail(loaded: Stage, source: str, value: object) -> None:
    assert play(loaded, source) == value


# tables

FRAME = """
rows = [{"day": f"2026-01-{d:02}", "shop": "ab"[d % 2], "n": d, "price": d * 1.5, "name": f"Item {d}"} for d in range(1, 9)]
df = pd.DataFrame(rows)
df["day"] = pd.to_datetime(df["day"])
"""

TABLES = [
    pytest.param("df.groupby('shop').agg({'n': 'sum', 'price': 'mean'}).to_dict()", {"n": {"a": 20, "b": 16}, "price": {"a": 7.5, "b": 6.0}}, id="groupby"),
    pytest.param("df.groupby('shop')['n'].transform('max').tolist()", [7, 8, 7, 8, 7, 8, 7, 8], id="transform"),
    pytest.param("df.groupby('shop').apply(lambda g: int(g.n.sum())).to_dict()", {"a": 20, "b": 16}, id="groupby apply"),
    pytest.param("df.merge(pd.DataFrame({'shop': ['a', 'b'], 'city': ['Rom', 'Ulm']}), on='shop', how='left')['city'].tolist()[:2]", ["Ulm", "Rom"], id="merge"),
    pytest.param("df.pivot_table(index='shop', values='n', aggfunc=['sum', 'count']).values", [[20, 4], [16, 4]], id="pivot_table"),
    pytest.param("pd.crosstab(df.shop, df.n > 4).values", [[2, 2], [2, 2]], id="crosstab"),
    pytest.param("pd.concat([df, df]).shape", [16, 5], id="concat"),
    pytest.param("df.melt(id_vars='shop', value_vars=['n', 'price']).shape", [16, 3], id="melt"),
    pytest.param("df.set_index(['shop', 'n']).price.unstack().shape", [2, 8], id="unstack"),
    pytest.param("df.set_index('day').n.resample('W').sum().tolist()", [10, 26], id="resample"),
    pytest.param("df.n.rolling(2).mean().dropna().tolist()[:2]", [1.5, 2.5], id="rolling"),
    pytest.param("df.set_index('day').n.rolling('3D').sum().tolist()[-1]", 21.0, id="rolling by time"),
    pytest.param("df.n.ewm(span=2).mean().round(2).tolist()[:2]", [1.0, 1.75], id="ewm"),
    pytest.param("df.apply(lambda row: row.n * 2, axis=1).tolist()[:2]", [2, 4], id="apply"),
    pytest.param("df.sort_values(['shop', 'n'], ascending=[True, False]).n.tolist()[:2]", [8, 6], id="sort_values"),
    pytest.param("df.nlargest(2, 'price').n.tolist()", [8, 7], id="nlargest"),
    pytest.param("df[(df.n > 2) & df.shop.isin(['a'])].n.tolist()", [4, 6, 8], id="filter"),
    pytest.param("df.query('n > 6 and shop == \"a\"').n.tolist()", [8], id="query"),
    pytest.param("df.eval('double = n * 2').double.tolist()[-1]", 16, id="eval"),
    pytest.param("df.describe().loc['mean', 'n']", 4.5, id="describe"),
    pytest.param("df.corr(numeric_only=True).round(3).loc['n', 'price']", 1.0, id="corr"),
    pytest.param("pd.read_csv(io.StringIO('a,b\\n1,x\\n2,y')).to_dict('records')", [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}], id="read_csv"),
    pytest.param("pd.read_csv(io.StringIO('a;b\\n1;2'), sep=None, engine='python').b.tolist()", [2], id="read_csv in Python"),
    pytest.param("pd.read_csv(io.StringIO('d\\n2026-01-02'), parse_dates=['d']).d[0]", "2026-01-02T00:00:00", id="read_csv with dates"),
    pytest.param("df[['n', 'shop']].head(2).to_csv(index=False)", "n,shop\n1,b\n2,a\n", id="to_csv"),
    pytest.param("df[['n']].head(2).to_json(orient='records')", '[{"n":1},{"n":2}]', id="to_json"),
    pytest.param("pd.read_json(io.StringIO('[{\"n\": 1}]')).n.tolist()", [1], id="read_json"),
    pytest.param("pd.json_normalize([{'a': {'b': 1}}]).to_dict('records')", [{"a.b": 1}], id="json_normalize"),
    pytest.param("df.head(1).to_dict('records')", [{"day": "2026-01-01T00:00:00", "shop": "b", "n": 1, "price": 1.5, "name": "Item 1"}], id="to_dict"),
    pytest.param("df.head(1).to_html(index=False).count('<td>')", 5, id="to_html"),
    pytest.param("df.name.str.extract(r'(\\d)')[0].astype(int).sum()", 36, id="texts"),
    pytest.param("df.name.str.split(' ', expand=True)[1].tolist()[:2]", ["1", "2"], id="split"),
    pytest.param("df.shop.astype('category').cat.categories.tolist()", ["a", "b"], id="categories"),
    pytest.param("pd.cut(df.n, [0, 4, 8], labels=['low', 'high']).value_counts().to_dict()", {"low": 4, "high": 4}, id="cut"),
    pytest.param("pd.get_dummies(df.shop).sum().to_dict()", {"a": 4, "b": 4}, id="get_dummies"),
    pytest.param("df.day.dt.tz_localize('UTC').dt.tz_convert('Europe/Berlin').dt.hour.tolist()[0]", 1, id="time zones"),
    pytest.param("pd.Timestamp('2026-07-01 12:00', tz='America/New_York').tz_convert('Asia/Tokyo')", "2026-07-02T01:00:00+09:00", id="timestamp"),
    pytest.param("pd.date_range('2026-01-30', periods=2, freq='ME').strftime('%d.%m.').tolist()", ["31.01.", "28.02."], id="date_range"),
    pytest.param("(df.day.max() - df.day.min()).days", 7, id="timedelta"),
    pytest.param("df.day.dt.day_name().tolist()[0]", "Thursday", id="day_name"),
    pytest.param("df.day.dt.to_period('M').astype(str).unique().tolist()", ["2026-01"], id="periods"),
    pytest.param("pd.Series([1, None, 3]).fillna(0).tolist()", [1.0, 0.0, 3.0], id="fillna"),
    pytest.param("pd.array([1, None], dtype='Int64').sum()", 1, id="nullable"),
    pytest.param("pd.DataFrame({'when': [datetime.datetime(2026, 1, 2), datetime.datetime.now()]}).when.dt.year.tolist()[0]", 2026, id="the script's own datetimes"),
    pytest.param("pd.merge_asof(df, df[['day', 'n']].rename(columns={'n': 'm'}), on='day').m.tolist()[-1]", 8, id="merge_asof"),
    pytest.param("df.sample(3, random_state=1).shape", [3, 5], id="sample"),
    pytest.param("import copy\ncopy.deepcopy(df).equals(df)", True, id="copies"),
    pytest.param("b = io.StringIO()\ndf.info(buf=b)\n'8 entries' in b.getvalue()", True, id="info"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "value"), TABLES)
def test_pandas_computes_in_the_jail(loaded: Stage, source: str, value: Any) -> None:
    made = play(loaded, FRAME + source)
    assert (made.isoformat() if hasattr(made, "isoformat") else iso(made)) == value


def iso(value: Any) -> Any:
    """With dates as text."""
    if isinstance(value, list):
        return [iso(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, dict):
        return {key: iso(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType]
    return value.isoformat() if hasattr(value, "isoformat") else value


def test_a_table_is_printed_as_everywhere(loaded: Stage) -> None:
    source = FRAME.lstrip() + "print(df[['shop', 'n']].head(2))\nprint(np.eye(2))"
    result = loaded.script("import numpy as np, pandas as pd\n" + source, preload=PACKAGES, timeout=HANG)
    assert (result.error, result.output) == (None, "  shop  n\n0    b  1\n1    a  2\n[[1. 0.]\n [0. 1.]]\n")


def test_arrays_and_dates_reach_tools_as_data(loaded: Stage) -> None:
    loaded.tools["echo"] = echo
    source = "await call_tool('echo', {'a': np.arange(3), 'n': np.float64(1.5), 'when': pd.Timestamp('2026-01-02', tz='UTC')})"
    assert iso(play(loaded, source)) == {"a": [0, 1, 2], "n": 1.5, "when": "2026-01-02T00:00:00+00:00"}


@pytest.mark.parametrize("value", ["pd.DataFrame({'a': [1]})", "pd.Series([1])"])
def test_a_table_is_no_result_and_the_message_says_how_it_becomes_one(loaded: Stage, value: str) -> None:
    result = loaded.script(f"import pandas as pd\n{value}", preload=PACKAGES, timeout=HANG)
    assert result.error is not None
    assert (result.error.code, result.error.name) == ("RUNTIME_ERROR", "ResultError")
    assert "to_dict()" in result.error.message


# other packages, and messages


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("from sortedcontainers import SortedDict\nlist(SortedDict(b=1, a=2))", ["a", "b"]),
        ("from markdown_it import MarkdownIt\nMarkdownIt().render('# x')", "<h1>x</h1>\n"),
        (
            "import pathspec\nlist(pathspec.PathSpec.from_lines('gitwildmatch', ['*.py']).match_files(['a.py', 'b']))",
            ["a.py"],
        ),
    ],
)
def test_packages_in_pure_python_just_work(loaded: Stage, source: str, value: object) -> None:
    assert play(loaded, source) == value


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import numpy.testing", "No module named 'numpy.testing'. Of numpy, scripts have " + ", ".join(["numpy", *PARTS["numpy"]])),
        ("import xml.sax", "No module named 'xml.sax'. Of xml, scripts have xml.dom.minidom, xml.etree.ElementTree"),
        ("import scipy", "No module named 'scipy'. Scripts have these modules: "),
        ("from collections import nothing", "cannot import name 'nothing' from 'collections' (collections/__init__.py)"),
        ("from numpy import nothing", "cannot import name 'nothing' from 'numpy' (numpy/__init__.py)"),
    ],
)  # fmt: skip
def test_an_import_that_fails_names_what_there_is(loaded: Stage, source: str, message: str) -> None:
    result = loaded.script(f"x = 1\n{source}", preload=PACKAGES, timeout=HANG)
    assert result.error is not None
    assert (result.error.code, result.error.line) == ("RUNTIME_ERROR", 2)
    assert result.error.message.startswith(message)
    if message.endswith(": "):
        names = result.error.message.partition(": ")[2].partition(".")[0].split(", ")
        assert {*PACKAGES, "json", "dateutil"} <= set(names)
        assert "cython_runtime" not in names
        assert not [name for name in names if name.startswith("_")]
        assert {*names[: len(PACKAGES)]} == {name.partition(".")[0] for name in PACKAGES}


def test_a_check_knows_what_is_preloaded(loaded: Stage) -> None:
    async def body() -> list[str]:
        async with asyncio.timeout(HANG):
            report = await loaded.enclave(preload=PACKAGES, timeout=HANG).check(
                "import numpy\nimport scipy\nnumpy.eye(2)"
            )
            return [finding.message for finding in report.findings]

    messages = loaded.run(body())
    assert not [message for message in messages if "numpy" in message.partition("use one of")[0]]


# no door


READS = [
    "np.genfromtxt('/etc/hostname', dtype=str)",
    "np.loadtxt('/etc/hostname', dtype=str)",
    "np.load('/etc/hostname', allow_pickle=True)",
    "np.fromfile('/etc/hostname', dtype='u1')",
    "np.memmap('/etc/hostname', dtype='u1', mode='r')",
    "np.fromregex('/etc/hostname', '(.*)', [('x', 'U9')])",
    "np.lib.npyio.DataSource('/tmp').open('/etc/hostname')",
    "np.arange(3).tofile('/tmp/planted')",
    "np.save('/tmp/planted', np.arange(3))",
    "np.savetxt('/tmp/planted', np.arange(3))",
    "np.ctypeslib.load_library('libc.so.6', '/lib')",
    "pd.read_csv('/etc/passwd')",
    "pd.read_csv('/etc/passwd', engine='python')",
    "pd.read_csv('file:///etc/passwd')",
    "pd.read_csv('http://127.0.0.1:1/x.csv')",
    "pd.read_fwf('/etc/passwd')",
    "pd.read_json('/etc/passwd')",
    "pd.read_pickle('/etc/passwd')",
    "pd.read_table('/proc/self/environ')",
    "pd.read_xml('/etc/passwd', parser='etree')",
    "pd.read_sql('select 1', 'sqlite:////tmp/planted')",
    "pd.read_parquet('/etc/passwd')",
    "pd.read_clipboard()",
    "pd.DataFrame({'a': [1]}).to_csv('/tmp/planted')",
    "pd.DataFrame({'a': [1]}).to_pickle('/tmp/planted')",
    "pd.DataFrame({'a': [1]}).to_json('/tmp/planted')",
    "open('/etc/hostname', opener=lambda path, flags: __import__('os').open(path, flags))",
    "__import__('ctypes').CDLL('libcurl.so.4')",
    "__import__('ctypes').CDLL(None).open(b'/etc/hostname', 0) < 0 and raising(__import__('ctypes'))",
]


@pytest.mark.parametrize("attempt", READS)
def test_code_in_c_opens_nothing_either(loaded: Stage, attempt: str) -> None:
    name = play(
        loaded,
        f"def raising(ctypes): raise PermissionError\ntry:\n    found = {attempt}\nexcept (OSError, ImportError) as error:\n"
        "    kind = type(error).__name__\nelse:\n    kind = f'worked: {found!r}'\nkind",
    )
    # what asks first whether a file exists is told that it does not
    assert name in {"PermissionError", "FileNotFoundError", "ModuleNotFoundError", "ImportError", "OSError", "URLError"}
    assert not Path("/tmp/planted").exists()
    assert not Path("/tmp/planted.npy").exists()


LEAKS = """
import gc, sys
found, seen, stack = [], set(), [sys.modules, *gc.get_objects()]
frame = sys._getframe()
while frame is not None:
    stack += [frame, frame.f_code]
    frame = frame.f_back
folders = inputs["folders"]
seen.update(map(id, [found, seen, stack, folders, inputs, *folders]))
while stack:
    for child in gc.get_referents(stack.pop()):
        if id(child) not in seen:
            seen.add(id(child))
            if isinstance(child, (str, bytes)):
                text = child if isinstance(child, str) else child.decode("latin-1")
                found += [text[:200] for folder in folders if folder in text]
            else:
                stack.append(child)
[found, len(seen) > 30_000]
"""


@pytest.mark.parametrize("preload", [[], PACKAGES], ids=["alone", "with packages"])
def test_no_object_of_a_script_names_a_folder_of_the_host(loaded: Stage, preload: list[str]) -> None:
    folders = [sys.prefix, sys.base_prefix, os.path.dirname(os.path.dirname(rf.__file__)), sysconfig.get_path("stdlib")]
    inputs = {"folders": [folder for folder in folders if len(folder) > 4]}
    result = loaded.script(LEAKS, inputs, preload=preload, timeout=HANG, max_iterations=10**9)
    assert (result.error, result.value) == (None, [[], True])


@pytest.mark.parametrize(
    "source", ["np.zeros(10**10)", "np.arange(10**9) * 2", "pd.DataFrame(np.ones((10**5, 10**5)))"]
)
def test_an_array_beyond_the_limit_ends_the_run_as_memory(loaded: Stage, source: str) -> None:
    result = loaded.script(f"import numpy as np, pandas as pd\n{source}", preload=PACKAGES, timeout=HANG)
    assert result.error is not None
    assert (code(result), result.error.data["code"], result.error.line) == ("MEMORY_LIMIT_EXCEEDED", "memory_limit", 2)


def test_memory_for_packages_does_not_count_as_the_scripts(loaded: Stage) -> None:
    assert play(loaded, "int(np.ones(20_000_000).sum())") == 20_000_000


def test_a_part_that_is_not_usual_can_be_asked_for_by_name() -> None:
    source = "import numpy.testing, sqlite3\nnumpy.testing.assert_allclose([1], [1])\nsqlite3.connect(':memory:').execute('select 2').fetchall()"  # fmt: skip
    result = rf.Enclave(preload=["numpy", "numpy.testing", "sqlite3"]).run_sync(source)
    assert (result.error, result.value) == (None, [[2]])


def test_packages_start_no_thread(loaded: Stage) -> None:
    play(loaded, "np.random.rand(500, 500) @ np.random.rand(500, 500)")
    pids = descendants()
    assert pids
    assert {len(os.listdir(f"/proc/{pid}/task")) for pid in pids} == {1}


# chance


def test_numpys_chance_follows_the_seed_of_the_run() -> None:
    source = (
        "import numpy as np, pandas as pd\n"
        "[np.random.rand(), np.random.default_rng().random(), np.random.RandomState().rand(), np.random.permutation(9),\n"
        " np.random.Generator(np.random.PCG64()).random(), pd.Series(range(9)).sample(3).tolist()]"
    )
    with Stage() as stage:
        values = [
            stage.script(source, preload=["pandas", "numpy"], seed=seed, timeout=HANG).value for seed in (1, 1, 2)
        ]
    assert values[0] == values[1]
    assert all(one != other for one, other in zip(values[0], values[2], strict=True))


def test_the_clock_of_pandas_is_the_scripts(loaded: Stage) -> None:
    source = (
        "now = datetime.datetime.now(datetime.UTC)\n"
        "[abs((made - now).total_seconds()) < 5 for made in (pd.Timestamp.now('UTC'), pd.Timestamp.now(datetime.UTC),\n"
        " pd.Timestamp.now().tz_localize('UTC'), pd.Timestamp.today().tz_localize('UTC'), pd.Timestamp.utcnow())]"
    )
    assert play(loaded, source) == [True] * 5


# modules of the host's own


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("raise ValueError('broken here')", "ValueError: broken here"),
        ("import no_such_module", "No module named 'no_such_module'"),
        (
            "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()",
            "a module that was imported has started threads",
        ),
    ],
)
def test_a_module_that_cannot_be_jailed_is_a_fault_that_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, why: str
) -> None:
    (tmp_path / "unjailable.py").write_text(text)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    with pytest.raises(rf.SandboxFault) as caught:
        rf.Enclave(preload=["unjailable"]).run_sync("1")
    assert caught.value.code == "sandbox_unavailable"
    assert why in caught.value.message


def test_a_module_beside_the_host_works_and_reads_its_files_only_while_it_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "prices.txt").write_text("12")
    (tmp_path / "beside.py").write_text(
        "import pathlib\nFILE = pathlib.Path(__file__).with_name('prices.txt')\nPRICE = int(FILE.read_text())\n"
        "def again():\n    return FILE.read_text()\n"
    )
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    source = (
        "import beside\ntry:\n    beside.again()\nexcept PermissionError:\n    return [beside.PRICE, beside.__file__]"
    )
    result = rf.Enclave(preload=["beside"]).run_sync(source)
    assert (code(result), result.value) == (None, [12, "beside.py"])


def test_every_part_is_one_of_its_package() -> None:
    for package, parts in PARTS.items():
        assert package not in MODULES
        assert all(part.startswith(f"{package}.") for part in parts)
