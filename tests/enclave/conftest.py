"""The stage of a module, empty for every test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.enclave.kit import Stage


@pytest.fixture(scope="module")
def module_stage() -> Iterator[Stage]:
    with Stage() as stage:
        yield stage


@pytest.fixture
def stage(module_stage: Stage) -> Stage:
    module_stage.reset()
    return module_stage
