"""What the rows of the ledger add up to: the sums by day and month are the product's own."""

from decimal import Decimal

from store import ConversationId, Repositories, Store


def ledger_sum(repos: Repositories, conversation: ConversationId | None = None) -> tuple[int, Decimal, int]:
    """The calls over one conversation, or over all, their known cost, and how many have none."""
    rows = repos.ledger.rows(
        "SELECT cost_usd FROM ledger WHERE ?1 IS NULL OR conversation_id = ?1",
        (conversation,),
    )
    costs = [Decimal(cost) for (cost,) in rows if cost is not None]
    return len(rows), sum(costs, Decimal(0)), len(rows) - len(costs)


async def paid_rows(store: Store) -> list[tuple[str, str, str | None]]:
    return await store.read(lambda repos: repos.ledger.rows("SELECT name, outcome, cost_usd FROM ledger ORDER BY id"))
