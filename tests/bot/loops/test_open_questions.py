"""A question that is open: what else is said leaves it open, a request of the same kind takes its place, and nothing is
done without a yes to what was shown.
"""

from pathlib import Path
from typing import Any

import pytest

from bot.chat import phrases
from bot.clock import SetClock
from bot.features.reminders.tool import Remind
from bot.i18n import phrases as common_phrases
from store import Store, open_store
from tests.bot.chat.turn_helpers import Echo, calls, says
from tests.bot.commands.test_commands import ask
from tests.bot.loops.app_harness import FIRST, Harness, app_harness
from tests.servers.envelopes import ALDIS, BOB, GROUP, message, quote_of, reaction

NOTE = "it has asked this person whether these calls of tools may run"


def wanted(tool: str, word: str) -> Any:
    return calls((tool, {"word": word}))


async def asked(aldis: Harness, tool: str = "post", word: str = "at 18:00", **more: Any) -> int:
    aldis.model.script = [calls(("look", {"word": "page"})), wanted(tool, word), says("Done.")]
    assert (await ask(aldis, "Aldis, read the page.", **more)).startswith(f"May I use {tool}?")
    aldis.model.script = []
    return FIRST + len(aldis.transport.sent)


async def agree(aldis: Harness, question: int, *, still_open: int = 0, **more: Any) -> None:
    await aldis.deliver(reaction("👍", question, **more))
    await aldis.quiet_but(still_open)


async def open_questions(aldis: Harness) -> int:
    return await aldis.count(
        "SELECT count(DISTINCT turn_id) FROM inbox WHERE put_off_until IS NOT NULL AND state = 'waiting'"
    )


@pytest.mark.parametrize("group", [None, GROUP])
async def test_unrelated_talk_leaves_it_open(aldis: Harness, post: Echo, group: str | None) -> None:
    """It is answered, and a thumb on the question counts as before; the history is in the order of what was asked."""
    question = await asked(aldis, group=group)
    assert await ask(aldis, "Aldis, how are you?", group=group) == "re: Aldis, how are you?"
    assert NOTE in str(aldis.model.requests[-1].messages[0])
    assert (post.ran, await open_questions(aldis)) == ([], 1)
    aldis.model.script = [says("Done.")]
    await aldis.process(reaction("👍", question, group=group))
    assert post.ran == ["at 18:00"]
    assert "how are you" not in str(aldis.model.requests[-1].messages)
    for _ in range(2):  # as it was remembered, and as it is read anew
        await ask(aldis, "Aldis, and now?", group=group)
        said = [one.text for one in aldis.model.requests[-1].messages if one.role == "user"]
        assert ["read the page" in text for text in said[:2]] == [True, False]
        assert "how are you" in said[1]
        assert NOTE not in said[0]
        aldis.turns.forget()


@pytest.mark.parametrize("group", [None, GROUP])
async def test_it_can_be_amended(aldis: Harness, post: Echo, group: str | None) -> None:
    """The person quotes it and wants it otherwise: it is asked once more, and nothing is done without a yes to that."""
    first = await asked(aldis, group=group)
    aldis.model.script = [wanted("post", "at 19:00"), says("Done.")]
    quote = quote_of(ALDIS, first, "May I use post?")
    heard = await ask(aldis, "Change it to 19:00", group=group, quote=quote)
    assert heard.startswith("May I use post?\n\n• word: “at 19:00”")
    assert phrases.TAKES_PLACE.text in heard
    assert "what look told me earlier" in heard
    assert (post.ran, await open_questions(aldis)) == ([], 1)
    await aldis.deliver(reaction("👍", first, group=group))
    await aldis.quiet_but(1)
    assert post.ran == []
    await agree(aldis, FIRST + 2, group=group)
    await aldis.answered(3)
    assert post.ran == ["at 19:00"]
    assert [reply.content.text for reply in aldis.transport.sent[2:]] == ["Done."]
    assert await aldis.count("SELECT count(*) FROM ledger WHERE name = 'look'") == 1  # what the first one cost


@pytest.mark.parametrize("group", [None, GROUP])
async def test_another_wish_of_the_same_kind_leaves_it_open(aldis: Harness, post: Echo, group: str | None) -> None:
    """Of three that one person asks for in a row all are done, each on its own yes."""
    questions = [await asked(aldis, word=word, group=group) for word in ("at 18:00", "at 19:00", "at 20:00")]
    for left, question in zip((2, 1, 0), questions, strict=True):
        aldis.model.script = [says("Done.")]
        await agree(aldis, question, still_open=left, group=group)
    assert post.ran == ["at 18:00", "at 19:00", "at 20:00"]
    assert [reply.content.text for reply in aldis.transport.sent[3:]] == ["Done."] * 3


async def test_what_the_persons_own_words_name_takes_its_place(aldis: Harness, post: Echo) -> None:
    """It is done, and what was asked before is not done as well."""
    first = await asked(aldis)
    aldis.model.script = [wanted("post", "hello"), says("Posted.")]
    quote = quote_of(ALDIS, first, "May I use post?")
    assert await ask(aldis, "Rather post hello", quote=quote) == f"Posted.\n\n{phrases.TAKES_PLACE.text}"
    await agree(aldis, first)
    assert (post.ran, await open_questions(aldis)) == (["hello"], 0)


async def test_what_was_asked_is_still_what_a_page_wants(aldis: Harness, plan: Echo) -> None:
    """The note on it is made of the page's words: whatever the model makes of it asks as well."""
    await asked(aldis)
    aldis.model.script = [wanted("plan", "x"), says("Done.")]
    heard = await ask(aldis, "how are you?")
    assert heard.startswith("May I use plan?")
    assert "what look told me earlier" in heard
    assert (plan.ran, await open_questions(aldis)) == ([], 2)


async def test_of_two_open_questions_a_word_alone_means_none(
    aldis: Harness, post: Echo, plan: Echo, clock: SetClock
) -> None:
    """The person is told to show which; a quote or a thumb does."""
    first = await asked(aldis)
    second = await asked(aldis, "plan")
    clock.move(2)
    assert await ask(aldis, "yes") == phrases.WHICH_QUESTION.text
    assert (post.ran, plan.ran, await open_questions(aldis)) == ([], [], 2)
    await aldis.deliver(message("yes", quote=quote_of(ALDIS, second, "May I use plan?")))
    await aldis.answered(4)
    await aldis.quiet_but(1)
    assert (post.ran, plan.ran) == ([], ["at 18:00"])
    await agree(aldis, first)
    assert post.ran == ["at 18:00"]


@pytest.mark.parametrize(
    ("words", "said", "group"),
    [
        ("yes", "Say yes, and I tell you a joke.", None),
        ("no", "Shall I go on?", GROUP),
        ("always", "続けますか。", None),
        ("yes", "Very well.", GROUP),
    ],
)
async def test_no_yes_to_something_else_is_one_to_what_a_page_wants(
    aldis: Harness, post: Echo, clock: SetClock, group: str | None, said: str, words: str
) -> None:
    """The word to what a model said behind the question shows what is open once more; only the next one counts."""
    await asked(aldis, group=group)
    clock.move(2)
    aldis.model.script = [says(said)]
    assert await ask(aldis, "Aldis, how are you?", group=group) == said
    requests = len(aldis.model.requests)
    clock.move(2)
    heard = await ask(aldis, words, group=group)
    assert heard.startswith(f"{phrases.STILL_OPEN.text}\n\nMay I use post?\n\n• word: “at 18:00”")
    assert "what look told me earlier" in heard
    await aldis.quiet_but(1)
    assert (post.ran, await open_questions(aldis), len(aldis.model.requests)) == ([], 1, requests)
    clock.move(2)
    aldis.model.script = [says("Done.")]
    assert await ask(aldis, words, group=group) == "Done."
    await aldis.quiet()
    assert post.ran == ([] if words == "no" else ["at 18:00"])


def asking() -> Echo:
    return Echo(name="post", effects="once", flags={"approval": "always"})


async def asked_cleanly(aldis: Harness, **more: Any) -> int:
    """The person has something done about which they are asked; nobody else has a part in it."""
    aldis.model.script = [wanted("post", "at 18:00")]
    assert (await ask(aldis, "Aldis, post it.", **more)).startswith("May I use post?")
    question = FIRST + len(aldis.transport.sent)
    aldis.clock.move(2)
    return question


@pytest.mark.parametrize("between", ["page", "command", "reminder", "Bob"])
async def test_behind_what_somebody_else_may_have_written_the_question_is_shown_again(
    store: Store, clock: SetClock, between: str
) -> None:
    """A page that was read; what Aldis keeps and shows; another member."""
    look, post = Echo(name="look"), asking()
    group = GROUP if between == "Bob" else None
    async with app_harness(store, clock, tools=(look, post)) as aldis:
        if between == "reminder":
            await ask(aldis, "/remind in 1 minute drink tea")
        await asked_cleanly(aldis, group=group)
        before = len(aldis.transport.sent)
        read = [calls(("look", {"word": "page"}))] if between == "page" else []
        aldis.model.script = [*read, says("It is sunny.")]
        if between == "command":
            await ask(aldis, "/memory")
        elif between == "reminder":
            clock.move(120)
            await aldis.reminders.attend_all()
            await aldis.answered(before + 1)
        else:
            more: dict[str, Any] = {"author": BOB} if between == "Bob" else {}
            await ask(aldis, "Aldis, tell me something.", group=group, **more)
        clock.move(2)
        heard = await ask(aldis, "yes", group=group)
        assert heard.startswith(phrases.STILL_OPEN.text)
        assert post.ran == []
        clock.move(2)
        aldis.model.script = [says("Done.")]
        assert await ask(aldis, "yes", group=group) == "Done."
        assert post.ran == ["at 18:00"]


async def test_a_yes_among_other_messages_is_none_for_the_model(store: Store, clock: SetClock) -> None:
    """They are taken together because a turn ran; the yes may be about what was said there."""
    post = asking()
    async with app_harness(store, clock, tools=(post,)) as aldis:
        await asked_cleanly(aldis)
        gate = await aldis.held("wait")
        for text in ("how are you", "yes"):
            await aldis.deliver(message(text))
        clock.move(2)  # nothing else was said before the yes
        gate.set()
        await aldis.quiet_but(1)
        assert any(reply.content.text.startswith(phrases.STILL_OPEN.text) for reply in aldis.transport.sent)
        assert post.ran == []
        asked = next(question for question in aldis.model.asked if "how are you" in question)
        assert "yes" not in asked
        request = next(one for one in aldis.model.requests if "how are you" in str(one.messages[-1]))
        assert NOTE in str(request.messages)


async def test_in_a_group_each_has_their_own(aldis: Harness, post: Echo, clock: SetClock) -> None:
    """Nobody amends what another was asked, and one's plain yes is not made ambiguous by another's question."""
    await asked(aldis, group=GROUP, author=BOB)
    await asked(aldis, word="Alice's", group=GROUP)
    assert phrases.TAKES_PLACE.text not in aldis.transport.sent[-1].content.text
    assert NOTE not in str(aldis.model.requests[-1].messages)
    assert await open_questions(aldis) == 2
    clock.move(2)
    await aldis.deliver(message("yes", group=GROUP))
    await aldis.answered(3)
    await aldis.quiet_but(1)
    assert post.ran == ["Alice's"]


async def test_a_stop_ends_it(aldis: Harness, post: Echo) -> None:
    """Also after something else was said."""
    first = await asked(aldis)
    await ask(aldis, "how are you?")
    assert await ask(aldis, "/stop") == common_phrases.STOPPED.text
    await agree(aldis, first)
    assert (post.ran, await open_questions(aldis)) == ([], 0)


async def test_what_disappears_is_told_to_no_model(aldis: Harness, clock: SetClock) -> None:
    """The question may still be open then; its words are gone."""
    await asked(aldis, expires_in_seconds=60)
    clock.move(61)
    await ask(aldis, "how are you?")
    assert NOTE not in str(aldis.model.requests[-1].messages)


HOPELESS = (
    ("remember", {"action": "remember", "fact": "is vegetarian"}, GROUP, "denied"),
    ("remember", {"action": "forget"}, None, "invalid_arguments"),
    ("remind", {"action": "set", "text": "tea", "local_datetime": "2020-01-01T09:00"}, None, "invalid_arguments"),
    ("remind", {"action": "set", "text": "tea", "local_datetime": "2999-01-01T09:00"}, GROUP, "invalid_arguments"),
    ("remind", {"action": "cancel", "number": 7}, None, "not_found"),
)


async def test_what_cannot_be_done_is_not_asked(tmp_path: Path, clock: SetClock) -> None:
    """The model hears at once why its tool refuses it; what can be done is asked as ever."""
    for place, (tool, given, group, error) in enumerate(HOPELESS):
        path = tmp_path / f"{place}.db"
        async with (
            open_store(path, realm="signal") as store,
            app_harness(store, clock, tools=(Echo(name="look"),), ported=(Remind,), remembers=True) as aldis,
        ):
            aldis.model.script = [calls(("look", {"word": "page"})), calls((tool, given)), says("It can't be done.")]
            assert await ask(aldis, "Aldis, read the page.", group=group) == "It can't be done.", tool
            assert f'"error": "{error}"' in str(aldis.model.requests[-1].messages[-1]), tool
            await aldis.quiet()
            later = {"action": "set", "text": "tea", "delay_seconds": 600}
            aldis.model.script = [calls(("look", {"word": "page"})), calls(("remind", later))]
            assert (await ask(aldis, "Aldis, read the page.", group=group)).startswith("May I "), tool
