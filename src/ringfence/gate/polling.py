"""Several approval handlers, asked about one call at the same time.

The decision counts as soon as `gate.decisions` knows it. Whoever is not needed any more is cancelled, and a late answer
is dropped in silence: the first decision stays. Each handler runs in a task of its own and sees a copy of its own.
Knows no deadlines: whoever awaits `Poll.run` may cancel it. Called by `gate.approval`.
"""

from __future__ import annotations

import asyncio
import copy
from dataclasses import replace

from ringfence.gate.attempt import STOPPED_GRACE, Attempts
from ringfence.gate.decisions import Panel, Ruling, outcome
from ringfence.gate.handlers import Member, called, discard, failed, read
from ringfence.ports import ApprovalRequest
from ringfence.threads import DaemonThreads


class Poll:
    """Several handlers, asked at once."""

    def __init__(self, members: tuple[Member, ...], tree: Panel, threads: DaemonThreads, attempts: Attempts) -> None:
        self._members = members
        self._tree = tree
        self._threads = threads
        self._attempts = attempts
        self._loop = asyncio.get_running_loop()
        self._known: asyncio.Future[Ruling] = self._loop.create_future()
        """What they decide; done, or cancelled, when nobody's answer counts any more."""
        self._heard: list[tuple[int, Ruling]] = []
        self._tasks: list[asyncio.Task[None]] = []

    async def run(self, request: ApprovalRequest) -> Ruling:
        """What they decide, as soon as it is known. Who has not answered by then still waits to be dismissed."""
        copies = [_copied(request) for _ in self._members[1:]]
        for number, (member, shown) in enumerate(zip(self._members, [request, *copies], strict=True)):
            task = self._loop.create_task(self._hear(number, member, shown), name="ringfence-approver")
            self._tasks.append(task)
        try:
            return await self._known
        except GeneratorExit:  # the caller's coroutine is closed, and nothing is awaited any more
            self._cancel()
            raise
        except BaseException:
            await self.dismiss(STOPPED_GRACE)
            raise

    async def dismiss(self, seconds: float) -> None:
        """Cancel handlers that have not answered, and wait a little for them. Who unwinds longer does so alone, and is
        counted as left behind when its grace is over.
        """
        rest = self._cancel()
        if not rest:
            return
        try:
            await asyncio.wait(rest, timeout=seconds)
        finally:
            for task in rest:
                if not task.done():
                    self._loop.call_later(STOPPED_GRACE - seconds, self._give_up, task)

    def _cancel(self) -> list[asyncio.Task[None]]:
        self._known.cancel()
        rest = [task for task in self._tasks if not task.done()]
        for task in rest:
            if not task.cancelling() and not self._loop.is_closed():  # a second time would cut its unwinding short
                task.cancel()
        return rest

    def _give_up(self, task: asyncio.Task[None]) -> None:
        if not task.done():
            task.cancel()
            self._loop.call_soon(self._leave, task)  # after the step that this cancellation leads to

    def _leave(self, task: asyncio.Task[None]) -> None:
        if not task.done():
            self._attempts.leave(task)

    async def _hear(self, number: int, member: Member, request: ApprovalRequest) -> None:
        try:
            answer = await called(member, request, self._threads)
            if self._known.done():
                discard(answer)
                return
            ruling = read(answer, request.tool)
        except KeyboardInterrupt as error:
            if self._known.done():
                raise
            self._known.set_exception(error)
            return
        except BaseException as error:  # noqa: BLE001  (a handler may raise anything, at once or later)
            if self._known.done():
                return
            ruling = failed(request.tool, error)
        self._heard.append((number, ruling))
        if (known := outcome(self._tree, self._heard)) is not None:
            self._known.set_result(known)


def _copied(request: ApprovalRequest) -> ApprovalRequest:
    """A copy that one handler may change without another's seeing it."""
    return replace(request, input=copy.deepcopy(request.input), arguments=copy.deepcopy(request.arguments))
