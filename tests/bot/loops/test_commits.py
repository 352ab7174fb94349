"""What a turn costs in commits: each is an fsync that somebody waits for, and three of them keep all promises.

First the arrival and its claim, before the read receipt and before anything computes; then the completion, with what
follows it within milliseconds, before the next step; then the history, the ledger, the answer and the beginning of its
send, before it is sent. That it went out is written with whatever comes next.
"""

import asyncio
import json
import threading
from typing import Any

import pytest

from bot.clock import SetClock
from bot.messages import AssistantMessage
from bot.transports.envelope.frames import FrameReader
from store import Store
from tests.bot.loops.app_harness import Harness, app_harness
from tests.bot.transports.bridges import OWN_ACCOUNT
from tests.bot.turn.turn_helpers import Echo, calls, says
from tests.servers.envelopes import delete, message

LONG_SECONDS = 3600.0
"""The patience of what nobody waits for: here it always goes with the next."""


class Commits:
    """Those that write something, from now on."""

    def __init__(self) -> None:
        self.count = 0
        self._writes = False

    async def watch(self, store: Store) -> "Commits":
        await store.read(lambda repos: repos.inbox._connection.set_trace_callback(self._see))
        return self

    def _see(self, statement: str) -> None:
        word = statement.split(maxsplit=1)[0]
        if word in {"INSERT", "UPDATE", "DELETE"}:
            self._writes = True
        elif word == "COMMIT":
            self.count += self._writes
            self._writes = False


async def asked(aldis: Harness, count: int) -> None:
    """One more question, and its answer on its way."""
    await aldis.deliver(message(f"question {count}", sent_at=1_795_000_000_000 + count))
    await aldis.answered(count)


@pytest.mark.parametrize(
    ("flags", "commits"),
    [({"computes_only": True}, 3), ({"effects": "once"}, 4), ({"effects": "none"}, 4)],
    ids=["computes", "acts once", "looks"],
)
async def test_a_turn_with_a_tool_is_three_commits(
    store: Store, clock: SetClock, flags: dict[str, Any], commits: int
) -> None:
    """One more where a tool has done something or looked something up: that must not be done again."""
    echo = Echo(**flags)
    async with app_harness(store, clock, tools=(echo,), max_delay_seconds=LONG_SECONDS) as aldis:
        await asked(aldis, 1)
        # The turn is over, and that its answer went out waits for the next commit.
        await aldis.until(lambda: not aldis.worker.tasks.running() and len(store._database._waiting) == 1)
        seen = await Commits().watch(store)
        aldis.model.script = [calls(("echo", {"word": "hi"})), says("It said hi.")]
        await asked(aldis, 2)
        assert seen.count == commits
        assert echo.ran == ["hi"]


async def test_what_is_urgent_comes_before_what_arrives_with_it(store: Store, clock: SetClock) -> None:
    """A question that is taken back in the same breath is not claimed in the commit that writes both down."""
    async with app_harness(store, clock) as aldis:
        await asked(aldis, 1)
        await aldis.quiet()
        await aldis.until(lambda: not aldis.worker.tasks.running())
        question = message("never mind", sent_at=1_795_000_000_500)
        taken_back = delete(1_795_000_000_500)
        frames = FrameReader(OWN_ACCOUNT, "Aldis")
        both = [frames.envelope(json.dumps(frame)) for frame in (question, taken_back)]
        await aldis.intake.take(*(envelope for envelope in both if envelope is not None))
        await aldis.quiet()
        assert len(aldis.model.asked) == 1


async def test_one_turn_at_a_time_however_they_are_claimed(store: Store, clock: SetClock) -> None:
    """What arrives while the worker looks by itself is not claimed beside what it takes from the same conversation."""
    async with app_harness(store, clock) as aldis:
        await asked(aldis, 1)
        await aldis.quiet()
        await aldis.until(lambda: not aldis.worker.tasks.running())
        gate = aldis.model.gates["held"] = asyncio.Event()
        is_free = threading.Event()
        commit_under_way = asyncio.create_task(store.transaction(lambda _: is_free.wait()))
        await aldis.until(lambda: not store._database._is_idle.is_set() and not store._database._waiting)
        first = asyncio.create_task(aldis.deliver(message("held one", sent_at=1_795_000_000_500)))
        await aldis.until(lambda: len(store._database._waiting) == 1)
        store.wakeups["inbox"].set()
        await aldis.until(lambda: len(store._database._waiting) == 2)
        second = asyncio.create_task(aldis.deliver(message("held two", sent_at=1_795_000_000_600)))
        await aldis.until(lambda: len(store._database._waiting) == 3)
        is_free.set()
        await asyncio.gather(commit_under_way, first, second)
        await aldis.asked(2)
        gate.set()
        await aldis.quiet()
        [*_, last] = aldis.model.requests
        assert [said.text for said in last.messages if isinstance(said, AssistantMessage)][-1] == "re: held one"
