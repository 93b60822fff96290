"""A trial that fails, hangs or dies is a reason, not an accident."""

from __future__ import annotations

import json
import os
import signal
import subprocess

import pytest

from ringfence.sandbox.jail.spawn_unsafe import ENVIRONMENT, command
from ringfence.sandbox.jail.trial_unsafe import attempt


def test_a_trial_that_returns_has_no_reason() -> None:
    assert attempt(lambda: None) == ""


def test_a_trial_that_raises_says_why() -> None:
    def refused() -> None:
        raise PermissionError(1, "Operation not permitted")

    assert attempt(refused) == "PermissionError: [Errno 1] Operation not permitted"


def test_a_trial_that_is_killed_says_by_what() -> None:
    assert attempt(lambda: os.kill(os.getpid(), signal.SIGSYS)) == f"ended by signal {signal.SIGSYS:d}"


@pytest.mark.slow
def test_all_trials_together_print_one_object() -> None:
    done = subprocess.run(command("trial_unsafe"), capture_output=True, env=ENVIRONMENT, check=True, timeout=30)
    found = json.loads(done.stdout)
    assert set(found) == {"seccomp", "landlock", "landlock_domain", "other_user", "memory", "victim", "namespaces"}
    assert done.stderr == b""
