"""The grants: tools that somebody has allowed for good, in one conversation and for what they ask there themselves.

A row that Aldis has not written is none (`store.guard`).
"""

from dataclasses import dataclass
from datetime import datetime

from store.records import ConversationId
from store.repository import Repository, millis


@dataclass(frozen=True, kw_only=True, slots=True)
class Grant:
    """One tool that a person has allowed."""

    tool: str
    shape: str
    """What the tool was then."""
    at: datetime


class Grants(Repository):
    """The repository of what was allowed for good. All methods run inside a transaction."""

    def allow(self, conversation: ConversationId, person: str, *, tool: str, shape: str, now: datetime) -> None:
        """Allows a tool, as it is now."""
        self.revoke(conversation, person, tool)
        self.execute(
            "INSERT INTO grants (conversation_id, person, tool, shape, granted_at) VALUES (?, ?, ?, ?, ?)",
            (conversation, self.keyring.handle(person), tool, shape, millis(now)),
        )

    def revoke(self, conversation: ConversationId, person: str, tool: str) -> bool:
        """Revokes it; returns whether it had been allowed."""
        found = self.execute(
            "DELETE FROM grants WHERE conversation_id = ? AND person = ? AND tool = ?",
            (conversation, self.keyring.handle(person), tool),
        )
        return found.rowcount > 0

    def of(self, conversation: ConversationId, person: str) -> tuple[Grant, ...]:
        """What this person has allowed there, by name."""
        return self.records(
            Grant,
            "SELECT tool, shape, granted_at AS at FROM true_grants WHERE conversation_id = ? AND person = ? "
            "ORDER BY tool",
            (conversation, self.keyring.handle(person)),
        )
