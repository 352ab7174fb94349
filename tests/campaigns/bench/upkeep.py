"""The longest steps of the store: operations on all of it or on a long conversation, and how long others wait
meanwhile.

The store has a given number of messages, a question and its answer per turn: half in one conversation, the others in
fifty. Beside each operation an empty read is repeated; the longest of these reads is how long a turn would have waited.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path

from bot import messages
from bot.event_json import dump_value
from bot.events import ChatId, Envelope, Kind, PersonId, Reply, SentId, Styled
from bot.features.export import gather_export
from bot.messages import AssistantMessage, Text, UserMessage
from store import Arrival, ConversationId, InboxId, LedgerEntry, Repositories, Store, StoredMessage, open_store
from tests.campaigns.bench.figures import Figure

MESSAGES = 20_000
MAX_WAIT_MS = 250.0
"""How long a turn may wait for the store before people would notice."""

_NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
_OTHERS = 50
_AT_ONCE = 200
_KEPT = timedelta(days=45)
_ALICE = PersonId("alice")
_LONG = "direct:alice"
_ANSWER = (
    "People like it because it is easy to say and to remember, and because it stands close to a round number without "
    "being one. In lists it marks a beginning: the first thousand is over, and something new is counted."
)


async def measured(folder: Path, size: int = MESSAGES) -> list[Figure]:
    """Each deed on a store with so many messages: how long it takes in all, and the longest wait beside it."""
    found: list[Figure] = []
    async with open_store(folder / "aldis.db", realm="signal") as store:
        last = await _fill(store, size // 2)
        deeds: dict[str, Callable[[], Awaitable[object]]] = {
            "backup": lambda: store.backup(folder / "backup", now=_NOW),
            "export of a person": lambda: gather_export(store, _ALICE, ChatId(_LONG), now=_NOW),
            "forgetting a conversation": lambda: store.forget(_LONG, before=last, now=_NOW, then=lambda *_: None),
            "pruning": lambda: _prune(store),
            "folding the log away": store.checkpoint,
        }
        for name, deed in deeds.items():
            took, wait = await _beside(store, deed)
            found += [
                Figure(name=f"{name}, {size} messages", value=took, unit="s"),
                Figure(name=f"longest wait beside it ({name})", value=1000 * wait, unit="ms", most=MAX_WAIT_MS),
            ]
    return found


async def _beside(store: Store, deed: Callable[[], Awaitable[object]]) -> tuple[float, float]:
    """How long the deed takes, and how long the longest of the reads beside it."""
    longest = 0.0

    async def read() -> None:
        nonlocal longest
        while True:
            asked_at = time.perf_counter()
            try:
                await store.read(lambda _: None)
            finally:  # also of the one under way when the deed ends
                longest = max(longest, time.perf_counter() - asked_at)

    reading = asyncio.create_task(read())
    began_at = time.perf_counter()
    await deed()
    took = time.perf_counter() - began_at
    reading.cancel()
    await asyncio.wait([reading])
    return took, longest


async def _fill(store: Store, turns: int) -> InboxId:
    """So many turns, every second one in the long conversation; gives the name of a message that came after all."""
    addresses = [_LONG if turn % 2 == 0 else f"direct:person {turn % _OTHERS}" for turn in range(turns)]
    for first in range(0, turns, _AT_ONCE):
        batch = [(turn, addresses[turn]) for turn in range(first, min(first + _AT_ONCE, turns))]
        for _, address in batch:
            await store.conversation(address, now=_NOW)
        await store.transaction(partial(_keep, batch=batch))
    conversation = await store.conversation(_LONG, now=_NOW)
    last = await store.transaction(lambda repos: repos.inbox.put(_arrival(conversation, _LONG, turns)))
    assert last is not None
    return last


def _keep(repos: Repositories, batch: list[tuple[int, str]]) -> None:
    """A turn for each, as it is when it has been answered: nothing waits any more."""
    for number, address in batch:
        conversation = repos.conversations.add(address, now=_NOW)
        repos.inbox.put(_arrival(conversation, address, number))
        claim = repos.inbox.claim(now=_NOW, until=_NOW, busy=())
        assert claim is not None
        question = messages.dump_messages((UserMessage(text=f"And why is {number} a number that people like?"),))
        answer = messages.dump_messages((AssistantMessage(parts=(Text(text=_ANSWER),)),))
        rows = (
            StoredMessage(turn=claim.turn, role="user", call_id=None, message=question),
            StoredMessage(turn=claim.turn, role="assistant", call_id=None, message=answer),
        )
        repos.history.append(conversation, rows)
        entry = LedgerEntry(kind="model", name="claude", outcome="ok", latency_seconds=1, cost_usd=Decimal("0.001"))
        repos.ledger.add(conversation, claim.turn, address, (entry,), now=_NOW)
        reply = Reply(chat=ChatId(address), content=Styled(text=_ANSWER))
        repos.outbox.put(conversation, claim.turn, 0, dump_value(reply), in_group=False, now=_NOW)
        for item, _ in repos.sent_messages.of_turn(claim.turn):
            repos.outbox.mark_sent(item, 2_000_000_000_000 + number, now=_NOW)
        repos.journal.close(claim.turn, "kept", now=_NOW)
        repos.inbox.done(claim.turn)


def _arrival(conversation: ConversationId, address: str, number: int) -> Arrival:
    author = PersonId(address.removeprefix("direct:"))
    envelope = Envelope(
        account="account",
        author=author,
        number=None,
        device=1,
        sent_at=SentId(1_795_000_000_000 + number),
        kind=Kind.MESSAGE,
        chat=ChatId(address),
        raw='{"text": "a question of the usual length, more or less"}',
    )
    return Arrival(
        conversation=conversation,
        account="account",
        author=author,
        device=1,
        sent_at=envelope.sent_at,
        kind="message",
        envelope=dump_value(envelope),
        received_at=_NOW,
    )


async def _prune(store: Store) -> None:
    """What maintenance does with names that are too old to come again: all of them at once here."""
    before = _NOW + _KEPT

    def prune(repos: Repositories) -> int:
        return repos.inbox.prune(before=before) + repos.outbox.prune(before=before)

    while await store.transaction(prune):
        pass
