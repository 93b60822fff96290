"""Several approval handlers, asked about one call at the same time.

The decision counts as soon as `gate.decisions` knows it. Whoever is not needed any more is cancelled, and a late answer
is dropped in silence: the first decision stays. Each handler runs in a task of its own and sees a copy of its own.
Knows no deadlines: whoever awaits `Poll.run` may cancel it. Called by `gate.approval`.
"""

from __future__ import annotations

import asyncio
import copy
from dataclasses import replace
from functools import partial

from ringfence.gate.attempt import STOPPED_GRACE, Attempts
from ringfence.gate.decisions import AnsweredWith, Blocked, Panel, Ruling, outcome
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
        """What they decide, as soon as it is known. Who has not answered by then is still to be released."""
        copies = [_copied(request) for _ in self._members[1:]]
        for number, (member, shown) in enumerate(zip(self._members, [request, *copies], strict=True)):
            task = self._loop.create_task(self._hear(number, member, shown), name="ringfence-approver")
            self._tasks.append(task)
        try:
            return await self._known
        except GeneratorExit:  # the caller's coroutine is closed, and nothing is awaited any more
            self.release()
            raise
        except BaseException:
            await self.settle(STOPPED_GRACE)
            raise

    async def settle(self, seconds: float) -> None:
        """Release the handlers, and give them a little time to unwind."""
        if rest := self.release():
            await asyncio.wait(rest, timeout=seconds)

    def release(self) -> list[asyncio.Task[None]]:
        """Cancel those that have not answered. Who takes longer than its grace to unwind is left behind, and counted.

        Returns:
            Those that were cancelled: none the second time.
        """
        self._known.cancel()
        tasks, self._tasks = self._tasks, []
        rest = [task for task in tasks if not task.done()]
        if not self._loop.is_closed():
            for task in rest:
                if not task.cancelling():  # else somebody has told it, and twice would cut its unwinding short
                    task.cancel()
                timer = self._loop.call_later(STOPPED_GRACE, self._give_up, task)
                task.add_done_callback(partial(_call_off, timer))
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
            ruling = read(answer, request.tool, member.handler)
        except KeyboardInterrupt as error:
            if self._known.done():
                raise
            self._known.set_exception(error)
            return
        except BaseException as error:  # noqa: BLE001  (a handler may raise anything, at once or later)
            if self._known.done():
                return
            ruling = failed(request.tool, error, member.handler)
        self._heard.append((number, ruling))
        if (known := outcome(self._tree, self._heard)) is not None:
            if isinstance(known, Blocked):
                for _, given in self._heard:
                    if isinstance(given, AnsweredWith):
                        discard(given.value)
            self._known.set_result(known)


def _call_off(timer: asyncio.TimerHandle, _: asyncio.Task[None]) -> None:
    timer.cancel()


def _copied(request: ApprovalRequest) -> ApprovalRequest:
    """A copy that one handler may change without another's seeing it."""
    return replace(request, input=copy.deepcopy(request.input), arguments=copy.deepcopy(request.arguments))
