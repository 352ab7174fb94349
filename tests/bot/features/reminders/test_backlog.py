"""What a restored store would do all over again is closed."""

from pathlib import Path

import pytest

from bot.clock import SetClock
from bot.features.reminders.service import close_copy
from store import open_store, restore
from tests.bot.commands.test_commands import ask
from tests.bot.features.reminders.test_reminders import HOUR, come, texts
from tests.bot.loops.app_harness import app_harness

PLANS = ("in 1h tea", "every day at 13:00 bins", "in 90m ask: what is the weather?", "in 3h cake", "in 5h supper")


async def test_nothing_of_the_past_comes(
    path: Path, tmp_path: Path, clock: SetClock, caplog: pytest.LogCaptureFixture
) -> None:
    """The store of noon, restored and opened at two: what was open is closed, once; what repeats goes on."""
    async with open_store(path, realm="signal") as store:
        async with app_harness(store, clock) as aldis:
            for plan in PLANS:
                await ask(aldis, f"/remind {plan}")
            await aldis.quiet()
        copy = await store.backup(tmp_path / "copies", now=clock.now())
    clock.move(2 * HOUR)
    restore(copy, path, now=clock.now())
    async with open_store(path, realm="signal") as store:
        for _ in range(2):
            await store.transaction(lambda repos: close_copy(repos, clock.now()))
        assert caplog.text.count("the store is a restored backup: 3 messages, answers and reminders") == 1
        async with app_harness(store, clock) as aldis:
            for seconds in (2 * HOUR, 20 * HOUR, HOUR):
                clock.move(seconds)
                await come(aldis)
            heard = [text.removeprefix("⏰ ").split()[0] for text in texts(aldis)]
            assert (heard, aldis.model.asked) == (["cake", "supper", "bins"], [])
