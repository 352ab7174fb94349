"""The outbox: outgoing messages, from the end of their turn until Signal has them.

             put            begin                    sent
    (nothing) --> waiting ---------> sending -------------------------> sent
                    ^  ^               |  |                              ^
                    |  '-- postpone ---'  |                              |
                    |      (not sent)     '-- end_attempt ---> unknown --' prove (a delivery receipt)
                    |                                            |
                    '------ due again after the grace -----------'       give_up: waiting, sending -> dead

A send whose answer never came is `unknown`, and is repeated only if no receipt proves it within a grace period
(`store.attempts`). Each conversation sends one item at a time, in the order in which they were put; those of a held one
wait without becoming due. An item that was taken back has no words any more and is not sent (again).

Queries for open items repeat the condition of the partial index, as in `store.inbox`.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from store.attempts import LATE, Attempts
from store.records import ConversationId, InboxId, OutboxId, SaidSince, SentMessage, TurnId, Waiting
from store.repository import AT_ONCE, moment, moment_if

_MAX_UNHEARD = timedelta(minutes=10)
"""How long after its start a send in doubt is repeated at the latest, even if no receipt could come."""

_FIRST = (
    "SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY conversation_id "
    "ORDER BY removes AND attempts > 0 AND state = 'waiting', id) AS place "
    "FROM outbox WHERE state IN ('waiting', 'sending', 'unknown')) WHERE place = 1"
)
"""The first open item of each conversation; a removal that was tried in vain lets the others pass."""

_REPLY = (
    "opened(outbox.conversation_id, 'outbox.reply|' || outbox.turn_id || '|' || outbox.position, outbox.reply) AS reply"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class OutboxItem:
    """One message to send."""

    id: OutboxId
    conversation: ConversationId
    turn: TurnId
    reply: bytes
    attempts: int
    """How many sends were started before."""
    doubts: int
    """How many of those may have gone out."""
    was_unknown: bool
    """Whether the last attempt may have gone out, so that sending it now repeats it."""
    edits: SentMessage | None = None
    """The message that it replaces; None: there is none, or it never went out."""
    is_status: bool = False
    status: SentMessage | None = None
    """The status in the chat, which has to go unless it is edited; None: there is none."""


class Outbox(Attempts):
    """The repository of outgoing messages.

    Statuses show the progress of a long turn until its answer replaces them, at positions from -1 down. Losing one does
    no harm: one that waits when it is replaced is not sent, and one in doubt is never sent again.
    """

    def put(
        self,
        conversation: ConversationId,
        turn: TurnId,
        position: int,
        reply: bytes,
        *,
        in_group: bool,
        now: datetime,
        replaces: OutboxId | None = None,
        removes: bool = False,
    ) -> None:
        """Keeps a reply, sealed, to be sent after all others in place of `replaces`, or a removal (`removes`)."""
        self.insert(
            "outbox",
            conversation_id=conversation,
            turn_id=turn,
            position=position,
            in_group=in_group,
            reply=self.keyring.seal(conversation, _place(turn, position), reply),
            state="waiting",
            due_at=now,
            replaces=replaces,
            removes=removes,
        )
        if replaces is not None:
            self.pass_over(replaces)
        self.notify("outbox")

    def put_status(
        self, conversation: ConversationId, turn: TurnId, reply: bytes, *, in_group: bool, now: datetime, max_edits: int
    ) -> bool:
        """Keeps a status in place of the one before; False if that is not sent, or only the answer may edit it."""
        if not self.exists("SELECT 1 FROM turns WHERE id = ? AND state = 'running'", (turn,)):
            return False
        replaces, state, revision = self.newest_status(turn) or (None, "sent", -1)
        if state != "sent" or revision + 1 >= max_edits:
            return False
        lowest = self.value("SELECT min(position) FROM outbox WHERE turn_id = ? AND position < 0", (turn,)) or 0
        self.put(conversation, turn, lowest - 1, reply, in_group=in_group, now=now, replaces=replaces)
        return True

    def next_position(self, turn: TurnId) -> int:
        """Returns the position of the turn's next item."""
        return self.value("SELECT coalesce(max(position) + 1, 0) FROM outbox WHERE turn_id = ?", (turn,))

    def unsent_parts(self, turn: TurnId) -> tuple[bytes, ...]:
        """Returns the parts of the turn's answer that were certainly not sent, in order."""
        query = f"SELECT {_REPLY} FROM outbox WHERE turn_id = ? AND state = 'waiting' ORDER BY position"  # noqa: S608
        return tuple(filter(None, self.column(query, (turn,))))

    def is_answer_open(self, turn: TurnId) -> bool:
        """Whether a part of the turn's answer waits, is being sent or is in doubt."""
        return self.exists(
            "SELECT 1 FROM outbox WHERE turn_id = ? AND state IN ('waiting', 'sending', 'unknown') AND position >= 0",
            (turn,),
        )

    def doubtful(self, conversation: ConversationId) -> tuple[tuple[OutboxId, bytes], ...]:
        """Returns what is being sent to the conversation or may have been, under a timestamp that is not known yet."""
        rows = self.rows(
            f"SELECT id, {_REPLY} FROM outbox INDEXED BY outbox_open "  # noqa: S608
            "WHERE conversation_id = ? AND state IN ('waiting', 'sending', 'unknown') "
            "AND state IN ('sending', 'unknown') AND reply IS NOT NULL ORDER BY id",
            (conversation,),
        )
        return tuple((item, reply) for item, reply in rows if reply is not None)

    def begin(self, *, now: datetime, limit: int, unheard: timedelta | None = None) -> tuple[OutboxItem, ...]:
        """Marks the items to send now as `sending` and returns them: the first open one of each conversation if due,
        statuses last, at most `limit`. `unheard`: while no receipt can come, items in doubt wait that long from now.
        """
        if unheard is not None:
            self.execute(
                "UPDATE outbox SET due_at = max(due_at, min(?1, coalesce(attempted_at, 0) + ?2)) WHERE state IN "
                "('waiting', 'sending', 'unknown') AND state = 'unknown' AND position >= 0 "
                "AND EXISTS (SELECT 1 FROM conversations WHERE id = outbox.conversation_id AND realm = ?3)",
                (now + unheard, _MAX_UNHEARD, self.realm),
            )
        given_up = self.column(
            "UPDATE outbox SET reply = NULL, state = 'dead', settled_at = max(?1, attempted_at + ?2) "
            "WHERE state IN ('waiting', 'sending', 'unknown') AND state = 'unknown' "
            "AND (position < 0 OR reply IS NULL) AND due_at <= ?1 RETURNING turn_id",
            (now, LATE),
        )
        self.forget_questions(given_up)
        rows = self.rows(
            f"SELECT outbox.id, outbox.conversation_id, outbox.turn_id, outbox.position, {_REPLY}, outbox.attempts, "  # noqa: S608  (our own query)
            "outbox.state, outbox.replaces, (SELECT count(*) FROM attempts WHERE outbox_id = outbox.id), "
            "former.sent_at, coalesce(former.original_at, former.sent_at), former.revision "
            "FROM outbox LEFT JOIN outbox AS former ON former.id = outbox.replaces "
            "WHERE outbox.id IN (" + _FIRST + ") AND outbox.state IN ('waiting', 'unknown') AND outbox.due_at <= ? "
            "AND EXISTS (SELECT 1 FROM conversations WHERE id = outbox.conversation_id AND realm = ?) "
            "AND outbox.conversation_id NOT IN (SELECT conversation_id FROM holds) "
            "ORDER BY outbox.position < 0, outbox.due_at, outbox.id LIMIT ?",
            (now, self.realm, limit),
        )
        begun = (self._begin_item(row, now) for row in rows)
        return tuple(item for item in begun if item is not None)

    def _begin_item(self, row: tuple[Any, ...], now: datetime) -> OutboxItem | None:
        """Marks the item of a row as `sending` and returns it, or a damaged one as dead."""
        item, conversation, turn, position, reply, attempts, state, replaces, doubts, *former = row
        if reply is None:
            self.settle(item, "dead", now)
            return None
        self.insert("attempts", outbox_id=item, begun_at=now)
        self.execute(
            "UPDATE outbox SET state = 'sending', attempted_at = ?, attempts = attempts + 1 WHERE id = ?",
            (now, item),
        )
        return OutboxItem(
            id=item,
            conversation=conversation,
            turn=turn,
            reply=reply,
            attempts=attempts,
            doubts=doubts,
            was_unknown=state == "unknown",
            edits=SentMessage.of(*former),
            is_status=position < 0,
            status=None if replaces is None else self.status_in_chat(replaces, turn),
        )

    def next_due_at(self) -> datetime | None:
        """Returns when `begin` will have something to send; None if nothing waits for a time."""
        return moment_if(
            self.value(
                "SELECT min(due_at) FROM outbox JOIN conversations ON conversations.id "  # noqa: S608  (our own query)
                "= outbox.conversation_id WHERE outbox.id IN (" + _FIRST + ") AND state <> 'sending' AND realm = ? "
                "AND outbox.conversation_id NOT IN (SELECT conversation_id FROM holds)",
                (self.realm,),
            )
        )

    def mark_sent(self, item: OutboxId, sent_at: int, *, now: datetime, edited: SentMessage | None = None) -> bool:
        """Notes that an item went out, as an edit of `edited` if set; returns whether, taken back, it has to go."""
        is_taken_back = "SELECT position < 0 AND state = 'sending' AND reply IS NULL FROM outbox WHERE id = ?"
        has_to_go = bool(self.value(is_taken_back, (item,)))
        # Whatever a receipt took its name for.
        last = "SELECT max(id) FROM attempts WHERE outbox_id = ?"
        self.execute(f"UPDATE attempts SET sent_at = ? WHERE id = ({last})", (sent_at, item))  # noqa: S608  (a literal)
        if edited is not None:
            self.execute(
                "UPDATE outbox SET revision = ?, original_at = ? WHERE id = ?",
                (edited.revision + 1, edited.original_at, item),
            )
        # Also if a receipt has proved it before, as the bridge knows its name better.
        turns = self.column(
            "UPDATE outbox SET state = 'sent', sent_at = ?, settled_at = ?, reply = NULL "
            "WHERE id = ? AND state <> 'dead' RETURNING turn_id",
            (sent_at, now, item),
        )
        self.forget_questions(turns)
        self.reconcile(now=now)
        return has_to_go

    def postpone(self, item: OutboxId, *, due_at: datetime, now: datetime, is_in_doubt: bool = False) -> None:
        """Schedules another attempt. `is_in_doubt`: it may have gone out, but twice does no harm, as for a removal."""
        if not is_in_doubt:
            self.drop_last(item)
        self.end_attempt(item, "waiting", due_at=due_at)
        if self.exists("SELECT 1 FROM outbox WHERE replaces = ?", (item,)):
            self.pass_over(item)
        self.reconcile(now=now)

    def rewrite(self, item: OutboxId, reply: bytes, *, now: datetime) -> bool:
        """Changes the words of an item that did not go out, and makes it due; returns False if it was taken back."""
        rows = self.rows(
            "SELECT conversation_id, turn_id, position FROM outbox "
            "WHERE id = ? AND state = 'sending' AND reply IS NOT NULL",
            (item,),
        )
        for conversation, *place in rows:
            sealed = self.keyring.seal(conversation, _place(*place), reply)
            self.execute("UPDATE outbox SET reply = ? WHERE id = ?", (sealed, item))
        self.postpone(item, due_at=now, now=now)
        return bool(rows)

    def end_attempt(self, item: OutboxId, state: Literal["waiting", "unknown"], *, due_at: datetime) -> None:
        """Ends the attempt: its item is due again at `due_at`, an unknown one unless a receipt proves it before."""
        self.execute(
            "UPDATE outbox SET state = iif(reply IS NULL, 'dead', ?), due_at = ?, "
            "settled_at = iif(reply IS NULL, attempted_at + ?, NULL) WHERE id = ? AND state = 'sending'",
            (state, due_at, LATE, item),
        )

    def mark_all_unknown(self, *, now: datetime, grace: timedelta, status_grace: timedelta = timedelta(0)) -> int:
        """At start: marks every interrupted send as unknown, or as dead if it was taken back; returns how many.

        All in doubt wait anew for receipts: for `grace`, twice as long with each attempt, four times at most; a status
        for `status_grace`.
        """
        doubtful = (
            "state IN ('waiting', 'sending', 'unknown') AND state IN ('sending', 'unknown') "
            "AND EXISTS (SELECT 1 FROM conversations WHERE id = outbox.conversation_id AND realm = ?)"
        )
        wait = "min((SELECT count(*) FROM attempts WHERE outbox_id = outbox.id) - 1, 4)"
        self.execute(
            f"UPDATE outbox SET due_at = ? + iif(position < 0, ?, ? << {wait}) WHERE {doubtful}",  # noqa: S608
            (now, min(grace, status_grace), grace, self.realm),
        )
        self.execute("UPDATE reactions SET ended_at = ? WHERE ended_at IS NULL", (now + grace,))
        return self.execute(
            "UPDATE outbox SET state = iif(reply IS NULL, 'dead', 'unknown'), "  # noqa: S608
            f"settled_at = iif(reply IS NULL, ?, NULL) WHERE state = 'sending' AND {doubtful}",
            (now + grace, self.realm),
        ).rowcount

    def give_up(self, item: OutboxId, *, now: datetime, doubted_until: datetime | None = None) -> None:
        """Deletes an item's words and marks it as dead: now, or at `doubted_until` if no receipt proves it by then."""
        if doubted_until is not None:
            self.execute(
                "UPDATE outbox SET reply = NULL, state = 'unknown', due_at = ? WHERE id = ? AND state = 'sending'",
                (doubted_until, item),
            )
            return
        self.drop_last(item)
        self.settle(item, "dead", now)
        self.reconcile(now=now)

    def conversation_of(self, item: OutboxId) -> ConversationId | None:
        """Returns the present conversation of an item, whose former one may be forgotten; None: it is gone."""
        return self.value("SELECT conversation_id FROM outbox WHERE id = ?", (item,))

    def wake(self, *, now: datetime) -> None:
        """Makes all items due that wait for another attempt, as the obstacle is gone."""
        self.execute(
            "UPDATE outbox SET due_at = min(due_at, ?) "
            "WHERE state IN ('waiting', 'sending', 'unknown') AND state = 'waiting'",
            (now,),
        )
        self.notify("outbox")

    def owe_notice(self, item: OutboxId) -> None:
        """Notes that people have to hear of the item, if it is dead, once something goes out there."""
        self.execute("UPDATE outbox SET unsent = 'owed' WHERE id = ?", (item,))

    def begin_notice(self, item: OutboxId, turn: TurnId) -> bool:
        """Notes that people hear of the item; returns whether it is the first of its turn."""
        is_first = not self.exists("SELECT 1 FROM outbox WHERE turn_id = ? AND unsent = 'told'", (turn,))
        self.execute("UPDATE outbox SET unsent = 'told' WHERE id = ?", (item,))
        return is_first

    def take_owed(self, item: OutboxId) -> bool:
        """Returns whether people in the item's conversation are owed a notice, and clears that."""
        cleared = self.execute(
            "UPDATE outbox SET unsent = 'told' WHERE unsent = 'owed' AND state = 'dead' "
            "AND conversation_id = (SELECT conversation_id FROM outbox WHERE id = ?)",
            (item,),
        )
        return cleared.rowcount > 0

    def prune(self, *, before: datetime) -> None:
        """Deletes older receipts, and a batch of items settled before `before`."""
        self.execute("DELETE FROM receipts WHERE target < ?", (before,))
        batch = "SELECT id FROM outbox WHERE settled_at < ? LIMIT ?"
        self.execute(f"DELETE FROM outbox WHERE id IN ({batch})", (before, AT_ONCE))  # noqa: S608  (a literal)

    def backlog(self) -> Waiting:
        """Counts the items of the realm; the held ones are not the oldest."""
        not_held = "conversation_id NOT IN (SELECT conversation_id FROM holds)"
        return self.queue(
            "outbox", "state IN ('waiting', 'sending', 'unknown')", f"min(due_at) FILTER (WHERE {not_held})"
        )

    # What was said

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
        """Returns what we said from a turn's item at `position` to an incoming message; None: none had gone out."""
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
        """Returns the messages of a turn in order, without statuses and removals, each as it is in the chat."""
        rows = self.rows(
            "SELECT id, sent_at, coalesce(original_at, sent_at), revision FROM outbox "
            "WHERE turn_id = ? AND position >= 0 AND NOT removes ORDER BY position",
            (turn,),
        )
        return tuple((item, SentMessage.of(*message)) for item, *message in rows)

    # Held conversations, whose items wait until a new safety number is trusted

    def hold(self, conversation: ConversationId, *, now: datetime) -> None:
        """Holds the conversation."""
        self.put_row("holds", conversation_id=conversation, held_at=now)
        self.notify("identities")

    def holds(self) -> dict[ConversationId, datetime]:
        """Returns the held conversations, and since when each is held."""
        return {conversation: moment(at) for conversation, at in self.rows("SELECT * FROM holds")}

    def release(self, conversation: ConversationId) -> None:
        """Releases a held conversation, so that its items are sent."""
        self.execute("DELETE FROM holds WHERE conversation_id = ?", (conversation,))
        self.notify("outbox")

    # Statuses

    def newest_status(self, turn: TurnId) -> tuple[OutboxId, str, int] | None:
        """Returns the turn's newest status, its state and its number of edits; None if something replaced it."""
        rows = self.rows(
            "SELECT id, state, revision FROM outbox WHERE turn_id = ? AND position < 0 ORDER BY position", (turn,)
        )
        if not rows or self.exists("SELECT 1 FROM outbox WHERE replaces = ? AND state <> 'dead'", (rows[0][0],)):
            return None
        return rows[0]

    def current_status(self, turn: TurnId) -> OutboxId | None:
        """Returns the status that the turn's next message replaces; None if there is none."""
        newest = self.newest_status(turn)
        return None if newest is None else newest[0]

    def turns_with_status(self, conversation: ConversationId) -> tuple[TurnId, ...]:
        """Returns the turns of the conversation with a status that nothing has replaced yet."""
        shown = "SELECT DISTINCT turn_id FROM outbox WHERE conversation_id = ? AND position < 0"
        return tuple(turn for turn in self.column(shown, (conversation,)) if self.current_status(turn) is not None)

    def status_in_chat(self, status: OutboxId, turn: TurnId) -> SentMessage | None:
        """Returns the message in the chat of this status or of the nearest one before it; None if there is none."""
        rows = self.rows(
            "SELECT replaces, sent_at, coalesce(original_at, sent_at), revision FROM outbox "
            "WHERE id = ? AND turn_id = ? AND position < 0",
            (status, turn),
        )
        for former, *message in rows:
            return SentMessage.of(*message) or (former and self.status_in_chat(former, turn))
        return None

    def take_status_back(self, turn: TurnId) -> SentMessage | None:
        """Takes back the turn's status, so that it is not sent (again); returns what has to be removed."""
        item = self.current_status(turn)
        if item is None:
            return None
        message = self.status_in_chat(item, turn)
        self.execute("DELETE FROM outbox WHERE id = ? AND state = 'waiting'", (item,))
        self.execute(
            "UPDATE outbox SET reply = NULL, settled_at = iif(state = 'unknown', attempted_at + ?, settled_at), "
            "state = iif(state = 'unknown', 'dead', state) WHERE id = ? AND state IN ('sending', 'unknown')",
            (LATE, item),
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


def _place(turn: TurnId, position: int) -> str:
    return f"outbox.reply|{turn}|{position}"
