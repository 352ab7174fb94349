"""Room in memory: what is heavy waits for its turn, what is light never does."""

import asyncio

from bot.chat.memory_limit import MemoryLimit
from tests.waiting import WAIT_SECONDS


async def test_who_needs_more_than_is_free_waits_and_others_do_not() -> None:
    """It is let in as soon as there is room for it."""
    room, gate, came = MemoryLimit(10), asyncio.Event(), asyncio.Event()

    async def stay(size_bytes: int, *, is_last: bool = False) -> None:
        async with room.of(size_bytes, person=str(size_bytes)):
            if is_last:
                came.set()
            await gate.wait()

    heavy = asyncio.create_task(stay(8))
    await asyncio.sleep(0)
    another = asyncio.create_task(stay(3, is_last=True))
    async with room.of(0, person="0"), room.of(2, person="2"):
        assert not came.is_set()
    heavy.cancel()
    await came.wait()
    another.cancel()
    await asyncio.gather(heavy, another, return_exceptions=True)
    async with room.of(10, person="10"):
        pass


async def test_what_is_larger_than_the_room_comes_alone() -> None:
    """It is not refused for that."""
    room = MemoryLimit(10)
    async with room.of(50, person="50"), room.of(0, person="0"):
        waiting = asyncio.create_task(room.of(1, person="1").__aenter__())
        await asyncio.sleep(0)
        assert not waiting.done()
    await waiting


async def test_who_needs_much_is_not_passed_over_for_ever() -> None:
    """Those that come later and need little wait behind it."""
    room, came = MemoryLimit(10), list[int]()

    async def come(size_bytes: int) -> None:
        async with room.of(size_bytes, person=str(size_bytes)):
            came.append(size_bytes)

    async with room.of(4, person="4"):
        waiting = [asyncio.create_task(come(size)) for size in (9, 3, 2)]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert came == []
    await asyncio.gather(*waiting)
    assert came == [9, 3, 2]


async def test_who_gives_up_while_waiting_takes_no_room() -> None:
    """A turn that is stopped meanwhile leaves nothing behind."""
    room = MemoryLimit(10)
    async with room.of(10, person="10"):
        waiting = asyncio.create_task(room.of(5, person="5").__aenter__())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])
    async with asyncio.timeout(WAIT_SECONDS), room.of(10, person="10"):
        pass


async def test_who_has_filled_it_keeps_nobody_waiting_with_the_next() -> None:
    """Somebody's second turn waits aside until the first has ended; what others need comes meanwhile."""
    room, came = MemoryLimit(10), list[str]()

    async def come(size_bytes: int, person: str) -> None:
        async with room.of(size_bytes, person=person):
            came.append(person)

    async with room.of(8, person="anna"):
        again = asyncio.create_task(come(8, "anna"))
        await asyncio.sleep(0)
        async with asyncio.timeout(WAIT_SECONDS):
            await come(2, "ben")
        assert came == ["ben"]
    await again
    assert came == ["ben", "anna"]
