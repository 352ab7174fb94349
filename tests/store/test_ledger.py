"""The ledger: what was done and what it cost, exactly, outliving the conversation."""

from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal

from store import ConversationId, LedgerEntry, Repositories, TurnId
from store.ledger import Span
from store.repository import millis
from tests.conftest import NOON
from tests.store.sends import place

MODEL = LedgerEntry(
    kind="model",
    name="model-1",
    outcome="ok",
    provider="anthropic",
    input_tokens=100,
    output_tokens=7,
    cost_usd=Decimal("0.1"),
)
TOOL = LedgerEntry(kind="tool", name="calculate", outcome="timeout", cost_usd=Decimal(0))
UNPRICED = LedgerEntry(kind="model", name="model-2", outcome="ok", input_tokens=1, output_tokens=2)

DAY = timedelta(days=1)
PERIODS: dict[Span, tuple[datetime, datetime]] = {"day": (NOON, NOON + DAY), "month": (NOON - 9 * DAY, NOON + DAY)}
GROUP = "group:G"


def begun(repos: Repositories, chat: str = "direct:a") -> tuple[ConversationId, TurnId]:
    conversation = place(repos, chat)
    return conversation, repos.turns.begin(conversation, now=NOON)


def note(
    repos: Repositories, chat: str, *entries: LedgerEntry, person: str | None = None, now: datetime = NOON
) -> ConversationId:
    conversation, turn = begun(repos, chat)
    repos.ledger.add(conversation, turn, person, entries, now=now)
    return conversation


def costs(repos: Repositories, person: str | None = None, group: str | None = None) -> list[str]:
    """What was spent: person, group and all, each for the day and the month."""
    return [str(total.cost_usd.normalize()) for total in repos.ledger.totals(person, group, PERIODS)]


def test_every_field_is_written(repos: Repositories) -> None:
    """A row a call, in order, with what was said of it."""
    conversation = note(repos, "direct:a", MODEL, TOOL, UNPRICED)
    at = millis(NOON)
    assert repos.ledger.rows(
        "SELECT conversation_id, at, kind, provider, name, outcome, input_tokens, output_tokens, "
        "cost_usd FROM ledger ORDER BY id"
    ) == [
        (conversation, at, "model", "anthropic", "model-1", "ok", 100, 7, "0.1"),
        (conversation, at, "tool", None, "calculate", "timeout", 0, 0, "0"),
        (conversation, at, "model", None, "model-2", "ok", 1, 2, None),
    ]


def test_what_each_person_each_group_and_all_have_spent(repos: Repositories) -> None:
    """In a period without its end; over all chats, over all people; beside it how many calls have no known cost."""
    note(repos, "direct:a", MODEL, person="anna")
    note(repos, GROUP, MODEL, MODEL, person="anna")
    note(repos, GROUP, MODEL, person="ben")
    for days in (-9, -1):
        note(repos, "group:H", MODEL, person="ben", now=NOON + days * DAY)
    for days in (-10, 1):  # the latter while the clock was ahead
        note(repos, "group:H", MODEL, person="ben", now=NOON + days * DAY)
    note(repos, "direct:a", UNPRICED, TOOL, person="anna")
    note(repos, "direct:a", UNPRICED, LedgerEntry(kind="send", name="message", outcome="resent"), person="anna")
    assert costs(repos, "anna", GROUP) == ["0.3", "0.3", "0.3", "0.3", "0.4", "0.6"]
    assert [total.unknown_costs for total in repos.ledger.totals("anna", GROUP, PERIODS)] == [2, 2, 0, 0, 2, 2]
    assert costs(repos, "ben", "group:H") == ["0.1", "0.3", "0", "0.2", "0.4", "0.6"]
    assert costs(repos, "carl", "group:I") == ["0", "0", "0", "0", "0.4", "0.6"]


def test_the_real_cost_takes_the_place_of_an_estimate(repos: Repositories) -> None:
    """At its time, however often it is settled."""
    conversation, turn = begun(repos)
    estimate = replace(MODEL, outcome="reserved", cost_usd=Decimal(5), input_tokens=0, output_tokens=0)
    row = repos.ledger.add(conversation, turn, "anna", (estimate,), now=NOON)
    for _ in range(2):
        repos.ledger.settle(row, (MODEL, TOOL))
    at, anna = millis(NOON), repos.ledger.keyring.handle("anna")
    assert repos.ledger.rows("SELECT conversation_id, turn_id, person, at, outcome FROM ledger") == [
        (conversation, turn, anna, at, MODEL.outcome),
        (conversation, turn, anna, at, TOOL.outcome),
    ]
    day, *_ = repos.ledger.totals("anna", None, PERIODS)
    assert (day.cost_usd, day.unknown_costs) == (Decimal("0.1"), 0)


def test_sums_stay_exact(repos: Repositories) -> None:
    """Ten times ten cents are one dollar, and a token of the cheapest model counts."""
    note(repos, "direct:a", *[MODEL] * 10, replace(MODEL, cost_usd=Decimal("0.0000000375")))
    assert costs(repos) == ["1.0000000375"] * 2


def test_what_was_used_by_day_person_and_name(repos: Repositories) -> None:
    """Sends are left out, unknown prices count as calls alone, and what is older is not looked at."""
    conversation, turn = begun(repos)
    send = LedgerEntry(kind="send", name="message", outcome="ok")
    for person, days, entries in (
        ("alice", 0, (MODEL, MODEL, TOOL, send)),
        ("bob", 1, (UNPRICED,)),
        ("a", -40, (TOOL,)),
    ):
        repos.ledger.add(conversation, turn, person, entries, now=NOON + timedelta(days=days))
    used, alice = repos.ledger.usage(since=NOON - timedelta(days=30)), repos.ledger.keyring.handle("alice")
    assert [(one.day.date().isoformat(), one.person == alice, one.name, one.calls, one.cost_usd) for one in used] == [
        ("2026-11-21", True, "model-1", 2, Decimal("0.2")),
        ("2026-11-21", True, "calculate", 1, Decimal(0)),
        ("2026-11-22", False, "model-2", 1, Decimal(0)),
    ]
    assert used[0].input_tokens == 200
