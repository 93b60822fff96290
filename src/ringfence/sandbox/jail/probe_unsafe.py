"""What this machine can enforce, found by doing it in a throw-away process. For `plan_guest` and `ringfence doctor`.

Versions and files under /proc promise things that containers, boot options and security modules then refuse, so each
mechanism is tried for real by `trial_unsafe`, which is started by exec: forking a host that has threads would not do.
Blocks for a tenth of a second, once per process.
"""

from __future__ import annotations

import functools
import json
import os
import platform
import subprocess
from typing import Any, Final

from ringfence.errors import SandboxFault
from ringfence.sandbox.jail.plan import Finding, Probe
from ringfence.sandbox.jail.spawn_unsafe import ENVIRONMENT, command
from ringfence.sandbox.jail.syscalls import is_known

PATIENCE: Final = 20.0
"""Seconds for all trials together; each ends itself after five."""


@functools.cache
def probe() -> Probe:
    """The findings; the same object for the life of the process."""
    if platform.system() != "Linux" or not is_known(platform.machine()):
        return _probe({}, f"not tried on {platform.system()} {platform.machine()}")
    try:
        done = subprocess.run(  # noqa: S603 - our own interpreter and our own file
            command("trial_unsafe"),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=ENVIRONMENT,
            cwd="/",
            timeout=PATIENCE,
            start_new_session=True,
            check=True,
        )
        return _probe(json.loads(done.stdout), "")
    except SandboxFault as error:
        return _probe({}, error.message)
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode(errors="replace").strip().rpartition("\n")[2][:200]
        return _probe({}, f"the trial's process ended with {error.returncode}: {said}")
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        return _probe({}, f"the trial's process failed: {type(error).__name__}")


def _probe(found: dict[str, Any], otherwise: str) -> Probe:
    def finding(name: str) -> Finding:
        why = found.get(name, otherwise)
        return Finding(why == "", why)

    return Probe(
        system=platform.system(),
        machine=platform.machine(),
        kernel=platform.release(),
        python=platform.python_version(),
        uid=os.geteuid() if hasattr(os, "geteuid") else -1,
        seccomp=finding("seccomp"),
        landlock=int(found.get("landlock", 0)),
        landlock_domain=finding("landlock_domain"),
        other_user=finding("other_user"),
        memory=finding("memory"),
        victim=finding("victim"),
        namespaces=finding("namespaces"),
    )
