"""Reminders: planned by a command or the model, come once, also over restarts, and go when they have to."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from bot.access.access import AccessList
from bot.clock import SetClock
from bot.errors import Disconnected
from bot.events import PersonId
from bot.features.predictions import prediction_tools
from bot.features.reminders import commands as phrases
from bot.features.reminders import time_grammar
from bot.features.reminders.service import MAX_REMINDERS, REMINDER_WORDLESS, Place
from bot.features.reminders.tool import Remind, RemindArguments
from bot.i18n import phrases as common_phrases
from bot.i18n.catalogues import say
from bot.i18n.language import LANGUAGES, use_language
from bot.signal.protocol import Group
from store import Store
from tests.bot.chat.test_edits import on_disk
from tests.bot.chat.turn_helpers import calls, contents, says
from tests.bot.commands.test_commands import ask, plain
from tests.bot.loops.app_harness import Harness, app_harness
from tests.conftest import NOON
from tests.servers.envelopes import ALICE, BOB, CAROL, GROUP, Person, delete, edit, message, reaction
from tests.waiting import eventually_found
from tools import BadArguments, ToolContext

HOUR = 3600


def remind(**given: Any) -> Any:
    return calls(("remind", {"action": "set", **given}))


async def come(aldis: Harness) -> None:
    await aldis.reminders.attend_all()
    await aldis.quiet()


def texts(aldis: Harness, since: int = 0) -> list[str]:
    return [reply.content.text for reply in aldis.transport.sent[since:]]


# By command


async def test_a_reminder_comes_once_at_its_time(store: Store, clock: SetClock) -> None:
    """Confirmed as people say it; not before its time, and not again."""
    async with app_harness(store, clock) as aldis:
        assert (await ask(aldis, "/remind in 150 min look after the tea")).split("\n\n") == [
            "OK, at 14:30 (in 2 hours 30 minutes): look after the tea.",
            "React ❌ to cancel.",
            "It's 12:00 where you are, right? If not, cancel this, write /timezone and your city, and ask me again.",
        ]
        clock.move(2.5 * HOUR - 1)
        await come(aldis)
        assert len(aldis.transport.sent) == 1
        clock.move(1)
        await come(aldis)
        await come(aldis)
        assert texts(aldis, 1) == ["⏰ look after the tea"]
        assert await ask(aldis, "/remind") == common_phrases.NO_REMINDERS.text
        assert aldis.model.asked == []


async def test_a_time_that_is_not_read_is_asked_of_the_model(store: Store, clock: SetClock) -> None:
    """As the person wrote it, with the tool at hand; nothing is planned at a usual hour."""
    async with app_harness(store, clock, ported=(Remind,)) as aldis:
        for words in ("tomorrow after work call mum", "every day except sunday at 8 swim", "in three moons tea"):
            aldis.model.script = [remind(text="swim", local_datetime="2026-11-23T08:00"), says("Monday at 8.")]
            assert await ask(aldis, f"/remind {words}") == "Monday at 8."
            assert aldis.model.asked[-1].endswith(f"/remind {words}")
        assert await aldis.count("SELECT count(*) FROM reminders") == 3
        aldis.model.script = [says("At 8 in the morning or in the evening?")]
        clock.move(-5 * HOUR)
        assert "evening?" in await ask(aldis, "/remind today at 8 tea")


async def test_without_a_model_a_time_that_is_not_read_is_refused(store: Store, clock: SetClock) -> None:
    """With two examples that can be given as they stand."""
    async with app_harness(store, clock, settings={"llm": {"providers": ("offline",), "choices": ()}}) as aldis:
        assert (await ask(aldis, "/remind tomorrow after work call mum")).splitlines() == [
            phrases.TIME_NOT_READ.text,
            "• /remind in 20 minutes TEXT",
            "• /remind tomorrow 9:00 TEXT",
        ]
        clock.move(-5 * HOUR)
        heard = await ask(aldis, "/remind today at 8 tea")
        assert heard.startswith("Do you mean today at 08:00 or today at 20:00?")
        assert await aldis.count("SELECT count(*) FROM reminders") == 0


async def test_an_hour_without_its_half_is_the_next_one_of_the_day(store: Store, clock: SetClock) -> None:
    """By command and by the tool alike, which the model tells whether the half was said."""
    async with app_harness(store, clock, ported=(Remind,), settings={"locale": {"timezone": "Europe/Berlin"}}) as aldis:
        clock.move(9 * HOUR - 180)
        assert (await ask(aldis, "/remind at 5 call mum")).startswith("OK, tomorrow at 17:00: call mum.")
        aldis.model.script = [
            remind(text="call mum", local_datetime="2026-11-22T05:00", half_of_day_given=False, day_given=False),
            says("OK, tomorrow at 17:00."),
        ]
        await ask(aldis, "remind me to call mum at 5")
        [content] = contents(aldis.model.requests[-1])
        assert "Sunday 2026-11-22 17:00 Europe/Berlin" in content
        assert (await ask(aldis, "/remind heute um 21:00 Ana anrufen")) == "It's already 21:57. When tonight?"


async def test_the_time_is_asked_once_where_no_zone_is_known(store: Store, clock: SetClock) -> None:
    """In each chat; not if one is set that is not damaged, nor if the operator says where people live."""
    async with app_harness(store, clock) as aldis:
        heard = [await ask(aldis, "/remind 18:00 tea") for _ in range(2)]
        assert ["where you are, right?" in one for one in heard] == [True, False]
        assert "It's 12:00 where you are, right?" in await ask(aldis, "/remind 18:00 tea", group=GROUP)
        await ask(aldis, "/timezone Oslo", author=BOB)
        assert "where you are" not in await ask(aldis, "/remind 18:00 tea", author=BOB)
        await store.transaction(lambda repos: repos.reminders.execute("UPDATE zones SET zone = zeroblob(60)"))
        assert "It's 12:00 where you are, right?" in await ask(aldis, "/remind 18:00 tea", author=BOB)
    async with app_harness(store, clock, settings={"locale": {"timezone": "Europe/Berlin"}}) as aldis:
        assert "where you are" not in await ask(aldis, "/remind 18:00 tea", author=CAROL)


async def test_reminders_are_listed_and_cancelled_by_number(store: Store, clock: SetClock) -> None:
    """The next one first; a number stays what it is; nobody cancels another one's."""
    async with app_harness(store, clock) as aldis:
        await ask(aldis, "/remind tomorrow 9:00 bins")
        heard = await ask(aldis, "/remind every weekday at 8 ask: weather?")
        assert heard.startswith(
            "OK, I'll answer this every week (Mon, Tue, Wed, Thu, Fri), first on Monday at 08:00: weather?"
        )
        await ask(aldis, "/remind 18:00 tea")
        assert (await ask(aldis, "/remind list")).splitlines() == [
            "• 3: today at 18:00: tea",
            "• 1: tomorrow at 09:00: bins",
            "• 2: on Monday at 08:00, every week (Mon, Tue, Wed, Thu, Fri): weather? (a question)",
        ]
        assert await ask(aldis, "/remind cancel 1", author=BOB) == plain(say(phrases.NO_SUCH_REMINDER, number=1))
        for which in ("/remind cancel", "/remind delete"):
            heard = await ask(aldis, which)
            assert ("1: tomorrow at 09:00" in heard, heard.endswith(plain(phrases.WHICH_REMINDER.text))) == (True, True)
        assert await ask(aldis, "/remind cancel", author=BOB) == common_phrases.NO_REMINDERS.text
        assert await ask(aldis, "/remind delete #1.") == "Cancelled: bins."
        assert await ask(aldis, "/remind cancel 1") == plain(say(phrases.NO_SUCH_REMINDER, number=1))
        assert len((await ask(aldis, "/remind")).splitlines()) == 2
        await ask(aldis, "/remind 18:00 hers", author=BOB)
        clock.move(3 * 86_400)
        before = len(aldis.transport.sent)
        await come(aldis)
        assert not [text for text in texts(aldis, before) if "bins" in text]
        await ask(aldis, "/remind 18:00 more tea")
        assert await ask(aldis, "/remind cancel all") == "2 reminders cancelled."
        assert await ask(aldis, "/remind") == common_phrases.NO_REMINDERS.text


def test_each_example_can_be_given_as_it_stands() -> None:
    """In the language in which it is shown."""
    for language in LANGUAGES:
        with use_language(language):
            examples = [say(example).removeprefix("/remind ") for example in phrases.REMIND_EXAMPLES]
        wishes = [time_grammar.read(example, now=NOON, zone="UTC") for example in examples]
        given = [wish and (wish.prompt or wish.text, wish.repeat is not None) for wish in wishes]
        assert given == [("TEXT", False), ("TEXT", False), ("TEXT", True), ("TEXT", True)]


async def test_what_is_no_time_is_told(store: Store, clock: SetClock) -> None:
    """The right form, or why not; nothing is planned."""
    async with app_harness(store, clock) as aldis:
        assert await ask(aldis, "/remind 2020-01-01 21:00 tea") == (
            "That day is over: it's 21 November 2026 already. When do you mean?"
        )
        for name in ("Atlantis", "+5:30", "UTC+2", "EST", "a" * 10_000):
            assert await ask(aldis, f"/timezone {name}") == phrases.NO_SUCH_ZONE.text
        assert await ask(aldis, "/timezone Wien") == "It's 13:00 where you are (Europe/Vienna)."
        assert await ask(aldis, "/remind 2040-01-01 21:00 tea") == phrases.TIME_TOO_FAR.text
        assert await ask(aldis, "/remind") == common_phrases.NO_REMINDERS.text


async def test_a_person_has_only_so_many(store: Store, clock: SetClock) -> None:
    """Everywhere together; a cancelled one makes room."""
    async with app_harness(store, clock) as aldis:
        await ask(aldis, "/remind in 1h the first")
        await ask(aldis, "/remind in 1h the other", group=GROUP)
        here = await aldis.count("SELECT min(conversation_id) FROM reminders")

        def fill(repos: Any) -> None:
            for number in range(2, MAX_REMINDERS):
                repos.reminders.put(here, ALICE.uuid, f"item {number}", plan=b"", words=b"", due_at=NOON)

        await store.transaction(fill)
        assert await ask(aldis, "/remind in 1h one more") == phrases.TOO_MANY_REMINDERS.text
        await ask(aldis, "/remind cancel 1")
        assert "one more" in await ask(aldis, "/remind in 1h one more")
        assert "hers" in await ask(aldis, "/remind in 1h hers", author=BOB)


# Over time


async def test_a_late_one_says_by_how_much_and_a_repeated_one_comes_once(store: Store, clock: SetClock) -> None:
    """However many times it missed; the next time is the next that lies ahead."""
    async with app_harness(store, clock) as aldis:
        await ask(aldis, "/remind every day at 8 pills")
        await ask(aldis, "/remind in 1h tea")
        clock.move(3 * 86_400 + 30 * 60)
        await come(aldis)
        assert texts(aldis, 2) == [
            "⏰ tea\n\n(2 days 23 hrs late: I was offline.)",
            "⏰ pills\n\n(2 days 4 hrs late: I was offline.)",
        ]
        assert await ask(aldis, "/remind") == "• 1: tomorrow at 08:00, every day: pills"


# By the model


async def test_the_tool_lists_cancels_and_keeps_the_zone(store: Store, clock: SetClock) -> None:
    """One tool for all that concerns reminders; the repetition comes back as it was understood."""
    async with app_harness(store, clock, ported=(Remind,)) as aldis:

        async def answered(completion: Any) -> Any:
            aldis.model.script = [completion, says("Done.")]
            await ask(aldis, "remind me of the bins each Monday at 8 in Berlin until the end of January; and so on")
            return json.loads(contents(aldis.model.requests[-1])[-1])

        weekly = {"repeat": "week", "weekdays": ["mo"], "until": "2027-01-31", "interval": 2}
        at = {"local_datetime": "2026-11-23T08:00", "timezone": "Europe/Berlin"}
        planned = (await answered(remind(text="bins", prompt="bins?", **at, **weekly)))["untrusted_data"]
        assert planned["repeats"] == {"every": "week", "interval": 2, "weekdays": ["mo"]}
        assert (planned["prompt"], planned["when"]) == ("bins?", "Monday 2026-11-23 07:00 UTC")
        listed = await answered(calls(("remind", {"action": "list"})))
        assert [one["text"] for one in listed["untrusted_data"]["reminders"]] == ["bins"]
        tokyo = await answered(calls(("remind", {"action": "timezone", "timezone": "Asia/Tokyo"})))
        assert tokyo["ok"]
        cancelled = await answered(calls(("remind", {"action": "cancel", "number": 1})))
        assert cancelled["untrusted_data"]["cancelled"]["number"] == 1
        assert (await answered(calls(("remind", {"action": "cancel", "number": 1}))))["error"] == "not_found"


async def test_what_is_missing_is_named(store: Store, clock: SetClock) -> None:
    """The model learns what to give."""
    async with app_harness(store, clock) as aldis:
        tool = Remind(aldis.reminders)
        rows: tuple[dict[str, Any], ...] = (
            {"action": "set", "delay_seconds": 60},
            {"action": "cancel"},
            {"action": "timezone"},
            {"action": "set", "text": "x", "delay_seconds": 60, "weekdays": ["mo"]},
            {"action": "set", "text": "x", "delay_seconds": 60, "count": 3},
        )
        for given in rows:
            with pytest.raises(BadArguments, match=r"^\w+: "):
                await tool.run(RemindArguments(**given), ToolContext(now=NOON, timezone="UTC"))


async def test_a_call_that_is_repeated_after_a_crash_plans_nothing_more(store: Store, clock: SetClock) -> None:
    """It gives what the first one gave, also when that time is over meanwhile."""
    async with app_harness(store, clock) as aldis:
        tool = Remind(aldis.reminders)
        here = await store.conversation(ALICE.chat, now=NOON)
        turn = await store.transaction(lambda repos: repos.turns.begin(here, now=NOON))
        given = RemindArguments(action="set", text="tea", local_datetime="2026-11-21T12:01")
        for _ in range(2):
            asked = ToolContext(
                now=clock.now(), timezone="UTC", person=ALICE.uuid, chat=ALICE.chat, turn=turn, call="call_a"
            )
            assert (await tool.run(given, asked)).data["number"] == 1
            clock.move(HOUR)


async def test_a_prompt_is_asked_at_its_time(store: Store, clock: SetClock) -> None:
    """As a question of its person in its chat: answered once, charged to them; in a group it quotes their message."""
    async with app_harness(store, clock) as aldis:
        asked = await aldis.deliver(message("/remind every day at 13:00 ask: weather in Oslo?", group=GROUP))
        await aldis.answered(1)
        clock.move(HOUR)
        await come(aldis)
        await come(aldis)
        assert len(aldis.model.asked) == 1
        assert "weather in Oslo?" in aldis.model.asked[0]
        reply = aldis.transport.sent[-1]
        assert reply.content.text.startswith("⏰ weather in Oslo?\n\nre: ")
        kept = await aldis.store.read(lambda repos: repos.history.rows("SELECT count(*) FROM history"))
        assert kept == [(2,)]
        assert reply.quote is not None
        assert (reply.quote.author, reply.quote.sent_at) == (ALICE.uuid, asked)
        assert "You today: US$0.01" in await ask(aldis, "/usage")
        clock.move(86_400)
        await come(aldis)
        assert len(aldis.model.asked) == 2
        assert "it is late" not in aldis.model.asked[-1]
        clock.move(86_400 + 600)
        await come(aldis)
        assert "planned earlier that this be asked at Monday 2026-11-23 13:00 UTC; it is late" in aldis.model.asked[-1]


async def test_a_prompt_that_runs_plans_and_keeps_nothing(store: Store, clock: SetClock) -> None:
    """Or one could keep itself alive for ever, at its person's cost; what it reads is not what its person says."""
    predicted = ("predict", {"statement": "it rains", "probability": 0.8, "due": "2026-12-31"})
    tools = prediction_tools(store, clock)
    async with app_harness(store, clock, ported=(Remind,), tools=tools, remembers=True) as aldis:
        aldis.model.script = [calls(predicted), says("Noted.")]
        await ask(aldis, "I predict with 0.8 that it rains by 2026-12-31")
        for completion in (
            remind(text="go on", prompt="go on", delay_seconds=60),
            calls(predicted),
            calls(("resolve_prediction", {"number": 1, "outcome": "came_true"})),
            calls(("remember", {"action": "remember", "fact": "it rains"})),
        ):
            await ask(aldis, "/remind in 1h ask: go on")
            aldis.model.script = [completion, says("No.")]
            clock.move(HOUR)
            await come(aldis)
            assert '"error": "denied"' in contents(aldis.model.requests[-1])[-1]
        assert await aldis.count("SELECT count(*) FROM reminders WHERE settled_at IS NULL") == 0
        assert await aldis.count("SELECT count(*) FROM predictions WHERE outcome IS NULL") == 1
        assert await aldis.count("SELECT count(*) FROM facts") == 0


async def in_group(aldis: Harness, *people: Person) -> None:
    """The bridge tells who is in the group, a minute after whatever was said before."""
    aldis.clock.move(60)
    group = Group(id=GROUP, name="", members=frozenset(PersonId(person.uuid) for person in people), is_complete=True)
    aldis.transport.known_groups = (group,)
    await aldis.intake.door.look()


async def test_what_somebody_planned_in_a_group_that_they_left_does_not_come_there(
    store: Store, clock: SetClock
) -> None:
    """Neither said nor asked in their name; it is over."""
    async with app_harness(store, clock) as aldis:
        await ask(aldis, "hello")
        await in_group(aldis, ALICE, BOB)
        await ask(aldis, "/remind every day at 13:00 tea", group=GROUP)
        await ask(aldis, "/remind 13:00 ask: news?", group=GROUP)
        await ask(aldis, "/remind 13:00 bobs", group=GROUP, author=BOB)
        await in_group(aldis, BOB)
        before, asked = len(aldis.transport.sent), len(aldis.model.asked)
        clock.move(HOUR - 120)
        await come(aldis)
        assert sorted((reply.chat, reply.content.text) for reply in aldis.transport.sent[before:]) == [
            (f"group:{GROUP}", "⏰ bobs"),
        ]
        clock.move(24 * HOUR)
        await come(aldis)
        assert len(aldis.transport.sent) == before + 1
        assert len(aldis.model.asked) == asked
        assert await aldis.count("SELECT count(*) FROM reminders WHERE settled_at IS NULL") == 0


async def test_who_may_no_longer_write_is_not_reminded(store: Store, clock: SetClock) -> None:
    """Whom the operator has taken off the list; it is over."""
    async with app_harness(store, clock) as aldis:
        await ask(aldis, "/remind in 1h tea")
    async with app_harness(store, clock, access=AccessList(persons=frozenset({BOB.uuid}), groups=frozenset())) as aldis:
        clock.move(HOUR)
        await come(aldis)
        assert texts(aldis) == []
        assert await aldis.count("SELECT count(*) FROM reminders WHERE settled_at IS NULL") == 0


# What has to go


async def test_words_disappear_with_their_message(store: Store, clock: SetClock, path: Path) -> None:
    """It is said beforehand; at its time the person hears that there was something. Before, nothing changes."""
    async with app_harness(store, clock) as aldis:
        await aldis.deliver(message("/remind in 30 min tea", expires_in_seconds=HOUR))
        await aldis.deliver(message("/remind every day at 18:00 secret", expires_in_seconds=HOUR))
        await aldis.answered(2)
        assert "disappear" not in texts(aldis)[0]
        assert phrases.REMINDER_LOSES_WORDS.text in texts(aldis)[1]
        clock.move(HOUR / 2)
        await come(aldis)
        assert texts(aldis, 2) == ["⏰ tea"]
        clock.move(HOUR / 2)
        await aldis.maintenance.expire()
        assert b"secret" not in on_disk(path)
        assert await aldis.count("SELECT count(*) FROM reminders WHERE words IS NOT NULL") == 0
        assert "(its text has disappeared)" in await ask(aldis, "/remind")
        clock.move(5 * HOUR)
        await come(aldis)
        assert texts(aldis)[-1] == REMINDER_WORDLESS.text
        assert await ask(aldis, "/remind") == common_phrases.NO_REMINDERS.text


@pytest.mark.parametrize("by_model", [False, True])
async def test_taking_the_message_back_takes_the_reminder_back(store: Store, clock: SetClock, by_model: bool) -> None:
    """A deletion, and an edit, which is carried out anew: there is one reminder, in its new words."""
    async with app_harness(store, clock, ported=(Remind,)) as aldis:
        if by_model:
            aldis.model.script = [remind(text="tea", delay_seconds=60), says("Done.")]
        sent = await aldis.deliver(message("remind me" if by_model else "/remind in 1 min tea"))
        await aldis.answered(1)
        await aldis.quiet()
        if by_model:
            aldis.model.script = [remind(text="coffee", delay_seconds=60), says("Done.")]
            await aldis.deliver(edit("remind me of coffee", sent))
            await aldis.answered(2)
            await aldis.quiet()
            assert await aldis.count("SELECT count(*) FROM reminders") == 1
        await aldis.process(delete(sent))
        assert await aldis.count("SELECT count(*) FROM reminders") == 0


# What waits to be sent


async def held(aldis: Harness) -> None:
    """What is due now comes into the outbox and stays there: the bridge is away, and the clock stands still."""
    aldis.transport.sends = [Disconnected("refused")]
    await aldis.reminders.attend_all()
    await aldis.until(lambda: not aldis.transport.sends)


async def back(aldis: Harness, clock: SetClock) -> None:
    """All that has come in is carried out; then the bridge is there again, and what waits goes out."""

    async def is_carried_out() -> bool:
        return await aldis.count("SELECT count(*) FROM inbox WHERE state IN ('waiting', 'claimed')") == 0

    await eventually_found(is_carried_out)
    clock.move(HOUR)
    await aldis.quiet()


@pytest.mark.parametrize("by_model", [False, True])
@pytest.mark.parametrize("is_edited", [False, True])
async def test_a_reminder_that_waits_to_be_sent_goes_with_its_message(
    store: Store, clock: SetClock, path: Path, by_model: bool, is_edited: bool
) -> None:
    """It has come, and its message is gone before the bridge takes it: nobody reads words that were taken back."""
    async with app_harness(store, clock, ported=(Remind,)) as aldis:
        if by_model:
            aldis.model.script = [remind(text="secret tulips", delay_seconds=60), says("Done.")]
        sent = await aldis.process(message("remind me" if by_model else "/remind in 1 min secret tulips"))
        clock.move(60)
        await held(aldis)
        await aldis.deliver(edit("of nothing", sent) if is_edited else delete(sent))
        await back(aldis, clock)
        assert "⏰ secret tulips" not in texts(aldis)
    assert b"tulips" not in on_disk(path)


# By reaction


async def said_at(aldis: Harness) -> int:
    await aldis.quiet()
    return await aldis.count("SELECT sent_at FROM outbox ORDER BY id DESC LIMIT 1")


async def test_a_reaction_cancels_ends_or_puts_off(store: Store, clock: SetClock) -> None:
    """On the confirmation or on the reminder itself, by its person alone; a day later it is forgotten."""
    async with app_harness(store, clock, ported=(Remind,)) as aldis:
        await ask(aldis, "/timezone UTC")

        async def react(emoji: str, author: Person = ALICE, group: str | None = None) -> list[str]:
            before = len(aldis.transport.sent)
            await aldis.process(reaction(emoji, await said_at(aldis), author=author, group=group))
            await aldis.quiet()
            return texts(aldis, before)

        open_ones = "SELECT count(*) FROM reminders WHERE settled_at IS NULL"
        await ask(aldis, "/remind in 1h hers", group=GROUP)
        assert (await react("❌", BOB, GROUP), await aldis.count(open_ones)) == ([], 1)
        assert (await react("❌", group=GROUP), await aldis.count(open_ones)) == (["Cancelled: hers."], 0)
        await ask(aldis, "/remind in 1h tea")
        assert (await react("✅"), await aldis.count(open_ones)) == ([], 1)
        assert await react("⏰") == ["OK, at 14:00 (in 2 hours): tea."]
        assert (await react("❌"), await aldis.count(open_ones)) == (["Cancelled: tea."], 0)
        assert await react("❌") == []
        aldis.model.script = [remind(text="bins", delay_seconds=HOUR), says("OK.")]
        await ask(aldis, "remind me of the bins in an hour")
        for answer in (["OK, at 14:00 (in 1 hour): bins."], []):
            clock.move(HOUR)
            await come(aldis)
            assert texts(aldis)[-1] == "⏰ bins"
            assert await react("⏰" if answer else "✅") == answer
        assert await aldis.count("SELECT count(*) FROM reminders WHERE words IS NOT NULL") == 0
        await ask(aldis, "/remind every day at 14:30 pills")
        clock.move(HOUR / 2)
        await come(aldis)
        assert texts(aldis)[-1] == "⏰ pills"
        assert await react("⏰") == ["OK, at 15:30 (in 1 hour): pills."]
        clock.move(HOUR)
        await come(aldis)
        assert texts(aldis)[-1] == "⏰ pills"
        assert await aldis.store.read(lambda repos: repos.reminders.next_due_at()) == NOON + timedelta(
            days=1, hours=2.5
        )
        assert (await react("❌"), await aldis.count(open_ones)) == (["Cancelled: pills."], 0)
        await ask(aldis, "/remind in 1h tea")
        clock.move(HOUR)
        await come(aldis)
        clock.move(24 * HOUR)
        await aldis.maintenance.expire()
        assert await aldis.count("SELECT count(*) FROM reminders WHERE words IS NOT NULL OR plan IS NOT NULL") == 0
        assert await react("⏰") == []


def test_a_plan_of_an_earlier_version_is_read() -> None:
    """It did not keep when the plan was made; a reminder that cannot be read would be given up when it is due."""
    plan = {"start_at": "2026-11-22T12:00:00Z", "local": "2026-11-22T12:00:00", "zone": "UTC", "repeat": None}
    kept = {"person": ALICE.uuid, "chat": f"direct:{ALICE.uuid}", "sent_at": 1, "plan": plan}
    assert TypeAdapter(Place).validate_json(json.dumps(kept)).planned_at < NOON
