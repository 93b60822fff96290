"""Turns: first come, first served, passed on when the last holder lets go, and never lost."""

from __future__ import annotations

import asyncio
import threading

import pytest

from ringfence.gate.slots import Slots, Turn
from tests.gate.kit import run


def test_there_are_as_many_turns_as_allowed_and_the_next_one_waits() -> None:
    slots = Slots(2)
    turns = [slots.turn() for _ in range(3)]
    assert [turn.is_held for turn in turns] == [True, True, False]
    assert list(slots.waiting) == [turns[2]]
    turns[0].leave()
    assert (turns[0].is_held, turns[2].is_held, len(slots.waiting)) == (False, True, 0)


def test_who_came_first_is_served_first_and_nobody_overtakes() -> None:
    async def body() -> list[int]:
        slots, order = Slots(1), list[int]()
        first = slots.turn()

        async def one(number: int, turn: Turn) -> None:
            await turn.wait()
            order.append(number)
            turn.leave()

        tasks = [asyncio.create_task(one(number, slots.turn())) for number in range(5)]
        await asyncio.sleep(0)
        first.leave()
        late = slots.turn()
        assert not late.is_held
        await asyncio.wait(tasks)
        assert late.is_held
        late.leave()
        assert slots.turn().is_held
        return order

    assert run(body) == [0, 1, 2, 3, 4]


def test_a_turn_passes_on_only_when_every_holder_has_let_go() -> None:
    slots = Slots(1)
    turn, following = slots.turn(), slots.turn()
    turn.hold()
    turn.leave()
    assert (turn.is_held, following.is_held) == (True, False)
    turn.leave()
    assert (turn.is_held, following.is_held) == (False, True)


def test_who_gives_up_leaves_the_queue_and_letting_go_twice_frees_nothing() -> None:
    slots = Slots(1)
    held, impatient, patient = slots.turn(), slots.turn(), slots.turn()
    impatient.leave()
    impatient.leave()
    held.leave()
    held.leave()
    assert (impatient.is_held, patient.is_held) == (False, True)
    assert not slots.turn().is_held


def test_a_turn_that_comes_while_its_call_is_cancelled_is_not_lost() -> None:
    async def body() -> None:
        slots = Slots(1)
        held, turn = slots.turn(), slots.turn()
        waiting = asyncio.create_task(turn.wait())
        await asyncio.sleep(0)
        held.leave()  # comes now, and the call is cancelled before it hears of it
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        turn.leave()
        assert slots.turn().is_held

    run(body)


def test_a_turn_that_came_before_anybody_waits_for_it_is_there() -> None:
    async def body() -> None:
        slots = Slots(1)
        held, turn = slots.turn(), slots.turn()
        held.leave()
        await turn.wait()
        assert turn.is_held

    run(body)


def test_a_call_whose_loop_is_closed_is_passed_over() -> None:
    slots = Slots(1)
    held, dead, alive = slots.turn(), slots.turn(), slots.turn()
    loop = asyncio.new_event_loop()
    coroutine = dead.wait()
    loop.run_until_complete(asyncio.sleep(0))
    task = loop.create_task(coroutine)
    loop.run_until_complete(asyncio.sleep(0))
    task.cancel()
    loop.run_until_complete(asyncio.gather(task, return_exceptions=True))
    loop.close()
    held.leave()
    assert (dead.is_held, alive.is_held) == (False, True)


def test_letting_go_while_garbage_is_collected_under_the_lock_waits_for_nobody() -> None:
    slots = Slots(1)
    held, following = slots.turn(), slots.turn()
    with slots.lock:
        held.leave()  # as a collected coroutine's `finally` does, in the thread that has the lock
        assert not following.is_held
    assert not slots.turn().is_held  # whoever has the lock next reads the note
    assert following.is_held


@pytest.mark.slow
def test_turns_serve_several_loops_and_never_run_over_their_limit() -> None:
    slots, lock = Slots(3), threading.Lock()
    running = most = done = 0

    async def one() -> None:
        nonlocal running, most, done
        turn = slots.turn()
        await turn.wait()
        with lock:
            running += 1
            most = max(most, running)
        await asyncio.sleep(0)
        with lock:
            running -= 1
            done += 1
        turn.leave()

    async def many() -> None:
        async with asyncio.timeout(10):
            await asyncio.gather(*(one() for _ in range(200)))

    threads = [threading.Thread(target=lambda: asyncio.run(many()), daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert (done, running, most) == (800, 0, 3)
