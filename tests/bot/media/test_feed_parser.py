"""What stands in feeds: RSS and Atom, whole and broken, in a process of their own."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.media.cell import FileRefused
from bot.media.feed_parser import MAX_ENTRIES, serve
from tests.conftest import NOON
from tests.servers.feeds import HOSTILE, Item, atom, rss
from tools import canonical_url, plain

URL = "https://lamp.example/news/feed.xml"


def entries(data: str | bytes, charset: str = "") -> list[dict[str, Any]]:
    facts, _ = serve(data.encode() if isinstance(data, str) else data, (URL, charset))
    return facts["entries"]


def test_both_kinds_come_to_the_same() -> None:
    """Title, whole address, time in UTC, summary; of a feed of any length the beginning is read."""
    at = NOON - timedelta(hours=2)
    items = [Item(title=f"Number {number}", link=f"/{number}") for number in range(3 * MAX_ENTRIES)]
    for made in (rss, atom):
        data = made(Item(title="Lit & bright", link="/lit?a=1", at=at, guid="7", summary="<p>At <b>dusk</b></p>"))
        facts, _ = serve(data, (URL, ""))
        assert facts["title"] == "The Lamp Post"
        [entry] = facts["entries"]
        assert entry | {"key": ""} == {
            "key": "",
            "url": "https://lamp.example/lit?a=1",
            "title": "Lit & bright",
            "summary": "<p>At <b>dusk</b></p>",
            "published_at": int(at.timestamp()),
        }
        assert [entry["title"] for entry in entries(made(*items))] == [item.title for item in items[:MAX_ENTRIES]]


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


def test_what_is_no_feed_is_refused(tmp_path: Path) -> None:
    """No named file and no external entity is read; what is in front of broken tags is; no date is made up."""
    file = tmp_path / "private.xml"
    file.write_bytes(rss(Item(title="A secret", link="/secret")))
    for data in (bytes(file), *(HOSTILE[what] for what in ("no feed", "nothing", "noise", "tags that do not match"))):
        with pytest.raises(FileRefused, match="no feed"):
            entries(data)
    assert "root" not in json.dumps(entries(HOSTILE["an external entity"]))
    whole = rss(Item(title="Lit", link="/lit"), Item(title="Dark", link="/dark"))
    assert [each["title"] for each in entries(whole.replace(b"<link>/dark", b"</i>"))] == ["Lit", "Dark"]
    assert entries(HOSTILE["an absurd date"])[0]["published_at"] is None


Shown = tuple[str, str | None, str]


def shown(feed: str | bytes) -> list[Shown]:
    """Title, address and minute of each entry, as they are handed on; "" for an entry without a date."""
    found = entries(feed)
    dates = [
        "" if each["published_at"] is None else f"{datetime.fromtimestamp(each['published_at'], UTC):%F %R}"
        for each in found
    ]
    urls = [None if each["url"] is None else canonical_url(each["url"]) for each in found]
    return [(plain(each["title"]), url, date) for each, url, date in zip(found, urls, dates, strict=True)]


def rss_of(*items: str, head: str = "") -> str:
    inner = "".join(f"<item>{item}</item>" for item in items)
    return f"{head}<rss version='2.0'><channel><title>The Gazette</title>{inner}</channel></rss>"


def titled(title: str, **more: str) -> str:
    return f"<title>{title}</title>" + "".join(f"<{name}>{text}</{name}>" for name, text in more.items())


def plainly(*titles: str) -> list[Shown]:
    return [(title, None, "") for title in titles]


HOME, XML = "https://gazette.example/", "<?xml version='1.0' encoding="
FILE = "<enclosure url='https://pod.example/17.mp3' length='9' type='audio/mpeg'/>"
EXTERNAL = '<!DOCTYPE rss PUBLIC "-//Netscape//DTD RSS 0.91//EN" "http://my.netscape.example/rss-0.91.dtd">'
# A name for the kind, and where another program was reported to fail at it; the feed; what it comes to.
FEEDS: list[tuple[str, str | bytes, list[Shown]]] = [
    (
        "one id (cocopuff2u/MOFA#24)",
        rss_of(titled("First", link=HOME + "1", guid="N/A"), titled("Second", link=HOME + "2", guid="N/A")),
        [("First", HOME + "1", ""), ("Second", HOME + "2", "")],
    ),
    ("no links (feedbin/support#507)", rss_of(titled("1", guid="x y"), titled("2", guid="x y")), plainly("1", "2")),
    (
        "one link (Ranchero-Software/NetNewsWire#4540)",
        rss_of(titled("Red shirt", link=HOME), titled("Blue shirt", link=HOME), titled("Own", link=HOME + "1")),
        [("Red shirt", None, ""), ("Blue shirt", None, ""), ("Own", HOME + "1", "")],
    ),
    ("an episode (kurtmckee/feedparser#384)", rss_of(titled("17") + FILE), [("17", "https://pod.example/17.mp3", "")]),
    ("ampersands (rbren/rss-parser#134)", rss_of(titled("AT&T buys R&D lab")), plainly("AT&T buys R&D lab")),
    ("CDATA", rss_of(titled("<![CDATA[AT&T &amp; R&D &uuml;]]>")), plainly("AT&T & R&D ü")),
    (
        "a DTD (RssBandit/RssBandit#1168)",
        rss_of(titled("Z&uuml;ge &mdash; &amp;c"), head=EXTERNAL),
        plainly("Züge — &c"),
    ),
    ("names without a DTD", rss_of(titled("Z&uuml;ge&nbsp;&NotEqualTilde;")), plainly("Züge ≂̸")),
    ("a name of its own", rss_of(titled("&G; &uuml;"), head="<!DOCTYPE rss [<!ENTITY G 'Ga'>]>"), plainly("Ga ü")),
    ("a name of nothing", rss_of(titled("a &nosuch; b"), titled("c")), plainly("a &nosuch; b", "c")),
    ("UTF-16 declared (StringWriter of .NET)", rss_of(titled("Züge"), head=XML + "'utf-16'?>") + " ", plainly("Züge")),
    ("UTF-16 sent", rss_of(titled("Züge"), head=XML + "'utf-16'?>").encode("utf-16"), plainly("Züge")),
    (
        "latin-1 (kurtmckee/feedparser#81)",
        rss_of(titled("Züge"), head=XML + "'latin1'?>").encode("cp1252"),
        plainly("Züge"),
    ),
    ("UTF-8 declared, Windows sent", rss_of(titled("Zü"), head=XML + "'utf-8'?>").encode("cp1252"), plainly("Z\ufffd")),
    ("half an emoji", rss_of(titled("A &#xD83D; is lit &#x1F4A1;")), plainly("A \ufffd is lit \U0001f4a1")),
    ("signs that there are not", rss_of(titled("&#x110000;&#0055357;b")), plainly("\ufffd" * 2 + "b")),
    ("a number of any length", rss_of(titled(f"&#{'9' * 5000};b&#{'0' * 5000}99;")), plainly("\ufffdbc")),
    ("signs that XML forbids", rss_of(titled("a\x0bb&#8;"), titled("c")), plainly("ab\ufffd", "c")),
]
DATES = {
    "Fri, 27 Nov 2026 10:00:00 GMT": "2026-11-27 10:00",
    "27 November 26 10:00:00 EST": "2026-11-27 15:00",
    "Fri, 27 Nov 2026 10:00:00 CET": "",
    "Wed, 23 Jul 14 23:18:39 +0200 +0200": "2014-07-23 21:18",  # thorsten/phpMyFAQ#886
    "Fri, 27 Nov 2026 25:00:00 GMT": "",
    "2026-11-27 13:55:44.364419679 +0200 CEST": "",  # NyaaPantsu/nyaa#1308
    "2026-11-27T13:55:44.364Z": "2026-11-27 13:55",
    "2026-11-27T13:55:44-05:00": "2026-11-27 18:55",
    "2026-11-27": "2026-11-27 00:00",
    "2026-11-27 at noon": "",
    "1795773600": "2026-11-27 10:00",
    "1795773600.25": "2026-11-27 10:00",
    "27.11.2026 10:00": "",
    "Friday, November 27, 2026 10:00 AM": "",
}


def test_feeds_as_they_are_found() -> None:
    """By programs that know half of the rules; dates are whole or none, and the server's encoding may count."""
    for kind, feed, wanted in FEEDS:
        assert shown(feed) == wanted, kind
        assert len({each["key"] for each in entries(feed)}) == len(wanted), kind
    assert entries(rss_of(titled("Grün")).encode("latin-1"), "iso-8859-1")[0]["title"] == "Grün"
    found = {date: shown(rss_of(titled("a", pubDate=date)))[0][2] for date in DATES}
    assert found == DATES


def test_other_spellings_of_atom_and_rss_are_read() -> None:
    """Without declared prefixes, with letters of any size; with markup unescaped."""
    link = "<link href='/own' rel='self'/><link href='/lit'/>"
    xhtml = "<summary type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'>At <b>dusk</b> &lt;</div></summary>"
    plain_atom = f"<feed xmlns='http://www.w3.org/2005/Atom'><entry><title>Lit</title>{link}{xhtml}</entry></feed>"
    video = "<media:group><media:title>No</media:title><media:description>At dusk</media:description></media:group>"
    loud = f"<RSS><Channel><Item><Title>Lit</Title><Link>/lit</Link>{video}</Item></Channel></RSS>"
    for feed, summary in ((plain_atom, "At dusk <"), (loud, "At dusk")):
        [entry] = entries(feed)
        assert (entry["title"], entry["url"], plain(entry["summary"])) == ("Lit", "https://lamp.example/lit", summary)
    dated = "<rdf:RDF><channel/><item rdf:about='#1'><dc:date>2026-11-27</dc:date></item></rdf:RDF>"
    assert entries(dated)[0]["published_at"] == datetime(2026, 11, 27, tzinfo=UTC).timestamp()
    guided = "<rss><channel><item><guid>https://lamp.example/7</guid></item></channel></rss>"
    assert entries(guided)[0]["url"] == "https://lamp.example/7"
