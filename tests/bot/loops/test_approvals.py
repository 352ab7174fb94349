"""Approvals: what a turn wants to do after it has read what strangers wrote, it does only when a person has agreed."""

import asyncio

import pytest

from bot.clock import SetClock
from store import Store
from tests.bot.chat.turn_helpers import Echo, calls, says
from tests.bot.loops.app_harness import FIRST, Harness, app_harness
from tests.servers.envelopes import ALDIS, ALICE, BOB, CAROL, GROUP, message, quote_of, reaction

QUESTION = FIRST + 1
"""What Signal calls the question whether it may: the first message that goes out."""


def tools() -> tuple[Echo, Echo]:
    return Echo(name="look"), Echo(name="post", effects="once")


async def asked_whether(aldis: Harness, *, group: str | None = None) -> None:
    aldis.model.script += [
        calls(("look", {"word": "page"})),
        calls(("post", {"word": "the family's secrets"}), ("look", {"word": "more"})),
        says("Done as you wished."),
    ]
    await aldis.deliver(message("Aldis, read the page.", group=group))
    await aldis.answered(1)


async def test_after_reading_a_page_a_tool_with_effects_asks(aldis: Harness, look: Echo, post: Echo) -> None:
    """The question shows exactly what would be done; with a thumbs-up it is done, once, and the turn goes on."""
    await asked_whether(aldis)
    question = aldis.transport.sent[0].content.text
    assert question.startswith("May I use post?\n\n• word: “the family's secrets”")
    assert "That costs less than a cent." in question
    assert (look.ran, post.ran) == (["page", "more"], [])
    await aldis.deliver(reaction("👍🏽", QUESTION))
    replies = await aldis.answered(2)
    await aldis.quiet()
    assert replies[1].content.text == "Done as you wished."
    assert post.ran == ["the family's secrets"]
    assert look.ran == ["page", "more"]
    assert len(aldis.model.asked) == 3


async def test_a_question_shows_what_is_asked_about_whole(store: Store, clock: SetClock) -> None:
    """Nobody agrees to what they have not seen."""
    look, post = tools()
    long = "Dear Ben, " + "lamp " * 300 + "and send the key to Mallory."
    async with app_harness(store, clock, tools=(look, post)) as aldis:
        aldis.model.script = [calls(("look", {"word": "page"})), calls(("post", {"word": long})), says("Done.")]
        await aldis.deliver(message("Aldis, read the page."))
        [question] = await aldis.answered(1)
        assert (long in question.content.text, question.files) == (True, ())
        await aldis.process(message("/stop"))


async def test_a_no_is_told_to_the_model(aldis: Harness, post: Echo) -> None:
    """Quoting the question with a word is as good as a thumb."""
    await asked_whether(aldis)
    quote = quote_of(ALDIS, QUESTION, "May I do this?")
    await aldis.process(message("Nein!", quote=quote))
    assert post.ran == []
    assert '"error": "denied"' in str(aldis.model.requests[-1].messages[-1])
    assert len(aldis.transport.sent) == 2


@pytest.mark.parametrize("words", ["Ja klar!", "ok, do it", "Sí, por favor"])
@pytest.mark.parametrize("group", [None, GROUP])
async def test_a_plain_yes_is_one(store: Store, clock: SetClock, words: str, group: str | None) -> None:
    """Who asked just says so, in a group without calling Aldis; others talk to each other."""
    look, post = tools()
    async with app_harness(store, clock, tools=(look, post), admins=frozenset({BOB.uuid})) as aldis:
        await asked_whether(aldis, group=group)
        clock.move(2)
        if group:
            await aldis.deliver(message(words, author=BOB, group=group))
            await aldis.until(lambda: True)
            assert post.ran == []
        await aldis.deliver(message(words, group=group))
        replies = await aldis.answered(2)
        await aldis.quiet()
    assert (replies[1].content.text, post.ran) == ("Done as you wished.", ["the family's secrets"])


async def test_a_yes_to_something_else_is_no_yes(aldis: Harness, post: Echo) -> None:
    """It came before the question was there, or nobody asked: a message like any other."""
    await aldis.deliver(message("Ok."))
    assert (await aldis.answered(1))[0].content.text == "re: Ok."
    aldis.transport.gate = asyncio.Event()
    aldis.model.script += [calls(("look", {"word": "page"})), calls(("post", {"word": "the family's secrets"}))]
    await aldis.deliver(message("Aldis, read the page."))
    await aldis.until(lambda: len(aldis.model.asked) >= 3)
    await aldis.deliver(message("Ok, thanks."))
    await aldis.until(lambda: True)
    aldis.transport.gate.set()
    await aldis.quiet_but(1)
    assert post.ran == []


@pytest.mark.parametrize("emoji", ["👍", "👎"])
async def test_nobody_elses_word_counts(store: Store, clock: SetClock, emoji: str) -> None:
    """In a group only who asked, or an admin, and to the question: another message can be called as it is."""
    look, post = tools()
    async with app_harness(store, clock, tools=(look, post), admins=frozenset({CAROL.uuid})) as aldis:
        await asked_whether(aldis, group=GROUP)
        await aldis.deliver(reaction(emoji, QUESTION, author=BOB, group=GROUP))
        await aldis.deliver(reaction("❤️", QUESTION, author=ALICE, group=GROUP))
        await aldis.deliver(reaction(emoji, QUESTION, author=ALICE, group=GROUP, removed=True))
        await aldis.deliver(reaction(emoji, QUESTION + 7, author=ALICE, group=GROUP))
        await aldis.deliver(reaction(emoji, QUESTION, author=ALICE))
        await aldis.deliver(message("Look, kittens!", author=BOB, group=GROUP, sent_at=QUESTION))
        await aldis.deliver(reaction(emoji, QUESTION, of=BOB, author=ALICE, group=GROUP))
        await aldis.quiet_but(1)
        assert await aldis.count("SELECT count(*) FROM inbox WHERE put_off_until IS NOT NULL") == 1
        assert post.ran == []
        await aldis.deliver(reaction(emoji, QUESTION, author=CAROL, group=GROUP))
        await aldis.answered(2)
        assert post.ran == (["the family's secrets"] if emoji == "👍" else [])


async def test_who_asked_for_the_deed_agrees_to_it_even_if_another_wrote_last(aldis: Harness, post: Echo) -> None:
    """Two people write while an answer is under way: each has an answer, and the deed the word of who asked for it."""
    gate = await aldis.held("slow", message("Aldis, slow?", author=CAROL, group=GROUP))
    await aldis.deliver(message("Aldis, post what the page says.", author=BOB, group=GROUP))
    await aldis.deliver(message("Aldis, what time is it?", group=GROUP))
    wanted = calls(("post", {"word": "the secrets"}))
    aldis.model.script = [says("No."), calls(("look", {"word": "page"})), wanted, says("It is noon.")]
    gate.set()
    sent = await aldis.answered(3)
    assert [reply.content.text[:5] for reply in sent] == ["No.", "May I", "It is"]
    await aldis.quiet_but(1)
    for author, is_done in ((ALICE, False), (BOB, True)):
        aldis.model.script = [says("Posted.")]
        await aldis.deliver(reaction("👍", QUESTION + 1, author=author, group=GROUP))
        await aldis.quiet_but(0 if is_done else 1)
        assert len(post.ran) == is_done


async def test_the_wait_survives_a_restart(store: Store, clock: SetClock) -> None:
    """The question is not asked again, nothing is paid twice; the word counts afterwards as before."""
    look, post = tools()
    async with app_harness(store, clock, tools=(look, post)) as aldis:
        await asked_whether(aldis)
    async with app_harness(store, clock, tools=(look, post)) as aldis:
        await aldis.maintenance.recover()
        aldis.model.script += [says("Done as you wished.")]
        await aldis.deliver(reaction("👍", QUESTION))
        [answer] = await aldis.answered(1)
        await aldis.quiet()
        assert answer.content.text == "Done as you wished."
        assert (look.ran, post.ran, len(aldis.model.asked)) == (["page", "more"], ["the family's secrets"], 1)


@pytest.mark.parametrize("said", ["thumb", "quote", "always"])
async def test_a_word_on_a_question_is_none_to_the_next_of_its_turn(store: Store, clock: SetClock, said: str) -> None:
    """Who agrees once more to what is done already, or an admin who does so too, agrees to nothing else."""
    look, post = tools()
    async with app_harness(store, clock, tools=(look, post), admins=frozenset({BOB.uuid})) as aldis:
        aldis.model.script = [
            calls(("look", {"word": "page"})),
            calls(("post", {"word": "hello"})),
            calls(("post", {"word": "the family's secrets"})),
            says("Done."),
        ]
        await aldis.deliver(message("Aldis, read the page.", group=GROUP))
        await aldis.answered(1)
        await aldis.deliver(reaction("👍", QUESTION, group=GROUP))
        await aldis.answered(2)
        assert "the family's secrets" in aldis.transport.sent[1].content.text
        await aldis.quiet_but(1)
        again = {
            "thumb": reaction("👍", QUESTION, author=BOB, group=GROUP),
            "always": reaction("✅", QUESTION, group=GROUP),
            "quote": message("ja klar", quote=quote_of(ALDIS, QUESTION, "May I use post?"), group=GROUP),
        }
        await aldis.deliver(again[said])
        await aldis.quiet_but(1)
        assert await aldis.count("SELECT count(*) FROM inbox WHERE put_off_until IS NOT NULL") == 1
        assert post.ran == ["hello"]
        await aldis.process(reaction("👍", QUESTION + 1, group=GROUP))
        assert post.ran == ["hello", "the family's secrets"]
