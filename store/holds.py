"""Held conversations: they cannot be written to because a new safety number in them is not trusted.

The items of a held conversation wait in the outbox without becoming due, since retrying does not help, until the hold
is released or they are too old.
"""

from datetime import datetime

from store.records import ConversationId
from store.repository import Repository, millis, moment


class Holds(Repository):
    """The repository of holds. All methods run inside a transaction."""

    def add(self, conversation: ConversationId, *, now: datetime) -> None:
        """Holds the conversation: nothing is sent to it until a new safety number is trusted."""
        self.execute(
            "INSERT INTO holds (conversation_id, held_at) VALUES (?1, ?2) "
            "ON CONFLICT (conversation_id) DO UPDATE SET held_at = ?2",
            (conversation, millis(now)),
        )
        self.notify("identities")

    def all(self) -> dict[ConversationId, datetime]:
        """Returns the held conversations, and since when each is held."""
        return {conversation: moment(at) for conversation, at in self.rows("SELECT * FROM holds")}

    def release(self, conversation: ConversationId) -> None:
        """Releases a held conversation, so that its items are sent."""
        self.execute("DELETE FROM holds WHERE conversation_id = ?", (conversation,))
        self.notify("outbox")

    def give_up_items(self, *, before: datetime, now: datetime) -> int:
        """Gives up held items of turns that started before `before`; returns how many.

        People are told as soon as something goes out to that conversation.
        """
        return self.execute(
            "UPDATE outbox SET state = 'dead', reply = NULL, settled_at = ?1, "
            "unsent = CASE WHEN position >= 0 AND NOT removes THEN 'owed' END "
            "WHERE state IN ('waiting', 'sending', 'unknown') AND state = 'waiting' "
            "AND conversation_id IN (SELECT conversation_id FROM holds) "
            "AND turn_id IN (SELECT id FROM turns WHERE started_at < ?2)",
            (millis(now), millis(before)),
        ).rowcount
