"""Which attack covers which vector: the catalogue's attack matrix (1 to 110), its bug reports of groups E, H and K, and our own.

Data only. A row names case files by number and tests of this directory by name, or says why there is nothing to attack
in a Python guest; `test_vectors` fails on a vector without either, and on a case that no row names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One vector."""

    what: str
    cases: str = ""
    """Numbers of case files."""
    tests: tuple[str, ...] = ()
    """`file::function` in this directory."""
    reason: str = ""
    """Why there is none in a Python guest."""


VECTORS: Final[dict[int, Row]] = {
    1: Row(what="code from text, evaluated where it stands", cases="160 161 395"),
    2: Row(what="the evaluator by alias, sequence, member, built name, conditional", cases="162 396 397"),
    3: Row(what="functions made of code objects", cases="163"),
    4: Row(what="coroutines and generators made of text", cases="164"),
    5: Row(what="code constructors reached from every literal", cases="165"),
    6: Row(what="text handed to timers", cases="166"),
    7: Row(what="imports at run time, by loader, inside text; bridges of other runtimes", cases="167 168"),
    8: Row(what="a context that hides the evaluator", cases="170"),
    9: Row(what="templates and format specifications that evaluate", cases="171"),
    10: Row(what="classes derived from code constructors, metaclasses", cases="172"),
    11: Row(what="code put together in stages", cases="173 395"),
    12: Row(what="bytecode, pickles and machine code from data", cases="174 175 176 398"),
    13: Row(what="process, environment, files, names of the place", cases="094 136 177"),
    14: Row(what="the top level's names and `__main__`", cases="178 179"),
    15: Row(what="modules reached through modules, the module cache poisoned", cases="180 181"),
    16: Row(what="everything enumerable searched for the host", cases="135 178 179 182 397"),
    17: Row(what="the runtime's own bridge", cases="183 390"),
    18: Row(what="the runtime's helpers redefined, deleted, shadowed", cases="184 185"),
    19: Row(what="sockets, subprocesses, shared memory, databases", cases="186 187"),
    20: Row(what="debuggers, tracing, the collector, interpreters inside", cases="188 189"),
    21: Row(what="an environment read through data of that name", cases="190"),
    22: Row(what="class chains of literals and results", cases="165"),
    23: Row(what="class chains of tool results, frames of the call", cases="191 192"),
    24: Row(what="chains of caught errors, causes and contexts", cases="119 120 193 233 399"),
    25: Row(what="iterators, generators and reduction to builtins", cases="194 195"),
    26: Row(what="dunder keys in data, merges that follow them", cases="071 196 197"),
    27: Row(what="classes and bases assigned anew", cases="198"),
    28: Row(what="builtin types and classes poisoned", cases="196 198 199"),
    29: Row(what="attributes set and got by machinery", cases="200"),
    30: Row(what="lookup functions, monkeypatched to capture", cases="200 201"),
    31: Row(what="dangerous names in every binding and pattern", cases="202"),
    32: Row(what="the access inside other expressions", cases="203"),
    33: Row(what="the access in steps", cases="203"),
    34: Row(what="stack overflow in every callback, its error walked", cases="204"),
    35: Row(what="chains of bound and partial calls", cases="205"),
    36: Row(what="chains of awaits and callbacks", cases="206"),
    37: Row(what="frozen data of the host", cases="207 208"),
    38: Row(what="functions and objects of the host walked, constructed", cases="208 209 210"),
    39: Row(what="names by concatenation, formats, templates", cases="173 211"),
    40: Row(what="names by joining, reversing, slicing, splitting", cases="211"),
    41: Row(what="names by code points, base64, percent, hex, escapes", cases="211"),
    42: Row(what="names coerced, and names that change between looks", cases="212 213 219"),
    43: Row(what="names chosen by conditionals and assignments", cases="214"),
    44: Row(what="names laundered through variables, items, attributes", cases="211 214"),
    45: Row(what="names in unpacking", cases="214"),
    46: Row(what="text hooks run by everything that prints or logs", cases="215"),
    47: Row(what="objects that answer everything, mappings that lie and grow", cases="216 217 218"),
    48: Row(what="operator, copy and functools modules poisoned", cases="220"),
    49: Row(what="registries: virtual subclasses, copiers, instance checks", cases="221"),
    50: Row(what="callers by frames and stacks", cases="222"),
    51: Row(what="iterators poisoned", cases="223"),
    52: Row(what="weak references, finalisers, the collector's callbacks", cases="130 224 225"),
    53: Row(what="contexts, exception handlers, foreign awaitables", cases="226 227"),
    54: Row(what="exception hooks, tracebacks, the line cache", cases="114 152 228"),
    55: Row(what="callbacks that look at their caller", cases="222 229"),
    56: Row(what="hooks of every operator", cases="219 230"),
    57: Row(what="methods borrowed with another receiver", cases="229"),
    58: Row(what="format strings and formatters as walkers", cases="171 231 232 233"),
    59: Row(what="hooks of the JSON module, the encoder replaced", cases="234 235"),
    60: Row(what="properties that act while a value is copied", cases="122 217 236 237"),
    61: Row(
        what="loops without end in every form, guards caught and removed",
        cases="001 003 004 238 239 345 390 391 392 393",
    ),
    62: Row(what="sequences that grow while they are read", cases="125 240 241"),
    63: Row(what="endless generators and iterators", cases="242 243 244 245"),
    64: Row(what="recursion: direct, mutual, by combinator, by trampoline, in callbacks", cases="034 035 246 247 248"),
    65: Row(what="properties and texts in circles", cases="237 249"),
    66: Row(what="heavy sorts, fills and native consumers", cases="005 007 244 245 250 251"),
    67: Row(what="huge integers, decimals, JSON", cases="006 026 067 070 252 253 254 255 256 361"),
    68: Row(what="huge and lying lengths", cases="251 257"),
    69: Row(what="work without end after an await", cases="002 258 259"),
    70: Row(what="texts that double, repeat, pad; many small allocations", cases="021 023 025 029 032 257 260"),
    71: Row(what="buffers, mappings and attributes that grow", cases="024 027 028 261 262 377 402"),
    72: Row(what="shared references that unfold when written", cases="126 263 264 376 403"),
    73: Row(what="splits, joins and slices of large texts", cases="260 265"),
    74: Row(
        what="nested objects, exceptions, entities, programs; long messages",
        cases="031 084 117 118 119 120 121 255 266 267 269",
    ),
    75: Row(what="floods of futures and tasks", cases="012 270"),
    76: Row(what="callbacks and timers that schedule themselves", cases="011 013 271"),
    77: Row(what="asynchronous recursion, thousands of calls at once", cases="016 272 273 274"),
    78: Row(what="tools that never answer or answer late, scripts that go on", cases="015 157 275 276"),
    79: Row(what="catastrophic patterns in their usual shapes", cases="008 277 278 279"),
    80: Row(what="the same by every function, from data, on long texts", cases="279 280 281"),
    81: Row(what="the safe text methods", cases="282"),
    82: Row(
        what="output: one line, many, by every stream and frame; odd things printed",
        cases="041 042 043 044 045 047 048 153 283 284 285 383",
    ),
    83: Row(what="odd keys, cycles, depth, lone surrogates in values", cases="077 078 127 197 266 288 401 402"),
    84: Row(what="functions, classes, calls, proxies as values", cases="123 124 125 218 289 290 291 292 293 294 394"),
    85: Row(what="conversions that hijack the text", cases="235 296 297"),
    86: Row(
        what="values whose reading runs code",
        cases="215 297",
        tests=("test_hostile_values.py::test_hostile_values_run_no_code_in_the_host",),
    ),
    87: Row(what="arguments that are no object", cases="298"),
    88: Row(what="tool names made at run time, with control characters, too long", cases="299 300 301 372"),
    89: Row(what="names of internal tools", cases="299 301 302"),
    90: Row(
        what="budgets in turn, in parallel, by every door, after catching",
        cases="273 274 303 304 305 306 307 308 345 354",
    ),
    91: Row(
        what="rate, enumeration, pagination",
        tests=(
            "test_tool_attacks.py::test_a_flood_of_calls_is_refused_as_too_fast",
            "test_tool_attacks.py::test_an_enumeration_is_refused_and_pages_are_not",
        ),
    ),
    92: Row(what="suspicious sequences and arguments", cases="309 310 311 312 313 314"),
    93: Row(what="results that hold code or machinery", cases="315 403 404"),
    94: Row(what="tools whose errors are hostile", cases="119 316 399"),
    95: Row(what="one tool's output as another's address", cases="319 405"),
    96: Row(what="forged references", cases="317"),
    97: Row(what="addresses of this machine and of private networks", cases="144 318"),
    98: Row(what="metadata services, addresses in odd forms", cases="318 405"),
    99: Row(what="other schemes", cases="319"),
    100: Row(what="homoglyphs", cases="320 321 322"),
    101: Row(what="bidirectional and invisible characters", cases="154 155 323 324 325 326"),
    102: Row(what="escapes and normalised identifiers", cases="321 322 327 328"),
    103: Row(
        what="NUL, long lines, nesting, signs, huge sources",
        cases="038 329 406",
        tests=("test_source_attacks.py::test_a_source_that_is_too_much_is_refused_before_it_is_read",),
    ),
    104: Row(what="clocks, machine, counters, sizes as fingerprints", cases="177 330 331 332"),
    105: Row(what="instructions in names, comments and data", cases="156 333"),
    106: Row(what="markup and control characters in output", cases="154 334 382"),
    107: Row(what="mass of calls, texts and depth", cases="335 384 400"),
    108: Row(
        what="state of other runs and enclaves",
        cases="181",
        tests=(
            "test_tenancy.py::test_nothing_of_one_run_is_found_in_the_next",
            "test_tenancy.py::test_two_enclaves_know_nothing_of_each_other",
            "test_tenancy.py::test_runs_at_once_do_not_mix",
            "test_tenancy.py::test_closing_an_enclave_ends_its_runs",
        ),
    ),
    109: Row(
        what="the worker: signals, tracing, filters, descriptors, memory, frames",
        cases="020 336 337 338 339 340 341 342",
    ),
    110: Row(what="many vectors at once", cases="159 343 344"),
}
"""The attack matrix (enclave catalogue, section 3)."""

BUGS: Final[dict[str, Row]] = {
    "B73": Row(what="deep gather chain whose leaf raises", cases="040"),
    "B74": Row(what="a slice of an endless generator", cases="348"),
    "B76": Row(what="deep value returned", cases="036 037 075 129 266"),
    "B77": Row(what="nested brackets", cases="038 039 255"),
    "B79": Row(what="nested exception tuple in an except clause", cases="036 267 268"),
    "B80": Row(what="recursion through builtins", cases="007 204 248"),
    "B82": Row(what="a text hook that changes its container", cases="285 286"),
    "B83": Row(what="a mapping changed in its last turn", cases="287"),
    "B85": Row(what="a call that nobody awaited", cases="293 295"),
    "B86": Row(what="language gaps", cases="347"),
    "B88": Row(what="no limits by default", cases="345"),
    "B89": Row(what="completion forged by output or frames", cases="046 334 342"),
    "B91": Row(what="a pending call as the value", cases="293 294"),
    "B118": Row(what="modules through attributes of modules", cases="180 186"),
    "B119": Row(what="class walk to subprocess", cases="133 146 147 165"),
    "B121": Row(what="late guest code", cases="130 131 224 225"),
    "B122": Row(what="format paths", cases="134 231 232"),
    "B124": Row(what="pickles from the guest", cases="050 174 176 358 398"),
    "B125": Row(what="frames of generators", cases="132 192 194 222"),
    "B127": Row(what="errors that carry objects", cases="193 233"),
    "B128": Row(what="groups of exceptions", cases="121 346"),
    "B130": Row(what="reduction of bound methods", cases="195"),
    "B131": Row(what="methods of a host object", cases="209"),
    "B133": Row(what="format methods called indirectly", cases="134 231 232"),
    "B134": Row(what="code run by validation", cases="349 395 396"),
    "B136": Row(what="error formatting that gives objects", cases="231 233"),
    "B137": Row(what="mangled names", cases="321 328"),
    "B139": Row(what="bridges to JavaScript", cases="167 168 169"),
    "B140": Row(what="class walks past a runtime", cases="168"),
    "B142": Row(what="native code that opens files", cases="140 350"),
    "B158": Row(
        what="arguments echoed in errors", tests=("test_tool_attacks.py::test_refused_arguments_are_not_echoed",)
    ),
    "B160": Row(
        what="exception texts of tools", tests=("test_tool_attacks.py::test_an_exception_of_a_tool_keeps_its_text",)
    ),
    "B161": Row(what="a blocked result kept", reason="nothing of a run is kept after it: there is no journal"),
    "B163": Row(what="tracebacks with places of the host", cases="228 382"),
}
"""Bug reports on code mode (E), on Python sandboxes (H) and on leaks (K)."""

OURS: Final[dict[str, Row]] = {
    "files": Row(what="files and their metadata, by every door", cases="137 138 139 140 141 142 143"),
    "process": Row(what="programs, processes, threads, limits", cases="017 018 019 020 030 033 148 149"),
    "signals and exits": Row(
        what="leaving, crashing, ignoring, sleeping", cases="009 010 014 088 089 090 091 092 093 095 096 097 098 099"
    ),
    "frames": Row(
        what="frames written past the bridge",
        cases="049 051 052 053 054 055 056 057 058 059 060 061 062 063 064 065 066 068 069 072 073 074 086 087 100 103 158 351 352 353 355 356 357 359 360 362 363 364 365 366 367 368 369 370 371 373 374 375",
    ),
    "codes": Row(
        what="verdicts of the host, forged",
        cases="079 080 081 082 083 084 085 106 107 108 109 110 111 112 113 378 379 380 381 385 386 387 388 389",
    ),
    "monkeypatching": Row(what="the engine taken apart from inside", cases="101 102 104 105 150 151"),
    "values": Row(what="values at their limits, errors with hostile texts", cases="022 076 115 116 117 118 128"),
    "sockets": Row(what="sockets below Python", cases="145"),
}
"""What the catalogue does not number."""
