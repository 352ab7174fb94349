"""The outbox: what is to be said, from the end of its turn until Signal has it.

             put            begin              sent
    (nothing) --> waiting ---------> sending -------------------> sent
                    ^  ^               |  |                        ^
                    |  '-- postpone ---'  |                        |
                    |      (not sent)     '-- doubt --> unknown ---' prove (a delivery receipt)
                    |                                     |
                    '------ due again after the grace ----'        give_up: waiting, sending -> dead

Signal has no idempotency key. `unknown` is a send whose answer never came; it is sent again only when no receipt has
proved it within a grace period. One item of a conversation is under way at a time, in the order in which they were
put, so a receipt for a timestamp that nobody knows can belong to one item only.
Queries for open items say so in the words of their partial index (`state IN ('waiting', 'sending', 'unknown')`) before
they say which of them: SQLite would not use it otherwise, and read every settled item each time.
"""

import logging
from datetime import datetime, timedelta

from store.errors import Damaged
from store.records import ConversationId, OutboxId, OutboxItem, TurnId, Waiting
from store.shelf import Shelf, millis, moment

_log = logging.getLogger(__name__)


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
    ) -> None:
        """Keep a reply, sealed, to be sent after all others of its conversation."""
        sealed = self.keyring.seal(conversation, _place(turn, position), reply)
        self.execute(
            "INSERT INTO outbox (conversation_id, turn_id, position, in_group, reply, state, due_at) "
            "VALUES (?, ?, ?, ?, ?, 'waiting', ?)",
            (conversation, turn, position, in_group, sealed, millis(now)),
        )
        self.stir("outbox")

    def begin(self, *, now: datetime, most: int) -> tuple[OutboxItem, ...]:
        """The items to send now, at most so many: in each conversation the first that is open, if it is due.

        They are `sending` then.
        """
        rows = self.rows(
            "SELECT id, conversation_id, turn_id, position, reply, attempts, state FROM outbox WHERE id IN ("
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

    def sent(self, item: OutboxId, sent_at: int, *, now: datetime) -> None:
        """It went out under this timestamp; its words are not needed any more."""
        self._settle(item, "sent", sent_at, now)

    def postpone(self, item: OutboxId, *, due_at: datetime) -> None:
        """It surely did not go out: try again then."""
        self.execute(
            "UPDATE outbox SET state = 'waiting', due_at = ? WHERE id = ? AND state = 'sending'", (millis(due_at), item)
        )

    def doubt(self, item: OutboxId, *, due_at: datetime) -> None:
        """Nobody knows whether it went out: unless a receipt proves it, it is due again then."""
        self.execute(
            "UPDATE outbox SET state = 'unknown', due_at = ? WHERE id = ? AND state = 'sending'", (millis(due_at), item)
        )

    def doubt_all(self, *, due_at: datetime) -> int:
        """After a crash: every send that was under way is unknown. Gives how many."""
        return self.execute(
            "UPDATE outbox SET state = 'unknown', due_at = ? "
            "WHERE state IN ('waiting', 'sending', 'unknown') AND state = 'sending' "
            "AND EXISTS (SELECT 1 FROM conversations WHERE id = outbox.conversation_id AND realm = ?)",
            (millis(due_at), self.realm),
        ).rowcount

    def give_up(self, item: OutboxId, *, now: datetime) -> None:
        """It will never go out: it is dead, its words go."""
        self._settle(item, "dead", None, now)

    def prove(self, address: str, sent_at: int, *, window: timedelta) -> bool:
        """A phone of whoever has the direct chat at `address` has received a message of ours of this timestamp.

        If nobody knows the timestamp and a send that may have been it was begun not longer than `window` before, that
        send is proved: the one under way in the direct chat, else the one to a group, if there is but one. Gives
        whether one was.
        """
        if self.rows("SELECT 1 FROM outbox WHERE sent_at = ?", (sent_at,)):
            return False
        rows = self.rows(
            "SELECT outbox.id, conversations.handle = ?1 FROM outbox "
            "JOIN conversations ON conversations.id = outbox.conversation_id "
            "WHERE outbox.state IN ('waiting', 'sending', 'unknown') AND outbox.state <> 'waiting' "
            "AND (conversations.handle = ?1 OR outbox.in_group) "
            "AND ?2 BETWEEN outbox.attempted_at - 5000 AND outbox.attempted_at + ?3",  # the bridge has its own clock
            (self.chat_handle(address), sent_at, int(window.total_seconds() * 1000)),
        )
        candidates = [item for item, is_direct in rows if is_direct] or [item for item, _ in rows]
        if len(candidates) != 1:
            return False
        self._settle(candidates[0], "sent", sent_at, moment(sent_at))
        self.stir("outbox")
        return True

    def prune(self, *, before: datetime) -> int:
        """Forget items that were settled before then; gives how many."""
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

    def _begun(
        self, item: int, conversation: int, turn: int, position: int, reply: bytes, attempts: int, state: str,
        *, now: datetime,
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
        return OutboxItem(
            id=OutboxId(item),
            conversation=ConversationId(conversation),
            turn=TurnId(turn),
            reply=opened,
            attempts=attempts,
            was_unknown=state == "unknown",
        )

    def _settle(self, item: OutboxId | int, state: str, sent_at: int | None, now: datetime) -> None:
        self.execute(
            "UPDATE outbox SET state = ?, sent_at = ?, settled_at = ?, reply = NULL "
            "WHERE id = ? AND state IN ('waiting', 'sending', 'unknown')",
            (state, sent_at, millis(now), item),
        )


def _place(turn: TurnId, position: int) -> str:
    return f"outbox.reply|{turn}|{position}"
