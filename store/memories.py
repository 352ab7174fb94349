"""What people asked Aldis to keep: facts about them, reminders with the time zone of each person, and predictions.

    reminder:    put --> planned --again--> planned (its next time)
                            |-end-----> over: it came for the last time --again--> planned
                            |-settle--> settled: it was cancelled; its words are gone
                            '-expire--> planned without words: they came from a message that has disappeared
    prediction:  put --> open --settle--> settled --settle, undone--> open ...

Facts stand in a person's direct conversation, the others where they were made; all are deleted with it. The call that
asked for one may be repeated after a crash, so its name (`origin`) outlives the words for a while.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Generic, TypeVar

from store.records import ConversationId, TurnId
from store.repository import Repository, dollars, moment, moment_if

M = TypeVar("M")


class _Memories(Repository, Generic[M]):
    """What people asked for in a turn: numbered, sealed, and gone with the turn's messages."""

    kind: type[M]
    table: str
    columns: str
    sealed: tuple[str, ...]
    is_kept: str

    def of_origin(self, origin: str | None) -> M | None:
        """Returns what this call or message had kept, in whatever state; None: nothing."""
        return next(iter(self._read("origin = ?", (origin,))), None)

    def count(self, person: str) -> int:
        """Counts what is kept of the person in all conversations."""
        kept = f"SELECT count(*) FROM {self.table} WHERE person = ? AND {self.is_kept}"  # noqa: S608  (literals only)
        return self.value(kept, (self.keyring.handle(person),))

    def _put(
        self,
        conversation: ConversationId,
        origin: str,
        turn: TurnId | None,
        sealed: Mapping[str, bytes | None],
        numbered: tuple[str, tuple[object, ...]],
        **row: object,
    ) -> M:
        """Keeps one as long as its turn, or returns the one of the same origin. `numbered`: those beside it."""
        condition, values = numbered
        self.insert(
            self.table,
            unless="origin",
            conversation_id=conversation,
            origin=origin,
            turn_id=turn,
            number=self.value(f"SELECT coalesce(max(number), 0) + 1 FROM {self.table} WHERE {condition}", values),  # noqa: S608
            **{name: self.seal(conversation, f"{self.table}.{name}|{origin}", value) for name, value in sealed.items()},
            **{"expires_at": self._end_of(turn)} | row,
        )
        [kept] = self._read("origin = ?", (origin,))
        return kept

    def _end_of(self, turn: TurnId | None) -> int | None:
        """Returns when the turn's messages disappear; None: they stay."""
        return self.value("SELECT expires_at FROM turns WHERE id = ?", (turn,))

    def _read(self, condition: str, values: tuple[object, ...]) -> tuple[M, ...]:
        opened = (
            f"opened(conversation_id, '{self.table}.{name}|' || origin, {name}) AS {name}" for name in self.sealed
        )
        columns = ", ".join((self.columns, *opened))
        return self.records(self.kind, f"SELECT {columns} FROM {self.table} WHERE {condition}", values)  # noqa: S608


@dataclass(frozen=True, kw_only=True, slots=True)
class Fact:
    """One remembered fact, by the number that the person knows, with where it comes from; None: it was forgotten."""

    number: int
    fact: bytes | None
    expires_at: datetime | None
    labels: bytes | None


class Facts(_Memories[Fact]):
    """Facts about people."""

    kind = Fact
    table = "facts"
    columns = "number, expires_at"
    sealed = ("fact", "labels")

    def put(
        self,
        conversation: ConversationId,
        origin: str,
        fact: bytes,
        *,
        turn: TurnId,
        now: datetime,
        labels: bytes | None = None,
    ) -> Fact:
        """Keeps a fact as long as its turn, or returns the one that the same origin kept before."""
        numbered = "conversation_id = ? AND fact IS NOT NULL", (conversation,)
        words = {"fact": fact, "labels": labels}
        return self._put(conversation, origin, turn, words, numbered, kept_at=now)

    def all(self, conversation: ConversationId, *, now: datetime) -> tuple[Fact, ...]:
        """Returns the facts of this conversation, the oldest first."""
        facts = self._read(
            "conversation_id = ? AND coalesce(expires_at > ?, TRUE) ORDER BY number", (conversation, now)
        )
        return tuple(one for one in facts if one.fact is not None)

    def forget(self, conversation: ConversationId, number: int | None) -> int:
        """Deletes the fact of this number (None: all of them); returns how many that were."""
        return self.execute(
            "UPDATE facts SET fact = NULL, labels = NULL WHERE conversation_id = ?1 AND fact IS NOT NULL "
            "AND number = coalesce(?2, number)",
            (conversation, number),
        ).rowcount


_HERE = "EXISTS (SELECT 1 FROM conversations WHERE conversations.id = conversation_id AND realm = ?)"


class _Planned(_Memories[M]):
    """What is due again and again, until it is settled."""

    is_kept = "settled_at IS NULL"

    def put(
        self,
        conversation: ConversationId,
        person: str,
        origin: str,
        *,
        due_at: datetime,
        turn: TurnId | None = None,
        expires_at: datetime | None = None,
        **texts: bytes,
    ) -> M:
        """Keeps one, whose words expire at `expires_at` or with `turn`, or returns the one of this origin."""
        handle = self.keyring.handle(person)
        numbered = "conversation_id = ? AND person = ? AND settled_at IS NULL", (conversation, handle)
        end = expires_at or self._end_of(turn)
        self.notify("reminders")
        return self._put(conversation, origin, turn, texts, numbered, person=handle, due_at=due_at, expires_at=end)

    def of_person(self, person: str, conversation: ConversationId | None = None) -> tuple[M, ...]:
        """Returns what the person has in this conversation (None: in all), the next one first."""
        return self._read(
            "person = ?1 AND conversation_id = coalesce(?2, conversation_id) AND settled_at IS NULL "
            "ORDER BY due_at, id",
            (self.keyring.handle(person), conversation),
        )

    def due(self, now: datetime, *, limit: int) -> tuple[M, ...]:
        """Returns what is due now, the longest overdue first, at most `limit`."""
        condition = f"settled_at IS NULL AND due_at <= ? AND {_HERE} ORDER BY due_at, id LIMIT ?"
        return self._read(condition, (now, self.realm, limit))

    def next_due_at(self) -> datetime | None:
        """Returns when the next one of the realm is due; None if nothing is planned."""
        next_at = f"SELECT min(due_at) FROM {self.table} WHERE settled_at IS NULL AND {_HERE}"  # noqa: S608
        return moment_if(self.value(next_at, (self.realm,)))

    def settle(self, row: int, *, now: datetime) -> None:
        """Settles one that will not come any more; deletes its words."""
        words = ", ".join(f"{name} = NULL" for name in self.sealed)
        self.execute(f"UPDATE {self.table} SET settled_at = ?, {words} WHERE id = ?", (now, row))  # noqa: S608


@dataclass(frozen=True, kw_only=True, slots=True)
class Reminder:
    """One reminder, by the number that its person knows in this conversation while it is planned."""

    id: int
    conversation: ConversationId
    origin: str
    number: int
    plan: bytes | None
    """When and where it is due; None once it is settled."""
    words: bytes | None
    """None once they have disappeared, at `expires_at`, or the reminder is settled."""
    due_at: datetime
    """The next time, or the last one."""
    expires_at: datetime | None
    is_over: bool


class Reminders(_Planned[Reminder]):
    """Reminders, and the time zones of people."""

    kind = Reminder
    table = "reminders"
    columns = (
        "id, conversation_id AS conversation, origin, number, due_at, expires_at, settled_at IS NOT NULL AS is_over"
    )
    sealed = ("plan", "words")

    def of_turn(self, turn: TurnId, person: str) -> tuple[Reminder, ...]:
        """Returns the person's reminders that this turn of ours has planned or sent, as long as they have words."""
        return self._read(
            "person = ?1 AND plan IS NOT NULL AND words IS NOT NULL AND (turn_id = ?2 "
            "OR origin IN (SELECT origin FROM turns WHERE id = ?2) "
            "OR id IN (SELECT device FROM inbox WHERE turn_id = ?2 AND kind = 'reminder') "
            "OR origin IN (SELECT 'item_' || id FROM inbox WHERE turn_id = ?2)) ORDER BY due_at, id",
            (self.keyring.handle(person), turn),
        )

    def overdue(self, at: datetime) -> tuple[Reminder, ...]:
        """Returns the reminders of both realms that were due by `at`, the longest overdue first."""
        return self._read("settled_at IS NULL AND due_at <= ? ORDER BY due_at, id", (at,))

    def next_times(self, limit: int) -> tuple[datetime, ...]:
        """Returns when the next reminders of all people are due, at most `limit`, the nearest first."""
        times = "SELECT due_at FROM reminders WHERE settled_at IS NULL ORDER BY due_at LIMIT ?"
        return tuple(map(moment, self.column(times, (limit,))))

    def again(self, reminder: int, due_at: datetime) -> None:
        """Sets the next time of a planned reminder, or plans one again that is over, under a new number."""
        self.execute(
            "UPDATE reminders SET due_at = ?, settled_at = NULL, number = CASE WHEN settled_at IS NULL THEN number "
            "ELSE (SELECT coalesce(max(number), 0) + 1 FROM reminders AS others WHERE others.person = reminders.person "
            "AND others.conversation_id = reminders.conversation_id AND others.settled_at IS NULL) END WHERE id = ?",
            (due_at, reminder),
        )
        self.notify("reminders", "members")

    def end(self, reminder: int, *, now: datetime) -> None:
        """Ends a reminder that has come for the last time; `expire` deletes its words a day later."""
        self.execute("UPDATE reminders SET settled_at = ? WHERE id = ?", (now, reminder))

    def asked_at(self, turn: TurnId) -> int:
        """Returns the Signal timestamp of the last message that the turn answers; 0 if unknown."""
        return self.value("SELECT max(sent_at) FROM inbox WHERE turn_id = ?", (turn,)) or 0

    def is_run_by_one(self, turn: TurnId) -> bool:
        """Whether the turn itself was started by a reminder."""
        return self.exists("SELECT 1 FROM inbox WHERE turn_id = ? AND kind = 'reminder'", (turn,))

    def zone(self, direct: str) -> str | None:
        """Returns the time zone of the person with the direct chat at this address; None if it is unknown."""
        zone = self.value(
            "SELECT opened(id, 'zones.zone', zone) FROM zones JOIN conversations ON id = conversation_id "
            "WHERE handle = ?",
            (self.chat_handle(direct),),
        )
        return zone and zone.decode()

    def keep_zone(self, direct: ConversationId, zone: str) -> None:
        """Keeps the time zone of the person with this direct conversation."""
        self.put_row("zones", conversation_id=direct, zone=self.keyring.seal(direct, "zones.zone", zone.encode()))


@dataclass(frozen=True, kw_only=True, slots=True)
class PredictionRow:
    """One prediction, by its number in its conversation. Without words it was struck, without an outcome it is open."""

    number: int
    words: bytes | None
    outcome: bytes | None
    settled_at: datetime | None
    expires_at: datetime | None


class Predictions(_Memories[PredictionRow]):
    """Predictions of people."""

    kind = PredictionRow
    table = "predictions"
    columns = "number, settled_at, expires_at"
    sealed = ("words", "outcome")
    is_kept = "words IS NOT NULL"

    def put(
        self, conversation: ConversationId, person: str, origin: str, words: bytes, *, due_at: datetime, turn: TurnId
    ) -> PredictionRow:
        """Keeps a prediction as long as its turn, or returns the one that the same origin recorded before."""
        handle = self.keyring.handle(person)
        numbered = "conversation_id = ?", (conversation,)
        return self._put(conversation, origin, turn, {"words": words}, numbered, person=handle, due_at=due_at)

    def all(self, conversation: ConversationId, person: str, *, now: datetime) -> tuple[PredictionRow, ...]:
        """Returns the predictions of this person in the conversation, the oldest first."""
        return self._read(
            "conversation_id = ? AND words IS NOT NULL AND coalesce(expires_at > ?, TRUE) AND person = ? "
            "ORDER BY number",
            (conversation, now, self.keyring.handle(person)),
        )

    def settle(
        self,
        conversation: ConversationId,
        person: str,
        number: int,
        outcome: bytes | None,
        *,
        turn: TurnId,
        now: datetime,
    ) -> PredictionRow | None:
        """Records the outcome of a prediction (None: reopens it); returns the new state, None if it is not found."""
        origin = self._origin(conversation, person, number, now)
        sealed = self.seal(conversation, f"predictions.outcome|{origin}", outcome)
        self.execute(
            "UPDATE predictions SET outcome = ?1, outcome_turn_id = ?2, settled_at = ?3, "
            "expires_at = coalesce(min(expires_at, ?4), expires_at, ?4) WHERE origin = ?5",
            (sealed, turn, None if outcome is None else now, self._end_of(turn), origin),
        )
        return self.of_origin(origin)

    def strike(self, conversation: ConversationId, person: str, number: int, *, now: datetime) -> PredictionRow | None:
        """Strikes the person's prediction as if it had not been made; returns what it was, None if not found."""
        origin = self._origin(conversation, person, number, now)
        struck = self.of_origin(origin)
        self.execute(
            "UPDATE predictions SET words = NULL, outcome = NULL, settled_at = ? WHERE origin = ?",
            (now, origin),
        )
        return struck

    def retain(self, before: datetime) -> None:
        """Deletes predictions settled before `before`, or still open and due before it."""
        self.execute("DELETE FROM predictions WHERE coalesce(settled_at, due_at) < ?", (before,))

    def _origin(self, conversation: ConversationId, person: str, number: int, now: datetime) -> str | None:
        """Returns the call that recorded the person's prediction of this number; None if it is gone."""
        return self.value(
            "SELECT origin FROM predictions WHERE conversation_id = ? AND person = ? AND number = ? "
            "AND words IS NOT NULL AND coalesce(expires_at > ?, TRUE)",
            (conversation, self.keyring.handle(person), number, now),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class WatchRow:
    """One watch, by the number that its person knows in this conversation until it ends."""

    id: int
    conversation: ConversationId
    origin: str
    turn: TurnId
    """The one that made it."""
    number: int
    watch: bytes | None
    """What is watched, for whom and where; None once it has ended."""
    state: bytes | None
    """What was seen and said; None: nothing is known, so the next look says nothing."""
    due_at: datetime | None
    """When it is looked at next; None: it is paused."""
    expires_at: datetime | None


class Watches(_Planned[WatchRow]):
    """What people want to hear of. The turns that speak of one have its origin; the turn that made it pays."""

    kind = WatchRow
    table = "watches"
    columns = "id, conversation_id AS conversation, origin, turn_id AS turn, number, due_at, expires_at"
    sealed = ("watch", "state")

    def of_turn(self, turn: TurnId, person: str) -> tuple[WatchRow, ...]:
        """Returns the person's watches that this turn of ours has made, or speaks of."""
        spoken = "origin IN (SELECT origin FROM turns WHERE id = ?2)"
        condition = f"person = ?1 AND settled_at IS NULL AND (turn_id = ?2 OR {spoken})"
        return self._read(condition, (self.keyring.handle(person), turn))

    def keep(self, row: WatchRow, state: bytes | None, *, due_at: datetime | None) -> bool:
        """Keeps what was seen and said, and when it is looked at next (None: it is paused). Returns False, and keeps
        nothing, if the watch has ended or was changed since the row was read.
        """
        same = "id = ? AND settled_at IS NULL AND due_at IS ?"
        if not self.exists(f"SELECT 1 FROM watches WHERE {same}", (row.id, row.due_at)):  # noqa: S608  (literals only)
            return False  # perhaps with its conversation, and so without a key
        sealed = self.seal(row.conversation, f"watches.state|{row.origin}", state)
        self.execute("UPDATE watches SET state = ?, due_at = ? WHERE id = ?", (sealed, due_at, row.id))
        return True

    def said_since(self, person: str, at: datetime) -> int:
        """Counts the messages with findings that the person was sent since then."""
        said = (
            "SELECT count(*) FROM watches JOIN turns ON turns.origin = watches.origin "
            "WHERE person = ? AND turns.state = 'kept' AND started_at >= ?"
        )
        return self.value(said, (self.keyring.handle(person), at))

    def spent_usd(self, row: WatchRow, since: datetime) -> Decimal:
        """Adds up what was paid since then on the turn that made the watch, after that had ended."""
        paid = "FROM ledger JOIN turns ON turns.id = turn_id WHERE turn_id = ? AND at > max(?, ended_at)"
        return dollars(self.value(f"SELECT CAST(round(total(cost_usd), 10) AS TEXT) {paid}", (row.turn, since)))
