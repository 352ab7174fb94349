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
    ) -> None:
        """Keep a reply, sealed, to be sent after all others of its conversation, in the place of `replaces` if set."""
        sealed = self.keyring.seal(conversation, _place(turn, position), reply)
        self.execute(
            "INSERT INTO outbox (conversation_id, turn_id, position, in_group, reply, state, due_at, replaces) "
            "VALUES (?, ?, ?, ?, ?, 'waiting', ?, ?)",
            (conversation, turn, position, in_group, sealed, millis(now), replaces),
        )
        self.stir("outbox")

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
        """The items of a turn in order, each with what it is in the chat; None where it is not known to be there."""
        rows = self.rows(
            "SELECT id, sent_at, original_at, revision FROM outbox WHERE turn_id = ? ORDER BY position", (turn,)
        )
        return tuple((OutboxId(row[0]), _in_chat(*row[1:])) for row in rows)

    def unsent(self, conversation: ConversationId, turn: TurnId) -> tuple[bytes, ...]:
        """What of the turn's answer has surely not been sent, in order."""
        rows = self.rows(
            "SELECT position, reply FROM outbox WHERE turn_id = ? AND state = 'waiting' ORDER BY position", (turn,)
        )
        return tuple(self.keyring.open(conversation, _place(turn, position), reply) for position, reply in rows)

    def begin(self, *, now: datetime, most: int) -> tuple[OutboxItem, ...]:
        """The items to send now, at most so many: in each conversation the first that is open, if it is due.

        They are `sending` then. Receipts are listened for meanwhile; that is written down.
        """
        if self.rows("SELECT 1 FROM outbox WHERE state IN ('waiting', 'sending', 'unknown') LIMIT 1"):
            self._listens(millis(now))
        rows = self.rows(
            "SELECT id, conversation_id, turn_id, position, reply, attempts, state, replaces FROM outbox WHERE id IN ("
            "SELECT min(id) FROM outbox WHERE state IN ('waiting', 'sending', 'unknown') GROUP BY conversation_id"
            ") AND state IN ('waiting', 'unknown') AND due_at <= ? "
            "AND EXISTS (SELECT 1 FROM conversations WHERE id = outbox.conversation_id AND realm = ?) "
            "ORDER BY due_at, id LIMIT ?",
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

    def sent(self, item: OutboxId, sent_at: int, *, now: datetime, edited: Sent | None = None) -> None:
        """It went out under this timestamp, as an edit of `edited` if set; its words go."""
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

    def postpone(self, item: OutboxId, *, due_at: datetime) -> None:
        """It surely did not go out: try again then, unless it was taken back meanwhile."""
        self._drop_attempt(item)
        self._end_attempt(item, "waiting", due_at)
        self._reconcile()

    def doubt(self, item: OutboxId, *, due_at: datetime) -> None:
        """Nobody knows whether it went out: unless a receipt proves it, it is due again then."""
        self._end_attempt(item, "unknown", due_at)

    def doubt_all(self, *, now: datetime, grace: timedelta) -> int:
        """At start: every send that was under way is unknown, or over where it was taken back. Gives how many.

        What was unknown before waits longer by the time in which nobody listened, for its receipt may have come to
        Signal's server meanwhile; never longer than `grace` from now. The time of earlier lives counts, however short
        they were: a process that dies again and again must get its sends done all the same.
        """
        at, until = millis(now), millis(now + grace)
        [(deaf,)] = self.rows(
            "SELECT coalesce(?1 - (SELECT until FROM listening WHERE realm = ?2), ?3)", (at, self.realm, until - at)
        )
        self.execute(
            "UPDATE outbox SET due_at = min(max(due_at + ?1, ?2), ?3) "
            "WHERE state IN ('waiting', 'sending', 'unknown') AND state = 'unknown' "
            "AND EXISTS (SELECT 1 FROM conversations WHERE id = outbox.conversation_id AND realm = ?4)",
            (max(deaf, 0), at, until, self.realm),
        )
        self._listens(at)
        return self.execute(
            "UPDATE outbox SET due_at = ?1, state = CASE WHEN reply IS NULL THEN 'dead' ELSE 'unknown' END, "
            "settled_at = CASE WHEN reply IS NULL THEN ?1 END "
            "WHERE state IN ('waiting', 'sending', 'unknown') AND state = 'sending' "
            "AND EXISTS (SELECT 1 FROM conversations WHERE id = outbox.conversation_id AND realm = ?2)",
            (until, self.realm),
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
        )

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
