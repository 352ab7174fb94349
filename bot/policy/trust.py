"""Pure: the rules about content that strangers wrote, and about what is private. This is their one place.

What a page, a search result, a server's answer or another member of a group says is data; a model may take it for an
order all the same. So the rules look at the labels of everything in the request, never at what the model makes of it:

1. A tool with effects asks a person first when anything untrusted is in the request (`approval_causes`).
2. What strangers see of a call (a search, a description) asks first when anything private is in the request (likewise).
   Neither asks about what the person's own words name, or a record that they name (`bot.policy.records`); nor the
   second about a name that the server has given itself, where no stranger could have chosen it.
3. What is private is looked up in a group only after a yes, when strangers could have led there (likewise): all of its
   members see the answer. It asks about nothing that the person's own words name.
4. An address that nobody gave is shown as no link when anything untrusted or private is in the request
   (`may_carry_out`).
5. An address may be fetched only if it was not the model's to make up (`may_fetch`): an address carries words out, to
   the owner of the host.

                              | stands in the person's own words, or as a result of a search | fetch
    an address of the model --+ a link in such a page, to the same host; three a turn;        | fetch
                              |   nothing private was read                                   |
                              ' anything else                                                | refuse

Left to others: which content gets which labels (`bot.turn.provenance`), when words name a call
(`bot.policy.own_words`), asking the person (`bot.turn.approvals`), where the address really leads (`tools.web.fetch`).

Source: OWASP Top 10 for LLM applications 2026, excessive agency; Meta, "Agents Rule of Two", 2025-10-31;
letter-by-letter exfiltration through offered links as in Tencent's AI-Infra-Guard (read 2026-11-21).
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice
from urllib.parse import urlsplit

from bot.labels import Labels, Source
from tools import Effects, canonical_url

MAX_LINKS_FOLLOWED = 3
"""Links out of pages that one turn may follow: with each, a page can learn one thing that the model chose."""

MAX_URLS = 200
"""Addresses that are looked at in one text: a page could hold a hundred thousand."""

# An address ends at white space, quotes and other signs that stand around addresses rather than in them, at the end of
# a Markdown link's text, and where the next address of a list begins.
_URL = re.compile(
    r"(?<![a-z0-9])https?://(?:(?!\]\(|[,;|]https?://)[^\s<>\"`|\\^\x00-\x1f\x7f\u200b\u2018-\u201f\u2026\u3000-\u3002"
    r"\u3008-\u3011\u300c-\u300f\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f\u00ab\u00bb])+",
    re.IGNORECASE,
)
_PAIRS = {"(": ")", "[": "]", "{": "}"}
_CLOSING = frozenset(_PAIRS.values())
_AT_THE_END = ".,;:!?'"
_EMPHASIS = frozenset("*_~")


def untrusted_sources(labels: Labels, person: str) -> tuple[Source, ...]:
    """What somebody other than this person may have written, of content with these labels, oldest first.

    The words of other people in a group are among it: they may ask for themselves, but not in somebody else's name.
    """
    others = (Source(kind="person", name=writer.name) for writer in labels.people if writer.id != person)
    return tuple(dict.fromkeys((*others, *(source for source in labels.sources if not source.is_trusted))))


def private(labels: Labels) -> tuple[Source, ...]:
    """What people trust Aldis with, of content with these labels, oldest first."""
    return tuple(source for source in labels.sources if source.is_private)


def may_carry_out(labels: Labels) -> bool:
    """Whether an address that a model makes up may carry something out, or lead where a stranger wants somebody to go.

    Words of other members are no reason: they see everything that is said in their group anyway.
    """
    return any(source.is_private or not source.is_trusted for source in labels.sources)


def approval_causes(
    effects: Effects,
    *,
    discloses: bool,
    labels: Labels,
    person: str,
    is_named: bool,
    is_asked_for: bool,
    tells_nothing: bool = False,
    shows_group: bool = False,
) -> tuple[Source, ...]:
    """Because of what a person must agree before a call of a tool runs; empty: nobody need agree.

    `labels` are those of everything in the request; `discloses` tells whether strangers see the arguments, `is_named`
    whether the person's own words name these, `is_asked_for` whether they ask for the deed as well; `tells_nothing`
    whether what they do not name are names that the server has given itself, in answers no stranger writes in;
    `shows_group` whether a group is about to see what is private.
    """
    causes = () if effects == "none" or (is_named and is_asked_for) else untrusted_sources(labels, person)
    shown = private(labels) if discloses and not (is_named or tells_nothing) else ()
    led = filter(_may_lead, labels.sources) if shows_group and not is_named else ()
    return tuple(dict.fromkeys((*causes, *shown, *led)))


def _may_lead(source: Source) -> bool:
    """Whether a stranger could have a group shown something by it: what a private tool has told it was shown."""
    return not source.is_trusted and not (source.is_private and source.kind == "tool")


@dataclass(frozen=True, kw_only=True, slots=True)
class Provenance:
    """Where the addresses of one turn come from, and what the turn has done with them. All in canonical spelling.

    It begins empty with each turn, and can be built again from the turn's journal.
    """

    said: frozenset[str] = frozenset()
    """In the person's own words of this turn; not in what they quote, not in what others in the group wrote."""
    found: frozenset[str] = frozenset()
    """The addresses that a search tool gave for its hits in this turn."""
    linked: frozenset[str] = frozenset()
    """Links in pages that were fetched from one of those, as far as they lead to the host of their page."""
    links_followed: int = 0
    """How many fetches of links began in this turn, the same link twice counted twice."""
    has_read_private: bool = False
    """Whether private data is in the request, or a tool of this turn was asked for some: notes, a database."""

    def hearing(self, words: str) -> "Provenance":
        """With the addresses that stand in the person's words."""
        return replace(self, said=self.said | set(urls_in(words)))

    def finding(self, urls: Iterable[str]) -> "Provenance":
        """With the addresses of a search's hits; addresses within the text of a hit are the page's words, not ours."""
        return replace(self, found=self.found | _canonical(urls))

    def fetching(self, url: str) -> "Provenance":
        """With a fetch of the address begun.

        To be kept before the fetch runs: of calls that run side by side each must see those before it.
        """
        if canonical_url(url) in self.said | self.found:
            return self
        return replace(self, links_followed=self.links_followed + 1)

    def reading(self, url: str, *, found_at: str, links: Iterable[str]) -> "Provenance":
        """With a page read: asked for as `url`, found behind redirects at `found_at`, offering `links`.

        These are whole addresses. What a link led to offers nothing further: one hop, no more.
        """
        if canonical_url(url) not in self.said | self.found:
            return self
        # The very same host. "The same registrable domain" would need the list of public suffixes: without it, or
        # with an old one, two strangers under github.io or co.uk would count as one.
        host = _host(canonical_url(found_at))
        own = {link for link in _canonical(links) if host and _host(link) == host}
        return replace(self, linked=self.linked | own)

    def reading_private(self) -> "Provenance":
        """With private data in the turn: from here on no link is followed."""
        return replace(self, has_read_private=True)


def may_fetch(url: str, provenance: Provenance) -> bool:
    """Whether the turn may fetch the address; one that nobody could fetch is refused like one that nobody gave.

    Links may be followed only from a page to its own host, only `MAX_LINKS_FOLLOWED` times in a turn, and not at all
    once the turn has read private data: a page that offers /a, /b, /c has a model spell out what it knows.
    """
    address = canonical_url(url)
    if address is None:
        return False
    if address in provenance.said or address in provenance.found:
        return True
    if provenance.has_read_private or provenance.links_followed >= MAX_LINKS_FOLLOWED:
        return False
    return address in provenance.linked


def urls_in(text: str) -> tuple[str, ...]:
    """The web addresses in somebody's words, canonical, in order, each once, at most `MAX_URLS`.

    What people put around them is left out: brackets, quotes, Markdown, the full stop behind. A word without `http://`
    or `https://` is no address.
    """
    spelled = (_bare(match, text) for match in islice(_URL.finditer(text), MAX_URLS))
    return tuple(dict.fromkeys(filter(None, map(canonical_url, spelled))))


def _bare(match: re.Match[str], text: str) -> str:
    """The address without what stands around it."""
    bare = _balanced(match[0]).rstrip(_AT_THE_END)
    before = text[match.start() - 1] if match.start() else ""
    return bare.rstrip(before).rstrip(_AT_THE_END) if before in _EMPHASIS else bare


def _balanced(url: str) -> str:
    """The address up to the first bracket that closes something opened before it."""
    awaited: list[str] = []
    for at, sign in enumerate(url):
        if sign in _PAIRS:
            awaited.append(_PAIRS[sign])
        elif sign in _CLOSING and (not awaited or awaited.pop() != sign):
            return url[:at]
    return url


def _canonical(urls: Iterable[str]) -> frozenset[str]:
    return frozenset(filter(None, map(canonical_url, urls)))


def _host(url: str | None) -> str | None:
    return urlsplit(url).hostname if url else None
