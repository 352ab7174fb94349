"""Send attempts: which ones went out, under which names, and what delivery receipts prove about them.

A name is the timestamp by which Signal identifies a message. A receipt tells a name and a person, but no conversation.
It can mean any attempt, first or repeated, that its author could receive: a direct message to them, or one to a group
that they are in. Until the bridge has listed the members of a group, the receipt can mean an attempt there, too, but it
proves none of those if its author may be a stranger.

An attempt can get its name from its start until its item is settled: until the bridge answers, a receipt proves the
item, or a repetition succeeds. One given up in doubt stays open as long as it would have waited to be repeated. Each
attempt that went out has one name, so a receipt proves an item if it can mean attempts of no other; until then it is
kept. Phones confirm a reaction like a message, so reactions take part in this, too (`begin_reaction`).

An answer that arrives twice is a nuisance; one that counts as sent but never went out is lost.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import astuple, dataclass
from datetime import datetime, timedelta

from store.records import ConversationId, OutboxId
from store.repository import AT_ONCE, Repository, millis

_BEHIND_MS = 1000
"""How far the clock of the bridge, which names the messages, may be behind ours."""
_AHEAD_MS = 60_000
"""How far it may be ahead; a receipt for a later name confirms nothing that went out."""
_UNANSWERED = 2**62
"""The `open_until` of an attempt that the bridge has not answered yet."""
_MAX_RECEIPTS = 32
"""How many receipts that prove nothing yet are kept per person: no more sends than that are in doubt."""
_RECENT_MS = 60_000
"""An attempt that has ended within that time may have got its name since the clock was set: steps are seen before."""
_REACTIONS_KEPT = timedelta(hours=1)
"""Longer than any send waits for its receipt."""

_LeftAt = Mapping[tuple[int, bytes], int | None]
"""When people left their groups, by conversation and person; None: they are in it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Confirmation:
    """A delivery receipt: messages that a phone says it has received."""

    address: str
    """The address of the direct chat with that person."""
    names: Collection[int]
    """The timestamps by which Signal names our messages."""
    came_at: datetime


@dataclass(frozen=True, slots=True)
class _Receipt:
    """One message that a person has received; times as in `_Send`."""

    name: int
    person: bytes
    """The handle of their direct chat."""
    came_at: int


@dataclass(frozen=True, kw_only=True, slots=True)
class _Send:
    """An attempt whose name is unknown, with what a receipt of it would look like."""

    id: int
    """Grows with time; negative for a reaction."""
    item: int
    """The item that was sent; several attempts can send the same one."""
    is_pending: bool
    """Whether its name may still become known, after which it cannot be mistaken for another."""
    conversation: int
    handle: bytes
    in_group: bool
    begun_at: int
    until: int | None
    """When it can have got its name at the latest; None: it still can."""
    listed_at: int | None
    """When the bridge last listed the members of its group; None: never."""
    set_back_ms: int
    """How far the clock was set back while it could get its name: it may have got that by either time."""

    def may_be(self, receipt: _Receipt) -> bool:
        """Whether it can have got the name of the receipt."""
        begun_at = self.begun_at - self.set_back_ms
        is_in_time = self.until is None or receipt.name <= self.until + self.set_back_ms
        return begun_at <= receipt.came_at and begun_at - _BEHIND_MS <= receipt.name and is_in_time

    def reaches(self, receipt: _Receipt, left_at: _LeftAt) -> bool | None:
        """Whether the author of the receipt received it, if the receipt means it; None: unknown."""
        if not self.in_group:
            return self.handle == receipt.person
        here = self.conversation, receipt.person
        if here in left_at and ((left := left_at[here]) is None or left >= receipt.name):
            return True
        # A person missing from an earlier list may have joined since.
        return None if self.listed_at is None or self.listed_at < receipt.name else False


class Attempts(Repository):
    """The repository of sends and receipts. All methods run inside a transaction."""

    def begin(self, item: int, *, now: datetime) -> None:
        """Notes that an item is about to be sent."""
        self.insert("attempts", outbox_id=item, begun_at=millis(now))

    def interrupt(self, *, until: datetime) -> None:
        """At start: notes that interrupted attempts may go out until `until`, whatever becomes of their items."""
        self.execute(
            "UPDATE attempts SET open_until = ?1 WHERE sent_at IS NULL AND (open_until = ?2 OR id IN "
            "(SELECT max(attempts.id) FROM outbox JOIN attempts ON outbox_id = outbox.id "
            "WHERE outbox.state IN ('waiting', 'sending', 'unknown') AND outbox.state = 'sending' GROUP BY outbox_id))",
            (millis(until), _UNANSWERED),
        )
        self.execute("UPDATE reactions SET ended_at = ? WHERE ended_at IS NULL", (millis(until),))

    def put_off(self, step_ms: int, now: datetime) -> None:
        """Handles a step of the clock: attempts in doubt stay open as long as before.

        The bridge may have named those that are open, or were a minute ago, before the step or after.
        """
        self.execute(
            "UPDATE attempts SET set_back_ms = set_back_ms + max(-?1, 0), "
            "open_until = iif(open_until < ?2, open_until + ?1, open_until) WHERE sent_at IS NULL AND coalesce("
            "max((SELECT settled_at FROM outbox WHERE id = outbox_id), coalesce(open_until, 0)) > ?3, TRUE)",
            (step_ms, _UNANSWERED, millis(now) - _RECENT_MS),
        )
        self.execute(
            "UPDATE reactions SET set_back_ms = set_back_ms + max(-?1, 0), ended_at = ended_at + ?1", (step_ms,)
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
            "DELETE FROM attempts WHERE id = (SELECT max(id) FROM attempts WHERE outbox_id = ?1 AND sent_at IS NULL) "
            "AND (open_until = ?2 OR id = (SELECT max(id) FROM attempts WHERE outbox_id = ?1))",
            (item, _UNANSWERED),
        )

    def mark_last_unknown(self, item: OutboxId, until: datetime) -> None:
        """Notes that the last attempt may go out until `until`, even if the item is settled before."""
        self.execute(
            "UPDATE attempts SET open_until = ?1 WHERE outbox_id = ?2 AND sent_at IS NULL AND (open_until = ?3 "
            "OR id = (SELECT max(id) FROM attempts WHERE outbox_id = ?2))",
            (millis(until), item, _UNANSWERED),
        )

    def name_last(self, item: int, sent_at: int) -> None:
        """Names the last attempt as the bridge says, whatever a receipt took its name for."""
        self.execute(
            "UPDATE attempts SET sent_at = iif(id = last, ?1, sent_at), open_until = iif(sent_at IS NULL "
            "AND open_until = ?3, NULL, open_until) FROM (SELECT max(id) AS last FROM attempts WHERE outbox_id = ?2) "
            "WHERE outbox_id = ?2",
            (sent_at, item, _UNANSWERED),
        )

    def settle(self, item: OutboxId | int, state: str, sent_at: int | None, now: datetime) -> bool:
        """Settles an open item as `sent`, under this name if known, or as `dead`; returns whether it was open."""
        turns = self.column(
            "UPDATE outbox SET state = ?, sent_at = ?, settled_at = ?, reply = NULL "
            "WHERE id = ? AND state IN ('waiting', 'sending', 'unknown') RETURNING turn_id",
            (state, sent_at, millis(now), item),
        )
        if turns:
            self.forget_questions(turns)
        return bool(turns)

    def forget_questions(self, turns: Collection[int]) -> None:
        """Deletes the words of the messages that these turns have answered, unless an answer is still to be sent."""
        self.execute(
            "UPDATE inbox SET envelope = NULL WHERE turn_id IN (SELECT value FROM json_each(?)) AND state = 'done' "
            "AND envelope IS NOT NULL AND NOT EXISTS (SELECT 1 FROM outbox WHERE outbox.turn_id = inbox.turn_id "
            "AND outbox.state IN ('waiting', 'sending', 'unknown'))",
            (_as_json(turns),),
        )

    def prove_all(self, confirmations: Iterable[Confirmation], *, now: datetime) -> int:
        """Takes confirmations and keeps those that are not clear yet; returns how many items they prove."""
        confirmations = list(confirmations)
        unnamed = self._unnamed(now) if confirmations else []
        fitting = [receipt for one in confirmations for receipt in self._fitting(one, unnamed)]
        if not fitting:  # nothing is written
            return 0
        self.execute_many(
            "INSERT INTO receipts (target, person, came_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            [astuple(receipt) for receipt in fitting],
        )
        count = self.reconcile(now=now)
        self.execute(
            "DELETE FROM receipts WHERE (target, person) IN (SELECT target, person FROM (SELECT target, person, "
            "row_number() OVER (PARTITION BY person ORDER BY target DESC) AS place FROM receipts) WHERE place > ?)",
            (_MAX_RECEIPTS,),
        )
        self.notify("members")
        return count

    def recognize(self, item: OutboxId, name: int, *, now: datetime) -> None:
        """Notes that an item came back to the account that sent it, word for word and under this name: it went out.

        Unlike a receipt, its words tell which one it is, whatever else has no name yet. What was written before the
        first attempt is another message that happens to say the same.
        """
        named = self.execute(
            "UPDATE attempts SET sent_at = ?1 WHERE id = (SELECT max(id) FROM attempts "
            "WHERE outbox_id = ?2 AND sent_at IS NULL AND begun_at - set_back_ms - ?3 <= ?1)",
            (name, item, _BEHIND_MS),
        )
        if named.rowcount:
            self._prove(item, name, now)
            self.reconcile(now=now)

    def reconcile(self, *, now: datetime) -> int:
        """Lets the kept receipts prove what they can by now, one after the other; returns how many items that were."""
        count = 0
        while (clear := self._clear(now)) is not None:
            name, send = clear
            if send.id < 0:
                self.execute("UPDATE reactions SET name = ? WHERE id = ?", (name, -send.id))
            else:
                self.execute("UPDATE attempts SET sent_at = ? WHERE id = ?", (name, send.id))
                count += self._prove(send.item, name, now)
        return count

    def _clear(self, now: datetime) -> tuple[int, _Send] | None:
        """Returns the name of a receipt that can mean one item only, whichever of its attempts, with the latest one: a
        name that can mean that could mean the earlier ones as well.

        None: no receipt is clear. Those that can become so no more are deleted.
        """
        if not self.exists("SELECT 1 FROM receipts LIMIT 1"):
            return None
        self.execute(
            "DELETE FROM receipts WHERE EXISTS (SELECT 1 FROM attempts WHERE attempts.sent_at = receipts.target) "
            "OR target IN (SELECT name FROM reactions WHERE name IS NOT NULL)"
        )
        kept = self.rows("SELECT target, person, came_at FROM receipts ORDER BY target")
        receipts, unnamed = [_Receipt(*row) for row in kept], self._unnamed(now)
        left_at = self._left_at({one.person for one in receipts})
        spent: list[tuple[int, bytes]] = []
        for receipt in receipts:
            reached = [(one, one.reaches(receipt, left_at)) for one in unnamed if one.may_be(receipt)]
            possible = [one for one, is_for in reached if is_for is not False]
            if any(is_for for _, is_for in reached) and len({one.item for one in possible}) == 1:
                return receipt.name, max(possible, key=lambda one: one.id)
            if not any(one.is_pending for one in possible):
                spent.append((receipt.name, receipt.person))
        self.execute_many("DELETE FROM receipts WHERE target = ? AND person = ?", spent)
        return None

    def _prove(self, item: int, name: int, now: datetime) -> bool:
        """Settles an item that went out under this name; returns whether that was in doubt."""
        # If it is being sent again, that may still go out: an attempt stays open for its name.
        self.execute(
            "UPDATE attempts SET open_until = ?1 "
            "WHERE id = (SELECT max(id) FROM attempts WHERE outbox_id = ?2 AND sent_at IS NULL) "
            "AND EXISTS (SELECT 1 FROM outbox WHERE id = ?2 AND state = 'sending')",
            (_UNANSWERED, item),
        )
        was_open = self.settle(item, "sent", name, now)
        self.execute("UPDATE outbox SET sent_at = ? WHERE id = ? AND state = 'sent' AND sent_at IS NULL", (name, item))
        if was_open:
            self.notify("outbox")
        return was_open

    def begin_reaction(self, address: str, *, in_group: bool, now: datetime) -> int | None:
        """Notes that a reaction is about to be sent; returns its number.

        None: it must not be sent now, because something else is being sent to this chat or is in doubt, and receipts
        could mean either.
        """
        chat = self.chat_handle(address)
        if self.exists(
            "SELECT 1 FROM outbox INDEXED BY outbox_open JOIN conversations ON conversations.id = conversation_id "
            "WHERE state IN ('waiting', 'sending', 'unknown') AND state <> 'waiting' AND handle = ?",
            (chat,),
        ):
            return None
        self.execute("DELETE FROM reactions WHERE ended_at < ?", (millis(now - _REACTIONS_KEPT),))
        return self.insert("reactions", chat=chat, in_group=in_group, begun_at=millis(now))

    def end_reaction(self, number: int, name: int | None, *, now: datetime, until: datetime | None = None) -> None:
        """Notes that the reaction was sent, under this name if the bridge gave one, or may go out until `until`."""
        self.execute("UPDATE reactions SET ended_at = ?, name = ? WHERE id = ?", (millis(until or now), name, number))
        self.reconcile(now=now)

    def _left_at(self, people: Collection[bytes]) -> _LeftAt:
        rows = self.rows(
            f"SELECT conversation_id, person, left_at FROM members WHERE person IN ({', '.join('?' * len(people))})",  # noqa: S608
            tuple(people),
        )
        return {(conversation, person): left for conversation, person, left in rows}

    def _unnamed(self, now: datetime) -> list[_Send]:
        """Returns the unnamed attempts and reactions.

        If one of an item's attempts went out and it is unknown which, naming the others will tell, so all are pending.
        A reaction ends with the answer of the bridge, whose clock may be a little ahead.
        """
        return [
            *self.records(
                _Send,
                "SELECT attempts.id AS id, outbox.id AS item, "
                "coalesce(max(settled_at, coalesce(open_until, 0)) > ?, TRUE) "
                "OR (state = 'sent' AND outbox.sent_at IS NULL) AS is_pending, "
                "outbox.conversation_id AS conversation, handle, in_group, begun_at, "
                "max(settled_at, coalesce(open_until, 0)) AS until, listed_at, set_back_ms "
                "FROM attempts INDEXED BY attempts_open JOIN outbox ON outbox.id = outbox_id "
                "JOIN conversations ON conversations.id = outbox.conversation_id "
                "LEFT JOIN rosters ON rosters.conversation_id = outbox.conversation_id "
                "WHERE attempts.sent_at IS NULL",
                (millis(now),),
            ),
            *self.records(
                _Send,
                "SELECT -reactions.id AS id, -reactions.id AS item, coalesce(ended_at > ?, TRUE) AS is_pending, "
                "conversations.id AS conversation, chat AS handle, in_group, begun_at, ended_at + ? AS until, "
                "listed_at, set_back_ms FROM reactions JOIN conversations ON handle = chat "
                "LEFT JOIN rosters ON rosters.conversation_id = conversations.id WHERE name IS NULL",
                (millis(now), _BEHIND_MS),
            ),
        ]

    def _fitting(self, confirmation: Confirmation, unnamed: Collection[_Send]) -> list[_Receipt]:
        """Returns receipts for those names that an attempt can have got which went to this person, or may have."""
        if not unnamed or not confirmation.names:
            return []
        person, came_at = self.chat_handle(confirmation.address), millis(confirmation.came_at)
        left_at = self._left_at((person,))
        known = self.column(
            "SELECT sent_at FROM attempts WHERE sent_at IN (SELECT value FROM json_each(?1)) "
            "UNION SELECT name FROM reactions WHERE name IN (SELECT value FROM json_each(?1))",
            (_as_json(confirmation.names),),
        )
        new = sorted(set(confirmation.names).difference(known))[-_MAX_RECEIPTS:]
        receipts = [_Receipt(name, person, came_at) for name in new if name <= came_at + _AHEAD_MS]
        return [
            receipt
            for receipt in receipts
            if any(one.may_be(receipt) and one.reaches(receipt, left_at) is not False for one in unnamed)
        ]

    def prune(self, *, before: datetime) -> int:
        """Deletes a batch of receipts from before `before`; returns how many."""
        return self.execute(
            "DELETE FROM receipts WHERE (target, person) IN (SELECT target, person FROM receipts WHERE target < ? "
            "LIMIT ?)",
            (millis(before), AT_ONCE),
        ).rowcount


def _as_json(values: Iterable[int]) -> str:
    """Returns the numbers as JSON, for `json_each`."""
    return json.dumps(list(values))
