"""What a day may use of a service, over restarts and days."""

from datetime import timedelta

from bot.clock import SetClock
from bot.money.ledger import Quotas
from store import Store


async def test_a_day_s_amount_is_counted_in_what_is_paid_for(store: Store, clock: SetClock) -> None:
    """Several at once, all or none; the next day all is free again."""
    quotas = Quotas(store, clock)

    async def take(amount: int, limit: int = 25) -> bool:
        return await quotas.take("posts", limit=limit, amount=amount)

    assert [await take(30), await take(10), await take(10), await take(10), await take(5)] == [
        False,
        True,
        True,
        False,
        True,
    ]
    assert await quotas.take("others", limit=1, amount=1)
    clock.move(timedelta(days=1).total_seconds())
    assert [await take(26), await take(25), await take(1)] == [False, True, False]
