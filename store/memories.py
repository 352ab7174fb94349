"""Facts that a person wants remembered, kept in their direct conversation with Aldis.

They are sealed with its key and deleted with it. A forgotten fact leaves the name of the call that kept it for a while,
as that call may be repeated after a crash.
"""

import logging
from dataclasses import dataclass
from datetime import datetime

from store.errors import Damaged
from store.records import ConversationId, TurnId
from store.repository import Repository, millis, moment_if

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Fact:
    """One remembered fact."""

    number: int
    """The number by which the person knows it while it is kept."""
    fact: bytes | None
    """None: it was forgotten."""
    expires_at: datetime | None
    """When it disappears with the message it came from; None: it stays."""
    labels: bytes | None
    """Where it comes from; None: unknown."""


class Facts(Repository):
    """The repository of facts. All methods run inside a transaction."""

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
        known = self.of_origin(conversation, origin)
        if known is not None:
            return known
        self.execute(
            "INSERT INTO facts (conversation_id, origin, turn_id, number, fact, kept_at, expires_at, labels) VALUES "
            "(?1, ?2, ?3, (SELECT coalesce(max(number), 0) + 1 FROM facts WHERE conversation_id = ?1 AND fact IS NOT "
            "NULL), ?4, ?5, (SELECT expires_at FROM turns WHERE id = ?3), ?6)",
            (
                conversation,
                origin,
                turn,
                self.keyring.seal(conversation, _place(origin), fact),
                millis(now),
                None if labels is None else self.keyring.seal(conversation, _labels_of(origin), labels),
            ),
        )
        put = self.of_origin(conversation, origin)
        assert put is not None  # noqa: S101  (it was put just now)
        return put

    def of_origin(self, conversation: ConversationId, origin: str) -> Fact | None:
        """Returns what this call kept; None: nothing."""
        return next(iter(self._read(conversation, "AND origin = ?", (origin,))), None)

    def all(self, conversation: ConversationId, *, now: datetime) -> tuple[Fact, ...]:
        """Returns the facts of this conversation, the oldest first."""
        wanted = "AND fact IS NOT NULL AND coalesce(expires_at > ?, TRUE) ORDER BY number"
        return self._read(conversation, wanted, (millis(now),))

    def forget(self, conversation: ConversationId, number: int | None) -> int:
        """Deletes the fact of this number (None: all of them); returns how many that were."""
        return self.execute(
            "UPDATE facts SET fact = NULL, labels = NULL WHERE conversation_id = ?1 AND fact IS NOT NULL "
            "AND number = coalesce(?2, number)",
            (conversation, number),
        ).rowcount

    def expire(self, now: datetime) -> int:
        """Deletes facts whose messages have disappeared; returns how many."""
        return self.execute("DELETE FROM facts WHERE expires_at <= ?", (millis(now),)).rowcount

    def prune(self, *, before: datetime) -> None:
        """Deletes the call names of forgotten facts that were kept before `before`."""
        self.execute("DELETE FROM facts WHERE fact IS NULL AND kept_at < ?", (millis(before),))

    def _read(self, conversation: ConversationId, condition: str, values: tuple[object, ...]) -> tuple[Fact, ...]:
        rows = self.rows(
            f"SELECT number, origin, fact, expires_at, labels FROM facts WHERE conversation_id = ? {condition}",  # noqa: S608  (literals only)
            (conversation, *values),
        )
        return tuple(fact for row in rows if (fact := self._fact(conversation, *row)) is not None)

    def _fact(
        self,
        conversation: ConversationId,
        number: int,
        origin: str,
        fact: bytes | None,
        expires_at: int | None,
        labels: bytes | None,
    ) -> Fact | None:
        """Returns the fact of a row; None if it is damaged, so that it stops no answer."""
        try:
            words = None if fact is None else self.keyring.open(conversation, _place(origin), fact)
            source = None if labels is None else self.keyring.open(conversation, _labels_of(origin), labels)
        except Damaged as error:
            _log.error("fact %d of conversation %d is lost: %s", number, conversation, error)
            return None
        until = moment_if(expires_at)
        return Fact(number=number, fact=words, expires_at=until, labels=source)


def _place(origin: str) -> str:
    return f"facts.fact|{origin}"


def _labels_of(origin: str) -> str:
    return f"facts.labels|{origin}"
