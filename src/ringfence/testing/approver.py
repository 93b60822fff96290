"""An approval handler that answers as the test says, and remembers what it was asked.

Knows requests and decisions; given to a boundary as `approve=`, or to a tool as `approval=`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from types import TracebackType
from typing import Self

from ringfence.ports import ApprovalRequest, Reject, Verdict
from ringfence.testing.steps import After, Never, Script

Answer = Verdict | BaseException | type[BaseException] | Never
"""What an approver does when asked: decides, raises, or (`never`) does not answer."""


class ScriptedApprover:
    """Gives the answers of a list, in order, one for each question.

        with rf.testing.ScriptedApprover([True, rf.Reject("too much"), rf.testing.never]) as approve:
            boundary = rf.Boundary([refund], sandbox=rf.local(unsafe=True), approve=approve, approval_timeout=60)
            ...
        assert [request.arguments["cents"] for request in approve.requests] == [5, 5_000, 7]

    An answer is a decision (`True`, `False`, `rf.Approve()`, `rf.Edit`, `rf.Reject`, `rf.Respond`), an exception to
    raise, `never`, or `After(seconds, answer)`. A question beyond the last answer is rejected, with a reason that says
    so, and makes the `with` block and `assert_exhausted` fail: nothing that a handler raises could fail the test.
    """

    def __init__(self, answers: Iterable[Answer | After[Answer]]) -> None:
        """An approver that gives these answers.

        Raises:
            ConfigError: no list of answers.
        """
        self._script: Script[Answer | After[Answer]] = Script(answers, "ScriptedApprover")
        self._requests: list[ApprovalRequest] = []
        self._surplus: list[str] = []

    @property
    def requests(self) -> tuple[ApprovalRequest, ...]:
        """Every question, in the order asked, those beyond the script included."""
        return tuple(self._requests)

    async def __call__(self, request: ApprovalRequest) -> Verdict:
        """Answer one question."""
        self._requests.append(request)
        if not self._script.has_more:
            self._surplus.append(
                f"question {len(self._requests)}, about {request.tool}, is one more than the test has answers "
                f"({len(self._script)})"
            )
            return Reject(f"ScriptedApprover: {self._surplus[-1]}")
        answer = self._script.take()
        if isinstance(answer, After):
            await asyncio.sleep(answer.seconds)
            answer = answer.step
        match answer:
            case Never():
                return await asyncio.get_running_loop().create_future()
            case BaseException() | type():
                raise answer
            case _:
                return answer

    def assert_exhausted(self) -> None:
        """Every answer was asked for, and no more than these.

        Raises:
            AssertionError: says which were not, or which question had no answer.
        """
        if self._surplus:
            raise AssertionError(f"{'; '.join(self._surplus)}\n  fix: add answers, or ask for fewer approvals")
        if unused := self._script.unused("answers are"):
            raise AssertionError(f"{unused}\n  fix: remove them, or look why nobody was asked")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.assert_exhausted()
