"""The ledger: what was done and what it cost, exactly, outliving the conversation."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

from store import ConversationId, LedgerEntry, Repositories, TurnId
from store.repository import millis
from tests.conftest import NOON
from tests.ledger_sums import ledger_sum
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


DAY = "2026-11-21"
TODAY = (DAY, "2026-11")
GROUP = "group:G"


def begun(repos: Repositories, chat: str = "direct:a") -> tuple[ConversationId, TurnId]:
    """A turn of the chat."""
    conversation = place(repos, chat)
    return conversation, repos.turns.begin(conversation, now=NOON)


def note(
    repos: Repositories, chat: str, *entries: LedgerEntry, person: str | None = None, day: str | None = None
) -> ConversationId:
    conversation, turn = begun(repos, chat)
    group = chat if chat.startswith("group:") else None
    repos.ledger.add(conversation, turn, person, entries, now=NOON, group=group, day=day)
    return conversation


def costs(
    repos: Repositories, person: str | None = None, group: str | None = None, periods: tuple[str, ...] = TODAY
) -> list[str]:
    """What was spent: person, group and all, each for the day and the month."""
    return [str(total.cost_usd) for total in repos.ledger.totals(person, group, periods)]


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


def test_sums_are_kept_for_each_person_each_group_and_all(repos: Repositories) -> None:
    """By day and by month; a person's sum is over all their conversations, a group's over all its people. Beside
    the known cost, how many calls have none.
    """
    note(repos, "direct:a", MODEL, person="anna", day=DAY)
    note(repos, GROUP, MODEL, MODEL, person="anna", day=DAY)
    note(repos, GROUP, MODEL, person="ben", day=DAY)
    note(repos, "group:H", MODEL, person="ben", day="2026-11-22")
    note(repos, "direct:a", UNPRICED, TOOL, person="anna", day=DAY)
    note(repos, "direct:a", UNPRICED, person="anna", day=DAY)
    assert costs(repos, "anna", GROUP) == ["0.3", "0.3", "0.3", "0.3", "0.4", "0.5"]
    assert [total.unknown_costs for total in repos.ledger.totals("anna", GROUP, TODAY)] == [2, 2, 0, 0, 2, 2]
    assert ledger_sum(repos) == (8, Decimal("0.5"), 2)
    assert costs(repos, "ben", "group:H") == ["0.1", "0.2", "0", "0.1", "0.4", "0.5"]
    assert costs(repos, "ben", periods=("2026-11-22",)) == ["0.1", "0.1"]
    assert costs(repos, "carl", "group:I") == ["0", "0", "0", "0", "0.4", "0.5"]


def test_sums_name_no_one(repos: Repositories) -> None:
    """The same person and the same group by handles, as everywhere; `all` is no handle."""
    note(repos, GROUP, MODEL, person="+15550000001", day=DAY)
    handles = {repos.ledger.keyring.handle("+15550000001"), repos.ledger.chat_handle(GROUP)}
    assert {*repos.ledger.column("SELECT scope FROM spent")} == {*handles, b"all"}


def test_the_real_cost_takes_the_place_of_an_estimate(repos: Repositories) -> None:
    """In the rows and in the sums, however often it is settled."""
    conversation, turn = begun(repos)
    estimate = replace(MODEL, outcome="reserved", cost_usd=Decimal(5), input_tokens=0, output_tokens=0)
    row = repos.ledger.add(conversation, turn, "anna", (estimate,), now=NOON, day=DAY)
    for _ in range(2):
        repos.ledger.settle(row, (MODEL, TOOL), now=NOON, group=None, day=DAY)
    assert repos.ledger.column("SELECT outcome FROM ledger") == (MODEL.outcome, TOOL.outcome)
    day, *_ = repos.ledger.totals("anna", None, TODAY)
    assert (day.cost_usd, day.unknown_costs) == (Decimal("0.1"), 0)


def test_old_sums_go(repos: Repositories) -> None:
    """After 400 days; those within them stay."""
    old, kept = ((NOON - timedelta(days=days)).date().isoformat() for days in (401, 399))
    for day in (old, kept, DAY):
        note(repos, "direct:a", MODEL, person="anna", day=day)
    repos.ledger.prune(now=NOON)
    assert repos.ledger.column("SELECT DISTINCT period FROM spent ORDER BY period") == (kept, DAY)


def test_sums_stay_exact(repos: Repositories) -> None:
    """Ten times ten cents are one dollar, turn by turn, and a price of many digits keeps them all."""
    tiny = replace(MODEL, cost_usd=Decimal("0.000000000000000000000001"))
    for entry in (*[MODEL] * 10, tiny):
        note(repos, "direct:a", entry, day=DAY)
    assert costs(repos) == ["1.000000000000000000000001"] * 2


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
    assert [(one.day.isoformat(), one.person == alice, one.name, one.calls, one.cost_usd) for one in used] == [
        ("2026-11-21", True, "model-1", 2, Decimal("0.2")),
        ("2026-11-21", True, "calculate", 1, Decimal(0)),
        ("2026-11-22", False, "model-2", 1, Decimal(0)),
    ]
    assert used[0].input_tokens == 200
