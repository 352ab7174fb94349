"""What a restored store would do all over again: it is listed, and closed or done."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

from bot.clock import SetClock
from bot.features.reminders.service import Backlog, backlog, settle
from store import Restoration, Store, Waiting, open_store, restore
from tests.bot.commands.test_commands import ask
from tests.bot.features.reminders.test_reminders import come, texts
from tests.bot.loops.app_harness import app_harness
from tests.conftest import NOON

HOUR = timedelta(hours=1)


PLANS = ("in 1h tea", "every day at 13:00 bins", "in 90m ask: what is the weather?", "in 3h cake", "in 5h supper")


@asynccontextmanager
async def restored(path: Path, folder: Path, clock: SetClock) -> AsyncGenerator[Store]:
    """The store of noon with all this planned: it was restored at two, and nobody decided until four."""
    async with open_store(path, realm="signal") as store:
        async with app_harness(store, clock) as aldis:
            for plan in PLANS:
                await ask(aldis, f"/remind {plan}")
            await aldis.quiet()
        copy = await store.backup(folder, now=clock.now())
    clock.move(2 * 3600)
    restore(copy, path, now=clock.now())
    clock.move(2 * 3600)
    async with open_store(path, realm="signal") as store:
        yield store


async def what_comes(store: Store, clock: SetClock) -> list[str]:
    """What people hear of what was planned, and what the model is asked, at once and by the next noon."""
    async with app_harness(store, clock) as aldis:
        await come(aldis)
        clock.move(20 * 3600)
        await come(aldis)
        clock.move(3600)
        await come(aldis)
        heard = [text.removeprefix("⏰ ").split()[0] for text in texts(aldis) if "⏰" in text and "re: " not in text]
        return [*heard, *(asked.splitlines()[-1] for asked in aldis.model.asked)]


async def test_what_was_due_by_the_restoration_is_listed(path: Path, tmp_path: Path, clock: SetClock) -> None:
    """With the time since when; what was due later was surely not said yet."""
    async with restored(path, tmp_path / "copies", clock) as store:
        found = await store.read(lambda repos: backlog(repos, clock.now()))
    assert found == Backlog(
        restoration=Restoration(copied_at=NOON, restored_at=NOON + 2 * HOUR),
        messages=Waiting(items=0, oldest_at=None, dead=0),
        replies=Waiting(items=0, oldest_at=None, dead=0),
        reminders=Waiting(items=3, oldest_at=NOON + HOUR, dead=0),
    )
    assert found is not None
    assert not found.is_empty


async def test_settled_nothing_of_the_past_comes(path: Path, tmp_path: Path, clock: SetClock) -> None:
    """What repeats goes on; what was due while nobody had decided comes late, as after any absence."""
    async with restored(path, tmp_path / "copies", clock) as store:
        await store.transaction(lambda repos: settle(repos, clock.now()))
        assert await store.read(lambda repos: backlog(repos, clock.now())) is None
        assert await what_comes(store, clock) == ["cake", "supper", "bins"]
