"""All that a model reads before it writes a script: stubs in the terms of its language, and what else there is.

Knows which language has which stubs. `enclave.facade` calls it. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ringfence.contract.tool import Tool
from ringfence.enclave.briefing import briefing
from ringfence.enclave.globals import Globals
from ringfence.enclave.options import EnclaveConfig
from ringfence.enclave.stubs import describe_python, describe_python_handler
from ringfence.enclave.stubs_typescript import describe_typescript, describe_typescript_handler


def description(
    config: EnclaveConfig,
    namespaces: Mapping[str, Mapping[str, str]],
    globals_: Globals,
    *,
    tools: Iterable[Tool[..., Any]] | None,
    handler: bool,
) -> str:
    """Text for a prompt.

    Args:
        tools: governed ones; None where there are none to name.
        handler: whether one handler answers all calls instead.
    """
    is_python = config.language == "python"
    if tools is None and handler:
        stubs = describe_python_handler() if is_python else describe_typescript_handler()
    else:
        stubs = (describe_python if is_python else describe_typescript)(tools or ())
    return stubs + briefing(config, namespaces, globals_)
