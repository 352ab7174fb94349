"""Grants: tools that somebody has allowed for good, in one conversation and for their own questions there.

Rows are sealed: one that Aldis has not written counts for nothing.
"""

from dataclasses import dataclass
from datetime import datetime

from store.records import ConversationId
from store.repository import Repository, millis, moment


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
        key = (conversation, self.keyring.handle(person), tool)
        self.execute(
            "INSERT INTO grants (conversation_id, person, tool, sealed) VALUES (?, ?, ?, ?)",
            (*key, self.keyring.seal_row("grants", key, (shape, millis(now)))),
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
        handle = self.keyring.handle(person)
        rows = self.rows(
            "SELECT tool, sealed FROM grants WHERE conversation_id = ? AND person = ? ORDER BY tool",
            (conversation, handle),
        )
        opened = {tool: self.keyring.open_row("grants", (conversation, handle, tool), sealed) for tool, sealed in rows}
        return tuple(Grant(tool=tool, shape=row[0], at=moment(row[1])) for tool, row in opened.items() if row)
