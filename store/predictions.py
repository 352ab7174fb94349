"""Predictions: what somebody expects to happen, by when, and how it turned out.

    put --> open --settle--> settled --settle, undone--> open ...
             |                  |-strike--> words gone; its number and the name of its call stay for a while
             '------------------'-expire, retain, forget--> row deleted

Predictions belong to the conversation they were made in and are sealed with its key. The call that recorded one may be
repeated after a crash, so its name outlives a struck prediction. Left to others: what a prediction says, who may settle
it (`bot.features.predictions`).
"""

import logging
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from store.errors import Damaged
from store.records import ConversationId, TurnId
from store.repository import Repository, millis, moment_if

_log = logging.getLogger(__name__)

_COLUMNS = "number, origin, words, outcome, settled_at, expires_at"


@dataclass(frozen=True, kw_only=True, slots=True)
class PredictionRow:
    """One prediction."""

    number: int
    """Its number in its conversation; a struck prediction keeps it for a while."""
    words: bytes | None
    """What was predicted; None: it was struck."""
    outcome: bytes | None
    """How it turned out; None: it is open."""
    settled_at: datetime | None
    """When the outcome was recorded; None: it is open."""
    expires_at: datetime | None
    """When it disappears with a message it came from; None: it stays."""


class Predictions(Repository):
    """The repository of predictions. All methods run inside a transaction."""

    def put(
        self, conversation: ConversationId, person: str, origin: str, words: bytes, *, due_at: datetime, turn: TurnId
    ) -> PredictionRow:
        """Keeps a prediction as long as its turn, or returns the one that the same origin recorded before."""
        known = self.of_origin(conversation, origin)
        if known is not None:
            return known
        self.execute(
            "INSERT INTO predictions (conversation_id, person, origin, turn_id, number, words, due_at, expires_at) "
            "VALUES (?1, ?2, ?3, ?4, (SELECT coalesce(max(number), 0) + 1 FROM predictions WHERE conversation_id = ?1),"
            " ?5, ?6, (SELECT expires_at FROM turns WHERE id = ?4))",
            (
                conversation,
                self.keyring.handle(person),
                origin,
                turn,
                self.keyring.seal(conversation, _words_of(origin), words),
                millis(due_at),
            ),
        )
        put = self.of_origin(conversation, origin)
        assert put is not None  # noqa: S101  (it was put just now)
        return put

    def of_origin(self, conversation: ConversationId, origin: str) -> PredictionRow | None:
        """Returns what this call recorded; None: nothing."""
        return next(iter(self._read(conversation, "AND origin = ?", (origin,))), None)

    def count(self, person: str) -> int:
        """Counts the person's predictions in all conversations."""
        return self.value(
            "SELECT count(*) FROM predictions WHERE person = ? AND words IS NOT NULL", (self.keyring.handle(person),)
        )

    def all(self, conversation: ConversationId, person: str | None, *, now: datetime) -> tuple[PredictionRow, ...]:
        """Returns the predictions of this person (None: of everybody) in the conversation, the oldest first."""
        return self._read(
            conversation,
            "AND words IS NOT NULL AND coalesce(expires_at > ?, TRUE) AND person = coalesce(?, person) ORDER BY number",
            (millis(now), None if person is None else self.keyring.handle(person)),
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
        """Records the outcome of the person's prediction (None: reopens it); returns the new state, None if not found.

        It then disappears with the message that told the outcome, if not before.
        """
        origin = self._origin(conversation, person, number, now)
        if origin is None:
            return None
        sealed = None if outcome is None else self.keyring.seal(conversation, _outcome_of(origin), outcome)
        self.execute(
            "UPDATE predictions SET outcome = ?1, outcome_turn_id = ?2, settled_at = ?3, expires_at = "
            "coalesce(min(expires_at, (SELECT expires_at FROM turns WHERE id = ?2)), expires_at, "
            "(SELECT expires_at FROM turns WHERE id = ?2)) WHERE origin = ?4",
            (sealed, turn, None if outcome is None else millis(now), origin),
        )
        return self.of_origin(conversation, origin)

    def strike(self, conversation: ConversationId, person: str, number: int, *, now: datetime) -> PredictionRow | None:
        """Strikes the person's prediction as if it had not been made; returns what it was, None if not found."""
        origin = self._origin(conversation, person, number, now)
        if origin is None:
            return None
        struck = self.of_origin(conversation, origin)
        self.execute(
            "UPDATE predictions SET words = NULL, outcome = NULL, settled_at = ? WHERE origin = ?",
            (millis(now), origin),
        )
        return struck

    def expire(self, now: datetime) -> int:
        """Deletes predictions whose messages have disappeared; returns how many."""
        return self.execute("DELETE FROM predictions WHERE expires_at <= ?", (millis(now),)).rowcount

    def retain(self, before: datetime) -> int:
        """Deletes predictions settled before `before`, or still open and due before it; returns how many."""
        outdated = "DELETE FROM predictions WHERE coalesce(settled_at, due_at) < ?"
        return self.execute(outdated, (millis(before),)).rowcount

    def prune(self, *, before: datetime) -> None:
        """Deletes the call names of predictions struck before `before`."""
        self.execute(
            "DELETE FROM predictions WHERE words IS NULL AND coalesce(settled_at, due_at) < ?", (millis(before),)
        )

    def _origin(self, conversation: ConversationId, person: str, number: int, now: datetime) -> str | None:
        """Returns the call that recorded the person's prediction of this number; None if it is gone."""
        return self.value(
            "SELECT origin FROM predictions WHERE conversation_id = ? AND person = ? AND number = ? "
            "AND words IS NOT NULL AND coalesce(expires_at > ?, TRUE)",
            (conversation, self.keyring.handle(person), number, millis(now)),
        )

    def _read(
        self, conversation: ConversationId, condition: str, values: tuple[object, ...]
    ) -> tuple[PredictionRow, ...]:
        """Returns the predictions of these rows; skips damaged ones, so that they stop no answer."""
        read: list[PredictionRow] = []
        columns = f"SELECT {_COLUMNS} FROM predictions WHERE conversation_id = ?"  # noqa: S608  (literals only)
        for row in self.rows(f"{columns} {condition}", (conversation, *values)):
            try:
                read.append(self._prediction(conversation, row))
            except Damaged as error:
                _log.error("prediction %d of conversation %d is lost: %s", row[0], conversation, error)
        return tuple(read)

    def _prediction(self, conversation: ConversationId, row: tuple[Any, ...]) -> PredictionRow:
        number, origin, words, outcome, settled_at, expires_at = row
        return PredictionRow(
            number=number,
            words=None if words is None else self.keyring.open(conversation, _words_of(origin), words),
            outcome=None if outcome is None else self.keyring.open(conversation, _outcome_of(origin), outcome),
            settled_at=moment_if(settled_at),
            expires_at=moment_if(expires_at),
        )


def _words_of(origin: str) -> str:
    return f"predictions.words|{origin}"


def _outcome_of(origin: str) -> str:
    return f"predictions.outcome|{origin}"
