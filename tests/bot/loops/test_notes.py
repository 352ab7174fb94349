"""Intake where the account is a person's own: notes to self come in, other chats never, Aldis's own words never."""

import json
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from bot.access.access import AccessList
from bot.access.pairing import Pairing
from bot.clock import SetClock
from bot.events import ChatId, Envelope, Event, Reply, Styled, dump_value
from bot.signal.envelope import FrameReader
from store import OutboxItem, Repositories, Store
from tests.bot.loops.doors import Door
from tests.bot.loops.fake_transport import FakeTransport
from tests.bot.signal.bridges import OWN_ACCOUNT
from tests.conftest import NOON
from tests.servers import envelopes
from tests.servers.envelopes import ALDIS, ALICE, CAROL, GROUP, Frame, attachment, message, note, receipt, sync_sent
from tests.servers.signal_server import DEVICE
from tests.store.sends import states

OWN = AccessList(persons=frozenset(), groups=frozenset(), note_to_self=True)


@dataclass
class Desk(FakeTransport):
    reader: FrameReader = field(default_factory=lambda: FrameReader(OWN_ACCOUNT, "Aldis", takes_notes=True))

    def event(self, envelope: Envelope) -> Event | None:
        return self.reader.event(envelope)


@dataclass
class Owner(Door):
    transport: Desk = field(default_factory=Desk)  # pyright: ignore[reportIncompatibleVariableOverride]
    allowed: AccessList = OWN
    pairing: Pairing | None = field(default_factory=Pairing)

    async def bring(self, *frames: Frame) -> None:
        for frame in frames:
            envelope = self.transport.reader.envelope(json.dumps(frame))
            assert envelope is not None
            await self.take(envelope)

    async def words(self) -> list[str]:
        items = [self.transport.event(one) for one in await self.kept()]
        return [getattr(getattr(item, "message", item), "text", type(item).__name__) for item in items]

    async def sending(self, text: str) -> OutboxItem:
        conversation = await self.store.conversation(ALDIS.chat, now=self.clock.now())
        reply = dump_value(Reply(chat=ChatId(ALDIS.chat), content=Styled(text=text)))

        def begun(repos: Repositories) -> OutboxItem:
            turn = repos.turns.begin(conversation, now=NOON)
            repos.outbox.put(conversation, turn, 0, reply, in_group=False, now=self.clock.now())
            [item] = repos.outbox.begin(now=self.clock.now(), limit=5)
            return item

        return await self.store.transaction(begun)


@pytest.fixture
def owner(store: Store, clock: SetClock) -> Owner:
    return Owner(store, clock)


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
    await owner.bring(frame)
    for table in ("inbox", "conversations", "receipts", "people"):
        assert await owner.store.read(lambda repos, t=table: repos.inbox.rows(f"SELECT * FROM {t}")) == []
    assert (owner.transport.read, owner.transport.sent, owner.transport.reactions) == ([], [], [])


async def test_files_of_other_chats_are_deleted_unseen(owner: Owner) -> None:
    """The bridge fetches what every device of the account gets; Aldis has it deleted, and keeps that of notes."""
    theirs, ours, mine = (attachment() for _ in range(3))
    sent_away = sync_sent("look", to=ALICE)
    sent_away["envelope"]["syncMessage"]["sentMessage"]["attachments"] = [ours]
    await owner.bring(message("look", attachments=[theirs]), sent_away, note("look", attachments=[mine]))
    assert set(owner.transport.discarded) == {theirs["id"], ours["id"]}


async def test_a_stranger_leaves_no_file(store: Store, clock: SetClock) -> None:
    """Where the account is Aldis's own: what may not come in costs no byte on the disk, either."""
    desk, item = Desk(reader=FrameReader(OWN_ACCOUNT, "Aldis")), attachment()
    owner = Owner(store, clock, desk, AccessList(persons=frozenset({CAROL.uuid}), groups=frozenset()))
    await owner.bring(message("look", attachments=[item]), message("look", author=CAROL, attachments=[attachment()]))
    assert desk.discarded == [item["id"]]


async def test_an_answer_that_comes_back_is_no_question(store: Store, clock: SetClock) -> None:
    """Known by its time, also after a restart; in doubt after a crash by its words, which proves that it went out."""
    item = await Owner(store, clock).sending("In April.")
    await store.transaction(lambda repos: repos.outbox.mark_sent(item.id, 1234, now=clock.now()))
    again, at = Owner(store, clock), int(clock.now().timestamp() * 1000)
    await again.bring(note("In April.", device=DEVICE, sent_at=1234), note("In April.", device=2, sent_at=1235))
    await again.sending("In June.")
    await again.bring(note("In June.", device=DEVICE, sent_at=at + 5), note("In June?", device=2, sent_at=at + 6))
    await again.sending("In July.")
    await store.transaction(lambda repos: repos.outbox.mark_all_unknown(now=NOON, grace=timedelta(seconds=60)))
    await again.bring(note("In July.", device=DEVICE, sent_at=at + 7))
    assert await again.words() == ["In April.", "In June?"]
    assert again.counts.all()["unanswered_echo"] == 3
    assert await store.read(states) == [("sent", 1234), ("sent", at + 5), ("sent", at + 7)]


async def test_the_phone_that_shows_an_answer_proves_it(owner: Owner) -> None:
    """In the account's own chat there are no delivery receipts; what the owner wrote proves nothing, shown or not."""
    await owner.sending("In April.")
    at = int(owner.clock.now().timestamp() * 1000) + 5
    await owner.bring(note("mine", device=2, sent_at=at), envelopes.sync_read([at]))
    assert await owner.store.read(states) == [("sending", None)]
    await owner.bring(envelopes.sync_read([at + 1]))
    assert await owner.store.read(states) == [("sent", at + 1)]
