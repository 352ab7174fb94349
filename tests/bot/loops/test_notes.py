"""Intake where the account is a person's own: notes to self come in, other chats never, Aldis's own words never."""

import asyncio
import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from bot.access.access import AccessList
from bot.access.limits import Quota
from bot.access.pairing import Pairing
from bot.clock import SetClock
from bot.event_json import dump_value, load_envelope
from bot.events import ChatId, Envelope, Event, Reply, Styled
from bot.loops.intake import Intake
from bot.metrics import Counts
from bot.settings import LimitsSettings
from bot.signal.envelope import FrameReader
from store import OutboxItem, Store
from tests.bot.loops.fake_transport import FakeTransport
from tests.bot.signal.bridges import OWN_ACCOUNT
from tests.conftest import NOON
from tests.servers import envelopes
from tests.servers.envelopes import ALDIS, ALICE, CAROL, GROUP, Frame, attachment, message, note, receipt, sync_sent
from tests.servers.signal_server import DEVICE

OWN = AccessList(persons=frozenset(), groups=frozenset(), note_to_self=True)


@dataclass
class Desk(FakeTransport):
    """A fake transport whose envelopes are frames of signal-cli."""

    reader: FrameReader = field(default_factory=lambda: FrameReader(OWN_ACCOUNT, "Aldis", takes_notes=True))

    def event(self, envelope: Envelope) -> Event | None:
        return self.reader.event(envelope)


@dataclass
class Owner:
    """The owner of the account, with an intake between their phone and a store."""

    store: Store
    clock: SetClock
    desk: Desk = field(default_factory=Desk)
    counts: Counts = field(default_factory=Counts)
    allowed: AccessList = OWN
    intake: Intake = field(init=False)

    def __post_init__(self) -> None:
        self.intake = Intake(
            self.desk,
            self.store,
            self.clock,
            self.counts,
            allowed=self.allowed,
            name="Aldis",
            quota=Quota(LimitsSettings()),
            pairing=Pairing(),
        )

    async def take(self, frame: Frame) -> Envelope:
        envelope = self.desk.reader.envelope(json.dumps(frame))
        assert envelope is not None
        await self.intake.take(envelope)
        return envelope

    async def finished(self) -> None:
        """What is done aside is done."""
        while self.intake._aside.tasks:
            await asyncio.sleep(0)

    async def taken(self) -> list[str]:
        """The words of everything in the inbox."""
        claimed = await self.store.transaction(lambda repos: repos.inbox.claim(now=NOON, until=NOON, busy=[]))
        items = [self.desk.event(load_envelope(item.envelope)) for item in claimed.items] if claimed else []
        return [getattr(getattr(item, "message", item), "text", type(item).__name__) for item in items]

    async def sending(self, text: str) -> OutboxItem:
        """The sender has begun to send an answer to the owner."""
        conversation = await self.store.conversation(ALDIS.chat, now=self.clock.now())
        reply = dump_value(Reply(chat=ChatId(ALDIS.chat), content=Styled(text=text)))

        def begun(repos: Any) -> OutboxItem:
            repos.outbox.execute(
                "INSERT INTO turns (conversation_id, state, started_at) VALUES (?, 'running', 0)", (conversation,)
            )
            [(turn,)] = repos.outbox.rows("SELECT max(id) FROM turns")
            repos.outbox.put(conversation, turn, 0, reply, in_group=False, now=self.clock.now())
            [item] = repos.outbox.begin(now=self.clock.now(), limit=5)
            return item

        return await self.store.transaction(begun)


@pytest.fixture
async def owner(store: Store, clock: SetClock) -> AsyncGenerator[Owner]:
    owner = Owner(store, clock)
    yield owner
    await owner.intake.aclose()


@pytest.mark.parametrize(
    "frame",
    [
        message("hello you", author=ALICE),
        message("Aldis, you?", author=CAROL, group=GROUP, mention=True),
        message("/help", author=ALICE),
        envelopes.edit("hello, you", 5),
        envelopes.delete(5),
        envelopes.reaction("👍", 5),
        envelopes.timer(60),
        envelopes.undecryptable(),
        envelopes.typing(),
        receipt([5], author=ALICE),
        sync_sent("I come at six", to=ALICE),
        message("from the account, not to it", author=ALDIS),
    ],
    ids=lambda frame: min(frame["envelope"].keys() - {"source", "sourceName"}, default=""),
)
async def test_a_persons_other_chats_are_their_own_affair(owner: Owner, frame: Frame) -> None:
    """No row, no receipt, no code, no answer, and nothing is remembered of whom they write with."""
    await owner.take(frame)
    await owner.finished()
    for table in ("inbox", "conversations", "receipts", "people"):
        assert await owner.store.read(lambda repos, t=table: repos.inbox.rows(f"SELECT * FROM {t}")) == []
    assert (owner.desk.read, owner.desk.sent, owner.desk.reactions) == ([], [], [])


async def test_files_of_other_chats_are_deleted_unseen(owner: Owner) -> None:
    """The bridge fetches what every device of the account gets; Aldis has it deleted, and keeps that of notes."""
    theirs, ours, mine = (attachment() for _ in range(3))
    sent_away = sync_sent("look", to=ALICE)
    sent_away["envelope"]["syncMessage"]["sentMessage"]["attachments"] = [ours]
    await owner.take(message("look", attachments=[theirs]))
    await owner.take(sent_away)
    await owner.take(note("look", attachments=[mine]))
    await owner.finished()
    assert set(owner.desk.discarded) == {theirs["id"], ours["id"]}


async def test_a_stranger_leaves_no_file(store: Store, clock: SetClock) -> None:
    """Where the account is Aldis's own: what may not come in costs no byte on the disk, either."""
    desk, item = Desk(reader=FrameReader(OWN_ACCOUNT, "Aldis")), attachment()
    allowed = AccessList(persons=frozenset({CAROL.uuid}), groups=frozenset())
    owner = Owner(store, clock, desk, allowed=allowed)
    await owner.take(message("look", attachments=[item]))
    await owner.take(message("look", author=CAROL, attachments=[attachment()]))
    await owner.finished()
    assert desk.discarded == [item["id"]]


async def test_an_answer_that_comes_back_is_no_question(store: Store, clock: SetClock) -> None:
    """Known by its time, also after a restart; before that, and in doubt after a crash, by its words, which proves
    that it went out.
    """
    owner = Owner(store, clock)
    item = await owner.sending("In April.")
    await store.transaction(lambda repos: repos.outbox.mark_sent(item.id, 1234, now=clock.now()))
    again, at = Owner(store, clock), int(clock.now().timestamp() * 1000)
    await again.take(note("In April.", device=DEVICE, sent_at=1234))
    await again.take(note("In April.", device=2, sent_at=1235))
    await again.sending("In June.")
    await again.take(note("In June.", device=DEVICE, sent_at=at + 5))
    await again.take(note("In June?", device=2, sent_at=at + 6))
    await again.sending("In July.")
    await store.transaction(lambda repos: repos.outbox.mark_all_unknown(now=NOON, grace=timedelta(seconds=60)))
    await again.take(note("In July.", device=DEVICE, sent_at=at + 7))
    assert await again.taken() == ["In April.", "In June?"]
    assert again.counts.all()["unanswered_echo"] == 3
    states = await store.read(lambda repos: repos.outbox.rows("SELECT state, sent_at FROM outbox"))
    assert states == [("sent", 1234), ("sent", at + 5), ("sent", at + 7)]


async def test_the_phone_that_shows_an_answer_proves_it(owner: Owner) -> None:
    """In the account's own chat there are no delivery receipts; what the owner wrote proves nothing, shown or not."""
    await owner.sending("In April.")
    at = int(owner.clock.now().timestamp() * 1000) + 5
    await owner.take(note("mine", device=2, sent_at=at))
    await owner.take(envelopes.sync_read([at]))
    state = "SELECT state FROM outbox"
    assert await owner.store.read(lambda repos: repos.outbox.rows(state)) == [("sending",)]
    await owner.take(envelopes.sync_read([at + 1]))
    assert await owner.store.read(lambda repos: repos.outbox.rows(state)) == [("sent",)]
