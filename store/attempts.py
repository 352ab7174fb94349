"""Send attempts: which ones went out, under which names, and what delivery receipts prove about them.

A name is the timestamp by which Signal identifies a message. A receipt tells a name and a person, but no conversation.
It can mean any attempt without a name, first or repeated, that its author could receive: a direct message to them, or
one to a group that they are in. Until the bridge has listed the members of a group, it can mean an attempt there, too,
but proves none if its author may be a stranger. Phones confirm a reaction like a message.

A receipt proves an item if it can mean attempts of no other; it is kept until that is clear. An answer that arrives
twice is a nuisance; one that counts as sent but never went out is lost.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from store.records import ConversationId, OutboxId
from store.repository import Repository, millis

LATE = timedelta(minutes=2)
"""How long a slow bridge may still send an attempt whose item is settled."""
_BEHIND_MS = 1000
"""How far the clock of the bridge, which names the messages, may be behind ours."""
_AHEAD_MS = 60_000
"""How far it may be ahead; a receipt for a later name confirms nothing that went out."""
_MAX_RECEIPTS = 32
"""How many receipts that prove nothing yet are kept per person: no more sends than that are in doubt."""
_RECENT = timedelta(minutes=1)
"""An attempt that has ended within that time may have got its name since the clock was set: steps are seen before."""
_REACTIONS_KEPT = timedelta(hours=1)
"""Longer than any send waits for its receipt."""


def _meant(receipts: str) -> str:
    """Joins receipts with the attempts that each can mean. Who is missing from an earlier list may have joined."""
    return f"""
        FROM {receipts} CROSS JOIN attempts INDEXED BY attempts_open
          ON attempts.sent_at IS NULL AND begun_at <= came_at AND begun_at - {_BEHIND_MS} <= target
        JOIN outbox ON outbox.id = outbox_id AND coalesce(settled_at, target) >= target
        JOIN conversations ON conversations.id = outbox.conversation_id
        LEFT JOIN rosters ON rosters.conversation_id = outbox.conversation_id
        LEFT JOIN members ON members.conversation_id = outbox.conversation_id AND members.person = receipts.person
          AND coalesce(left_at, target) >= target
        WHERE iif(in_group, members.person IS NOT NULL OR coalesce(listed_at, 0) < target, handle = receipts.person)
    """


_TAKE = f"""
INSERT OR IGNORE INTO receipts (target, person, came_at) SELECT DISTINCT target, receipts.person, came_at
{_meant("(SELECT ? AS target, ? AS person, ? AS came_at) AS receipts")}
"""
"""Keeps a receipt, if it can mean anything: a stranger's leaves nothing on the disk."""

_CLEAR = f"""
SELECT target, max(attempts.id), outbox_id {_meant("receipts")}
AND NOT EXISTS (SELECT 1 FROM reactions WHERE name IS NULL AND begun_at <= came_at
  AND target BETWEEN begun_at - {_BEHIND_MS} AND coalesce(ended_at, target) + {_BEHIND_MS}
  AND (reactions.in_group OR chat = receipts.person))
GROUP BY target, receipts.person
HAVING min(outbox_id) = max(outbox_id) AND max(NOT outbox.in_group OR members.person IS NOT NULL)
ORDER BY target LIMIT 1
"""  # noqa: S608  (our own query)
"""A receipt that can mean one item only, with the latest of its attempts that it can mean."""

_OVER = f"""
DELETE FROM receipts WHERE EXISTS (SELECT 1 FROM attempts WHERE attempts.sent_at = receipts.target)
OR target IN (SELECT name FROM reactions)
OR (target, person) NOT IN (SELECT target, receipts.person {_meant("receipts")})
"""  # noqa: S608  (our own query)


@dataclass(frozen=True, kw_only=True, slots=True)
class Confirmation:
    """A delivery receipt: messages that the phone of the person in this direct chat says it has received."""

    address: str
    names: Iterable[int]
    """The timestamps by which Signal names our messages."""
    came_at: datetime


class Attempts(Repository):
    """Sends and receipts, as a part of the outbox."""

    def put_off_all(self, step: timedelta, *, now: datetime) -> None:
        """Moves due times by a step of the clock, so that items wait as long as they would have."""
        self.execute(
            "UPDATE outbox SET due_at = due_at + ?1, attempted_at = attempted_at + ?1 "
            "WHERE state IN ('waiting', 'sending', 'unknown')",
            (step,),
        )
        later = "UPDATE outbox SET settled_at = settled_at + ? WHERE settled_at > ?"
        self.execute(later, (max(step, timedelta(0)), now))
        # What may get its name now may have got it before, or a minute ago.
        self.execute(
            "UPDATE attempts SET begun_at = min(begun_at, begun_at + ?) WHERE sent_at IS NULL "
            "AND coalesce((SELECT settled_at FROM outbox WHERE id = outbox_id) > ?, TRUE)",
            (step, now - _RECENT),
        )
        self.execute(
            "UPDATE reactions SET begun_at = min(begun_at, begun_at + ?1), ended_at = max(ended_at, ended_at + ?1)",
            (step,),
        )

    def is_ours(self, conversation: ConversationId, sent_at: int) -> bool:
        """Whether any attempt went out to the conversation under this timestamp."""
        return self.exists(
            "SELECT 1 FROM attempts JOIN outbox ON outbox.id = outbox_id "
            "WHERE attempts.sent_at = ? AND conversation_id = ?",
            (sent_at, conversation),
        )

    def drop_last(self, item: OutboxId) -> None:
        """Deletes the last attempt, which did not go out; a name that a receipt gave it is that of an earlier one."""
        self.execute(
            "DELETE FROM attempts WHERE id = (SELECT max(id) FROM attempts WHERE outbox_id = ? AND sent_at IS NULL)",
            (item,),
        )

    def settle(self, item: OutboxId, state: str, at: datetime, name: int | None = None) -> bool:
        """Settles an open item as `sent` under this name, or as `dead`; returns whether it was open."""
        turns = self.column(
            "UPDATE outbox SET state = ?, sent_at = ?, settled_at = ?, reply = NULL "
            "WHERE id = ? AND state IN ('waiting', 'sending', 'unknown') RETURNING turn_id",
            (state, name, at, item),
        )
        self.forget_questions(turns)
        return bool(turns)

    def forget_questions(self, turns: Iterable[int]) -> None:
        """Deletes the words of the messages that these turns have answered, unless an answer is still to be sent."""
        self.execute_many(
            "UPDATE inbox SET envelope = NULL WHERE turn_id = ?1 AND state = 'done' AND envelope IS NOT NULL AND NOT "
            "EXISTS (SELECT 1 FROM outbox WHERE turn_id = ?1 AND state IN ('waiting', 'sending', 'unknown'))",
            [(turn,) for turn in turns],
        )

    def prove_all(self, confirmations: Iterable[Confirmation], *, now: datetime) -> int:
        """Takes confirmations and keeps those that are not clear yet; returns how many items they prove."""
        known = "SELECT 1 FROM attempts WHERE sent_at = ?1 UNION ALL SELECT 1 FROM reactions WHERE name = ?1"
        receipts = [
            (name, self.chat_handle(one.address), one.came_at)
            for one in confirmations
            for name in sorted(one.names)[-_MAX_RECEIPTS:]
            if name <= millis(one.came_at) + _AHEAD_MS and not self.exists(known, (name,))
        ]
        if not sum(self.execute(_TAKE, receipt).rowcount for receipt in receipts):
            return 0
        count = self.reconcile(now=now)
        self.execute(
            "DELETE FROM receipts WHERE (target, person) IN (SELECT target, person FROM (SELECT target, person, "
            "row_number() OVER (PARTITION BY person ORDER BY target DESC) AS place FROM receipts) WHERE place > ?)",
            (_MAX_RECEIPTS,),
        )
        self.notify("members")
        return count

    def recognize(self, item: OutboxId, name: int, *, now: datetime) -> None:
        """Notes that an item came back word for word and under this name: it went out, unless that is from before."""
        attempt = self.value(
            "SELECT max(id) FROM attempts WHERE outbox_id = ? AND sent_at IS NULL AND begun_at - ? <= ?",
            (item, _BEHIND_MS, name),
        )
        if attempt is not None:
            self._prove(item, attempt, name, now)
            self.reconcile(now=now)

    def reconcile(self, *, now: datetime) -> int:
        """Lets kept receipts prove what they can, and deletes meaningless ones; returns how many items were proved."""
        count = 0
        while True:
            self.execute(_OVER)
            clear = self.rows(_CLEAR)
            if not clear:
                return count
            [(name, attempt, item)] = clear
            count += self._prove(item, attempt, name, now)

    def _prove(self, item: OutboxId, attempt: int, name: int, now: datetime) -> bool:
        """Settles an item whose attempt went out under this name; returns whether that was in doubt."""
        self.execute("UPDATE attempts SET sent_at = ? WHERE id = ?", (name, attempt))
        # One taken back while it is sent has to be removed after that.
        if self.exists("SELECT 1 FROM outbox WHERE id = ? AND state = 'sending' AND reply IS NULL", (item,)):
            return False
        was_open = self.settle(item, "sent", now + LATE, name)  # a repetition may still go out
        if was_open:
            self.notify("outbox")
        return was_open

    def begin_reaction(self, address: str, *, in_group: bool, now: datetime) -> int | None:
        """Notes that a reaction is about to be sent; returns its number, None while receipts could mean another."""
        chat = self.chat_handle(address)
        if self.exists(
            "SELECT 1 FROM outbox INDEXED BY outbox_open JOIN conversations ON conversations.id = conversation_id "
            "WHERE state IN ('waiting', 'sending', 'unknown') AND state <> 'waiting' AND handle = ?",
            (chat,),
        ):
            return None
        self.execute("DELETE FROM reactions WHERE ended_at < ?", (now - _REACTIONS_KEPT,))
        return self.insert("reactions", chat=chat, in_group=in_group, begun_at=now)

    def end_reaction(self, number: int, name: int | None, *, now: datetime, until: datetime | None = None) -> None:
        """Notes that the reaction was sent, under this name if the bridge gave one, or may go out until `until`."""
        self.execute("UPDATE reactions SET ended_at = ?, name = ? WHERE id = ?", (until or now, name, number))
        self.reconcile(now=now)
