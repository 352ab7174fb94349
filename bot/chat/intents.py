"""Describes what tool calls would do, in sentences for the person who has to agree to them.

    a tool of ours     its spec names the sentence and the values in it       remind you in 10 min: “buy a lamp”
    any other tool     its name, its server, and its arguments one by one     use delete_file (server: files)
                                                                              - path: “/srv/old”

A stranger may have written whatever a model fills in. So it is put in quotation marks, on one line, without links and
without characters that style or hide anything: it can look like nothing but a quotation. All of it is shown.
"""

import json
import logging
import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import cast

from bot.chat import phrases
from bot.chat.phrases import Deed
from bot.i18n.catalogues import Sentence, say
from bot.i18n.locale import join_list, long_day, number, quotation, weekday
from bot.i18n.phrases import duration
from bot.logs import describe_error
from bot.messages import ToolCall
from bot.trust.links import inert
from tools import ToolSpec, Wish, clean_line

_log = logging.getLogger(__name__)

_MAX_NAME_CHARACTERS = 60
_MAX_DEPTH = 8

_SENTENCES: Mapping[str, Sentence] = {
    name.removeprefix("DEED_").lower(): sentence
    for name, sentence in vars(phrases).items()
    if name.startswith("DEED_") and not name.startswith("DEED_TOOL")
}
_QUOTATION_MARKS = dict.fromkeys(map(ord, "“”„‟«»❝❞〝〞＂"), '"')
# A backslash may begin a formula and cannot be escaped; this character looks like one.
_BACKSLASH = {ord("\\"): "\u29f5"}
_STYLING = re.compile(r"([*_~`|#$<])")


def deed(call: ToolCall, spec: ToolSpec | None) -> Deed:
    """Describes what a valid call would do; `spec` is None if there is no such tool now."""
    if spec is not None and spec.intent is not None:
        try:
            intent = spec.intent(spec.arguments.model_validate(call.arguments))
            values = {name: _value(value) for name, value in intent.values.items()}
            return Deed(words=say(_SENTENCES[intent.sentence], **values), details=tuple(_lines(intent.details)))
        except Exception as error:  # noqa: BLE001  (what is missing or wrong in it the call itself will say)
            _log.debug("no sentence for a call of %s: %s", spec.name, describe_error(error))
    details = tuple(_lines(call.arguments))
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


def quote(text: str) -> str:
    """Foreign words as a quotation in Markdown: on one line, inert."""
    return quotation(_plain(clean_line(text).translate(_QUOTATION_MARKS)))


def _plain(line: str) -> str:
    """The line as Markdown in which nothing is styled, a link or a formula."""
    safe = inert(line.translate(_BACKSLASH)).replace("](", "] (")
    return _STYLING.sub(r"\\\1", safe)


def plain_name(name: str) -> str:
    """A chosen name as Markdown in which nothing is styled, a link or a formula; on one line, and cut."""
    return _plain(clean_line(name)[:_MAX_NAME_CHARACTERS])


def _value(value: object) -> str:
    match value:
        case str():
            return quote(value)
        case int():
            return str(value)
        case Decimal():
            return number(value)
        case date():
            return long_day(value)
        case Wish():
            return _when(value)
        case _:
            raise TypeError(f"nothing to fill in: {type(value).__name__}")


def _lines(arguments: Mapping[str, object]) -> Iterator[str]:
    for path, value in _leaves(arguments):
        yield f"{plain_name(' › '.join(path))}: {_shown(value)}"


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


def _when(wish: Wish) -> str:
    """Returns when something is due: `every Monday and Wednesday at 18:00, from 24 December 2026`."""
    repeat = wish.repeat
    if repeat is not None:
        words = _again(wish)
        if repeat.count is not None:
            words = say(phrases.WHEN_COUNTED, when=words, count=repeat.count)
        if repeat.until is not None:
            words = say(phrases.WHEN_UNTIL, when=words, day=long_day(repeat.until))
    elif wish.delay_seconds is not None:
        words = say(phrases.WHEN_IN, duration=duration(wish.delay_seconds))
    else:
        at = datetime.fromisoformat(wish.local or "")
        words = say(phrases.WHEN_AT, day=long_day(at, with_weekday=True), time=f"{at:%H:%M}")
    return words if wish.timezone is None else f"{words} ({plain_name(wish.timezone)})"


def _again(wish: Wish) -> str:
    repeat = wish.repeat
    assert repeat is not None  # noqa: S101  (its caller has looked)
    every = phrases.repeats(repeat)
    if wish.delay_seconds is not None:
        return say(phrases.WHEN_AGAIN_IN, repeats=every, duration=duration(wish.delay_seconds))
    at = datetime.fromisoformat(wish.local or "")
    day, time = long_day(at), f"{at:%H:%M}"
    if repeat.every == "week" and repeat.interval == 1 and repeat.weekdays:
        days = [weekday(number) for number in sorted(map(phrases.DAYS.index, repeat.weekdays))]
        return say(phrases.WHEN_ON_DAYS, days=join_list(days), time=time, day=day)
    return say(phrases.WHEN_HOURLY if repeat.every == "hour" else phrases.WHEN_AGAIN, repeats=every, time=time, day=day)
