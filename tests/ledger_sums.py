"""What the rows of the ledger add up to: the sums by day and month are the product's own."""

from decimal import Decimal

from store import ConversationId, Repositories, Spending, Store


def ledger_sum(repos: Repositories, conversation: ConversationId | None = None) -> Spending:
    """The sum over one conversation, or over all."""
    rows = repos.ledger.rows(
        "SELECT input_tokens, output_tokens, cost_usd FROM ledger WHERE ?1 IS NULL OR conversation_id = ?1",
        (conversation,),
    )
    costs = [Decimal(cost) for _, _, cost in rows if cost is not None]
    return Spending(
        calls=len(rows),
        input_tokens=sum(row[0] for row in rows),
        output_tokens=sum(row[1] for row in rows),
        cost_usd=sum(costs, Decimal(0)),
        unknown_costs=len(rows) - len(costs),
    )


async def paid_rows(store: Store) -> list[tuple[str, str, str | None]]:
    """The rows of the ledger in order: whose call, what became of it, what it cost."""
    return await store.read(lambda repos: repos.ledger.rows("SELECT name, outcome, cost_usd FROM ledger ORDER BY id"))
