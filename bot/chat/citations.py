"""The pages an answer cites: models know them by a number in the conversation, people by a position in the answer.

    a search gave   {"number": 104, "url": lamps, ...}
    a model says    Lamps flash [104, 999].
    is stored       Lamps flash [104].            with pages=(104: lamps)
    people see      Lamps flash [1].

                    [1] https://lamps.example/

So a number means the same page for as long as it is part of any request, and a stored answer can be shown again.
Numbers start above any that people see, because a small one is either what people were shown or a model's own count.
A number without a page is removed while its sentence stays; code is left alone.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from bot.chat import phrases
from bot.chat.steps import ToolRun
from bot.i18n.catalogues import say
from bot.messages import AssistantMessage, Message, Page, Text, ToolMessage
from bot.models.base import Completion, Stop
from bot.models.offline import describe_answer
from bot.trust.links import inert_host
from tools import canonical_url, clean_text

FIRST_NUMBER = 101
"""Above all numbers that people see in an answer."""
MAX_NUMBER = 999
"""Beyond it, free numbers are reused; a citation has three digits."""

_CODE = re.compile(r"(```.*?(?:```|\Z)|`[^`\n]*`)", re.DOTALL)
# Some models write the brackets of their training data, with supposed line numbers after a dagger.
_CITATION = re.compile(
    r"(?P<before>[ \t]?)(?:\[(?P<plain>\d{1,3}(?:\s?[,;]\s?\d{1,3})*)\](?![(\w])"
    r"|【(?P<odd>\d{1,3})(?:†[^】\n]{0,80})?】)(?P<after>[ \t]?)"
)
_IN_BRACKETS = re.compile(r"\[(\d{1,3}(?:\s?[,;]\s?\d{1,3})*)\]|【(\d{1,3})(?:†[^】\n]{0,80})?】")
_MAX_DEPTH = 24  # levels; `tools.fit_json` hands on no more
_WOULD_BE_OTHERS = re.compile(r"[(\w]")
"""What follows brackets that are not a citation but name an item or a link."""
_SHOWN = re.compile(r"\[(\d{1,3})\]")

Shield = Callable[[str], str]
"""Removes addresses from words that a model may have written on a stranger's behalf, or to leak something."""


class CitedPages:
    """The pages of a conversation and their numbers, as far as one turn knows them."""

    def __init__(self, history: Iterable[Message], finds_pages: Callable[[str], bool]) -> None:
        """`history` is what was said before the turn; `finds_pages` tells whether the named tool does."""
        self._history = history
        self._finds_pages = finds_pages
        self._is_read = False
        self.last_number = 0
        """The highest number assigned so far; 0 if there is none."""
        self._urls: dict[int, str | None] = {}
        """By number; None for a number of two pages, which turns may have assigned that knew nothing of each other."""
        self._numbers: dict[str, int] = {}
        self._shown: dict[int, str] = {}
        """What people were shown with the last answer that had sources."""
        self._found: dict[str, str] = {}
        """What this turn has found, in order, by the address's canonical spelling."""

    @property
    def has_found(self) -> bool:
        """Whether the turn has found any page."""
        return bool(self._found)

    def number(self, url: str) -> int:
        """The number of a page, newly assigned if it has none."""
        self._read()
        key = _key(url)
        if key not in self._numbers:
            number = max(self.last_number + 1, FIRST_NUMBER)
            if self.last_number >= MAX_NUMBER:
                free = (other for other in range(FIRST_NUMBER, MAX_NUMBER + 1) if other not in self._urls)
                number = next(free, MAX_NUMBER + 1 + len(self._urls))  # can no longer be cited
            self._define(number, url)
        return self._numbers[key]

    def find(self, url: str) -> int:
        """The number of a page that this turn has found."""
        number = self.number(url)
        self._found.setdefault(_key(url), url)
        return number

    def take(self, message: Message) -> None:
        """Adds what this turn's tools answered before a restart."""
        self._read()
        for number, url in self._rows(message):
            self._define(number, url)
            self._found.setdefault(_key(url), url)

    def page(self, number: int, cited: Collection[int]) -> Page | None:
        """The page that one of an answer's cited numbers means; None if there is none or it is ambiguous."""
        self._read()
        url = self._urls.get(number)
        shown = self._shown.get(number)
        if number < FIRST_NUMBER:  # not ours: what people were shown under it, or the model's own count
            counted = list(self._found.values())[number - 1 : number] if number else []
            meant = {_key(one): one for one in (shown, url, *counted) if one is not None}
            url = next(iter(meant.values())) if len(meant) == 1 else None
            if shown is not None and (not self._found or any(other >= FIRST_NUMBER for other in cited)):
                url = shown
        return None if url is None else Page(number=self.number(url), url=url)

    def _read(self) -> None:
        """Reads the history once, on first use: most turns have no pages."""
        if self._is_read:
            return
        self._is_read = True
        for message in self._history:
            for number, url in self._rows(message):
                self._define(number, url)
            if isinstance(message, AssistantMessage) and message.pages:
                self._shown = {place: page.url for place, page in enumerate(message.pages, 1)}

    def _rows(self, message: Message) -> Iterator[tuple[int, str]]:
        if isinstance(message, AssistantMessage):
            yield from ((page.number, page.url) for page in message.pages or ())
        for answer in message.answers if isinstance(message, ToolMessage) else ():
            if not self._finds_pages(answer.name):
                continue
            results = answer.data.get("results")
            for result in cast("list[Any]", results) if isinstance(results, list) else ():
                match result:
                    case {"number": int(number), "url": str(url)}:
                        yield number, url
                    case _:
                        continue

    def _define(self, number: int, url: str) -> None:
        known = self._urls.setdefault(number, url)
        if known is not None and _key(known) != _key(url):
            self._urls[number] = None
        if number >= FIRST_NUMBER:
            self.last_number = max(self.last_number, number)
            if self._urls[number] is not None:
                self._numbers.setdefault(_key(url), number)


def number_pages(data: Mapping[str, Any], pages: CitedPages) -> Mapping[str, Any]:
    """The findings of a search, with the page's number in each result."""
    results = data.get("results")
    if not isinstance(results, list | tuple):
        return data
    rows: list[object] = []
    for row in cast("Sequence[Any]", results):
        match row:
            case {"url": str(url)}:
                others = {name: value for name, value in cast("dict[str, Any]", row).items() if name != "number"}
                rows.append({"number": pages.find(url), **others})
            case _:
                rows.append(row)
    return {**data, "results": rows}


def without_numbers(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns what a page or a search says, without numbers in square brackets that may be those of other pages."""
    return {name: _without_numbers(item, name, _MAX_DEPTH) for name, item in data.items()}


def cite(text: str, pages: CitedPages, shows: Callable[[str], bool]) -> AssistantMessage | None:
    """The answer as it is stored, with those of its pages whose address it `shows`; None if no words are left."""
    pieces = _CODE.split(text)  # the odd ones are code
    found: dict[int, Page] = {}
    if any(_CITATION.search(piece) for piece in pieces[::2]):
        # The cited pages by the numbers the answer uses, in order of appearance.
        written = dict.fromkeys(n for piece in pieces[::2] for one in _CITATION.finditer(piece) for n in _numbers(one))
        meant = {number: pages.page(number, written.keys()) for number in written}
        found = {number: page for number, page in meant.items() if page is not None and shows(page.url)}
        if found or pages.has_found:
            pieces[::2] = [_kept(piece, found) for piece in pieces[::2]]
    words = "".join(pieces).strip()
    named = dict.fromkeys(int(number) for piece in _CODE.split(words)[::2] for number in _SHOWN.findall(piece) if found)
    kept = {page.number: page for page in found.values()}
    order = tuple(kept[number] for number in named if number in kept)
    return AssistantMessage(parts=(Text(text=words),), pages=order) if words else None


def visible_words(message: AssistantMessage) -> str:
    """The words of an answer as people see them: citations numbered from 1, with their addresses below."""
    pages = message.pages or ()
    if not pages:
        return message.text
    places = {page.number: place for place, page in enumerate(pages, 1)}
    answer = _replaced(message.text, lambda number: f"[{places[number]}]" if number in places else None)
    lines = [f"[{places[page.number]}] {page.url}" for page in pages if page.url not in answer]
    return "\n\n".join([answer, *(["\n".join(lines)] if lines else [])])


def in_hosts(message: AssistantMessage) -> str:
    """The words of an answer with the hosts of its citations, for readers who do not know its numbers."""
    if not message.pages:
        return message.text
    hosts = {page.number: inert_host(page.url) for page in message.pages}
    return _replaced(message.text, lambda number: f"({hosts[number]})" if number in hosts else None)


def _without_numbers(item: Any, name: str, levels: int) -> Any:
    match item:
        case str() if name != "url":
            return _IN_BRACKETS.sub(_in_round_brackets, item)
        case dict() if levels:
            entries = cast("dict[str, Any]", item)
            return {key: _without_numbers(entry, key, levels - 1) for key, entry in entries.items()}
        case list() | tuple() if levels:
            return [_without_numbers(entry, "", levels - 1) for entry in cast("Sequence[Any]", item)]
        case _:
            return item


def _in_round_brackets(found: re.Match[str]) -> str:
    numbers = found[1] or found[2]
    is_ours = any(int(number) >= FIRST_NUMBER for number in re.findall(r"\d+", numbers))
    return f"({numbers})" if is_ours else found[0]


def _key(url: str) -> str:
    return canonical_url(url) or url


def _numbers(citation: re.Match[str]) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", citation["plain"] or citation["odd"])]


def _kept(piece: str, pages: Mapping[int, Page]) -> str:
    """The piece with its citations under the pages' numbers; those of unknown pages are removed."""

    def kept(citation: re.Match[str]) -> str:
        known = dict.fromkeys(pages[number].number for number in _numbers(citation) if number in pages)
        before, after = citation["before"], citation["after"]
        if known and not after and _WOULD_BE_OTHERS.match(piece, citation.end()):
            after = " "
        if known:
            return before + "".join(f"[{number}]" for number in known) + after
        begins_line = citation.start() == 0 or piece[citation.start() - 1] == "\n"
        return "" if not before and begins_line else after

    return _CITATION.sub(kept, piece)


def _replaced(text: str, instead: Callable[[int], str | None]) -> str:
    pieces = _CODE.split(text)

    def replaced(found: re.Match[str]) -> str:
        said = instead(int(found[1]))
        return found[0] if said is None else said

    pieces[::2] = [_SHOWN.sub(replaced, piece) for piece in pieces[::2]]
    return "".join(pieces)


def words_of(
    completion: Completion, pages: CitedPages, runs: Iterable[ToolRun], shielded: Shield
) -> tuple[str, AssistantMessage | None]:
    """Returns what people read of a completion that runs no tools, and what is kept of it; None: it is no answer."""
    if completion.stop is Stop.REFUSAL:
        return say(phrases.REFUSED), None
    is_cut = completion.stop is Stop.LENGTH
    message = completion.message
    if message is not None and not message.calls:  # words before a call announce it, and are no answer
        answer = cite(message.text, pages, shows=lambda url: shielded(url) == url)
        words = "" if answer is None else shielded(answer.text)
        if answer is not None and clean_text(words).strip():
            answer = replace(answer, parts=(Text(text=words),))
            text = shielded(visible_words(answer))
            return f"{text}\n\n{say(phrases.CUT_OFF)}" if is_cut else text, answer
    if found := [describe_answer(run.answer) for run in runs if run.answer.ok]:
        # The tools' findings, for a model that found no words for them.
        text = shielded("\n\n".join([say(phrases.FOUND_ALONE), *found]))
        return text, AssistantMessage(parts=(Text(text=text),))
    return say(phrases.NO_WORDS_LEFT if is_cut else phrases.NOTHING_SAID), None
