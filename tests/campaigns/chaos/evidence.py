"""What a round leaves in the store, and what the audit finds."""

import sqlite3
from collections import defaultdict
from collections.abc import Collection
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from bot.chat.context import turns_of
from bot.messages import Message
from store import ConversationId, Repositories, open_store
from tests.campaigns.chaos.crowd import canaries_in

_ALL_TURNS = 1_000_000


@dataclass(frozen=True)
class Finding:
    """One property: how many things it was checked on, and those that break it."""

    property: str
    count: int
    details: str
    violations: tuple[str, ...]

    def __str__(self) -> str:
        head = "ok    " if not self.violations else "BROKEN"
        lines = [f"{head} {self.count:7,} {self.property}" + (f" ({self.details})" if self.details else "")]
        lines += [f"         - {violation}" for violation in self.violations[:10]]
        if len(self.violations) > 10:
            lines.append(f"         - and {len(self.violations) - 10} more")
        return "\n".join(lines)


class InboxRow(NamedTuple):
    chat: str | None
    """None for a conversation that none of the crowd has."""
    sent_at: int
    state: str
    turn: int | None
    received_at: int


class OutboxRow(NamedTuple):
    id: int
    chat: str | None
    turn: int
    position: int
    state: str
    attempted_at: int | None
    """When the last send of it was begun, in milliseconds since 1970."""
    sent_at: int | None
    """What Signal calls it; None for what was sent if receipts prove that without telling which name it has."""
    removes: bool


class AttemptRow(NamedTuple):
    """A send that may have gone out; times are in milliseconds since 1970."""

    item: int
    begun_at: int
    sent_at: int | None


@dataclass(frozen=True, kw_only=True)
class StoreContents:
    inbox: tuple[InboxRow, ...]
    outbox: tuple[OutboxRow, ...]
    attempts: tuple[AttemptRow, ...]
    reactions: tuple[int, ...]
    """When each reaction began that may have gone out."""
    turns: dict[int, str]
    completions: dict[int, int]
    """How many finished model calls stand in the ledger, by turn."""
    resent: dict[int, int]
    history: dict[str, tuple[tuple[int, tuple[Message, ...]], ...]]
    journaled: int
    unknown_conversations: int
    integrity: str
    readable_canaries: frozenset[str]


async def read_store(path: Path, chats: Collection[str]) -> StoreContents:
    def read(repos: Repositories) -> StoreContents:
        return _contents(repos, chats, integrity, frozenset(readable))

    readable = canaries_in(file.read_bytes() for file in path.parent.glob(f"{path.name}*"))
    integrity = " ".join(map(_integrity, (path, path.with_name(f"{path.name}-keys"))))
    async with open_store(path, realm="signal") as store:
        return await store.read(read)


def _integrity(path: Path) -> str:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as bare:
        return " ".join(row[0] for row in bare.execute("PRAGMA integrity_check"))


def _contents(repos: Repositories, chats: Collection[str], integrity: str, readable: frozenset[str]) -> StoreContents:
    rows = repos.inbox.rows
    handles = {repos.inbox.chat_handle(chat): chat for chat in chats}
    known = {number: handles.get(handle) for number, handle in rows("SELECT id, handle FROM conversations")}
    inbox = rows("SELECT conversation_id, sent_at, state, turn_id, received_at FROM inbox ORDER BY id")
    outbox = rows(
        "SELECT id, conversation_id, turn_id, position, state, attempted_at, sent_at, removes FROM outbox ORDER BY id"
    )
    counted = "SELECT turn_id, count(*) FROM ledger WHERE kind = ? AND outcome = ? GROUP BY turn_id"
    [(journaled,)] = rows("SELECT count(*) FROM journal")
    return StoreContents(
        inbox=tuple(InboxRow(known[conversation], *row) for conversation, *row in inbox),
        outbox=tuple(OutboxRow(number, known[conversation], *row) for number, conversation, *row in outbox),
        attempts=tuple(map(AttemptRow._make, rows("SELECT outbox_id, begun_at, sent_at FROM attempts ORDER BY id"))),
        reactions=tuple(begun_at for (begun_at,) in rows("SELECT begun_at FROM reactions")),
        turns=dict(rows("SELECT id, state FROM turns")),
        completions=defaultdict(int, rows(counted, ("model", "ok"))),
        resent=defaultdict(int, rows(counted, ("send", "resent"))),
        history={
            chat: tuple(
                (turn.turn, tuple(turn.messages))
                for turn in turns_of(repos.history.last(ConversationId(number), _ALL_TURNS))
            )
            for number, chat in known.items()
            if chat is not None
        },
        journaled=journaled,
        unknown_conversations=sum(chat is None for chat in known.values()),
        integrity=integrity,
        readable_canaries=readable,
    )
