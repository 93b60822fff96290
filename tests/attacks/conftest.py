"""One enclave for all attacks, and a host with something to lose."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.attacks.canary import Canary
from tests.enclave.kit import Stage


@pytest.fixture(scope="module")
def arena() -> Iterator[Stage]:
    with Stage() as stage:
        yield stage


@pytest.fixture
def canary(tmp_path: Path) -> Iterator[Canary]:
    folder = tmp_path / "host"
    folder.mkdir()
    (folder / "secret.txt").write_text(Canary.SECRET)
    os.environ[Canary.VARIABLE] = Canary.SECRET
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield Canary(folder=folder, server=server)
    del os.environ[Canary.VARIABLE]
