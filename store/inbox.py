"""The inbox: incoming messages, from arrival until they are answered.

                  put                claim                     done
    (nothing) --------> waiting <------------------> claimed ---------> done
        ^                  |   hand_back, requeue       |
        '-- put again      '----------------------------'-------------> dead
            changes nothing                                done, dead

A turn that failed by itself was an attempt (`attempts`); one that an orderly stop ended was none, and one whose process
died counts apart (`deaths`): a turn that ends every process has to end, too.

A claim takes what one person has written in one conversation, under one turn. Handed back or left behind, the messages
wait again and keep their turn, so that its journal fits the next claim. A turn that waits for a person's word is handed
back and put off until the word comes (`take_up`) or the time is over; others do not wait.

Urgent items (deletions, edits, commands) are not claimed. They are read, and settled in the transaction that does what
they ask for. An edit can then become a question of its own (`as_question`).

Queries for open items repeat the condition of the partial index (`state IN ('waiting', 'claimed')`), and those on one
conversation name the index as well: SQLite would otherwise read all settled items.
"""

import json
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from itertools import takewhile

from store.history import Turns
from store.records import Arrival, Claim, ConversationId, InboxId, InboxItem, KnownMessage, TurnId, Waiting
from store.repository import AT_ONCE, ENVELOPE, Repository, envelope_place, moment, moment_if

_FROM_WAITING = (
    "FROM inbox JOIN conversations ON conversations.id = inbox.conversation_id "
    "WHERE inbox.state IN ('waiting', 'claimed') AND inbox.state = 'waiting' AND "
)
_ITEM = (
    f"SELECT id, conversation_id AS conversation, turn_id AS turn, author, {ENVELOPE} AS envelope, "  # noqa: S608
    "received_at, attempts + 1 AS attempts, expires_at, refusal FROM inbox "
)


class Inbox(Repository):
    """The repository of incoming messages."""

    def put(self, arrival: Arrival) -> InboxId | None:
        """Keeps an envelope, sealed; returns None for a redelivery."""
        account, author = self.keyring.handle(self.account_name(arrival.account)), self.keyring.handle(arrival.author)
        place = envelope_place(account, author, arrival.device, arrival.sent_at, arrival.kind)
        item = self.insert(
            "inbox",
            unless="account, author, device, sent_at, kind",
            conversation_id=arrival.conversation,
            account=account,
            author=author,
            device=arrival.device,
            sent_at=arrival.sent_at,
            kind=arrival.kind,
            envelope=self.keyring.seal(arrival.conversation, place, arrival.envelope),
            state="waiting",
            received_at=arrival.received_at,
            urgent=arrival.urgent,
            expires_at=arrival.expires_at,
            refusal=arrival.refusal,
        )
        if item is not None:
            self.notify(*(("inbox", "urgent") if arrival.urgent else ("inbox",)))
        return item

    def claim(
        self,
        *,
        now: datetime,
        until: datetime,
        busy: Collection[ConversationId],
        busy_people: Collection[bytes] = (),
        limit: int = 20,
    ) -> Claim | None:
        """Claims the waiting messages of the conversation that was served longest ago; returns None if nothing waits.

        Skips conversations in `busy`, and those whose next message is from a person in `busy_people` (handles). Takes
        up to `limit` messages together, up to the first of another author, or those of a turn that began before.
        """
        next_one = (
            "SELECT inbox.conversation_id " + _FROM_WAITING + "NOT urgent "  # noqa: S608  (literals only)
            "AND coalesce(put_off_until, 0) <= ? AND realm = ? "
            "AND inbox.conversation_id NOT IN (SELECT value FROM json_each(?)) "
            "AND hex(inbox.author) NOT IN (SELECT value FROM json_each(?)) "
            "ORDER BY conversations.served_at, inbox.id LIMIT 1"
        )
        people = [person.hex().upper() for person in busy_people]
        values = now, self.realm, json.dumps(list(busy)), json.dumps(people)
        # Damaged messages are dead once they were read, so this ends.
        while (conversation := self.value(next_one, values)) is not None:
            if items := self._waiting(conversation, limit, now):
                return self._claim(items, now, until)
        return None

    def _waiting(self, conversation: ConversationId, limit: int, now: datetime) -> tuple[InboxItem, ...]:
        items = self._open_items(
            "SELECT id FROM inbox INDEXED BY inbox_open "
            "WHERE conversation_id = ? AND state IN ('waiting', 'claimed') AND state = 'waiting' AND NOT urgent "
            "AND coalesce(put_off_until, 0) <= ? ORDER BY turn_id IS NULL, turn_id, id LIMIT ?",
            (conversation, now, limit),
        )
        if begun := {item.turn for item in items if item.turn is not None}:
            return tuple(item for item in items if item.turn == min(begun))
        return tuple(takewhile(lambda item: item.author == items[0].author, items))

    def _claim(self, items: tuple[InboxItem, ...], now: datetime, until: datetime) -> Claim:
        conversation = items[0].conversation
        begun = items[0].turn
        first_end = min((item.expires_at for item in items if item.expires_at is not None), default=None)
        turn = TurnId(begun or Turns(self.context).begin(conversation, now=now, expires_at=first_end))
        state = "SELECT started_at, replaces, deaths FROM turns WHERE id = ?"
        [(started_at, replaces, deaths)] = self.rows(state, (turn,))
        self.execute(
            "UPDATE inbox SET state = 'claimed', turn_id = ?, claimed_until = ?, put_off_until = NULL, "
            "attempts = attempts + 1 WHERE id IN (SELECT value FROM json_each(?))",
            (turn, until, json.dumps([item.id for item in items])),
        )
        askers = [(turn, person) for person in {item.author for item in items}]
        self.insert_all("INSERT INTO askers (turn_id, person) VALUES", askers, "ON CONFLICT DO NOTHING")
        self.execute("UPDATE conversations SET served_at = ? WHERE id = ?", (now, conversation))
        return Claim(
            conversation=conversation,
            turn=turn,
            items=items,
            started_at=moment(started_at),
            is_new=begun is None,
            replaces=replaces,
            put_off=self.put_off_turns(conversation, now=now),
            deaths=deaths,
        )

    def has_waiting(self) -> bool:
        """Whether anything waits to be claimed now, in busy conversations or others."""
        condition = "NOT urgent AND put_off_until IS NULL AND realm = ? LIMIT 1"
        return self.exists("SELECT 1 " + _FROM_WAITING + condition, (self.realm,))

    def put_off_all(self, step: timedelta) -> None:
        """Moves all times of open messages by a step of the clock."""
        self.execute(
            "UPDATE inbox SET put_off_until = put_off_until + ?1, claimed_until = claimed_until + ?1, "
            "received_at = received_at + ?1 WHERE state IN ('waiting', 'claimed')",
            (step,),
        )

    def take_up(self, turn: TurnId) -> None:
        """Lets the turn go on, since the word has come."""
        self.execute(
            "UPDATE inbox SET put_off_until = NULL WHERE turn_id = ? AND state IN ('waiting', 'claimed')", (turn,)
        )
        self.notify("inbox")

    def take_up_overdue(self, now: datetime) -> None:
        """Lets turns go on that have waited for a word long enough."""
        overdue = self.execute(
            "UPDATE inbox SET put_off_until = NULL WHERE state IN ('waiting', 'claimed') AND put_off_until <= ?",
            (now,),
        )
        if overdue.rowcount:
            self.notify("inbox")

    def put_off_turns(self, conversation: ConversationId, *, now: datetime | None = None) -> tuple[TurnId, ...]:
        """Returns the turns that wait for a person's word; with `now`, only those that have not disappeared."""
        return self.column(
            "SELECT turn_id FROM inbox INDEXED BY inbox_open "
            "WHERE conversation_id = ?1 AND state IN ('waiting', 'claimed') AND put_off_until IS NOT NULL "
            "GROUP BY turn_id HAVING ?2 IS NULL OR coalesce(min(expires_at) > ?2, TRUE)",
            (conversation, now),
        )

    def size(self, turn: TurnId) -> int:
        """Returns how many messages the turn is to answer."""
        return self.value("SELECT count(*) FROM inbox WHERE turn_id = ? AND state IN ('waiting', 'claimed')", (turn,))

    def names(self, turn: TurnId, *, besides: InboxId) -> tuple[int, ...]:
        """Returns the timestamps of the messages that the turn answers, without this one and its edits."""
        return self.column(
            "SELECT sent_at FROM inbox WHERE turn_id = ?1 AND id <> ?2 AND coalesce(revises, 0) <> ?2 ORDER BY id",
            (turn, besides),
        )

    def set_apart(self, turn: TurnId, items: Collection[InboxId]) -> None:
        """Settles messages by themselves that were taken up with the turn, which does not answer them."""
        self.execute(
            "UPDATE inbox SET state = 'done', envelope = NULL, claimed_until = NULL, turn_id = NULL "
            "WHERE id IN (SELECT value FROM json_each(?)) AND turn_id = ?",
            (json.dumps(list(items)), turn),
        )

    def put_back(self, turn: TurnId, items: Collection[InboxId]) -> None:
        """Lets messages wait again for another turn that were taken up with this one."""
        self.execute(
            "UPDATE inbox SET state = 'waiting', turn_id = NULL, claimed_until = NULL, attempts = attempts - 1 "
            "WHERE id IN (SELECT value FROM json_each(?)) AND turn_id = ? AND state = 'claimed'",
            (json.dumps(list(items)), turn),
        )
        self.notify("inbox")

    def waiting(self, conversation: ConversationId, *, urgent: bool) -> int:
        """Counts the open messages of the conversation: the urgent ones, or the others."""
        return self.value(
            "SELECT count(*) FROM inbox INDEXED BY inbox_open "
            "WHERE conversation_id = ? AND state IN ('waiting', 'claimed') AND urgent = ?",
            (conversation, urgent),
        )

    def urgent_items(self, *, besides: Collection[ConversationId] = (), limit: int = 50) -> tuple[InboxItem, ...]:
        """Returns waiting urgent items of other conversations than `besides`, oldest first, at most `limit`."""
        return self._open_items(
            "SELECT inbox.id " + _FROM_WAITING + "urgent AND realm = ? "  # noqa: S608  (literals only)
            "AND inbox.conversation_id NOT IN (SELECT value FROM json_each(?)) ORDER BY inbox.id LIMIT ?",
            (self.realm, json.dumps(list(besides)), limit),
        )

    def count_try(self, item: InboxId) -> None:
        """Counts a failed attempt at an urgent item."""
        self.execute("UPDATE inbox SET attempts = attempts + 1 WHERE id = ?", (item,))

    def settle(self, item: InboxId, *, dead: bool = False, turn: TurnId | None = None) -> None:
        """Settles a single item, as answered by `turn` if set: deletes its words and keeps its name."""
        self.execute(
            "UPDATE inbox SET state = ?, envelope = NULL, claimed_until = NULL, turn_id = coalesce(?, turn_id) "
            "WHERE id = ?",
            ("dead" if dead else "done", turn, item),
        )

    def as_question(
        self, item: InboxId, turn: TurnId | None, *, refusal: str | None = None, expires_at: datetime | None = None
    ) -> None:
        """Makes an urgent item wait for `turn` (None: a new one) or a refusal; its words disappear by `expires_at`."""
        self.execute(
            "UPDATE inbox SET urgent = 0, turn_id = ?1, refusal = coalesce(?2, refusal), "
            "expires_at = coalesce(min(expires_at, ?3), expires_at, ?3) WHERE id = ?4",
            (turn, refusal, expires_at, item),
        )
        self.notify("inbox")

    def as_urgent(self, item: InboxId) -> None:
        """Takes a claimed message out of its turn and lets it be carried out at once."""
        self.execute(
            "UPDATE inbox SET urgent = 1, state = 'waiting', claimed_until = NULL, turn_id = NULL WHERE id = ?", (item,)
        )
        self.notify("urgent", "inbox")

    def release(self, turn: TurnId) -> None:
        """Gives up the turn for good; its messages wait for another one."""
        self.execute(
            "UPDATE inbox SET state = 'waiting', claimed_until = NULL, turn_id = NULL, put_off_until = NULL, "
            "attempts = 0 WHERE turn_id = ? AND envelope IS NOT NULL",
            (turn,),
        )
        self.notify("inbox")

    def ask_again(self, turn: TurnId, *, besides: InboxId, replaces: TurnId | None, now: datetime) -> bool:
        """Lets the messages of a turn whose answer is not out wait again, but `besides`; returns whether any do."""
        self.execute("UPDATE inbox SET envelope = NULL WHERE id = ?", (besides,))
        again = "turn_id = ? AND envelope IS NOT NULL AND (state = 'done' OR revises IS NOT NULL)"
        [(conversation, expires_at, count)] = self.rows(
            f"SELECT conversation_id, min(expires_at), count(*) FROM inbox WHERE {again}",  # noqa: S608  (a literal)
            (turn,),
        )
        if count:
            new = Turns(self.context).begin(conversation, now=now, expires_at=moment_if(expires_at), replaces=replaces)
            self.execute(
                "UPDATE inbox SET state = 'waiting', claimed_until = NULL, attempts = 0, turn_id = ? "  # noqa: S608
                f"WHERE {again}",
                (new, turn),
            )
            self.notify("inbox")
        return count > 0

    def done(self, turn: TurnId, *, dead: bool = False, keeps_words: bool = False) -> None:
        """Settles the turn's messages: deletes their words and keeps their names, to recognize redeliveries.

        `dead`: the turn failed too often. `keeps_words`: until the answer in the outbox is out (`Attempts.settle`), so
        that they can be asked again.
        """
        self.execute(
            "UPDATE inbox SET state = ?3, claimed_until = NULL, envelope = CASE WHEN ?2 AND EXISTS (SELECT 1 FROM "
            "outbox WHERE turn_id = ?1 AND state IN ('waiting', 'sending', 'unknown')) THEN envelope END "
            "WHERE turn_id = ?1 AND state IN ('waiting', 'claimed')",
            (turn, keeps_words, "dead" if dead else "done"),
        )

    def hand_back(self, turn: TurnId, *, counts: bool, put_off_until: datetime | None = None) -> None:
        """Lets the turn's messages wait again, after a failed try (`counts`) or for a word until `put_off_until`."""
        self.execute(
            "UPDATE inbox SET state = 'waiting', claimed_until = NULL, put_off_until = ?, attempts = attempts - ? "
            "WHERE turn_id = ? AND state IN ('waiting', 'claimed') AND state = 'claimed'",
            (put_off_until, 0 if counts else 1, turn),
        )
        self.notify("inbox")

    def requeue(self, *, now: datetime | None) -> int:
        """Makes claims wait again whose deadline is before `now` (None: all of them); returns how many messages do."""
        count = self.execute(
            "UPDATE inbox SET state = 'waiting', claimed_until = NULL "
            "WHERE state IN ('waiting', 'claimed') AND state = 'claimed' AND (?1 IS NULL OR claimed_until < ?1)",
            (now,),
        ).rowcount
        if count:
            self.notify("inbox")
        return count

    def recover(self) -> int:
        """At start: makes all claims wait again, as deaths of turns and tries of urgent items; returns of how many."""
        self.execute(
            "UPDATE turns SET deaths = deaths + 1 "
            "WHERE id IN (SELECT turn_id FROM inbox WHERE state IN ('waiting', 'claimed') AND state = 'claimed')"
        )
        self.execute(
            "UPDATE inbox SET attempts = attempts + iif(urgent, 1, -(state = 'claimed')) "
            "WHERE state IN ('waiting', 'claimed')"
        )
        return self.requeue(now=None)

    def prune(self, *, before: datetime) -> None:
        """Deletes a batch of settled messages that came before `before`."""
        batch = "SELECT id FROM inbox WHERE state IN ('done', 'dead') AND received_at < ? LIMIT ?"
        self.execute(f"DELETE FROM inbox WHERE id IN ({batch})", (before, AT_ONCE))  # noqa: S608  (a literal)

    def backlog(self) -> Waiting:
        """Counts the messages of the realm; those that wait for a word are not the oldest."""
        oldest_at = "min(received_at) FILTER (WHERE put_off_until IS NULL)"
        return self.queue("inbox", "state IN ('waiting', 'claimed')", oldest_at)

    def find(self, conversation: ConversationId, author: str, sent_at: int) -> KnownMessage | None:
        """Returns the message of which its author sent a revision at `sent_at`; None if it is unknown."""
        root = self.value(
            "SELECT coalesce(revises, id) FROM inbox WHERE author = ? AND sent_at = ? AND conversation_id = ? "
            "AND (kind = 'message' OR revises IS NOT NULL)",
            (self.keyring.handle(author), sent_at, conversation),
        )
        if root is None:
            return None
        revisions = self.rows(
            "SELECT inbox.id, sent_at, inbox.state, turn_id, turns.state FROM inbox "
            "LEFT JOIN turns ON turns.id = turn_id WHERE inbox.id = ?1 OR revises = ?1 ORDER BY inbox.id",
            (root,),
        )
        item, _, state, turn, turn_state = revisions[-1]
        return KnownMessage(
            item=InboxId(item),
            root=InboxId(root),
            names=frozenset(row[1] for row in revisions),
            is_open=state in {"waiting", "claimed"},
            turn=None if turn is None else TurnId(turn),
            turn_state=turn_state,
        )

    def revise(self, item: InboxId, root: InboxId, turn: TurnId | None) -> None:
        """Makes an edit the newest revision of a message, in the turn that answers or answered it."""
        self.execute("UPDATE inbox SET revises = ?, turn_id = ? WHERE id = ?", (root, turn, item))

    def move(self, turn: TurnId, again: TurnId) -> None:
        """Makes the messages of a turn those of the turn that asks them again: its words go with theirs."""
        self.execute(
            "UPDATE inbox SET turn_id = ? WHERE turn_id = ? AND (kind = 'message' OR revises IS NOT NULL)",
            (again, turn),
        )

    def _open_items(self, ids: str, values: Sequence[object]) -> tuple[InboxItem, ...]:
        """Reads items, oldest first. A damaged one is marked as dead and left out, so as not to stop the others."""
        items = self.records(InboxItem, f"{_ITEM} WHERE id IN ({ids}) ORDER BY id", values)
        for item in items:
            if not item.envelope:
                self.settle(item.id, dead=True)
        return tuple(item for item in items if item.envelope)
