"""The notation in which a model without native tool calls asks for tools: parsed from its text, and written for it.
Pure.

    I look. <<get_weather: {"place": "Oslo"}>>   --pieces-->   "I look.", Written(get_weather, '{"place": "Oslo"}')

A marker counts if it names a known tool, or if name, colon and brace are there: `cout << x`, `cat <<EOF` and
`<<chapter>>` are text. Small models vary it a lot, so the parser is lenient: it accepts fences and backticks around it
or its object, typographic quotes, line breaks within strings, a bracket or nothing instead of the colon, a missing end.
Only a model's own completion is parsed. Other people's words are shown to the model `escape_markers`, and a marker that
repeats them (`squeeze`) is a quotation, not a call.
Left to others: how a whole request and its answer are put into words (`bot.providers.prompted.provider`).
"""

import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from math import isfinite

RESULT = "RESULT"
"""The name in the markers above results. No tool is called that: their names are in lower case."""

_MAX_MARKERS = 64
"""The limit per completion; anything beyond it is text, so that a text full of markers is still quick to parse."""

_QUOTES = "\"'`“”„*"
_OPENING = re.compile(rf"<<[ \t]*[{_QUOTES}]{{0,3}}([^\W\d][\w.-]{{0,99}})[{_QUOTES}]{{0,3}}[ \t]*(?=:(?!:)|>>|[({{])")
_LEAD = re.compile(r"[:(]?\s*(?:```\w*\s*)?")
"""What separates a name from its arguments."""
_END = re.compile(r"(?:[\s`)}\]]*+>{1,3})?")
"""What follows an object; empty if the model forgot it."""
_BEGUN = re.compile(
    rf"<(?:<[ \t]*[{_QUOTES}]{{0,3}}[\w.-]{{0,100}}[{_QUOTES}]{{0,3}}\s*(?:>|[:(]\s*(?:`{{1,3}}\w*\s*)?)?)?\Z"
)
"""What may become a marker once more of the text arrives."""
_ENDING = re.compile(r"[\s`)}\]>]{0,8}\Z")
_OPEN_FENCE = re.compile(r"(?:(?:\A|\n)[ \t]*```\w*[ \t]*\n?|`)[ \t]*\Z")
_CLOSED_FENCE = re.compile(r"\s*(?:```[ \t]*(?=\n|\Z)|`)")

_STRAIGHT = str.maketrans("“”„‟", '""""')
_UNSAID = re.compile(rf"\\+[nrtbf]?|[\s{_QUOTES}]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class WrittenCall:
    """A call as a model wrote it."""

    name: str
    arguments: str
    """A JSON object; the words in its place if there is none; "" if there is nothing at all."""


Piece = str | WrittenCall


@dataclass(frozen=True, kw_only=True, slots=True)
class _Marker:
    start: int
    end: int
    written: WrittenCall
    is_closed: bool
    """Whether its closing brackets are there."""


def pieces(text: str, *, names: Collection[str] = (), given: str = "") -> list[Piece]:
    """The words and the calls of a completion, in order; just the text if there are no calls.

    `names` are the existing tools; `given` is what the model was told, as `squeeze` returns it. Drops whatever follows
    a result that the model invented after its calls. Never raises; takes linear time.
    """
    return _pieces(text, _markers(text, names, given, is_whole=True))


def visible_parts(text: str, *, names: Collection[str] = (), given: str = "") -> list[str]:
    """The words of an unfinished completion, without anything that is a marker or may become one."""
    found = list(_markers(text, names, given, is_whole=False))
    end = len(text)
    if found and not found[-1].is_closed and _ENDING.match(text, found[-1].end):
        end = found[-1].end
    begun = _BEGUN.search(text, found[-1].end if found else 0)
    kept = text[: begun.start() if begun else end].rstrip()
    return [piece for piece in _pieces(kept, [one for one in found if one.end <= end]) if isinstance(piece, str)]


def marker(name: str, arguments: str) -> str:
    """A call as a model should write it; `arguments` is its JSON object."""
    return f"<<{name}: {arguments}>>"


def heading(name: str) -> str:
    """The line above the result of a call of that tool."""
    return f"<<{RESULT}: {name}>>"


def escape_markers(text: str) -> str:
    """The text with a backslash in everything that looks like a marker."""
    return _OPENING.sub(lambda opening: f"<\\{opening[0][1:]}", text)


def escaped_json(text: str) -> str:
    """The same for JSON, whose meaning does not change: angle brackets occur only in its strings."""
    return _OPENING.sub(lambda opening: f"<\\u003c{opening[0][2:]}", text)


def squeeze(text: str) -> str:
    """The text without white space, quotes and escapes: repetitions are recognised in JSON or another layout."""
    return _UNSAID.sub("", text)


def _markers(text: str, names: Collection[str], given: str, *, is_whole: bool) -> Iterator[_Marker]:
    """All markers that count, in order."""
    at = 0
    for opening in islice(_OPENING.finditer(text), _MAX_MARKERS):
        if opening.start() < at:
            continue
        found = _marker(text, opening, names, is_whole=is_whole)
        if found is None:
            continue
        # An unfinished marker is not a quotation yet, whatever it becomes.
        is_quoted = (is_whole or found.is_closed) and squeeze(text[found.start : found.end]) in given
        if not is_quoted:
            at = found.end
            yield found


def _marker(text: str, opening: re.Match[str], names: Collection[str], *, is_whole: bool) -> _Marker | None:
    name, start = opening[1], opening.start()
    lead = _LEAD.match(text, opening.end())
    at = lead.end() if lead else opening.end()
    is_known = name in names or name == RESULT
    if not is_known and not (text[at : at + 1] == "{" and lead and lead[0].startswith(":")):
        return None
    read = _object(text, at)
    if read is not None:
        arguments, behind = read
        ending = _END.match(text, behind)
        end = ending.end() if ending else behind
        is_closed = text[:end].endswith(">>")
        return _Marker(start=start, end=end, written=WrittenCall(name=name, arguments=arguments), is_closed=is_closed)
    if not is_known and is_whole and text.find(">>", at) < 0:
        return None
    end = _end_of_words(text, at, is_whole=is_whole)
    words = text[at:end].strip()
    written = WrittenCall(name=name, arguments=words.removesuffix(">>").rstrip())
    return _Marker(start=start, end=end, written=written, is_closed=words.endswith(">>"))


def _finite(number: str) -> float:
    """The number; refuses what JSON cannot express: too large a number, or none at all."""
    value = float(number)
    if not isfinite(value):
        raise ValueError("no finite number")
    return value


_OBJECTS = json.JSONDecoder(strict=False, parse_float=_finite, parse_constant=_finite)


def _object(text: str, at: int) -> tuple[str, int] | None:
    """The object that begins there, in strict JSON, and its end; None if there is none that can be parsed."""
    if text[at : at + 1] != "{":
        return None
    for spelled in (text, text.translate(_STRAIGHT)):
        try:
            value, end = _OBJECTS.raw_decode(spelled, at)
            return json.dumps(value), end
        except (ValueError, RecursionError):
            continue
    return None


def _end_of_words(text: str, at: int, *, is_whole: bool) -> int:
    """The end of a marker without an object: at its brackets, or else at the end of its line.

    If an object was begun, or more text may arrive, it is the end of the text.
    """
    is_object = text[at : at + 1] == "{"
    closed = text.find(">>", at)
    if closed >= 0 and (is_whole or not is_object):
        return closed + 2
    line = text.find("\n", at)
    return line if line >= 0 and is_whole and not is_object else len(text)


def _pieces(text: str, markers: Iterator[_Marker] | Sequence[_Marker]) -> list[Piece]:
    found: list[Piece] = []
    at, is_called = 0, False
    for one in markers:
        found.append(text[at : one.start])
        at = one.end
        if one.written.name != RESULT:
            found.append(one.written)
            is_called = True
        elif is_called:
            at = len(text)
            break
    found.append(text[at:])
    return _tidied(found) if len(found) > 1 else found


def _tidied(found: Sequence[Piece]) -> list[Piece]:
    """The pieces without the white space and fences around calls."""
    tidied: list[Piece] = []
    is_fenced = False
    for place, piece in enumerate(found):
        if not isinstance(piece, str):
            tidied.append(piece)
            continue
        words = _CLOSED_FENCE.sub("", piece, count=1) if is_fenced and _CLOSED_FENCE.match(piece) else piece
        is_fenced = is_fenced and words is piece
        words = words.lstrip() if place else words
        if place < len(found) - 1:
            bare = _OPEN_FENCE.sub("", words)
            is_fenced = is_fenced or bare != words
            words = bare.rstrip()
        if words:
            tidied.append(words)
    return tidied
