"""Copies: what is in a chat twice because its first send seemed to have failed.

Once one of the sends of a repeated item is known, every other received name that can mean nothing else in that chat is
a copy, and is removed as soon as that is known (`take`). The same holds for a status that was given up in doubt and
turns out to be beside the answer.
"""

import json
import logging
from collections.abc import Collection, Mapping

from store.errors import Damaged
from store.records import ConversationId, Copy, OutboxId, TurnId
from store.repository import Repository

_log = logging.getLogger(__name__)


class Copies(Repository):
    """The repository of copies. All methods run inside a transaction."""

    def keep_removal(self, item: OutboxId, removal: bytes) -> None:
        """Keeps, sealed, how to remove a copy of this item, which is being sent again."""
        for conversation, turn, position in self.rows(
            "SELECT conversation_id, turn_id, position FROM outbox WHERE id = ?", (item,)
        ):
            sealed = self.keyring.seal(conversation, _removal_place(turn, position), removal)
            self.execute("UPDATE outbox SET removal = ? WHERE id = ?", (sealed, item))

    def take(self) -> tuple[Copy, ...]:
        """Returns the copies to remove from their chats, each once."""
        rows = self.rows(
            "SELECT outbox_id, name, conversation_id, turn_id, position, removal FROM copies INDEXED BY copies_open "
            "JOIN outbox ON outbox.id = outbox_id JOIN conversations ON conversations.id = conversation_id "
            "WHERE NOT is_taken AND realm = ? ORDER BY name",
            (self.realm,),
        )
        return tuple(copy for row in rows if (copy := self._take(*row)) is not None)

    def _take(
        self, item: int, name: int, conversation: ConversationId, turn: TurnId, position: int, removal: bytes | None
    ) -> Copy | None:
        """Marks a copy as taken and returns it; None if it is not known any more how to remove it."""
        self.execute("UPDATE copies SET is_taken = 1 WHERE outbox_id = ? AND name = ?", (item, name))
        if removal is None:
            return None
        try:
            opened = self.keyring.open(conversation, _removal_place(turn, position), removal)
        except Damaged as error:
            _log.error("a copy of reply %d stays in its chat: %s", item, error)
            return None
        return Copy(name=name, conversation=conversation, turn=turn, removal=opened)

    def sent_again(self, items: Collection[int]) -> tuple[int, ...]:
        """Returns those of these items that may have copies, including unused statuses that were given up in doubt."""
        return self.column(
            "SELECT id FROM outbox WHERE id IN (SELECT value FROM json_each(?)) AND removal IS NOT NULL "
            "AND (position >= 0 OR (state = 'dead' AND NOT EXISTS "
            "(SELECT 1 FROM turns WHERE turns.id = turn_id AND turns.state = 'running')))",
            (json.dumps(list(items)),),
        )

    def note(self, item: int, possible: Collection[int]) -> None:
        """Notes for removal what else of a repeated item is in its chat, for certain or as one of the `possible` names.

        No known send has one of these. For a status that was given up, these are all its sends.
        """
        copies = self.execute(
            "INSERT OR IGNORE INTO copies (outbox_id, name) SELECT id, name FROM outbox JOIN ("
            "SELECT value AS name FROM json_each(?2) UNION "
            "SELECT sent_at FROM attempts WHERE outbox_id = ?1 AND sent_at IS NOT NULL"
            ") WHERE id = ?1 AND removal IS NOT NULL "
            "AND ((state = 'sent' AND name <> sent_at) OR (state = 'dead' AND position < 0))",
            (item, json.dumps(list(possible))),
        )
        if copies.rowcount:
            self.notify("outbox")

    def names_of(self, item: int, meanings: Mapping[int, frozenset[int]]) -> frozenset[int]:
        """Returns the names that can mean this item and nothing else that may be in its chat."""
        here = self.column(
            "SELECT id FROM outbox WHERE conversation_id = (SELECT conversation_id FROM outbox WHERE id = ?1) "
            "AND id <> ?1 AND id IN (SELECT outbox_id FROM attempts WHERE sent_at IS NULL) "
            "AND (state <> 'sent' OR sent_at IS NULL)",
            (item,),
        )
        return frozenset(name for name, items in meanings.items() if item in items and items.isdisjoint(here))


def _removal_place(turn: int, position: int) -> str:
    return f"outbox.removal|{turn}|{position}"
