"""Pure: assigns labels to content when it enters a turn.

    the question        who wrote it and whom they quote; the mentioned whose name could be more than a name; their
                        files; for a reminder's prompt, the labels it was planned with
    talk in the group   its writers
    a tool's answer     the page, the search, the tool; for what people had Aldis keep, the labels it was kept with

What follows from labels is in `bot.trust.rules`.

The addresses that one running turn may fetch, depending on where they come from (`Sources`):

                              | in the person's own words, `www.example.com/page` included   | fetch
                              | a result of a search, or a page that the last answer cited;  | fetch
                              |   three per turn once something private is in the request    |
    an address of the model --+ a link in such a page, to the same host; three per turn;      | fetch
                              |   nothing private was read                                   |
                              ' anything else                                                | refuse

Each attempt of a turn builds them anew and replays the same calls and answers, those of the journal first.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast
from urllib.parse import urlsplit

from bot.events import Incoming
from bot.labels import Labels, Source, Writer, is_plain_name, join_labels, load_labels, shown_name
from bot.messages import AssistantMessage, Message, ToolAnswer, ToolCall, UserMessage
from bot.trust.rules import MESSAGE_END, addresses_in, private, texts_in
from tools import ToolSpec, canonical_url

_NAME = re.compile(r"(?!.{33})[^\W\d_]*[\d.:+_-]*[^\W\d_]*", re.DOTALL)
"""At most two words, 32 characters, no space: `general`, `random_2`, `2026-11-27T10:00Z`, `DE02120300000000202051`."""
_TELLING = ('"error": "not_found"', '"error": "too_large"')
"""The beginnings of failed answers that nevertheless reveal something about what exists."""


def of_question(messages: Iterable[Incoming]) -> Labels:
    """The labels of messages that are asked together."""
    found = tuple(messages)
    labels = join_labels(label for message in found for label in _of_message(message))
    return replace(labels, is_scheduled=any(_is_scheduled(message) for message in found))


def of_answer(answer: ToolAnswer, spec: ToolSpec | None, *, address: str | None, origins: Iterable[str]) -> Labels:
    """The labels of a tool's answer: `address` is what it was to read, `origins` label what people had Aldis keep."""
    if not answer.ok and '"untrusted_data"' not in answer.content:
        # Aldis's own words about why it failed; that something does not exist may be private, too.
        is_telling = spec is not None and spec.is_private and any(code in answer.content for code in _TELLING)
        return Labels(sources=(_source(answer.name, spec, address, is_trusted=True),)) if is_telling else Labels()
    if spec is not None and spec.is_own:
        return join_labels(map(load_labels, origins))
    # An answer of a server that holds nothing but numbers, days, ids and names of one word orders nothing.
    is_plain = answer.ok and spec is not None and bool(spec.server) and all(map(_NAME.fullmatch, texts_in(answer.data)))
    return Labels(sources=(_source(answer.name, spec, address, is_trusted=is_plain),))


def correct_labels(asked: UserMessage, message: Incoming) -> UserMessage:
    """A question whose words are now those of this message, with the labels these add."""
    if asked.labels is None:
        return asked
    return replace(asked, labels=join_labels([asked.labels, of_question((message,))]))


def own_words(messages: Iterable[Incoming], person: str) -> str:
    """Returns what this person themselves wrote in these messages, separated by `MESSAGE_END`."""
    return MESSAGE_END.join(
        without_names(message) for message in messages if message.author == person and not _is_scheduled(message)
    )


def without_names(message: Incoming) -> str:
    """The words of a message without mentioned names that may be more than names, since others chose them."""
    text = message.text
    for name in sorted(_telling_names(message), key=len, reverse=True):
        text = text.replace(f"@{name}", "@")
    return text


def _telling_names(message: Incoming) -> list[str]:
    """The chosen names of the people it mentions that could be anything."""
    others = (one.name for one in message.mentioned if one.person != message.author)
    return [name for name in others if not is_plain_name(name)]


def _is_scheduled(message: Incoming) -> bool:
    return message.scheduled is not None and not message.scheduled.is_own


def _of_message(message: Incoming) -> Iterable[Labels]:
    yield Labels(people=(Writer(id=message.author, name=shown_name(message.name)),))
    if message.scheduled is not None:
        yield message.scheduled.labels
    if message.quote is not None and not message.quotes_me and message.quote.author != message.author:
        yield Labels(sources=(Source(kind="person"),))
    for name in _telling_names(message):
        yield Labels(sources=(Source(kind="person", name=shown_name(name)),))
    if message.extras:
        yield Labels(sources=(Source(kind="person"),))  # contacts and polls contain other people's words
    for attachment in message.files:
        # A file or a recording can come from any sender: Signal does not tell what was forwarded.
        kind = "voice" if attachment.is_voice_note else "file"
        name = "" if attachment.is_voice_note else shown_name(attachment.name)
        yield Labels(sources=(Source(kind=kind, name=name, is_private=True),))


def _source(name: str, spec: ToolSpec | None, address: str | None, *, is_trusted: bool) -> Source:
    is_private = spec is None or spec.is_private
    if spec is not None and spec.fetches is not None:
        return Source(kind="page", name=shown_name(_host(address)), is_private=is_private)
    if spec is not None and spec.finds_pages:
        return Source(kind="search", is_private=is_private)
    return Source(kind="tool", name=shown_name(name), is_trusted=is_trusted, is_private=is_private)


def _host(address: str | None) -> str | None:
    try:
        return urlsplit(address or "").hostname
    except ValueError:
        return None


NOT_GIVEN = (
    "this address stands neither in the person's message, nor in a search result of this turn, nor under the last"
    " answer with sources, so it is not fetched;"
    " search for the page first, or ask the person to send its address, and do not change it"
)
ENOUGH_FOUND = (
    "as something private is in this conversation, no more of what searches found is fetched for this message;"
    " answer with what there is, or ask the person to send the address"
)


MAX_LINKS_FOLLOWED = 3
"""How many links in pages one turn may follow: each tells the page one thing that the model chose."""

MAX_FOUND_BESIDE_PRIVATE = 3
"""The results of a search that one turn may fetch once something private is in the request: by which of them a model
fetches, a page could have it spell that out."""


class Sources:
    """The addresses that one turn may fetch, in canonical spelling, and how many of them it has fetched.

    A page that offers /a, /b, /c could make a model spell out what it knows: so links lead to its own host only.
    """

    def __init__(self, said: str, cited: Iterable[str] = (), *, has_read_private: bool = False) -> None:
        """`said` are the person's own words of this turn, `cited` the pages that the last answer showed."""
        self.has_read_private = has_read_private
        """Whether private data is in the request, or a tool of this turn was asked for some."""
        self._said = frozenset(addresses_in(said))
        self._found = set[str]()
        self._linked = set[str]()
        self._links_followed = self._found_beside_private = 0
        self.find(cited)

    def find(self, urls: Iterable[str]) -> None:
        """Adds the addresses of a search's hits; addresses in the text of a hit are the page's words, not ours."""
        self._found |= _canonical(urls)

    def read(self, url: str, *, found_at: str, links: Iterable[str]) -> None:
        """Adds a page that was read: asked for as `url`, found at `found_at`; one reached by a link offers none."""
        if canonical_url(url) in self._said | self._found:
            # Exactly the same host: "the same registrable domain" would need the list of public suffixes; without it,
            # or with an old one, two strangers under github.io or co.uk would count as one.
            host = _host(canonical_url(found_at))
            self._linked |= {link for link in _canonical(links) if host and _host(link) == host}

    def fetch(self, url: str) -> str | None:
        """Returns why the turn may not fetch an address; None if it may, and the fetch then counts as begun."""
        address = canonical_url(url)
        if address in self._said:
            return None
        if address in self._found:
            if self.has_read_private and self._found_beside_private >= MAX_FOUND_BESIDE_PRIVATE:
                return ENOUGH_FOUND
            self._found_beside_private += self.has_read_private
            return None
        if self.has_read_private or self._links_followed >= MAX_LINKS_FOLLOWED or address not in self._linked:
            return NOT_GIVEN
        self._links_followed += 1
        return None

    def refusal(self, call: ToolCall, spec: ToolSpec | None) -> str | None:
        """Returns why a call may not fetch its address; None: it may, and counts, so nothing is awaited before."""
        url = call.arguments.get(spec.fetches) if spec is not None and spec.fetches is not None else None
        return self.fetch(url) if isinstance(url, str) else None  # without an address arguments will be rejected

    def took(self, answer: ToolAnswer, arguments: Mapping[str, object], spec: ToolSpec | None) -> None:
        """Records what a call has brought into the turn."""
        if spec is None or not answer.ok:
            return
        data = answer.data
        self.has_read_private |= spec.is_private
        if spec.finds_pages:
            self.find(urls_of(data, "results"))
        if spec.fetches is not None:
            asked, found_at = arguments.get(spec.fetches), data.get("url")
            if isinstance(asked, str) and isinstance(found_at, str):
                self.read(asked, found_at=found_at, links=urls_of(data, "links"))


def sources_of(incoming: Iterable[Incoming], history: Sequence[Message], labels: Labels) -> Sources:
    """The addresses that a turn may fetch at its start; `labels` are those of everything in it."""
    # A search found the pages under the last answer that cited any, and the person sees them.
    cited = (message.pages for message in reversed(history) if isinstance(message, AssistantMessage) and message.pages)
    urls = (page.url for page in next(cited, ()))
    return Sources("\n".join(map(_own, incoming)), urls, has_read_private=bool(private(labels)))


def _canonical(urls: Iterable[str]) -> frozenset[str]:
    return frozenset(filter(None, map(canonical_url, urls)))


def _own(message: Incoming) -> str:
    """The words in which a person gave addresses; for a prompt Aldis wrote, the addresses they gave at that time."""
    scheduled = message.scheduled
    return without_names(message) if scheduled is None or scheduled.is_own else "\n".join(scheduled.addresses)


def urls_of(data: Mapping[str, Any], name: str) -> Iterator[str]:
    """The `url` of each entry in that list."""
    entries = data.get(name)
    for entry in cast("list[Any]", entries) if isinstance(entries, list) else ():
        match entry:
            case {"url": str(url)}:
                yield url
            case _:
                pass
