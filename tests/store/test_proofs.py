"""What receipts prove: by table, against all that could be, and over random lives of an outbox.

Nothing is taken for sent that nobody received; and whatever follows from what is known is proved.
"""

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.attempts import Attempts
from store.history import Conversations
from store.migrations import migrate
from store.outbox import Outbox
from store.people import Members
from store.proofs import ReceiptReach, SendAttempt, prove
from store.records import OutboxId, TurnId
from store.repository import millis
from store.sealing import Keyring
from store.sent import Copies
from tests.conftest import NOON


def attempt(id_: int, item: int | None = None, *, is_open: bool = True) -> SendAttempt:
    return SendAttempt(id=id_, item=id_ if item is None else item, is_open=is_open, is_pending=is_open)


def reach(*known: int, possible: Sequence[int] = ()) -> ReceiptReach:
    return ReceiptReach(known=frozenset(known), possible=frozenset(possible))


TABLE: dict[str, tuple[list[SendAttempt], Mapping[int, list[ReceiptReach]], set[int]]] = {
    "only one can be meant": ([attempt(1), attempt(2)], {7: [reach(1)]}, {1}),
    "either can be meant": ([attempt(1), attempt(2)], {7: [reach(1, 2)]}, set()),
    "both tries of one item can be meant": ([attempt(1, 5), attempt(2, 5)], {7: [reach(1, 2)]}, {5}),
    "two who have one in common": ([attempt(1), attempt(2), attempt(3)], {7: [reach(1, 2), reach(1, 3)]}, {1}),
    "two who have none in common": ([attempt(1), attempt(2)], {7: [reach(1), reach(2)]}, {1}),
    "one is left over": ([attempt(1), attempt(2)], {7: [reach(1)], 8: [reach(1, 2)]}, {1, 2}),
    "as many names as sends": ([attempt(1), attempt(2)], {7: [reach(1, 2)], 8: [reach(1, 2)]}, {1, 2}),
    "fewer names than sends": (
        [attempt(1), attempt(2), attempt(3)],
        {7: [reach(1, 2, 3)], 8: [reach(1, 2, 3)]},
        set(),
    ),
    "more names than sends": ([attempt(1), attempt(2)], {name: [reach(1, 2)] for name in (7, 8, 9)}, set()),
    "two names for three tries of two items": (
        [attempt(1, 5), attempt(2, 5), attempt(3)],
        {7: [reach(1, 2, 3)], 8: [reach(1, 2, 3)]},
        {5},
    ),
    "more names of one item than tries": ([attempt(1, 5), attempt(2, 5)], {n: [reach(1, 2)] for n in (7, 8, 9)}, {5}),
    "perhaps a stranger": ([attempt(1)], {7: [reach(possible=[1])]}, set()),
    "perhaps a stranger, and a member": ([attempt(1)], {7: [reach(possible=[1]), reach(1)]}, {1}),
    "a member of two, and perhaps a stranger": (
        [attempt(1), attempt(2)],
        {7: [reach(1, 2), reach(possible=[1])]},
        set(),
    ),
    "a member of one, and perhaps of another": ([attempt(1), attempt(2)], {7: [reach(1, possible=[2])]}, set()),
    "surely a stranger": ([attempt(1)], {7: [reach()]}, set()),
    "surely a stranger, and a member": ([attempt(1)], {7: [reach(), reach(1)]}, {1}),
    "what is over is not proved": ([attempt(1, is_open=False)], {7: [reach(1)]}, set()),
    "what is over may be meant": ([attempt(1, is_open=False), attempt(2)], {7: [reach(1, 2)]}, set()),
}


@pytest.mark.parametrize(("attempts", "receipts", "items"), TABLE.values(), ids=TABLE)
def test_what_follows_from_receipts(
    attempts: list[SendAttempt], receipts: Mapping[int, list[ReceiptReach]], items: set[int]
) -> None:
    """Items are proved where there is no other way in which each name has one send."""
    assert prove(attempts, receipts).items == items


def test_names_that_tell_nothing_any_more_are_spent() -> None:
    """One is kept as long as it can mean something that is open."""
    attempts = [attempt(1), attempt(2), attempt(3), attempt(4, is_open=False)]
    receipts = {7: [reach(1, 2)], 8: [reach(3)], 9: [reach(4)], 10: [reach()], 11: [reach(possible=[2])]}
    found = prove(attempts, receipts)
    assert found.names == {8: 3, 9: 4}
    assert found.spent == {8, 9, 10}
    assert found.open_names == {7: {1, 2}}


def ways(names: Sequence[int], could: Mapping[int, frozenset[int]]) -> Iterator[frozenset[int]]:
    """All ways in which each name has an attempt of its own: the attempts that went out then."""
    if not names:
        yield frozenset()
        return
    for rest in ways(names[1:], could):
        yield from (rest | {attempt} for attempt in could[names[0]] - rest)


@given(st.randoms(use_true_random=False))
def test_what_is_proved_is_what_is_so_in_every_way(lots: Random) -> None:
    """Against all that could be: nothing is proved that need not be, and everything that must be."""
    attempts = [attempt(number, lots.randint(1, 4)) for number in range(1, lots.randint(2, 6))]
    people = [frozenset(a.id for a in attempts if lots.random() < 0.5) for _ in range(3)]
    out = [a for a in attempts if lots.random() < 0.6]
    receipts: dict[int, list[ReceiptReach]] = {}
    for name, sent in enumerate(out):
        confirmed = [person for person in people if sent.id in person and lots.random() < 0.6]
        if confirmed:
            receipts[name] = [reach(*person) for person in confirmed]
    found = prove(attempts, receipts)
    could = {name: frozenset.intersection(*(one.all for one in heard)) for name, heard in receipts.items()}
    items = {a.id: a.item for a in attempts}
    always = [frozenset(items[attempt] for attempt in way) for way in ways(sorted(could), could)]
    assert found.items == (frozenset.intersection(*always) if could else frozenset())
    assert all(items[sent] == out[name].item for name, sent in found.names.items())


# Random lives of an outbox


@dataclass
class Item:
    """One message that is to be sent, and what really became of it."""

    chat: str
    went_out: set[int] = field(default_factory=set[int])
    """The names of its copies."""


@dataclass
class Life:
    """An outbox, a bridge and people, of whom it is known what they have received."""

    lots: Random
    outbox: Outbox
    attempts: Attempts
    copies: Copies
    members: Members
    conversations: Conversations
    now: datetime = NOON
    items: dict[int, Item] = field(default_factory=dict[int, Item])
    under_way: dict[int, int | None] = field(default_factory=dict[int, int | None])
    """The items that are being sent, each with the name under which it went out."""
    inside: dict[str, set[str]] = field(default_factory=lambda: {"group:G": {"a", "b"}, "group:H": {"b", "c"}})
    received: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    """Person and name of what was received, and is not confirmed yet."""
    confirmed: int = 0
    removed: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])
    """Chat and name of what is a copy, as the outbox has it."""

    CHATS = ("direct:a", "direct:b", "direct:c", "group:G", "group:H")

    def people(self, chat: str) -> set[str]:
        return self.inside.get(chat, {chat.partition(":")[2]})

    def say(self) -> None:
        chat = self.lots.choice(self.CHATS)
        conversation = self.conversations.add(chat, now=self.now)
        [(turn,)] = self.outbox.rows(
            "INSERT INTO turns (conversation_id, state, started_at) VALUES (?, 'kept', 0) RETURNING id", (conversation,)
        )
        in_group = chat.startswith("group:")
        self.outbox.put(conversation, TurnId(turn), 0, b"words", in_group=in_group, now=self.now)
        [(item,)] = self.outbox.rows("SELECT max(id) FROM outbox")
        self.items[item] = Item(chat)

    def begin(self) -> None:
        for item in self.outbox.begin(now=self.now, limit=16):
            self.under_way[item.id] = None
            if item.attempts:
                self.copies.keep_removal(item.id, self.items[item.id].chat.encode())

    def go_out(self) -> None:
        """Something that is under way or in doubt reaches people: the bridge may be slow."""
        rows = self.outbox.rows("SELECT id FROM outbox WHERE state IN ('sending', 'unknown')")
        open_items = [item for (item,) in rows if self.under_way.get(item) is None]
        if open_items:
            self._out(self.lots.choice(open_items))

    def _out(self, item: int) -> None:
        [(attempts,)] = self.outbox.rows("SELECT count(*) FROM attempts WHERE outbox_id = ?", (item,))
        if len(self.items[item].went_out) >= attempts:
            return
        self.now += timedelta(milliseconds=1)
        name = millis(self.now)
        self.items[item].went_out.add(name)
        if item in self.under_way:
            self.under_way[item] = name
        self.received += [(person, name) for person in sorted(self.people(self.items[item].chat))]

    def answer(self) -> None:
        """The bridge says what became of a send; what it calls sent has just gone out, or before."""
        if not self.under_way:
            return
        item = self.lots.choice(sorted(self.under_way))
        if self.under_way[item] is None and self.lots.random() < 0.5:
            self._out(item)
        name, until = self.under_way.pop(item), self.now + timedelta(seconds=90)
        if self.lots.random() < 0.5:
            self.outbox.mark_unknown(OutboxId(item), due_at=until)
        elif name is not None:
            self.outbox.mark_sent(OutboxId(item), name, now=self.now)
        elif self.lots.random() < 0.5:
            self.outbox.postpone(OutboxId(item), due_at=self.now, now=self.now)
        else:
            self.outbox.give_up(OutboxId(item), now=self.now)

    def confirm(self) -> None:
        if self.received:
            person, name = self.received.pop(self.lots.randrange(len(self.received)))
            self.confirmed += 1
            self.attempts.prove(f"direct:{person}", [name], now=self.now)

    def lie(self) -> None:
        """A stranger confirms what may be the name of something."""
        names = [name for item in self.items.values() for name in item.went_out] + [millis(self.now)]
        self.attempts.prove("direct:mallory", names, now=self.now)

    def list_members(self) -> None:
        for group, people in self.inside.items():
            self.members.keep(group, [f"direct:{person}" for person in people], listed_at=self.now)
        self.attempts.reconcile(now=self.now)

    def join_or_leave(self) -> None:
        self.list_members()  # who leaves between two lists, unseen by either, is not known to have been there
        self.now += timedelta(milliseconds=1)
        self.inside[self.lots.choice(sorted(self.inside))] ^= {self.lots.choice("abc")}

    def crash(self) -> None:
        self.under_way.clear()
        self.outbox.mark_all_unknown(now=self.now, grace=timedelta(seconds=90))

    def wait(self) -> None:
        self.now += timedelta(seconds=self.lots.choice((0.001, 1, 30, 120)))

    def standing(self, item: Item) -> set[int]:
        """The names of the copies of an item that people see."""
        return {name for name in item.went_out if (item.chat, name) not in self.removed}

    def check(self) -> None:
        """Nothing is taken for sent that did not go out, nor is a name given to another's message; what went out stands
        there, whatever is removed.
        """
        self.removed |= {(copy.removal.decode(), copy.name) for copy in self.copies.take()}
        assert all(self.standing(item) for item in self.items.values() if item.went_out)
        for item, state in self.outbox.rows("SELECT id, state FROM outbox"):
            assert state != "sent" or self.items[item].went_out
        named = self.outbox.rows("SELECT outbox_id, sent_at FROM attempts WHERE sent_at IS NOT NULL")
        assert all(name in self.items[item].went_out for item, name in named)


@settings(max_examples=80)
@given(st.randoms(use_true_random=False))
def test_nothing_is_taken_for_sent_that_nobody_received(lots: Random) -> None:
    """Sends, crashes, slow bridges, changing groups and liars in any order."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        life = born(connection, lots)
        steps: list[Callable[[], None]] = [
            *(life.say, life.begin, life.go_out, life.answer, life.confirm, life.confirm, life.confirm),
            *(life.lie, life.list_members, life.join_or_leave, life.crash, life.wait),
        ]
        for _ in range(60):
            lots.choice(steps)()
            life.check()


@settings(max_examples=40)
@given(st.randoms(use_true_random=False))
def test_what_everybody_confirms_is_proved(lots: Random) -> None:
    """All sends went out and fell in doubt, everybody is known: when all have confirmed, nothing is in doubt."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        life = born(connection, lots)
        for _ in range(lots.randint(1, 6)):
            life.say()
        life.begin()
        for item in sorted(life.under_way):
            life._out(item)
            life.outbox.mark_unknown(OutboxId(item), due_at=life.now + timedelta(seconds=90))
        life.list_members()
        begun = life.outbox.rows("SELECT id FROM outbox WHERE state <> 'waiting'")
        while life.received:
            life.confirm()
        states = dict(life.outbox.rows("SELECT id, state FROM outbox"))
        assert {states[item] for (item,) in begun} == {"sent"}
        life.check()


@settings(max_examples=80)
@given(st.randoms(use_true_random=False))
def test_what_was_sent_twice_is_seen_once_when_everybody_has_confirmed(lots: Random) -> None:
    """Sends and sends again, with lives that end in between: in the end each message stands once in its chat."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        life = born(connection, lots)
        for _ in range(lots.randint(1, 6)):
            life.say()
        for _ in range(3):
            life.now += timedelta(seconds=100)
            life.begin()
            for item in sorted(life.under_way):
                if lots.random() < 0.7:
                    life._out(item)
                    [life.confirm() for _ in range(lots.randint(0, 3))]
            life.crash()
            life.list_members()
        life.now += timedelta(seconds=100)
        while life.outbox.rows("SELECT 1 FROM outbox WHERE state IN ('waiting', 'unknown')"):
            life.begin()
            for item, name in sorted(life.under_way.items()):
                if name is None:
                    life._out(item)
                life.outbox.mark_sent(OutboxId(item), life.under_way.pop(item) or 0, now=life.now)
            life.now += timedelta(seconds=100)
        life.list_members()
        while life.received:
            life.confirm()
        life.check()
        for item, name in life.outbox.rows("SELECT id, sent_at FROM outbox"):
            # Of what is proved without a name nobody knows which of several stands where.
            assert life.standing(life.items[item]) == {name} or name is None


def born(connection: sqlite3.Connection, lots: Random) -> Life:
    """A life in a store of its own, in memory."""
    connection.execute("ATTACH ':memory:' AS keys")
    migrate(connection)
    connection.execute("PRAGMA foreign_keys = ON")
    keyring = Keyring(connection, bytes(32))
    keyring.unlock()
    conversations = Conversations(keyring, set(), "signal")
    for chat in Life.CHATS:
        conversations.key(chat)
        conversations.add(chat, now=NOON)
    parts = keyring, set[str](), "signal"
    return Life(lots, Outbox(*parts), Attempts(*parts), Copies(*parts), Members(*parts), conversations)
