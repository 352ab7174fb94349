"""Reads what is left in the store when all lives are over. Only this module knows its tables."""

import sqlite3
from collections import defaultdict
from collections.abc import Collection
from contextlib import closing
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from bot import messages
from bot.messages import Message, ToolMessage
from store import ConversationId, StoredMessage, open_store
from tests.campaigns.chaos.crowd import canaries_in

_ALL_TURNS = 1_000_000


@dataclass(frozen=True, kw_only=True)
class InboxRow:
    id: int
    chat: str | None
    """None for a conversation that nobody of the crowd has."""
    sent_at: int
    state: str
    turn: int | None
    received_at: int


@dataclass(frozen=True, kw_only=True)
class OutboxRow:
    id: int
    chat: str | None
    turn: int
    position: int
    state: str
    attempts: int
    """How many sends were begun."""
    attempted_at: int | None
    """When the last of them was begun, in milliseconds since 1970."""
    sent_at: int | None
    """What Signal calls it; None for what was sent if receipts prove that without telling which name it has."""
    removes: bool
    """Whether it takes an earlier message out of the chat."""


@dataclass(frozen=True, kw_only=True)
class AttemptRow:
    """A send that may have gone out; times are in milliseconds since 1970."""

    id: int
    item: int
    begun_at: int
    open_until: int | None
    sent_at: int | None


@dataclass(frozen=True, kw_only=True)
class ReactionRow:
    id: int
    chat: str | None
    begun_at: int
    ended_at: int | None
    name: int | None


@dataclass(frozen=True, kw_only=True)
class StoreContents:
    inbox: tuple[InboxRow, ...]
    outbox: tuple[OutboxRow, ...]
    attempts: tuple[AttemptRow, ...]
    reactions: tuple[ReactionRow, ...]
    turns: dict[int, str]
    """How each turn ended."""
    completions: dict[int, int]
    """How many finished model calls stand in the ledger, by turn."""
    resent: dict[int, int]
    """How many repeated sends stand in the ledger, by turn."""
    history: dict[str, tuple[tuple[int, tuple[Message, ...]], ...]]
    """The turns of each conversation, oldest first, each with its messages."""
    journaled: int
    """Steps of turns that have not ended."""
    unknown_conversations: int
    """Conversations that nobody of the crowd has."""
    integrity: str
    """What SQLite says of its files; `ok ok` where all is well."""
    readable_canaries: frozenset[str]
    """Words of conversations that stand in clear in one of the files."""


async def read(path: Path, chats: Collection[str]) -> StoreContents:
    """Open the store, as Aldis would, and read its bare files."""
    with closing(_bare(path)) as bare:
        numbered = dict(bare.execute("SELECT id, handle FROM conversations"))
    async with open_store(path, realm="signal") as store:
        handles = await store.read(lambda repos: {repos.inbox.chat_handle(chat): chat for chat in chats})
        known = {number: handles.get(handle) for number, handle in numbered.items()}
        stored = await store.read(
            lambda repos: {
                chat: repos.history.last(ConversationId(number), _ALL_TURNS)
                for number, chat in known.items()
                if chat is not None
            }
        )
    history = {chat: _turns(rows) for chat, rows in stored.items()}
    files = [file.read_bytes() for file in path.parent.glob(f"{path.name}*")]
    with closing(_bare(path)) as bare, closing(_bare(path.with_name(f"{path.name}-keys"))) as keys:
        return _remains(bare, known, history, _integrity(bare, keys), frozenset(canaries_in(files)))


def _bare(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{path}?mode=ro", uri=True)


def _integrity(*files: sqlite3.Connection) -> str:
    return " ".join(row[0] for file in files for row in file.execute("PRAGMA integrity_check"))


def _remains(
    bare: sqlite3.Connection,
    known: dict[int, str | None],
    history: dict[str, tuple[tuple[int, tuple[Message, ...]], ...]],
    integrity: str,
    readable: frozenset[str],
) -> StoreContents:
    inbox = bare.execute("SELECT id, conversation_id, sent_at, state, turn_id, received_at FROM inbox ORDER BY id")
    outbox = bare.execute(
        "SELECT id, conversation_id, turn_id, position, state, attempts, attempted_at, sent_at, removes FROM outbox "
        "ORDER BY id"
    )
    counted = "SELECT turn_id, count(*) FROM ledger WHERE kind = ? AND outcome = ? GROUP BY turn_id"
    [(journaled,)] = bare.execute("SELECT count(*) FROM journal")
    return StoreContents(
        inbox=tuple(
            InboxRow(id=row[0], chat=known[row[1]], sent_at=row[2], state=row[3], turn=row[4], received_at=row[5])
            for row in inbox
        ),
        outbox=tuple(
            OutboxRow(
                id=row[0],
                chat=known[row[1]],
                turn=row[2],
                position=row[3],
                state=row[4],
                attempts=row[5],
                attempted_at=row[6],
                sent_at=row[7],
                removes=bool(row[8]),
            )
            for row in outbox
        ),
        attempts=tuple(
            AttemptRow(id=row[0], item=row[1], begun_at=row[2], open_until=row[3], sent_at=row[4])
            for row in bare.execute("SELECT id, outbox_id, begun_at, open_until, sent_at FROM attempts ORDER BY id")
        ),
        reactions=tuple(
            ReactionRow(id=row[0], chat=known.get(row[1]), begun_at=row[2], ended_at=row[3], name=row[4])
            for row in bare.execute(
                "SELECT reactions.id, conversations.id, begun_at, ended_at, name FROM reactions "
                "JOIN conversations ON handle = chat ORDER BY reactions.id"
            )
        ),
        turns=dict(bare.execute("SELECT id, state FROM turns")),
        completions=defaultdict(int, bare.execute(counted, ("model", "ok"))),
        resent=defaultdict(int, bare.execute(counted, ("send", "resent"))),
        history=history,
        journaled=journaled,
        unknown_conversations=sum(chat is None for chat in known.values()),
        integrity=integrity,
        readable_canaries=readable,
    )


def _turns(rows: tuple[StoredMessage, ...]) -> tuple[tuple[int, tuple[Message, ...]], ...]:
    return tuple((turn, _joined(tuple(group))) for turn, group in groupby(rows, key=lambda row: int(row.turn)))


def _joined(rows: tuple[StoredMessage, ...]) -> tuple[Message, ...]:
    """The messages of a turn; the answers of tools, a row each, stand together in one."""
    joined: list[Message] = []
    for message in (message for row in rows for message in messages.load_messages(row.message)):
        before = joined[-1] if joined else None
        if isinstance(message, ToolMessage) and isinstance(before, ToolMessage):
            joined[-1] = ToolMessage(answers=(*before.answers, *message.answers))
        else:
            joined.append(message)
    return tuple(joined)
