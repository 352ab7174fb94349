"""A burst of messages: which answer belongs to which, and what comes in the moment of a stop."""

import asyncio
import threading

from bot.clock import SetClock
from store import Store
from tests.bot.loops.app_harness import FIRST, app_harness
from tests.servers.envelopes import message
from tests.waiting import WAIT_SECONDS, all_begun


async def test_in_a_burst_of_a_direct_chat_each_answer_quotes_its_question(store: Store, clock: SetClock) -> None:
    """Otherwise no one could tell which is answered; a question that stands right above its answer needs no quote."""
    async with app_harness(store, clock) as aldis:
        gate = aldis.model.gates["first"] = asyncio.Event()
        first = await aldis.deliver(message("first", sent_at=FIRST - 2))
        await aldis.asked(1)
        second = await aldis.deliver(message("second", sent_at=FIRST - 1))
        gate.set()
        await aldis.answered(2)
        await aldis.quiet()
        await aldis.deliver(message("later", sent_at=FIRST + 1000))
        replies = await aldis.answered(3)
    assert [reply.quote and reply.quote.sent_at for reply in replies] == [first, second, None]


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
