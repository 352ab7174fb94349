"""The outbox: what is to be said, from the end of its turn until Signal has it.

             put            begin              sent
    (nothing) --> waiting ---------> sending -------------------> sent
                    ^  ^               |  |                        ^
                    |  '-- postpone ---'  |                        |
                    |      (not sent)     '-- doubt --> unknown ---' prove (a delivery receipt)
                    |                                     |
                    '------ due again after the grace ----'        give_up: waiting, sending -> dead

Signal has no idempotency key. `unknown` is a send whose answer never came; it is sent again only when no receipt has
proved it within a grace period. One item of a conversation is under way at a time, in the order in which they were put.
A receipt names a timestamp and a person, but no conversation: it can be for a direct message or for one to a group, and
for the first of two attempts as well as for the second. So it proves a send only where no other can be meant; until
that shows it is kept. An answer that comes twice is a nuisance, one that is taken for sent and never went out is lost.
An item may take the place of an earlier one (`replaces`): whether that went out, and under which timestamp, is known
when it is its turn to be sent. What was taken back has no words any more and is not sent (again).
A status says what is going on in a turn that takes long, until the answer takes its place. Its positions count down
from -1, those of answers and questions up from 0. Nothing is lost with a status, so none holds anything else up: one
that still waits when something takes its place is not sent at all, and one in doubt is never sent again. It is given a
short time for its receipt: proved, it can be edited like any other; else it is dead, and what follows is a new message.
Queries for open items say so in the words of their partial index (`state IN ('waiting', 'sending', 'unknown')`) before
they say which of them: SQLite would not use it otherwise, and read every settled item each time.
"""

import logging
from datetime import datetime, timedelta

from store.errors import Damaged
from store.records import ConversationId, OutboxId, OutboxItem, Sent, TurnId, Waiting
from store.shelf import Shelf, millis, moment

_log = logging.getLogger(__name__)

_CLOCK_MS = 1000
"""By how much the clock of the bridge, which names the messages, may be behind ours."""


class Outbox(Shelf):
    """The shelf of departures. All methods run inside a transaction."""

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
        """Keep a reply, sealed, to be sent after all others of its conversation, in the place of `replaces` if set.

        `removes`: it takes an earlier message out of the chat, and is none itself.
        """
        sealed = self.keyring.seal(conversation, _place(turn, position), reply)
        self.execute(
            "INSERT INTO outbox (conversation_id, turn_id, position, in_group, reply, state, due_at, replaces, "
            "removes) VALUES (?, ?, ?, ?, ?, 'waiting', ?, ?, ?)",
            (conversation, turn, position, in_group, sealed, millis(now), replaces, removes),
        )
        if replaces is not None:
            self._pass_over(replaces)
        self.stir("outbox")

    def put_status(
        self,
        conversation: ConversationId,
        turn: TurnId,
        reply: bytes,
        *,
        in_group: bool,
        now: datetime,
        most_edits: int,
    ) -> bool:
        """Keep what a running turn says of itself, in the place of what it said before; gives whether it was kept.

        Not kept: the turn does not run any more, the former status has not arrived (yet), or as many edits lead to it
        as there may be, one less than `most_edits`: the last is for the answer.
        """
        if not self.rows("SELECT 1 FROM turns WHERE id = ? AND state = 'running'", (turn,)):
            return False
        replaces = None
        if (newest := self._newest_status(turn)) is not None:
            replaces, state, revision = newest
            if state != "sent" or revision + 1 >= most_edits:
                return False
        [(position,)] = self.rows(
            "SELECT min(0, coalesce(min(position), 0)) - 1 FROM outbox WHERE turn_id = ?", (turn,)
        )
        self.put(conversation, turn, position, reply, in_group=in_group, now=now, replaces=replaces)
        return True

    def status(self, turn: TurnId) -> OutboxId | None:
        """The status that what the turn says next takes the place of; None where there is none."""
        newest = self._newest_status(turn)
        return None if newest is None else newest[0]

    def take_status_back(self, turn: TurnId) -> Sent | None:
        """Nothing will take the place of the turn's status: it is not sent (again). Gives what has to be removed.

        One that is just being sent has no words any more: whoever sends it learns that it has to go (`sent`).
        """
        newest = self._newest_status(turn)
        if newest is None:
            return None
        item, standing = newest[0], self._standing(newest[0], turn)
        self.execute("DELETE FROM outbox WHERE id = ? AND state = 'waiting'", (item,))
        self.execute("UPDATE outbox SET reply = NULL WHERE id = ? AND state = 'sending'", (item,))
        self.execute(
            "UPDATE outbox SET reply = NULL, state = 'dead', settled_at = due_at WHERE id = ? AND state = 'unknown'",
            (item,),
        )
        return standing

    def turns_with_status(self, conversation: ConversationId) -> tuple[TurnId, ...]:
        """The turns of the conversation that have said what is going on, and nothing in its place yet."""
        rows = self.rows(
            "SELECT DISTINCT turn_id FROM outbox WHERE conversation_id = ? AND position < 0", (conversation,)
        )
        return tuple(TurnId(turn) for (turn,) in rows if self.status(TurnId(turn)) is not None)

    def next_position(self, turn: TurnId) -> int:
        """Where the next item of the turn stands."""
        [(position,)] = self.rows("SELECT coalesce(max(position) + 1, 0) FROM outbox WHERE turn_id = ?", (turn,))
        return position

    def turn_of(self, conversation: ConversationId, sent_at: int) -> TurnId | None:
        """The turn that a message of ours in this conversation belongs to; None where it is not known."""
        rows = self.rows(
            "SELECT turn_id FROM outbox WHERE sent_at = ? AND conversation_id = ?", (sent_at, conversation)
        )
        return TurnId(rows[0][0]) if rows else None

    def of_turn(self, turn: TurnId) -> tuple[tuple[OutboxId, Sent | None], ...]:
        """The items of a turn in order, each with what it is in the chat; None where it is not known to be there.

        Without what was only a status, and without what removed something.
        """
        rows = self.rows(
            "SELECT id, sent_at, original_at, revision FROM outbox WHERE turn_id = ? AND position >= 0 AND NOT removes "
            "ORDER BY position",
            (turn,),
        )
        return tuple((OutboxId(row[0]), _in_chat(*row[1:])) for row in rows)

    def unsent(self, conversation: ConversationId, turn: TurnId) -> tuple[bytes, ...]:
        """What of the turn's answer has surely not been sent, in order."""
        rows = self.rows(
            "SELECT position, reply FROM outbox WHERE turn_id = ? AND state = 'waiting' ORDER BY position", (turn,)
        )
        return tuple(self.keyring.open(conversation, _place(turn, position), reply) for position, reply in rows)

    def is_ours(self, conversation: ConversationId, sent_at: int) -> bool:
        """Whether something went out to the conversation under this time, in whichever of its attempts."""
        return bool(
            self.rows(
                "SELECT 1 FROM attempts JOIN outbox ON outbox.id = outbox_id "
                "WHERE attempts.sent_at = ? AND conversation_id = ?",
                (sent_at, conversation),
            )
        )

    def doubtful(self, conversation: ConversationId) -> tuple[bytes, ...]:
        """What is being sent to the conversation or may have been: nobody knows yet under which time."""
        rows = self.rows(
            "SELECT turn_id, position, reply FROM outbox "
            "WHERE conversation_id = ? AND state IN ('waiting', 'sending', 'unknown') "
            "AND state IN ('sending', 'unknown') AND reply IS NOT NULL ORDER BY id",
            (conversation,),
        )
        return tuple(
            self.keyring.open(conversation, _place(TurnId(turn), position), reply) for turn, position, reply in rows
        )

    def begin(self, *, now: datetime, most: int) -> tuple[OutboxItem, ...]:
        """The items to send now, at most so many: in each conversation the first that is open, if it is due.

        Statuses come after all else. What is given is `sending` then. Receipts are listened for meanwhile; that is
        written down.
        """
        if self.rows("SELECT 1 FROM outbox WHERE state IN ('waiting', 'sending', 'unknown') LIMIT 1"):
            self._listens(millis(now))
        self.execute(
            "UPDATE outbox SET reply = NULL, state = 'dead', settled_at = ?1 "
            "WHERE state IN ('waiting', 'sending', 'unknown') AND state = 'unknown' AND position < 0 AND due_at <= ?1",
            (millis(now),),
        )
        rows = self.rows(
            "SELECT id, conversation_id, turn_id, position, reply, attempts, state, replaces FROM outbox WHERE id IN ("
            "SELECT min(id) FROM outbox WHERE state IN ('waiting', 'sending', 'unknown') GROUP BY conversation_id"
            ") AND state IN ('waiting', 'unknown') AND due_at <= ? "
            "AND EXISTS (SELECT 1 FROM conversations WHERE id = outbox.conversation_id AND realm = ?) "
            "ORDER BY position < 0, due_at, id LIMIT ?",
            (millis(now), self.realm, most),
        )
        return tuple(item for row in rows if (item := self._begun(*row, now=now)) is not None)

    def next_due_at(self) -> datetime | None:
        """When `begin` will have something at the earliest; None when nothing waits for a time."""
        [(due_at,)] = self.rows(
            "SELECT min(due_at) FROM outbox JOIN conversations ON conversations.id = outbox.conversation_id "
            "WHERE outbox.id IN ("
            "SELECT min(id) FROM outbox WHERE state IN ('waiting', 'sending', 'unknown') GROUP BY conversation_id"
            ") AND state <> 'sending' AND realm = ?",
            (self.realm,),
        )
        return None if due_at is None else moment(due_at)

    def sent(self, item: OutboxId, sent_at: int, *, now: datetime, edited: Sent | None = None) -> bool:
        """It went out under this timestamp, as an edit of `edited` if set; its words go.

        Gives whether it has to be removed: a status that was taken back while it was being sent.
        """
        # One that a receipt has proved before the bridge answered has no words any more either, and stays.
        rows = self.rows(
            "SELECT 1 FROM outbox WHERE id = ? AND position < 0 AND state = 'sending' AND reply IS NULL", (item,)
        )
        self.execute(
            "UPDATE attempts SET sent_at = ?1 WHERE id = (SELECT max(id) FROM attempts WHERE outbox_id = ?2)",
            (sent_at, item),
        )
        if edited is not None:
            self.execute(
                "UPDATE outbox SET revision = ?, original_at = ? WHERE id = ?",
                (edited.revision + 1, edited.original_at, item),
            )
        self._settle(item, "sent", sent_at, now)
        self._reconcile()
        return bool(rows)

    def postpone(self, item: OutboxId, *, due_at: datetime) -> None:
        """It surely did not go out: try again then, unless it was taken back meanwhile."""
        self._drop_attempt(item)
        self._end_attempt(item, "waiting", due_at)
        if self.rows("SELECT 1 FROM outbox WHERE replaces = ?", (item,)):
            self._pass_over(item)
        self._reconcile()

    def rewrite(self, item: OutboxId, reply: bytes, *, now: datetime) -> bool:
        """It surely did not go out, and is due at once in other words; returns False where it was taken back."""
        rows = self.rows(
            "SELECT conversation_id, turn_id, position FROM outbox "
            "WHERE id = ? AND state = 'sending' AND reply IS NOT NULL",
            (item,),
        )
        for conversation, turn, position in rows:
            sealed = self.keyring.seal(ConversationId(conversation), _place(TurnId(turn), position), reply)
            self.execute("UPDATE outbox SET reply = ? WHERE id = ?", (sealed, item))
        self.postpone(item, due_at=now)
        return bool(rows)

    def doubt(self, item: OutboxId, *, due_at: datetime) -> None:
        """Nobody knows whether it went out: unless a receipt proves it, it is due again then."""
        self._end_attempt(item, "unknown", due_at)

    def doubt_all(self, *, now: datetime, grace: timedelta, status_grace: timedelta = timedelta(0)) -> int:
        """At start: every send that was under way is unknown, or over where it was taken back. Gives how many.

        What was unknown before waits longer by the time in which nobody listened, for its receipt may have come to
        Signal's server meanwhile; never longer than `grace` from now. The time of earlier lives counts, however short
        they were: a process that dies again and again must get its sends done all the same. A status never waits longer
        than `status_grace`.
        """
        at, until, until_status = millis(now), millis(now + grace), millis(now + min(grace, status_grace))
        [(deaf,)] = self.rows(
            "SELECT coalesce(?1 - (SELECT until FROM listening WHERE realm = ?2), ?3)", (at, self.realm, until - at)
        )
        self.execute(
            "UPDATE outbox SET due_at = min(max(due_at + ?1, ?2), CASE WHEN position < 0 THEN ?5 ELSE ?3 END) "
            "WHERE state IN ('waiting', 'sending', 'unknown') AND state = 'unknown' "
            "AND EXISTS (SELECT 1 FROM conversations WHERE id = outbox.conversation_id AND realm = ?4)",
            (max(deaf, 0), at, until, self.realm, until_status),
        )
        self._listens(at)
        return self.execute(
            "UPDATE outbox SET due_at = CASE WHEN position < 0 THEN ?3 ELSE ?1 END, "
            "state = CASE WHEN reply IS NULL THEN 'dead' ELSE 'unknown' END, "
            "settled_at = CASE WHEN reply IS NULL THEN ?1 END "
            "WHERE state IN ('waiting', 'sending', 'unknown') AND state = 'sending' "
            "AND EXISTS (SELECT 1 FROM conversations WHERE id = outbox.conversation_id AND realm = ?2)",
            (until, self.realm, until_status),
        ).rowcount

    def give_up(self, item: OutboxId, *, now: datetime, may_be_out: bool = False) -> None:
        """It is dead, its words go: it will never go out, or, if it may be out, nobody will ever know."""
        if not may_be_out:
            self._drop_attempt(item)
        self._settle(item, "dead", None, now)
        self._reconcile()

    def prove(self, address: str, sent_at: int, *, window: timedelta) -> bool:
        """A phone of whoever has the direct chat at `address` has received a message of ours of this timestamp.

        If nobody knows the timestamp, and one send alone can have got it, one that was begun not longer than `window`
        before, that send is proved. Gives whether one was.
        """
        if self.rows("SELECT 1 FROM attempts WHERE sent_at = ?", (sent_at,)):
            return False
        self.execute(
            "INSERT INTO receipts (target, person, window_ms) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            (sent_at, self.chat_handle(address), int(window.total_seconds() * 1000)),
        )
        return sent_at in self._reconcile()

    def _reconcile(self) -> set[int]:
        """Let the receipts that are kept prove what they can by now; gives the timestamps that they proved."""
        proved: set[int] = set()
        for target, person, window_ms in self.rows("SELECT target, person, window_ms FROM receipts ORDER BY target"):
            owners = self._owners(target, person, window_ms)
            items = {item for _, item in owners}
            if len(items) == 1:  # perhaps twice tried: then the later attempt is the likelier one
                self.execute("UPDATE attempts SET sent_at = ? WHERE id = ?", (target, owners[-1][0]))
                self._settle(items.pop(), "sent", target, moment(target))
                proved.add(target)
            if len(owners) == 0 or target in proved:
                self.execute("DELETE FROM receipts WHERE target = ?", (target,))
        if proved:
            self.stir("outbox")
            return proved | self._reconcile()  # what is known now may leave one owner to another receipt
        return proved

    def _owners(self, target: int, person: bytes, window_ms: int) -> list[tuple[int, int]]:
        """The attempts that a receipt can mean, each with its item; none when one is known to have this name."""
        if self.rows("SELECT 1 FROM attempts WHERE sent_at = ?", (target,)):
            return []
        rows = self.rows(
            "SELECT attempts.id, outbox.id FROM attempts JOIN outbox ON outbox.id = outbox_id "
            "JOIN conversations ON conversations.id = outbox.conversation_id "
            "WHERE attempts.sent_at IS NULL AND (conversations.handle = ?1 OR in_group) "
            "AND begun_at BETWEEN ?2 - ?3 AND ?2 + ?4 ORDER BY attempts.id",
            (person, target, window_ms, _CLOCK_MS),
        )
        return [(attempt, item) for attempt, item in rows]

    def conversation_of(self, item: OutboxId) -> ConversationId | None:
        """The conversation that an item is in by now: its own may have been forgotten. None when it is not there."""
        rows = self.rows("SELECT conversation_id FROM outbox WHERE id = ?", (item,))
        return ConversationId(rows[0][0]) if rows else None

    def prune(self, *, before: datetime) -> int:
        """Forget items that were settled before then, and receipts from before; gives how many items."""
        self.execute("DELETE FROM receipts WHERE target < ?", (millis(before),))
        return self.execute("DELETE FROM outbox WHERE settled_at < ?", (millis(before),)).rowcount

    def backlog(self) -> Waiting:
        """How much is under way, over all conversations of the realm."""
        [(items, oldest)] = self.rows(
            "SELECT count(*), min(due_at) FROM outbox JOIN conversations ON conversations.id = conversation_id "
            "WHERE state IN ('waiting', 'sending', 'unknown') AND realm = ?",
            (self.realm,),
        )
        [(dead,)] = self.rows(
            "SELECT count(*) FROM outbox JOIN conversations ON conversations.id = conversation_id "
            "WHERE state = 'dead' AND realm = ?",
            (self.realm,),
        )
        return Waiting(items=items, oldest_at=None if oldest is None else moment(oldest), dead=dead)

    def _drop_attempt(self, item: OutboxId) -> None:
        """The last attempt surely did not go out: no receipt can mean it."""
        self.execute("DELETE FROM attempts WHERE id = (SELECT max(id) FROM attempts WHERE outbox_id = ?)", (item,))

    def _listens(self, at: int) -> None:
        self.execute(
            "INSERT INTO listening (realm, until) VALUES (?, ?) ON CONFLICT DO UPDATE SET until = excluded.until",
            (self.realm, at),
        )

    def _begun(
        self, item: int, conversation: int, turn: int, position: int, reply: bytes, attempts: int, state: str,
        replaces: int | None, *, now: datetime,
    ) -> OutboxItem | None:  # fmt: skip
        """The item of a row, `sending` from now; None when it is damaged: it is dead then, and stops no other."""
        try:
            opened = self.keyring.open(ConversationId(conversation), _place(TurnId(turn), position), reply)
        except Damaged as error:
            _log.error("reply %d of the outbox is lost: %s", item, error)
            self._settle(item, "dead", None, now)
            return None
        self.execute(
            "UPDATE outbox SET state = 'sending', attempted_at = ?, attempts = attempts + 1 WHERE id = ?",
            (millis(now), item),
        )
        self.execute("INSERT INTO attempts (outbox_id, begun_at) VALUES (?, ?)", (item, millis(now)))
        return OutboxItem(
            id=OutboxId(item),
            conversation=ConversationId(conversation),
            turn=TurnId(turn),
            reply=opened,
            attempts=attempts,
            was_unknown=state == "unknown",
            edits=self._in_place_of(replaces),
            is_status=position < 0,
            status=self._standing(replaces, turn),
        )

    def _newest_status(self, turn: TurnId) -> tuple[OutboxId, str, int] | None:
        """The turn's newest status with its state and how many edits lead to it, if nothing took its place yet."""
        rows = self.rows(
            "SELECT id, state, revision FROM outbox WHERE turn_id = ? AND position < 0 ORDER BY position", (turn,)
        )
        if not rows or self.rows("SELECT 1 FROM outbox WHERE replaces = ? AND state <> 'dead'", (rows[0][0],)):
            return None
        return rows[0]

    def _standing(self, item: int | None, turn: int) -> Sent | None:
        """What is in the chat of a status of this turn, or of the nearest one before it; None where nothing is."""
        rows = self.rows(
            "SELECT sent_at, original_at, revision, replaces FROM outbox WHERE id = ? AND turn_id = ? AND position < 0",
            (item, turn),
        )
        if not rows:
            return None
        *found, former = rows[0]
        return _in_chat(*found) or self._standing(former, turn)

    def _pass_over(self, status: OutboxId) -> None:
        """A status that waits, and was surely not sent, goes: what takes its place takes that of its forerunner."""
        self.execute(
            "UPDATE outbox SET replaces = (SELECT replaces FROM outbox WHERE id = ?1) WHERE replaces = ?1 "
            "AND EXISTS (SELECT 1 FROM outbox WHERE id = ?1 AND position < 0 AND state = 'waiting')",
            (status,),
        )
        self.execute("DELETE FROM outbox WHERE id = ? AND position < 0 AND state = 'waiting'", (status,))

    def _in_place_of(self, replaces: int | None) -> Sent | None:
        rows = self.rows("SELECT sent_at, original_at, revision FROM outbox WHERE id = ?", (replaces,))
        return _in_chat(*rows[0]) if rows else None

    def _end_attempt(self, item: OutboxId, state: str, due_at: datetime) -> None:
        self.execute(
            "UPDATE outbox SET state = CASE WHEN reply IS NULL THEN 'dead' ELSE ?1 END, due_at = ?2, "
            "settled_at = CASE WHEN reply IS NULL THEN ?2 END WHERE id = ?3 AND state = 'sending'",
            (state, millis(due_at), item),
        )

    def _settle(self, item: OutboxId | int, state: str, sent_at: int | None, now: datetime) -> None:
        self.execute(
            "UPDATE outbox SET state = ?, sent_at = ?, settled_at = ?, reply = NULL "
            "WHERE id = ? AND state IN ('waiting', 'sending', 'unknown')",
            (state, sent_at, millis(now), item),
        )


def _in_chat(sent_at: int | None, original_at: int | None, revision: int) -> Sent | None:
    if sent_at is None:
        return None
    return Sent(sent_at=sent_at, original_at=original_at or sent_at, revision=revision)


def _place(turn: TurnId, position: int) -> str:
    return f"outbox.reply|{turn}|{position}"
