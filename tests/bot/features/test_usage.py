"""What was spent and what is left, as each may know it."""

from decimal import Decimal

from bot.clock import SetClock
from bot.settings import BudgetSettings
from store import Store
from tests.bot.commands.test_commands import ask
from tests.bot.loops.app_harness import app_harness
from tests.servers.envelopes import BOB, GROUP, message


async def test_usage_tells_each_what_is_theirs(store: Store, clock: SetClock) -> None:
    """The person's own sums, and in a group those of the group; an admin also sees everybody's."""
    async with app_harness(store, clock, budgets=BudgetSettings(), admins=frozenset({BOB.uuid})) as aldis:
        await aldis.process(message("one"))
        own = await ask(aldis, "/usage")
        assert ("You today: US$0.01" in own, "Everyone" in own) == (True, False)
        assert "This group today: nothing yet" in await ask(aldis, "/usage", group=GROUP, author=BOB)
        await ask(aldis, "Aldis, hello", group=GROUP)
        all_of_it = await ask(aldis, "/usage", group=GROUP, author=BOB)
        for line in ("You today: nothing yet", "This group today: US$0.01", "Everyone this month: US$0.02"):
            assert line in all_of_it


async def test_usage_tells_what_is_left(store: Store, clock: SetClock) -> None:
    """Of each limit that there is; never less than nothing."""
    limits = BudgetSettings(person_day_usd=Decimal("0.015"), group_month_usd=Decimal(5))
    async with app_harness(store, clock, budgets=limits) as aldis:
        await ask(aldis, "Hello?")
        shown = await ask(aldis, "/usage")
        assert "You today: US$0.01 of US$0.015, less than a cent left" in shown
        assert "You this month: US$0.01" in shown
        await ask(aldis, "Hello?")
        assert "US$0.02 of US$0.015, US$0.00 left" in await ask(aldis, "/usage")
        assert "This group this month: US$0.00 of US$5.00, US$5.00 left" in await ask(aldis, "/usage", group=GROUP)
