"""What a restored store would do all over again is closed."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.clock import SetClock
from bot.features.reminders.service import close_copy
from store import Store, open_store, restore
from tests.bot.commands.test_commands import ask
from tests.bot.features.reminders.test_reminders import come, texts
from tests.bot.loops.app_harness import app_harness

PLANS = ("in 1h tea", "every day at 13:00 bins", "in 90m ask: what is the weather?", "in 3h cake", "in 5h supper")


@asynccontextmanager
async def restored(path: Path, folder: Path, clock: SetClock) -> AsyncGenerator[Store]:
    """The store of noon with all this planned, restored at two and opened at four."""
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


async def test_nothing_of_the_past_comes(
    path: Path, tmp_path: Path, clock: SetClock, caplog: pytest.LogCaptureFixture
) -> None:
    """It is counted and closed, once; what repeats goes on, and what was due since the restore comes."""
    async with restored(path, tmp_path / "copies", clock) as store:
        for _ in range(2):
            await store.transaction(lambda repos: close_copy(repos, clock.now()))
        assert caplog.text.count("the store is a restored backup: 3 messages, answers and reminders") == 1
        assert await what_comes(store, clock) == ["cake", "supper", "bins"]
