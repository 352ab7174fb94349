"""Forgetting: words that go before they would by themselves, of one turn, one conversation or one person.

    a turn           its rows go, and a summary that covers it; what it cost and how its messages were called stays
    a conversation   its rows go, and the data key that opens them in every copy of the file; it goes on under a new key
    a person         the direct conversation as above, and in all others the turns in which the person asked, the
                     reminders that they planned and what they predicted

The database and the key file do not commit as one, so a conversation is forgotten in three transactions:

    prepare (keys): the next generation's key
    conversation (database): the rows go, what came later is sealed again, the generation counts up
    `Keyring.sweep` (keys): the former generation's key goes

Of a long conversation the words go in batches before that, and the names of messages to the row that it will be
(`successor`, `ahead`): whoever asked for it asks again after a crash, for that message is settled with the end.
A crash after the first leaves a key that the next try uses, one after the second a key that is swept at the next
opening. The words that are left are never without their key, and those that went never have one for longer than that.
"""

import json
import logging
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, fields
from datetime import datetime

from store.errors import Damaged, StoreError
from store.records import ConversationId, InboxId, TurnId
from store.repository import Repository, millis
from store.sealing import key_name

_log = logging.getLogger(__name__)

_AT_ONCE = 20
"""How many turns are named at a time, so that nobody waits long for a transaction that forgets them."""

_TO_SUCCESSOR = """
UPDATE ledger SET conversation_id = ?2, turn_id = NULL, details = NULL
 WHERE turn_id IN (SELECT value FROM json_each(?1));
UPDATE inbox SET conversation_id = ?2, envelope = NULL, turn_id = NULL, claimed_until = NULL
 WHERE turn_id IN (SELECT value FROM json_each(?1));
UPDATE outbox SET conversation_id = ?2, reply = NULL, removal = NULL
 WHERE turn_id IN (SELECT value FROM json_each(?1)) AND EXISTS (SELECT 1 FROM attempts WHERE outbox_id = outbox.id);
DELETE FROM outbox WHERE turn_id IN (SELECT value FROM json_each(?1)) AND conversation_id <> ?2;
UPDATE turns SET conversation_id = ?2
 WHERE id IN (SELECT value FROM json_each(?1)) AND EXISTS (SELECT 1 FROM outbox WHERE turn_id = turns.id);
DELETE FROM turns WHERE id IN (SELECT value FROM json_each(?1)) AND conversation_id <> ?2
"""
"""What is known of turns whose words are gone, without the turns where nothing was sent."""

_WORDS_OF_TURNS = """
DELETE FROM summaries WHERE conversation_id IN (SELECT covers.conversation_id FROM turns
  JOIN summaries AS covers ON covers.conversation_id = turns.conversation_id
   AND turns.id BETWEEN first_turn AND last_turn WHERE turns.id IN (SELECT value FROM json_each(?)));
DELETE FROM history WHERE turn_id IN (SELECT value FROM json_each(?));
DELETE FROM journal WHERE turn_id IN (SELECT value FROM json_each(?));
DELETE FROM askers WHERE turn_id IN (SELECT value FROM json_each(?));
DELETE FROM unanswered WHERE turn_id IN (SELECT value FROM json_each(?));
UPDATE ledger SET details = NULL WHERE turn_id IN (SELECT value FROM json_each(?));
UPDATE inbox SET state = 'done', envelope = NULL, claimed_until = NULL
 WHERE turn_id IN (SELECT value FROM json_each(?)) AND state IN ('waiting', 'claimed')
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Erasure:
    """What was destroyed of what had been remembered."""

    conversations: int = 0
    """Those that lost their data key."""
    turns: int = 0
    """Questions that had been answered, with their answers."""
    messages: int = 0
    """Those of these turns: questions, answers, calls of tools and their results."""
    reminders: int = 0
    """Those that were still to come, planned questions among them."""
    facts: int = 0
    predictions: int = 0

    def __add__(self, other: "Erasure") -> "Erasure":
        return Erasure(**{each.name: getattr(self, each.name) + getattr(other, each.name) for each in fields(self)})


class Forgetting(Repository):
    """The repository of what must be gone. All methods run inside a transaction."""

    def counting(self, erase: Callable[[], Erasure]) -> Erasure:
        """What this destroys, with how many reminders, facts and predictions go."""
        before = self._kept()
        return erase() + Erasure(**(before - self._kept()))

    def _kept(self) -> Counter[str]:
        [(reminders, facts, predictions)] = self.rows(
            "SELECT (SELECT count(*) FROM reminders WHERE settled_at IS NULL), "
            "(SELECT count(*) FROM facts WHERE fact IS NOT NULL), "
            "(SELECT count(*) FROM predictions WHERE words IS NOT NULL)"
        )
        return Counter(reminders=reminders, facts=facts, predictions=predictions)

    def turn(self, turn: TurnId, *, now: datetime) -> Erasure:
        """The words of one turn go, of its question, its steps, its tools and its answer as far as it is not sent.

        Its messages are settled. If it runs, nobody needs its outcome any more. A part of the answer that is just being
        sent keeps its name, for the receipt.
        """
        return self._turns((turn,), now)

    def undo(self, turn: TurnId, *, now: datetime) -> None:
        """What the question of a turn had Aldis keep beyond its answer goes: reminders, facts and predictions; and a
        prediction of which it told the outcome is open again.

        For a question that is taken back, or asked again. One that only gets old leaves them standing.
        """
        for (origin,) in self.rows("SELECT origin FROM reminders WHERE turn_id = ?", (turn,)):
            self.undo_planned(origin, now=now)
        self.execute("DELETE FROM facts WHERE turn_id = ?", (turn,))
        self.execute("DELETE FROM predictions WHERE turn_id = ?", (turn,))
        self.execute(
            "UPDATE predictions SET outcome = NULL, settled_at = NULL WHERE outcome_turn_id = ? AND words IS NOT NULL",
            (turn,),
        )

    def undo_planned(self, origin: str, *, now: datetime) -> None:
        """What this call or message had Aldis say later goes: the reminder that it planned, with the turns in which
        that was told or asked, for its words are in them; and what else is said for it and has not gone out.
        """
        runs = self.rows(
            "SELECT inbox.id, inbox.turn_id FROM reminders JOIN inbox ON author = person AND device = reminders.id "
            "AND kind = 'reminder' WHERE origin = ?",
            (origin,),
        )
        said = [turn for (turn,) in self.rows("SELECT id FROM turns WHERE origin = ?", (origin,))]
        self._turns([*said, *(turn for _, turn in runs if turn is not None)], now)
        self.execute(
            "UPDATE inbox SET state = 'done', envelope = NULL, claimed_until = NULL "
            "WHERE id IN (SELECT value FROM json_each(?)) AND state IN ('waiting', 'claimed')",
            (json.dumps([item for item, _ in runs]),),
        )
        self.execute("DELETE FROM reminders WHERE origin = ?", (origin,))

    def running_for(self, origin: str | None, turn: TurnId | None) -> tuple[TurnId, ...]:
        """The planned questions being answered that this message, or a call in the turn that answered it, has planned:
        what `undo_planned` and `undo` are about to take the words of.
        """
        rows = self.rows(
            "SELECT turns.id FROM reminders JOIN inbox ON author = person AND device = reminders.id "
            "AND kind = 'reminder' JOIN turns ON turns.id = inbox.turn_id "
            "WHERE (reminders.origin = ?1 OR reminders.turn_id = ?2) AND turns.state = 'running'",
            (origin, turn),
        )
        return tuple(TurnId(running) for (running,) in rows)

    def turns_before(self, at: datetime) -> tuple[tuple[ConversationId, TurnId], ...]:
        """Turns with words that ended before then, oldest first; a batch of them, none when there are no more."""
        return self._turns_of(
            "SELECT conversation_id, id FROM turns WHERE state IN ('kept', 'failed') AND ended_at < ? "
            "ORDER BY ended_at LIMIT ?",
            at,
        )

    def turns_expired(self, now: datetime) -> tuple[tuple[ConversationId, TurnId], ...]:
        """Turns whose time is over and that do not run, first to expire first; a batch of them, as `turns_before`."""
        return self._turns_of(
            "SELECT conversation_id, id FROM turns WHERE expires_at IS NOT NULL AND expires_at <= ? "
            "AND state <> 'running' ORDER BY expires_at LIMIT ?",
            now,
        )

    def prepare(self, address: str) -> None:
        """Make the key under which the conversation at this address will go on; nothing where there is none."""
        handle = self.chat_handle(address)
        for (generation,) in self.rows("SELECT key_generation FROM conversations WHERE handle = ?", (handle,)):
            self.keyring.make(key_name(handle, generation + 1))

    def successor(self, address: str, *, now: datetime) -> ConversationId | None:
        """As what the conversation at this address will go on, if that is long; nobody finds it before.

        None where there is none, or where it is forgotten in one step. One that is left behind by a crash has the names
        of some messages, which go as all names do.
        """
        return self.value(
            "INSERT INTO conversations (realm, handle, created_at, served_at, key_generation) "
            "SELECT realm, randomblob(16), ?2, served_at, key_generation + 1 FROM conversations WHERE handle = ?1 "
            "AND EXISTS (SELECT 1 FROM turns WHERE conversation_id = conversations.id AND state = 'kept' "
            "LIMIT 1 OFFSET ?3) RETURNING id",
            (self.chat_handle(address), millis(now), 2 * _AT_ONCE),
        )

    def ahead(self, address: str, successor: ConversationId, *, now: datetime) -> Erasure | None:
        """Beforehand, the words of some turns of this conversation go that are over; None when there are no more.

        What `conversation` would do with them: the names of their messages are the successor's from now on.
        """
        turns = self.column(
            "SELECT id FROM turns WHERE conversation_id = (SELECT id FROM conversations WHERE handle = ?) "
            "AND state = 'kept' AND NOT EXISTS (SELECT 1 FROM inbox WHERE turn_id = turns.id "
            "AND state IN ('waiting', 'claimed')) AND NOT EXISTS (SELECT 1 FROM outbox WHERE turn_id = turns.id "
            "AND state IN ('waiting', 'sending', 'unknown')) ORDER BY id LIMIT ?",
            (self.chat_handle(address), _AT_ONCE),
        )
        if not turns:
            return None
        erased = self._turns(turns, now)
        for statement in _TO_SUCCESSOR.split(";"):
            self.execute(statement, (json.dumps(turns), successor))
        return erased

    def person_ahead(self, person: str, *, now: datetime) -> Erasure | None:
        """Beforehand, as of `person`: the words of some turns that are over go; None when few enough are left."""
        turns = self.column(
            "SELECT turn_id FROM askers JOIN turns ON id = turn_id WHERE person = ? "
            "AND state IN ('kept', 'failed') LIMIT ?",
            (self.keyring.handle(person), 3 * _AT_ONCE),
        )
        if len(turns) < 3 * _AT_ONCE:
            return None

        def erase() -> Erasure:
            self._forget_facts(turns[:_AT_ONCE])
            return self._turns(turns[:_AT_ONCE], now)

        return self.counting(erase)

    def open_turns(self, address: str, person: str | None = None) -> tuple[tuple[ConversationId, TurnId], ...]:
        """The turns without an end yet that `conversation` and, where one is named, `person` would take."""
        rows = self.rows(
            "SELECT conversation_id, id FROM turns WHERE state = 'running' AND (conversation_id = "
            "(SELECT id FROM conversations WHERE handle = ?) OR id IN (SELECT turn_id FROM askers WHERE person = ?))",
            (self.chat_handle(address), None if person is None else self.keyring.handle(person)),
        )
        return tuple((ConversationId(conversation), TurnId(turn)) for conversation, turn in rows)

    def conversation(
        self, address: str, *, before: InboxId, now: datetime, successor: ConversationId | None = None
    ) -> Erasure:
        """All words of the conversation at this address go; it is another one from now on, of another id and key.

        `prepare` was committed before. Messages from `before` on that are still open wait in the new conversation;
        earlier ones are settled. The names of messages stay, so that redeliveries and late receipts are known, and so
        does what was spent.

        Raises:
            Damaged: it was not prepared; nothing may be kept of this transaction.
        """
        handle = self.chat_handle(address)
        old: ConversationId | None = self.value("SELECT id FROM conversations WHERE handle = ?", (handle,))
        if old is None:
            return Erasure()
        [(turns, messages)] = self.rows(
            "SELECT count(DISTINCT turn_id), count(*) FROM history WHERE conversation_id = ?", (old,)
        )
        later = self._later(old, before)
        new = self._next_generation(old, handle, now, successor)
        self._move_inbox(old, new, before)
        for item, (place, envelope) in later.items():
            self.execute(
                "UPDATE inbox SET state = 'waiting', envelope = ? WHERE id = ?",
                (self.keyring.seal(new, place, envelope), item),
            )
        self._move_outbox(old, new, now)
        self.execute(
            "UPDATE ledger SET conversation_id = ?, turn_id = NULL, details = NULL WHERE conversation_id = ?",
            (new, old),
        )
        self.execute("DELETE FROM grants WHERE conversation_id = ?", (old,))
        self.execute("DELETE FROM conversations WHERE id = ?", (old,))
        self.keyring.refresh(old)
        for wakeup in ("inbox", "urgent", "outbox"):
            self.notify(wakeup)
        return Erasure(conversations=1, turns=turns, messages=messages)

    def person(self, person: str, *, before: InboxId, now: datetime) -> Erasure:
        """The words of all turns in which this person (the author, as of an `Arrival`) asked go, the facts that they
        told in them, and their reminders and predictions, in every conversation.

        The person's own messages that are open and came before `before` are settled; all other open messages of these
        turns wait to be taken up again.
        """
        handle = self.keyring.handle(person)
        turns = self.column("SELECT turn_id FROM askers WHERE person = ?", (handle,))
        self.execute(
            "UPDATE inbox INDEXED BY inbox_open SET state = 'done', envelope = NULL, claimed_until = NULL "
            "WHERE author = ? AND id < ? AND state IN ('waiting', 'claimed')",
            (handle, before),
        )
        self.execute(
            "UPDATE inbox SET state = 'waiting', turn_id = NULL, claimed_until = NULL, "
            "attempts = attempts - (state = 'claimed') WHERE turn_id IN (SELECT value FROM json_each(?)) "
            "AND state IN ('waiting', 'claimed')",
            (json.dumps(turns),),
        )
        self.notify("inbox")
        self._forget_facts(turns)
        for (origin,) in self.rows("SELECT origin FROM reminders WHERE person = ?", (handle,)):
            self.undo_planned(origin, now=now)
        for table in ("predictions", "grants"):
            self.execute(f"DELETE FROM {table} WHERE person = ?", (handle,))  # noqa: S608  (our own names)
        return self._turns(turns, now)

    def _forget_facts(self, turns: Collection[int]) -> None:
        """What was told to be remembered in these turns goes."""
        self.execute("DELETE FROM facts WHERE turn_id IN (SELECT value FROM json_each(?))", (json.dumps(list(turns)),))

    def place(self, item: InboxId) -> ConversationId:
        """The conversation that a message of the inbox is in now.

        Raises:
            StoreError: the message is not known.
        """
        place = self.value("SELECT conversation_id FROM inbox WHERE id = ?", (item,))
        if place is None:
            raise StoreError(f"message {item} of the inbox is not there")
        return place

    def _turns_of(self, query: str, at: datetime) -> tuple[tuple[ConversationId, TurnId], ...]:
        return tuple((conversation, turn) for conversation, turn in self.rows(query, (millis(at), _AT_ONCE)))

    def _turns(self, turns: Collection[int], now: datetime) -> Erasure:
        these = json.dumps(list(turns))
        [(count, messages)] = self.rows(
            "SELECT count(DISTINCT turn_id), count(*) FROM history WHERE turn_id IN (SELECT value FROM json_each(?))",
            (these,),
        )
        for statement in _WORDS_OF_TURNS.split(";"):
            self.execute(statement, (these,))
        self.execute(
            "UPDATE outbox SET reply = NULL, state = CASE state WHEN 'sending' THEN 'sending' ELSE 'dead' END, "
            "settled_at = CASE state WHEN 'sending' THEN NULL WHEN 'unknown' THEN max(due_at, ?1) ELSE ?1 END "
            "WHERE turn_id IN (SELECT value FROM json_each(?2)) AND state IN ('waiting', 'sending', 'unknown')",
            (millis(now), these),
        )
        self.execute(
            "UPDATE turns SET state = 'ignored', ended_at = coalesce(ended_at, ?), expires_at = NULL "
            "WHERE id IN (SELECT value FROM json_each(?))",
            (millis(now), these),
        )
        self.notify("outbox")
        return Erasure(turns=count, messages=messages)

    def _later(self, conversation: ConversationId, before: InboxId) -> dict[int, tuple[str, bytes]]:
        """The open messages from `before` on, by id: where each is sealed, and its envelope."""
        rows = self.rows(
            "SELECT id, account, author, device, sent_at, kind, envelope FROM inbox WHERE conversation_id = ? "
            "AND id >= ? AND state IN ('waiting', 'claimed') ORDER BY id",
            (conversation, before),
        )
        later: dict[int, tuple[str, bytes]] = {}
        for item, account, author, device, sent_at, kind, envelope in rows:
            # The same words as in `store.inbox`: repositories do not know each other, yet both seal this column.
            place = f"inbox.envelope|{account.hex()}|{author.hex()}|{device}|{sent_at}|{kind}"
            try:
                later[item] = (place, self.keyring.open(conversation, place, envelope))
            except Damaged as error:
                _log.error("message %d of the inbox is lost: %s", item, error)
        return later

    def _next_generation(
        self, old: ConversationId, handle: bytes, now: datetime, successor: ConversationId | None
    ) -> ConversationId:
        """The conversation's next generation, under its handle; the old one has another that nobody looks for."""
        self.execute("UPDATE conversations SET handle = randomblob(16) WHERE id = ?", (old,))
        if successor is None:
            successor = ConversationId(
                self.value(
                    "INSERT INTO conversations (realm, handle, created_at, served_at, key_generation) "
                    "SELECT realm, ?, ?, served_at, key_generation + 1 FROM conversations WHERE id = ? RETURNING id",
                    (handle, millis(now), old),
                )
            )
        else:
            self.execute("UPDATE conversations SET handle = ? WHERE id = ?", (handle, successor))
        self.keyring.refresh(successor)
        # Sealing fails without a key: better now than when the first message comes, which nobody could read then.
        self.keyring.seal(successor, "", b"")
        return successor

    def _move_inbox(self, old: ConversationId, new: ConversationId, before: InboxId) -> None:
        """The names of all messages go along; words do not, nor does a claim."""
        self.execute(
            "UPDATE inbox SET conversation_id = ?1, envelope = NULL, turn_id = NULL, claimed_until = NULL, "
            "attempts = attempts - (state = 'claimed' AND id >= ?3), "
            "state = CASE WHEN state = 'dead' OR (state <> 'done' AND id >= ?3) THEN 'dead' ELSE 'done' END "
            "WHERE conversation_id = ?2",
            (new, old, before),
        )

    def _move_outbox(self, old: ConversationId, new: ConversationId, now: datetime) -> None:
        """The names of what was sent, or may have been, go along with the rows of their turns."""
        self.execute(
            "UPDATE outbox SET state = 'dead', settled_at = max(due_at, ?) "
            "WHERE conversation_id = ? AND state IN ('waiting', 'unknown')",
            (millis(now), old),
        )
        for table in ("journal", "askers", "unanswered"):
            turns = "SELECT id FROM turns WHERE conversation_id = ?"
            self.execute(f"DELETE FROM {table} WHERE turn_id IN ({turns})", (old,))  # noqa: S608  (our own names)
        self.execute(
            "UPDATE turns SET conversation_id = ?1, state = 'ignored', ended_at = coalesce(ended_at, ?3), "
            "expires_at = NULL WHERE id IN (SELECT turn_id FROM outbox WHERE conversation_id = ?2 "
            "AND EXISTS (SELECT 1 FROM attempts WHERE outbox_id = outbox.id))",
            (new, old, millis(now)),
        )
        self.execute(
            "UPDATE outbox SET conversation_id = ?, reply = NULL, removal = NULL WHERE conversation_id = ? "
            "AND EXISTS (SELECT 1 FROM attempts WHERE outbox_id = outbox.id)",
            (new, old),
        )
        self.execute("DELETE FROM outbox WHERE conversation_id = ?", (old,))
        self.execute("DELETE FROM history WHERE conversation_id = ?", (old,))
