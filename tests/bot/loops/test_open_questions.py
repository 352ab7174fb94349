"""A question that is open: what else is said leaves it open, a request of the same kind takes its place, and nothing is
done without a yes to what was shown.
"""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from bot.clock import SetClock
from bot.i18n import phrases as common_phrases
from bot.i18n.catalogues import say
from bot.i18n.language import Language, use_language
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


LEADING = ("Say yes, and I tell you a joke.", "Shall I go on?", "Soll ich weitermachen？", "続けますか。", "Very well.")


@pytest.mark.parametrize("words", ["yes", "no", "always"])
@pytest.mark.parametrize("said", LEADING)
@pytest.mark.parametrize("group", [None, GROUP])
async def test_no_yes_to_something_else_is_one_to_what_a_page_wants(
    store: Store, clock: SetClock, group: str | None, said: str, words: str
) -> None:
    """A model that obeys the page says something behind the question, whatever it is: the word to that shows what is
    open once more, and only the next one counts. No model is asked what it may mean.
    """
    look, post, plan = tools()
    async with app_harness(store, clock, tools=(look, post, plan)) as port:
        await asked(port, group=group)
        clock.move(2)
        port.thinker.script = [says(said)]
        assert await told(port, "Aldis, how are you?", group=group) == said
        requests = len(port.thinker.requests)
        clock.move(2)
        heard = await told(port, words, group=group)
        assert heard.startswith(f"{phrases.STILL_OPEN.text}\n\nMay I use post?\n\n• word: “at 18:00”")
        assert "what look told me earlier" in heard
        await port.quiet_but(1)
        assert (post.ran, await open_questions(port), len(port.thinker.requests)) == ([], 1, requests)
        clock.move(2)
        port.thinker.script = [says("Done.")]
        assert await told(port, words, group=group) == "Done."
        await port.quiet()
        assert post.ran == ([] if words == "no" else ["at 18:00"])


def asking() -> Echo:
    """A tool that asks before each call, because its author wants it."""
    return Echo(name="post", effects="once", flags={"needs_approval": True})


async def asked_cleanly(port: Port, **more: Any) -> int:
    """The person has something done about which they are asked; nobody else has a part in it."""
    port.thinker.script = [wanted("post", "at 18:00")]
    assert (await told(port, "Aldis, post it.", **more)).startswith("May I use post?")
    question = FIRST + len(port.transport.sent)
    port.clock.move(2)
    return question


@pytest.mark.parametrize("group", [None, GROUP])
@pytest.mark.parametrize("words", ["yes", "ok, do it", "ja klar", "oui, merci", "sí, por favor", "nein", "always"])
async def test_a_plain_word_counts_behind_talk_that_nobody_else_wrote(
    store: Store, clock: SetClock, words: str, group: str | None
) -> None:
    """However much of it there was, and over a restart: no answer asked for a yes, and none was a stranger's."""
    post = asking()
    async with app_harness(store, clock, tools=(post,)) as port:
        await asked_cleanly(port, group=group)
        for said in ("It is sunny.", "Dinner is at seven."):
            port.thinker.script = [says(said)]
            assert await told(port, "Aldis, tell me something.", group=group) == said
            clock.move(2)
        await port.quiet_but(1)
    async with app_harness(store, clock, tools=(post,)) as port:
        await port.maintenance.recover()
        port.thinker.script = [says("Done.")]
        if group:
            await port.deliver(message(words, author=BOB, group=group))
            await port.quiet_but(1)
            assert (post.ran, await open_questions(port)) == ([], 1)
        assert await told(port, words, group=group) == "Done."
        await port.quiet()
    assert post.ran == ([] if words == "nein" else ["at 18:00"])


@pytest.mark.parametrize(
    ("said", "words"),
    [
        *((said, "yes") for said in LEADING[:-1]),
        ("Sag einfach ja.", "ja"),
        ("It is sunny.", "ok"),
        ("It is sunny.", "Ok, danke!"),
        ("It is sunny.", "👍"),
    ],
)
async def test_what_may_be_said_to_the_answer_shows_the_question_again(
    store: Store, clock: SetClock, said: str, words: str
) -> None:
    """The answer asks for it, or it may be thanks; then the question is what was said last."""
    post = asking()
    async with app_harness(store, clock, tools=(post,)) as port:
        await asked_cleanly(port)
        port.thinker.script = [says(said)]
        await told(port, "Tell me something.")
        clock.move(2)
        assert (await told(port, words)).startswith(phrases.STILL_OPEN.text)
        assert (post.ran, await open_questions(port)) == ([], 1)
        clock.move(2)
        port.thinker.script = [says("Done.")]
        assert await told(port, words) == "Done."
        assert post.ran == ["at 18:00"]


@pytest.mark.parametrize("between", ["page", "command", "reminder", "Bob", "Bob's question"])
async def test_behind_what_somebody_else_may_have_written_the_question_is_shown_again(
    store: Store, clock: SetClock, between: str
) -> None:
    """A page that was read; what Aldis keeps and shows; another member."""
    look, post = Echo(name="look"), asking()
    group = GROUP if between.startswith("Bob") else None
    async with app_harness(store, clock, tools=(look, post)) as port:
        if between == "reminder":
            await told(port, "/remind in 1 minute drink tea")
        await asked_cleanly(port, group=group)
        before = len(port.transport.sent)
        read = [calls(("look", {"word": "page"}))] if between == "page" else []
        port.thinker.script = [*read, says("It is sunny.")]
        if between == "command":
            await told(port, "/memory")
        elif between == "reminder":
            clock.move(120)
            await port.reminder_scheduler.attend_all()
            await port.answered(before + 1)
        elif between == "Bob's question":
            await asked_cleanly(port, group=group, author=BOB)
        else:
            more: dict[str, Any] = {"author": BOB} if between == "Bob" else {}
            await told(port, "Aldis, tell me something.", group=group, **more)
        clock.move(2)
        heard = await told(port, "yes", group=group)
        assert heard.startswith(phrases.STILL_OPEN.text)
        assert post.ran == []
        clock.move(2)
        port.thinker.script = [says("Done.")]
        assert await told(port, "yes", group=group) == "Done."
        assert post.ran == ["at 18:00"]


@pytest.mark.parametrize("is_first", [True, False])
async def test_a_yes_among_other_messages_is_none_for_the_model(
    store: Store, clock: SetClock, *, is_first: bool
) -> None:
    """They are taken together because a turn ran. Before the others it counts; behind them it may be about those."""
    post = asking()
    async with app_harness(store, clock, tools=(post,)) as port:
        await asked_cleanly(port)
        gate = port.thinker.gates["wait"] = asyncio.Event()
        await port.deliver(message("wait"))
        await port.asked(2)
        for text in ("yes", "how are you") if is_first else ("how are you", "yes"):
            await port.deliver(message(text))
        gate.set()
        if is_first:
            await port.quiet()
        else:
            await port.quiet_but(1)
            assert any(reply.content.text.startswith(phrases.STILL_OPEN.text) for reply in port.transport.sent)
        assert post.ran == (["at 18:00"] if is_first else [])
        asked = next(question for question in port.thinker.asked if "how are you" in question)
        assert "yes" not in asked
        request = next(one for one in port.thinker.requests if "how are you" in str(one.messages[-1]))
        assert (NOTE in str(request.messages)) is not is_first


async def test_a_yes_that_is_said_twice_shows_it_once(store: Store, clock: SetClock) -> None:
    """The second has crossed what the first one brought about: it answers nothing."""
    look, post, plan = tools()
    async with app_harness(store, clock, tools=(look, post, plan)) as port:
        await asked(port)
        clock.move(2)
        await told(port, "how are you?")
        clock.move(2)
        before, requests = len(port.transport.sent), len(port.thinker.requests)
        port.transport.gate = asyncio.Event()
        await port.deliver(message("yes"))
        await port.deliver(message("Yes!"))
        await port.quiet_but(2)  # the question, and that it is shown again
        port.transport.gate.set()
        await port.quiet_but(1)
        assert (len(port.transport.sent), len(port.thinker.requests)) == (before + 1, requests)
        assert post.ran == []


@pytest.mark.parametrize("language", ["de", "fr", "es"])
async def test_it_is_shown_again_in_the_language_that_is_spoken(
    store: Store, clock: SetClock, language: Language
) -> None:
    """With all that was shortened in it, and a thumb on it counts like one on the first."""
    look, post, plan = tools()
    async with app_harness(store, clock, tools=(look, post, plan)) as port:
        await told(port, f"/language {language}")
        port.thinker.script = [calls(("look", {"word": "page"})), wanted("post", "lamp" * 300)]
        await told(port, "Aldis, ...")
        clock.move(2)
        await told(port, "Hm.")
        clock.move(2)
        heard = await told(port, "yes")
        with use_language(language):
            assert heard.startswith(say(phrases.STILL_OPEN))
            assert say(phrases.SHORTENED_IN_FILE) in heard
        assert say(phrases.STILL_OPEN) not in heard
        assert [file.name for file in port.transport.sent[-1].files] == ["question.txt"]
        await port.quiet_but(1)
        port.thinker.script = [says("Done.")]
        await agree(port, FIRST + len(port.transport.sent))
        assert post.ran == ["lamp" * 300]


async def test_of_two_open_questions_a_word_alone_means_none_behind_talk_either(store: Store, clock: SetClock) -> None:
    """Nor is it one for the model."""
    look, post, plan = tools()
    async with app_harness(store, clock, tools=(look, post, plan)) as port:
        await asked(port)
        await asked(port, "plan")
        clock.move(2)
        await told(port, "how are you?")
        clock.move(2)
        requests = len(port.thinker.requests)
        assert await told(port, "yes") == phrases.WHICH_QUESTION.text
        assert (post.ran, plan.ran, await open_questions(port)) == ([], [], 2)
        assert len(port.thinker.requests) == requests


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
