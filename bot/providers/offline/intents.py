"""Pure: what a message asks for, as far as patterns can tell: arithmetic, conversions, weather, the time, a search,
a reminder, something to remember.

Understands English, and typical requests in German, French and Spanish (`phrasebook`). A message may ask for several
things; each becomes the tool call that answers it.
Left to others: arithmetic (`arithmetic`), conversions (`conversions`), places (`places`), whether the tools are
there (`provider`), what their answers say (`answers`).
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from bot.i18n import time_grammar
from bot.providers.offline.arithmetic import expression, find_expression
from bot.providers.offline.conversions import conversion
from bot.providers.offline.phrasebook import in_english
from bot.providers.offline.places import forecasts, times
from bot.settings.values import is_zone
from tools import Wish

MAX_INTENTS = 8
"""The limit per message: a pasted page is not a list of requests."""

_MAX_CHARS = 2_000


@dataclass(frozen=True, kw_only=True, slots=True)
class OfflineIntent:
    """One request: the tool that answers it and its arguments.

    `arguments` is empty for the local time, for weather without a place, and for a reminder without a time or a text.
    """

    tool: str
    arguments: Mapping[str, object]


def people_words(text: str) -> str:
    """The people's own words in a user message, without the headers and notes that Aldis adds."""
    if text.startswith(_RECALLED) and (header := _HEADER.search(text)):
        text = text[header.start() :]
    lines = (_HEADER.sub("", line) for line in text.splitlines())
    return "\n".join(line for line in lines if not _NOTE.match(line)).strip()


def asked_at(text: str) -> datetime | None:
    """Returns when and in which zone a user message was written, according to its header; None without one."""
    found = _STAMP.search(text)
    if found is None or not is_zone(found["zone"]):
        return None
    try:
        return datetime.fromisoformat(found["at"]).replace(tzinfo=ZoneInfo(found["zone"]))
    except ValueError:
        return None


def intents(words: str, now: datetime | None = None) -> tuple[OfflineIntent, ...]:
    """Returns what is asked for, in order, without repetitions; empty if no pattern fits.

    Without `now`, in the asker's zone, reminders cannot have a date.
    """
    found: list[OfflineIntent] = []
    for clause in _clauses(words[:_MAX_CHARS]):
        found += [intent for intent in _asked(_with_there(clause, found), now) if intent not in found]
    return tuple(_with_place(intent, found) for intent in found[:MAX_INTENTS])


def not_understood(words: str) -> tuple[str, ...]:
    """The requests of a message that fit no pattern, without greetings and thanks."""
    clauses = (clause for clause in _clauses(words[:_MAX_CHARS]) if len(clause.split()) > 1)
    asked = [clause for clause in clauses if not _asked(clause) and not _NOTHING_ASKED.match(clause)]
    return tuple(dict.fromkeys(asked))[:MAX_INTENTS]


_RECALLED = "(A note from Aldis:"
"""The beginning of Aldis's notes from memory, which come before the first message of a request."""
_HEADER = re.compile(r"^\[[^\]\n]*\d{4}-\d\d-\d\d[^\]\n]*\] ?", re.MULTILINE)
_STAMP = re.compile(r"^\[\w+ (?P<at>\d{4}-\d\d-\d\d \d\d:\d\d) (?P<zone>[\w+/-]+)", re.MULTILINE)
_NOTE = re.compile(r"^(?:\(in answer to\b.*\)|(?:📎|>) .*)$")


def _pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_COURTESY = _pattern(
    r"^(?:(?:hi|hello|hey|ok|okay|please|and|also|then|so|now|thanks|(?:can|could|would) you"
    r"|(?:tell|give|show) me(?! (?:something )?about)|do you know|i(?:'d| would)? (?:want|like) to know)\b[\s,:]*)+"
)
_REQUEST = (
    r"(?=(?:please |tell me |give me |show me )*(?:what|how|who|whose|when|where|which|will|is it|does it|can you"
    r"|could you|search|look|google|find|calculate|compute|(?:the )?(?:weather|forecast|time|date)|define)\b"
    r"|[\d.]+ ?[-+*/^×÷] ?\d)"
)
_AND_REQUEST = (
    r"(?=(?:was|wie|wer|wann|wo|welche[rsn]?|quel(?:le)?s?|combien|comment|qu'est-ce|qué|cuánt[oa]s?|cuál|cómo)\b)"
)
"""After "und" another request follows, after a comma the rest of one: "sag mir, wie spät es ist"."""
_REQUEST_AFTER_ENGLISH = r"(?=(?:wie|wer|wann|welche[rsn]?|quel(?:le)?s?|combien|qué|cuánt[oa]s?|cuál|cómo)\b)"
"""For several languages in one message; without "was", "wo" and "comment", which are English words, too."""
_ENGLISH_REQUEST = r"(?=(?:what|how|who|when|where|which|calculate)\b|[\d.]+ ?[-+*/^×÷] ?\d)"
_NO_DATE = r"(?!(?<=\d)\.\s+(?:um\b|jan|feb|mär|apr|mai|jun|jul|aug|sep|okt|nov|dez))"
"""The full stop after a day of the month does not end a sentence: "am 3. Dezember", "am 3.12. um 9"."""
_BORDER = _pattern(
    rf"[?;\n]+|(?<!\d)!+|(?<!\bSt)(?<!\bMt)(?<!\b[ap]\.m){_NO_DATE}\.+(?=\s|$)"
    rf"|,?(?:\s+(?:and|then|also))+\s+(?:{_REQUEST}|{_REQUEST_AFTER_ENGLISH})|,\s+{_REQUEST}"
    rf"|,?(?:\s+(?:und|dann|et|puis|y))+\s+(?:{_AND_REQUEST}|{_ENGLISH_REQUEST})"
)


def _clauses(words: str) -> Iterator[str]:
    """The separate requests of a message, without courtesies and surrounding punctuation."""
    for part in _BORDER.split(words.replace("’", "'")):
        clause = _COURTESY.sub("", part.strip()).strip(' ,:.\t"“”¿¡')
        if clause:
            yield clause


def _with_there(clause: str, found: Sequence[OfflineIntent]) -> str:
    """The clause with the previously named place instead of a final "there"."""
    place = next(filter(None, map(_place_of, reversed(found))), None)
    return _THERE.sub(lambda _: f"in {place}", clause) if place else clause


def _with_place(intent: OfflineIntent, found: Sequence[OfflineIntent]) -> OfflineIntent:
    """A request for weather without a place, completed with the place of the message's other requests."""
    if intent.tool != "get_weather" or intent.arguments:
        return intent
    place = next(filter(None, map(_place_of, found)), None)
    return OfflineIntent(tool=intent.tool, arguments={"place": place}) if place else intent


def _place_of(intent: OfflineIntent) -> object:
    return intent.arguments.get("place") or intent.arguments.get("timezone")


_THERE = _pattern(r"\bthere$")


def _asked(clause: str, now: datetime | None = None) -> Sequence[OfflineIntent]:
    """Returns what one clause asks for, by the first reader that understands it."""
    english = in_english(clause)
    return _reminder(clause, english, now) or next(filter(None, (read(english) for read in _READERS)), ())


def _reminder(clause: str, english: str, now: datetime | None) -> Sequence[OfflineIntent]:
    if _REMINDERS.fullmatch(english):
        return [OfflineIntent(tool="remind", arguments={"action": "list"})]
    if cancel := _CANCEL.fullmatch(english):
        return [OfflineIntent(tool="remind", arguments={"action": "cancel", "number": int(cancel[1])})]
    match = _REMIND.fullmatch(english)
    if match is None:
        return ()
    at, zone = now or _NO_DAY, _zone(now)
    rest = match["rest"]
    wish = time_grammar.find(rest, now=at, zone=zone) or time_grammar.find(rest, now=at, zone=zone, lacks_hour=True)
    if wish is None and (match["wake"] or match["timer"]):  # nobody says what for
        tries = (f"{lead}{rest} {clause}" for lead in ("", "in ", "at "))
        wish = next(filter(None, (time_grammar.read(words, now=at, zone=zone) for words in tries)), None)
    if wish is None or (now is None and wish.delay_seconds is None):
        return [OfflineIntent(tool="remind", arguments={})]
    return [OfflineIntent(tool="remind", arguments=_planned(wish))]


def _planned(wish: Wish) -> Mapping[str, object]:
    planned: dict[str, object] = {"action": "set", "text": wish.text}
    if wish.delay_seconds is not None:
        return planned | {"delay_seconds": wish.delay_seconds}
    planned["local_datetime"] = wish.local
    if wish.repeat is not None:
        planned["repeat"] = wish.repeat.every
        planned |= {"weekdays": [*wish.repeat.weekdays]} if wish.repeat.weekdays else {}
    return planned


def _zone(now: datetime | None) -> str:
    return now.tzinfo.key if now is not None and isinstance(now.tzinfo, ZoneInfo) else "UTC"


def _memory(clause: str) -> Sequence[OfflineIntent]:
    match = _REMEMBER.fullmatch(clause)
    return [OfflineIntent(tool="remember", arguments={"action": "remember", "fact": match[1]})] if match else ()


def _search(clause: str) -> Sequence[OfflineIntent]:
    match = _SEARCH.match(clause) or _LOOK_UP.match(clause)
    return [OfflineIntent(tool="web_search", arguments={"query": match[1]})] if match else ()


def _sum(clause: str) -> Sequence[OfflineIntent]:
    found = expression(clause)
    return [OfflineIntent(tool="calculate", arguments={"expression": found})] if found else ()


def _conversion(clause: str) -> Sequence[OfflineIntent]:
    found = conversion(clause)
    return [OfflineIntent(tool="convert", arguments=found)] if found else ()


def _time(clause: str) -> Sequence[OfflineIntent]:
    return [OfflineIntent(tool="current_time", arguments=asked) for asked in times(clause)]


def _weather(clause: str) -> Sequence[OfflineIntent]:
    return [OfflineIntent(tool="get_weather", arguments=asked) for asked in forecasts(clause)]


def _embedded_sum(clause: str) -> Sequence[OfflineIntent]:
    found = find_expression(clause)
    return [OfflineIntent(tool="calculate", arguments={"expression": found})] if found else ()


def _question(clause: str) -> Sequence[OfflineIntent]:
    match = _NOUN.match(clause) or _QUESTION.match(clause)
    if not match or _PERSONAL.search(match[1]):
        return ()
    return [OfflineIntent(tool="web_search", arguments={"query": match[1]})]


_READERS: Sequence[Callable[[str], Sequence[OfflineIntent]]] = (
    _memory,
    _search,
    _sum,
    _conversion,
    _time,
    _weather,
    _embedded_sum,
    _question,
)

_REMIND = _pattern(
    r"(?:remind me|(?P<wake>wake me(?: up)?|set (?:me )?an? (?:alarm|reminder)(?: for)?)"
    r"|(?P<timer>(?:set |start )(?:me )?a timer (?:for|of))),? (?P<rest>.+)"
)
_NO_DAY = datetime(2000, 1, 1, tzinfo=UTC)
"""For when the day is unknown: delays can still be computed."""
_REMINDERS = _pattern(
    r"(?:(?:what are|which are|show(?: me)?|list|what|which|do i have) )?(?:all |any )?(?:(?:of )?my |the )?reminders"
    r"(?: (?:do i have|are there|have i got))?"
)
_CANCEL = _pattern(
    r"(?:please )?(?:cancel|delete|remove) (?:the |my )?reminder (?:number |no\.? ?|nr\.? ?|#)?(\d{1,9})"
)
_REMEMBER = _pattern(r"remember,? (?:that )?(?:i(?:'m| am) )?(.+)")
_NOTHING_ASKED = _pattern(
    r"(?:thank|thanks|merci|gracias|danke|vielen dank|guten |good |bonjour|buen|hallo|hello|hola|salut"
    r"|a lot$|very much$)"
)

_SEARCH = _pattern(
    r"(?:do an? )?(?:web )?(?:search|google|look up|look for|find out|find)\b(?: (?:the (?:web|internet)|online))?"
    r"(?: (?:for|about|on))? (.+)"
)
_LOOK_UP = _pattern(r"look (.+) up$")
_NOUN = _pattern(
    r"(?:who(?:'s| is| was| are| were)|what(?:'s|s| is| was| are| were)|where(?:'s| is| are)"
    r"|tell me (?:something )?about|define|explain) (?:(?:the|an?) )?(.+)"
)
_QUESTION = _pattern(r"((?:who|whose|what|where|when|which|why|how) \S+ \S.*)")
_PERSONAL = _pattern(r"\b(?:you|your|i|my|me|we|our|us|this|that|it|up|going on)\b")
