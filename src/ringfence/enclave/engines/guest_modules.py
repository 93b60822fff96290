"""The modules and time zones that scripts find: loaded before the jail closes, because afterwards nothing can be opened.

Runs inside the jail, standard library only, apart from what the host asks to preload. `preload` runs once, in the
zygote; `Imports` is what an import that finds nothing ends in. Knows nothing of channels and runs.
"""

from __future__ import annotations

import importlib
import io
import os
import sys
import time
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from typing import Any, Final, NoReturn, cast

from ringfence.enclave.modules import AMBIENT, MODULES, PARTS

_HELPERS: Final = (
    "_strptime _pydatetime encodings.ascii encodings.cp1252 encodings.idna encodings.latin_1 encodings.punycode "
    "encodings.utf_16 encodings.utf_16_be encodings.utf_16_le encodings.utf_32 encodings.utf_32_be encodings.utf_32_le "
    "encodings.utf_7 encodings.utf_8_sig encodings.raw_unicode_escape "
    "encodings.unicode_escape encodings.rot_13 encodings.hex_codec encodings.base64_codec encodings.iso8859_15 "
    "encodings.cp437 asyncio.taskgroups asyncio.timeouts asyncio.runners concurrent.futures.thread linecache tokenize xml.dom.expatbuilder email.generator email.policy"
).split()
"""What those modules import when they are used."""

_listed: Final[set[str]] = set(MODULES)
"""What messages say that there is."""
_asked_for: Final[list[str]] = []
"""Packages that the host named, which messages name first."""

_ONE_THREAD: Final = "OPENBLAS OMP MKL BLIS NUMEXPR VECLIB_MAXIMUM GOTO".split()
"""Libraries of numbers that start threads when they are loaded, unless `…_NUM_THREADS` says not to."""


def preload(names: list[str], folders: list[str], zones: str) -> None:
    """Import everything that scripts may use, and as little else: every page of it is paid for in every fork.

    Args:
        names: modules besides `MODULES`.
        folders: where they are found.
        zones: the tzdata package.
    """
    os.environ["TZ"] = "UTC"  # the environment is cleared later; then there is no file to read another zone from
    os.environ["PYTHONTZPATH"] = ""
    time.tzset()
    for name in (*MODULES, *_HELPERS):
        try:
            importlib.import_module(name)
        except ModuleNotFoundError:  # a helper that this Python does not have
            if name in MODULES:
                raise
    _load_packages(names, folders)
    _load_zones(zones)
    _warm_tracebacks()


def _load_packages(names: list[str], folders: list[str]) -> None:
    for library in _ONE_THREAD:
        os.environ[f"{library}_NUM_THREADS"] = "1"
    sys.path.extend(folders)
    before = set(sys.modules)
    for name in names:
        importlib.import_module(name)
    tops = {name.partition(".")[0] for name in sys.modules.keys() - before} - sys.stdlib_module_names
    # made by hand inside others is what has no specification
    _asked_for.extend(name.partition(".")[0] for name in names if name not in MODULES)
    _listed.update(names, [name for name in tops if name[0] != "_" and sys.modules[name].__spec__ is not None])
    for part in [part for package in PARTS.keys() & sys.modules.keys() for part in PARTS[package]]:
        try:
            importlib.import_module(part)
        except ModuleNotFoundError:  # another version of the package has it elsewhere
            continue


def _load_zones(folder: str) -> None:
    """Keep the files of all time zones, many of which are equal, and read them from there."""
    names = ("zoneinfo", "zoneinfo._common", "zoneinfo._tzpath")
    zoneinfo, common, paths = cast("list[Any]", [importlib.import_module(name) for name in names])
    files: dict[str, bytes] = {}
    seen: dict[bytes, bytes] = {}
    with open(os.path.join(folder, "zones"), encoding="ascii") as listed:
        keys = listed.read().split()
    for key in keys:
        with open(os.path.join(folder, "zoneinfo", key), "rb", buffering=0) as file:
            data = file.readall()
        files[key] = seen.setdefault(data, data)

    def load(key: str) -> io.BytesIO:
        if key not in files:
            raise zoneinfo.ZoneInfoNotFoundError(f"No time zone found with key {key}")
        return io.BytesIO(files[key])

    common.load_tzdata = load
    zoneinfo.available_timezones = paths.available_timezones = lambda: set(files)


def _warm_tracebacks() -> None:
    """Warm what formatting a traceback needs."""
    try:
        raise ValueError
    except ValueError as error:
        importlib.import_module("traceback").format_exception(error)


class Imports(MetaPathFinder):
    """Asked last, for what there is not: says what there is."""

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target: object = None) -> NoReturn:
        raise ModuleNotFoundError(self._text(fullname), name=fullname)

    def _text(self, name: str) -> str:
        text = f"No module named {name!r}"
        if name in AMBIENT:
            return text
        top = name.partition(".")[0]
        parts = sorted(one for one in {*_listed, *PARTS.get(top, ())} if one.partition(".")[0] == top)
        if name != top and parts:
            return f"{text}. Of {top}, scripts have {', '.join(parts)}"
        tops = sorted({one.partition(".")[0] for one in _listed if one[0] != "_"})
        first = [one for one in tops if one in _asked_for]
        shown = ", ".join([*first, *(one for one in tops if one not in first)])
        return f"{text}. Scripts have these modules: {shown}. For anything else, call a tool"
