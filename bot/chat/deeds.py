"""Shows what a tool call would do to the person who has to agree to it, and other people's words and names as Markdown.

    use delete_file (server: files)
    - path: “/srv/old”

A stranger may have written whatever a model fills in. So it is put in quotation marks, on one line, without links and
without characters that style or hide anything: it can look like nothing but a quotation. All of it is shown.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import cast

from bot.chat import phrases
from bot.chat.phrases import Deed
from bot.i18n.catalogues import say
from bot.i18n.locale import quotation
from bot.messages import ToolCall
from bot.trust.links import inert
from tools import ToolSpec, clean_line

_MAX_NAME_CHARACTERS = 60
_MAX_DEPTH = 8

_QUOTATION_MARKS = dict.fromkeys(map(ord, "“”„‟«»❝❞〝〞＂"), '"')
# A backslash may begin a formula and cannot be escaped; this character looks like one.
_BACKSLASH = {ord("\\"): "\u29f5"}
_STYLING = re.compile(r"([*_~`|#$<])")


def deed(call: ToolCall, spec: ToolSpec | None) -> Deed:
    """Describes a call: its tool, as people call it, and the arguments one by one, however deeply they are nested.

    `spec` is None if there is no such tool now.
    """
    named = ((" › ".join(path).replace("_", " "), value) for path, value in _leaves(call.arguments))
    details = tuple(f"{plain_name(name)}: {_shown(value)}" for name, value in named)
    if spec is not None and spec.server:
        words = say(phrases.DEED_TOOL_OF_SERVER, name=plain_name(call.name), server=plain_name(spec.server))
    else:
        words = say(phrases.DEED_TOOL, name=plain_name(phrases.tool_name(call.name)))
    return Deed(words=words, details=details)


def _leaves(value: object, *path: str, depth: int = 0) -> Iterator[tuple[tuple[str, ...], object]]:
    """Each value with the names that lead to it; anything nested too deeply counts as one value."""
    match value:
        case Mapping() if depth < _MAX_DEPTH:
            for name, item in cast("Mapping[str, object]", value).items():
                yield from _leaves(item, *path, name, depth=depth + 1)
        case list() if depth < _MAX_DEPTH:
            for item in cast("list[object]", value):
                yield from _leaves(item, *path, depth=depth + 1)
        case _:
            yield path, value


def _shown(value: object) -> str:
    match value:
        case str():
            return quote(value)
        case dict() | list():
            return quote(json.dumps(value, ensure_ascii=False))
        case bool() | None:
            return {True: "✔", False: "✘", None: "–"}[value]
        case _:
            return _plain(str(value)[:_MAX_NAME_CHARACTERS])


def quote(text: str) -> str:
    """Foreign words as a quotation in Markdown: on one line, inert."""
    return quotation(_plain(clean_line(text).translate(_QUOTATION_MARKS)))


def plain_name(name: str) -> str:
    """A chosen name as Markdown in which nothing is styled, a link or a formula; on one line, and cut."""
    return _plain(clean_line(name)[:_MAX_NAME_CHARACTERS])


def _plain(line: str) -> str:
    """The line as Markdown in which nothing is styled, a link or a formula."""
    safe = inert(line.translate(_BACKSLASH)).replace("](", "] (")
    return _STYLING.sub(r"\\\1", safe)
