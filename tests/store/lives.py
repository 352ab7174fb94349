"""What the tests of forgetting, keys, backups and failing machines put into a store, and how they look at it again."""

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

from store import ConversationId, Erasure, InboxId, LedgerEntry, Repositories, Store, StoredMessage, TurnId
from tests.arrivals import arrive
from tests.conftest import NOON

LATER = NOON + timedelta(minutes=5)


async def asked(
    store: Store, address: str, sent_at: int, words: bytes = b"words", author: str = "alice", *, urgent: bool = False
) -> InboxId:
    item = await arrive(store, address, sent_at, words, author=author, urgent=urgent)
    assert item is not None
    return item


async def ordered(store: Store, address: str, sent_at: int) -> InboxId:
    return await asked(store, address, sent_at, b"/forget", urgent=True)


def taken(repos: Repositories) -> tuple[ConversationId, TurnId]:
    claim = repos.inbox.claim(now=NOON, until=LATER, busy=())
    assert claim is not None
    return claim.conversation, claim.turn


def answered(repos: Repositories, conversation: ConversationId, turn: TurnId, question: bytes, answer: bytes) -> None:
    """A turn ends with this answer, which is to be sent; it used a tool."""
    entry = LedgerEntry(kind="tool", name="calculate", outcome="ok", cost_usd=Decimal("0.25"))
    messages = (
        StoredMessage(turn=turn, role="user", call_id=None, message=question),
        StoredMessage(turn=turn, role="assistant", call_id=None, message=answer),
    )
    repos.history.append(conversation, messages)
    repos.ledger.add(conversation, turn, "alice", (entry,), now=NOON)
    repos.outbox.put(conversation, turn, 0, answer, in_group=False, now=NOON)
    repos.journal.close(turn, "kept", now=NOON)
    repos.inbox.done(turn)


async def talked(store: Store, address: str, sent_at: int, words: bytes, author: str = "alice") -> TurnId:
    """A question and its answer, which has been sent under the timestamp `sent_at` + 1 million."""
    await asked(store, address, sent_at, b"asked " + words, author)

    def live(repos: Repositories) -> TurnId:
        conversation, turn = taken(repos)
        answered(repos, conversation, turn, b"asked " + words, b"told " + words)
        [item] = repos.outbox.begin(now=NOON, limit=8)
        repos.outbox.mark_sent(item.id, 1_000_000 + sent_at, now=NOON)
        return turn

    return await store.transaction(live)


async def remembered(store: Store, address: str) -> list[bytes]:
    conversation = await store.conversation(address, now=NOON)
    return [row.message for row in await store.read(lambda repos: repos.history.last(conversation, 100))]


async def waiting(store: Store) -> list[bytes]:
    """The words of all open messages, urgent or not, in order of arrival; they are claimed afterwards."""

    def look(repos: Repositories) -> list[bytes]:
        items = list(repos.inbox.urgent_items())
        while (claim := repos.inbox.claim(now=NOON, until=LATER, busy=())) is not None:
            items += claim.items
        return [item.envelope for item in sorted(items, key=lambda item: item.id)]

    return await store.transaction(look)


@dataclass
class Answer:
    """What `Store.forget` is given as `then`: it settles the command and answers it, as the bot does."""

    command: InboxId
    erased: Erasure | None = None
    conversation: ConversationId | None = None

    def __call__(self, repos: Repositories, conversation: ConversationId, erased: Erasure) -> None:
        self.erased, self.conversation = erased, conversation
        turn = repos.turns.begin(conversation, now=NOON)
        repos.journal.close(turn, "ignored", now=NOON)
        repos.outbox.put(conversation, turn, 0, b"forgotten", in_group=False, now=NOON)
        repos.inbox.settle(self.command)


async def forgotten(store: Store, address: str, command: InboxId, person: str | None = None) -> Answer:
    answer = Answer(command)
    await store.forget(address, person=person, before=command, now=NOON, then=answer)
    return answer


async def rows(store: Store, query: str, *values: object) -> list[tuple[object, ...]]:
    return await store.read(lambda repos: repos.inbox.rows(query, values))


async def sealed_in(store: Store, query: str) -> list[bytes]:
    return [bytes(value) for (value,) in await store.read(lambda repos: repos.inbox.rows(query))]


def found(path: Path, words: bytes) -> list[str]:
    return [file.name for file in sorted(path.parent.iterdir()) if file.is_file() and words in file.read_bytes()]
