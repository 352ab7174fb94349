"""Worker: each conversation in order, all side by side; no one waits in vain, whatever a turn does."""

import asyncio
import json
import threading
from dataclasses import replace
from typing import Any

import pytest

from bot.chat import phrases
from bot.clock import SetClock
from bot.commands import phrases as command_phrases
from bot.commands.base import Call, CommandGroup, command
from bot.events import ChatId, Envelope, dump_value
from bot.i18n import phrases as common_phrases
from bot.signal.envelope import FrameReader
from store import Repositories, Store
from tests.arrivals import arrive
from tests.bot.loops.app_harness import FIRST, Harness, HarnessTransport, app_harness
from tests.bot.signal.bridges import OWN_ACCOUNT
from tests.servers.envelopes import ALICE, BOB, CAROL, GROUP, message, timer
from tests.waiting import WAIT_SECONDS, all_begun, eventually


async def said(aldis: Harness, count: int) -> list[str]:
    return [reply.content.text for reply in await aldis.answered(count)]


async def left_waiting(store: Store, clock: SetClock, *texts: str) -> None:
    async with app_harness(store, clock) as aldis:
        pass
    for text in texts:
        await aldis.deliver(message(text))


async def test_a_burst_during_a_turn_becomes_the_next_turn(aldis: Harness) -> None:
    """One turn at a time in a conversation; what came meanwhile is taken together, in order."""
    gate = await aldis.held("first")
    for text in ("second", "third"):
        await aldis.deliver(message(text))
    gate.set()
    await said(aldis, 2)
    await aldis.quiet()
    assert len(aldis.model.asked) == 2
    assert aldis.model.asked[1].index("second") < aldis.model.asked[1].index("third")


async def test_no_more_run_at_once_than_allowed(store: Store, clock: SetClock) -> None:
    """The others wait their turn and get it."""
    async with app_harness(store, clock, conversations_at_once=2) as aldis:
        gate = aldis.model.gates["wait"] = asyncio.Event()
        for author in (ALICE, BOB, CAROL):
            await aldis.deliver(message("wait", author=author))
        await aldis.asked(2)
        await asyncio.sleep(0.1)  # in which the third would come on most machines
        assert len(aldis.model.asked) == 2
        gate.set()
        assert len(await said(aldis, 3)) == 3


async def test_a_crowd_that_waits_for_a_model_delays_no_one(store: Store, clock: SetClock) -> None:
    """Each of them asks a model that never answers; who comes after all of them is answered at once."""
    async with app_harness(store, clock, conversations_at_once=1000) as aldis:
        aldis.model.gates["wait"] = asyncio.Event()
        for number in range(100):
            crowd = replace(ALICE, uuid=f"{number:08x}-0000-4000-8000-000000000000", number=None)
            await aldis.deliver(message("wait", author=crowd))
        await aldis.asked(100)
        await aldis.deliver(message("quick", author=BOB))
        assert await said(aldis, 1) == ["re: quick"]


async def test_a_command_that_waits_delays_no_one(store: Store, clock: SetClock) -> None:
    """Nor does it hold back the commands of others; what was asked behind it in its own conversation comes after it."""
    gate = asyncio.Event()

    class Slow(CommandGroup):
        @command("/slow", command_phrases.ABOUT_STOP)
        async def _slow(self, call: Call) -> None:
            if call.message.author == ALICE.uuid:
                await gate.wait()
            await store.transaction(lambda repos: repos.inbox.settle(call.urgent_item.id))

    async with app_harness(store, clock, commands=lambda context: (Slow(context),)) as aldis:
        for text, author in (("/slow", ALICE), ("behind", ALICE), ("/slow", BOB), ("hello", BOB)):
            await aldis.deliver(message(text, author=author))
        assert await said(aldis, 1) == ["re: hello"]
        gate.set()
        assert (await said(aldis, 2))[1] == "re: behind"


async def test_people_see_that_aldis_is_writing(aldis: Harness) -> None:
    """The indicator is shown while the turn runs and taken away at its end; what needs no answer shows none."""
    gate = aldis.model.gates["hello"] = asyncio.Event()
    await aldis.process(message("among us", group=GROUP))
    await aldis.process(message("   "))
    await aldis.deliver(message("hello"))
    await eventually(lambda: aldis.transport.typed)
    gate.set()
    await aldis.quiet()
    assert (aldis.transport.typed[0], aldis.transport.typed[-1]) == ((ALICE.chat, True), (ALICE.chat, False))
    assert len(aldis.model.asked) == 1


async def test_one_that_fails_while_it_is_read_takes_no_other_along(
    store: Store, clock: SetClock, caplog: pytest.LogCaptureFixture
) -> None:
    """A bug, and a damaged row: the others are answered, nothing is tried for ever, and no word of it is logged."""

    class Stumbling(HarnessTransport):
        def event(self, envelope: Envelope) -> Any:
            if "stumble" in envelope.raw:
                raise LookupError(envelope.raw)
            return super().event(envelope)

    await arrive(store, envelope=b"damaged")
    async with app_harness(store, clock, transport=Stumbling()) as aldis:
        gate = await aldis.held("wait", message("wait", author=BOB))
        for text in ("hello", "stumble", "and how are you?"):
            await aldis.deliver(message(text, author=BOB))
        gate.set()
        await aldis.process(message("stumble"))
        assert "how are you" in str(aldis.model.asked)
        assert (await store.read(lambda repos: repos.inbox.backlog())).dead == 1
    assert "LookupError" in caplog.text
    assert "stumble" not in caplog.text


async def test_a_turn_that_takes_too_long_or_is_stopped_says_so(store: Store, clock: SetClock) -> None:
    """The time of a whole turn is bounded; the conversation goes on."""
    for bound in (0.05, 60):
        async with app_harness(store, clock, turn_timeout_seconds=bound) as aldis:
            await aldis.held("slow")
            if bound == 60:
                for turn in aldis.worker.tasks.stoppable():
                    aldis.worker.tasks.stop(turn)
            end = common_phrases.STOPPED if bound == 60 else common_phrases.TOOK_TOO_LONG
            assert await said(aldis, 1) == [end.text]
            await aldis.deliver(message("quick"))
            assert (await said(aldis, 2))[1] == "re: quick"


async def test_a_turn_that_has_its_answer_cannot_be_stopped_any_more(store: Store, clock: SetClock) -> None:
    """Who presses Ctrl-C on seeing the answer means to leave, also while the turn still puts its things away."""

    class Sluggish(HarnessTransport):
        async def typing(self, chat: ChatId, *, started: bool) -> None:
            if not started:
                await asyncio.Event().wait()

    async with app_harness(store, clock, transport=Sluggish()) as aldis:
        gate = await aldis.held("hello")
        assert len(aldis.worker.tasks.stoppable()) == len(aldis.worker.tasks)
        gate.set()
        await said(aldis, 1)
        await eventually(lambda: aldis.worker.tasks and not aldis.worker.tasks.stoppable())


async def test_a_turn_that_fails_is_tried_again_and_then_buried(store: Store, clock: SetClock) -> None:
    """A bug costs some tries, then the person is told, and the conversation goes on."""
    async with app_harness(store, clock, max_attempts=1) as aldis:
        aldis.model.script = [RuntimeError("a bug")]
        await aldis.deliver(message("explode"))
        assert await said(aldis, 1) == [phrases.GAVE_UP.text]
        await aldis.deliver(message("hello"))
        assert (await said(aldis, 2))[1] == "re: hello"
        assert len(aldis.model.asked) == 2


@pytest.mark.parametrize("damage", [b"?" * 60, None], ids=["sealed", "other words"])
async def test_a_turn_whose_journal_is_damaged_is_buried(store: Store, clock: SetClock, damage: bytes | None) -> None:
    """It cannot be known which of its tools have run: the person is told at once, and the conversation goes on."""
    await left_waiting(store, clock, "hello")

    def interrupted(repos: Repositories) -> None:
        claim = repos.inbox.claim(now=clock.now(), until=clock.now(), busy=())
        assert claim is not None
        repos.journal.add(claim.conversation, claim.turn, 0, b'{"step": "of another version"}')
        if damage is not None:
            repos.journal.execute("UPDATE journal SET step = ?", (damage,))
        repos.inbox.recover()

    await store.transaction(interrupted)
    async with app_harness(store, clock) as aldis:
        assert await said(aldis, 1) == [phrases.GAVE_UP.text]
        await aldis.deliver(message("and now"))
        assert (await said(aldis, 2))[1] == "re: and now"
        assert len(aldis.model.asked) == 1


@pytest.mark.parametrize(("deaths", "reply"), [(5, "re: hello"), (6, phrases.GAVE_UP.text)])
async def test_a_turn_with_which_processes_die_and_die_is_buried(
    store: Store, clock: SetClock, deaths: int, reply: str
) -> None:
    """It may be what kills them: after some it is given up."""
    await left_waiting(store, clock, "hello")
    for _ in range(deaths):
        await store.transaction(lambda repos: repos.inbox.claim(now=clock.now(), until=clock.now(), busy=()))
        await store.transaction(lambda repos: repos.inbox.recover())
    async with app_harness(store, clock, max_attempts=1) as aldis:
        assert await said(aldis, 1) == [reply]


async def test_an_end_finishes_or_hands_back_what_runs(store: Store, clock: SetClock) -> None:
    """Drained, the turn under way is answered and the next message waits; cut short, it waits, and no try counts."""
    async with app_harness(store, clock) as aldis:
        gate = await aldis.held("slow")
        aldis.worker.drain()
        await aldis.deliver(message("later, slow", author=BOB))
        gate.set()
        await said(aldis, 1)
        await aldis.quiet_but(1)
        assert len(aldis.model.asked) == 1
    async with app_harness(store, clock) as aldis:
        aldis.model.gates["slow"] = asyncio.Event()
        await aldis.asked(1)
    rows = await store.read(lambda repos: repos.inbox.rows("SELECT state, attempts FROM inbox WHERE state != 'done'"))
    assert rows == [("waiting", 0)]


async def test_a_store_that_fails_for_a_while_is_waited_for(aldis: Harness, store: Store) -> None:
    """The loop goes on when the inbox can be read again."""
    await store.transaction(lambda repos: repos.inbox.execute("ALTER TABLE inbox RENAME TO away"))
    store.wakeups["inbox"].set()
    await asyncio.sleep(0.05)
    await store.transaction(lambda repos: repos.inbox.execute("ALTER TABLE away RENAME TO inbox"))
    await aldis.deliver(message("hello"))
    assert await said(aldis, 1) == ["re: hello"]


async def test_what_an_older_aldis_kept_of_a_timer_is_settled(store: Store, clock: SetClock) -> None:
    """It came in as urgent, and nothing is made of it."""
    async with app_harness(store, clock) as aldis:
        envelope = FrameReader(OWN_ACCOUNT, "Aldis").envelope(json.dumps(timer(60)))
        assert envelope is not None
        more = {"author": ALICE.uuid, "kind": "timer", "urgent": True}
        await arrive(store, ALICE.chat, envelope.sent_at, dump_value(envelope), **more)
        await aldis.quiet()
        assert (await store.read(lambda repos: repos.inbox.backlog())).dead == 0


# Bursts and stops


async def test_in_a_burst_of_a_direct_chat_each_answer_quotes_its_question(store: Store, clock: SetClock) -> None:
    """Otherwise no one could tell which is answered; a question that stands right above its answer needs no quote."""
    async with app_harness(store, clock) as aldis:
        gate = await aldis.held("first", message("first", sent_at=FIRST - 2))
        await aldis.deliver(message("second", sent_at=FIRST - 1))
        gate.set()
        await aldis.answered(2)
        await aldis.quiet()
        await aldis.deliver(message("later", sent_at=FIRST + 1000))
        replies = await aldis.answered(3)
    assert [reply.quote and reply.quote.sent_at for reply in replies] == [FIRST - 2, FIRST - 1, None]


async def test_a_message_that_commits_in_the_moment_of_a_stop_hangs_nothing(store: Store, clock: SetClock) -> None:
    """It waits for the next start; the store takes and gives what else is asked of it, and closes."""
    async with app_harness(store, clock) as aldis:
        let_go = threading.Event()
        holding = asyncio.ensure_future(store.read(lambda _: let_go.wait(WAIT_SECONDS)))
        delivering = asyncio.create_task(aldis.deliver(message("just now")))
        await all_begun()
        aldis.worker.drain()
        let_go.set()
        assert await holding
        await delivering
        assert await aldis.count("SELECT count(*) FROM inbox WHERE state = 'waiting'") == 1
    await store.transaction(lambda repos: repos.inbox.backlog())
    assert aldis.model.asked == []
