"""What Aldis has said in a conversation: sent messages, statuses, and copies of what was sent twice."""

import json
import logging
from collections.abc import Collection, Mapping

from store.errors import Damaged
from store.records import ConversationId, Copy, InboxId, OutboxId, SaidSince, SentMessage, TurnId
from store.repository import Repository


class SentMessages(Repository):
    """The repository of sent messages, which only reads. All methods run inside a transaction."""

    def turn_of(self, conversation: ConversationId, sent_at: int) -> TurnId | None:
        """Returns the turn of a message that we sent to this conversation; None if it is unknown."""
        return self.value(
            "SELECT turn_id FROM outbox WHERE sent_at = ? AND conversation_id = ?", (sent_at, conversation)
        )

    def is_passed(self, conversation: ConversationId, turn: TurnId, sent_at: int) -> bool:
        """Whether messages wait behind this one, or other turns have said something since."""
        return self.exists(
            "SELECT 1 FROM inbox INDEXED BY inbox_open WHERE conversation_id = ?1 AND state IN ('waiting', 'claimed') "
            "AND state = 'waiting' AND NOT urgent UNION ALL "
            "SELECT 1 FROM outbox WHERE conversation_id = ?1 AND turn_id <> ?2 AND sent_at > ?3",
            (conversation, turn, sent_at),
        )

    def place_of(self, conversation: ConversationId, sent_at: int) -> tuple[TurnId, int] | None:
        """Returns the turn of a message that we sent to this conversation, and its position; None if it is unknown.

        Of items that edit one message, the position is that of the newest.
        """
        rows = self.rows(
            "SELECT turn_id, coalesce(original_at, sent_at) FROM outbox WHERE sent_at = ? AND conversation_id = ?",
            (sent_at, conversation),
        )
        if not rows:
            return None
        newest = "SELECT max(position) FROM outbox WHERE turn_id = ?1 AND ?2 IN (sent_at, original_at)"
        return rows[0][0], self.value(newest, rows[0])

    def said_since(self, conversation: ConversationId, turn: TurnId, position: int, item: InboxId) -> SaidSince | None:
        """Returns what we said between a turn's items from `position` on and an incoming message.

        None: as far as is known, none of those items had gone out when the message came.
        """
        received_at = self.value("SELECT received_at FROM inbox WHERE id = ?", (item,))
        rows = self.rows(
            "SELECT id, attempted_at, state IN ('sent', 'unknown') FROM outbox "
            "WHERE turn_id = ? AND position >= ? AND NOT removes AND state <> 'dead'",
            (turn, position),
        )
        out = [(at, row) for row, at, is_out in rows if is_out and at < received_at]
        if not out:
            return None
        asked_at, row = max(out)
        others = self.column(
            "SELECT DISTINCT turn_id FROM outbox WHERE conversation_id = ? AND turn_id <> ? AND NOT removes "
            "AND attempted_at BETWEEN ? AND ? AND id > ?",
            (conversation, turn, asked_at, received_at, row),
        )
        return SaidSince(turns=others, is_repeated=len(out) < len(rows))

    def of_turn(self, turn: TurnId) -> tuple[tuple[OutboxId, SentMessage | None], ...]:
        """Returns the items of a turn in order, each with its message in the chat; None if that is not known.

        Leaves out statuses and removals.
        """
        rows = self.rows(
            "SELECT id, sent_at, original_at, revision FROM outbox WHERE turn_id = ? AND position >= 0 AND NOT removes "
            "ORDER BY position",
            (turn,),
        )
        messages = (
            at and SentMessage(sent_at=at, original_at=first or at, revision=number) for _, at, first, number in rows
        )
        return tuple((OutboxId(item), message) for (item, *_), message in zip(rows, messages, strict=True))


class Statuses(Repository):
    """Statuses: messages that show the progress of a long turn until the answer replaces them.

    The positions of statuses in a turn count down from -1; those of answers and questions count up from 0. Losing a
    status does no harm, so it never holds up anything else: one that still waits when it is replaced is not sent at
    all, and one in doubt is never sent again. After a short time without a receipt it is dead, and the next message
    is a new one; if a receipt proves it, it can be edited like any other.
    """

    def newest(self, turn: TurnId) -> tuple[OutboxId, str, int] | None:
        """Returns the turn's newest status, its state and its number of edits; None if something replaced it."""
        rows = self.rows(
            "SELECT id, state, revision FROM outbox WHERE turn_id = ? AND position < 0 ORDER BY position", (turn,)
        )
        if not rows or self.exists("SELECT 1 FROM outbox WHERE replaces = ? AND state <> 'dead'", (rows[0][0],)):
            return None
        return rows[0]

    def current(self, turn: TurnId) -> OutboxId | None:
        """Returns the status that the turn's next message replaces; None if there is none."""
        newest = self.newest(turn)
        return None if newest is None else newest[0]

    def turns(self, conversation: ConversationId) -> tuple[TurnId, ...]:
        """Returns the turns of the conversation with a status that nothing has replaced yet."""
        turns = self.column(
            "SELECT DISTINCT turn_id FROM outbox WHERE conversation_id = ? AND position < 0", (conversation,)
        )
        return tuple(turn for turn in turns if self.current(turn) is not None)

    def message(self, status: OutboxId, turn: TurnId) -> SentMessage | None:
        """Returns the message in the chat of this status or the nearest one before it; None if there is none.

        None as well if the item is not a status.
        """
        rows = self.rows(
            "SELECT sent_at, coalesce(original_at, sent_at), revision, replaces FROM outbox "
            "WHERE id = ? AND turn_id = ? AND position < 0",
            (status, turn),
        )
        if not rows:
            return None
        [(sent_at, original_at, revision, former)] = rows
        if sent_at is None:
            return None if former is None else self.message(former, turn)
        return SentMessage(sent_at=sent_at, original_at=original_at, revision=revision)

    def take_back(self, turn: TurnId) -> SentMessage | None:
        """Takes back the turn's status: it is not sent (again) and nothing replaces it. Returns what has to be removed.

        If it is being sent at this moment, `Outbox.mark_sent` will tell the sender to remove it.
        """
        item = self.current(turn)
        if item is None:
            return None
        message = self.message(item, turn)
        self.execute("DELETE FROM outbox WHERE id = ? AND state = 'waiting'", (item,))
        self.execute("UPDATE outbox SET reply = NULL WHERE id = ? AND state = 'sending'", (item,))
        self.execute(
            "UPDATE outbox SET reply = NULL, state = 'dead', settled_at = due_at WHERE id = ? AND state = 'unknown'",
            (item,),
        )
        return message

    def pass_over(self, item: OutboxId) -> None:
        """Deletes a waiting status, which was certainly not sent; its replacement replaces its predecessor."""
        self.execute(
            "UPDATE outbox SET replaces = (SELECT replaces FROM outbox WHERE id = ?1) WHERE replaces = ?1 "
            "AND EXISTS (SELECT 1 FROM outbox WHERE id = ?1 AND position < 0 AND state = 'waiting')",
            (item,),
        )
        self.execute("DELETE FROM outbox WHERE id = ? AND position < 0 AND state = 'waiting'", (item,))


_log = logging.getLogger(__name__)


class Copies(Repository):
    """Copies: what is in a chat twice because its first send seemed to have failed.

    Once one of the sends of a repeated item is known, every other received name that can mean nothing else in that
    chat is a copy, and is removed as soon as that is known (`take`). The same holds for a status that was given up
    in doubt and turns out to be beside the answer.
    """

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
