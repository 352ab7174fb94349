"""Articles, from a double of Wikipedia that refuses what the real one refuses."""

from typing import Any

import pytest

from tests.servers.base import answer_json
from tests.servers.fixtures import fixture_of
from tests.servers.wikipedia import MEANINGS, MediaWiki
from tests.tools.conftest import Asked
from tools import BadArguments, Disabled, Http, NotFound, RateLimited, ToolContext, ToolError, Unavailable
from tools.wikipedia import LICENCE, Wikipedia

mediawiki = fixture_of(MediaWiki)


@pytest.fixture
def ask(mediawiki: MediaWiki, http: Http, context: ToolContext) -> Asked:
    return Asked(Wikipedia(http, base_url=f"{mediawiki.url}/{{language}}"), context)


async def test_an_article_is_told_by_introduction_and_headings(ask: Asked, mediawiki: MediaWiki) -> None:
    """By any title that leads there, with its address and licence; what is empty is said to be."""
    for title in ("aldis lamp", "Signal lamp", " Aldis|lamp ", "[[Aldis_lamp]]"):
        mediawiki.requests.clear()
        assert await ask(title) == {
            "title": "Aldis lamp",
            "language": "en",
            "url": "https://en.wikipedia.org/wiki/Aldis_lamp",
            "introduction": "An Aldis lamp is a signal lamp.\n\nShips carry it.",
            "sections": ["History", "First use", "See also"],
            "licence": LICENCE,
        }
        assert [seen.path for seen in mediawiki.requests] == ["/en/w/api.php"]
    for title, introduction, sections in (
        ("Heliograph", "A heliograph signals by sunlight.", None),
        ("Stub", "(none)", None),
        ("Headless", "(none)", ["Only"]),
    ):
        data = await ask(title)
        assert (data["introduction"], data.get("sections")) == (introduction, sections)


async def test_a_section_is_told_with_what_is_below_it(ask: Asked) -> None:
    """By a part of its heading; one that is not there is answered with those that are, quoted as data."""
    for wanted, heading, text in (
        ("History", "History", "Named after its inventor.\n\n\n=== First use ===\nAt sea."),
        ("first USE", "First use", "At sea."),
        ("first", "First use", "At sea."),
        ("See also", "See also", "Heliograph"),
    ):
        data = await ask("Aldis lamp", section=wanted)
        assert (data["section"], data["text"], "introduction" in data) == (heading, text, False)
    with pytest.raises(NotFound) as caught:
        await ask("Aldis lamp", section="Trivia")
    assert caught.value.quoted == "History; First use; See also"
    assert "History" not in str(caught.value)
    with pytest.raises(NotFound, match="nor any") as caught:
        await ask("Heliograph", section="Trivia")
    assert not caught.value.quoted


async def test_a_subject_that_is_no_title_is_searched_for(ask: Asked, mediawiki: MediaWiki) -> None:
    """The best that is found is read; a title of several meanings is asked back with those to choose from."""
    for title in ("|", "\u200b", "[]#"):
        with pytest.raises(BadArguments, match="empty"):
            await ask(title)
    assert mediawiki.requests == []
    mediawiki.found = ["Heliograph", "Aldis lamp", "Stub"]
    for title in ("lamps that signal", "Ä" * 200):
        data = await ask(title)
        assert (data["title"], data["other_matches"]) == ("Heliograph", ["Aldis lamp", "Stub"])
    mediawiki.found = ["Mercury"]
    for title in ("Mercury", "quicksilver or god"):
        data = await ask(title)
        assert (data["ambiguous"], tuple(data["candidates"])) == (True, MEANINGS["Mercury"])


async def test_long_texts_are_cut_and_strange_ones_cleaned(ask: Asked, mediawiki: MediaWiki) -> None:
    """Anybody may write an article."""
    mediawiki.texts["Evil"] = "a\u202eb\U000e0041 " + "word " * 60_000 + "\n== H\u200b ==\n" + "x" * 90_000
    data = await ask("Evil")
    assert data["introduction"].startswith("ab word")
    assert len(data["introduction"]) <= 5000
    assert data["sections"] == ["H"]
    assert len((await ask("Evil", section="h"))["text"]) <= 5000


async def test_a_refusal_is_told(ask: Asked, mediawiki: MediaWiki) -> None:
    """Errors come with status 200 here; a long wait is not waited."""
    answers: tuple[tuple[int, Any, type[ToolError], str], ...] = (
        (429, {}, RateLimited, "fewer requests"),
        (403, None, Disabled, "operator"),
        (200, {"error": {"code": "internal_api_error_" + "x" * 99, "info": "x"}}, Unavailable, "internal_api_error"),
        (200, {"query": {"pages": {"1": {}}}}, Unavailable, "cannot be read"),
        (200, [], Unavailable, "cannot be read"),
    )
    for status, body, kind, words in answers:
        mediawiki.faults[:] = [answer_json(body, status=status, headers={"Retry-After": "60"})]
        with pytest.raises(kind, match=words) as caught:
            await ask("Stub")
        assert len(str(caught.value)) < 200
