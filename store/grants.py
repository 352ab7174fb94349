"""Grants: tools that somebody has allowed for good, in one conversation and for their own questions there.

A forged row counts as missing (`store.guard`).
"""

from dataclasses import dataclass
from datetime import datetime

from store.records import ConversationId
from store.repository import Repository, millis


@dataclass(frozen=True, kw_only=True, slots=True)
class Grant:
    """A tool that a person has allowed."""

    tool: str
    shape: str
    """The shape of the tool at that time."""
    at: datetime


class Grants(Repository):
    """The repository of grants. All methods run inside a transaction."""

    def allow(self, conversation: ConversationId, person: str, *, tool: str, shape: str, now: datetime) -> None:
        """Allows a tool in its present shape."""
        self.revoke(conversation, person, tool)
        self.execute(
            "INSERT INTO grants (conversation_id, person, tool, shape, granted_at) VALUES (?, ?, ?, ?, ?)",
            (conversation, self.keyring.handle(person), tool, shape, millis(now)),
        )

    def revoke(self, conversation: ConversationId, person: str, tool: str) -> bool:
        """Revokes a grant; returns whether there was one."""
        found = self.execute(
            "DELETE FROM grants WHERE conversation_id = ? AND person = ? AND tool = ?",
            (conversation, self.keyring.handle(person), tool),
        )
        return found.rowcount > 0

    def of(self, conversation: ConversationId, person: str) -> tuple[Grant, ...]:
        """Returns the grants of this person there, by name."""
        return self.records(
            Grant,
            "SELECT tool, shape, granted_at AS at FROM true_grants WHERE conversation_id = ? AND person = ? "
            "ORDER BY tool",
            (conversation, self.keyring.handle(person)),
        )
