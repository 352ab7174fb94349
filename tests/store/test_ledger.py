"""The ledger: what was done and what it cost, exactly, with the words sealed, outliving the conversation."""

from decimal import Decimal

import pytest

from store import ConversationId, Entry, Shelves, Store, StoreError, TurnId
from store.shelf import millis
from tests.conftest import NOON

MODEL = Entry(
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
TOOL = Entry(kind="tool", name="calculate", outcome="timeout", latency_seconds=0, cost_usd=Decimal(0), details=b"17*23")
UNPRICED = Entry(kind="model", name="model-2", outcome="ok", latency_seconds=0.5, input_tokens=1, output_tokens=2)


async def begun(store: Store, chat: str = "direct:a") -> tuple[ConversationId, TurnId]:
    """A turn of the chat."""
    conversation = await store.conversation(chat, now=NOON)

    def begin(shelves: Shelves) -> TurnId:
        [(turn,)] = shelves.ledger.rows(
            "INSERT INTO turns (conversation_id, state, started_at) VALUES (?, 'running', 0) RETURNING id",
            (conversation,),
        )
        return TurnId(turn)

    return conversation, await store.transaction(begin)


async def note(store: Store, chat: str, *entries: Entry, person: str | None = None) -> ConversationId:
    conversation, turn = await begun(store, chat)
    await store.transaction(lambda shelves: shelves.ledger.add(conversation, turn, person, entries, now=NOON))
    return conversation


async def test_nothing_done_cost_nothing(store: Store) -> None:
    """The sum over no row is zero of everything."""
    spending = await store.read(lambda shelves: shelves.ledger.spending())
    assert (spending.calls, spending.cost_usd, spending.unknown_costs) == (0, Decimal(0), 0)
    assert (spending.input_tokens, spending.output_tokens) == (0, 0)


async def test_every_field_is_written(store: Store) -> None:
    """A row a call, in order, with what was said of it; the latency in whole milliseconds."""
    conversation = await note(store, "direct:a", MODEL, TOOL, UNPRICED)
    rows = await store.read(
        lambda shelves: shelves.ledger.rows(
            "SELECT conversation_id, at, kind, provider, name, outcome, input_tokens, cached_input_tokens, "
            "output_tokens, latency_ms, cost_usd, details IS NULL FROM ledger ORDER BY id"
        )
    )
    at = millis(NOON)
    assert rows == [
        (conversation, at, "model", "anthropic", "model-1", "ok", 100, 60, 7, 1234, "0.1", 1),
        (conversation, at, "tool", None, "calculate", "timeout", 0, 0, 0, 0, "0", 0),
        (conversation, at, "model", None, "model-2", "ok", 1, 0, 2, 500, None, 1),
    ]


async def test_sums_are_exact(store: Store) -> None:
    """Ten times ten cents are one dollar, and a price of many digits keeps them all."""
    await note(store, "direct:a", *[MODEL] * 10)
    spending = await store.read(lambda shelves: shelves.ledger.spending())
    assert spending.cost_usd == Decimal("1.0")
    tiny = Entry(
        kind="model", name="m", outcome="ok", latency_seconds=0, cost_usd=Decimal("0.000000000000000000000001")
    )
    await note(store, "direct:a", tiny)
    spending = await store.read(lambda shelves: shelves.ledger.spending())
    assert spending.cost_usd == Decimal("1.000000000000000000000001")


async def test_a_call_without_a_price_is_counted_as_such(store: Store) -> None:
    """It is not taken for free: the sum says how many are missing in it."""
    await note(store, "direct:a", MODEL, UNPRICED, TOOL)
    spending = await store.read(lambda shelves: shelves.ledger.spending())
    assert (spending.calls, spending.cost_usd, spending.unknown_costs) == (3, Decimal("0.1"), 1)
    assert (spending.input_tokens, spending.output_tokens) == (101, 9)


async def test_each_conversation_has_its_sum(store: Store) -> None:
    """And all of them together one."""
    one = await note(store, "direct:a", MODEL, MODEL)
    two = await note(store, "direct:b", MODEL)
    sums = await store.read(
        lambda shelves: [shelves.ledger.spending(which).cost_usd for which in (one, two, ConversationId(99), None)]
    )
    assert sums == [Decimal("0.2"), Decimal("0.1"), Decimal(0), Decimal("0.3")]


async def test_what_a_tool_was_asked_is_sealed_in_its_place(store: Store) -> None:
    """The row holds no word of it; it opens with the conversation's key as what it was."""
    conversation, turn = await begun(store)
    await store.transaction(lambda shelves: shelves.ledger.add(conversation, turn, None, (MODEL, TOOL), now=NOON))

    def opened(shelves: Shelves) -> tuple[bytes, bytes]:
        [(details,)] = shelves.ledger.rows("SELECT details FROM ledger WHERE details IS NOT NULL")
        return details, shelves.ledger.keyring.open(conversation, f"ledger.details|{turn}|1", details)

    sealed, words = await store.read(opened)
    assert b"17*23" not in sealed
    assert words == b"17*23"


async def test_who_asked_is_a_handle(store: Store) -> None:
    """The same person has the same one in every row, and no row names anybody; nobody is null."""
    await note(store, "direct:a", MODEL, person="+15550000001")
    await note(store, "group:G", MODEL, person="+15550000001")
    await note(store, "group:G", MODEL, person="+15550000002")
    await note(store, "group:G", MODEL)
    persons = [row[0] for row in await store.read(lambda shelves: shelves.ledger.rows("SELECT person FROM ledger"))]
    assert persons[0] == persons[1] != persons[2]
    assert persons[3] is None
    assert len(persons[0]) == 16


async def test_what_was_spent_outlives_the_words(store: Store) -> None:
    """When a conversation goes, its costs stay, without it."""
    conversation = await note(store, "direct:a", MODEL)
    await store.transaction(
        lambda shelves: shelves.ledger.execute("DELETE FROM conversations WHERE id = ?", (conversation,))
    )
    rows = await store.read(lambda shelves: shelves.ledger.rows("SELECT conversation_id, turn_id FROM ledger"))
    assert rows == [(None, None)]
    assert (await store.read(lambda shelves: shelves.ledger.spending())).cost_usd == Decimal("0.1")


async def test_a_kind_that_nobody_knows_is_refused(store: Store) -> None:
    """The table knows the kinds of calls."""
    wrong = Entry(kind="gift", name="x", outcome="ok", latency_seconds=0)  # pyright: ignore[reportArgumentType] (the point)
    with pytest.raises(StoreError, match="SQLITE_CONSTRAINT_CHECK"):
        await note(store, "direct:a", MODEL, wrong)
    assert (await store.read(lambda shelves: shelves.ledger.spending())).calls == 0
