"""Recall: what was said, the files that came with it and the operator's folder are found again, and go with their
words.
"""

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from bot import app
from bot.clock import SetClock
from bot.errors import ConfigError
from bot.features import recall
from bot.features.feeds import IntelSearch, IntelSearchArguments
from bot.features.recall import Ranking, Recall
from bot.messages import Document, UserMessage
from bot.settings import BudgetSettings, load_settings
from bot.settings.groups import HistorySettings
from store import Article, Repositories, Store, open_store
from tests.bot.chat.test_edits import on_disk
from tests.bot.chat.turn_helpers import Echo, calls, contents, says
from tests.bot.commands.test_commands import ask
from tests.bot.doctor.test_doctor import examined
from tests.bot.features.test_summaries import talk
from tests.bot.loops.app_harness import Harness, app_harness
from tests.bot.loops.fake_transport import FakeTransport
from tests.bot.loops.test_media import file
from tests.bot.media.samples import pdf
from tests.conftest import NOON
from tests.servers.envelopes import BOB, GROUP, delete, edit, message
from tests.servers.openai_embeddings import KEY, OpenAIEmbeddings
from tests.tools.conftest import USER_AGENT
from tests.waiting import DEADLINE_SECONDS, eventually
from tools import (
    Disabled,
    Embedder,
    Http,
    RateLimited,
    RecallOptions,
    ToolContext,
    ToolError,
    Unavailable,
    Unreachable,
    distance,
    fuse,
)
from tools.recall import signs

ROOF = "Please remind me to call Hansen about the leaking roof, he wants 4,200"
MAY = datetime(2026, 5, 4, 10, 12, tzinfo=UTC)
FORGETFUL = HistorySettings(max_turns=0)
"""No window: what the model knows of earlier turns it has found again."""


@asynccontextmanager
async def recalling(
    store: Store,
    clock: SetClock,
    *,
    embedder: Embedder | None = None,
    folder: Path | None = None,
    tools: Sequence[Any] = (),
    **more: Any,
) -> AsyncGenerator[Harness]:
    settings = {"tools": {"recall": RecallOptions.model_construct(folder=folder), "timeout_seconds": 60.0}}
    own = (Recall(store, clock, embedder), *tools)
    async with app_harness(store, clock, tools=own, embedder=embedder, settings=settings, **more) as aldis:
        yield aldis


async def recalled(aldis: Harness, question: str = "Well?", *, group: str | None = None, **given: Any) -> Any:
    """What the tool answers to a question for which the model calls it so."""
    await aldis.indexer.attend_all()
    aldis.model.script = [calls(("recall", given)), says("There.")]
    await ask(aldis, f"Aldis, {question}" if group else question, group=group)
    await aldis.quiet()
    answer = json.loads(contents(aldis.model.requests[-1])[-1])
    return answer.get("untrusted_data", answer)


def words(answer: Any) -> str:
    return "\n".join(found["words"] for found in answer.get("found", ()))


@pytest.fixture
async def service() -> AsyncGenerator[OpenAIEmbeddings]:
    async with OpenAIEmbeddings() as server:
        yield server


@pytest.fixture
async def http() -> AsyncGenerator[Http]:
    async with Http(USER_AGENT) as http:
        yield http


def embedder_of(service: OpenAIEmbeddings, http: Http, **more: Any) -> Embedder:
    options = {"model": service.model, "base_url": service.base_url, "api_key": KEY, "price": "0.02", **more}
    return Embedder(RecallOptions.model_validate(options), http)


async def test_what_was_asked_in_may_is_found_in_another_language(
    store: Store, clock: SetClock, service: OpenAIEmbeddings, http: Http
) -> None:
    """With its date; what was said at other times is left out. What is embedded and asked is in the ledger."""
    async with recalling(store, clock, embedder=embedder_of(service, http)) as aldis:
        clock.move((MAY - clock.now()).total_seconds())
        await talk(aldis, "The kitten is called Minka", ROOF)
        clock.move(timedelta(days=60).total_seconds())
        await talk(aldis, "The roof of the harbour office is red")
        given = {"query": "Dach undicht", "since": "2026-05-01", "until": "2026-05-31"}
        answer = await recalled(aldis, "Was habe ich dich im Mai wegen des Dachs gefragt?", **given)
        first, second = answer["found"]
        assert first == {"said": "Mon 2026-05-04 10:12", "words": f"Person: {ROOF}\nAssistant: re: {ROOF}"}
        assert "Minka" in second["words"]
        rows = await store.read(
            lambda repos: repos.ledger.rows("SELECT name, outcome, input_tokens, cost_usd FROM ledger ORDER BY id")
        )
        paid = [row for row in rows if row[0] == service.model]
        assert [(row[1], Decimal(row[3]) == Decimal("0.02") * row[2] / 1_000_000) for row in paid] == [("ok", True)]
        [asked] = [Decimal(row[3]) for row in rows if row[0] == "recall"]
        assert asked == Decimal("0.02") * 4 / 1_000_000


async def test_words_alone_find_their_other_forms(store: Store, clock: SetClock) -> None:
    """Rare words weigh more than frequent ones, beginnings more than what stands within; accents may be missing, and
    Chinese has no spaces.
    """
    said = (
        *("Dächer sind teuer", "Das Satteldach ist alt", "la reunion est lundi"),
        *("Hansen mends the roof", "please please please wait", "please call", "我们的屋顶在漏水"),
    )
    async with recalling(store, clock) as aldis:
        await talk(aldis, *said)
        for query, first, others in (
            ("DACH", "Dächer", ["Satteldach"]),
            ("Réunion", "la reunion", []),
            ("please, the roof?", "Hansen", ["please please", "please call"]),
            ("HANSENS", "Hansen", []),
            ("屋顶漏水了吗", "我们的屋顶", []),
        ):
            found = [one["words"] for one in (await recalled(aldis, query=query))["found"]]
            assert first in found[0], query
            assert all(any(word in one for one in found) for word in others), query


async def test_nothing_found_says_from_when_things_are(store: Store, clock: SetClock) -> None:
    """And a period without words gives its newest; neither is a question to the model. After `/new` nothing from before
    is found.
    """
    async with recalling(store, clock) as aldis:
        await talk(aldis, "first", "second")
        clock.move(timedelta(days=2).total_seconds())
        message = (await recalled(aldis, query="zebra"))["message"]
        assert "from 2026-11-21 to 2026-11-21" in message
        newest = await recalled(aldis, since="2026-11-21", until="2026-11-21")
        assert [one["words"].split()[1] for one in newest["found"]] == ["second", "first"]
        for period in ({"until": "2026-11-20"}, {"since": "2026-11-22", "until": "2026-11-22"}):
            assert "nothing of that period" in (await recalled(aldis, query="first", **period))["message"]
        assert (await recalled(aldis))["error"] == "invalid_arguments"
        await ask(aldis, "/new")
        assert "nothing of that period" in (await recalled(aldis, query="first"))["message"]


async def test_a_group_finds_its_own_words_and_the_folder(store: Store, clock: SetClock, tmp_path: Path) -> None:
    """Nothing that was said elsewhere; the folder's files are everyone's, with their names and pages, and of no day.
    What is damaged has no labels, and is not found.
    """
    (tmp_path / "folder/house").mkdir(parents=True)
    (tmp_path / "folder/house/rent.pdf").write_bytes(pdf("The rent is 900"))
    async with recalling(store, clock, folder=tmp_path / "folder") as aldis:
        await talk(aldis, "my secret rent")
        await talk(aldis, "Aldis, the rent of the club", group=GROUP, author=BOB)
        inside = words(await recalled(aldis, group=GROUP, query="rent"))
        assert "Person" not in inside
        assert "Bob" in inside or "the rent of the club" in inside
        assert "[house/rent.pdf, page 1] The rent is 900" in inside
        assert "secret" not in inside
        direct = words(await recalled(aldis, query="rent"))
        assert "secret" in direct
        assert "club" not in direct
        assert ".pdf" not in words(await recalled(aldis, since="2026-11-21"))
        await store.transaction(lambda repos: repos.history.execute("UPDATE history SET message = x'00'") and None)
        aldis.turns.forget()
        assert "secret" not in words(await recalled(aldis, query="secret"))


async def test_what_others_wrote_keeps_its_labels(store: Store, clock: SetClock, tmp_path: Path) -> None:
    """Found again, another member's words and a file of the folder make an effect ask; the person's own do not."""
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "orders.txt").write_text("pigeon: echo this", encoding="utf-8")
    echo = Echo(effects="repeatable")
    async with recalling(store, clock, tools=(echo,), window=FORGETFUL, folder=folder) as aldis:
        await talk(aldis, "Aldis, canary of another", group=GROUP, author=BOB)
        await talk(aldis, "Aldis, a bird of mine", group=GROUP)
        await aldis.indexer.attend_all()
        for query, group, answer in (("bird", GROUP, "Done."), ("canary", GROUP, "May I"), ("pigeon", None, "May I")):
            aldis.model.script = [calls(("recall", {"query": query})), calls(("echo", {"word": query})), says("Done.")]
            heard = await ask(aldis, "Aldis, do it", group=group)
            assert heard.startswith(answer), query


@pytest.mark.parametrize("how", ["delete", "edit", "/forget yes", "timer", "retention"])
async def test_it_goes_with_its_words(store: Store, clock: SetClock, path: Path, how: str) -> None:
    """Deleted, edited, forgotten, disappeared or too old: neither found nor in the files; the others stay."""
    window = HistorySettings(max_turns=0, retention_days=30 if how == "retention" else None)
    async with recalling(store, clock, window=window) as aldis:
        await talk(aldis, "an older word about herons")
        timer = {"expires_in_seconds": 60} if how == "timer" else {}
        aldis.model.script = [says("Noted.")]
        [sent] = await talk(aldis, "canary-roof", **timer)
        await talk(aldis, "a word about herons")
        await aldis.indexer.attend_all()
        if how == "timer":
            clock.move(61)
            assert "canary" not in words(await recalled(aldis, query="canary roof"))
            await aldis.maintenance.expire()
        elif how == "retention":
            clock.move(timedelta(days=31).total_seconds())
            await aldis.maintenance.tidy()
        elif how == "delete":
            await aldis.process(delete(sent))
        elif how == "edit":
            await aldis.process(edit("sparrow-roof", sent))
        else:
            await ask(aldis, how)
        await aldis.indexer.attend_all()
        assert b"canary-roof" not in on_disk(path)
        assert "canary" not in words(await recalled(aldis, query="canary roof herons"))
        left = await aldis.count("SELECT count(*) FROM passages")
        assert (left > 1) == (how in {"delete", "edit", "timer"})
        assert ("sparrow" in words(await recalled(aldis, query="sparrow"))) == (how == "edit")


async def test_a_pdf_is_found_when_its_picture_has_left_the_window(store: Store, clock: SetClock) -> None:
    """By name and page, all of it, without having been kept on purpose; and it goes with its message."""
    text = "\n".join(f"Line {number} of the quote" for number in range(300))
    async with recalling(store, clock) as aldis:
        given = file(aldis, pdf(text, "The warranty is ten years"), filename="roof's quote.pdf")
        sent = await aldis.process(message("keep this", attachments=[given]))
        await aldis.indexer.attend_all()
        for number in range(4):
            aldis.turns.forget()  # as after a restart: what leaves the window leaves the store, too
            await aldis.process(message(f"this too {number}", attachments=[file(aldis, pdf(f"Page {number}"))]))
        asked = aldis.model.requests[-1].messages[0]
        assert isinstance(asked, UserMessage)
        assert not any(isinstance(medium, Document) for medium in asked.media)
        found = (await recalled(aldis, query="warranty"))["found"][0]
        assert found["words"] == "[roof's quote.pdf, page 2] The warranty is ten years"
        assert found["said"] == "Sat 2026-11-21 12:00"
        assert "Line 299" in words(await recalled(aldis, query="quote 299"))
        await aldis.process(delete(sent))
        assert "warranty is" not in words(await recalled(aldis, query="warranty"))


async def test_the_folder_is_read_as_it_is(
    store: Store, clock: SetClock, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """What is new, changed or gone is noticed, whatever its name; what cannot be read is named once; hidden files are
    left alone, however many; while the folder itself is away, what it held is found.
    """
    folder = tmp_path / "folder"
    folder.mkdir()
    rules = folder / "rules.txt"
    rules.write_text("Quiet after ten", encoding="utf-8")
    (folder / ".hidden").mkdir()
    for hidden in (".hidden.txt", ".hidden/quiet.txt"):
        (folder / hidden).write_text("quiet canary", encoding="utf-8")
    for number in range(2_000):
        (folder / f".hidden/{number}").touch()
    (folder / "nowhere.txt").symlink_to(folder / "gone.txt")
    (tmp_path / "secret.txt").write_text("quiet canary", encoding="utf-8")
    (folder / "outside.txt").symlink_to(tmp_path / "secret.txt")
    (folder / os.fsdecode(b"l\xe4rm.txt")).write_text("louder", encoding="utf-8")
    with (folder / "large.txt").open("wb") as large:
        large.truncate(20_000_001)
    (folder / "quiet.zip").write_bytes(b"PK\x03\x04 quiet")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 quiet")
    async with recalling(store, clock, folder=folder) as aldis:
        found = (await recalled(aldis, query="quiet"))["found"]
        assert found == [{"words": "[rules.txt] Quiet after ten"}]
        assert words(await recalled(aldis, query="louder")) == "[l?rm.txt] louder"
        assert ".hidden" not in caplog.text
        for name, why in (
            ("quiet.zip", "it is neither a PDF nor a text"),
            ("broken.pdf", ""),
            ("outside.txt", "it is a link out of the folder"),
            ("large.txt", "it has more than 20 MB"),
        ):
            assert f"{name} in TOOLS__RECALL__FOLDER cannot be read: {why}" in caplog.text
        caplog.clear()
        state = rules.stat()
        for text, seen in (("Quiet after six", "[rules.txt] Quiet after six"), (None, "")):
            if text is None:
                rules.unlink()
            else:
                rules.write_text(text, encoding="utf-8")
                os.utime(rules, ns=(state.st_atime_ns, state.st_mtime_ns))
            assert words(await recalled(aldis, query="quiet")) == seen
        assert caplog.text == ""
        rules.write_text("Quiet at last", encoding="utf-8")
        await aldis.indexer.attend_all()
        folder.rename(tmp_path / "elsewhere")
        assert words(await recalled(aldis, query="quiet")) == "[rules.txt] Quiet at last"
        assert "TOOLS__RECALL__FOLDER cannot be read: check that it is there" in caplog.text


async def test_too_much_text_in_the_folder_is_left_out(
    store: Store, clock: SetClock, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The file that does not fit any more, by name; the others are found, and it, too, once
    there is room. No more than 2,000 files are read.
    """
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.txt").write_text("small", encoding="utf-8")
    for name in "bcd":
        (folder / f"{name}.txt").write_text("word " * 400_000, encoding="utf-8")
    assert recall.MAX_FOLDER_BYTES < 6 * 2_000_000
    async with recalling(store, clock, folder=folder) as aldis:
        await aldis.indexer.attend_all()
        assert "d.txt in TOOLS__RECALL__FOLDER is left out" in caplog.text
        kept = await aldis.count("SELECT total(size_bytes) FROM folder_files")
        assert 4_000_000 < kept <= recall.MAX_FOLDER_BYTES
        (folder / "b.txt").unlink()
        await aldis.indexer.attend_all()
        assert await aldis.count("SELECT count(*) FROM folder_files WHERE size_bytes > 9") == 3
        for number in range(2_000):
            (folder / f"{number}.txt").touch()
        await aldis.indexer.attend_all()
        assert "only the first 2000 files of TOOLS__RECALL__FOLDER are read" in caplog.text


async def test_what_is_left_undone_is_done_after_a_restart(
    path: Path, clock: SetClock, service: OpenAIEmbeddings, http: Http
) -> None:
    """Once: an upgrade, or a kill before or after a step, leads to the same passages, and nothing is embedded twice."""
    embedder = embedder_of(service, http)
    async with open_store(path, realm="signal") as store, recalling(store, clock) as aldis:
        await talk(aldis, *(f"roof {number}" for number in range(20)))
        await aldis.indexer.attend_all()
        await talk(aldis, "the last roof")
    async with open_store(path, realm="signal") as store, recalling(store, clock, embedder=embedder) as aldis:
        for _ in range(2):
            await aldis.indexer.attend_all()
        assert await aldis.count("SELECT count(*) FROM passages WHERE vector IS NOT NULL") == 21
        assert len(service.texts) == 21
        assert b"roof" not in on_disk(path)


class SlowEmbedder(Embedder):
    """Meanwhile things happen."""

    meanwhile: Iterator[Callable[[], Awaitable[object]]]

    async def embed(self, texts: Sequence[str], *, timeout_seconds: float = 60) -> tuple[list[bytes], int]:
        await next(self.meanwhile)()
        return await super().embed(texts, timeout_seconds=timeout_seconds)


async def test_what_is_said_while_vectors_are_made_waits_for_no_others(
    store: Store, clock: SetClock, service: OpenAIEmbeddings, http: Http
) -> None:
    """Words find it when the next batch is asked for: after an upgrade all of them take a slow service hours."""
    options = {"model": service.model, "base_url": service.base_url, "api_key": KEY}
    embedder = SlowEmbedder(RecallOptions.model_validate(options), http)
    is_asked = asyncio.Event()
    async with recalling(store, clock, embedder=embedder) as aldis:

        async def never() -> None:
            is_asked.set()
            await asyncio.Event().wait()

        await talk(aldis, *(f"door {number}" for number in range(20)))
        embedder.meanwhile = iter((lambda: talk(aldis, ROOF), never))
        indexing = asyncio.create_task(aldis.indexer.attend_all())
        async with asyncio.timeout(DEADLINE_SECONDS):
            await is_asked.wait()
        assert await aldis.count("SELECT count(*) FROM turns WHERE is_indexed = 0") == 0
        indexing.cancel()


async def test_another_model_makes_all_vectors_anew(
    store: Store, clock: SetClock, service: OpenAIEmbeddings, http: Http
) -> None:
    """Those of the former one are not compared with; until then words find the passages."""
    async with recalling(store, clock, embedder=embedder_of(service, http)) as aldis:
        await talk(aldis, ROOF)
        await aldis.indexer.attend_all()
    service.model, service.dimensions = "another", 64
    other = embedder_of(service, http)
    async with recalling(store, clock, embedder=other) as aldis:
        for query, is_there in (("Dach", False), ("roof", True)):
            aldis.model.script = [calls(("recall", {"query": query})), says("There.")]
            await ask(aldis, "Well?")
            assert ("Hansen" in contents(aldis.model.requests[-1])[-1]) == is_there
        assert "Hansen" in words(await recalled(aldis, query="Dach"))


async def test_a_model_that_fails_costs_nothing_but_meaning(
    store: Store, clock: SetClock, service: OpenAIEmbeddings, http: Http, caplog: pytest.LogCaptureFixture
) -> None:
    """Words find it, the model reads why, the operator once; when the budget is used up nothing is embedded."""
    nothing = BudgetSettings(all_day_usd=Decimal(0))
    for budgets, answered in ((BudgetSettings(), False), (nothing, True)):
        async with recalling(store, clock, embedder=embedder_of(service, http), budgets=budgets) as aldis:
            if not answered:
                await talk(aldis, ROOF)
                service.faults = [lambda _: web.Response(status=503)] * 2
                answer = await recalled(aldis, query="roof")
                assert "Hansen" in words(answer)
                assert answer["note"] == "found by words alone, as the embedding model does not answer"
                assert "cannot be embedded: The embedding service fails (status 503)" in caplog.text
            else:
                await aldis.indexer.attend_all()
                assert "until the budget is renewed" in caplog.text
            assert service.texts == []
            paid = "SELECT total(cost_usd) FROM ledger WHERE provider = 'embeddings'"
            assert (
                await aldis.count(paid)
                == await aldis.count("SELECT count(*) FROM ledger WHERE outcome = 'reserved'")
                == 0
            )


async def test_news_are_found_by_meaning(store: Store, clock: SetClock, service: OpenAIEmbeddings, http: Http) -> None:
    """In another language than the article's, beside what words find; an article with new words gets a new vector."""
    embedder = embedder_of(service, http)

    def keep(repos: Repositories, title: str) -> None:
        feed = next(iter(repos.feeds.all()), None) or repos.feeds.add("https://news.example/feed", now=NOON)
        assert feed is not None
        parts = {"summary": "", "published_at": NOON, "is_dated": True}
        for key, words in (("a", title), ("b", "Port strike ends")):
            repos.feeds.keep(feed.id, [Article(key=key, url=f"https://news.example/{key}", title=words, **parts)])

    async def titles(query: str, *, is_up: bool = True) -> list[str]:
        given = IntelSearchArguments(query=query)
        result = await IntelSearch(store, embedder).run(given, ToolContext(now=NOON, timezone="UTC"))
        assert bool(result.cost_usd) == is_up
        return [row["title"] for row in result.data["results"]]

    async with recalling(store, clock, embedder=embedder) as aldis:
        await store.transaction(lambda repos: keep(repos, "Storm tears tiles off"))
        assert await titles("Ziegel") == []
        for _ in range(2):
            await aldis.indexer.attend_all()
        assert (await titles("Ziegel"))[0] == "Storm tears tiles off"
        assert sorted(service.texts)[:2] == ["Port strike ends. ", "Storm tears tiles off. "]
        assert len(service.texts) == 4
        await store.transaction(lambda repos: keep(repos, "A kitten is saved"))
        await aldis.indexer.attend_all()
        assert (await titles("Katze"))[0] == "A kitten is saved"
        service.faults = [lambda _: web.Response(status=500)]
        assert await titles("Port", is_up=False) == ["Port strike ends"]


async def test_what_a_service_answers_is_checked(service: OpenAIEmbeddings, http: Http) -> None:
    """In any order, and with a vector for each text; a refusal is an error that names the setting."""
    texts = ["the roof leaks", "a cat"]
    embedder = embedder_of(service, http)
    vectors, tokens = await embedder.embed(texts)
    assert [len(vector) for vector in vectors] == [32, 32]
    again, _ = await embedder.embed(texts[::-1])
    assert again == vectors[::-1]
    assert (tokens, embedder.cost_usd(tokens)) == (6, Decimal("0.00000012"))
    assert embedder_of(service, http, price=None).cost_usd(tokens) is None
    wrong: tuple[tuple[dict[str, Any], type[ToolError]], ...] = (
        ({"api_key": "wrong"}, Disabled),
        ({"model": "no-such"}, Unavailable),
        ({"base_url": "http://127.0.0.1:9/v1"}, Unreachable),
    )
    for options, error in wrong:
        with pytest.raises(error):
            await embedder_of(service, http, **options).embed(texts)

    def answers(body: Any) -> Any:
        return lambda _seen: web.json_response(body)

    one = {"index": 0, "embedding": [0.5] * 8}
    for body in ([], {"data": [one]}, {"data": [one, one]}, {"data": [one, {"index": 2, "embedding": [1.0] * 8}]}):
        service.faults = [answers(body)]
        with pytest.raises(Unavailable):
            await embedder_of(service, http).embed(texts)
    for usage in (None, {"prompt_tokens": None}):
        service.faults = [answers({"data": [one], "usage": usage})]
        assert await embedder_of(service, http).embed(["roof"]) == ([b"\xff"], 2)
    service.faults = [lambda _seen: web.Response(status=429)]
    with pytest.raises(RateLimited):
        await embedder_of(service, http).embed(texts)


def test_vectors_and_rankings() -> None:
    """Bits that differ count, whatever the length; what stands near the top of both rankings comes first."""
    assert signs([0.1, -0.2, 0.0, 3.0, -1, 1, 1, 1, 1]) == b"\x01\x2f"
    assert distance(b"\x00\xff", b"\x01\x0f") == 5
    assert fuse(["a", "b", "c"], ["c", "b"]) == ["c", "b", "a"]
    assert Ranking("so the Dächer, roofs 屋根 4 le so").stems == [b" the", b"dach", b"roof", "屋根".encode(), b" 4"]
    ranking = Ranking("please roof")
    ranking.look([(1, 0, b" please please please", None), (2, 0, b" please", None), (3, 0, b" roof", None)])
    assert ranking.best()[0] == 3  # the rare word
    pieces = [piece.partition(b"\0") for piece in recall.pieces_of("Où est\nla Mélodie. " * 100)]
    assert all(shown.endswith((b"est", "Mélodie.".encode())) and len(shown.decode()) <= 400 for *_, shown in pieces)
    assert pieces[0][0].startswith(b" ou est la melodie. ou est")
    assert [len(piece) for piece in recall.pieces_of("x" * 900, "[a] ")] == [810, 810, 210]


async def test_the_model_within_aldis_finds_it_too(store: Store, clock: SetClock, http: Http) -> None:
    """The real one, in four languages and in capitals, for nothing."""
    local = Embedder(RecallOptions(model="local"), http)
    said = {
        "The roof of our house is leaking, whom could I call?": "A roofer; Hansen answers in the evening, too.",
        "When does the ferry to Oslo leave on Friday?": "At 14:00 from the quay.",
        "Minka needs her vaccination before the holidays": "Then make an appointment with the vet soon.",
        "Can tomatoes stand outside already?": "After the ice saints, in the middle of May.",
    }
    async with recalling(store, clock, embedder=local) as aldis:
        for question, answer in said.items():
            aldis.model.script = [says(answer)]
            await talk(aldis, question)
        for query in ("undichtes Dach", "le toit fuit", "el tejado gotea", "DAS DACH IST UNDICHT"):
            assert "roof" in (await recalled(aldis, query=query))["found"][0]["words"], query
        assert await aldis.count("SELECT total(cost_usd) FROM ledger WHERE name = 'local'") == 0


async def test_settings_are_checked_at_the_start(tmp_path: Path, service: OpenAIEmbeddings) -> None:
    """A folder that is missing, a package that is; the doctor asks the model once, and says what is wrong."""
    for name, value, variable in (
        ("FOLDER", str(tmp_path / "missing"), "TOOLS__RECALL__FOLDER"),
        ("BASE_URL", "nowhere", "TOOLS__RECALL__BASE_URL"),
        ("MODEL", "nomic", "TOOLS__RECALL__MODEL: OpenAI needs API_KEY, another service BASE_URL"),
    ):
        with pytest.raises(ConfigError, match=variable):
            load_settings({f"TOOLS__RECALL__{name}": value}, None)
    for key, level, words in ((KEY, "ok", "answers"), ("wrong", "problem", "the operator has to check")):
        given = {"MODEL": service.model, "BASE_URL": service.base_url, "API_KEY": key}
        variables = {f"TOOLS__RECALL__{name}": value for name, value in given.items()}
        [found] = [one for one in await examined(tmp_path, variables) if one.area == "recall"]
        assert (found.level, words in found.what) == (level, True)
        assert key not in found.what


async def test_the_loop_runs_beside_the_others(path: Path) -> None:
    """From the start to the stop; with the tool switched off there is none."""
    for switch in ("true", "false"):
        environ = {"ACCESS__ALLOWED": "*", "STORE__PATH": str(path), "LLM__PROVIDERS": "offline"}
        settings = load_settings({**environ, "TOOLS__RECALL__ENABLED": switch}, None)
        stop = asyncio.Event()
        async with app.build_service(settings, FakeTransport(), realm="signal") as aldis:
            running = asyncio.create_task(aldis.chat(stop, asyncio.Event()))
            await eventually(lambda: "worker" in {task.get_name() for task in asyncio.all_tasks()})
            assert ("Indexer" in {task.get_name() for task in asyncio.all_tasks()}) == (switch == "true")
            stop.set()
            await running
