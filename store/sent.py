"""What Aldis has said in a conversation: sent messages, and statuses."""

from dataclasses import dataclass

from store.attempts import LATE_MS
from store.records import ConversationId, InboxId, OutboxId, TurnId
from store.repository import Repository


@dataclass(frozen=True, kw_only=True, slots=True)
class SentMessage:
    """A message of ours that is in the chat. Times are milliseconds since 1970, by which Signal names messages."""

    sent_at: int
    """The timestamp of the newest revision."""
    original_at: int
    """The timestamp of the first revision."""
    revision: int
    """How many edits lead to it; 0: none."""

    @classmethod
    def of(cls, sent_at: int | None, original_at: int, revision: int) -> "SentMessage | None":
        """Makes one of these columns; None if it is not known to be in the chat."""
        return None if sent_at is None else cls(sent_at=sent_at, original_at=original_at, revision=revision)


@dataclass(frozen=True, kw_only=True, slots=True)
class SaidSince:
    """What Aldis said between one of its messages and a message that came in."""

    turns: tuple[TurnId, ...]
    """The other turns that said something."""
    is_repeated: bool
    """Whether its own message was just being sent again when the other came in, so no one had read that yet."""


class SentMessages(Repository):
    """What Aldis has said in a conversation. Only reads; all methods run inside a transaction."""

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
        """Returns the turn of a message that we sent there, and the position of its newest edit; None if unknown."""
        rows = self.rows(
            "SELECT turn_id, (SELECT max(position) FROM outbox AS edits WHERE edits.turn_id = outbox.turn_id "
            "AND coalesce(outbox.original_at, outbox.sent_at) IN (edits.sent_at, edits.original_at)) "
            "FROM outbox WHERE sent_at = ? AND conversation_id = ?",
            (sent_at, conversation),
        )
        return rows[0] if rows else None

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
        """Returns the messages of a turn in order, without statuses and removals, each as far as it is in the chat."""
        rows = self.rows(
            "SELECT id, sent_at, coalesce(original_at, sent_at), revision FROM outbox "
            "WHERE turn_id = ? AND position >= 0 AND NOT removes ORDER BY position",
            (turn,),
        )
        return tuple((item, SentMessage.of(*message)) for item, *message in rows)


class Statuses(Repository):
    """Messages that show the progress of a long turn until the answer replaces them.

    The positions of statuses in a turn count down from -1; those of answers and questions count up from 0. Losing a
    status does no harm, so it never holds up anything else: one that still waits when it is replaced is not sent, and
    one in doubt is never sent again, but dead after a short time without a receipt.
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
        """Returns the message in the chat of this status or of the nearest one before it; None if there is none."""
        rows = self.rows(
            "SELECT replaces, sent_at, coalesce(original_at, sent_at), revision FROM outbox "
            "WHERE id = ? AND turn_id = ? AND position < 0",
            (status, turn),
        )
        for former, *message in rows:
            return SentMessage.of(*message) or (former and self.message(former, turn))
        return None

    def take_back(self, turn: TurnId) -> SentMessage | None:
        """Takes back the turn's status: it is not sent (again) and nothing replaces it. Returns what has to be removed.

        If it is being sent at this moment, `Outbox.mark_sent` will tell the sender to remove it.
        """
        item = self.current(turn)
        if item is None:
            return None
        message = self.message(item, turn)
        self.execute("DELETE FROM outbox WHERE id = ? AND state = 'waiting'", (item,))
        self.execute(
            "UPDATE outbox SET reply = NULL, settled_at = iif(state = 'unknown', attempted_at + ?, settled_at), "
            "state = iif(state = 'unknown', 'dead', state) WHERE id = ? AND state IN ('sending', 'unknown')",
            (LATE_MS, item),
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
