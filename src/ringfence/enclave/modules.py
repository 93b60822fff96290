"""The modules that a Python script may import. The guest imports them before its jail closes; hints name them. Pure."""

from typing import Final

MODULES: Final = (
    "abc argparse array ast asyncio base64 binascii bisect calendar cmath codecs collections collections.abc colorsys "
    "concurrent.futures contextlib contextvars copy csv dataclasses datetime decimal difflib enum fnmatch fractions "
    "functools graphlib hashlib heapq hmac html html.entities html.parser inspect io itertools json keyword locale "
    "logging math numbers operator os os.path pathlib pprint queue random re reprlib secrets statistics string "
    "stringprep struct sys textwrap threading time timeit traceback types typing unicodedata urllib.parse uuid "
    "warnings weakref xml.etree.ElementTree zlib zoneinfo"
).split()
"""What `import` finds."""

AMBIENT: Final = frozenset({"tools", "inputs", "call_tool", "ToolError", "GlobalFunctionError"})
"""Names that a script has without importing them."""
