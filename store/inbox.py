"""The inbox: what came in, from its arrival until it is answered.

                  put                claim                     done
    (nothing) --------> waiting <------------------> claimed ---------> done
        ^                  |   hand_back, requeue       |
        '-- put again      '----------------------------'--- bury ----> dead
            changes nothing

A claim takes the messages of one conversation that wait together, under one turn. Handed back or left behind, they
wait again and keep their turn, so that its journal fits when they are claimed the next time.
Queries for open items say so in the words of their partial index (`state IN ('waiting', 'claimed')`) before they say
which of them: SQLite would not use it otherwise, and read every settled item each time.
Left to others: what an envelope means, and what to tell the person when an item is dead.
"""

import json
import logging
from collections.abc import Collection
from datetime import datetime
from typing import Any

from store.errors import Damaged
from store.records import Arrival, Claim, ConversationId, InboxId, InboxItem, TurnId, Waiting
from store.shelf import Shelf, millis, moment

_log = logging.getLogger(__name__)


class Inbox(Shelf):
    """The shelf of arrivals. All methods run inside a transaction."""

    def put(self, arrival: Arrival) -> InboxId | None:
        """Keep an envelope, sealed; None when it was kept before (a redelivery)."""
        account, author = self.keyring.handle(arrival.account), self.keyring.handle(arrival.author)
        place = _place(account, author, arrival.device, arrival.sent_at, arrival.kind)
        row = self.execute(
            "INSERT INTO inbox (conversation_id, account, author, device, sent_at, kind, envelope, state, received_at) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, 'waiting', ?) "
            "ON CONFLICT (account, author, device, sent_at, kind) DO NOTHING RETURNING id",
            (
                arrival.conversation,
                account,
                author,
                arrival.device,
                arrival.sent_at,
                arrival.kind,
                self.keyring.seal(arrival.conversation, place, arrival.envelope),
                millis(arrival.received_at),
            ),
        ).fetchone()
        if row is None:
            return None
        self.stir("inbox")
        return InboxId(row[0])

    def claim(
        self, *, now: datetime, until: datetime, busy: Collection[ConversationId], most: int = 20
    ) -> Claim | None:
        """Take what waits in the conversation that was served longest ago, or None when nothing waits.

        Conversations in `busy` are passed over. At most `most` messages are taken together; those of a turn that was
        begun before are taken again as they were, without later ones.
        """
        conversation = self._next_conversation(busy)
        if conversation is None:
            return None
        rows = self._waiting(conversation, most)
        items = tuple(item for row in rows if (item := self._item(conversation, row)) is not None)
        if not items:
            return self.claim(now=now, until=until, busy=busy, most=most)
        turn, started_at = self._turn(conversation, rows[0][0], now)
        self.execute(
            "UPDATE inbox SET state = 'claimed', turn_id = ?, claimed_until = ?, attempts = attempts + 1 "
            "WHERE id IN (SELECT value FROM json_each(?))",
            (turn, millis(until), json.dumps([item.id for item in items])),
        )
        self.execute("UPDATE conversations SET served_at = ? WHERE id = ?", (millis(now), conversation))
        return Claim(
            conversation=conversation, turn=turn, items=items, started_at=started_at, is_new=rows[0][0] is None
        )

    def has_waiting(self) -> bool:
        """Whether anything waits to be claimed, in busy conversations too."""
        return bool(
            self.rows(
                "SELECT 1 FROM inbox JOIN conversations ON conversations.id = inbox.conversation_id "
                "WHERE inbox.state IN ('waiting', 'claimed') AND inbox.state = 'waiting' AND realm = ? LIMIT 1",
                (self.realm,),
            )
        )

    def done(self, turn: TurnId) -> None:
        """The turn's messages are settled: their words go, their names stay so that a redelivery is known."""
        self._settle(turn, "done")

    def bury(self, turn: TurnId) -> None:
        """The turn failed too often: its messages are dead, their words go."""
        self._settle(turn, "dead")

    def hand_back(self, turn: TurnId, *, counts: bool) -> None:
        """The claim is given up: it waits again. `counts` tells whether that was a failed try, or a shutdown."""
        self.execute(
            "UPDATE inbox SET state = 'waiting', claimed_until = NULL, attempts = attempts - ? "
            "WHERE turn_id = ? AND state IN ('waiting', 'claimed') AND state = 'claimed'",
            (0 if counts else 1, turn),
        )
        self.stir("inbox")

    def requeue(self, *, now: datetime | None) -> int:
        """Claims left behind wait again: those whose deadline is before `now`, or all (None, at start).

        Gives how many messages that were.
        """
        count = self.execute(
            "UPDATE inbox SET state = 'waiting', claimed_until = NULL "
            "WHERE state IN ('waiting', 'claimed') AND state = 'claimed' AND (?1 IS NULL OR claimed_until < ?1)",
            (None if now is None else millis(now),),
        ).rowcount
        if count:
            self.stir("inbox")
        return count

    def prune(self, *, before: datetime) -> int:
        """Forget the names of settled messages that came before then; gives how many."""
        return self.execute(
            "DELETE FROM inbox WHERE state IN ('done', 'dead') AND received_at < ?", (millis(before),)
        ).rowcount

    def backlog(self) -> Waiting:
        """How much is under way, over all conversations of the realm."""
        [(open_items, oldest)] = self.rows(
            "SELECT count(*), min(received_at) FROM inbox JOIN conversations ON conversations.id = conversation_id "
            "WHERE state IN ('waiting', 'claimed') AND realm = ?",
            (self.realm,),
        )
        [(dead,)] = self.rows(
            "SELECT count(*) FROM inbox JOIN conversations ON conversations.id = conversation_id "
            "WHERE state = 'dead' AND realm = ?",
            (self.realm,),
        )
        return Waiting(items=open_items, oldest_at=None if oldest is None else moment(oldest), dead=dead)

    def _next_conversation(self, busy: Collection[ConversationId]) -> ConversationId | None:
        rows = self.rows(
            "SELECT inbox.conversation_id FROM inbox JOIN conversations ON conversations.id = inbox.conversation_id "
            "WHERE inbox.state IN ('waiting', 'claimed') AND inbox.state = 'waiting' AND conversations.realm = ? "
            "AND inbox.conversation_id NOT IN (SELECT value FROM json_each(?)) "
            "ORDER BY conversations.served_at, inbox.id LIMIT 1",
            (self.realm, json.dumps(list(busy))),
        )
        return ConversationId(rows[0][0]) if rows else None

    def _waiting(self, conversation: ConversationId, most: int) -> list[tuple[Any, ...]]:
        rows = self.rows(
            "SELECT turn_id, id, account, author, device, sent_at, kind, envelope, received_at, attempts FROM inbox "
            "WHERE conversation_id = ? AND state IN ('waiting', 'claimed') AND state = 'waiting' "
            "ORDER BY turn_id IS NULL, turn_id, id LIMIT ?",
            (conversation, most),
        )
        return [row for row in rows if row[0] == rows[0][0]]

    def _item(self, conversation: ConversationId, row: tuple[Any, ...]) -> InboxItem | None:
        """The item of a row; None when it is damaged: it is dead then, and must not stop the others."""
        _, item_id, account, author, device, sent_at, kind, envelope, received_at, attempts = row
        try:
            opened = self.keyring.open(conversation, _place(account, author, device, sent_at, kind), envelope)
        except Damaged as error:
            _log.error("message %d of the inbox is lost: %s", item_id, error)
            self.execute("UPDATE inbox SET state = 'dead', envelope = NULL WHERE id = ?", (item_id,))
            return None
        return InboxItem(id=InboxId(item_id), envelope=opened, received_at=moment(received_at), attempts=attempts + 1)

    def _turn(self, conversation: ConversationId, begun: int | None, now: datetime) -> tuple[TurnId, datetime]:
        if begun is not None:
            [(started_at,)] = self.rows("SELECT started_at FROM turns WHERE id = ?", (begun,))
            return TurnId(begun), moment(started_at)
        [(turn,)] = self.rows(
            "INSERT INTO turns (conversation_id, state, started_at) VALUES (?, 'running', ?) RETURNING id",
            (conversation, millis(now)),
        )
        return TurnId(turn), now

    def _settle(self, turn: TurnId, state: str) -> None:
        self.execute(
            "UPDATE inbox SET state = ?, envelope = NULL, claimed_until = NULL WHERE turn_id = ? "
            "AND state IN ('waiting', 'claimed')",
            (state, turn),
        )


def _place(account: bytes, author: bytes, device: int, sent_at: int, kind: str) -> str:
    return f"inbox.envelope|{account.hex()}|{author.hex()}|{device}|{sent_at}|{kind}"
