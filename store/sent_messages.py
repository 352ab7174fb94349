"""What Aldis has said in a conversation: which turn a sent message belongs to, and what was sent since."""

from store.records import ConversationId, InboxId, OutboxId, SaidSince, SentMessage, TurnId
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
        return tuple((OutboxId(item), _message(*message)) for item, *message in rows)


def _message(sent_at: int | None, original_at: int | None, revision: int) -> SentMessage | None:
    if sent_at is None:
        return None
    return SentMessage(sent_at=sent_at, original_at=original_at or sent_at, revision=revision)
