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
A receipt names a timestamp and a person, but no conversation. It can mean any attempt, the first as well as the second
of an item, that its author could receive: a direct message to them, or one to a group that they are in. Of groups of
which the bridge has not told since then who is in them it can mean each, but it proves none of those if its author may
be a stranger. An attempt can get its name from when it is begun until its item is settled, however slow
the bridge is: that is when the item is answered for, proved, or sent again with success; one that is given up without
anybody knowing is left as long as it would have waited to be sent again. So the attempts of one conversation have times
of their own, and a receipt proves an item where it can mean no other (`store.proofs`); until that shows it is kept.
A reaction is confirmed like a message, so it takes part in that (`begin_reaction`) while something is in doubt.
An answer that comes twice is a nuisance, one that is taken for sent and never went out is lost.
What was sent again may stand there twice. Once one of its sends is known, every other name that people have received
and that can be nothing else in that chat is a copy, whenever that shows (`take_copies`): it is removed.
An item may take the place of an earlier one (`replaces`): whether that went out, and under which timestamp, is known
when it is its turn to be sent. What was taken back has no words any more and is not sent (again).
A status says what is going on in a turn that takes long, until the answer takes its place. Its positions count down
from -1, those of answers and questions up from 0. Nothing is lost with a status, so none holds anything else up: one
that still waits when something takes its place is not sent at all, and one in doubt is never sent again. It is given a
short time for its receipt: proved, it can be edited like any other; else it is dead, and what follows is a new message.
A conversation may be held: nobody in it can be written to before somebody's new safety number is trusted. Its items
wait and are not due, for weather does not change that; each until it is too old.
Queries for open items say so in the words of their partial index (`state IN ('waiting', 'sending', 'unknown')`) before
they say which of them: SQLite would not use it otherwise, and read every settled item each time. Where they name a
conversation they name that index, too.
"""

import json
import logging
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from store.errors import Damaged
from store.proofs import Proofs, ReceiptReach, SendAttempt, prove
from store.records import ConversationId, Copy, InboxId, OutboxId, OutboxItem, SentMessage, TurnId, Waiting
from store.repository import AT_ONCE, Repository, millis, moment, moment_if

_log = logging.getLogger(__name__)

_BEHIND_MS = 1000
"""By how much the clock of the bridge, which names the messages, may be behind ours."""
_AHEAD_MS = 60_000
"""By how much it may be ahead: a receipt for what comes later confirms nothing that went out."""

_UNANSWERED = 2**62
"""Until when an attempt is open that the bridge has not answered yet."""

_LONGEST_UNHEARD_MS = 600_000
"""So long after a send began it is sent again, proved or not, although nobody could hear of it."""

_MAX_RECEIPTS = 512
_MAX_RECEIPTS_OF_ONE = 32
"""How many receipts are kept that prove nothing yet, in all and of one person: no more sends than that are in doubt."""


@dataclass(frozen=True, slots=True)
class _Receipt:
    """What somebody has received."""

    name: int
    person: bytes
    """The handle of their direct chat."""
    ahead_ms: int
    """By how much own time was ahead of the machine's clock when it came."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Unnamed:
    """An attempt whose name nobody knows."""

    attempt: SendAttempt
    conversation: int
    handle: bytes
    in_group: bool
    begun_at: int
    until: int | None
    """Until when it can have got its name; None: it still can."""
    listed_at: int | None
    """When the bridge last told who is in its group; None: it never did."""
    ahead_ms: int
    """By how much own time was ahead of the machine's clock when it was begun."""

    def span(self, receipt: _Receipt) -> tuple[int, int]:
        """When the message was named, if this is it: the earliest and the latest, should the clock have been set."""
        by = self.ahead_ms, receipt.ahead_ms
        return receipt.name + min(by), receipt.name + max(by)

    def may_be(self, receipt: _Receipt) -> bool:
        """Whether it can have got this name."""
        earliest, latest = self.span(receipt)
        return self.begun_at - _BEHIND_MS <= latest and (self.until is None or earliest <= self.until)

    def reaches(self, receipt: _Receipt, left_at: dict[tuple[int, bytes], int | None]) -> bool | None:
        """Whether it was for whoever has sent the receipt, too, if that means it; None: nobody knows.

        `left_at` has the members of the groups.
        """
        if not self.in_group:
            return self.handle == receipt.person
        earliest, latest = self.span(receipt)
        here = self.conversation, receipt.person
        if here in left_at and ((left := left_at[here]) is None or left >= earliest):
            return True
        # Whoever is not in a list from before may have joined since.
        return None if self.listed_at is None or self.listed_at < latest else False


class Outbox(Repository):
    """The repository of departures. All methods run inside a transaction."""

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
        self.notify("outbox")

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

    def take_status_back(self, turn: TurnId) -> SentMessage | None:
        """Nothing will take the place of the turn's status: it is not sent (again). Gives what has to be removed.

        One that is just being sent has no words any more: whoever sends it learns that it has to go (`mark_sent`).
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
        return self.value("SELECT coalesce(max(position) + 1, 0) FROM outbox WHERE turn_id = ?", (turn,))

    def turn_of(self, conversation: ConversationId, sent_at: int) -> TurnId | None:
        """The turn that a message of ours in this conversation belongs to; None where it is not known."""
        return self.value(
            "SELECT turn_id FROM outbox WHERE sent_at = ? AND conversation_id = ?", (sent_at, conversation)
        )

    def was_last_before(self, turn: TurnId, item: InboxId) -> bool:
        """Whether all that a turn has said went out, as far as is known, before this message came, and nothing of any
        other turn of the conversation between the two.
        """
        return bool(
            self.value(
                "SELECT 1 FROM inbox, (SELECT max(attempted_at) AS asked_at FROM outbox "
                "WHERE turn_id = ?1 AND position >= 0 AND state IN ('sent', 'unknown')) WHERE id = ?2 "
                "AND received_at > asked_at AND NOT EXISTS "
                "(SELECT 1 FROM outbox WHERE turn_id = ?1 AND position >= 0 AND state IN ('waiting', 'sending')) "
                "AND NOT EXISTS (SELECT 1 FROM outbox WHERE conversation_id = (SELECT conversation_id FROM turns "
                "WHERE id = ?1) AND turn_id <> ?1 AND attempted_at BETWEEN asked_at AND received_at "
                "AND outbox.id > (SELECT max(id) FROM outbox WHERE turn_id = ?1))",
                (turn, item),
            )
        )

    def of_turn(self, turn: TurnId) -> tuple[tuple[OutboxId, SentMessage | None], ...]:
        """The items of a turn in order, each with what it is in the chat; None where it is not known to be there.

        Without what was only a status, and without what removed something.
        """
        rows = self.rows(
            "SELECT id, sent_at, original_at, revision FROM outbox WHERE turn_id = ? AND position >= 0 AND NOT removes "
            "ORDER BY position",
            (turn,),
        )
        return tuple((OutboxId(row[0]), _in_chat(*row[1:])) for row in rows)

    def unsent_parts(self, conversation: ConversationId, turn: TurnId) -> tuple[bytes, ...]:
        """What of the turn's answer has surely not been sent, in order."""
        rows = self.rows(
            "SELECT position, reply FROM outbox WHERE turn_id = ? AND state = 'waiting' ORDER BY position", (turn,)
        )
        return tuple(self.keyring.open(conversation, _place(turn, position), reply) for position, reply in rows)

    def is_ours(self, conversation: ConversationId, sent_at: int) -> bool:
        """Whether something went out to the conversation under this time, in whichever of its attempts."""
        return bool(
            self.value(
                "SELECT 1 FROM attempts JOIN outbox ON outbox.id = outbox_id "
                "WHERE attempts.sent_at = ? AND conversation_id = ?",
                (sent_at, conversation),
            )
        )

    def doubtful(self, conversation: ConversationId) -> tuple[bytes, ...]:
        """What is being sent to the conversation or may have been: nobody knows yet under which time."""
        rows = self.rows(
            "SELECT turn_id, position, reply FROM outbox INDEXED BY outbox_open "
            "WHERE conversation_id = ? AND state IN ('waiting', 'sending', 'unknown') "
            "AND state IN ('sending', 'unknown') AND reply IS NOT NULL ORDER BY id",
            (conversation,),
        )
        return tuple(
            self.keyring.open(conversation, _place(TurnId(turn), position), reply) for turn, position, reply in rows
        )

    def has_open(self) -> bool:
        """Whether anything is still to be sent, or to be found out about."""
        return bool(self.rows("SELECT 1 FROM outbox WHERE state IN ('waiting', 'sending', 'unknown') LIMIT 1"))

    def begin(
        self, *, now: datetime, most: int, stamped_at: datetime | None = None, unheard: timedelta | None = None
    ) -> tuple[OutboxItem, ...]:
        """The items to send now, at most so many: in each conversation the first that is open, if it is due.

        Statuses come after all else. What is given is `sending` then. Receipts are listened for meanwhile; that is
        written down. `stamped_at` is what the machine's clock shows, by which the bridge names what it sends; None: it
        shows `now`. `unheard` is the grace period where no receipt can come just now: what is unknown waits longer by
        the time since the last look, but no longer than that grace from now, and ten minutes in all.
        """
        if unheard is not None:
            self._put_off_unknown(millis(now), millis(now + unheard))
        self._listens(millis(now))
        self.execute(
            "UPDATE outbox SET reply = NULL, state = 'dead', settled_at = ?1 "
            "WHERE state IN ('waiting', 'sending', 'unknown') AND state = 'unknown' "
            "AND (position < 0 OR reply IS NULL) AND due_at <= ?1",
            (millis(now),),
        )
        rows = self.rows(
            "SELECT id, conversation_id, turn_id, position, reply, attempts, state, replaces FROM outbox WHERE id IN ("
            "SELECT min(id) FROM outbox WHERE state IN ('waiting', 'sending', 'unknown') GROUP BY conversation_id"
            ") AND state IN ('waiting', 'unknown') AND due_at <= ? "
            "AND EXISTS (SELECT 1 FROM conversations WHERE id = outbox.conversation_id AND realm = ?) "
            "AND conversation_id NOT IN (SELECT conversation_id FROM holds) "
            "ORDER BY position < 0, due_at, id LIMIT ?",
            (millis(now), self.realm, most),
        )
        return tuple(
            item for row in rows if (item := self._begun(*row, now=now, stamped_at=stamped_at or now)) is not None
        )

    def next_due_at(self) -> datetime | None:
        """When `begin` will have something at the earliest; None when nothing waits for a time."""
        return moment_if(
            self.value(
                "SELECT min(due_at) FROM outbox JOIN conversations ON conversations.id = outbox.conversation_id "
                "WHERE outbox.id IN ("
                "SELECT min(id) FROM outbox WHERE state IN ('waiting', 'sending', 'unknown') GROUP BY conversation_id"
                ") AND state <> 'sending' AND realm = ? "
                "AND outbox.conversation_id NOT IN (SELECT conversation_id FROM holds)",
                (self.realm,),
            )
        )

    def mark_sent(self, item: OutboxId, sent_at: int, *, now: datetime, edited: SentMessage | None = None) -> bool:
        """It went out under this timestamp, as an edit of `edited` if set; its words go.

        Gives whether it has to be removed: a status that was taken back while it was being sent.
        """
        may_have_copies = bool(self._sent_again((item,)))
        possible = set(self._possible_names(item, now)) - {sent_at} if may_have_copies else set[int]()
        self._name_last(item, sent_at)
        rows = self.rows(
            "SELECT position < 0 AND state = 'sending' AND reply IS NULL, state = 'sent' AND sent_at IN "
            "(SELECT sent_at FROM attempts WHERE outbox_id = ?1 ORDER BY id DESC LIMIT -1 OFFSET 1) "
            "FROM outbox WHERE id = ?1",
            (item,),
        )
        [(is_taken_back, is_there_already)] = rows or [(0, 0)]
        if edited is not None:
            self.execute(
                "UPDATE outbox SET revision = ?, original_at = ? WHERE id = ?",
                (edited.revision + 1, edited.original_at, item),
            )
        self._settle(item, "sent", sent_at, now)
        if edited is not None or not is_there_already:
            # A receipt may have proved it before: the bridge knows better than we which name it has.
            self.execute("UPDATE outbox SET sent_at = ? WHERE id = ? AND state = 'sent'", (sent_at, item))
        if may_have_copies:
            self._note_copies(item, possible)
        if self.rows("SELECT 1 FROM receipts LIMIT 1"):
            self.reconcile(now=now)
        return bool(is_taken_back)

    def postpone(self, item: OutboxId, *, due_at: datetime, now: datetime, is_in_doubt: bool = False) -> None:
        """It surely did not go out: try again then, unless it was taken back meanwhile.

        `is_in_doubt`: it may have, and does no harm when it goes out twice, as a removal; its first name is its own.
        """
        if is_in_doubt:
            self._doubt_last(item, due_at)
        else:
            self._drop_attempt(item)
        self._end_attempt(item, "waiting", due_at)
        if self.rows("SELECT 1 FROM outbox WHERE replaces = ?", (item,)):
            self._pass_over(item)
        self.reconcile(now=now)

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
        self.postpone(item, due_at=now, now=now)
        return bool(rows)

    def doubt(self, item: OutboxId, *, due_at: datetime) -> None:
        """Nobody knows whether it went out: unless a receipt proves it, it is due again then."""
        self._end_attempt(item, "unknown", due_at)
        self._doubt_last(item, due_at)

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
        self.execute(
            "UPDATE attempts SET open_until = ? WHERE sent_at IS NULL AND open_until = ?", (until, _UNANSWERED)
        )
        self.execute("UPDATE reactions SET ended_at = ? WHERE ended_at IS NULL", (until,))
        self.notify("members")
        return self.execute(
            "UPDATE outbox SET due_at = CASE WHEN position < 0 THEN ?3 ELSE ?1 END, "
            "state = CASE WHEN reply IS NULL THEN 'dead' ELSE 'unknown' END, "
            "settled_at = CASE WHEN reply IS NULL THEN ?1 END "
            "WHERE state IN ('waiting', 'sending', 'unknown') AND state = 'sending' "
            "AND EXISTS (SELECT 1 FROM conversations WHERE id = outbox.conversation_id AND realm = ?2)",
            (until, self.realm, until_status),
        ).rowcount

    def put_off_all(self, seconds: float) -> None:
        """Own time is ahead by so much at once: what waits waits as long as it would have."""
        self.execute(
            "UPDATE outbox SET due_at = due_at + ? WHERE state IN ('waiting', 'sending', 'unknown')",
            (round(seconds * 1000),),
        )
        # What was settled before is named by the times of before.
        self.execute(
            "UPDATE attempts SET open_until = ?1 + max(coalesce(open_until, 0), "
            "(SELECT settled_at FROM outbox WHERE id = outbox_id)) WHERE sent_at IS NULL AND ?1 > 0 "
            "AND coalesce(open_until, 0) < ?2 AND EXISTS "
            "(SELECT 1 FROM outbox WHERE id = outbox_id AND settled_at IS NOT NULL)",
            (round(seconds * 1000), _UNANSWERED),
        )

    def pull_in(self, *, until: datetime) -> int:
        """At start: nothing that waits is due later than then; gives how many items were."""
        return self.execute(
            "UPDATE outbox SET due_at = ?1 WHERE state IN ('waiting', 'sending', 'unknown') AND due_at > ?1 "
            "AND EXISTS (SELECT 1 FROM conversations WHERE id = outbox.conversation_id AND realm = ?2)",
            (millis(until), self.realm),
        ).rowcount

    def give_up(self, item: OutboxId, *, now: datetime, doubted_until: datetime | None = None) -> None:
        """It is dead, its words go: it will never go out.

        Or, where `doubted_until` is set, nobody knows whether it did: it is dead then, unless a receipt proves it.
        """
        if doubted_until is not None:
            self.execute(
                "UPDATE outbox SET reply = NULL, state = 'unknown', due_at = ? WHERE id = ? AND state = 'sending'",
                (millis(doubted_until), item),
            )
            self._doubt_last(item, doubted_until)
            return
        self._drop_attempt(item)
        self._settle(item, "dead", None, now)
        self.reconcile(now=now)

    def could_prove(
        self, address: str, names: Collection[int], *, now: datetime, stamped_at: datetime | None = None
    ) -> bool:
        """Whether a receipt of whoever has the direct chat at `address` for any of these names can mean something.

        It writes nothing: a receipt that cannot is to cost nothing. `stamped_at` as in `begin`.
        """
        return bool(self._fitting(address, names, now, stamped_at))

    def prove(self, address: str, names: Collection[int], *, now: datetime, stamped_at: datetime | None = None) -> int:
        """A phone of whoever has the direct chat at `address` has received messages of ours of these timestamps.

        What only one send can mean is proved; the rest is kept until it is clear. Gives how many items were proved.
        `stamped_at` as in `begin`.
        """
        fitting = self._fitting(address, names, now, stamped_at)
        if not fitting:
            return 0
        self.execute_many(
            "INSERT INTO receipts (target, person, ahead_ms) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            [(receipt.name, receipt.person, receipt.ahead_ms) for receipt in fitting],
        )
        count = self.reconcile(now=now)
        self._bound_receipts()
        self.notify("members")
        return count

    def reconcile(self, *, now: datetime) -> int:
        """Let the receipts that are kept prove what they can by now; gives how many items they proved."""
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
                (_listed(found.names.values()),),
            )
        )
        for item in found.items:
            self._keep_open(item)
            self._settle(item, "sent", names.get(item), now)
        self.execute_many(
            "UPDATE outbox SET sent_at = ? WHERE id = ? AND state = 'sent' AND sent_at IS NULL",
            [(name, item) for item, name in names.items()],
        )
        for item in self._sent_again({*names, *found.items}.union(*found.open_names.values())):
            self._note_copies(item, self._meant(item, found.open_names))
        self.execute("DELETE FROM receipts WHERE target IN (SELECT value FROM json_each(?))", (_listed(found.spent),))
        if found.items:
            self.notify("outbox")
        return len(found.items)

    def _doubt_last(self, item: OutboxId, until: datetime) -> None:
        """Nobody knows what became of the last attempt; where another one is proved, it may go out until then."""
        self.execute(
            "UPDATE attempts SET open_until = ? WHERE outbox_id = ? AND open_until = ?",
            (millis(until), item, _UNANSWERED),
        )
        self.notify("members")

    def _keep_open(self, item: int) -> None:
        """The item is proved; where it is just being sent again, that may still go out."""
        self.execute(
            "UPDATE attempts SET open_until = ?1 WHERE id = (SELECT max(id) FROM attempts WHERE outbox_id = ?2) "
            "AND sent_at IS NULL AND EXISTS (SELECT 1 FROM outbox WHERE id = ?2 AND state = 'sending')",
            (_UNANSWERED, item),
        )

    def begin_reaction(self, address: str, *, in_group: bool, now: datetime, stamped_at: datetime) -> int | None:
        """A reaction is about to be sent; gives its number. `stamped_at` as in `begin`.

        None: not now, for something is being sent to this chat, or is in doubt, and the receipts could mean either.
        """
        chat = self.chat_handle(address)
        if self.rows(
            "SELECT 1 FROM outbox INDEXED BY outbox_open JOIN conversations ON conversations.id = conversation_id "
            "WHERE state IN ('waiting', 'sending', 'unknown') AND state <> 'waiting' AND handle = ?",
            (chat,),
        ):
            return None
        # Those that no send without a name can be mistaken for are over. Settled sends count: with a name too many
        # among them, theirs would go to one that is in doubt.
        self.execute(
            "DELETE FROM reactions WHERE ended_at < ?1 - 2 * ?2 AND NOT EXISTS "
            "(SELECT 1 FROM attempts INDEXED BY attempts_open JOIN outbox ON outbox.id = outbox_id "
            "WHERE attempts.sent_at IS NULL AND attempts.begun_at - 2 * ?2 <= ended_at "
            "AND (settled_at IS NULL OR max(settled_at, coalesce(open_until, 0)) + ?3 >= reactions.begun_at))",
            (millis(now), _BEHIND_MS, _AHEAD_MS),
        )
        rows = self.execute(
            "INSERT INTO reactions (chat, in_group, begun_at, ahead_ms) VALUES (?, ?, ?, ?) RETURNING id",
            (chat, in_group, millis(now), millis(now) - millis(stamped_at)),
        ).fetchall()
        return int(rows[0][0])

    def end_reaction(self, number: int, name: int | None, *, now: datetime, until: datetime | None = None) -> None:
        """The bridge has sent it under this name, or has told none, or has failed: then it may go out `until` then."""
        self.execute("UPDATE reactions SET ended_at = ?, name = ? WHERE id = ?", (millis(until or now), name, number))
        self.reconcile(now=now)

    def keep_removal(self, item: OutboxId, removal: bytes) -> None:
        """Keep, sealed, how a copy of this item is removed: it is being sent again."""
        for conversation, turn, position in self.rows(
            "SELECT conversation_id, turn_id, position FROM outbox WHERE id = ?", (item,)
        ):
            sealed = self.keyring.seal(ConversationId(conversation), _removal_place(turn, position), removal)
            self.execute("UPDATE outbox SET removal = ? WHERE id = ?", (sealed, item))

    def take_copies(self) -> tuple[Copy, ...]:
        """What is to be removed from its chat by now, each once."""
        rows = self.rows(
            "SELECT outbox_id, name, conversation_id, turn_id, position, removal FROM copies INDEXED BY copies_open "
            "JOIN outbox ON outbox.id = outbox_id JOIN conversations ON conversations.id = conversation_id "
            "WHERE NOT is_taken AND realm = ? ORDER BY name",
            (self.realm,),
        )
        return tuple(copy for row in rows if (copy := self._taken(*row)) is not None)

    def _taken(
        self, item: int, name: int, conversation: int, turn: int, position: int, removal: bytes | None
    ) -> Copy | None:
        """A copy whose removal begins; None where it is not known any more how."""
        self.execute("UPDATE copies SET is_taken = 1 WHERE outbox_id = ? AND name = ?", (item, name))
        if removal is None:
            return None
        try:
            place = _removal_place(turn, position)
            opened = self.keyring.open(ConversationId(conversation), place, removal)
        except Damaged as error:
            _log.error("a copy of reply %d stays in its chat: %s", item, error)
            return None
        return Copy(name=name, conversation=ConversationId(conversation), turn=TurnId(turn), removal=opened)

    def _name_last(self, item: int, sent_at: int) -> None:
        """The last attempt has this name; one that a receipt gave it belongs to an attempt before it, then."""
        last = "(SELECT max(id) FROM attempts WHERE outbox_id = ?2)"
        self.execute(
            f"UPDATE attempts SET sent_at = (SELECT sent_at FROM attempts WHERE id = {last} AND sent_at <> ?1) "  # noqa: S608
            f"WHERE id = (SELECT max(id) FROM attempts WHERE outbox_id = ?2 AND sent_at IS NULL AND id <> {last})",
            (sent_at, item),
        )
        self.execute(f"UPDATE attempts SET sent_at = ?1 WHERE id = {last}", (sent_at, item))  # noqa: S608

    def _note_copies(self, item: int, possible: Collection[int]) -> None:
        """What else of an item that was sent again stands in its chat, surely or `possible`, is to be removed."""
        copies = self.execute(
            "INSERT OR IGNORE INTO copies (outbox_id, name) SELECT id, name FROM outbox JOIN ("
            "SELECT value AS name FROM json_each(?2) UNION "
            "SELECT sent_at FROM attempts WHERE outbox_id = ?1 AND sent_at IS NOT NULL"
            ") WHERE id = ?1 AND state = 'sent' AND removal IS NOT NULL AND name <> sent_at",
            (item, _listed(self._unclear(possible))),
        )
        if copies.rowcount:
            self.notify("outbox")

    def _possible_names(self, item: int, now: datetime) -> tuple[int, ...]:
        """The names under which something was received that may be a copy of this item, or is in another chat."""
        receipts = self._receipts()
        return self._meant(item, self._proofs(receipts, now).open_names) if receipts else ()

    def _sent_again(self, items: Collection[int]) -> list[int]:
        """Those of some items of which there may be copies."""
        listed = "SELECT value FROM json_each(?)"
        rows = self.rows(f"SELECT id FROM outbox WHERE id IN ({listed}) AND removal IS NOT NULL", (_listed(items),))  # noqa: S608
        return [item for (item,) in rows]

    def _meant(self, item: int, meanings: Mapping[int, frozenset[int]]) -> tuple[int, ...]:
        """Those names that can mean this item, and nothing that may stand in its chat once."""
        here = {
            other
            for (other,) in self.rows(
                "SELECT id FROM outbox WHERE conversation_id = (SELECT conversation_id FROM outbox WHERE id = ?1) "
                "AND id <> ?1 AND id IN (SELECT outbox_id FROM attempts WHERE sent_at IS NULL) "
                "AND (state <> 'sent' OR sent_at IS NULL)",
                (item,),
            )
        }
        return tuple(sorted(name for name, items in meanings.items() if item in items and not here & items))

    def _receipts(self) -> list[_Receipt]:
        """The receipts that are kept."""
        return [_Receipt(*row) for row in self.rows("SELECT target, person, ahead_ms FROM receipts ORDER BY target")]

    def _proofs(self, receipts: Collection[_Receipt], now: datetime) -> Proofs:
        """What the receipts prove."""
        unnamed = self._unnamed(now)
        left_at = {
            (conversation, person): left
            for conversation, person, left in self.rows(
                "SELECT conversation_id, person, left_at FROM members WHERE person IN (SELECT person FROM receipts)"
            )
        }
        reaches: dict[int, list[ReceiptReach]] = {}
        for receipt in receipts:
            told = {one.attempt.id: one.reaches(receipt, left_at) for one in unnamed if one.may_be(receipt)}
            reach = ReceiptReach(
                known=frozenset(attempt for attempt, is_for in told.items() if is_for),
                possible=frozenset(attempt for attempt, is_for in told.items() if is_for is None),
            )
            reaches.setdefault(receipt.name, []).append(reach)
        return prove([one.attempt for one in unnamed], reaches)

    def _unnamed(self, now: datetime) -> list[_Unnamed]:
        """The attempts of which nobody knows the name, oldest first."""
        rows = self.rows(
            "SELECT attempts.id, outbox.id, state IN ('waiting', 'sending', 'unknown'), outbox.conversation_id, "
            "handle, in_group, begun_at, max(settled_at, coalesce(open_until, 0)), listed_at, ahead_ms, "
            "state = 'sent' AND outbox.sent_at IS NULL "
            "FROM attempts INDEXED BY attempts_open JOIN outbox ON outbox.id = outbox_id "
            "JOIN conversations ON conversations.id = outbox.conversation_id "
            "LEFT JOIN rosters ON rosters.conversation_id = outbox.conversation_id "
            "WHERE attempts.sent_at IS NULL"
        )
        return [
            _Unnamed(
                attempt=SendAttempt(
                    id=row[0],
                    item=row[1],
                    is_open=bool(row[2]),
                    # One of several of an item that went out, nobody knows which, is found out when others are named.
                    is_pending=row[7] is None or row[7] > millis(now) or bool(row[10]),
                ),
                conversation=row[3],
                handle=row[4],
                in_group=bool(row[5]),
                begun_at=row[6],
                until=row[7],
                listed_at=row[8],
                ahead_ms=row[9],
            )
            for row in sorted(rows, key=lambda row: row[0])
        ] + self._unnamed_reactions(now)

    def _unnamed_reactions(self, now: datetime) -> list[_Unnamed]:
        """The reactions of which nobody knows the name, with ids below those of all attempts.

        They end with the bridge's answer, whose clock may be a little ahead.
        """
        rows = self.rows(
            "SELECT reactions.id, conversations.id, chat, in_group, begun_at, ended_at, listed_at, ahead_ms "
            "FROM reactions JOIN conversations ON handle = chat "
            "LEFT JOIN rosters ON rosters.conversation_id = conversations.id WHERE name IS NULL"
        )
        return [
            _Unnamed(
                attempt=SendAttempt(
                    id=-row[0], item=-row[0], is_open=False, is_pending=row[5] is None or row[5] > millis(now)
                ),
                conversation=row[1],
                handle=row[2],
                in_group=bool(row[3]),
                begun_at=row[4],
                until=None if row[5] is None else row[5] + _BEHIND_MS,
                listed_at=row[6],
                ahead_ms=row[7],
            )
            for row in rows
        ]

    def _fitting(
        self, address: str, names: Collection[int], now: datetime, stamped_at: datetime | None
    ) -> list[_Receipt]:
        """The receipts of these names that some attempt can have got that went to this person, or may have."""
        unnamed = self._unnamed(now) if names else []
        if not unnamed:
            return []
        person, ahead_ms = self.chat_handle(address), millis(now) - millis(stamped_at or now)
        left_at = {
            (conversation, person): left
            for conversation, left in self.rows(
                "SELECT conversation_id, left_at FROM members WHERE person = ?", (person,)
            )
        }
        latest = millis(now) + _AHEAD_MS
        fitting = {
            receipt.name: receipt
            for receipt in (_Receipt(name, person, ahead_ms) for name in names)
            if any(
                one.may_be(receipt) and one.span(receipt)[0] <= latest and one.reaches(receipt, left_at) is not False
                for one in unnamed
            )
        }
        return [fitting[name] for name in self._unclear(fitting)[-_MAX_RECEIPTS_OF_ONE:]]

    def _unclear(self, names: Collection[int]) -> list[int]:
        """Those of some names of which it is not known what went out under them, oldest first."""
        known = self.rows(
            "SELECT sent_at FROM attempts WHERE sent_at IN (SELECT value FROM json_each(?1)) "
            "UNION SELECT name FROM reactions WHERE name IN (SELECT value FROM json_each(?1))",
            (_listed(names),),
        )
        return sorted(set(names) - {name for (name,) in known})

    def _bound_receipts(self) -> None:
        """Keep so many receipts of one person, and in all; those of people who may be strangers go first."""
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

    def conversation_of(self, item: OutboxId) -> ConversationId | None:
        """The conversation that an item is in by now: its own may have been forgotten. None when it is not there."""
        return self.value("SELECT conversation_id FROM outbox WHERE id = ?", (item,))

    def hold(self, conversation: ConversationId, *, now: datetime) -> None:
        """Send nothing to the conversation any more: nobody in it has a safety number that is trusted."""
        self.execute(
            "INSERT INTO holds (conversation_id, held_at) VALUES (?1, ?2) "
            "ON CONFLICT (conversation_id) DO UPDATE SET held_at = ?2",
            (conversation, millis(now)),
        )
        self.notify("identities")

    def held_conversations(self) -> dict[ConversationId, datetime]:
        """The conversations to which nothing is sent, and since when."""
        return {ConversationId(conversation): moment(at) for conversation, at in self.rows("SELECT * FROM holds")}

    def release(self, conversation: ConversationId) -> None:
        """Send again what was held."""
        self.execute("DELETE FROM holds WHERE conversation_id = ?", (conversation,))
        self.notify("outbox")

    def wake(self, *, now: datetime) -> None:
        """Make due what surely did not go out and waits to be tried again: what was in its way is gone."""
        self.execute(
            "UPDATE outbox SET due_at = ?1 WHERE state IN ('waiting', 'sending', 'unknown') AND state = 'waiting' "
            "AND due_at > ?1",
            (millis(now),),
        )
        self.notify("outbox")

    def give_up_held(self, *, before: datetime, now: datetime) -> int:
        """What is held and belongs to a turn from before then is dead; gives how much that was."""
        return self.execute(
            "UPDATE outbox SET state = 'dead', reply = NULL, settled_at = ?1 "
            "WHERE state IN ('waiting', 'sending', 'unknown') AND state = 'waiting' "
            "AND conversation_id IN (SELECT conversation_id FROM holds) "
            "AND turn_id IN (SELECT id FROM turns WHERE started_at < ?2)",
            (millis(now), millis(before)),
        ).rowcount

    def prune(self, *, before: datetime) -> int:
        """Forget items that were settled before then and receipts from before, a batch of each; gives how many."""
        values = (millis(before), AT_ONCE)
        receipts = self.execute(
            "DELETE FROM receipts WHERE (target, person) IN (SELECT target, person FROM receipts WHERE target < ? "
            "LIMIT ?)",
            values,
        )
        items = self.execute(
            "DELETE FROM outbox WHERE id IN (SELECT id FROM outbox WHERE settled_at < ? LIMIT ?)", values
        )
        return receipts.rowcount + items.rowcount

    def backlog(self) -> Waiting:
        """How much is under way, over all conversations of the realm."""
        [(items, oldest)] = self.rows(
            "SELECT count(*), min(due_at) FILTER (WHERE conversation_id NOT IN (SELECT conversation_id FROM holds)) "
            "FROM outbox JOIN conversations ON conversations.id = conversation_id "
            "WHERE state IN ('waiting', 'sending', 'unknown') AND realm = ?",
            (self.realm,),
        )
        [(dead,)] = self.rows(
            "SELECT count(*) FROM outbox JOIN conversations ON conversations.id = conversation_id "
            "WHERE state = 'dead' AND realm = ?",
            (self.realm,),
        )
        return Waiting(items=items, oldest_at=moment_if(oldest), dead=dead)

    def _drop_attempt(self, item: OutboxId) -> None:
        """The last attempt surely did not go out: no receipt can mean it."""
        self.execute(
            "DELETE FROM attempts WHERE id = (SELECT max(id) FROM attempts WHERE outbox_id = ?) AND sent_at IS NULL",
            (item,),
        )

    def _put_off_unknown(self, at: int, until: int) -> None:
        """The time since somebody last listened is no time in which a receipt could have come."""
        self.execute(
            "UPDATE outbox SET due_at = max(due_at, min(due_at + ?1 - (SELECT until FROM listening WHERE realm = ?2), "
            "?3, coalesce(attempted_at, ?1) + ?4)) "
            "WHERE state IN ('waiting', 'sending', 'unknown') AND state = 'unknown' AND position >= 0 "
            "AND EXISTS (SELECT 1 FROM listening WHERE realm = ?2 AND until < ?1) "
            "AND EXISTS (SELECT 1 FROM conversations WHERE id = outbox.conversation_id AND realm = ?2)",
            (at, self.realm, until, _LONGEST_UNHEARD_MS),
        )

    def _listens(self, at: int) -> None:
        self.execute(
            "INSERT INTO listening (realm, until) VALUES (?, ?) ON CONFLICT DO UPDATE SET until = excluded.until",
            (self.realm, at),
        )

    def _begun(
        self, item: int, conversation: int, turn: int, position: int, reply: bytes, attempts: int, state: str,
        replaces: int | None, *, now: datetime, stamped_at: datetime,
    ) -> OutboxItem | None:  # fmt: skip
        """The item of a row, `sending` from now; None when it is damaged: it is dead then, and stops no other."""
        try:
            opened = self.keyring.open(ConversationId(conversation), _place(TurnId(turn), position), reply)
        except Damaged as error:
            _log.error("reply %d of the outbox is lost: %s", item, error)
            self._settle(item, "dead", None, now)
            return None
        edits = self._in_place_of(replaces)
        self.execute(
            "UPDATE outbox SET state = 'sending', attempted_at = ?, attempts = attempts + 1 WHERE id = ?",
            (millis(now), item),
        )
        self.execute(
            "INSERT INTO attempts (outbox_id, begun_at, ahead_ms) VALUES (?, ?, ?)",
            (item, millis(now), millis(now) - millis(stamped_at)),
        )
        return OutboxItem(
            id=OutboxId(item),
            conversation=ConversationId(conversation),
            turn=TurnId(turn),
            reply=opened,
            attempts=attempts,
            was_unknown=state == "unknown",
            edits=edits,
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

    def _standing(self, item: int | None, turn: int) -> SentMessage | None:
        """What is in the chat of a status of this turn, or of the nearest one before it; None where nothing is."""
        if item is None:
            return None
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

    def _in_place_of(self, replaces: int | None) -> SentMessage | None:
        if replaces is None:
            return None
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


def _in_chat(sent_at: int | None, original_at: int | None, revision: int) -> SentMessage | None:
    if sent_at is None:
        return None
    return SentMessage(sent_at=sent_at, original_at=original_at or sent_at, revision=revision)


def _listed(values: Iterable[int]) -> str:
    """Numbers for a statement that reads them as JSON."""
    return json.dumps(list(values))


def _place(turn: TurnId, position: int) -> str:
    return f"outbox.reply|{turn}|{position}"


def _removal_place(turn: int, position: int) -> str:
    return f"outbox.removal|{turn}|{position}"
