"""Commands: one table, given directly and in groups; each is answered once, also while a turn runs."""

import asyncio
import io
import json
from base64 import b64encode
from dataclasses import replace
from decimal import Decimal
from html.parser import HTMLParser
from pathlib import Path

import pytest
from PIL import Image

from bot.clock import SetClock
from bot.commands import phrases
from bot.errors import Overloaded
from bot.events import ChatId, PersonId
from bot.i18n import phrases as common_phrases
from bot.i18n.catalogues import say
from bot.i18n.language import speaking
from bot.messages import AssistantMessage, Picture, Text, UserMessage
from bot.providers.base import Completion, Usage
from bot.settings import BudgetSettings
from bot.turn import phrases as turn_phrases
from bot.turn.export import Export, KeptTurn, gather_export
from store import ConversationId, Store
from tests.bot.loops.app_harness import Port, app_harness
from tests.bot.loops.test_media import file
from tests.bot.media.samples import picture
from tests.bot.turn.test_edits import on_disk, open_words, words
from tests.bot.turn.turn_helpers import Echo, calls, says
from tests.servers.envelopes import ALDIS, ALICE, BOB, CAROL, GROUP, message


async def told(port: Port, text: str, **more: object) -> str:
    """What is answered to a command."""
    before = len(port.transport.sent)
    await port.deliver(message(text, **more))  # pyright: ignore[reportArgumentType]
    await port.answered(before + 1)
    return port.transport.sent[before].content.text


def plain(phrase: str) -> str:
    """A phrase as it stands in Signal: the commands in it are styled."""
    return phrase.replace("`", "")


async def test_help_lists_what_the_person_may_do(store: Store, clock: SetClock) -> None:
    """Short, by what it is about; admins see their own commands as well; case and white space do not matter."""
    async with app_harness(store, clock, admins=frozenset({BOB.uuid})) as port:
        everybody = await told(port, "/help")
        assert len(everybody) < 500
        assert "This chat: /model /persona /tools /language" in everybody
        assert "/allow" not in everybody
        admins = await told(port, "  /HELP ", author=BOB)
        assert "Admins: " in admins
        assert "/allow" in admins
        assert "/budget" in admins
        in_group = await told(port, "Aldis, /help", author=BOB, group=GROUP)
        assert "/budget" not in in_group  # what is given only directly, and only in groups
        assert "/always /who" in in_group
        assert "/always" not in admins
        assert port.thinker.asked == []


@pytest.mark.parametrize("word", ["remind", "/remind", "erinnere", "remnd", "RAPPEL"])
async def test_help_explains_one_command(word: str, store: Store, clock: SetClock) -> None:
    """With its form and examples, by whatever name it is asked for."""
    async with app_harness(store, clock) as port:
        shown = await told(port, f"/help {word}")
        assert shown.startswith("/remind [in 2h30m")
        assert "/remind every weekday at 8 TEXT" in shown


async def test_help_explains_nothing_that_there_is_not(store: Store, clock: SetClock) -> None:
    """Nor what is for others; it harms nobody to explain what would only be asked about."""
    async with app_harness(store, clock, admins=frozenset({BOB.uuid})) as port:
        assert await told(port, "/help frobnicate") == plain(phrases.unknown_command("frobnicate"))
        assert await told(port, "/help allow") == plain(phrases.unknown_command("allow"))
        assert (await told(port, "/help forgt")).startswith("/forget [everything]: ")


@pytest.mark.parametrize(
    ("written", "answer"),
    [
        ("/hlep", "explains one of them"),
        ("/hilfe", "erklärt einen davon"),
        ("/aide", "en explique une"),
        ("/ayuda", "explica uno de ellos"),
        ("/usge", "today"),
        ("/erinnere", "no reminders here"),
        ("/erinnere mich in 10 Minuten an den Tee", ": den Tee"),
        ("/rappelle-moi demain à 9h d'appeler Paul", "09:00 UTC : appeler Paul"),
        ("/recuérdame mañana a las 9 comprar leche", "09:00 UTC: comprar leche"),
        ("/gedächtnis", "noch nichts über dich gemerkt"),
        ("/lang Deutsch", "Deutsch"),
        ("/sprache francais", "français"),
        ("/idioma spansh", "español"),
    ],
)
async def test_a_near_miss_is_understood(written: str, answer: str, store: Store, clock: SetClock) -> None:
    """A slip of the fingers, the beginning of a name, a word of another language."""
    async with app_harness(store, clock) as port:
        assert answer in await told(port, written)
        assert port.thinker.asked == []


@pytest.mark.parametrize("written", ["/forgt", "/forge everything", "/vergiss", "/oublie", "/undoo", "/delete"])
async def test_what_cannot_be_taken_back_is_never_done_by_a_near_miss(
    written: str, store: Store, clock: SetClock
) -> None:
    """The person is asked, and nothing is gone."""
    async with app_harness(store, clock) as port:
        await port.process(message("Remember the tulip."))
        assert (await told(port, written)).endswith(("Did you mean /forget?", "Did you mean /undo?"))
        assert await port.count("SELECT count(*) FROM history") == 2


async def test_where_several_may_be_meant_nobody_guesses(store: Store, clock: SetClock) -> None:
    """Each is named; an admin's command is named to admins alone."""
    async with app_harness(store, clock, admins=frozenset({BOB.uuid})) as port:
        assert (await told(port, "/prsona x", author=BOB)).endswith("Did you mean /persona or /people?")
        assert await told(port, "/persona", author=BOB) == plain(phrases.NO_PERSONA.text)
        assert await told(port, "/pers") == plain(phrases.NO_PERSONA.text)
        assert (await told(port, "/trus", author=BOB)).endswith("Did you mean /trust?")
        assert await told(port, "/trus") == plain(phrases.unknown_command("trus"))


async def test_in_a_group_a_near_miss_may_be_meant_for_another_bot(store: Store, clock: SetClock) -> None:
    """Only where Aldis is addressed it is understood; the word of another language is as good as the English one."""
    async with app_harness(store, clock) as port:
        await port.process(message("/hlep", group=GROUP))
        assert port.transport.sent == []
        assert "explains one of them" in await told(port, "Aldis, /hlep", group=GROUP)
        assert "erklärt" in await told(port, "/hilfe", group=GROUP)


async def test_in_a_group_a_command_needs_no_name_but_may_have_one(store: Store, clock: SetClock) -> None:
    """`/usage`, `Aldis, /usage` and a mention are the same; a command that Aldis does not know is somebody else's."""
    async with app_harness(store, clock) as port:
        assert "today" in await told(port, "/usage", group=GROUP)
        assert "today" in await told(port, "Aldis, /usage", group=GROUP)
        assert "today" in await told(port, "/usage", group=GROUP, mention=True)
        assert port.transport.sent[-1].quote is not None
        await port.process(message("/roll 2d6", group=GROUP))
        assert len(port.transport.sent) == 3
        assert "/roll" in await told(port, "Aldis, /roll 2d6", group=GROUP)


async def test_an_unknown_command_is_told_and_a_path_is_a_question(store: Store, clock: SetClock) -> None:
    """Not everything that begins with a slash is a command."""
    async with app_harness(store, clock) as port:
        assert await told(port, "/frobnicate now") == plain(phrases.unknown_command("frobnicate"))
        assert await told(port, "/etc/hosts is what?") == "re: /etc/hosts is what?"


async def test_stop_stops_the_answer_under_way(store: Store, clock: SetClock) -> None:
    """The turn says so itself, once; without one the person hears that nothing is under way."""
    async with app_harness(store, clock) as port:
        port.thinker.gates["slow"] = asyncio.Event()
        await port.deliver(message("slow"))
        await port.asked(1)
        assert await told(port, "/stop") == common_phrases.STOPPED.text
        await port.quiet()
        assert await told(port, "/stop") == phrases.NOTHING_TO_STOP.text
        assert len(port.transport.sent) == 2


async def test_forget_destroys_the_conversation(store: Store, clock: SetClock, path: Path) -> None:
    """History, tool results, what waits, the turn that runs; the answer tells it, and nothing is readable any more."""
    async with app_harness(store, clock, tools=(Echo(),)) as port:
        port.thinker.script += [calls(("echo", {"word": "tulip"})), says("The tulip is fine.")]
        await port.process(message("How is the tulip?"))
        await port.process(message("bob's words", author=BOB))
        rows = await port.store.read(lambda repos: repos.history.rows("SELECT message FROM history"))
        port.thinker.gates["slow"] = asyncio.Event()
        await port.deliver(message("slow"))
        await port.asked(4)
        await port.deliver(message("waits behind it"))
        assert await told(port, "/forget") == phrases.turns_forgotten(1)
        await port.quiet()
        assert await port.count("SELECT count(*) FROM history") == 2
        files = on_disk(path)
        assert sum(row[0] in files for row in rows) == 2
        await port.process(message("What did I ask?"))
        assert "tulip" not in words(port.thinker.requests[-1])
        assert "waits behind" not in words(port.thinker.requests[-1])
        assert port.transport.sent[-1].content.text == "re: What did I ask?"


async def test_what_was_said_after_forget_is_not_forgotten(store: Store, clock: SetClock) -> None:
    """A message that came after the command, and before it was carried out, is answered."""
    async with app_harness(store, clock) as port:
        await port.process(message("one"))
        await asyncio.gather(
            *(port.deliver(frame) for frame in (message("/forget"), message("two"), message("three", author=BOB)))
        )
        await port.quiet()
        texts = [reply.content.text for reply in port.transport.sent]
        assert sorted(texts) == sorted(["re: one", phrases.turns_forgotten(1), "re: two", "re: three"])


async def test_forget_everything_reaches_the_groups(store: Store, clock: SetClock) -> None:
    """The person's own chat goes, and in groups what they asked; what others asked there stays."""
    async with app_harness(store, clock) as port:
        await port.deliver(message("direct words"))
        await port.process(message("Aldis, alice's words", group=GROUP))
        await port.process(message("Aldis, bob's words", group=GROUP, author=BOB))
        assert await told(port, "/forget everything") == phrases.forgot_everything(2)
        await port.process(message("Aldis, and now?", group=GROUP, author=BOB))
        history = words(port.thinker.requests[-1])
        assert "bob's words" in history
        assert "alice's words" not in history
        assert await told(port, "/forget all") == plain(say(phrases.WRONG_FORM, form="/forget [everything]"))


async def test_export_shows_what_is_kept_and_in_a_group_only_what_was_said_there(store: Store, clock: SetClock) -> None:
    """Directly everything of the person; in a group nothing that the group has not seen."""
    async with app_harness(store, clock) as port:
        await port.deliver(message("direct words"))
        await port.deliver(message("Aldis, group words", group=GROUP))
        await port.process(message("other's words", author=BOB))
        direct = await told(port, "/export")
        assert "direct words" in direct
        assert "group words" in direct
        assert "other's words" not in direct
        group = await told(port, "/export", group=GROUP)
        assert "group words" in group
        assert "direct words" not in group
        assert turn_phrases.kept_about_you(0) in await told(port, "/export", author=CAROL)


async def test_usage_tells_each_what_is_theirs(store: Store, clock: SetClock) -> None:
    """The person's own sums; an admin also sees everybody's."""
    async with app_harness(store, clock, admins=frozenset({BOB.uuid})) as port:
        await port.process(message("one"))
        own = await told(port, "/usage")
        assert "You, today: 0.0100 USD" in own
        assert "Everybody" not in own
        all_of_it = await told(port, "/usage", author=BOB)
        assert "You, today: 0.0000 USD" in all_of_it
        assert "Everybody, this month: 0.0100 USD" in all_of_it


async def test_usage_tells_what_came_from_the_cache(store: Store, clock: SetClock) -> None:
    """The share in this conversation; nothing where there was none."""
    async with app_harness(store, clock) as port:
        answer = says("Hello.")
        await talk_to(port, answer)
        assert "cache" not in await told(port, "/usage")
        await talk_to(port, replace(answer, usage=Usage(input_tokens=90, cached_input_tokens=60)))
        assert "60 % of what the model read here in the last 30 days came from its cache." in await told(port, "/usage")
        assert "cache" not in await told(port, "/usage", author=BOB)


async def talk_to(port: Port, answer: Completion) -> None:
    """A question and what the model answers."""
    port.thinker.script = [answer]
    await port.process(message("Hello?"))


async def test_an_admin_lets_a_stranger_in_by_the_code(store: Store, clock: SetClock) -> None:
    """With the code that the stranger was given; anybody else's word counts for nothing."""
    async with app_harness(store, clock, admins=frozenset({BOB.uuid})) as port:
        stranger = PersonId("99999999-9999-4999-8999-999999999999")
        code = port.pairing.code(stranger, clock.now())
        assert code is not None
        assert await told(port, f"/allow {code}", author=ALICE) == plain(phrases.unknown_command("allow"))
        assert await told(port, "/allow 0000-0000", author=BOB) == phrases.UNKNOWN_CODE.text
        assert await told(port, "/allow", author=BOB) == plain(say(phrases.WRONG_FORM, form="/allow CODE"))
        assert await told(port, "/people", author=BOB) == phrases.NOBODY_LET_IN.text
        heard = await told(port, f"/allow {code.lower()}", author=BOB)
        label = heard.split()[1].strip(".,")
        assert await port.store.read(lambda repos: repos.people.is_allowed(stranger, account=ALDIS.uuid))
        assert label in await told(port, "/people", author=BOB)
        assert await told(port, f"/deny {label}", author=BOB) == say(phrases.SHUT_OUT, label=label)
        assert await told(port, f"/deny {label}", author=BOB) == plain(phrases.UNKNOWN_PERSON.text)


@pytest.mark.parametrize("text", ["/help", "/usage", "/export", "/forget", "/forget everything"])
async def test_a_command_is_answered_once_however_often_it_comes(store: Store, clock: SetClock, text: str) -> None:
    """A redelivery changes nothing, after it was carried out too; no words of it are left."""
    async with app_harness(store, clock) as port:
        given = message(text)
        await port.process(given)
        await port.process(given)
        assert len(port.transport.sent) == 1
        assert await open_words(port) == 0


async def test_export_shows_what_is_kept_beside_the_answers(store: Store, clock: SetClock) -> None:
    """How Aldis is to be, what it is to remind of, and a question that failed; to nobody else."""
    async with app_harness(store, clock) as port:
        await told(port, "/persona Be a pirate.")
        await told(port, "/remind tomorrow 9:00 water the tulips")
        port.thinker.script += [Overloaded("busy", provider="p")]
        await told(port, "Will it rain?")
        shown = await told(port, "/export")
        assert "Be a pirate." in shown
        assert "water the tulips" in shown
        assert "You asked, and I couldn't answer" in shown
        assert "Will it rain?" in shown
        assert "tulips" not in await told(port, "/export", author=BOB)
        direct = ChatId(ALICE.chat)
        found = await gather_export(store, PersonId(ALICE.uuid), direct, now=clock.now())
        kept = json.loads(found.as_json())
        assert kept["settings"]["persona"]["text"] == "Be a pirate."
        assert kept["reminders"][0]["text"] == "water the tulips"


async def test_an_export_has_nothing_that_has_disappeared(store: Store, clock: SetClock) -> None:
    """Also where nobody has swept since: the operator exports out of a store of which no Aldis runs."""
    direct, person = ChatId(ALICE.chat), PersonId(ALICE.uuid)
    async with app_harness(store, clock) as port:
        await port.deliver(message("The first of my secrets.", expires_in_seconds=30))
        await port.deliver(message("/remind tomorrow 9:00 water the tulips", expires_in_seconds=30))
        await port.answered(2)
        await told(port, "The roses are red.")
        port.thinker.script += [Overloaded("busy", provider="p")]
        await port.deliver(message("The last of my secrets?", expires_in_seconds=30))
        await port.answered(4)
        await port.quiet()
    before = await gather_export(store, person, direct, now=clock.now())
    assert all(word in before.as_json() for word in ("secrets", "tulips", "roses", "The last"))
    clock.move(31)
    for most in (None, 0):
        after = await gather_export(store, person, direct, now=clock.now(), max_bytes=most)
        assert not any(word in after.as_json() for word in ("secrets", "tulips"))
        assert after.count == 1


# Files


async def spend(port: Port, days: int) -> None:
    """Ask one question on each of so many days."""
    for number in range(days):
        if number:
            port.clock.move(86_400)
        await told(port, f"question {number}")


async def test_usage_shows_the_days_of_the_month(store: Store, clock: SetClock) -> None:
    """As a picture beside the sums, one row of bars for each whose sums are told; none for a single day."""
    async with app_harness(store, clock, admins=frozenset({BOB.uuid}), budgets=BudgetSettings()) as port:
        await spend(port, 1)
        await told(port, "/usage")
        assert port.transport.sent[-1].files == ()
        port.clock.move(86_400)
        await spend(port, 2)
        own = await told(port, "/usage")
        assert "You, this month: 0.0300 USD" in own
        [file] = port.transport.sent[-1].files
        assert (file.name, file.content_type) == ("spent-2026-11.png", "image/png")
        assert Image.open(io.BytesIO(file.data)).size == (900, 316)
        await told(port, "/usage", author=BOB)
        [everybody] = port.transport.sent[-1].files
        assert everybody.data != file.data
        await told(port, "/usage", author=CAROL)
        assert port.transport.sent[-1].files == ()
        port.clock.move(9 * 86_400)
        await told(port, "/usage")
        assert port.transport.sent[-1].files == ()


async def test_usage_in_a_group_shows_the_group_as_well(store: Store, clock: SetClock) -> None:
    """Each spender has a panel; what somebody else has spent elsewhere is in none."""
    async with app_harness(store, clock, budgets=BudgetSettings()) as port:
        await spend(port, 2)
        await told(port, "/usage", group=GROUP)
        [chart] = port.transport.sent[-1].files
        assert Image.open(io.BytesIO(chart.data)).size == (900, 316)
        await told(port, "Aldis, hello", group=GROUP)
        await told(port, "/usage", group=GROUP)
        [chart] = port.transport.sent[-1].files
        assert Image.open(io.BytesIO(chart.data)).size == (900, 576)


async def test_a_long_export_is_a_file(store: Store, clock: SetClock, path: Path) -> None:
    """All of it, calls of tools and their results included, once it is more than one message; and then it is gone."""
    async with app_harness(store, clock, tools=(Echo(),)) as port:
        port.thinker.script += [calls(("echo", {"word": "tulip"})), says("The tulip is fine.")]
        await told(port, "How is the tulip?")
        await told(port, "/export")
        assert port.transport.sent[-1].files == ()
        for number in range(5):
            await told(port, f"question {number}: " + "word " * 200)
        shown = await told(port, "/export")
        assert shown == phrases.kept_in_file(6, 6)
        page, data = port.transport.sent[-1].files
        assert (page.name, page.content_type) == ("export.html", "text/html")
        assert "question 4: word word" in page.data.decode()
        assert (data.name, data.content_type) == ("export.json", "application/json")
        turns = json.loads(data.data)["turns"]
        assert len(turns) == 6
        assert [message["role"] for message in turns[0]["messages"]] == ["user", "assistant", "tool", "assistant"]
        await port.quiet()
        assert await port.count("SELECT count(*) FROM outbox WHERE reply IS NOT NULL") == 0
        assert b"tulip" not in on_disk(path)


async def test_a_file_of_a_group_holds_what_the_group_has_read(store: Store, clock: SetClock) -> None:
    """Neither what the person asked elsewhere nor what a tool gave to the model."""
    async with app_harness(store, clock, tools=(Echo(),)) as port:
        await told(port, "direct words")
        port.thinker.script += [calls(("echo", {"word": "secret", "times": 2})), says("Here you are. " * 200)]
        await told(port, "Aldis, group words", group=GROUP)
        await port.quiet()
        await told(port, "/export", group=GROUP)
        page, data = port.transport.sent[-1].files
        assert b"group words" in page.data
        assert b"secret" not in page.data
        assert b"direct words" not in page.data
        [turn] = json.loads(data.data)["turns"]
        assert "group words" in turn["asked"]
        assert "Here you are." in turn["answered"]
        assert b"secret" not in data.data
        assert b"direct words" not in data.data


async def test_usage_tells_what_is_left(store: Store, clock: SetClock) -> None:
    """Of each limit that there is; never less than nothing."""
    limits = BudgetSettings(person_day_usd=Decimal("0.015"), group_month_usd=Decimal(5))
    async with app_harness(store, clock, budgets=limits) as port:
        await told(port, "Hello?")
        shown = await told(port, "/usage")
        assert "You, today: 0.0100 of 0.015 USD, 0.0050 left" in shown
        assert "You, this month: 0.0100 USD" in shown
        await told(port, "Hello?")
        assert "0.0200 of 0.015 USD, 0.0000 left" in await told(port, "/usage")
        assert "This group, this month: 0.0000 of 5 USD, 5.0000 left" in await told(port, "/usage", group=GROUP)


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
    with speaking("de"):
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


def test_a_page_is_no_larger_than_a_message_may_be() -> None:
    """Pictures that do not fit are named, and of the turns the newest are shown."""
    pictures = [
        Picture(data=bytes([number]) * 1_500_000, content_type="image/png", width=1, height=1) for number in range(4)
    ]
    turns = tuple(
        KeptTurn(
            conversation=ConversationId(1),
            expires_at=None,
            said=(UserMessage(text=f"{number} " + "ä" * 300_000, media=(one,)),),
        )
        for number, one in enumerate(pictures)
    )
    page = Tags(Export(turns=turns).as_page("Aldis", in_group=False).data)
    assert [name for name, _ in page.tags].count("img") == 2
    assert say(turn_phrases.PICTURE_LEFT_OUT) in page.words
    assert [f"{number} ä" in page.words for number in range(4)] == [False, True, True, True]


async def test_what_has_a_picture_is_exported_as_a_page(store: Store, clock: SetClock) -> None:
    """However short it is."""
    assert Export(turns=(KeptTurn(conversation=ConversationId(1), expires_at=None, said=()),)).has_pictures is False
    async with app_harness(store, clock) as port:
        await port.process(message("What is this?", attachments=[file(port, picture(), filename="car.jpg")]))
        await told(port, "/export")
        page, _ = port.transport.sent[-1].files
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
    assert "newest 3" in phrases.kept_in_file(5, shown)
