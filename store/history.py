"""Conversations, their settings, their history, and summaries of it. The history is messages in complete turns only; a
tool's answer is one, too.
"""

import json
import logging
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from store.errors import Damaged
from store.records import ConversationId, Role, StoredMessage, TurnId
from store.repository import Repository, millis, millis_if, moment_if
from store.sealing import key_name

_log = logging.getLogger(__name__)

LAST_TURNS = (
    "SELECT turn_id, position, role, call_id, message, expires_at FROM history "
    "JOIN turns ON turns.id = history.turn_id WHERE history.conversation_id = ?1 AND turn_id >= ("
    "SELECT min(id) FROM (SELECT id FROM turns INDEXED BY turns_kept WHERE conversation_id = ?1 AND state = 'kept' "
    "ORDER BY id DESC LIMIT ?2)"
    ") AND turn_id > ?3 ORDER BY turn_id, position"
)
"""Walks two indexes from their end, so its cost depends on the rows returned, not on the size of the history."""

_ANY_TURN = 2**63 - 1
"""Greater than every turn id."""


class History(Repository):
    """The repository of the history. All methods run inside a transaction."""

    def append(self, conversation: ConversationId, messages: Sequence[StoredMessage]) -> None:
        """Keeps the messages of one turn, sealed, in order. The same transaction has to close the turn as `kept`."""
        for position, message in enumerate(messages):
            sealed = self.keyring.seal(conversation, _place(message.turn, position), message.message)
            self.execute(
                "INSERT INTO history (conversation_id, turn_id, position, role, call_id, message) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (conversation, message.turn, position, message.role, message.call_id, sealed),
            )

    def last(
        self, conversation: ConversationId, turns: int, *, after: TurnId | None = None
    ) -> tuple[StoredMessage, ...]:
        """Returns the messages of the last `turns` turns, oldest first, leaving out turns up to `after`, and turns that
        are damaged, so that they stop no answer.
        """
        rows = self.rows(LAST_TURNS, (conversation, turns, after or 0))
        return tuple(message for _, message in self._whole((conversation, *row) for row in rows))

    def turns_of_person(
        self, person: str, direct: str | None, *, before: TurnId | None = None, limit: int
    ) -> tuple[TurnId, ...]:
        """Returns up to `limit` turns before `before` that the person asked or the chat at `direct` has, newest first.

        Nothing may be kept of turns that the person asked. `direct` None: they have no direct chat.
        """
        return self.column(
            "SELECT turn_id FROM (SELECT turn_id FROM askers WHERE person = ?1 AND turn_id < ?3 ORDER BY turn_id DESC "
            "LIMIT ?4) UNION SELECT turn_id FROM (SELECT DISTINCT turn_id FROM history WHERE conversation_id = ("
            "SELECT id FROM conversations WHERE handle = ?2) AND turn_id < ?3 ORDER BY turn_id DESC LIMIT ?4) "
            "ORDER BY turn_id DESC LIMIT ?4",
            (
                self.keyring.handle(person),
                None if direct is None else self.chat_handle(direct),
                _ANY_TURN if before is None else before,
                limit,
            ),
        )

    def count(self, turns: Collection[TurnId], *, conversation: ConversationId | None, now: datetime) -> int:
        """Counts these turns, if messages of them are kept in this realm, or in `conversation` if that is set."""
        return self.value(
            "SELECT count(DISTINCT turn_id) FROM history JOIN turns ON turns.id = turn_id "
            "JOIN conversations ON conversations.id = history.conversation_id "
            "WHERE turn_id IN (SELECT value FROM json_each(?1)) AND realm = ?2 "
            "AND (?3 IS NULL OR history.conversation_id = ?3) AND coalesce(expires_at > ?4, TRUE)",
            (json.dumps(list(turns)), self.realm, conversation, millis(now)),
        )

    def of_turns(
        self, turns: Collection[TurnId], *, conversation: ConversationId | None
    ) -> tuple[tuple[ConversationId, StoredMessage], ...]:
        """Returns the kept messages of these turns, oldest first, without turns that are damaged; `turns` and
        `conversation` as in `count`.
        """
        rows = self.rows(
            "SELECT history.conversation_id, turn_id, position, role, call_id, message, turns.expires_at FROM history "
            "JOIN turns ON turns.id = turn_id JOIN conversations ON conversations.id = history.conversation_id "
            "WHERE turn_id IN (SELECT value FROM json_each(?1)) AND realm = ?2 "
            "AND (?3 IS NULL OR history.conversation_id = ?3) ORDER BY turn_id, position",
            (json.dumps(list(turns)), self.realm, conversation),
        )
        return self._whole(rows)

    def question(self, conversation: ConversationId, turn: TurnId) -> bytes | None:
        """Returns the first message of a turn, the question; None if nothing of the turn is kept."""
        sealed = self.value("SELECT message FROM history WHERE turn_id = ? AND position = 0", (turn,))
        return None if sealed is None else self.keyring.open(conversation, _place(turn, 0), sealed)

    def answer(self, conversation: ConversationId, turn: TurnId) -> bytes | None:
        """Returns the last message of a turn, the answer; None if nothing of the turn is kept."""
        rows = self.rows(
            "SELECT position, message FROM history WHERE turn_id = ? ORDER BY position DESC LIMIT 1", (turn,)
        )
        return self.keyring.open(conversation, _place(turn, rows[0][0]), rows[0][1]) if rows else None

    def correct(self, conversation: ConversationId, turn: TurnId, message: bytes) -> None:
        """Replaces the question of a turn."""
        sealed = self.keyring.seal(conversation, _place(turn, 0), message)
        self.execute("UPDATE history SET message = ? WHERE turn_id = ? AND position = 0", (sealed, turn))

    def _whole(self, rows: Iterable[tuple[Any, ...]]) -> tuple[tuple[ConversationId, StoredMessage], ...]:
        """Opens the rows, each beginning with its conversation; leaves out turns of which one cannot be opened."""
        read: list[tuple[ConversationId, StoredMessage]] = []
        lost: set[TurnId] = set()
        for row in rows:
            conversation, turn, *_ = row
            try:
                read.append((conversation, self._message(*row)))
            except Damaged as error:
                if turn not in lost:
                    _log.error("turn %d of conversation %d is lost: %s", turn, conversation, error)
                lost.add(turn)
        return tuple(one for one in read if one[1].turn not in lost)

    def _message(
        self,
        conversation: ConversationId,
        turn: TurnId,
        position: int,
        role: Role,
        call_id: str | None,
        sealed: bytes,
        expires_at: int | None,
    ) -> StoredMessage:
        message = self.keyring.open(conversation, _place(turn, position), sealed)
        return StoredMessage(turn=turn, role=role, call_id=call_id, message=message, expires_at=moment_if(expires_at))


def _place(turn: TurnId, position: int) -> str:
    return f"history.message|{turn}|{position}"


class Conversations(Repository):
    """Conversations. Their words are in the history, their keys in the key file."""

    def at(self, address: str) -> ConversationId | None:
        """Returns the conversation at this address; None if there never was one."""
        return self.value("SELECT id FROM conversations WHERE handle = ?", (self.chat_handle(address),))

    def add(self, address: str, *, now: datetime) -> ConversationId:
        """Returns the conversation at this address; adds a new one. Its data key has to exist (`key`)."""
        handle = self.chat_handle(address)
        self.execute(
            "INSERT INTO conversations (realm, handle, created_at) VALUES (?, ?, ?) ON CONFLICT (handle) DO NOTHING",
            (self.realm, handle, millis(now)),
        )
        found = ConversationId(self.value("SELECT id FROM conversations WHERE handle = ?", (handle,)))
        self.keyring.refresh(found)
        return found

    def key(self, address: str) -> None:
        """Creates the data key of the conversation at this address, in a transaction of its own before `add`.

        The keys are in another file, and the two files do not commit together. A key without a conversation does no
        harm; a row without a key could never be read.
        """
        handle = self.chat_handle(address)
        generation = self.value("SELECT key_generation FROM conversations WHERE handle = ?", (handle,))
        self.keyring.make(key_name(handle, generation or 0))


class Chats(Repository):
    """Chats: the settings of each conversation, as one sealed value."""

    def settings(self, conversation: ConversationId) -> bytes | None:
        """Returns the settings of the conversation; None: none were ever set."""
        sealed = self.value("SELECT settings FROM chats WHERE conversation_id = ?", (conversation,))
        return None if sealed is None else self.keyring.open(conversation, _settings_place(conversation), sealed)

    def keep(self, conversation: ConversationId, settings: bytes, *, expires_at: datetime | None) -> None:
        """Replaces the settings, sealed. `expires_at`: when words in them disappear."""
        self.execute(
            "INSERT INTO chats (conversation_id, settings, expires_at) VALUES (?, ?, ?) ON CONFLICT (conversation_id) "
            "DO UPDATE SET settings = excluded.settings, expires_at = excluded.expires_at",
            (
                conversation,
                self.keyring.seal(conversation, _settings_place(conversation), settings),
                millis_if(expires_at),
            ),
        )

    def expired_chats(self, now: datetime) -> tuple[ConversationId, ...]:
        """Returns the conversations whose settings contain words that must be gone by now."""
        return self.column("SELECT conversation_id FROM chats WHERE expires_at <= ?", (millis(now),))

    def all(self) -> tuple[ConversationId, ...]:
        """Returns the conversations that have settings."""
        return self.column("SELECT conversation_id FROM chats")


def _settings_place(conversation: ConversationId) -> str:
    return f"chats.settings|{conversation}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Summary:
    """A summary of older turns of a conversation."""

    first: TurnId
    last: TurnId
    """The last turn that it covers."""
    summary: bytes
    expires_at: datetime | None
    """When the first of these turns disappears; None: they stay."""
    labels: bytes | None = None
    """Where it comes from; None: unknown."""


class Summaries(Repository):
    """The repository of summaries of the older turns of a conversation, before those that are read again in full.

    A summary covers a range of turns. It is deleted as soon as one of them is deleted, changes or disappears; the next
    one is made from what is left. All methods run inside a transaction.
    """

    def of(self, conversation: ConversationId, *, now: datetime) -> Summary | None:
        """Returns the valid summary of the conversation; None if there is none."""
        rows = self.rows(
            "SELECT first_turn, last_turn, summary, expires_at, labels FROM summaries WHERE conversation_id = ? "
            "AND coalesce(expires_at > ?, TRUE)",
            (conversation, millis(now)),
        )
        if not rows:
            return None
        [(first, last, summary, expires_at, labels)] = rows
        try:
            return Summary(
                first=first,
                last=last,
                summary=self.keyring.open(conversation, _summary_place(last), summary),
                expires_at=moment_if(expires_at),
                labels=None if labels is None else self.keyring.open(conversation, _summary_labels(last), labels),
            )
        except Damaged as error:
            _log.error("the summary of conversation %d is lost: %s", conversation, error)
            return None

    def keep(self, conversation: ConversationId, summary: Summary) -> None:
        """Keeps the summary in place of the former one."""
        labels = summary.labels
        self.execute(
            "INSERT INTO summaries (conversation_id, first_turn, last_turn, summary, expires_at, labels) "
            "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (conversation_id) DO UPDATE SET first_turn = excluded.first_turn, "
            "last_turn = excluded.last_turn, summary = excluded.summary, expires_at = excluded.expires_at, "
            "labels = excluded.labels",
            (
                conversation,
                summary.first,
                summary.last,
                self.keyring.seal(conversation, _summary_place(summary.last), summary.summary),
                millis_if(summary.expires_at),
                None if labels is None else self.keyring.seal(conversation, _summary_labels(summary.last), labels),
            ),
        )

    def drop(self, turn: TurnId) -> None:
        """Deletes the summary that covers this turn, as its words have changed."""
        self.execute(
            "DELETE FROM summaries WHERE ?1 BETWEEN first_turn AND last_turn "
            "AND conversation_id = (SELECT conversation_id FROM turns WHERE id = ?1)",
            (turn,),
        )

    def expire(self, now: datetime) -> int:
        """Deletes summaries of turns that have disappeared; returns how many."""
        return self.execute("DELETE FROM summaries WHERE expires_at <= ?", (millis(now),)).rowcount


def _summary_place(last: int) -> str:
    return f"summaries.summary|{last}"


def _summary_labels(last: int) -> str:
    return f"summaries.labels|{last}"
