"""Send attempts: which ones went out, under which names, and what delivery receipts prove about them.

A name is the timestamp by which Signal identifies a message. A receipt tells a name and a person, but no conversation.
It can mean any attempt, first or repeated, that its author could receive: a direct message to them, or one to a group
that they are in. If the bridge has not listed the members of a group since, the receipt can mean an attempt there, too,
but it proves none of those if its author may be a stranger.

An attempt can get its name from its start until its item is settled, however slow the bridge is: until the bridge
answers, a receipt proves the item, or a repetition succeeds. An attempt given up in doubt stays open as long as it
would have waited to be repeated. A receipt proves an item if it can mean no other (`store.proofs`); until then it is
kept. Phones confirm a reaction like a message, so reactions take part in this, too (`begin_reaction`).

An answer that arrives twice is a nuisance; one that counts as sent but never went out is lost.

What such names say about copies of a repeated item belongs to `store.sent`. If nothing has replaced a status yet that
was given up in doubt and arrived after all, the replacement still edits it.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import astuple
from datetime import datetime

from store.proofs import BEHIND_MS, KeptReceipt, Proofs, UnnamedAttempt, prove_receipts
from store.records import Confirmation, ConversationId, OutboxId
from store.repository import AT_ONCE, Repository, millis
from store.sealing import Keyring
from store.sent import Copies

_AHEAD_MS = 60_000
"""How far the clock of the bridge may be ahead of ours; a receipt for a later name confirms nothing that went out."""
_UNANSWERED = 2**62
"""The `open_until` of an attempt that the bridge has not answered yet."""
_MAX_RECEIPTS = 512
_MAX_RECEIPTS_OF_ONE = 32
"""How many receipts that prove nothing yet are kept, in all and per person: no more sends than that are in doubt."""


class Attempts(Repository):
    """The repository of sends and receipts. All methods run inside a transaction."""

    def __init__(self, keyring: Keyring, notified: set[str], realm: str) -> None:
        super().__init__(keyring, notified, realm)
        self._copies = Copies(keyring, notified, realm)

    def begin(self, item: int, *, now: datetime, stamped_at: datetime) -> int:
        """Notes that an item is about to be sent; returns how many earlier attempts may have gone out.

        `stamped_at` is the machine's clock, by which the bridge names what it sends.
        """
        doubts = self.value("SELECT count(*) FROM attempts WHERE outbox_id = ?", (item,))
        self.execute(
            "INSERT INTO attempts (outbox_id, begun_at, ahead_ms) VALUES (?, ?, ?)",
            (item, millis(now), millis(now) - millis(stamped_at)),
        )
        return doubts

    def interrupt(self, *, until: datetime) -> None:
        """At start: notes that interrupted attempts have no name and may go out until `until`.

        Their items may be given up before: a status does not wait that long.
        """
        self.execute(
            "UPDATE attempts SET open_until = ?1 WHERE sent_at IS NULL AND (open_until = ?2 OR id IN "
            "(SELECT max(attempts.id) FROM outbox JOIN attempts ON outbox_id = outbox.id "
            "WHERE outbox.state IN ('waiting', 'sending', 'unknown') AND outbox.state = 'sending' GROUP BY outbox_id))",
            (millis(until), _UNANSWERED),
        )
        self.execute("UPDATE reactions SET ended_at = ? WHERE ended_at IS NULL", (millis(until),))
        self.notify("members")

    def put_off(self, seconds: float) -> None:
        """Handles a jump of own time: attempts in doubt stay open as long as before, settled ones close as planned."""
        self.execute(
            "UPDATE attempts SET open_until = ?1 + max(coalesce(open_until, 0), "
            "coalesce((SELECT settled_at FROM outbox WHERE id = outbox_id), 0)) WHERE sent_at IS NULL AND ?1 > 0 "
            "AND coalesce(open_until, 0) < ?2 AND (open_until IS NOT NULL OR EXISTS "
            "(SELECT 1 FROM outbox WHERE id = outbox_id AND settled_at IS NOT NULL))",
            (round(seconds * 1000), _UNANSWERED),
        )

    def is_ours(self, conversation: ConversationId, sent_at: int) -> bool:
        """Whether any attempt went out to the conversation under this timestamp."""
        return self.exists(
            "SELECT 1 FROM attempts JOIN outbox ON outbox.id = outbox_id "
            "WHERE attempts.sent_at = ? AND conversation_id = ?",
            (sent_at, conversation),
        )

    def drop_last(self, item: OutboxId) -> None:
        """Deletes the item's last attempt, which certainly did not go out, so that no receipt can mean it.

        A name that a receipt gave it belongs to an earlier attempt.
        """
        self.execute(
            "DELETE FROM attempts WHERE id = (SELECT max(id) FROM attempts WHERE outbox_id = ?1 AND sent_at IS NULL) "
            "AND (open_until = ?2 OR id = (SELECT max(id) FROM attempts WHERE outbox_id = ?1))",
            (item, _UNANSWERED),
        )

    def mark_last_unknown(self, item: OutboxId, until: datetime) -> None:
        """Notes that the last attempt is in doubt: it may go out until `until`.

        That holds even if another one is proved or the item is given up before.
        """
        self.execute(
            "UPDATE attempts SET open_until = ?1 WHERE outbox_id = ?2 AND sent_at IS NULL AND (open_until = ?3 "
            "OR id = (SELECT max(id) FROM attempts WHERE outbox_id = ?2))",
            (millis(until), item, _UNANSWERED),
        )
        self.notify("members")

    def name_last(self, item: int, sent_at: int) -> None:
        """Names the last attempt. Another name that a receipt gave it moves to an attempt before it."""
        last = "(SELECT max(id) FROM attempts WHERE outbox_id = ?2)"
        self.execute(
            f"UPDATE attempts SET sent_at = (SELECT sent_at FROM attempts WHERE id = {last} AND sent_at <> ?1) "  # noqa: S608
            f"WHERE id = (SELECT max(id) FROM attempts WHERE outbox_id = ?2 AND sent_at IS NULL AND id <> {last})",
            (sent_at, item),
        )
        self.execute(f"UPDATE attempts SET sent_at = ?1 WHERE id = {last}", (sent_at, item))  # noqa: S608
        self.execute(
            "UPDATE attempts SET open_until = NULL WHERE outbox_id = ? AND sent_at IS NULL AND open_until = ?",
            (item, _UNANSWERED),
        )

    def settle(self, item: OutboxId | int, state: str, sent_at: int | None, now: datetime) -> None:
        """Settles the item as `sent`, under this name if one is known, or as `dead`; deletes its words."""
        self.execute(
            "UPDATE outbox SET state = ?, sent_at = ?, settled_at = ?, reply = NULL "
            "WHERE id = ? AND state IN ('waiting', 'sending', 'unknown')",
            (state, sent_at, millis(now), item),
        )
        self.forget_questions(self.column("SELECT turn_id FROM outbox WHERE id = ?", (item,)))

    def forget_questions(self, turns: Iterable[int]) -> None:
        """Deletes the words of the messages that these turns have answered, where nothing of the answers is left to
        send.
        """
        for turn in turns:
            self.execute(
                "UPDATE inbox SET envelope = NULL WHERE turn_id = ?1 AND state = 'done' AND envelope IS NOT NULL "
                "AND NOT EXISTS (SELECT 1 FROM outbox WHERE turn_id = ?1 "
                "AND state IN ('waiting', 'sending', 'unknown'))",
                (turn,),
            )

    def provable(self, confirmations: Iterable[Confirmation], *, now: datetime) -> list[Confirmation]:
        """Returns the confirmations that can mean some attempt. Writes nothing, so that others cost nothing."""
        unnamed = self._unnamed_attempts(now)
        return [one for one in confirmations if self._fitting(one, unnamed)]

    def prove_all(self, confirmations: Iterable[Confirmation], *, now: datetime) -> int:
        """Takes confirmations from phones; returns how many items they prove.

        Receipts that are not clear yet are kept until they are.
        """
        unnamed = self._unnamed_attempts(now)
        fitting = [receipt for one in confirmations for receipt in self._fitting(one, unnamed)]
        count = 0
        for start in range(0, len(fitting), _MAX_RECEIPTS_OF_ONE):
            self.execute_many(
                "INSERT INTO receipts (target, person, ahead_ms, came_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                [astuple(receipt) for receipt in fitting[start : start + _MAX_RECEIPTS_OF_ONE]],
            )
            count += self.reconcile(now=now)
            self._bound_receipts()
        if fitting:
            self.notify("members")
        return count

    def recognize(self, item: OutboxId, name: int, *, now: datetime) -> None:
        """Notes that an item came back to the account that sent it, word for word and under this name: it went out.

        Unlike a receipt, its words tell which one it is, whatever else has no name yet. What was written before the
        first attempt is another message that happens to say the same.
        """
        named = self.execute(
            "UPDATE attempts SET sent_at = ?1 WHERE id = (SELECT max(id) FROM attempts "
            "WHERE outbox_id = ?2 AND sent_at IS NULL AND begun_at - ahead_ms - ?3 <= ?1)",
            (name, item, BEHIND_MS),
        )
        if not named.rowcount:
            return
        self._keep_open(item)
        self.settle(item, "sent", name, now)
        self.reconcile(now=now)
        self.notify("outbox")

    def reconcile(self, *, now: datetime) -> int:
        """Lets the kept receipts prove what they can by now; returns how many items that were."""
        self.execute(
            "DELETE FROM receipts WHERE EXISTS (SELECT 1 FROM attempts WHERE attempts.sent_at = receipts.target)"
        )
        self.execute("DELETE FROM receipts WHERE target IN (SELECT name FROM reactions WHERE name IS NOT NULL)")
        receipts = self._receipts()
        if not receipts:
            return 0
        found = self._proofs(receipts, now)
        self.execute_many(
            "UPDATE attempts SET sent_at = ? WHERE id = ?", [(name, attempt) for name, attempt in found.names.items()]
        )
        self.execute_many(
            "UPDATE reactions SET name = ? WHERE -id = ?", [(name, attempt) for name, attempt in found.names.items()]
        )
        names: dict[int, int] = dict(
            self.rows(
                "SELECT outbox_id, max(sent_at) FROM attempts WHERE id IN (SELECT value FROM json_each(?)) "
                "GROUP BY outbox_id",
                (_as_json(found.names.values()),),
            )
        )
        for item in found.items:
            self._keep_open(item)
            self.settle(item, "sent", names.get(item), now)
        self.execute_many(
            "UPDATE outbox SET sent_at = ? WHERE id = ? AND state = 'sent' AND sent_at IS NULL",
            [(name, item) for item, name in names.items()],
        )
        self._revive_statuses(names)
        for item in self._copies.sent_again({*names, *found.items}.union(*found.open_names.values())):
            self.note_copies(item, self._copies.names_of(item, found.open_names))
        self.execute("DELETE FROM receipts WHERE target IN (SELECT value FROM json_each(?))", (_as_json(found.spent),))
        if found.items:
            self.notify("outbox")
        return len(found.items)

    def _revive_statuses(self, names: Mapping[int, int]) -> None:
        """Revives given-up statuses that did arrive, so that their replacements can still edit them."""
        self.execute_many(
            "UPDATE outbox SET state = 'sent', sent_at = ? WHERE id = ? AND position < 0 AND state = 'dead' "
            "AND NOT EXISTS (SELECT 1 FROM outbox AS later WHERE later.replaces = outbox.id "
            "AND later.state IN ('sending', 'unknown', 'sent')) "
            "AND (EXISTS (SELECT 1 FROM turns WHERE turns.id = turn_id AND turns.state = 'running') "
            "OR EXISTS (SELECT 1 FROM outbox AS later WHERE later.replaces = outbox.id AND later.state = 'waiting'))",
            [(name, item) for item, name in names.items()],
        )

    def _keep_open(self, item: int) -> None:
        """Keeps an attempt of a proved item open if the item is being sent again, as that may still go out.

        If the receipt named the very attempt that is under way, another one takes its place.
        """
        self.execute(
            "UPDATE attempts SET open_until = ?1 "
            "WHERE id = (SELECT max(id) FROM attempts WHERE outbox_id = ?2 AND sent_at IS NULL) "
            "AND EXISTS (SELECT 1 FROM outbox WHERE id = ?2 AND state = 'sending')",
            (_UNANSWERED, item),
        )

    def begin_reaction(self, address: str, *, in_group: bool, now: datetime, stamped_at: datetime) -> int | None:
        """Notes that a reaction is about to be sent; returns its number. `stamped_at` as in `begin`.

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
        # Reactions that no unnamed send can be mistaken for are over. Settled sends count, too: with one name too many
        # among them, one of theirs would go to a send in doubt.
        self.execute(
            "DELETE FROM reactions WHERE ended_at < ?1 - 2 * ?2 AND NOT EXISTS "
            "(SELECT 1 FROM attempts INDEXED BY attempts_open JOIN outbox ON outbox.id = outbox_id "
            "WHERE attempts.sent_at IS NULL AND attempts.begun_at - 2 * ?2 <= ended_at "
            "AND (settled_at IS NULL OR max(settled_at, coalesce(open_until, 0)) + ?3 >= reactions.begun_at))",
            (millis(now), BEHIND_MS, _AHEAD_MS),
        )
        return self.value(
            "INSERT INTO reactions (chat, in_group, begun_at, ahead_ms) VALUES (?, ?, ?, ?) RETURNING id",
            (chat, in_group, millis(now), millis(now) - millis(stamped_at)),
        )

    def end_reaction(self, number: int, name: int | None, *, now: datetime, until: datetime | None = None) -> None:
        """Notes that the bridge sent the reaction, under this name if it told one.

        `until`: the bridge failed, and the reaction may go out until then.
        """
        self.execute("UPDATE reactions SET ended_at = ?, name = ? WHERE id = ?", (millis(until or now), name, number))
        self.reconcile(now=now)

    def possible_copies(self, item: int, now: datetime) -> frozenset[int] | None:
        """Returns the received names that may be a copy of this item, or belong to another chat.

        None: it can have no copies.
        """
        if not self._copies.sent_again((item,)):
            return None
        receipts = self._receipts()
        return self._copies.names_of(item, self._proofs(receipts, now).open_names) if receipts else frozenset()

    def note_copies(self, item: int, possible: Collection[int]) -> None:
        """Notes the copies of a repeated item for removal, of which the `possible` names may be some."""
        self._copies.note(item, self._unclear(possible))

    def _receipts(self) -> list[KeptReceipt]:
        """Returns the kept receipts."""
        rows = self.rows("SELECT target, person, ahead_ms, came_at FROM receipts ORDER BY target")
        return [KeptReceipt(*row) for row in rows]

    def _proofs(self, receipts: Collection[KeptReceipt], now: datetime) -> Proofs:
        """Works out what the receipts prove."""
        return prove_receipts(self._unnamed_attempts(now), receipts, self._left_at({one.person for one in receipts}))

    def _left_at(self, people: Collection[bytes]) -> dict[tuple[int, bytes], int | None]:
        """Returns when these people left their groups, by conversation and person; None: they are in it."""
        rows = self.rows(
            f"SELECT conversation_id, person, left_at FROM members WHERE person IN ({', '.join('?' * len(people))})",  # noqa: S608
            tuple(people),
        )
        return {(conversation, person): left for conversation, person, left in rows}

    def _unnamed_attempts(self, now: datetime) -> list[UnnamedAttempt]:
        """Returns the unnamed attempts, oldest first, and then the reactions, which have negative ids.

        If one of an item's attempts went out and it is unknown which, naming the others will tell, so all are pending.
        A reaction ends with the answer of the bridge, whose clock may be a little ahead.
        """
        attempts = self.records(
            UnnamedAttempt,
            "SELECT attempts.id AS id, outbox.id AS item, state IN ('waiting', 'sending', 'unknown') AS is_open, "
            "coalesce(max(settled_at, coalesce(open_until, 0)) > ?, TRUE) "
            "OR (state = 'sent' AND outbox.sent_at IS NULL) AS is_pending, "
            "outbox.conversation_id AS conversation, handle, in_group, begun_at, "
            "max(settled_at, coalesce(open_until, 0)) AS until, listed_at, ahead_ms "
            "FROM attempts INDEXED BY attempts_open JOIN outbox ON outbox.id = outbox_id "
            "JOIN conversations ON conversations.id = outbox.conversation_id "
            "LEFT JOIN rosters ON rosters.conversation_id = outbox.conversation_id "
            "WHERE attempts.sent_at IS NULL",
            (millis(now),),
        )
        reactions = self.records(
            UnnamedAttempt,
            "SELECT -reactions.id AS id, -reactions.id AS item, FALSE AS is_open, "
            "coalesce(ended_at > ?, TRUE) AS is_pending, conversations.id AS conversation, chat AS handle, in_group, "
            "begun_at, ended_at + ? AS until, listed_at, ahead_ms FROM reactions JOIN conversations ON handle = chat "
            "LEFT JOIN rosters ON rosters.conversation_id = conversations.id WHERE name IS NULL",
            (millis(now), BEHIND_MS),
        )
        return [*sorted(attempts, key=lambda attempt: attempt.id), *reactions]

    def _fitting(self, confirmation: Confirmation, unnamed: Collection[UnnamedAttempt]) -> list[KeptReceipt]:
        """Returns receipts for those names that an attempt can have got which went to this person, or may have."""
        if not unnamed or not confirmation.names:
            return []
        person, came_at = self.chat_handle(confirmation.address), millis(confirmation.came_at)
        ahead_ms = came_at - millis(confirmation.stamped_at or confirmation.came_at)
        left_at, latest = self._left_at((person,)), came_at + _AHEAD_MS
        fitting = {
            receipt.name: receipt
            for receipt in (KeptReceipt(name, person, ahead_ms, came_at) for name in confirmation.names)
            if any(
                one.may_be(receipt) and one.span(receipt)[0] <= latest and one.reaches(receipt, left_at) is not False
                for one in unnamed
            )
        }
        return [fitting[name] for name in self._unclear(fitting)[-_MAX_RECEIPTS_OF_ONE:]]

    def _unclear(self, names: Collection[int]) -> list[int]:
        """Returns those of these names that no known send has, oldest first."""
        known = self.column(
            "SELECT sent_at FROM attempts WHERE sent_at IN (SELECT value FROM json_each(?1)) "
            "UNION SELECT name FROM reactions WHERE name IN (SELECT value FROM json_each(?1))",
            (_as_json(names),),
        )
        return sorted(set(names).difference(known))

    def prune(self, *, before: datetime) -> int:
        """Deletes a batch of receipts from before `before`; returns how many."""
        return self.execute(
            "DELETE FROM receipts WHERE (target, person) IN (SELECT target, person FROM receipts WHERE target < ? "
            "LIMIT ?)",
            (millis(before), AT_ONCE),
        ).rowcount

    def _bound_receipts(self) -> None:
        """Bounds the receipts per person and in all; those of possible strangers go first."""
        self.execute(
            "DELETE FROM receipts WHERE (target, person) IN (SELECT target, person FROM (SELECT target, person, "
            "row_number() OVER (PARTITION BY person ORDER BY target DESC) AS place FROM receipts) WHERE place > ?)",
            (_MAX_RECEIPTS_OF_ONE,),
        )
        self.execute(
            "DELETE FROM receipts WHERE (target, person) IN (SELECT target, receipts.person FROM receipts "
            "ORDER BY EXISTS (SELECT 1 FROM conversations WHERE handle = receipts.person) "
            "OR EXISTS (SELECT 1 FROM members WHERE person = receipts.person) DESC, target DESC LIMIT -1 OFFSET ?)",
            (_MAX_RECEIPTS,),
        )


def _as_json(values: Iterable[int]) -> str:
    """Returns the numbers as JSON, for `json_each`."""
    return json.dumps(list(values))
