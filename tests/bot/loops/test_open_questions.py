"""A question that is open: what else is said leaves it open, a request of the same kind takes its place, and nothing is
done without a yes to what was shown.
"""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from bot.clock import SetClock
from bot.i18n import phrases as common_phrases
from bot.turn import phrases
from store import Store
from tests.bot.commands.test_commands import told
from tests.bot.loops.app_harness import FIRST, Port, app_harness
from tests.bot.turn.turn_helpers import Echo, calls, says
from tests.servers.envelopes import ALDIS, BOB, GROUP, message, quote_of, reaction
from tests.waiting import eventually_found

NOTE = "it has asked this person whether these calls of tools may run"


def tools() -> tuple[Echo, Echo, Echo]:
    """One that brings words from outside, and two that do something."""
    return Echo(name="look"), Echo(name="post", effects="once"), Echo(name="plan", effects="once")


def wanted(tool: str, word: str) -> Any:
    return calls((tool, {"word": word}))


async def asked(port: Port, tool: str = "post", word: str = "at 18:00", **more: Any) -> int:
    """A page wants something done; gives what Signal calls the question."""
    port.thinker.script = [calls(("look", {"word": "page"})), wanted(tool, word), says("Done.")]
    assert (await told(port, "Aldis, read the page.", **more)).startswith(f"May I use {tool}?")
    port.thinker.script = []
    return FIRST + len(port.transport.sent)


async def agree(port: Port, question: int, *, still_open: int = 0, **more: Any) -> None:
    """Put a thumb on a question; so many are open afterwards."""
    await port.deliver(reaction("👍", question, **more))
    await port.quiet_but(still_open)


async def open_questions(port: Port) -> int:
    return await port.count(
        "SELECT count(DISTINCT turn_id) FROM inbox WHERE put_off_until IS NOT NULL AND state = 'waiting'"
    )


@pytest.mark.parametrize("group", [None, GROUP])
async def test_unrelated_talk_leaves_it_open(store: Store, clock: SetClock, group: str | None) -> None:
    """It is answered, and a thumb on the question counts as before; the history is in the order of what was asked."""
    look, post, plan = tools()
    async with app_harness(store, clock, tools=(look, post, plan)) as port:
        question = await asked(port, group=group)
        assert await told(port, "Aldis, how are you?", group=group) == "re: Aldis, how are you?"
        assert NOTE in str(port.thinker.requests[-1].messages[0])
        assert (post.ran, await open_questions(port)) == ([], 1)
        port.thinker.script = [says("Done.")]
        await port.deliver(reaction("👍", question, group=group))
        await port.answered(3)
        await port.quiet()
        assert post.ran == ["at 18:00"]
        assert "how are you" not in str(port.thinker.requests[-1].messages)
        for _ in range(2):  # as it was remembered, and as it is read anew
            await told(port, "Aldis, and now?", group=group)
            said = [one.text for one in port.thinker.requests[-1].messages if one.role == "user"]
            assert ["read the page" in text for text in said[:2]] == [True, False]
            assert "how are you" in said[1]
            assert NOTE not in said[0]
            port.turns.forget()


@pytest.mark.parametrize("group", [None, GROUP])
async def test_it_can_be_amended(store: Store, clock: SetClock, group: str | None) -> None:
    """The model proposes other arguments, and it is asked once more; the old question is over, and nothing is done
    without a yes to the new one.
    """
    look, post, plan = tools()
    async with app_harness(store, clock, tools=(look, post, plan)) as port:
        first = await asked(port, group=group)
        port.thinker.script = [wanted("post", "at 19:00"), says("Done.")]
        words = "Change it to 19:00"
        quote = {"quote": quote_of(ALDIS, first, "May I use post?")} if group else {}
        heard = await told(port, words, group=group, **quote)
        assert heard.startswith("May I use post?\n\n• word: “at 19:00”")
        assert phrases.TAKES_PLACE.text in heard
        assert "what look told me earlier" in heard
        assert (post.ran, await open_questions(port)) == ([], 1)
        await port.deliver(reaction("👍", first, group=group))
        await port.quiet_but(1)
        assert post.ran == []
        await agree(port, FIRST + 2, group=group)
        await port.answered(3)
        assert post.ran == ["at 19:00"]
        assert [reply.content.text for reply in port.transport.sent[2:]] == ["Done."]
        assert await port.count("SELECT count(*) FROM ledger WHERE name = 'look'") == 1  # what the first one cost


async def test_what_the_persons_own_words_name_takes_its_place(store: Store, clock: SetClock) -> None:
    """It is done, and what was asked before is not done as well."""
    look, _, plan = tools()
    post = Echo(name="post", effects="once", flags={"deeds": ("post",)})
    async with app_harness(store, clock, tools=(look, post, plan)) as port:
        first = await asked(port)
        port.thinker.script = [wanted("post", "hello"), says("Posted.")]
        assert await told(port, "Rather post hello") == f"Posted.\n\n{phrases.TAKES_PLACE.text}"
        await agree(port, first)
        assert (post.ran, await open_questions(port)) == (["hello"], 0)


async def test_what_was_asked_is_still_what_a_page_wants(store: Store, clock: SetClock) -> None:
    """The note on it is made of the page's words: whatever the model makes of it asks as well."""
    look, post, plan = tools()
    async with app_harness(store, clock, tools=(look, post, plan)) as port:
        await asked(port)
        port.thinker.script = [wanted("plan", "x"), says("Done.")]
        heard = await told(port, "how are you?")
        assert heard.startswith("May I use plan?")
        assert "what look told me earlier" in heard
        assert (plan.ran, await open_questions(port)) == ([], 2)


async def test_of_two_open_questions_a_word_alone_means_none(store: Store, clock: SetClock) -> None:
    """The person is told to show which; a quote or a thumb does."""
    look, post, plan = tools()
    async with app_harness(store, clock, tools=(look, post, plan)) as port:
        first = await asked(port)
        second = await asked(port, "plan")
        clock.move(2)
        assert await told(port, "yes") == phrases.WHICH_QUESTION.text
        assert (post.ran, plan.ran, await open_questions(port)) == ([], [], 2)
        await port.deliver(message("yes", quote=quote_of(ALDIS, second, "May I use plan?")))
        await port.answered(4)
        await port.quiet_but(1)
        assert (post.ran, plan.ran) == ([], ["at 18:00"])
        await agree(port, first)
        assert post.ran == ["at 18:00"]


async def test_a_word_alone_means_what_was_said_last(store: Store, clock: SetClock) -> None:
    """A yes to something else that Aldis has said since is none to the question: nobody is led to agree by that."""
    look, post, plan = tools()
    async with app_harness(store, clock, tools=(look, post, plan)) as port:
        first = await asked(port)
        clock.move(2)
        port.thinker.script = [says("Say yes, and I tell you a joke.")]
        await told(port, "how are you?")
        clock.move(2)
        assert await told(port, "yes") == "re: yes"
        assert NOTE in str(port.thinker.requests[-1].messages[0])
        assert (post.ran, await open_questions(port)) == ([], 1)
        await agree(port, first)
        assert post.ran == ["at 18:00"]


async def test_in_a_group_each_has_their_own(store: Store, clock: SetClock) -> None:
    """Nobody amends what another was asked, and one's plain yes is not made ambiguous by another's question."""
    look, post, plan = tools()
    async with app_harness(store, clock, tools=(look, post, plan)) as port:
        await asked(port, group=GROUP, author=BOB)
        await asked(port, word="Alice's", group=GROUP)
        assert phrases.TAKES_PLACE.text not in port.transport.sent[-1].content.text
        assert NOTE not in str(port.thinker.requests[-1].messages)
        assert await open_questions(port) == 2
        clock.move(2)
        await port.deliver(message("yes", group=GROUP))
        await port.answered(3)
        await port.quiet_but(1)
        assert post.ran == ["Alice's"]


async def test_an_amendment_survives_a_crash(store: Store, clock: SetClock) -> None:
    """A life took it up and died: the old question is open until the new one is there, and then over."""
    look, post, plan = tools()
    async with app_harness(store, clock, tools=(look, post, plan)) as port:
        await asked(port)
    await port.deliver(message("Change it to 19:00"))
    [claim], _ = await store.transaction(lambda repos: port.turns.claim(repos, busy=(), seconds=60))
    assert claim.put_off
    async with app_harness(store, clock, tools=(look, post, plan)) as port:
        port.thinker.script = [wanted("post", "at 19:00"), says("Done.")]
        await port.maintenance.recover()
        await port.answered(1)
    async with app_harness(store, clock, tools=(look, post, plan)) as port:
        await port.maintenance.recover()
        assert await open_questions(port) == 1
        clock.move(2)
        await port.deliver(message("ok, do it"))
        await port.answered(1)
        await port.quiet()
        assert post.ran == ["at 19:00"]


async def test_a_yes_while_it_is_amended_is_a_yes_to_what_was_shown(store: Store, clock: SetClock) -> None:
    """It came before the new question was there: that one is another."""
    look, post, plan = tools()
    async with app_harness(store, clock, tools=(look, post, plan)) as port:
        first = await asked(port)
        gate = asyncio.Event()
        port.thinker.gates["19:00"] = gate
        await port.deliver(message("Change it to 19:00"))
        await port.asked(3)
        await port.deliver(reaction("👍", first))

        async def is_decided() -> bool:
            return await open_questions(port) == 0

        await eventually_found(is_decided)
        port.thinker.script = [wanted("post", "at 19:00"), says("Done.")]
        gate.set()
        await port.answered(3)
        await port.quiet_but(1)
        assert post.ran == ["at 18:00"]
        assert phrases.TAKES_PLACE.text not in port.transport.sent[1].content.text


async def test_time_and_stop_end_it(store: Store, clock: SetClock) -> None:
    """Also after something else was said."""
    look, post, plan = tools()
    async with app_harness(store, clock, tools=(look, post, plan), approval_seconds=600) as port:
        await asked(port)
        await told(port, "how are you?")
        clock.move(timedelta(seconds=601).total_seconds())
        await port.maintenance.expire()
        await port.answered(3)
        await port.quiet()
        first = await asked(port)
        await told(port, "how are you?")
        assert await told(port, "/stop") == common_phrases.STOPPED.text
        await agree(port, first)
        assert (post.ran, await open_questions(port)) == ([], 0)


async def test_it_is_forgotten_with_the_rest(store: Store, clock: SetClock) -> None:
    """Nothing of it is told to a model any more."""
    look, post, plan = tools()
    async with app_harness(store, clock, tools=(look, post, plan)) as port:
        await asked(port)
        await told(port, "/forget")
        await told(port, "how are you?")
        assert NOTE not in str(port.thinker.requests[-1].messages)


async def test_what_disappears_is_told_to_no_model(store: Store, clock: SetClock) -> None:
    """The question may still be open then; its words are gone."""
    look, post, plan = tools()
    async with app_harness(store, clock, tools=(look, post, plan)) as port:
        await asked(port, expires_in_seconds=60)
        clock.move(61)
        await told(port, "how are you?")
        assert NOTE not in str(port.thinker.requests[-1].messages)
