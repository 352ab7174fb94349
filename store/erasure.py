"""Forgetting: deletes the words of one turn, one conversation or one person before their time.

    a turn           its rows, and a summary that covers it; its cost and the names of its messages stay
    a conversation   its rows, and the data key that opens them in every copy of the file; it goes on under a new key
    a person         the direct conversation as above, and in all others the turns in which the person asked, their
                     reminders and their predictions

The database and the key file do not commit together, so a conversation is forgotten in three transactions:

    prepare (keys)              creates the key of the next generation
    conversation (database)     deletes the rows, seals later messages again, settles the message that asked for it
    `Keyring.sweep` (keys)      destroys the key of the former generation; after a crash the next opening does
"""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta

from store.records import ConversationId, InboxId, TurnId
from store.repository import AT_ONCE, ENVELOPE, Repository, envelope_place
from store.sealing import key_name

_KEPT_WORDS = timedelta(days=1)
"""How long the words of a reminder that has come are kept, so that it can be put off."""

_EXPIRED = """
UPDATE reminders SET words = NULL WHERE expires_at IS NOT NULL AND words IS NOT NULL AND expires_at <= ?;
DELETE FROM facts WHERE expires_at <= ?;
DELETE FROM predictions WHERE expires_at <= ?;
DELETE FROM watches WHERE expires_at <= ?;
DELETE FROM summaries WHERE expires_at <= ?
"""

_OUTDATED = """
DELETE FROM reminders WHERE settled_at < ?;
DELETE FROM facts WHERE fact IS NULL AND kept_at < ?;
DELETE FROM predictions WHERE words IS NULL AND coalesce(settled_at, due_at) < ?;
DELETE FROM watches WHERE settled_at < ?;
DELETE FROM members WHERE left_at < ?
"""
"""What is left of reminders, facts, predictions and watches without words, and of people who have left a group."""

_WORDS_OF_TURNS = """
DELETE FROM summaries WHERE conversation_id IN (SELECT covers.conversation_id FROM turns
  JOIN summaries AS covers ON covers.conversation_id = turns.conversation_id
   AND turns.id BETWEEN first_turn AND last_turn WHERE turns.id IN (SELECT value FROM json_each(?)));
DELETE FROM history WHERE turn_id IN (SELECT value FROM json_each(?));
DELETE FROM passages WHERE turn_id IN (SELECT value FROM json_each(?));
DELETE FROM journal WHERE turn_id IN (SELECT value FROM json_each(?));
DELETE FROM askers WHERE turn_id IN (SELECT value FROM json_each(?));
DELETE FROM unanswered WHERE turn_id IN (SELECT value FROM json_each(?));
UPDATE inbox SET state = CASE state WHEN 'dead' THEN 'dead' ELSE 'done' END, envelope = NULL, claimed_until = NULL
 WHERE turn_id IN (SELECT value FROM json_each(?)) AND envelope IS NOT NULL
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Erasure:
    """How much is destroyed: answered questions, reminders still to come, facts, predictions, watches."""

    turns: int = 0
    reminders: int = 0
    facts: int = 0
    predictions: int = 0
    watches: int = 0


class Forgetting(Repository):
    """The repository that forgets. All methods run inside a transaction."""

    def turns(self, *turns: int, now: datetime) -> None:
        """Deletes the words of turns, even running ones, and what of answers is not sent; settles their messages."""
        these = json.dumps(turns)
        for statement in _WORDS_OF_TURNS.split(";"):
            self.execute(statement, (these,))
        self.execute(
            "UPDATE outbox SET reply = NULL, state = iif(state = 'sending', state, 'dead'), "
            "settled_at = iif(state = 'sending', NULL, max(due_at, ?1)) "
            "WHERE turn_id IN (SELECT value FROM json_each(?2)) AND state IN ('waiting', 'sending', 'unknown')",
            (now, these),
        )
        self.execute(
            "UPDATE turns SET state = 'ignored', ended_at = coalesce(ended_at, ?), expires_at = NULL "
            "WHERE id IN (SELECT value FROM json_each(?))",
            (now, these),
        )
        self.notify("outbox")

    def undo(self, origin: str | None, turn: TurnId | None, *, now: datetime) -> list[TurnId]:
        """Deletes what this message and the turn that answers it have recorded and planned, and reopens what the turn
        settled, as the message is taken back or asked again; returns the turns of planned questions that were running.
        """
        made = "SELECT origin FROM reminders WHERE turn_id = ?1 UNION SELECT origin FROM watches WHERE turn_id = ?1"
        planned: set[str] = {*self.column(made, (turn,))}
        planned |= set() if origin is None else {origin}
        running = [one for each in planned for one in self._undo_planned(each, now)]
        self.execute("DELETE FROM facts WHERE turn_id = ?", (turn,))
        self.execute("DELETE FROM predictions WHERE turn_id = ?", (turn,))
        self.execute(
            "UPDATE predictions SET outcome = NULL, settled_at = NULL WHERE outcome_turn_id = ? AND words IS NOT NULL",
            (turn,),
        )
        return running

    def _undo_planned(self, origin: str, now: datetime) -> list[TurnId]:
        """Deletes the reminder or watch of this call or message, and the turns that it was said in; as `undo`."""
        runs = self.rows(
            "SELECT inbox.id, inbox.turn_id, turns.state FROM reminders JOIN inbox ON author = person "
            "AND device = reminders.id AND kind = 'reminder' LEFT JOIN turns ON turns.id = inbox.turn_id "
            "WHERE reminders.origin = ?",
            (origin,),
        )
        said = self.column("SELECT id FROM turns WHERE origin = ?", (origin,))
        self.turns(*said, *(turn for _, turn, _ in runs if turn is not None), now=now)
        self.execute(
            "UPDATE inbox SET state = 'done', envelope = NULL, claimed_until = NULL "
            "WHERE id IN (SELECT value FROM json_each(?)) AND state IN ('waiting', 'claimed')",
            (json.dumps([item for item, _, _ in runs]),),
        )
        for table in ("reminders", "watches"):
            self.execute(f"DELETE FROM {table} WHERE origin = ?", (origin,))  # noqa: S608  (our own names)
        return [turn for _, turn, state in runs if state == "running"]

    def expire(self, now: datetime) -> int:
        """Deletes the words of reminders, facts, predictions, watches and summaries that have disappeared, and counts
        them.
        """
        self.execute(
            "UPDATE reminders SET plan = NULL, words = NULL WHERE settled_at <= ? AND plan IS NOT NULL",
            (now - _KEPT_WORDS,),
        )
        return sum(self.execute(statement, (now,)).rowcount for statement in _EXPIRED.split(";"))

    def prune(self, *, before: datetime) -> None:
        """Deletes the names of what was settled, forgotten or struck before `before`, and members who left by then."""
        for statement in _OUTDATED.split(";"):
            self.execute(statement, (before,))

    def turns_before(self, at: datetime) -> tuple[tuple[ConversationId, TurnId], ...]:
        """Returns a batch of turns that still have words and ended before `at`, oldest first; empty at the end."""
        return self._batch("state IN ('kept', 'failed') AND ended_at < ? ORDER BY ended_at", at)

    def turns_expired(self, now: datetime) -> tuple[tuple[ConversationId, TurnId], ...]:
        """Returns a batch of expired turns that are not running, in order of expiry; empty at the end."""
        return self._batch("expires_at IS NOT NULL AND expires_at <= ? AND state <> 'running' ORDER BY expires_at", now)

    def _batch(self, condition: str, at: datetime) -> tuple[tuple[ConversationId, TurnId], ...]:
        batch = f"SELECT conversation_id, id FROM turns WHERE {condition} LIMIT ?"  # noqa: S608  (literals only)
        return tuple(self.rows(batch, (at, AT_ONCE)))

    def prepare(self, address: str) -> None:
        """Creates the next key of the conversation at this address, if there is a conversation."""
        handle = self.chat_handle(address)
        for (generation,) in self.rows("SELECT key_generation FROM conversations WHERE handle = ?", (handle,)):
            self.keyring.make(key_name(handle, generation + 1))

    def open_turns(self, address: str, person: str | None = None) -> tuple[tuple[ConversationId, TurnId], ...]:
        """Returns the running turns that `conversation` and, with a person, `person` would delete."""
        rows = self.rows(
            "SELECT conversation_id, id FROM turns WHERE state = 'running' AND (conversation_id = "
            "(SELECT id FROM conversations WHERE handle = ?) OR id IN (SELECT turn_id FROM askers WHERE person = ?))",
            (self.chat_handle(address), None if person is None else self.keyring.handle(person)),
        )
        return tuple(rows)

    def conversation(self, address: str, *, before: InboxId, now: datetime) -> None:
        """Deletes all words of the conversation at this address, which goes on with another id and key (`prepare`).
        Open messages from `before` on wait there. The names of messages stay, to recognize redeliveries and receipts.
        """
        handle = self.chat_handle(address)
        old: ConversationId | None = self.value("SELECT id FROM conversations WHERE handle = ?", (handle,))
        if old is None:
            return
        later = self._later(old, before)
        self.execute("UPDATE conversations SET handle = randomblob(16) WHERE id = ?", (old,))
        new: ConversationId = self.value(
            "INSERT INTO conversations (realm, handle, created_at, served_at, key_generation) "
            "SELECT realm, ?, ?, served_at, key_generation + 1 FROM conversations WHERE id = ? RETURNING id",
            (handle, now, old),
        )
        self.keyring.refresh(new)
        # Sealing fails without a key: better now than with the first message, which could then not be read.
        self.keyring.seal(new, "", b"")
        self.execute(
            "UPDATE inbox SET conversation_id = ?1, envelope = NULL, turn_id = NULL, claimed_until = NULL, "
            "attempts = attempts - (state = 'claimed' AND id >= ?3), "
            "state = CASE WHEN state = 'dead' OR (state <> 'done' AND id >= ?3) THEN 'dead' ELSE 'done' END "
            "WHERE conversation_id = ?2",
            (new, old, before),
        )
        for item, (place, envelope) in later.items():
            self.execute(
                "UPDATE inbox SET state = 'waiting', envelope = ? WHERE id = ?",
                (self.keyring.seal(new, place, envelope), item),
            )
        self.turns(*self.column("SELECT id FROM turns WHERE conversation_id = ?", (old,)), now=now)
        # What was or may have been sent keeps its names, and the row of its turn.
        tried = "outbox.conversation_id = ?2 AND EXISTS (SELECT 1 FROM attempts WHERE outbox_id = outbox.id)"
        sent = f"SELECT turn_id FROM outbox WHERE {tried}"  # noqa: S608  (literals only)
        self.execute(f"UPDATE turns SET conversation_id = ?1 WHERE id IN ({sent})", (new, old))  # noqa: S608
        self.execute(f"UPDATE outbox SET conversation_id = ?1 WHERE {tried}", (new, old))  # noqa: S608
        self.execute("UPDATE ledger SET conversation_id = ?, turn_id = NULL WHERE conversation_id = ?", (new, old))
        self.execute("DELETE FROM conversations WHERE id = ?", (old,))
        self.keyring.refresh(old)
        self.notify("inbox", "urgent")

    def preview(self, person: str | None, *, whole: ConversationId | None, within: ConversationId | None) -> Erasure:
        """Returns what would be deleted: `whole`, and what the person said `within` a conversation (None: anywhere)."""
        handle = None if person is None else self.keyring.handle(person)
        mine = "person = ?2 AND conversation_id = coalesce(?3, conversation_id)"
        own = f"SELECT turn_id FROM askers JOIN turns ON id = turn_id WHERE {mine}"  # noqa: S608  (literals only)
        kept = f"(conversation_id = ?1 OR ({mine}))"
        [erasure] = self.records(
            Erasure,
            f"SELECT (SELECT count(DISTINCT turn_id) FROM history WHERE conversation_id = ?1 OR turn_id IN ({own})) "  # noqa: S608
            f"AS turns, (SELECT count(*) FROM reminders WHERE settled_at IS NULL AND {kept}) AS reminders, (SELECT "
            f"count(*) FROM facts WHERE fact IS NOT NULL AND (conversation_id = ?1 OR turn_id IN ({own}))) AS facts, "
            f"(SELECT count(*) FROM predictions WHERE words IS NOT NULL AND {kept}) AS predictions, "
            f"(SELECT count(*) FROM watches WHERE settled_at IS NULL AND {kept}) AS watches",
            (whole, handle, within),
        )
        return erasure

    def person(self, person: str, *, before: InboxId, now: datetime, within: ConversationId | None = None) -> None:
        """Deletes a person's data in every conversation, or `within` one. `person` is the author, as of an `Arrival`.
        Their open messages from before `before` are settled; the other open messages of their turns wait again.
        """
        handle = self.keyring.handle(person)
        turns = self.column(
            "SELECT turn_id FROM askers JOIN turns ON id = turn_id "
            "WHERE person = ? AND conversation_id = coalesce(?, conversation_id)",
            (handle, within),
        )
        self.execute(
            "UPDATE inbox INDEXED BY inbox_open SET state = 'done', envelope = NULL, claimed_until = NULL "
            "WHERE author = ? AND id < ? AND state IN ('waiting', 'claimed') "
            "AND conversation_id = coalesce(?, conversation_id)",
            (handle, before, within),
        )
        self.execute(
            "UPDATE inbox SET state = 'waiting', turn_id = NULL, claimed_until = NULL, "
            "attempts = attempts - (state = 'claimed') WHERE turn_id IN (SELECT value FROM json_each(?)) "
            "AND state IN ('waiting', 'claimed')",
            (json.dumps(turns),),
        )
        self.notify("inbox")
        self.execute("DELETE FROM facts WHERE turn_id IN (SELECT value FROM json_each(?))", (json.dumps(turns),))
        here = "person = ? AND conversation_id = coalesce(?, conversation_id)"
        for table in ("reminders", "watches"):
            for origin in self.column(f"SELECT origin FROM {table} WHERE {here}", (handle, within)):  # noqa: S608
                self._undo_planned(origin, now)
        for table in ("predictions", "grants"):
            self.execute(f"DELETE FROM {table} WHERE {here}", (handle, within))  # noqa: S608  (our own names)
        self.turns(*turns, now=now)

    def _later(self, conversation: ConversationId, before: InboxId) -> dict[int, tuple[str, bytes]]:
        """Returns the open messages from `before` on by id: the place that each is sealed for, and its envelope."""
        rows = self.rows(
            f"SELECT id, {ENVELOPE}, account, author, device, sent_at, kind FROM inbox WHERE conversation_id = ? "  # noqa: S608
            "AND id >= ? AND state IN ('waiting', 'claimed') ORDER BY id",
            (conversation, before),
        )
        return {item: (envelope_place(*name), envelope) for item, envelope, *name in rows if envelope is not None}
