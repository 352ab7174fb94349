"""What people set for their conversation: it holds from the next message on, survives restarts, goes with `/forget`."""

import pytest

from bot.chat import phrases as turn_phrases
from bot.chat import prompt
from bot.clock import SetClock
from bot.commands import phrases
from bot.i18n.catalogues import say
from bot.i18n.language import use_language
from store import Store
from tests.bot.chat.test_edits import words
from tests.bot.chat.turn_helpers import Echo, calls, contents, says
from tests.bot.commands.test_commands import plain, told
from tests.bot.loops.app_harness import FIRST, app_harness
from tests.invariants import is_sendable
from tests.servers.envelopes import ALICE, BOB, GROUP, delete, edit, message, reaction

PIRATE = "You are a pirate and say arr."


# Persona

SYSTEM = prompt.system("Aldis", "Be kind.")
"""What a model is told where nobody has set anything."""


TOOLS_EXAMPLES = ("/tools", "/tools off web", "/tools on web", "/tools revoke NAME")


async def test_a_persona_stands_beside_the_rules_and_survives_a_restart(store: Store, clock: SetClock) -> None:
    """In this conversation and no other; what the operator says comes first."""
    async with app_harness(store, clock) as aldis:
        assert await told(aldis, "/persona") == plain(phrases.NO_PERSONA.text)
        assert await told(aldis, f"/persona {PIRATE}") == plain(phrases.PERSONA_SET.text)
    async with app_harness(store, clock) as aldis:
        await aldis.deliver(message("Hello"))
        await aldis.process(message("Hello", author=BOB))
        systems = sorted((request.whole_system for request in aldis.model.requests), key=len)
        assert systems[0] == SYSTEM
        assert systems[1].startswith(f"{SYSTEM}\n\n")
        assert systems[1].endswith(PIRATE)
        assert PIRATE in await told(aldis, "/persona")
        assert await told(aldis, "/persona OFF") == phrases.PERSONA_OFF.text
        await aldis.process(message("Hello again"))
        assert aldis.model.requests[-1].whole_system == SYSTEM


async def test_a_persona_is_sealed_and_goes_with_forget(store: Store, clock: SetClock) -> None:
    """Nobody reads it in the file, and with the conversation it is gone."""
    async with app_harness(store, clock) as aldis:
        await told(aldis, f"/persona {PIRATE}")
        await told(aldis, "/tools off echo")
        [[sealed]] = await store.read(lambda repos: repos.chats.rows("SELECT settings FROM chats"))
        assert b"pirate" not in sealed
        await told(aldis, "/forget yes")
        assert await aldis.count("SELECT count(*) FROM chats") == 0
        assert await told(aldis, "/persona") == plain(phrases.NO_PERSONA.text)


async def test_a_persona_goes_with_the_message_that_it_came_in(store: Store, clock: SetClock) -> None:
    """When that is deleted, and when its timer has run: then nothing of it is on the disk."""
    async with app_harness(store, clock) as aldis:
        asked = await aldis.process(message(f"/persona {PIRATE}"))
        await aldis.process(delete(asked))
        assert await told(aldis, "/persona") == plain(phrases.NO_PERSONA.text)
        heard = await told(aldis, f"/persona {PIRATE}", expires_in_seconds=60)
        assert heard == plain(phrases.PERSONA_TIMED.text)
        clock.move(61)
        assert await told(aldis, "/persona") == plain(phrases.NO_PERSONA.text)
        [[before]] = await store.read(lambda repos: repos.chats.rows("SELECT settings FROM chats"))
        await aldis.maintenance.expire()
        [[after]] = await store.read(lambda repos: repos.chats.rows("SELECT settings FROM chats"))
        assert len(after) < len(before)


async def test_a_persona_is_what_people_see_of_it(store: Store, clock: SetClock) -> None:
    """Signs that nobody sees are taken out, so nothing that was pasted with it is told to the model."""
    tags = "".join(chr(0xE0000 + ord(letter)) for letter in "obey")
    async with app_harness(store, clock) as aldis:
        await told(aldis, f"/persona You are\u200b a \u202epirate\u202c.{tags}")
        assert await told(aldis, "/persona") == "My persona here: You are a pirate."
        await aldis.process(message("Hello"))
        assert aldis.model.requests[-1].persona.endswith("\nYou are a pirate.")
        assert await told(aldis, f"/persona {tags}") == "My persona here: You are a pirate."


async def test_a_persona_has_a_size(store: Store, clock: SetClock) -> None:
    """It goes along with every question."""
    async with app_harness(store, clock) as aldis:
        assert await told(aldis, "/persona " + "x" * 2001) == say(phrases.TOO_LONG_PERSONA, most=2000)
        assert await told(aldis, "/persona") == plain(phrases.NO_PERSONA.text)


# Model


async def test_the_model_is_chosen_among_those_there_are(store: Store, clock: SetClock) -> None:
    """By its name with or without the provider, in any case; others are refused with the right form."""
    async with app_harness(store, clock) as aldis:
        shown = await told(aldis, "/model")
        assert shown.startswith("model-1 answers here.")
        assert "\n2. model-2\n" in shown
        assert await told(aldis, "/model 1") == phrases.model("model-1", ())
        assert await told(aldis, "/model other") == phrases.model("model-2", ())
        assert await told(aldis, "/model scriptd") == phrases.model("model-1", ())
        assert await told(aldis, "/model 2") == phrases.model("model-2", ())
        assert await told(aldis, "/model model") == plain(phrases.which("model", ("scripted/model-1", "other/model-2")))
        # More digits than Python makes a number of are no number of a model either.
        assert await told(aldis, f"/model {'9' * 5000}") == plain(say(phrases.NO_SUCH_MODEL_HERE, name="9" * 60))
        for wrong in ("gpt-9", "0", "3", "99999999999999999999"):
            assert await told(aldis, f"/model {wrong}") == plain(say(phrases.NO_SUCH_MODEL_HERE, name=wrong))
        assert await told(aldis, "/model MODEL-2") == phrases.model("model-2", ())
        await aldis.process(message("Hello"))
        assert aldis.model.requests[-1].model == "other/model-2"
        assert await told(aldis, "/model default") == phrases.model("model-1", ())
        await aldis.process(message("Hello"))
        assert aldis.model.requests[-1].model is None


# Tools


async def test_a_tool_that_is_switched_off_is_not_offered_and_its_calls_are_not_shown(
    store: Store, clock: SetClock
) -> None:
    """History with calls of it stays valid for every vendor; switched on again, everything is as before."""
    async with app_harness(store, clock, tools=(Echo(), Echo(name="other"))) as aldis:
        aldis.model.script += [calls(("echo", {"word": "tulip"})), says("The tulip is fine.")]
        await aldis.process(message("How is the tulip?"))
        assert await told(aldis, "/tools") == "• echo: on\n• other: on"
        assert await told(aldis, "/tools off ECHO") == phrases.tools_switched(["echo"], is_on=False)
        await aldis.process(message("And now?"))
        request = aldis.model.requests[-1]
        assert [offer.name for offer in request.tools] == ["other"]
        assert is_sendable(request.messages)
        assert contents(request) == []
        assert "The tulip is fine." in words(request)
        assert await told(aldis, "/tools") == "• echo: off\n• other: on"
        await told(aldis, "/tools on echo")
        await aldis.process(message("And now?"))
        assert [offer.name for offer in aldis.model.requests[-1].tools] == ["echo", "other"]
        assert len(contents(aldis.model.requests[-1])) == 1


async def test_a_call_of_a_tool_that_is_switched_off_is_answered_disabled(store: Store, clock: SetClock) -> None:
    """Models call what they remember; it does not run, nobody is asked for it, and the model is told why."""
    echo = Echo(effects="once")
    async with app_harness(store, clock, tools=(echo, Echo(name="other"))) as aldis:
        await told(aldis, "/tools off echo")
        aldis.model.script += [calls(("other", {"word": "a"}), ("echo", {"word": "b"})), says("done")]
        assert await told(aldis, "Do it.") == "done"
        assert echo.ran == []
        assert '"error": "disabled"' in contents(aldis.model.requests[-1])[1]


async def test_with_all_tools_off_none_is_offered(store: Store, clock: SetClock) -> None:
    """Vendors refuse calls in the history of a request without tools."""
    async with app_harness(store, clock, tools=(Echo(),)) as aldis:
        aldis.model.script += [calls(("echo", {"word": "tulip"})), says("fine")]
        await aldis.process(message("How is the tulip?"))
        await told(aldis, "/tools off echo")
        await aldis.process(message("And now?"))
        request = aldis.model.requests[-1]
        assert (request.tools, request.may_call_tools, contents(request)) == ((), False, [])


async def test_a_turn_goes_on_as_it_began(store: Store, clock: SetClock) -> None:
    """What is set while it waits for a word holds from the next question on: a model is bound to what it was told."""
    echo = Echo(effects="once")
    async with app_harness(store, clock, tools=(Echo(name="page"), echo)) as aldis:
        aldis.model.script += [calls(("page", {"word": "x"})), calls(("echo", {"word": "y"})), says("done")]
        await aldis.deliver(message("Do it."))
        await aldis.answered(1)
        await told(aldis, f"/persona {PIRATE}")
        await aldis.deliver(reaction("👍", FIRST + 1))
        await aldis.answered(3)
        assert aldis.transport.sent[-1].content.text == "done"
        assert {request.whole_system for request in aldis.model.requests} == {SYSTEM}


@pytest.mark.parametrize(
    ("rest", "names", "is_on"),
    [
        ("off web", ["web_search", "web_fetch"], False),
        ("aus nichts", None, False),
        ("aus wetter", ["get_weather"], False),
        ("désactiver wether", ["get_weather"], False),
        ("off fetch", ["web_fetch"], False),
        ("on WEB", ["web_search", "web_fetch"], True),
    ],
)
async def test_a_tool_is_known_by_a_part_of_its_name(
    store: Store, clock: SetClock, rest: str, names: list[str] | None, is_on: bool
) -> None:
    """All that share its beginning, or the one that is nearly written so; what there is not is told."""
    tools = tuple(Echo(name=name) for name in ("web_search", "web_fetch", "get_weather", "post_search"))
    async with app_harness(store, clock, tools=tools) as aldis:
        heard = await told(aldis, f"/tools {rest}")
        expected = (
            say(phrases.NO_SUCH_TOOL, name="nichts") if names is None else phrases.tools_switched(names, is_on=is_on)
        )
        assert heard == plain(expected)
        shown = await told(aldis, "/tools")
        assert shown.count(": off") == (0 if is_on or names is None else len(names))


async def test_of_several_tools_nobody_guesses_one(store: Store, clock: SetClock) -> None:
    """`search` is in two of them."""
    async with app_harness(store, clock, tools=(Echo(name="web_search"), Echo(name="post_search"))) as aldis:
        assert await told(aldis, "/tools off search") == plain(phrases.which("search", ("web_search", "post_search")))
        assert ": off" not in await told(aldis, "/tools")


@pytest.mark.parametrize("rest", ["off", "maybe echo", "on echo other", "revoke"])
async def test_tools_are_switched_by_one_form(store: Store, clock: SetClock, rest: str) -> None:
    """One line shows it."""
    async with app_harness(store, clock, tools=(Echo(),)) as aldis:
        assert await told(aldis, f"/tools {rest}") == plain(phrases.wrong_form("tools", TOOLS_EXAMPLES))


# Language


async def test_aldis_speaks_the_language_that_people_write(store: Store, clock: SetClock) -> None:
    """The last one that was sure, kept over a restart; a word that could be any changes nothing."""
    async with app_harness(store, clock) as aldis:
        assert "working on anything" in await told(aldis, "/stop")
        await aldis.process(message("Wie wird das Wetter morgen in Berlin?"))
        assert await told(aldis, "/stop") == "Ich arbeite hier gerade an nichts."
    async with app_harness(store, clock) as aldis:
        await aldis.process(message("Pizza?"))
        await aldis.process(message("Arrête !"))
        assert await told(aldis, "/stop") == "Ich arbeite hier gerade an nichts."
        await aldis.process(message("Quel temps fait-il demain à Lyon ?"))
        assert await told(aldis, "/stop") == "Je ne travaille sur rien en ce moment."


async def test_a_first_greeting_is_enough_where_nothing_else_is_known(store: Store, clock: SetClock) -> None:
    """Until a sentence says better; then a friend's word in another language changes nothing."""
    async with app_harness(store, clock) as aldis:
        await aldis.deliver(message("Hallo!"))
        await aldis.quiet()
        assert await told(aldis, "/stop") == "Ich arbeite hier gerade an nichts."
        await aldis.deliver(message("Bonjour!"))
        await aldis.quiet()
        assert await told(aldis, "/stop") == "Ich arbeite hier gerade an nichts."


async def test_a_command_is_answered_as_it_is_written_where_nothing_else_is_known(
    store: Store, clock: SetClock
) -> None:
    """By the word for it in another language, or by what follows; its own name belongs to all of them."""
    async with app_harness(store, clock) as aldis:
        assert "Répon" in await told(aldis, "/aide")
        assert (await told(aldis, "/remind morgen um 9 an den Müll")).startswith("OK, morgen um 09:00")
        assert "working on anything" in await told(aldis, "/stop")


async def test_a_chosen_language_stays_whatever_is_written(store: Store, clock: SetClock) -> None:
    """Until it is left to the messages again; the answer to the choice is in it already."""
    async with app_harness(store, clock) as aldis:
        assert await told(aldis, "/language ES") == "A partir de ahora hablo español aquí."
        await aldis.process(message("Wie wird das Wetter morgen in Berlin?"))
        assert await told(aldis, "/stop") == "Ahora mismo no estoy con nada aquí."
        assert await told(aldis, "/language klingon") == "Escríbelo así: /language de o /language auto"
        with use_language("de"):
            assert await told(aldis, "/language auto") == say(phrases.LANGUAGE_BY_MESSAGE)


async def test_failures_are_told_in_the_language_of_the_question(store: Store, clock: SetClock) -> None:
    """Each question's own: a group may speak several."""
    async with app_harness(store, clock) as aldis:
        aldis.model.script += [says("")] * 4
        asked = "Aldis, wie wird das Wetter morgen in Berlin?"
        assert await told(aldis, asked, group=GROUP) == "Dazu fällt mir nichts ein. Bitte formulier es anders."
        await aldis.quiet()
        asked = "Aldis, what is the weather like today?"
        assert await told(aldis, asked, group=GROUP, author=BOB) == turn_phrases.NOTHING_SAID.text


async def test_the_answer_to_forget_is_in_the_language_that_it_forgets(store: Store, clock: SetClock) -> None:
    """The person is told in their own language that it is gone, and then it is gone."""
    async with app_harness(store, clock) as aldis:
        await told(aldis, "/language de")
        assert (await told(aldis, "/forget yes")).startswith("Endgültig gelöscht: ")
        assert await told(aldis, "/stop") == phrases.NOTHING_TO_STOP.text


# Always, pause


async def test_admins_say_when_aldis_speaks_up_in_a_group(store: Store, clock: SetClock) -> None:
    """Nobody else; in a direct conversation there is nothing to say."""
    async with app_harness(store, clock, admins=frozenset({BOB.uuid})) as aldis:
        await aldis.process(message("/always on", group=GROUP, author=ALICE))
        assert aldis.transport.sent == []
        assert await told(aldis, "/always on", group=GROUP, author=BOB) == phrases.ALWAYS_ON.text
        assert await told(aldis, "Is it cold?", group=GROUP, author=ALICE) == "re: Is it cold?"
        assert await told(aldis, "/always off", group=GROUP, author=BOB) == phrases.ALWAYS_OFF.text
        await aldis.process(message("Is it warm?", group=GROUP))
        assert aldis.transport.sent[-1].content.text == phrases.ALWAYS_OFF.text
        assert await told(aldis, "/always on", author=BOB) == phrases.ONLY_IN_GROUPS.text
        assert await told(aldis, "/always", group=GROUP, author=BOB) == plain(phrases.wrong_form("always", ()))


async def test_where_no_admin_is_named_anybody_may(store: Store, clock: SetClock) -> None:
    """Or nobody ever could."""
    async with app_harness(store, clock) as aldis:
        assert await told(aldis, "/always on", group=GROUP) == phrases.ALWAYS_ON.text
        assert "/allow" not in await told(aldis, "/help", group=GROUP)


async def test_pause_answers_nothing_but_commands_and_says_so_once(store: Store, clock: SetClock) -> None:
    """What came meanwhile stays unanswered, also after a restart; what was under way is answered."""
    async with app_harness(store, clock, admins=frozenset({BOB.uuid})) as aldis:
        assert await told(aldis, "/pause", group=GROUP, author=BOB) == plain(phrases.PAUSED.text)
    async with app_harness(store, clock, admins=frozenset({BOB.uuid})) as aldis:
        assert await told(aldis, "Aldis, one?", group=GROUP) == plain(turn_phrases.IS_PAUSED.text)
        await aldis.until(lambda: aldis.intake._counts.all().get("unanswered_paused") == 1)
        await aldis.deliver(message("Aldis, two?", group=GROUP))
        await aldis.process(message("Elsewhere?"))
        assert [reply.content.text for reply in aldis.transport.sent[1:]] == ["re: Elsewhere?"]
        assert phrases.STATUS_PAUSED.text in await told(aldis, "/status", group=GROUP)
        assert await told(aldis, "/resume", group=GROUP, author=BOB) == phrases.RESUMED.text
        assert await told(aldis, "Aldis, three?", group=GROUP) == "re: Aldis, three?"
        assert aldis.model.asked[-1].count("?") == 1


@pytest.mark.parametrize(
    "given", [f"/persona {PIRATE}", "/tools off echo", "/language de", "/new", "/status", "/whoami"]
)
async def test_it_is_set_once_however_often_it_comes(store: Store, clock: SetClock, given: str) -> None:
    """A redelivery changes nothing and is answered by nothing."""
    async with app_harness(store, clock, tools=(Echo(),)) as aldis:
        frame = message(given)
        for _ in range(2):
            await aldis.process(frame)
        assert len(aldis.transport.sent) == 1


async def test_a_persona_goes_when_its_author_wants_everything_forgotten(store: Store, clock: SetClock) -> None:
    """In a group, too, and only the words of that person."""
    async with app_harness(store, clock) as aldis:
        await told(aldis, f"/persona {PIRATE}", group=GROUP)
        await told(aldis, "/forget everything yes", author=BOB)
        assert PIRATE in await told(aldis, "/persona", group=GROUP)
        await told(aldis, "/forget everything yes")
        assert await told(aldis, "/persona", group=GROUP) == plain(phrases.NO_PERSONA.text)


async def test_settings_that_are_damaged_stop_nothing(store: Store, clock: SetClock) -> None:
    """They are as good as none: neither answers nor the reminders of others wait for them."""
    async with app_harness(store, clock) as aldis:
        await told(aldis, f"/persona {PIRATE}")
        await told(aldis, "/remind in 1h tea")
        await told(aldis, "/remind in 1h coffee", author=BOB)
        await store.transaction(lambda repos: repos.chats.execute("UPDATE chats SET settings = zeroblob(60)"))
        clock.move(3600)
        await aldis.reminder_scheduler.attend_all()
        await aldis.quiet()
        assert {reply.content.text for reply in aldis.transport.sent[-2:]} == {"⏰ tea", "⏰ coffee"}
        assert await told(aldis, "hi") == "re: hi"


@pytest.mark.parametrize("rule", ["/who admins", "/pause", "/always on"])
async def test_what_an_admin_has_set_is_not_forgotten_by_others(store: Store, clock: SetClock, rule: str) -> None:
    """A member has forgotten what they said in the group, and is not answered otherwise than before."""
    async with app_harness(store, clock, admins=frozenset({BOB.uuid})) as aldis:
        await told(aldis, rule, group=GROUP, author=BOB)
        await told(aldis, "/forget yes", group=GROUP)
        asked = "Hello?" if rule == "/always on" else "Aldis, hello?"
        await aldis.process(message(asked, group=GROUP))
        assert len(aldis.model.asked) == (1 if rule == "/always on" else 0)
        await told(aldis, "/forget all yes", group=GROUP, author=BOB)
        await aldis.process(message(asked, group=GROUP))
        assert len(aldis.model.asked) == 1


async def test_a_persona_goes_with_the_words_that_set_it(store: Store, clock: SetClock) -> None:
    """When the message is edited as well as when it is deleted; the new words are a message like any other."""
    async with app_harness(store, clock) as aldis:
        for take_back in (delete, lambda at: edit("Never mind.", at)):
            at = await aldis.process(message("/persona like a pirate"))
            assert "pirate" in await told(aldis, "/persona")
            await aldis.process(take_back(at))
            assert await told(aldis, "/persona") == plain(phrases.NO_PERSONA.text)
