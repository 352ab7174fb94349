"""Pure: all rules about content written by strangers, and about private content.

What a page, a search result, a server's answer or another group member says is data; a model may still take it for an
instruction. So the rules look at the labels of everything in the request, never at what the model makes of it:

1. A tool with effects asks a person first if anything untrusted is in the request (`approval_causes`).
2. A call whose arguments strangers see (a search, a description) asks first if anything private is in the request.
3. In a group, private content is looked up only after a yes if strangers could have caused it, because all members see
   the answer. None of these rules asks about what the person's own message names.
4. An address not given is not shown as a link if anything untrusted or private is in the request (`may_carry_out`).
5. An address may be fetched only if the model cannot have made it up (`bot.trust.provenance.Sources`).

Source: OWASP Top 10 for LLM applications 2026, excessive agency; Meta, "Agents Rule of Two", 2025-10-31;
letter-by-letter exfiltration through offered links as in Tencent's AI-Infra-Guard (read 2026-11-21).

A value of a call is the person's own if it stands in their message, so that no question is needed:

    "Write 'see you' to anna@example.org" + send {to: "anna@example.org"}                   -> theirs
                                          + send {to: "anna@example.org", text: "see you"}  -> theirs
                                          + send {to: "anna@example.org", text: "see"}      -> not theirs

It stands there as whole words, three characters or more. Of a quotation only the whole counts, and nothing of what
follows the first paragraph, where people paste what others wrote. A value that the schema fixes (a choice, a flag, the
default) needs no naming, but never suffices alone.
"""

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast

from bot.labels import Labels, Source
from tools import Effects, canonical_url

MAX_URLS = 200
"""How many addresses are looked at in one text: a page could contain a hundred thousand."""

# An address ends at white space, at quotes and other signs that surround addresses rather than being part of them, at
# the end of a Markdown link's text, and where the next address of a list begins.
_URL = re.compile(
    r"(?<![a-z0-9])https?://(?:(?!\]\(|[,;|]https?://)[^\s<>\"`|\\^\x00-\x1f\x7f\u200b\u2018-\u201f\u2026\u3000-\u3002"
    r"\u3008-\u3011\u300c-\u300f\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f\u00ab\u00bb])+",
    re.IGNORECASE,
)
_LABEL = r"[^\W_](?:[\w-]{0,61}[^\W_])?"
_NAME = re.compile(
    rf"(?<![\w@./:\\#-])(?:{_LABEL}\.)+[^\W\d_]{{2,24}}(?::\d{{1,5}})?(?:[/?#][^\s<>\"`|\\^\u2018-\u201f\u3000-\u3011]*|(?![\w@-]))"
)
"""A host and what follows it, without a scheme, as people write addresses."""
_PAIRS = {"(": ")", "[": "]", "{": "}"}
_CLOSING = frozenset(_PAIRS.values())
_AT_THE_END = ".,;:!?'"
_EMPHASIS = frozenset("*_~")


def untrusted_sources(labels: Labels, person: str) -> tuple[Source, ...]:
    """The sources in these labels that another person may have written, other people in the group included."""
    others = (Source(kind="person", name=writer.name) for writer in labels.people if writer.id != person)
    return tuple(dict.fromkeys((*others, *(source for source in labels.sources if not source.is_trusted))))


def private(labels: Labels) -> tuple[Source, ...]:
    """The private sources in these labels, which people entrust to Aldis, oldest first."""
    return tuple(source for source in labels.sources if source.is_private)


def may_carry_out(labels: Labels) -> bool:
    """Whether an address the model makes up could leak something, or lead where a stranger wants people to go."""
    return any(source.is_private or not source.is_trusted for source in labels.sources)


def approval_causes(
    effects: Effects,
    *,
    discloses: bool,
    labels: Labels,
    person: str,
    is_named: bool,
    known_to: Collection[str] = (),
    shows_group: bool = False,
) -> tuple[Source, ...]:
    """Returns the sources because of which a person must agree before a tool call runs; empty if no one needs to.

    `labels` are those of everything in the request; `discloses`: strangers see the arguments; `is_named`: the message
    names what it takes; `known_to`: the tools of its server; `shows_group`: a group would see private content.
    """
    if is_named:
        return ()
    causes = () if effects == "none" else untrusted_sources(labels, person)
    news = [source for source in private(labels) if source.kind != "tool" or source.name not in known_to]
    shown = news if discloses else ()
    # What a stranger could make a group see something with; a private tool's answer was only shown.
    led = (one for one in labels.sources if not (one.is_trusted or (one.is_private and one.kind == "tool")))
    return tuple(dict.fromkeys((*causes, *shown, *(led if shows_group else ()))))


def texts_in(value: object) -> Iterator[str]:
    """Yields every text in a value of JSON, the keys of objects left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        whole = cast("Mapping[str, object] | list[object]", value)
        for item in whole.values() if isinstance(whole, Mapping) else whole:
            yield from texts_in(item)


def urls_in(text: str) -> tuple[str, ...]:
    """The web addresses with a scheme in a person's words, canonical, each once, without what surrounds them."""
    spelled = (_bare(match, text) for match in islice(_URL.finditer(text), MAX_URLS))
    return tuple(dict.fromkeys(filter(None, map(canonical_url, spelled))))


def addresses_in(text: str) -> tuple[str, ...]:
    """`urls_in`, and what names without a scheme, such as `www.example.com/page`, can mean: two addresses each."""
    rest = _URL.sub(" ", text)
    bare = [_bare(match, rest) for match in islice(_NAME.finditer(rest), MAX_URLS)]
    named = (canonical_url(f"{scheme}://{name}") for name in bare for scheme in ("https", "http"))
    return tuple(dict.fromkeys((*urls_in(text), *filter(None, named))))


def _bare(match: re.Match[str], text: str) -> str:
    """The address without what surrounds it, up to the first bracket that closes something opened before it."""
    bare, awaited = match[0], list[str]()
    for at, sign in enumerate(match[0]):
        if sign in _PAIRS:
            awaited.append(_PAIRS[sign])
        elif sign in _CLOSING and (not awaited or awaited.pop() != sign):
            bare = match[0][:at]
            break
    bare = bare.rstrip(_AT_THE_END)
    before = text[match.start() - 1] if match.start() else ""
    return bare.rstrip(before).rstrip(_AT_THE_END) if before in _EMPHASIS else bare


MESSAGE_END = "\f"
"""Separates consecutive messages of the same person."""

MIN_CHARACTERS = 3
_MAX_CHARACTERS = 20_000
"""The limit of a message that names anything: people do not write longer ones by hand."""
_QUOTED = re.compile(
    r"```.*?```|\"[^\"]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|»[^«]*«|‘[^’]*’|(?<!\w)'[^']*'(?!\w)", re.DOTALL
)
_MARKS = "`'\"“”„«»‘’ "
_CITED_LINE = re.compile(r"^\s*>.*$", re.MULTILINE)
_PASTED = re.compile(r":[ \t]*\n|\n[ \t]*\n")
"""Where a message goes on with what was pasted: after an empty line, or a line that ends in a colon."""
_BEFORE = re.compile(r"[\w@./\\#=&%+~$:-]")
"""A sign before a value that makes it a part of a longer word, address, path or amount."""
_BEHIND = re.compile(r"[\w@/\\#=&%+~$-]|[.:,]\w")
"""The same behind a value, where a full stop, a colon or a comma before a space is punctuation."""


def names_all(words: str, arguments: Mapping[str, object], schema: Mapping[str, Any]) -> bool:
    """Whether one message of the person names every value that the call's schema does not fix, and at least one."""
    properties = cast("Mapping[str, Mapping[str, Any]]", schema.get("properties", {}))
    given = {name: value for name, value in arguments.items() if value not in (None, "", [], {})}
    free = [value for name, value in given.items() if not _is_fixed(value, properties.get(name, {}))]
    said = map(_own_part, words.split(MESSAGE_END))
    return bool(free) and any(all(_stands_in(one, value) for value in free) for one in said)


@dataclass(frozen=True, slots=True)
class _Said:
    """What of a message the person wrote themselves, in plain letters."""

    words: str
    """Without its quotations."""
    quotations: frozenset[str]


def _is_fixed(value: object, schema: Mapping[str, Any]) -> bool:
    """Whether the schema leaves no room in this value: a flag, a choice, or what is taken without it."""
    if isinstance(value, bool) or value == schema.get("default"):
        return True
    if isinstance(value, list):
        return all(_is_fixed(item, schema.get("items", {})) for item in cast("list[object]", value))
    kinds = [schema, *schema.get("anyOf", ())]
    return any(value in kind.get("enum", ()) or value == kind.get("const") for kind in kinds)


def _own_part(message: str) -> _Said:
    first = _PASTED.split(message.strip(), maxsplit=1)[0] if len(message) <= _MAX_CHARACTERS else ""
    first = _CITED_LINE.sub(" ", first)
    quotations = frozenset(_plain(found[0].strip(_MARKS)) for found in _QUOTED.finditer(first) if found[0][:3] != "```")
    return _Said(_plain(_QUOTED.sub(" ", first)), quotations)


def _stands_in(said: _Said, value: object) -> bool:
    if isinstance(value, list):
        return all(_stands_in(said, item) for item in cast("list[object]", value))
    if isinstance(value, dict):
        items = cast("dict[str, object]", value)
        return bool(items) and all(_stands_in(said, item) for item in items.values())
    text = _plain(str(value))
    if isinstance(value, bool) or len(text) < MIN_CHARACTERS:
        return False
    if text in said.quotations:
        return True
    bare = text.rstrip(_MARKS + ".!?,;")
    at = said.words.find(bare)
    while at >= 0:
        if not _BEFORE.match(said.words[at - 1 : at]) and not _BEHIND.match(said.words, at + len(bare)):
            return True
        at = said.words.find(bare, at + 1)
    return False


def _plain(text: str) -> str:
    """Returns a text in one line, without differences of case and of how letters are composed."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
