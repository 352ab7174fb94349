"""Turns, who asked in each, their steps, the last question that got no answer, and the last known time.

A turn answers messages, or Aldis begins it of its own accord.
Left to others: the messages of a turn (`store.inbox`, `store.outbox`).
"""

from dataclasses import astuple, dataclass
from datetime import datetime

from store.errors import StepMissing
from store.records import ConversationId, KeptTime, TurnEnd, TurnId, TurnState
from store.repository import Repository, millis, millis_if, moment_if


@dataclass(frozen=True, kw_only=True, slots=True)
class LastQuestion:
    """The last question of a person in a conversation."""

    turn: TurnId
    state: TurnState
    expires_at: datetime | None
    """When its words disappear; None: they stay."""


class Turns(Repository):
    """The repository of turns. All methods run inside a transaction."""

    def begin(
        self,
        conversation: ConversationId,
        *,
        now: datetime,
        expires_at: datetime | None = None,
        replaces: TurnId | None = None,
        origin: str | None = None,
    ) -> TurnId:
        """Begins a new turn of the conversation.

        `origin` names the call or message for which Aldis speaks of its own accord; None: the turn answers a message.
        """
        return TurnId(
            self.value(
                "INSERT INTO turns (conversation_id, state, started_at, expires_at, replaces, origin) "
                "VALUES (?, 'running', ?, ?, ?, ?) RETURNING id",
                (conversation, millis(now), millis_if(expires_at), replaces, origin),
            )
        )

    def count_since(self, at: datetime) -> int:
        """Returns how many turns began since then."""
        return self.value("SELECT count(*) FROM turns WHERE started_at >= ?", (millis(at),))

    def conversation(self, turn: TurnId) -> ConversationId | None:
        """Returns the conversation of the turn, or None if it is gone."""
        return self.value("SELECT conversation_id FROM turns WHERE id = ?", (turn,))

    def end(self, turn: TurnId) -> TurnEnd | None:
        """Returns how the turn ended; None if it is running or gone."""
        return self.value("SELECT state FROM turns WHERE id = ? AND state != 'running'", (turn,))

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
            sealed = self.keyring.seal(conversation, _question_place(turn), question)
            self.execute("INSERT INTO unanswered (turn_id, question) VALUES (?, ?)", (turn, sealed))

    def unanswered_question(self, conversation: ConversationId, turn: TurnId) -> bytes | None:
        """Returns the question of a turn that ended without an answer; None if there is none, or not any more."""
        sealed = self.value("SELECT question FROM unanswered WHERE turn_id = ?", (turn,))
        return None if sealed is None else self.keyring.open(conversation, _question_place(turn), sealed)


def _question_place(turn: TurnId) -> str:
    return f"unanswered.question|{turn}"


class Journal(Repository):
    """The journal: the steps of a running turn, written as they happen, so that no step is repeated after a crash.

        running --(keep)--> steps gone, the turn is in the history
                |-(fail)--> steps gone, the person was told
                '-(taken back, forgotten)--> steps gone, nothing more is written

    Left to others: what a step says (`bot.chat.turns`).
    """

    def add(self, conversation: ConversationId, turn: TurnId, first: int, *steps: bytes) -> bool:
        """Writes steps, sealed, from position `first` on; positions count from 0 without a gap.

        Returns False, and writes nothing, if the turn is not running any more.

        Raises:
            StepMissing: the step before it is not written; with a gap, the turn could not go on after a crash.
        """
        if not self.is_running(turn):
            return False
        if first > self.value("SELECT coalesce(max(position) + 1, 0) FROM journal WHERE turn_id = ?", (turn,)):
            raise StepMissing(f"turn {turn} lacks the step before step {first}")
        rows = [
            (turn, position, self.keyring.seal(conversation, _place(turn, position), step))
            for position, step in enumerate(steps, first)
        ]
        self.execute_many("INSERT INTO journal (turn_id, position, step) VALUES (?, ?, ?)", rows)
        return True

    def is_running(self, turn: TurnId) -> bool:
        """Whether the turn still has to be answered; its question may have been taken back or forgotten."""
        return self.exists("SELECT 1 FROM turns WHERE id = ? AND state = 'running'", (turn,))

    def steps(self, conversation: ConversationId, turn: TurnId) -> tuple[bytes, ...]:
        """Returns the steps of the turn in order; empty if it was only claimed."""
        rows = self.rows("SELECT position, step FROM journal WHERE turn_id = ? ORDER BY position", (turn,))
        return tuple(self.keyring.open(conversation, _place(turn, position), step) for position, step in rows)

    def close(self, turn: TurnId, end: TurnEnd, *, now: datetime) -> None:
        """Ends the turn and deletes its steps."""
        self.execute("DELETE FROM journal WHERE turn_id = ?", (turn,))
        self.execute("UPDATE turns SET state = ?, ended_at = ? WHERE id = ?", (end, millis(now), turn))


def _place(turn: TurnId, position: int) -> str:
    return f"journal.step|{turn}|{position}"


class OwnTime(Repository):
    """The repository of own time, a single row. All methods run inside a transaction."""

    def last(self) -> KeptTime | None:
        """Returns the times as last kept; None: never."""
        return self.record(KeptTime, "SELECT boot, counted_ns, wall_ns, own_ns FROM own_time")

    def keep(self, time: KeptTime) -> None:
        """Keeps the present times."""
        self.execute(
            "INSERT INTO own_time (id, boot, counted_ns, wall_ns, own_ns) VALUES (1, ?, ?, ?, ?) ON CONFLICT (id) DO "
            "UPDATE SET boot = excluded.boot, counted_ns = excluded.counted_ns, wall_ns = excluded.wall_ns, "
            "own_ns = excluded.own_ns",
            astuple(time),
        )

    def latest(self) -> datetime | None:
        """Returns when something last went out or came in, as far as is known; None: never."""
        return moment_if(
            self.value(
                "SELECT max(at) FROM (SELECT max(until) AS at FROM listening UNION ALL SELECT max(started_at) FROM ("
                "SELECT started_at FROM turns ORDER BY id DESC LIMIT 1))"
            )
        )
