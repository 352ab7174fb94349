"""What is kept about a person, shown to that person: in words, or as files."""

import json
from pathlib import Path

from bot.clock import SetClock
from bot.errors import Overloaded
from bot.events import ChatId, PersonId
from bot.features.export import gather_export
from bot.features.predictions import prediction_tools
from store import Store
from tests.bot.chat.test_edits import on_disk
from tests.bot.chat.turn_helpers import Echo, calls, says
from tests.bot.commands.test_commands import ask
from tests.bot.loops.app_harness import app_harness
from tests.bot.loops.test_media import file
from tests.bot.media.samples import picture
from tests.servers.envelopes import ALICE, BOB, CAROL, GROUP, message


async def test_export_shows_what_is_kept_and_in_a_group_only_what_was_said_there(store: Store, clock: SetClock) -> None:
    """Directly everything of the person; in a group nothing that the group has not seen."""
    async with app_harness(store, clock) as aldis:
        await aldis.deliver(message("direct words"))
        await aldis.deliver(message("Aldis, group words", group=GROUP))
        await aldis.process(message("other's words", author=BOB))
        await ask(aldis, "/export")
        direct, _ = (shown.data for shown in aldis.transport.sent[-1].files)
        assert (b"direct words" in direct, b"group words" in direct, b"other's words" in direct) == (True, True, False)
        heard = await ask(aldis, "/export", group=GROUP)
        assert heard == "I've kept 1 question and its answer, encrypted. The newest come first in the file."
        [group] = (shown.data for shown in aldis.transport.sent[-1].files)
        assert (b"group words" in group, b"direct words" in group) == (True, False)
        assert await ask(aldis, "/export", author=CAROL) == "I've kept nothing of what you asked."
        assert aldis.transport.sent[-1].files == ()


async def test_export_shows_what_is_kept_beside_the_answers(store: Store, clock: SetClock) -> None:
    """How Aldis is to be, what it is to remind of, a prediction, and a question that failed; to nobody else."""
    prediction = {"statement": "it rains", "probability": 0.8, "due": "2026-12-31"}
    async with app_harness(store, clock, tools=prediction_tools(store, clock)) as aldis:
        aldis.model.script = [calls(("predict", prediction)), says("Noted.")]
        await ask(aldis, "I predict that it rains, with 0.8 by 2026-12-31")
        await ask(aldis, "/persona Be a pirate.")
        await ask(aldis, "/timezone Tokyo")
        await ask(aldis, "/remind tomorrow 9:00 water the tulips")
        aldis.model.script += [Overloaded("busy", provider="p")]
        await ask(aldis, "Will it rain?")
        await ask(aldis, "/export")
        kept = json.loads(aldis.transport.sent[-1].files[1].data)
        assert kept["settings"]["persona"]["text"] == "Be a pirate."
        assert kept["reminders"] == [{"at": "2026-11-22T09:00:00+09:00", "text": "water the tulips"}]
        [predicted] = kept["predictions"]
        assert (predicted["statement"], predicted["verdict"]) == ("it rains", None)
        assert kept["unanswered"].endswith("Will it rain?")
        await ask(aldis, "/export", author=BOB)
        assert aldis.transport.sent[-1].files == ()


async def test_an_export_is_a_text_and_a_file_for_programs(store: Store, clock: SetClock, path: Path) -> None:
    """All of it, calls of tools and their results included; and then it is gone."""
    async with app_harness(store, clock, tools=(Echo(),)) as aldis:
        aldis.model.script += [calls(("echo", {"word": "tulip"})), says("The tulip is fine.")]
        await ask(aldis, "How is the tulip?")
        for number in (3, 4):
            await ask(aldis, f"question {number}: word word")
        shown = await ask(aldis, "/export")
        assert shown.startswith("I've kept 3 questions and their answers, encrypted. The text is for reading")
        text, data = aldis.transport.sent[-1].files
        assert (text.name, text.content_type) == ("export.txt", "text/plain; charset=utf-8")
        assert text.data.index(b"question 4: word word") < text.data.index(b"question 3: word word")
        assert (data.name, data.content_type) == ("export.json", "application/json")
        turns = json.loads(data.data)["turns"]
        assert len(turns) == 3
        assert [message["role"] for message in turns[0]["messages"]] == ["user", "assistant", "tool", "assistant"]
        await aldis.quiet()
        assert await aldis.count("SELECT count(*) FROM outbox WHERE reply IS NOT NULL") == 0
        assert b"tulip" not in on_disk(path)


async def test_a_file_of_a_group_holds_what_the_group_has_read(store: Store, clock: SetClock) -> None:
    """Neither what the person asked elsewhere nor what a tool gave to the model."""
    async with app_harness(store, clock, tools=(Echo(),)) as aldis:
        await ask(aldis, "direct words")
        aldis.model.script += [calls(("echo", {"word": "secret", "times": 2})), says("Here you are. " * 200)]
        await ask(aldis, "Aldis, group words", group=GROUP)
        await aldis.quiet()
        await ask(aldis, "/export", group=GROUP)
        [text] = aldis.transport.sent[-1].files
        assert b"group words" in text.data
        assert b"Here you are." in text.data
        assert b"secret" not in text.data
        assert b"direct words" not in text.data


async def test_files_hold_the_newest_that_fit(store: Store, clock: SetClock) -> None:
    """Older ones are counted, and pictures left out: people have those that they have sent."""
    async with app_harness(store, clock) as aldis:
        await aldis.process(message("What is this?", attachments=[file(aldis, picture(), filename="car.jpg")]))
        for number in range(22):
            aldis.model.script += [says("ä" * (1_100_000 if number == 21 else 1))]
            await aldis.process(message(f"question {number}?"))
        found = await gather_export(
            store, PersonId(ALICE.uuid), ChatId(ALICE.chat), now=clock.now(), max_bytes=2_000_000
        )
        assert (len(found.turns), found.has_older) == (20, True)
        whole = await gather_export(store, PersonId(ALICE.uuid), ChatId(ALICE.chat), now=clock.now())
        text, data = whole.as_files(in_group=False)
        assert json.loads(data.data)["turns"][0]["messages"][0]["media"] == []
        assert json.loads(whole.as_json())["turns"][0]["messages"][0]["media"] != []
        assert b"What is this?" in text.data
        assert (await ask(aldis, "/export")).endswith("The newest 20 are in the files; the person who runs me has all.")
