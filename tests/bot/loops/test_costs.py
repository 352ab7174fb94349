"""Costs of turns that end in the middle: whatever ends them, what was paid by then counts once, for whoever asked."""

import asyncio
from decimal import Decimal

import pytest

from bot.chat import phrases
from bot.clock import SetClock
from bot.money.ledger import periods
from bot.settings import BudgetSettings
from store import Store
from tests.bot.chat.turn_helpers import Echo, calls, says
from tests.bot.loops.app_harness import Harness, app_harness
from tests.servers.envelopes import ALICE, BOB, CAROL, GROUP, Frame, delete, edit, message
from tests.store.test_machine import limit_pages


async def spent_by(aldis: Harness, person: str) -> str:
    now = periods(aldis.clock.now(), "UTC")
    [day, *_] = await aldis.store.read(lambda repos: repos.ledger.totals(person, None, now))
    return format(day.cost_usd.normalize(), "f")


@pytest.mark.parametrize("is_held", [False, True], ids=["written", "held back"])
@pytest.mark.parametrize(
    "how",
    [
        "taken back",
        "edited",
        "/stop",
        "/undo",
        "/forget yes",
        "/forget everything yes",
        "elsewhere",
        "by somebody else",
    ],
)
async def test_a_completion_is_paid_though_its_tool_is_broken_off(
    store: Store, clock: SetClock, how: str, is_held: bool
) -> None:
    """It may stand in the journal, which goes, or wait to share a commit with what its tool finds, which costs, too."""
    began = asyncio.Event()

    async def hang() -> None:
        began.set()
        await asyncio.Event().wait()

    look = Echo(name="look", label="computed" if is_held else "local", work=lambda _: hang())
    group = GROUP if how in {"elsewhere", "by somebody else"} else None
    async with app_harness(store, clock, tools=(look,), admins=frozenset({BOB.uuid})) as aldis:
        aldis.model.script += [calls(("look", {"word": "page"}))]
        sent_at = await aldis.deliver(message("Aldis, look at it.", group=group))
        await began.wait()
        aldis.model.gates["otherwise"] = asyncio.Event()
        frames: dict[str, Frame] = {
            "taken back": delete(sent_at),
            "edited": edit("Think otherwise.", sent_at),
            "elsewhere": message("/forget everything yes"),
            "by somebody else": message("/forget all yes", author=BOB, group=GROUP),
        }
        await aldis.deliver(frames.get(how) or message(how))
        if how == "edited":
            await aldis.asked(2)
        else:
            await aldis.quiet()
            await aldis.until(lambda: not aldis.worker.tasks)
        reserved = "0.013711" if how == "edited" else "0.012"  # what is asked anew is under way
        assert [await spent_by(aldis, person) for person in (ALICE.uuid, BOB.uuid)] == [reserved, "0"]
        assert len(aldis.model.asked) == (2 if how == "edited" else 1)
        aldis.model.gates["otherwise"].set()
        await aldis.quiet()


@pytest.mark.parametrize("kind", ["a step", "what a tool answers", "the answer"])
async def test_what_a_full_disk_does_not_take_is_kept_once_there_is_room(
    store: Store, clock: SetClock, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing is asked again, and no tool runs again, whichever of two answers is the larger one."""
    look, glance = Echo(name="look"), Echo(name="glance", flags={"max_result_chars": 10**6})
    large = {"word": "page " * (100_000 if kind == "a step" else 1)}
    looked = calls(("look", large), ("glance", {"word": "page ", "times": 100_000}))
    script = [says("A page. " * 50_000)] if kind == "the answer" else [looked, says("A page.")]
    async with app_harness(store, clock, tools=(look, glance)) as aldis:
        aldis.model.script += script
        gate = await aldis.held("Look", message("Look."))
        await limit_pages(store, 20)
        gate.set()
        await aldis.until(lambda: "for room on the disk" in caplog.text)
        await limit_pages(store, 100_000)
        await aldis.quiet()
        assert [len(aldis.model.asked), aldis.transport.sent[0].content.text[:7]] == [len(script), "A page."]
        assert await spent_by(aldis, ALICE.uuid) == ("0.01" if kind == "the answer" else "0.024")
        assert [len(tool.ran) for tool in (look, glance)] == [len(script) - 1] * 2


async def test_nobody_pays_for_what_somebody_else_asks(store: Store, clock: SetClock) -> None:
    """Questions of several people that wait together in a group are answered, paid and refused each alone."""
    async with app_harness(store, clock, budgets=BudgetSettings(person_day_usd=Decimal("0.015"))) as aldis:
        gate = await aldis.held("slow", message("Aldis, slow?", author=CAROL, group=GROUP))
        for number in range(3):
            await aldis.deliver(message(f"Aldis, {number}?", author=BOB, group=GROUP))
        await aldis.deliver(message("Aldis, and mine?", group=GROUP))
        await aldis.deliver(message("Aldis, a last one?", author=BOB, group=GROUP))
        gate.set()
        await aldis.quiet()
        spent = [await spent_by(aldis, person) for person in (ALICE.uuid, BOB.uuid)]
        assert (aldis.transport.sent[2].content.text, spent) == ("re: Aldis, and mine?", ["0.01", "0.02"])
        await aldis.process(message("Aldis, more?", author=BOB, group=GROUP))
        assert aldis.transport.sent[-1].content.text == phrases.budget_used_up("person", "day", renews=True)
