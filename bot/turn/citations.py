"""Pure: the sources that an answer names, made true: `[7]` leads to the page that a search of the turn really gave, and
an address that nobody gave is taken out.

    Lamps flash [7].                    + result 7 --> Lamps flash [1].    [1] https://lamps.example/
    See [lamps](https://made.example/)  a turn that searched --> See lamps
    or https://made.example/up          --> or made[.]example
                                        a turn that did not  --> as it stands (but see `bot.turn.links`)

A model that has searched is expected to name what it found; when it then gives another address it has made it up, or a
page has told it to: at best it leads nowhere, at worst it carries the person's words to somebody. A model that has not
searched names addresses that it knows, which is what it was asked for, so they stay. An address counts as given when it
stands anywhere in what the model has read: in tools' answers, in people's words, in earlier answers; the front page of
a site that was given counts too. Code is left as it is.
"""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, cast
from urllib.parse import unquote

from bot.messages import AssistantMessage, Message, ToolMessage, UserMessage
from bot.policy.trust import urls_in
from bot.turn.links import inert_host
from bot.turn.sources import data_of

_CODE = re.compile(r"(```.*?(?:```|\Z)|`[^`\n]*`)", re.DOTALL)
_CITATION = re.compile(r"\[(\d{1,3}(?:\s?,\s?\d{1,3})*)\](?![(\w])")
_LINK = re.compile(
    r"""!?\[([^\[\]\n]{0,300})\]\(<?(https?://[^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*)>?(?:\s+"[^"\n]*")?\)""",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"<(https?://[^\s<>]+)>|https?://[^\s<>\"`|\\^]+", re.IGNORECASE)
# What stands in the place of the braces is no part of a longer name, and ends where a part of the address ends.
_WHOLE = r"(?:(?<![\w.-])|(?<=www\.)){}(?![\w-]|\.\w)"
_EMPTIED = re.compile(r"[ \t]?\(\s*\)|\[\s*\]|<\s*>")
_LEFT_ALONE = re.compile(r"[ \t]*(?:[-*+•]|\d+[.)]|\[\d+\])?[ \t]*(?:\w+:)?[ \t:.,;–-]*")


def cited(text: str, read: Sequence[Message]) -> str:
    """The answer with true sources. `read` is all that the model was told: history, question, tools' answers."""
    found = _found(read)
    if not found:
        return text
    # A number of two pages, as when the process and its numbers began anew between two searches, leads to neither.
    pages = {number: urls[0] for number, urls in found.items() if len(urls) == 1}
    words = "\n".join(map(_words, read))
    given = f"{words}\n{unquote(words)}".lower()
    pieces = _CODE.split(text)  # the odd ones are code
    pieces[::2] = [_without_invented(piece, given) for piece in pieces[::2]]
    numbers: dict[str, int] = {}
    pieces[::2] = [_renumbered(piece, pages, numbers) for piece in pieces[::2]]
    answer = "".join(pieces).strip()
    lines = [f"[{number}] {url}" for url, number in numbers.items() if url not in answer]
    return "\n\n".join([answer, *(["\n".join(lines)] if lines else [])])


def _found(read: Sequence[Message]) -> Mapping[int, Sequence[str]]:
    """The pages that searches of this turn have numbered, by number, each once."""
    last_question = max((at for at, message in enumerate(read) if isinstance(message, UserMessage)), default=0)
    found: dict[int, dict[str, None]] = {}
    for message in read[last_question:]:
        for answer in message.answers if isinstance(message, ToolMessage) else ():
            results = data_of(answer.content).get("results")
            for result in cast("list[Any]", results) if isinstance(results, list) else ():
                match result:
                    case {"number": int(number), "url": str(url)}:
                        found.setdefault(number, {})[url] = None
                    case _:
                        continue
    return {number: tuple(urls) for number, urls in found.items()}


def _words(message: Message) -> str:
    if isinstance(message, UserMessage | AssistantMessage):
        return message.text
    return "\n".join(answer.content for answer in message.answers)


def _renumbered(piece: str, pages: Mapping[int, str], numbers: dict[str, int]) -> str:
    """The piece with its citations numbered by page in the order in which they come; those of nothing found stay."""

    def renumber(citation: re.Match[str]) -> str:
        old = [int(number) for number in citation[1].split(",")]
        if not all(number in pages for number in old):
            return citation[0]
        new = (numbers.setdefault(pages[number], len(numbers) + 1) for number in old)
        return "".join(f"[{number}]" for number in dict.fromkeys(new))

    return _CITATION.sub(renumber, piece)


def _without_invented(piece: str, given: str) -> str:
    """The piece without addresses that nobody gave: a link keeps its words, an address its host, an empty line goes."""
    lines = piece.split("\n")
    cleared = [_cleared(line, given) for line in lines]
    last = len(lines) - 1  # code may stand before the first line and behind the last
    return "\n".join(line for at, line in enumerate(cleared) if line or not lines[at] or at in {0, last})


def _cleared(line: str, given: str) -> str:
    """The line with no more than their hosts; "" where nothing but a bullet or a label would be left of it."""

    def link(found: re.Match[str]) -> str:
        return found[0] if _is_given(found[2], given) else found[1]

    def address(found: re.Match[str], *, shows_host: bool) -> str:
        bare = (urls_in(found[0]) or (found[0],))[0]
        if _is_given(found[1] or found[0], given) or _is_given(bare, given):
            return found[0]
        host = inert_host(found[1] or found[0]) if shows_host else ""
        behind = found[0][len(found[0].rstrip(".,;:!?)'*_]")) :] if found[1] is None else ""
        return f"{host}{behind}"

    linked = _LINK.sub(link, line)
    cleared = _ADDRESS.sub(partial(address, shows_host=False), linked)
    if cleared == line:
        return line
    if _LEFT_ALONE.fullmatch(_EMPTIED.sub("", cleared)):
        return ""
    return _EMPTIED.sub("", _ADDRESS.sub(partial(address, shows_host=True), linked))


def _is_given(url: str, given: str) -> bool:
    """Whether the address stands in what was given; the scheme, `www.`, a fragment and the last slash do not matter."""
    bare = url.lower().partition("://")[2].partition("#")[0].removeprefix("www.").rstrip(".,;:!?)'*_]/")
    return any(re.search(_WHOLE.format(re.escape(spelled)), given) for spelled in {bare, unquote(bare)} if spelled)
