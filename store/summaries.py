"""Summaries of the older turns of a conversation, before those that are read again in full.

A summary covers a range of turns. It is deleted as soon as one of them is deleted, changes or disappears; the next one
is made from what is left.
"""

import logging
from dataclasses import dataclass
from datetime import datetime

from store.errors import Damaged
from store.records import ConversationId, TurnId
from store.repository import Repository, millis, millis_if, moment_if

_log = logging.getLogger(__name__)


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
    """The repository of summaries. All methods run inside a transaction."""

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
                summary=self.keyring.open(conversation, _place(last), summary),
                expires_at=moment_if(expires_at),
                labels=None if labels is None else self.keyring.open(conversation, _labels_of(last), labels),
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
                self.keyring.seal(conversation, _place(summary.last), summary.summary),
                millis_if(summary.expires_at),
                None if labels is None else self.keyring.seal(conversation, _labels_of(summary.last), labels),
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


def _place(last: int) -> str:
    return f"summaries.summary|{last}"


def _labels_of(last: int) -> str:
    return f"summaries.labels|{last}"
