"""Turns in the store: kept whole or not at all, loaded as they were kept, told when they are given up."""

import asyncio

import pytest

from bot.chat import phrases
from bot.chat.context import PastTurns
from bot.clock import SetClock
from bot.events import Reply, load_outgoing
from bot.formatting.split import MAX_MESSAGE_BYTES
from store import Store, StoreError
from tests.bot.chat.turn_helpers import Desk, Echo, Scripted, calls, incoming, says
from tests.conftest import NOON


async def replies(store: Store) -> list[Reply]:
    found: list[Reply] = []
    while items := await store.transaction(lambda repos: repos.outbox.begin(now=NOON.replace(year=2030), limit=9)):
        for item in items:
            reply = load_outgoing(item.reply)
            assert isinstance(reply, Reply)
            found.append(reply)
            await store.transaction(lambda repos, item=item: repos.outbox.give_up(item.id, now=NOON))
    return found


async def test_a_kept_turn_is_all_there(store: Store, clock: SetClock) -> None:
    """History, ledger, outbox, journal and inbox change together."""
    there = Desk(store, clock, Scripted([calls(("echo", {"word": "a"})), says("*A.*")]), (Echo(),))
    await there.kept("say a")
    rows = await store.read(lambda repos: repos.history.rows("SELECT role, call_id FROM history ORDER BY position"))
    assert [role for role, _ in rows] == ["user", "assistant", "tool", "assistant"]
    assert [call_id is not None for _, call_id in rows] == [False, False, True, False]
    ledger = await store.read(
        lambda repos: repos.ledger.rows("SELECT kind, name, outcome, cost_usd FROM ledger ORDER BY id")
    )
    assert ledger == [
        ("model", "model-1", "ok", "0.01"),
        ("tool", "echo", "ok", "0.002"),
        ("model", "model-1", "ok", "0.01"),
    ]
    assert await store.read(lambda repos: repos.journal.rows("SELECT * FROM journal")) == []
    assert (await store.read(lambda repos: repos.inbox.backlog())).items == 0
    [reply] = await replies(store)
    assert (reply.content.text, reply.quote, reply.ok, reply.last) == ("A.", None, True, True)


async def test_what_is_remembered_is_what_the_store_holds(store: Store, clock: SetClock) -> None:
    """The turns of a running Aldis and of one started anew give the same history, cut to the same number of turns."""
    there = Desk(store, clock, Scripted([]), (Echo(),))
    for number in range(23):
        there.provider.script = [calls(("echo", {"word": "a"})), says(f"A{number}.")]
        await there.kept(f"question {number}")
    await there.arrive()
    claim = await there.claimed()
    remembered = await there.turns.load(claim, (incoming(),))
    assert len(remembered.history) == 20
    assert remembered.history == (await there.started_anew().load(claim, (incoming(),))).history


async def test_what_was_read_before_a_change_is_not_remembered(store: Store, clock: SetClock) -> None:
    """A message can be deleted between the reading of a history and the end of that reading."""
    there = Desk(store, clock, Scripted([says("In May.")]))
    await there.kept("When do I sow beans?")
    past = PastTurns(store, max_turns=9)
    [conversation] = await store.read(lambda repos: repos.history.column("SELECT conversation_id FROM history LIMIT 1"))
    reading = asyncio.create_task(past.load(conversation))
    await asyncio.sleep(0)  # it has asked the store
    past.forget(conversation)
    assert len(await reading) == 1
    await store.transaction(lambda repos: repos.history.execute("DELETE FROM history"))
    assert await past.load(conversation) == ()


async def test_a_turn_that_could_not_be_kept_is_not_remembered(store: Store, clock: SetClock) -> None:
    """After a failure the history is what the store has, not what was hoped for."""
    there = Desk(store, clock, Scripted([says("kept"), says("lost")]))
    await there.kept("first")
    turn = await there.loaded("second")
    outcome = await there.answer(turn)
    await store.transaction(lambda repos: repos.outbox.execute("ALTER TABLE outbox RENAME TO away"))
    with pytest.raises(StoreError):
        await there.turns.keep(turn, outcome)
    await store.transaction(lambda repos: repos.outbox.execute("ALTER TABLE away RENAME TO outbox"))
    assert len((await there.again("second")).history) == 1


async def test_in_a_group_a_long_answer_is_one_message_that_quotes_the_newest_question(
    store: Store, clock: SetClock
) -> None:
    """What Signal carries as long text is not torn into pieces."""
    there = Desk(store, clock, Scripted([]))
    await there.arrive("group:G")
    first = incoming("one", 1, "group:G")
    turn = await there.turns.load(await there.claimed(), (first, incoming("two", 2, "group:G")))
    answer = "word " * 3600
    there.provider.script = [says(answer)]
    await there.turns.keep(turn, await there.answer(turn))
    [reply] = await replies(store)
    assert reply.content.text == answer.strip()
    assert reply.quote is not None
    assert (reply.quote.sent_at, reply.last, reply.files) == (2, True, ())
    assert reply.answers == (1, 2)


async def test_an_answer_beyond_what_signal_carries_comes_whole_in_a_file(store: Store, clock: SetClock) -> None:
    """The message ends with a word about it; the file has the answer from its beginning to its end."""
    answer = "word " * 14_000
    there = Desk(store, clock, Scripted([says(answer)]))
    await there.kept()
    [reply] = await replies(store)
    assert reply.content.text.endswith(phrases.REST_IN_FILE.text)
    assert len(reply.content.text.encode()) <= MAX_MESSAGE_BYTES
    assert [(file.name, file.data.decode().split()) for file in reply.files] == [("answer.txt", answer.split())]
