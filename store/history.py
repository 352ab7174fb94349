"""The history: what was said in a conversation, whole turns only, one row a message (a tool's answer is a message)."""

from collections.abc import Sequence

from store.records import ConversationId, StoredMessage, TurnId
from store.shelf import Shelf

LAST_TURNS = (
    "SELECT turn_id, position, role, call_id, message FROM history WHERE conversation_id = ?1 AND turn_id >= ("
    "SELECT min(id) FROM (SELECT id FROM turns WHERE conversation_id = ?1 AND state = 'kept' ORDER BY id DESC LIMIT ?2)"
    ") ORDER BY turn_id, position"
)
"""Walks two indexes from their end: its cost depends on what it gives, not on what there is."""


class History(Shelf):
    """The shelf of what was said. All methods run inside a transaction."""

    def append(self, conversation: ConversationId, messages: Sequence[StoredMessage]) -> None:
        """Keep the messages of one turn, sealed, in order; the same transaction closes the turn as `kept`."""
        for position, message in enumerate(messages):
            sealed = self.keyring.seal(conversation, _place(message.turn, position), message.message)
            self.execute(
                "INSERT INTO history (conversation_id, turn_id, position, role, call_id, message) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (conversation, message.turn, position, message.role, message.call_id, sealed),
            )

    def last(self, conversation: ConversationId, turns: int) -> tuple[StoredMessage, ...]:
        """The messages of the last so many turns, oldest first; none for a new conversation."""
        rows = self.rows(LAST_TURNS, (conversation, turns))
        return tuple(
            StoredMessage(
                turn=TurnId(turn),
                role=role,
                call_id=call_id,
                message=self.keyring.open(conversation, _place(TurnId(turn), position), message),
            )
            for turn, position, role, call_id, message in rows
        )


def _place(turn: TurnId, position: int) -> str:
    return f"history.message|{turn}|{position}"
