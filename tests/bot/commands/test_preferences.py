"""What people set for their conversation: it holds from the next message on, survives restarts, goes with `/forget`."""

from typing import Any

import pytest

from bot.chat import phrases as turn_phrases
from bot.chat import prompt
from bot.clock import SetClock
from bot.commands import phrases
from bot.features import personas
from bot.i18n.catalogues import say
from bot.i18n.language import use_language
from store import Store
from tests.bot.chat.test_edits import words
from tests.bot.chat.turn_helpers import Echo, calls, contents, says
from tests.bot.commands.test_commands import ask, plain
from tests.bot.loops.app_harness import app_harness
from tests.invariants import is_sendable
from tests.servers.envelopes import ALICE, BOB, GROUP, delete, message

PIRATE = "You are a pirate and say arr."


# Persona

SYSTEM = prompt.system("Aldis", "Be kind.")


async def test_a_persona_stands_beside_the_rules_and_goes_with_its_message(store: Store, clock: SetClock) -> None:
    """In this conversation alone, after a restart, too; deleted with its message, nothing of it is on the disk."""
    async with app_harness(store, clock) as aldis:
        assert await ask(aldis, "/persona") == plain(personas.NO_PERSONA.text)
        assert await ask(aldis, f"/persona {PIRATE}") == plain(personas.PERSONA_SET.text)
    async with app_harness(store, clock) as aldis:
        await aldis.deliver(message("Hello"))
        await aldis.process(message("Hello", author=BOB))
        plainly, pirate = sorted((request.whole_system for request in aldis.model.requests), key=len)
        assert (plainly, pirate.startswith(f"{SYSTEM}\n\n"), pirate.endswith(PIRATE)) == (SYSTEM, True, True)
        assert PIRATE in await ask(aldis, "/persona")
        assert await ask(aldis, "/persona OFF") == personas.PERSONA_OFF.text
        await aldis.process(message("Hello again"))
        assert aldis.model.requests[-1].whole_system == SYSTEM
        asked = await aldis.process(message(f"/persona {PIRATE}"))
        await aldis.process(delete(asked))
        assert await ask(aldis, "/persona") == plain(personas.NO_PERSONA.text)
        heard = await ask(aldis, f"/persona {PIRATE}", expires_in_seconds=60)
        assert heard == plain(personas.PERSONA_TIMED.text)
        clock.move(61)
        assert await ask(aldis, "/persona") == plain(personas.NO_PERSONA.text)
        size = "SELECT sum(length(settings)) FROM chats"
        before = await aldis.count(size)
        await aldis.maintenance.expire()
        assert await aldis.count(size) < before


# Model


async def test_the_model_is_chosen_among_those_there_are(store: Store, clock: SetClock) -> None:
    """By its number, its name or a part of that, in any case; others are refused with the right form."""
    unknown = phrases.NO_SUCH_MODEL_HERE
    async with app_harness(store, clock) as aldis:
        shown = await ask(aldis, "/model")
        assert (shown.startswith("model-1 answers here."), "\n2. model-2\n" in shown) == (True, True)
        assert await ask(aldis, "/model model") == plain(phrases.which("model", ("scripted/model-1", "other/model-2")))
        for wrong in ("gpt-9", "0", "3", "9" * 5000):
            assert await ask(aldis, f"/model {wrong}") == plain(say(unknown, name=wrong[:60]))
        for wanted, model in (("1", 1), ("other", 2), ("1", 1), ("2", 2), ("default", 1), ("MODEL-2", 2)):
            assert await ask(aldis, f"/model {wanted}") == f"model-{model} answers here."
        await aldis.process(message("Hello"))
        await ask(aldis, "/model default")
        await aldis.process(message("Hello"))
        assert [request.model for request in aldis.model.requests] == ["other/model-2", None]


# Tools


async def test_a_tool_that_is_switched_off_is_not_offered_and_its_calls_are_not_shown(
    store: Store, clock: SetClock
) -> None:
    """History with calls of it stays valid for every vendor; switched on again, everything is as before."""
    async with app_harness(store, clock, tools=(Echo(), Echo(name="other"))) as aldis:
        aldis.model.script += [calls(("echo", {"word": "tulip"})), says("The tulip is fine.")]
        await aldis.process(message("How is the tulip?"))
        assert await ask(aldis, "/tools") == "• echo: on\n• other: on"
        assert await ask(aldis, "/tools off ECHO") == "Switched off here: echo."
        aldis.model.script += [calls(("other", {"word": "a"}), ("echo", {"word": "b"})), says("done")]
        await aldis.process(message("Do it."))
        assert '"error": "disabled"' in contents(aldis.model.requests[-1])[1]  # models call what they remember
        await ask(aldis, "/undo")
        await aldis.process(message("And now?"))
        request = aldis.model.requests[-1]
        assert ([offer.name for offer in request.tools], contents(request)) == (["other"], [])
        assert is_sendable(request.messages)
        assert "The tulip is fine." in words(request)
        assert await ask(aldis, "/tools") == "• echo: off\n• other: on"
        await ask(aldis, "/tools on echo")
        await aldis.process(message("And now?"))
        assert [offer.name for offer in aldis.model.requests[-1].tools] == ["echo", "other"]
        assert len(contents(aldis.model.requests[-1])) == 1


async def test_a_tool_is_known_by_what_people_call_it(store: Store, clock: SetClock) -> None:
    """In their language, by a part of it, or by the name that models know; of several none is guessed."""
    names = ("web_search", "web_fetch", "get_weather", "predict", "resolve_prediction", "post_search")
    async with app_harness(store, clock, tools=tuple(Echo(name=name) for name in names)) as aldis:
        on = ["Web search", "Web pages", "Weather", "Predictions", "post_search"]
        assert await ask(aldis, "/tools") == "\n".join(f"• {name}: on" for name in on)
        for rest, off in {
            "off web": ["Web search", "Web pages"],
            "on Web pages": ["Web search"],
            "off weath": ["Web search", "Weather"],
            "on web_search": ["Weather"],
            "off Predictions": ["Weather", "Predictions"],
            "off search": ["Weather", "Predictions"],
            "off nothing": ["Weather", "Predictions"],
        }.items():
            await ask(aldis, f"/tools {rest}")
            heard = await ask(aldis, "/tools")
            assert heard == "\n".join(f"• {name}: {'off' if name in off else 'on'}" for name in on), rest
        await aldis.process(message("And now?"))
        offered = [offer.name for offer in aldis.model.requests[-1].tools]
        assert offered == ["web_search", "web_fetch", "post_search", "use_tool"]
        assert await ask(aldis, "/tools off search") == plain(say(phrases.NO_SUCH_TOOL, name="search"))
        forms = "/tools, /tools off NAME, /tools on NAME or /tools revoke NAME"
        assert await ask(aldis, "/tools maybe echo") == f"Please write it like this: {forms}"
        await ask(aldis, "/language de")
        assert "Wetter" in await ask(aldis, "/tools on Wetter")


# Language


async def test_aldis_speaks_the_language_that_people_write_or_choose(store: Store, clock: SetClock) -> None:
    """The last one that was sure, over a restart; a chosen one stays until it is left to the messages again."""
    async with app_harness(store, clock) as aldis:
        assert "working on anything" in await ask(aldis, "/stop")
        await aldis.process(message("Wie wird das Wetter morgen in Berlin?"))
        assert await ask(aldis, "/stop") == "Ich arbeite hier gerade an nichts."
    async with app_harness(store, clock) as aldis:
        await aldis.process(message("Arrête !"))
        assert await ask(aldis, "/stop") == "Ich arbeite hier gerade an nichts."
        await aldis.process(message("Quel temps fait-il demain à Lyon ?"))
        assert await ask(aldis, "/stop") == "Je ne travaille sur rien en ce moment."
        assert await ask(aldis, "/language ES") == "A partir de ahora hablo español aquí."
        await aldis.process(message("Wie wird das Wetter morgen in Berlin?"))
        assert await ask(aldis, "/stop") == "Ahora mismo no estoy con nada aquí."
        assert await ask(aldis, "/language klingon") == "Escríbelo así: /language de o /language auto"
        with use_language("de"):
            assert await ask(aldis, "/language auto") == say(phrases.LANGUAGE_BY_MESSAGE)


# Always, pause


async def test_admins_say_when_aldis_speaks_up_in_a_group(store: Store, clock: SetClock) -> None:
    """In a pause only commands are answered, which is said once; what came meanwhile stays unanswered."""
    bob: dict[str, Any] = {"group": GROUP, "author": BOB}
    async with app_harness(store, clock, admins=frozenset({BOB.uuid})) as aldis:
        await aldis.process(message("/always on", group=GROUP, author=ALICE))
        assert aldis.transport.sent == []
        assert await ask(aldis, "/always on", **bob) == phrases.ALWAYS_ON.text
        assert await ask(aldis, "Is it cold?", group=GROUP) == "re: Is it cold?"
        assert await ask(aldis, "/always off", **bob) == phrases.ALWAYS_OFF.text
        await aldis.process(message("Is it warm?", group=GROUP))
        assert aldis.transport.sent[-1].content.text == phrases.ALWAYS_OFF.text
        assert await ask(aldis, "/always on", author=BOB) == phrases.ONLY_IN_GROUPS.text
        assert await ask(aldis, "/always", **bob) == "Please write it like this: /always on|off"
        assert await ask(aldis, "/pause", **bob) == plain(phrases.PAUSED.text)
    async with app_harness(store, clock, admins=frozenset({BOB.uuid})) as aldis:
        assert await ask(aldis, "Aldis, one?", group=GROUP) == plain(turn_phrases.IS_PAUSED.text)
        await aldis.until(lambda: aldis.intake.counts.all().get("unanswered_paused") == 1)
        await aldis.deliver(message("Aldis, two?", group=GROUP))
        await aldis.process(message("Elsewhere?"))
        assert [reply.content.text for reply in aldis.transport.sent[1:]] == ["re: Elsewhere?"]
        assert await ask(aldis, "/resume", **bob) == phrases.RESUMED.text
        assert await ask(aldis, "Aldis, three?", group=GROUP) == "re: Aldis, three?"
        assert aldis.model.asked[-1].count("?") == 1


@pytest.mark.parametrize("rule", ["/who admins", "/always on"])
async def test_what_an_admin_has_set_is_not_forgotten_by_others(store: Store, clock: SetClock, rule: str) -> None:
    """A member has forgotten what they said in the group, and is not answered otherwise than before."""
    async with app_harness(store, clock, admins=frozenset({BOB.uuid})) as aldis:
        await ask(aldis, rule, group=GROUP, author=BOB)
        await ask(aldis, "/forget yes", group=GROUP)
        asked = "Hello?" if rule == "/always on" else "Aldis, hello?"
        await aldis.process(message(asked, group=GROUP))
        assert len(aldis.model.asked) == (1 if rule == "/always on" else 0)
        await ask(aldis, "/forget all yes", group=GROUP, author=BOB)
        await aldis.process(message(asked, group=GROUP))
        assert len(aldis.model.asked) == 1
