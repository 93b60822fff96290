"""First program of a jail: `python -s -P -S -B -X utf8 launch_unsafe.py CONTROL_FD`, run by `spawn_unsafe`.

Loads the zygote without the rest of ringfence: every package on the way is replaced by an empty one that only knows
its directory, so that no `__init__` runs and pydantic, which a guest has no use for, is not in the process. Knows
nothing of jails itself.
"""

from __future__ import annotations

import os
import sys
from types import ModuleType


def bare_packages(module: str) -> None:
    """Make the packages around a ringfence module importable without their `__init__`."""
    home = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    parts = module.split(".")[:-1]
    if parts[:1] != ["ringfence"]:
        return
    for end in range(1, len(parts) + 1):
        name = ".".join(parts[:end])
        if name not in sys.modules:
            package = ModuleType(name)
            package.__path__ = [os.path.join(home, *parts[:end])]
            sys.modules[name] = package


def main() -> None:
    bare_packages("ringfence.sandbox.jail.zygote_unsafe")
    from ringfence.sandbox.jail import zygote_unsafe

    zygote_unsafe.run(int(sys.argv[1]), bare_packages)


if __name__ == "__main__":
    main()
