"""An admin takes a chat over: what was being made is not sent, nothing is answered until the time is over."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.chat import chats
from bot.chat import phrases as turn_phrases
from bot.clock import SetClock
from bot.commands import phrases
from bot.events import ChatId, PersonId
from store import Repositories, Store
from tests.bot.chat.turn_helpers import Echo, calls
from tests.bot.commands.test_commands import plain, told
from tests.bot.commands.test_status import contact, label
from tests.bot.loops.app_harness import Harness, app_harness
from tests.servers.envelopes import ALICE, BOB, GROUP, message

ADMINS = frozenset({BOB.uuid})


def sent(aldis: Harness) -> list[str]:
    return [reply.content.text for reply in aldis.transport.sent]


async def test_the_answer_under_way_is_not_sent(store: Store, clock: SetClock) -> None:
    """The person hears why, once; when the time is over Aldis answers again, and what was asked meanwhile stays."""
    async with app_harness(store, clock, admins=ADMINS) as aldis:
        aldis.model.gates["slow"] = asyncio.Event()
        await aldis.deliver(message("Aldis, slow?", group=GROUP))
        await aldis.asked(1)
        over = await told(aldis, "/takeover 10m", group=GROUP, author=BOB)
        assert over.startswith("It's all yours for 10 min")
        await aldis.quiet()
        await aldis.process(message("Aldis, and this?", group=GROUP))
        assert sent(aldis) == [over, turn_phrases.IS_TAKEN_OVER.text]
        assert "in person for another 10 min" in await told(aldis, "/status", group=GROUP)
        clock.move(600)
        assert await told(aldis, "Aldis, now?", group=GROUP) == "re: Aldis, now?"
        assert "this" not in " ".join(aldis.model.asked)
        assert await aldis.count("SELECT count(*) FROM history") == 2


async def test_a_turn_that_ends_in_that_moment_says_nothing(store: Store, clock: SetClock) -> None:
    """Its answer is there when the chat is taken over, and is not kept; what it has cost is written down."""
    async with app_harness(store, clock, admins=ADMINS) as aldis:
        gate = aldis.model.gates["slow"] = asyncio.Event()
        await aldis.deliver(message("Aldis, slow?", group=GROUP))
        await aldis.asked(1)
        conversation = await store.conversation(ChatId.group(GROUP), now=clock.now())

        def take(repos: Repositories) -> None:
            until = clock.now() + timedelta(minutes=30)
            chats.change(repos, conversation, clock.now(), lambda before: replace(before, taken_until=until))

        await store.transaction(take)  # as the command does, before it halts what is under way
        gate.set()
        await aldis.quiet()
        assert sent(aldis) == [turn_phrases.IS_TAKEN_OVER.text]
        assert await aldis.count("SELECT count(*) FROM ledger WHERE kind = 'model'") == 1
        assert await aldis.count("SELECT count(*) FROM history") == 0


async def test_it_holds_over_a_restart_and_ends_at_a_word(store: Store, clock: SetClock) -> None:
    """What waits for a yes ends as well; `/resume` ends it, too."""
    tools = (Echo(name="page"), Echo(effects="once"))
    async with app_harness(store, clock, admins=ADMINS, tools=tools) as aldis:
        aldis.model.script += [calls(("page", {"word": "x"})), calls(("echo", {"word": "y"}))]
        await aldis.deliver(message("Do it."))
        await aldis.answered(1)
        await told(aldis, "/takeover 2h", author=ALICE)
        assert sent(aldis)[-1] == plain(phrases.unknown_command("takeover"))
        aldis.transport.known_contacts = (contact(PersonId(ALICE.uuid)),)
        name = await label(aldis, ALICE.uuid)
        assert f"The chat with {name} is all yours for 2 h" in await told(aldis, f"/takeover {name} 2h", author=BOB)
    async with app_harness(store, clock, admins=ADMINS) as aldis:
        aldis.transport.known_contacts = (contact(PersonId(ALICE.uuid)),)
        assert await told(aldis, "yes") == turn_phrases.IS_TAKEN_OVER.text
        assert await told(aldis, "Hello", author=BOB) == "re: Hello"  # it is that chat alone
        assert await told(aldis, f"/takeover {name} off", author=BOB) == phrases.RESUMED.text
        assert await told(aldis, "Hello") == "re: Hello"
        assert await told(aldis, "/takeover 0badcafe", author=BOB) == plain(phrases.UNKNOWN_LABEL.text)


async def test_the_person_hears_why_in_their_language(store: Store, clock: SetClock) -> None:
    """That is the language of what they ask, not that of the admin, be the chat taken over or paused."""
    async with app_harness(store, clock, admins=ADMINS) as aldis:
        for ask, admin, why in (
            ("Hallo, wie wird morgen das Wetter?", "/takeover", "Hier antwortet gerade jemand persönlich"),
            ("Quel temps fait-il chez toi aujourd'hui ?", "/pause", "Je suis en pause ici"),
        ):
            await told(aldis, admin, group=GROUP, author=BOB)
            assert (await told(aldis, f"Aldis, {ask}", group=GROUP)).startswith(why)
            await told(aldis, "/resume", group=GROUP, author=BOB)


@pytest.mark.parametrize("rest", ["soon", "0m", "25h", "9999h", "30 apples", "-5m"])
async def test_the_time_is_a_time(rest: str, store: Store, clock: SetClock) -> None:
    """At most a day."""
    async with app_harness(store, clock, admins=ADMINS) as aldis:
        shown = await told(aldis, f"/takeover {rest}", author=BOB)
        assert shown == plain(
            phrases.wrong_form("takeover", ("/takeover", "/takeover 2h", "/takeover LABEL 1h", "/takeover off"))
        )


@pytest.mark.parametrize("words", ["/forget yes", "/forget everything yes"])
@pytest.mark.parametrize("by_admin", [False, True])
async def test_nobody_else_ends_it_by_forgetting(store: Store, clock: SetClock, words: str, by_admin: bool) -> None:
    """All that was said goes, and Aldis keeps quiet as it was told to; an admin's own chat begins anew."""
    async with app_harness(store, clock, admins=ADMINS) as aldis:
        person = BOB if by_admin else ALICE
        aldis.transport.known_contacts = (contact(PersonId(ALICE.uuid)), contact(PersonId(BOB.uuid)))
        assert await told(aldis, "Hello", author=person) == "re: Hello"
        name = await label(aldis, person.uuid)
        await told(aldis, f"/takeover {name} 2h", author=BOB)
        assert (await told(aldis, words, author=person)).startswith("Deleted: 1 question")
        left = await told(aldis, "Hello?", author=person)
        assert left == ("re: Hello?" if by_admin else turn_phrases.IS_TAKEN_OVER.text)


async def test_nothing_is_asked_again_meanwhile(store: Store, clock: SetClock) -> None:
    """There would be no new answer, so the former one stays, in the history as in the chat."""
    async with app_harness(store, clock, admins=ADMINS) as aldis:
        await told(aldis, "Aldis, hello", group=GROUP)
        await told(aldis, "/takeover", group=GROUP, author=BOB)
        assert await told(aldis, "/retry", group=GROUP) == turn_phrases.IS_TAKEN_OVER.text
        assert await aldis.count("SELECT count(*) FROM history") == 2
        await told(aldis, "/takeover off", group=GROUP, author=BOB)
        assert await told(aldis, "/retry", group=GROUP) == "re: Aldis, hello"
        assert await aldis.count("SELECT count(*) FROM history") == 2
