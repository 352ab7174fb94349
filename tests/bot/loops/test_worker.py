"""Worker: each conversation in order, all side by side; nobody waits in vain, whatever a turn does."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from bot.access.access import AccessList
from bot.chat import phrases
from bot.chat.approvals import Approvals
from bot.chat.context import GroupContext
from bot.chat.edits import Revisions
from bot.chat.status import Reactions, StatusMessages
from bot.chat.turns import Turns
from bot.clock import SetClock
from bot.commands import phrases as command_phrases
from bot.commands.base import Call, CommandContext, CommandGroup, Commands, command
from bot.commands.conversation import ConversationCommands
from bot.commands.urgent import Authority, UrgentItems
from bot.event_json import dump_value, load_outgoing
from bot.events import ChatId, Envelope, Reply
from bot.i18n import phrases as common_phrases
from bot.loops.worker import _MAX_TYPING, Worker
from bot.metrics import Counts
from bot.models.base import Completion, Request
from store import Arrival, Repositories, Store
from tests.bot.chat.turn_helpers import Scripted, agent_of, says, settings_with, toolbox, turn_settings, unlimited
from tests.bot.loops.fake_transport import FakeTransport, envelope
from tests.conftest import NOON
from tests.waiting import DEADLINE_SECONDS, WAIT_SECONDS, eventually, eventually_found


class FakeModel(Scripted):
    """Answers with what was asked, when its gate for that conversation opens."""

    def __init__(self) -> None:
        super().__init__([])
        self.gates: dict[str, asyncio.Event] = {}
        self.asked: list[str] = []
        self.changed = asyncio.Event()

    async def complete(self, request: Request) -> Completion:
        text = str(request.messages[-1])
        self.asked.append(text)
        self.changed.set()
        for word, gate in self.gates.items():
            if word in text:
                await gate.wait()
        if "explode" in text:
            raise RuntimeError(text)
        return says("answer")


def worker_of(
    store: Store,
    clock: SetClock,
    transport: FakeTransport,
    provider: Scripted,
    *,
    groups: tuple[CommandGroup, ...] = (),
    **changes: Any,
) -> Worker:
    bounds = {"conversations_at_once": 4, "turn_timeout_seconds": DEADLINE_SECONDS, "max_attempts": 2, **changes}
    no_bounds = {"intake": {"max_age": float("inf")}, "limits": {"turns_at_once": 1_000_000}}
    settings = settings_with(turn_settings(max_history_tokens=1000), worker=bounds, **no_bounds)
    agent = agent_of(provider, toolbox(clock), unlimited(store, clock), settings=settings)
    turns = Turns(store, clock, max_turns=20, timezone="UTC")
    context, counts, approvals = CommandContext(store, turns, clock), Counts(), Approvals(store, clock, turns)
    authority = Authority(name="Aldis", allowed=AccessList(persons=frozenset(), groups=frozenset()))
    group_context = GroupContext(clock, limit=0)
    urgent_items = UrgentItems(
        transport,
        store,
        counts,
        turns=turns,
        revisions=Revisions(store, clock, turns, deletes_answers=False, asks_per_minute=60),
        approvals=approvals,
        commands=Commands(
            context,
            (ConversationCommands(context, approvals), *groups),
        ),
        group_context=group_context,
        authority=authority,
    )
    return Worker(
        transport,
        store,
        clock,
        counts,
        turns=turns,
        agent=agent,
        approvals=approvals,
        urgent_items=urgent_items,
        status_messages=StatusMessages(store, clock, mode="off"),
        reactions=Reactions(transport, store, clock, emoji=None),
        group_context=group_context,
        settings=settings,
        authority=authority,
    )


@asynccontextmanager
async def running(worker: Worker) -> AsyncGenerator[asyncio.Task[None]]:
    task = asyncio.create_task(worker.run())
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait([task])


async def arrive(
    store: Store, text: str, sent_at: int = 1, author: str = "alice", *, urgent: bool = False, **more: Any
) -> None:
    came = envelope(text, sent_at, author=author, **more)
    assert came.chat is not None
    conversation = await store.conversation(came.chat, now=NOON)
    arrival = Arrival(
        urgent=urgent,
        conversation=conversation,
        account=came.account,
        author=author,
        device=1,
        sent_at=sent_at,
        kind=came.kind,
        envelope=b"broken" if text == "broken" else dump_value(came),
        received_at=NOON,
    )
    await store.transaction(lambda repos: repos.inbox.put(arrival))


async def said(store: Store, count: int) -> list[str]:
    """Wait for so many replies in the outbox; give their texts in order."""

    async def has_come() -> bool:
        [(waiting,)] = await store.read(
            lambda repos: repos.outbox.rows("SELECT count(*) FROM outbox WHERE state = 'waiting'")
        )
        return waiting >= count

    await eventually_found(has_come)
    texts: list[str] = []
    while items := await store.transaction(lambda repos: repos.outbox.begin(now=NOON, limit=9)):
        for item in items:
            reply = load_outgoing(item.reply)
            assert isinstance(reply, Reply)
            texts.append(reply.content.text)
            await store.transaction(lambda repos, item=item: repos.outbox.give_up(item.id, now=NOON))
    return texts


async def settled(store: Store) -> None:

    async def is_empty() -> bool:
        return not (await store.read(lambda repos: repos.inbox.backlog())).items

    await eventually_found(is_empty)


async def test_a_burst_during_a_turn_becomes_the_next_turn(store: Store, clock: SetClock) -> None:
    """One turn at a time in a conversation; what came meanwhile is taken together, in order."""
    fake_model = FakeModel()
    fake_model.gates["first"] = asyncio.Event()
    async with running(worker_of(store, clock, FakeTransport(), fake_model)):
        await arrive(store, "first", 1)
        async with asyncio.timeout(WAIT_SECONDS):
            await fake_model.changed.wait()
        await arrive(store, "second", 2)
        await arrive(store, "third", 3)
        fake_model.gates["first"].set()
        assert await said(store, 2) == ["answer", "answer"]
    assert len(fake_model.asked) == 2
    assert fake_model.asked[1].index("second") < fake_model.asked[1].index("third")


async def test_no_more_run_at_once_than_allowed(store: Store, clock: SetClock) -> None:
    """The others wait their turn and get it."""
    fake_model = FakeModel()
    fake_model.gates["wait"] = asyncio.Event()
    async with running(worker_of(store, clock, FakeTransport(), fake_model, conversations_at_once=2)):
        for author in ("alice", "bob", "carol"):
            await arrive(store, "wait", author=author)
        await eventually(lambda: len(fake_model.asked) >= 2)
        await asyncio.sleep(0.1)  # in which the third would come on most machines
        assert len(fake_model.asked) == 2
        fake_model.gates["wait"].set()
        assert len(await said(store, 3)) == 3


async def test_hundreds_that_wait_for_a_model_delay_nobody(store: Store, clock: SetClock) -> None:
    """Each of them asks a model that never answers; who comes after all of them is answered at once."""
    fake_model, transport, hanging = FakeModel(), FakeTransport(), 300
    fake_model.gates["wait"] = asyncio.Event()
    async with running(worker_of(store, clock, transport, fake_model, conversations_at_once=1000)):
        for number in range(hanging):
            await arrive(store, "wait", author=f"person{number}")
        await eventually(lambda: len(fake_model.asked) >= hanging)
        await arrive(store, "quick", author="late")
        assert await said(store, 1) == ["answer"]
        assert len({chat for chat, _ in transport.typed}) <= _MAX_TYPING + 1
        fake_model.gates["wait"].set()
        assert len(await said(store, hanging)) == hanging


async def test_a_command_that_waits_delays_nobody(store: Store, clock: SetClock) -> None:
    """Nor does it hold back the commands of others; what was asked behind it in its own conversation comes after it."""
    fake_model, gate = FakeModel(), asyncio.Event()

    class Slow(CommandGroup):
        @command("/slow", command_phrases.ABOUT_STOP)
        async def _slow(self, call: Call) -> None:
            if call.message.author == "alice":
                await gate.wait()
            await store.transaction(lambda repos: repos.inbox.settle(call.urgent_item.item.id))

    async with running(worker_of(store, clock, FakeTransport(), fake_model, groups=(Slow(),))):
        await arrive(store, "/slow", 1, author="alice", urgent=True)
        await arrive(store, "behind", 2, author="alice")
        await arrive(store, "/slow", 1, author="bob", urgent=True)
        await arrive(store, "hello", 2, author="bob")
        assert await said(store, 1) == ["answer"]
        assert not any("behind" in asked for asked in fake_model.asked)
        gate.set()
        assert await said(store, 1) == ["answer"]
        assert "behind" in fake_model.asked[-1]


async def test_people_see_that_aldis_is_writing(store: Store, clock: SetClock) -> None:
    """The indicator is shown while the turn runs and taken away at its end."""
    transport, fake_model = FakeTransport(), FakeModel()
    fake_model.gates["hello"] = asyncio.Event()
    async with running(worker_of(store, clock, transport, fake_model)):
        await arrive(store, "hello")
        await eventually(lambda: transport.typed)
        fake_model.gates["hello"].set()
        await said(store, 1)
    assert transport.typed[0] == ("direct:alice", True)
    assert transport.typed[-1] == ("direct:alice", False)


@pytest.mark.parametrize(
    ("text", "more"),
    [("   ", {}), ("unreadable", {}), ("talk", {"chat": "group:G"})],
    ids=["blank", "odd", "group talk"],
)
async def test_what_needs_no_answer_gets_none(store: Store, clock: SetClock, text: str, more: dict[str, Any]) -> None:
    """It is settled without a model call."""
    fake_model = FakeModel()
    async with running(worker_of(store, clock, FakeTransport(), fake_model)):
        await arrive(store, text, **more)
        await settled(store)
    assert fake_model.asked == []


async def test_one_that_fails_while_it_is_read_takes_no_other_along(
    store: Store, clock: SetClock, caplog: pytest.LogCaptureFixture
) -> None:
    """A bug over one of several messages that are taken together: the others are answered, nothing is tried for ever,
    and no word of it is logged.
    """

    class Stumbling(FakeTransport):
        def event(self, envelope: Envelope) -> Any:
            if "stumble" in envelope.raw:
                raise LookupError(envelope.raw)
            return super().event(envelope)

    fake_model = FakeModel()
    for number, text in enumerate(("hello", "stumble", "and how are you?"), 1):
        await arrive(store, text, number)
    async with running(worker_of(store, clock, Stumbling(), fake_model)):
        assert await said(store, 1) == ["answer"]
        await settled(store)
        await arrive(store, "stumble", 4)
        await settled(store)
    assert "how are you" in str(fake_model.asked)
    assert "LookupError" in caplog.text
    assert "stumble" not in caplog.text


async def test_a_turn_that_takes_too_long_is_told(store: Store, clock: SetClock) -> None:
    """The time of a whole turn is bounded; the conversation goes on."""
    fake_model = FakeModel()
    fake_model.gates["slow"] = asyncio.Event()
    async with running(worker_of(store, clock, FakeTransport(), fake_model, turn_timeout_seconds=0.05)):
        await arrive(store, "slow", 1)
        assert await said(store, 1) == [common_phrases.TOOK_TOO_LONG.text]
    async with running(worker_of(store, clock, FakeTransport(), fake_model)):
        await arrive(store, "quick", 2)
        assert await said(store, 1) == ["answer"]


async def test_a_stopped_turn_says_so(store: Store, clock: SetClock) -> None:
    """Who stops it hears that it was; the conversation goes on."""
    fake_model = FakeModel()
    fake_model.gates["slow"] = asyncio.Event()
    worker = worker_of(store, clock, FakeTransport(), fake_model)
    async with running(worker):
        await arrive(store, "slow", 1)
        async with asyncio.timeout(WAIT_SECONDS):
            await fake_model.changed.wait()
        assert len(worker.tasks) == 1
        worker.tasks.stop_all()
        assert await said(store, 1) == [common_phrases.STOPPED.text]
        await arrive(store, "quick", 2)
        assert await said(store, 1) == ["answer"]


async def test_a_turn_that_is_stopped_before_it_asks_a_model_says_so(store: Store, clock: SetClock) -> None:
    """It asks none, and is not taken up again: whoever stops it that early wants no answer either."""
    fake_model = FakeModel()
    worker = worker_of(store, clock, FakeTransport(), fake_model)
    async with running(worker):
        arriving = asyncio.create_task(arrive(store, "hello", 1))
        while not worker.tasks:
            await asyncio.sleep(0)
        worker.tasks.stop_all()
        await arriving
        assert await said(store, 1) == [common_phrases.STOPPED.text]
        assert fake_model.asked == []
        await arrive(store, "quick", 2)
        assert await said(store, 1) == ["answer"]


async def test_a_turn_that_has_its_answer_cannot_be_stopped_any_more(store: Store, clock: SetClock) -> None:
    """Who presses Ctrl-C on seeing the answer means to leave, also while the turn still puts its things away."""

    class Sluggish(FakeTransport):
        async def typing(self, chat: ChatId, *, started: bool) -> None:
            if not started:
                await asyncio.Event().wait()

    fake_model = FakeModel()
    fake_model.gates["hello"] = asyncio.Event()
    worker = worker_of(store, clock, Sluggish(), fake_model)
    async with running(worker):
        await arrive(store, "hello", 1)
        await eventually(lambda: fake_model.asked)
        assert len(worker.tasks.stoppable()) == len(worker.tasks)
        fake_model.gates["hello"].set()
        assert await said(store, 1) == ["answer"]
        await eventually(lambda: worker.tasks and not worker.tasks.stoppable())


async def test_a_turn_that_fails_is_tried_again_and_then_buried(store: Store, clock: SetClock) -> None:
    """A bug costs some tries, then the person is told, and the conversation goes on."""
    fake_model = FakeModel()
    async with running(worker_of(store, clock, FakeTransport(), fake_model, max_attempts=1)):
        await arrive(store, "explode", 1)
        assert await said(store, 1) == [phrases.GAVE_UP.text]
        await arrive(store, "hello", 2)
        assert await said(store, 1) == ["answer"]
    assert sum("explode" in asked for asked in fake_model.asked) == 1


@pytest.mark.parametrize("damage", [b"?" * 60, None], ids=["sealed", "other words"])
async def test_a_turn_whose_journal_is_damaged_is_buried(store: Store, clock: SetClock, damage: bytes | None) -> None:
    """Nobody knows which of its tools have run: the person is told at once, and the conversation goes on."""
    await arrive(store, "hello", 1)

    def interrupted(repos: Repositories) -> None:
        claim = repos.inbox.claim(now=clock.now(), until=clock.now(), busy=())
        assert claim is not None
        repos.journal.add(claim.conversation, claim.turn, 0, b'{"step": "of another version"}')
        if damage is not None:
            repos.journal.execute("UPDATE journal SET step = ?", (damage,))
        repos.inbox.recover()

    await store.transaction(interrupted)
    fake_model = FakeModel()
    async with running(worker_of(store, clock, FakeTransport(), fake_model)):
        assert await said(store, 1) == [phrases.GAVE_UP.text]
        await arrive(store, "and now", 2)
        assert await said(store, 1) == ["answer"]
    assert not any("hello" in asked for asked in fake_model.asked)


@pytest.mark.parametrize(("deaths", "reply"), [(5, "answer"), (6, phrases.GAVE_UP.text)])
async def test_a_turn_with_which_processes_die_and_die_is_buried(
    store: Store, clock: SetClock, deaths: int, reply: str
) -> None:
    """It may be what kills them: after some it is given up."""
    await arrive(store, "hello", 1)
    for _ in range(deaths):
        await store.transaction(lambda repos: repos.inbox.claim(now=clock.now(), until=clock.now(), busy=()))
        await store.transaction(lambda repos: repos.inbox.recover())
    async with running(worker_of(store, clock, FakeTransport(), FakeModel(), max_attempts=1)):
        assert await said(store, 1) == [reply]


async def test_an_item_that_cannot_be_read_is_dead(store: Store, clock: SetClock) -> None:
    """A damaged row ends nothing but itself."""
    async with running(worker_of(store, clock, FakeTransport(), FakeModel())):
        await arrive(store, "broken", 1)
        await arrive(store, "hello", 1, author="bob")
        assert await said(store, 1) == ["answer"]
        await settled(store)
    assert (await store.read(lambda repos: repos.inbox.backlog())).dead == 1


async def test_a_shutdown_hands_back_what_runs(store: Store, clock: SetClock) -> None:
    """It waits again, and the try does not count."""
    fake_model = FakeModel()
    fake_model.gates["slow"] = asyncio.Event()
    async with running(worker_of(store, clock, FakeTransport(), fake_model)):
        await arrive(store, "slow", 1)
        async with asyncio.timeout(WAIT_SECONDS):
            await fake_model.changed.wait()
    rows = await store.read(lambda repos: repos.inbox.rows("SELECT state, attempts FROM inbox"))
    assert rows == [("waiting", 0)]


async def test_draining_finishes_what_runs_and_takes_nothing_new(store: Store, clock: SetClock) -> None:
    """The turn under way is answered; the next message waits for the next start."""
    fake_model = FakeModel()
    fake_model.gates["slow"] = asyncio.Event()
    worker = worker_of(store, clock, FakeTransport(), fake_model)
    async with running(worker) as task:
        await arrive(store, "slow", 1)
        async with asyncio.timeout(WAIT_SECONDS):
            await fake_model.changed.wait()
        worker.drain()
        await arrive(store, "later", 1, author="bob")
        fake_model.gates["slow"].set()
        await asyncio.wait_for(task, WAIT_SECONDS)
    assert await said(store, 1) == ["answer"]
    assert (await store.read(lambda repos: repos.inbox.backlog())).items == 1


async def test_a_store_that_fails_for_a_while_is_waited_for(store: Store, clock: SetClock) -> None:
    """The loop goes on when the inbox can be read again."""
    await store.transaction(lambda repos: repos.inbox.execute("ALTER TABLE inbox RENAME TO away"))
    async with running(worker_of(store, clock, FakeTransport(), FakeModel())):
        await asyncio.sleep(0.05)
        await store.transaction(lambda repos: repos.inbox.execute("ALTER TABLE away RENAME TO inbox"))
        await arrive(store, "hello")
        assert await said(store, 1) == ["answer"]
