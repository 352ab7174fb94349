"""The ledger: what was done and what it cost, exactly, with the words sealed, outliving the conversation."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

from store import ConversationId, LedgerEntry, Repositories, Store, TurnId
from store.ledger import Total
from store.repository import millis
from tests.conftest import NOON
from tests.ledger_sums import ledger_sum

MODEL = LedgerEntry(
    kind="model",
    name="model-1",
    outcome="ok",
    latency_seconds=1.2345,
    provider="anthropic",
    input_tokens=100,
    cached_input_tokens=60,
    output_tokens=7,
    cost_usd=Decimal("0.1"),
)
TOOL = LedgerEntry(kind="tool", name="calculate", outcome="timeout", latency_seconds=0, cost_usd=Decimal(0))
UNPRICED = LedgerEntry(kind="model", name="model-2", outcome="ok", latency_seconds=0.5, input_tokens=1, output_tokens=2)


async def begun(store: Store, chat: str = "direct:a") -> tuple[ConversationId, TurnId]:
    """A turn of the chat."""
    conversation = await store.conversation(chat, now=NOON)
    return conversation, await store.transaction(lambda repos: repos.turns.begin(conversation, now=NOON))


DAY = "2026-11-21"
TODAY = (DAY, "2026-11")
GROUP = "group:G"


async def note(
    store: Store,
    chat: str,
    *entries: LedgerEntry,
    person: str | None = None,
    day: str | None = None,
) -> ConversationId:
    conversation, turn = await begun(store, chat)
    group = chat if chat.startswith("group:") else None
    await store.transaction(
        lambda repos: repos.ledger.add(conversation, turn, person, entries, now=NOON, group=group, day=day)
    )
    return conversation


async def totals(
    store: Store, person: str | None = None, group: str | None = None, periods: tuple[str, ...] = TODAY
) -> dict[tuple[str, str], Total]:
    """The sums by scope and period."""
    found = await store.read(lambda repos: repos.ledger.totals(person, group, periods))
    return {(total.scope, total.period): total for total in found}


async def costs(
    store: Store, person: str | None = None, group: str | None = None, periods: tuple[str, ...] = TODAY
) -> list[str]:
    """What was spent: person, group and all, each for the day and the month."""
    return [str(total.cost_usd) for total in (await totals(store, person, group, periods)).values()]


async def test_every_field_is_written(store: Store) -> None:
    """A row a call, in order, with what was said of it; the latency in whole milliseconds."""
    conversation = await note(store, "direct:a", MODEL, TOOL, UNPRICED)
    rows = await store.read(
        lambda repos: repos.ledger.rows(
            "SELECT conversation_id, at, kind, provider, name, outcome, input_tokens, cached_input_tokens, "
            "output_tokens, latency_ms, cost_usd FROM ledger ORDER BY id"
        )
    )
    at = millis(NOON)
    assert rows == [
        (conversation, at, "model", "anthropic", "model-1", "ok", 100, 60, 7, 1234, "0.1"),
        (conversation, at, "tool", None, "calculate", "timeout", 0, 0, 0, 0, "0"),
        (conversation, at, "model", None, "model-2", "ok", 1, 0, 2, 500, None),
    ]


async def test_sums_are_kept_for_each_person_each_group_and_all(store: Store) -> None:
    """By day and by month; a person's sum is over all their conversations, a group's over all its people."""
    await note(store, "direct:a", MODEL, person="anna", day=DAY)
    await note(store, GROUP, MODEL, MODEL, person="anna", day=DAY)
    await note(store, GROUP, MODEL, person="ben", day=DAY)
    await note(store, "group:H", MODEL, person="ben", day="2026-11-22")
    assert await costs(store, "anna", GROUP) == ["0.3", "0.3", "0.3", "0.3", "0.4", "0.5"]
    assert await costs(store, "ben", "group:H") == ["0.1", "0.2", "0", "0.1", "0.4", "0.5"]
    assert await costs(store, "ben", periods=("2026-11-22",)) == ["0.1", "0.1"]
    assert await costs(store, "carl", "group:I") == ["0", "0", "0", "0", "0.4", "0.5"]


async def test_sums_hold_all_that_the_rows_hold(store: Store) -> None:
    """What is known of the cost, and how many calls have none, over several turns."""
    await note(store, "direct:a", MODEL, UNPRICED, TOOL, person="anna", day=DAY)
    await note(store, "direct:a", UNPRICED, person="anna", day=DAY)
    found = await totals(store, "anna")
    assert [(total.cost_usd, total.unknown_costs) for total in found.values()] == [(Decimal("0.1"), 2)] * 4
    assert await store.read(ledger_sum) == (4, Decimal("0.1"), 2)


async def test_sums_name_nobody(store: Store) -> None:
    """The same person and the same group by handles, as everywhere; `all` is no handle."""
    await note(store, GROUP, MODEL, person="+15550000001", day=DAY)
    rows = await store.read(lambda repos: repos.ledger.rows("SELECT DISTINCT scope, length(scope) FROM spent"))
    handles = await store.read(
        lambda repos: {repos.ledger.keyring.handle("+15550000001"), repos.ledger.chat_handle(GROUP)}
    )
    assert {scope for scope, length in rows if length == 16} == handles
    assert {scope for scope, length in rows if length != 16} == {b"all"}


async def test_the_real_cost_takes_the_place_of_an_estimate(store: Store) -> None:
    """In the rows and in the sums, however often it is settled."""
    conversation, turn = await begun(store, "direct:a")
    estimate = replace(MODEL, outcome="reserved", cost_usd=Decimal(5), input_tokens=0, output_tokens=0)

    def settled(repos: Repositories) -> None:
        row = repos.ledger.add(conversation, turn, "anna", (estimate,), now=NOON, day=DAY)
        for _ in range(2):
            repos.ledger.settle(row, (MODEL, TOOL), now=NOON, group=None, day=DAY)

    await store.transaction(settled)
    rows = await store.read(lambda repos: repos.ledger.rows("SELECT outcome FROM ledger"))
    assert [outcome for (outcome,) in rows] == [MODEL.outcome, TOOL.outcome]
    day = (await totals(store, "anna"))["person", DAY]
    assert (day.cost_usd, day.unknown_costs) == (Decimal("0.1"), 0)


async def test_old_sums_go(store: Store) -> None:
    """After 400 days; those within them stay."""
    old, kept = NOON - timedelta(days=401), NOON - timedelta(days=399)
    for day in (old.date().isoformat(), kept.date().isoformat(), DAY):
        await note(store, "direct:a", MODEL, person="anna", day=day)
    await store.transaction(lambda repos: repos.ledger.prune(now=NOON))
    left = await store.read(lambda repos: repos.ledger.rows("SELECT DISTINCT period FROM spent ORDER BY period"))
    assert [period for (period,) in left] == [kept.date().isoformat(), DAY]


async def test_sums_stay_exact(store: Store) -> None:
    """Ten times ten cents are one dollar, turn by turn, and a price of many digits keeps them all."""
    tiny = LedgerEntry(
        kind="model", name="m", outcome="ok", latency_seconds=0, cost_usd=Decimal("0.000000000000000000000001")
    )
    for _ in range(10):
        await note(store, "direct:a", MODEL, day=DAY)
    await note(store, "direct:a", tiny, day=DAY)
    assert await costs(store) == ["1.000000000000000000000001"] * 2


async def test_what_was_used_by_day_person_and_name(store: Store) -> None:
    """Sends are left out, unknown prices count as calls alone, and what is older is not looked at."""
    conversation, turn = await begun(store)
    send = LedgerEntry(kind="send", name="message", outcome="ok", latency_seconds=0)

    def work(repos: Repositories) -> None:
        repos.ledger.add(conversation, turn, "alice", (MODEL, MODEL, TOOL, send), now=NOON)
        repos.ledger.add(conversation, turn, "bob", (UNPRICED,), now=NOON + timedelta(days=1))
        repos.ledger.add(conversation, turn, "alice", (MODEL,), now=NOON - timedelta(days=40))

    await store.transaction(work)
    used, alice = await store.read(
        lambda repos: (repos.ledger.usage(since=NOON - timedelta(days=30)), repos.ledger.keyring.handle("alice"))
    )
    assert [(one.day.isoformat(), one.person == alice, one.name, one.calls, one.cost_usd) for one in used] == [
        ("2026-11-21", True, "model-1", 2, Decimal("0.2")),
        ("2026-11-21", True, "calculate", 1, Decimal(0)),
        ("2026-11-22", False, "model-2", 1, Decimal(0)),
    ]
    assert used[0].input_tokens == 200
