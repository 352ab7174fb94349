"""Work: who computes is known at every moment, and whoever may have killed a process computes alone."""

import asyncio
import threading

import pytest

from bot.chat.work import Work, side_by_side, waiting, work_out
from store import Store, StoreError
from store.working import Working
from tests.waiting import WAIT_SECONDS, eventually


def at_work(store: Store) -> frozenset[int]:
    """What the next process would find if this one died now."""
    return frozenset(store.working._places)


async def test_a_turn_that_waits_is_not_at_work(store: Store) -> None:
    """Nor while several of its tasks wait side by side; it is again when the last of them goes on."""
    first, second = asyncio.Event(), asyncio.Event()

    async def wait(gate: asyncio.Event) -> None:
        async with waiting():
            await gate.wait()

    async with Work(store).on(7):
        assert at_work(store) == {7}
        tasks = [asyncio.create_task(wait(gate)) for gate in (first, second)]
        await eventually(lambda: not at_work(store))
        first.set()
        await tasks[0]
        assert not at_work(store)
        second.set()
        await tasks[1]
        assert at_work(store) == {7}
    assert not at_work(store)
    async with waiting():
        assert not at_work(store)


async def test_suspects_compute_one_after_the_other_and_wait_side_by_side(store: Store) -> None:
    """The next death says which of them it was; nobody else is held up."""
    work, gate, computed = Work(store), asyncio.Event(), list[frozenset[int]]()

    async def turn(number: int) -> None:
        async with work.on(number, is_suspect=True):
            computed.append(at_work(store) & {1, 2})
            await asyncio.sleep(0)
            computed.append(at_work(store) & {1, 2})
            async with waiting():
                await gate.wait()
            computed.append(at_work(store) & {1, 2})

    tasks = [asyncio.create_task(turn(number)) for number in (1, 2)]
    async with work.on(3):
        await eventually(lambda: len(computed) == 4)
        assert at_work(store) == {3}
    gate.set()
    await asyncio.gather(*tasks)
    assert all(len(found) == 1 for found in computed)


async def test_who_is_stopped_leaves_the_place_to_others(store: Store) -> None:
    """While it computes, while it waits, and while it wants to go on."""
    work, gate = Work(store), asyncio.Event()

    async def turn(number: int) -> None:
        async with work.on(number, is_suspect=True):
            async with waiting():
                await gate.wait()
            await asyncio.Event().wait()

    tasks = [asyncio.create_task(turn(number)) for number in (1, 2, 3)]
    await asyncio.sleep(0)
    tasks[0].cancel()
    await asyncio.wait(tasks[:1])
    gate.set()
    await eventually(lambda: at_work(store))
    for task in tasks[1:]:
        task.cancel()
    await asyncio.wait(tasks)
    async with work.on(4, is_suspect=True):
        assert at_work(store) == {4}
    assert isinstance(store.working, Working)


async def test_an_error_of_one_ends_the_others_and_comes_as_it_is() -> None:
    """Whoever waits for an error of the store would not see it in a group."""
    ended = asyncio.Event()

    async def wait() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async def fail() -> None:
        raise StoreError("the disk is full")

    with pytest.raises(StoreError, match="the disk is full"):
        await side_by_side([wait(), fail()])
    assert ended.is_set()

    async def give(number: int) -> int:
        return number

    assert await side_by_side(map(give, (1, 2))) == [1, 2]


async def test_a_long_text_is_worked_on_while_others_are_answered() -> None:
    """The work itself waits for somebody else here; a short one is done at once, which takes no thread."""
    gone_on, loop = threading.Event(), asyncio.get_running_loop()

    def work(text: str) -> int:
        loop.call_soon_threadsafe(gone_on.set)
        assert gone_on.wait(WAIT_SECONDS)
        return len(text)

    assert await work_out("x" * 100_000, work, "x" * 100_000) == 100_000
    assert await work_out("x", threading.get_ident) == threading.get_ident()
