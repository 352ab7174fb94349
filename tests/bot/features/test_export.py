"""What is kept about a person, shown to that person: in words, as a page, as a file."""

import json
from base64 import b64encode
from html.parser import HTMLParser
from pathlib import Path

from bot.clock import SetClock
from bot.errors import Overloaded
from bot.events import ChatId, PersonId
from bot.features import export
from bot.features.export import Export, KeptTurn, gather_export
from bot.i18n.language import use_language
from bot.messages import AssistantMessage, Picture, Text, UserMessage
from store import ConversationId, Store
from tests.bot.chat.test_edits import on_disk
from tests.bot.chat.turn_helpers import Echo, calls, says
from tests.bot.commands.test_commands import told
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
        direct = await told(aldis, "/export")
        assert "direct words" in direct
        assert "group words" in direct
        assert "other's words" not in direct
        group = await told(aldis, "/export", group=GROUP)
        assert "group words" in group
        assert "direct words" not in group
        assert export.kept_about_you(0) in await told(aldis, "/export", author=CAROL)


async def test_export_shows_what_is_kept_beside_the_answers(store: Store, clock: SetClock) -> None:
    """How Aldis is to be, what it is to remind of, and a question that failed; to nobody else."""
    async with app_harness(store, clock) as aldis:
        await told(aldis, "/persona Be a pirate.")
        await told(aldis, "/timezone Tokyo")
        await told(aldis, "/remind tomorrow 9:00 water the tulips")
        aldis.model.script += [Overloaded("busy", provider="p")]
        await told(aldis, "Will it rain?")
        shown = await told(aldis, "/export")
        assert "Be a pirate." in shown
        assert "water the tulips" in shown
        assert "You asked, and I couldn't answer" in shown
        assert "Will it rain?" in shown
        assert "tulips" not in await told(aldis, "/export", author=BOB)
        direct = ChatId(ALICE.chat)
        found = await gather_export(store, PersonId(ALICE.uuid), direct, now=clock.now())
        kept = json.loads(found.as_json())
        assert kept["settings"]["persona"]["text"] == "Be a pirate."
        assert kept["reminders"] == [{"at": "2026-11-22T09:00:00+09:00", "text": "water the tulips"}]


async def test_a_long_export_is_a_file(store: Store, clock: SetClock, path: Path) -> None:
    """All of it, calls of tools and their results included, once it is more than one message; and then it is gone."""
    async with app_harness(store, clock, tools=(Echo(),)) as aldis:
        aldis.model.script += [calls(("echo", {"word": "tulip"})), says("The tulip is fine.")]
        await told(aldis, "How is the tulip?")
        await told(aldis, "/export")
        assert aldis.transport.sent[-1].files == ()
        for number in range(5):
            await told(aldis, f"question {number}: " + "word " * 200)
        shown = await told(aldis, "/export")
        assert shown == export.kept_in_file(6, 6)
        page, data = aldis.transport.sent[-1].files
        assert (page.name, page.content_type) == ("export.html", "text/html")
        assert "question 4: word word" in page.data.decode()
        assert (data.name, data.content_type) == ("export.json", "application/json")
        turns = json.loads(data.data)["turns"]
        assert len(turns) == 6
        assert [message["role"] for message in turns[0]["messages"]] == ["user", "assistant", "tool", "assistant"]
        await aldis.quiet()
        assert await aldis.count("SELECT count(*) FROM outbox WHERE reply IS NOT NULL") == 0
        assert b"tulip" not in on_disk(path)


async def test_a_file_of_a_group_holds_what_the_group_has_read(store: Store, clock: SetClock) -> None:
    """Neither what the person asked elsewhere nor what a tool gave to the model."""
    async with app_harness(store, clock, tools=(Echo(),)) as aldis:
        await told(aldis, "direct words")
        aldis.model.script += [calls(("echo", {"word": "secret", "times": 2})), says("Here you are. " * 200)]
        await told(aldis, "Aldis, group words", group=GROUP)
        await aldis.quiet()
        await told(aldis, "/export", group=GROUP)
        page, data = aldis.transport.sent[-1].files
        assert b"group words" in page.data
        assert b"secret" not in page.data
        assert b"direct words" not in page.data
        [turn] = json.loads(data.data)["turns"]
        assert "group words" in turn["asked"]
        assert "Here you are." in turn["answered"]
        assert b"secret" not in data.data
        assert b"direct words" not in data.data


class Tags(HTMLParser):
    """What a browser would make of a page: the tags with their attributes, and the words."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self.feed(page.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words += data


def test_a_page_shows_words_and_pictures_and_runs_nothing() -> None:
    """Whatever is in them; the newest turn first, in the language that is spoken."""
    one = Picture(data=b"pixels", content_type="image/png", width=3, height=2)
    asked = '[Sat 2026-11-21 12:00 UTC] <script>alert(1)</script> "quoted" & </p>'
    turns = tuple(
        KeptTurn(
            conversation=ConversationId(1),
            expires_at=None,
            said=(UserMessage(text=f"{asked} {number}", media=(one,)), AssistantMessage(parts=(Text(text="<b>"),))),
        )
        for number in range(2)
    )
    with use_language("de"):
        page = Tags(Export(turns=turns, facts=("<i>vegan</i>",)).as_page("Aldis", in_group=False).data)
        bare = Tags(Export(turns=turns).as_page("Aldis", in_group=True).data)
    names = [name for name, _ in page.tags]
    assert not {"script", "b", "i", "a", "iframe", "link"} & set(names)
    assert [attributes["src"] for name, attributes in page.tags if name == "img"] == [
        f"data:image/png;base64,{b64encode(b'pixels').decode()}"
    ] * 2
    assert "img" not in {name for name, _ in bare.tags}
    assert page.words.index("</p> 1") < page.words.index("</p> 0")
    assert "Was Aldis über dich aufbewahrt" in page.words
    assert "<script>alert(1)</script>" in page.words
    assert page.tags[0] == ("html", {"lang": "de"})
    [policy] = [attributes["content"] for name, attributes in page.tags if "http-equiv" in attributes]
    assert policy is not None
    assert policy.startswith("default-src 'none'")


async def test_what_has_a_picture_is_exported_as_a_page(store: Store, clock: SetClock) -> None:
    """However short it is."""
    assert Export(turns=(KeptTurn(conversation=ConversationId(1), expires_at=None, said=()),)).has_pictures is False
    async with app_harness(store, clock) as aldis:
        await aldis.process(message("What is this?", attachments=[file(aldis, picture(), filename="car.jpg")]))
        await told(aldis, "/export")
        page, _ = aldis.transport.sent[-1].files
        assert [name for name, _ in Tags(page.data).tags].count("img") == 1


def test_a_file_holds_the_newest_that_fit() -> None:
    """Others are left out whole, oldest first, and pictures always: people have those that they have sent."""
    large = Picture(data=b"x" * 3_000_000, content_type="image/png", width=1, height=1)
    turns = tuple(
        KeptTurn(
            conversation=ConversationId(1),
            expires_at=None,
            said=(UserMessage(text=f"{number} " + "ä" * 100_000, media=(large,)),),
        )
        for number in range(5)
    )
    made, shown = Export(turns=turns).as_file(in_group=False)
    assert len(made.data) < 2_000_000
    kept = json.loads(made.data)["turns"]
    assert [turn["messages"][0]["text"][0] for turn in kept] == ["2", "3", "4"]
    assert (shown, kept[0]["messages"][0]["media"]) == (3, [])
    assert "newest 3" in export.kept_in_file(5, shown)


def test_the_times_above_questions_are_in_the_language_of_the_person() -> None:
    """As everywhere in the chat; what the person wrote stays."""
    asked = UserMessage(text="[Sat 2026-11-21 22:40 Europe/Berlin · Alice] Hi\n[x] y")
    kept = KeptTurn(conversation=ConversationId(1), expires_at=None, said=(asked,))
    with use_language("de"):
        assert "[Sa., 21. Nov. 2026, 22:40 · Alice] Hi\n[x] y" in Export(turns=(kept,)).words()
