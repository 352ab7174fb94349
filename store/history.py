"""Turns and what was said in them: who asked, the steps of running turns, the history in complete turns, summaries of
it. Beside them the conversations, their settings, and the last known time.
"""

import json
import sys
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Literal

from store.errors import StepMissing
from store.records import (
    ConversationId,
    KeptTime,
    StoredMessage,
    TurnEnd,
    TurnId,
    TurnState,
)
from store.repository import Repository, moment_if
from store.sealing import key_name

_MESSAGE = (
    "opened(history.conversation_id, 'history.message|' || turn_id || '|' || position, message) AS message "
    "FROM history JOIN turns ON turns.id = turn_id "
)


@dataclass(frozen=True, kw_only=True, slots=True)
class LastQuestion:
    """The last question of a person in a conversation."""

    turn: TurnId
    state: TurnState
    expires_at: datetime | None


class Turns(Repository):
    """The repository of turns."""

    def begin(
        self,
        conversation: ConversationId,
        *,
        now: datetime,
        expires_at: datetime | None = None,
        replaces: TurnId | None = None,
        origin: str | None = None,
    ) -> TurnId:
        """Begins a new turn; `origin` names the call or message for which Aldis speaks by itself, if it does."""
        return self.insert(
            "turns",
            conversation_id=conversation,
            state="running",
            started_at=now,
            expires_at=expires_at,
            replaces=replaces,
            origin=origin,
        )

    def count_since(self, at: datetime) -> int:
        """Returns how many turns began since then."""
        return self.value("SELECT count(*) FROM turns WHERE started_at >= ?", (at,))

    def started_at(self, turn: TurnId) -> datetime | None:
        """Returns when the turn began; None if it is gone."""
        return moment_if(self.value("SELECT started_at FROM turns WHERE id = ?", (turn,)))

    def replaces(self, turn: TurnId) -> TurnId | None:
        """Returns the turn that this one repeats; None if it repeats none."""
        return self.value("SELECT replaces FROM turns WHERE id = ?", (turn,))

    def newest(self, conversation: ConversationId) -> TurnId:
        """Returns the newest turn of the conversation; 0 if there is none."""
        newest = "SELECT id FROM turns WHERE conversation_id = ? ORDER BY id DESC LIMIT 1"
        return self.value(newest, (conversation,)) or TurnId(0)

    def is_newest(self, turn: TurnId) -> bool:
        """Whether nothing was asked in the turn's conversation since."""
        return not self.exists(
            "SELECT 1 FROM turns AS this JOIN turns AS later ON later.conversation_id = this.conversation_id "
            "AND later.id > this.id AND later.state <> 'ignored' WHERE this.id = ?1 "
            "UNION ALL SELECT 1 FROM turns AS this JOIN inbox INDEXED BY inbox_open "
            "ON inbox.conversation_id = this.conversation_id AND inbox.state IN ('waiting', 'claimed') AND NOT urgent "
            "WHERE this.id = ?1 LIMIT 1",
            (turn,),
        )

    def mark_translation(self, turn: TurnId) -> None:
        """Notes that the turn translates its message instead of answering it."""
        self.execute("UPDATE turns SET origin = 'translation' WHERE id = ?", (turn,))

    def is_translation(self, turn: TurnId | None) -> bool:
        """Whether the turn translates its message instead of answering it; None is no turn."""
        return self.exists("SELECT 1 FROM turns WHERE id = ? AND origin = 'translation'", (turn,))

    def is_first(self, conversation: ConversationId, turn: TurnId) -> bool:
        """Whether this is the conversation's first turn that answers a question, as far as is known."""
        # Other things that are said, such as answers to commands, are in turns that end as ignored.
        earlier = "SELECT 1 FROM turns WHERE conversation_id = ? AND id < ? AND state <> 'ignored' LIMIT 1"
        return not self.exists(earlier, (conversation, turn))

    def is_asker(self, turn: TurnId, person: str) -> bool:
        """Whether the person asked the turn's question, alone or with others."""
        handle = self.keyring.handle(person)
        return self.exists("SELECT 1 FROM askers WHERE turn_id = ? AND person = ?", (turn, handle))

    def last_asked(self, conversation: ConversationId, person: str, *, after: TurnId) -> LastQuestion | None:
        """Returns the person's last question there that was not taken back; None if it is not newer than `after`."""
        return self.record(
            LastQuestion,
            "SELECT id AS turn, state, expires_at FROM askers JOIN turns ON turns.id = askers.turn_id WHERE person = ? "
            "AND askers.turn_id > ? AND conversation_id = ? "
            "AND state <> 'ignored' ORDER BY askers.turn_id DESC LIMIT 1",
            (self.keyring.handle(person), after, conversation),
        )

    def keep_unanswered(self, conversation: ConversationId, turn: TurnId, question: bytes | None) -> None:
        """Keeps the question of a turn that ended without an answer (None: it has one), instead of earlier ones."""
        self.execute(
            "DELETE FROM unanswered WHERE turn_id IN (SELECT turn_id FROM unanswered JOIN turns "
            "ON turns.id = turn_id WHERE conversation_id = ?)",
            (conversation,),
        )
        if question is not None:
            sealed = self.keyring.seal(conversation, f"unanswered.question|{turn}", question)
            self.put_row("unanswered", turn_id=turn, question=sealed)

    def unanswered_question(self, turn: TurnId) -> bytes | None:
        """Returns the question of a turn that ended without an answer; None if there is none, or not any more."""
        return self.value(
            "SELECT opened(conversation_id, 'unanswered.question|' || turn_id, question) FROM unanswered "
            "JOIN turns ON turns.id = turn_id WHERE turn_id = ?",
            (turn,),
        )


class Journal(Repository):
    """The journal: the steps of a running turn, written as they happen, so that no step is repeated after a crash.

    running --(keep)--> steps gone, the turn is in the history
            |-(fail)--> steps gone, a notice was sent
            '-(taken back, forgotten)--> steps gone, nothing more is written
    """

    def add(self, conversation: ConversationId, turn: TurnId, first: int, *steps: bytes) -> bool:
        """Writes steps, sealed, from position `first` on; positions count from 0 without a gap.

        Returns False, and writes nothing, if the turn is not running any more.

        Raises:
            StepMissing: the step before it is not written; with a gap, the turn could not go on after a crash.
        """
        if not self.is_running(turn):
            return False
        if first > self.value("SELECT count(*) FROM journal WHERE turn_id = ?", (turn,)):
            raise StepMissing(f"turn {turn} lacks the step before step {first}")
        rows = [
            (turn, position, self.keyring.seal(conversation, f"journal.step|{turn}|{position}", step))
            for position, step in enumerate(steps, first)
        ]
        self.insert_all("INSERT INTO journal (turn_id, position, step) VALUES", rows)
        return True

    def is_running(self, turn: TurnId) -> bool:
        """Whether the turn still has to be answered."""
        return self.exists("SELECT 1 FROM turns WHERE id = ? AND state = 'running'", (turn,))

    def steps(self, conversation: ConversationId, turn: TurnId) -> tuple[bytes, ...]:
        """Returns the steps of the turn in order; empty if it was only claimed."""
        rows = self.rows("SELECT position, step FROM journal WHERE turn_id = ? ORDER BY position", (turn,))
        return tuple(
            self.keyring.open(conversation, f"journal.step|{turn}|{position}", step) for position, step in rows
        )

    def close(self, turn: TurnId, end: TurnEnd, *, now: datetime) -> None:
        """Ends the turn and deletes its steps."""
        self.execute("DELETE FROM journal WHERE turn_id = ?", (turn,))
        self.execute("UPDATE turns SET state = ?, ended_at = ? WHERE id = ?", (end, now, turn))


class History(Repository):
    """The repository of the history."""

    def append(self, conversation: ConversationId, messages: Sequence[StoredMessage]) -> None:
        """Keeps the messages of one turn, sealed, in order. The same transaction has to close the turn as `kept`."""
        columns = "conversation_id, turn_id, position, role, call_id, message"
        rows: list[tuple[object, ...]] = []
        for position, one in enumerate(messages):
            sealed = self.keyring.seal(conversation, _place(one.turn, position), one.message)
            rows.append((conversation, one.turn, position, one.role, one.call_id, sealed))
        self.insert_all(f"INSERT INTO history ({columns}) VALUES", rows)

    def last(
        self, conversation: ConversationId, turns: int, *, after: TurnId | None = None
    ) -> tuple[StoredMessage, ...]:
        """Returns the messages of the last `turns` turns after `after`, oldest first, without damaged turns."""
        return self._whole(
            # Walks two indexes from their end: its cost depends on the rows returned, not on the size of the history.
            "history.conversation_id = ?1 AND turn_id >= (SELECT min(id) FROM (SELECT id FROM turns INDEXED BY "
            "turns_kept WHERE conversation_id = ?1 AND state = 'kept' ORDER BY id DESC LIMIT ?2)) AND turn_id > ?3",
            (conversation, turns, after or 0),
        )

    def turns_of_person(
        self, person: str, direct: str | None, *, before: TurnId | None = None, limit: int
    ) -> tuple[TurnId, ...]:
        """Returns the newest `limit` turns before `before` that the person asked, or the chat at `direct` has."""
        return self.column(
            "SELECT turn_id FROM (SELECT turn_id FROM askers WHERE person = ?1 AND turn_id < ?3 "
            "ORDER BY turn_id DESC LIMIT ?4) UNION SELECT turn_id FROM (SELECT DISTINCT turn_id FROM history "
            "WHERE conversation_id = (SELECT id FROM conversations WHERE handle = ?2) "
            "AND turn_id < ?3 ORDER BY turn_id DESC LIMIT ?4) ORDER BY turn_id DESC LIMIT ?4",
            (self.keyring.handle(person), direct and self.chat_handle(direct), before or sys.maxsize, limit),
        )

    def of_turns(self, turns: Collection[TurnId], *, conversation: ConversationId | None) -> tuple[StoredMessage, ...]:
        """Returns the whole messages of these turns in this realm, or in `conversation` if set, oldest first."""
        return self._whole(
            "turn_id IN (SELECT value FROM json_each(?1)) AND history.conversation_id = coalesce(?3, "
            "history.conversation_id) AND history.conversation_id IN (SELECT id FROM conversations WHERE realm = ?2)",
            (json.dumps(list(turns)), self.realm, conversation),
        )

    def message(self, turn: TurnId, which: Literal["first", "last"]) -> bytes | None:
        """Returns the question or the answer of a turn; None if nothing of the turn is kept."""
        order = "" if which == "first" else "DESC"
        query = f"SELECT {_MESSAGE} WHERE turn_id = ? ORDER BY position {order} LIMIT 1"
        return self.value(query, (turn,))

    def tool_answers(self, conversation: ConversationId, *, now: datetime, limit: int) -> tuple[bytes, ...]:
        """Returns the last `limit` answers of tools in the conversation that have not expired, newest first."""
        return self.column(
            f"SELECT {_MESSAGE} WHERE history.conversation_id = ? AND role = 'tool' "
            "AND coalesce(expires_at > ?, TRUE) ORDER BY turn_id DESC, position DESC LIMIT ?",
            (conversation, now, limit),
        )

    def correct(
        self, conversation: ConversationId, turn: TurnId, message: bytes, *, is_same_words: bool = False
    ) -> None:
        """Replaces the question of a turn; unless it says the same, its passages are made anew."""
        sealed = self.keyring.seal(conversation, _place(turn, 0), message)
        self.execute("UPDATE history SET message = ? WHERE turn_id = ? AND position = 0", (sealed, turn))
        if not is_same_words:
            self.execute("DELETE FROM passages WHERE turn_id = ?", (turn,))
            self.execute("UPDATE turns SET is_indexed = 0 WHERE id = ?", (turn,))

    def _whole(self, condition: str, values: Sequence[object]) -> tuple[StoredMessage, ...]:
        """Returns the messages, oldest first, without those of a turn of which one is damaged."""
        columns = "history.conversation_id AS conversation, turn_id AS turn, role, call_id, expires_at"
        query = f"SELECT {columns}, {_MESSAGE} WHERE {condition} ORDER BY turn_id, position"
        rows = self.records(StoredMessage, query, values)
        lost = {row.turn for row in rows if not row.message}
        return tuple(row for row in rows if row.turn not in lost)


def _place(turn: TurnId, position: int) -> str:
    return f"history.message|{turn}|{position}"


class Conversations(Repository):
    """Conversations, each with its settings as one sealed value. Their keys are in the key file."""

    def at(self, address: str) -> ConversationId | None:
        """Returns the conversation at this address; None if there never was one."""
        return self.value("SELECT id FROM conversations WHERE handle = ?", (self.chat_handle(address),))

    def add(self, address: str, *, now: datetime) -> ConversationId:
        """Returns the conversation at this address; adds a new one. Its data key has to exist (`key`)."""
        found: ConversationId = self.value(
            "INSERT INTO conversations (realm, handle, created_at) VALUES (?, ?, ?) "
            "ON CONFLICT (handle) DO UPDATE SET handle = excluded.handle RETURNING id",
            (self.realm, self.chat_handle(address), now),
        )
        self.keyring.refresh(found)
        return found

    def key(self, address: str) -> None:
        """Creates the data key of a conversation before `add`, in another transaction: the two files commit apart."""
        handle = self.chat_handle(address)
        generation = self.value("SELECT key_generation FROM conversations WHERE handle = ?", (handle,))
        self.keyring.make(key_name(handle, generation or 0))

    def settings(self, conversation: ConversationId) -> bytes | None:
        """Returns the settings of the conversation; None: none were ever set."""
        sealed = self.value("SELECT settings FROM chats WHERE conversation_id = ?", (conversation,))
        return None if sealed is None else self.keyring.open(conversation, f"chats.settings|{conversation}", sealed)

    def keep_settings(self, conversation: ConversationId, settings: bytes, *, expires_at: datetime | None) -> None:
        """Replaces the settings, sealed. `expires_at`: when words in them disappear."""
        sealed = self.keyring.seal(conversation, f"chats.settings|{conversation}", settings)
        self.put_row("chats", conversation_id=conversation, settings=sealed, expires_at=expires_at)

    def with_expired_settings(self, now: datetime) -> tuple[ConversationId, ...]:
        """Returns the conversations whose settings contain words that must be gone by now."""
        return self.column("SELECT conversation_id FROM chats WHERE expires_at <= ?", (now,))

    def with_settings(self) -> tuple[ConversationId, ...]:
        """Returns the conversations that have settings."""
        return self.column("SELECT conversation_id FROM chats")


@dataclass(frozen=True, kw_only=True, slots=True)
class Summary:
    """A summary of older turns of a conversation."""

    first: TurnId
    last: TurnId
    """The last turn that it covers."""
    summary: bytes
    expires_at: datetime | None
    labels: bytes | None = None
    """Where it comes from; None: unknown."""


class Summaries(Repository):
    """The repository of summaries, each of which is deleted as soon as a turn that it covers goes or changes."""

    def of(self, conversation: ConversationId, *, now: datetime) -> Summary | None:
        """Returns the valid summary of the conversation; None if there is none."""
        found = self.record(
            Summary,
            "SELECT first_turn AS first, last_turn AS last, expires_at, "
            "opened(conversation_id, 'summaries.summary|' || last_turn, summary) AS summary, "
            "opened(conversation_id, 'summaries.labels|' || last_turn, labels) AS labels "
            "FROM summaries WHERE conversation_id = ? AND coalesce(expires_at > ?, TRUE)",
            (conversation, now),
        )
        return found if found and found.summary else None

    def keep(self, conversation: ConversationId, summary: Summary) -> None:
        """Keeps the summary in place of the former one."""
        self.put_row(
            "summaries",
            conversation_id=conversation,
            first_turn=summary.first,
            last_turn=summary.last,
            summary=self.seal(conversation, f"summaries.summary|{summary.last}", summary.summary),
            expires_at=summary.expires_at,
            labels=self.seal(conversation, f"summaries.labels|{summary.last}", summary.labels),
        )

    def drop(self, turn: TurnId) -> None:
        """Deletes the summary that covers this turn, as its words have changed."""
        self.execute(
            "DELETE FROM summaries WHERE ?1 BETWEEN first_turn AND last_turn "
            "AND conversation_id = (SELECT conversation_id FROM turns WHERE id = ?1)",
            (turn,),
        )


class LastTime(Repository):
    """The repository of the last known time, a single row."""

    def last(self) -> KeptTime | None:
        """Returns the time as last kept; None: never."""
        return self.record(KeptTime, "SELECT boot, counted_ns, wall_ns, believed_ns FROM last_time")

    def keep(self, time: KeptTime) -> None:
        """Keeps the present time."""
        self.put_row("last_time", id=1, **asdict(time))
