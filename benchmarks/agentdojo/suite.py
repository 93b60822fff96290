"""AgentDojo's suites as data: their tools bound to one task's environment, and the suite's own verdict.

Knows AgentDojo (version `VERSION` of its benchmark) and nothing of scripts, enclaves or controls. `run` and the tests
call it. AgentDojo is used unmodified, except that the package of its model pipelines is not imported: see `_get_suite`.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Final, Protocol, cast

from pydantic import BaseModel

VERSION: Final = "v1.2.2"
SUITES: Final = {"workspace": 40, "banking": 16}
"""The suites that are run, with the number of their user tasks."""

READS: Final = frozenset(
    {
        "get_balance",
        "get_current_day",
        "get_day_calendar_events",
        "get_draft_emails",
        "get_file_by_id",
        "get_iban",
        "get_most_recent_transactions",
        "get_received_emails",
        "get_scheduled_transactions",
        "get_sent_emails",
        "get_user_info",
        "list_files",
        "read_file",
        "search_calendar_events",
        "search_contacts_by_email",
        "search_contacts_by_name",
        "search_emails",
        "search_files",
        "search_files_by_filename",
    }
)
"""Tools that change nothing. `get_unread_emails` is not one: it marks what it returns as read."""


class Dependency(Protocol):
    """A part of the environment that a tool's function takes besides its arguments."""

    def extract_dep_from_env(self, env: BaseModel) -> BaseModel: ...


class Function(Protocol):
    """`agentdojo.functions_runtime.Function`, as far as it is used here."""

    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def parameters(self) -> type[BaseModel]: ...
    @property
    def dependencies(self) -> Mapping[str, Dependency]: ...
    @property
    def return_type(self) -> Any: ...
    def __call__(self, **arguments: Any) -> Any: ...


class UserTask(Protocol):
    """`agentdojo.base_tasks.BaseUserTask`, as far as it is used here."""

    @property
    def PROMPT(self) -> str: ...  # noqa: N802 (the suite's name)
    def init_environment(self, environment: BaseModel) -> BaseModel: ...
    def ground_truth(self, pre_environment: BaseModel) -> Sequence[Any]: ...
    def utility(self, model_output: str, pre_environment: BaseModel, post_environment: BaseModel) -> bool: ...
    def utility_from_traces(
        self, model_output: str, pre_environment: BaseModel, post_environment: BaseModel, traces: Sequence[Any]
    ) -> bool | None: ...


class Suite(Protocol):
    """`agentdojo.task_suite.TaskSuite`, as far as it is used here."""

    @property
    def name(self) -> str: ...
    @property
    def tools(self) -> Sequence[Function]: ...
    @property
    def user_tasks(self) -> Mapping[str, UserTask]: ...
    def load_and_inject_default_environment(self, injections: dict[str, str]) -> BaseModel: ...


Spoil = Callable[[str, dict[str, Any]], dict[str, Any]]
"""From a tool's name and arguments to the arguments that it is given instead."""


def load(name: str) -> tuple[Suite, BaseModel]:
    """A suite of version `VERSION`, and its environment without injections, to be copied for each task.

    Raises:
        ModuleNotFoundError: AgentDojo or what its suites import is not installed.
    """
    suite = cast("Suite", _get_suite()(VERSION, name))
    return suite, suite.load_and_inject_default_environment({})


def _get_suite() -> Callable[[str, str], object]:
    """`agentdojo.task_suite.load_suites.get_suite`, imported without the clients of seven model vendors.

    `agentdojo.agent_pipeline.__init__` imports them all (about 70 distributions, 290 MB) for pipelines that ask a
    model. No model is asked here: a package without that `__init__` takes its place while the suites are imported,
    and the one pipeline that `TaskSuite.check` names is a bare class.
    """
    spec = importlib.util.find_spec("agentdojo")
    if spec is None or spec.submodule_search_locations is None:
        raise ModuleNotFoundError(
            "agentdojo is not installed: pip install --no-deps -r benchmarks/agentdojo/requirements.txt",
            name="agentdojo",
        )
    prefix = "agentdojo.agent_pipeline"
    before = {name: module for name, module in sys.modules.items() if name.startswith(prefix)}
    if prefix not in before:
        package = ModuleType(prefix)
        package.__path__ = [f"{place}/agent_pipeline" for place in spec.submodule_search_locations]
        checker = ModuleType(f"{prefix}.ground_truth_pipeline")
        checker.__dict__["GroundTruthPipeline"] = type("GroundTruthPipeline", (), {})
        sys.modules |= {package.__name__: package, checker.__name__: checker}
    try:
        return importlib.import_module("agentdojo.task_suite.load_suites").get_suite
    finally:
        for name in [name for name in sys.modules if name.startswith(prefix) and name not in before]:
            del sys.modules[name]  # whoever imports the pipelines later gets the real ones


@dataclass(slots=True)
class Attempt:
    """One task in an environment of its own: what was called there, and whether that solved it."""

    suite: Suite
    task: UserTask
    environment: BaseModel
    """Read and changed by the tools."""
    before: BaseModel
    """What it was before the first call."""
    spoil: Spoil | None = None
    """Applied to the arguments of every call, for a control that must fail."""
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list[tuple[str, dict[str, Any]]])
    """Name and arguments of the calls that reached the suite's functions."""

    @classmethod
    def start(cls, suite: Suite, environment: BaseModel, task_id: str, spoil: Spoil | None = None) -> Attempt:
        """Prepare a task as `TaskSuite.run_task_with_pipeline` does, in a copy of `environment`."""
        task = suite.user_tasks[task_id]
        own = task.init_environment(environment.model_copy(deep=True))
        return cls(suite=suite, task=task, environment=own, before=own.model_copy(deep=True), spoil=spoil)

    def call(self, function: Function, arguments: BaseModel) -> Any:
        """The suite's function on validated arguments, with the environment's parts added to them.

        Raises:
            Exception: whatever the suite's function raises.
        """
        given = arguments.model_dump()
        if self.spoil is not None:
            given = self.spoil(function.name, given)
        self.calls.append((function.name, given))
        parts = {name: part.extract_dep_from_env(self.environment) for name, part in function.dependencies.items()}
        return function(**given, **parts)

    def solved(self, answer: str) -> bool:
        """The suite's verdict, asked as `TaskSuite` asks it: by the calls if the task judges them, else by the state."""
        make_call = importlib.import_module("agentdojo.functions_runtime").FunctionCall
        traces = [make_call(function=name, args=arguments) for name, arguments in self.calls]
        verdict = self.task.utility_from_traces(answer, self.before, self.environment, traces)
        if verdict is not None:
            return verdict
        return self.task.utility(answer, self.before, self.environment)

    def expected_calls(self) -> list[str]:
        """Names of the tools that the suite's ground truth calls, in its order."""
        return [call.function for call in self.task.ground_truth(self.before)]
