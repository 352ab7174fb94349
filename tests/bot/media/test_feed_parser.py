"""What stands in feeds: RSS and Atom, whole and broken, in a process of their own."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.media.cell import FileRefused
from bot.media.feed_parser import MAX_ENTRIES, read
from tests.cells import sandbox
from tests.conftest import NOON
from tests.servers.feeds import ENDLESS, HOSTILE, Item, atom, rss
from tests.waiting import DEADLINE_SECONDS

URL = "https://lamp.example/news/feed.xml"


def entries(data: bytes, charset: str = "") -> list[dict[str, Any]]:
    return json.loads(read(data, url=URL, charset=charset)[1])


@pytest.mark.parametrize("made", [rss, atom])
def test_both_kinds_come_to_the_same(made: Any) -> None:
    """Title, address, time in UTC, summary; a relative address is one of the feed's."""
    at = NOON - timedelta(hours=2)
    data = made(Item(title="Lit & bright", link="/lit?a=1", at=at, guid="7", summary="<p>At <b>dusk</b></p>"))
    facts, _ = read(data, url=URL, charset="")
    assert facts == {"title": "The Lamp Post", "ttl_minutes": 0}
    [entry] = entries(data)
    assert entry | {"key": ""} == {
        "key": "",
        "url": "https://lamp.example/lit?a=1",
        "title": "Lit & bright",
        "summary": "<p>At <b>dusk</b></p>",
        "published": int(at.timestamp()),
    }


def test_an_entry_is_known_by_its_id_or_what_is_like_one() -> None:
    """Its id, else its address, else title and time; each the same at the next reading, and other for others."""
    items = (
        Item(title="A", link="/a", guid="1"),
        Item(title="A", link="/a", guid="2"),
        Item(title="A", link="/a"),
        Item(title="A", link=None),
        Item(title="A", link=None, at=NOON),
        Item(title="B", link=None, at=NOON),
    )
    keys = [entry["key"] for entry in entries(rss(*items))]
    assert len(set(keys)) == len(items)
    assert keys == [entry["key"] for entry in entries(rss(*items, title="Renamed"))]
    assert [entry["key"] for entry in entries(rss(Item(title="A, corrected", link="/a", guid="1")))] == keys[:1]


def test_only_the_beginning_is_read() -> None:
    """However long the feed is, of whichever kind: what is behind the last entry that counts is not even parsed."""
    items = [Item(title=f"Number {number}", link=f"/{number}") for number in range(3 * MAX_ENTRIES)]
    for made in (rss, atom):
        data = made(*items).replace(b"</channel>", b"<ttl>90</ttl></channel>")
        assert read(data, url=URL, charset="")[0]["ttl_minutes"] == 0
        found = entries(data)
        assert [entry["title"] for entry in found] == [f"Number {number}" for number in range(MAX_ENTRIES)]
    rdf = (
        b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><channel>'
        b"<title>T</title></channel>" + b"<item><title>N</title><link>/n</link></item>" * 60 + b"</rdf:RDF>"
    )
    assert len(entries(rdf)) == MAX_ENTRIES


def test_the_time_to_live_is_told() -> None:
    """In minutes, where it is a number of them."""
    assert read(rss(more="<ttl>90</ttl>"), url=URL, charset="")[0]["ttl_minutes"] == 90
    assert read(rss(more="<ttl>soon</ttl>"), url=URL, charset="")[0]["ttl_minutes"] == 0
    assert read(rss(more="<ttl>99999999999</ttl>"), url=URL, charset="")[0]["ttl_minutes"] == 0


def test_the_server_knows_the_encoding() -> None:
    """Where the feed does not say it itself."""
    data = "<rss version='2.0'><channel><item><title>Grün</title></item></channel></rss>".encode("latin-1")
    assert entries(data, charset="iso-8859-1")[0]["title"] == "Grün"


@pytest.mark.parametrize("what", ["no feed", "nothing", "noise"])
def test_what_is_no_feed_is_refused(what: str) -> None:
    """A page of the web, for instance."""
    with pytest.raises(FileRefused, match="no feed"):
        read(HOSTILE[what], url=URL, charset="")


def test_a_feed_reads_no_file_of_the_machine(tmp_path: Path) -> None:
    """An external entity stays empty; a feed that is the name of a file is no feed, whatever stands in that."""
    assert "root" not in json.dumps(entries(HOSTILE["an external entity"]))
    file = tmp_path / "private.xml"
    file.write_bytes(rss(Item(title="A secret", link="/secret")))
    with pytest.raises(FileRefused, match="no feed"):
        read(bytes(file), url=URL, charset="")


def test_broken_tags_and_dates_do_no_harm() -> None:
    """What can be read is read; a date that is none is none."""
    assert entries(HOSTILE["tags that do not match"])[0]["url"] == "https://lamp.example/lit"
    assert entries(HOSTILE["an absurd date"])[0]["published"] is None


@pytest.mark.parametrize("number", ["xD83D", "x110000", "55357", "0000055357", "9" * 20, "x" + "f" * 9999])
def test_a_character_that_there_is_not_costs_no_other_word(number: str) -> None:
    """A half of an emoji, a number beyond all characters: a sign stands there, and the rest of the feed is read."""
    data = rss(Item(title="A lamp &#HERE; is lit &#x1F4A1;", link="/lit")).replace(b"&amp;", b"&")
    [entry] = entries(data.replace(b"HERE", number.encode()))
    assert entry["title"] == "A lamp \ufffd is lit \U0001f4a1"


async def test_a_feed_that_never_ends_is_left_alone_after_its_time() -> None:
    """It keeps a process of its own busy, which is ended: nothing of Aldis waits for it."""
    with pytest.raises(FileRefused, match="too long"):
        await sandbox().open("feed_parser", ENDLESS, URL, "", timeout_seconds=1)


async def test_a_feed_is_opened_in_a_cell() -> None:
    """As the reader does it."""
    facts, data = await sandbox().open(
        "feed_parser", rss(Item(title="Lit", link="/lit")), URL, "", timeout_seconds=DEADLINE_SECONDS
    )
    assert facts["title"] == "The Lamp Post"
    assert json.loads(data)[0]["title"] == "Lit"
