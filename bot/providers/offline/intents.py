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
    for clause in clauses(words):
        found += [intent for intent in _asked(_with_there(clause, found), now) if intent not in found]
    return tuple(_with_place(intent, found) for intent in found[:MAX_INTENTS])


def not_understood(words: str) -> tuple[str, ...]:
    """The requests of a message that fit no pattern, without greetings and thanks."""
    several = (clause for clause in clauses(words) if len(clause.split()) > 1)
    asked = [clause for clause in several if not _asked(clause) and not _NOTHING_ASKED.match(clause)]
    return tuple(dict.fromkeys(asked))[:MAX_INTENTS]


_RECALLED = "(A note from Aldis:"
"""The beginning of Aldis's notes from memory, which come before the first message of a request."""
_HEADER = re.compile(r"^\[[^\]\n]{0,20}\d{4}-\d\d-\d\d[^\]\n]{0,200}\] ?", re.MULTILINE)
_STAMP = re.compile(r"^\[\w+ (?P<at>\d{4}-\d\d-\d\d \d\d:\d\d) (?P<zone>[\w+/-]+)", re.MULTILINE)
_NOTE = re.compile(r"^(?:\(in answer to\b.*\)|(?:📎|>) .*)$")


def _pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_COURTESY = _pattern(
    r"^(?:(?:(?:hi|hello|hey|hallo|moin|guten (?:morgen|tag|abend)|bonjour|bonsoir|salut|hola|buenos días"
    r"|buenas tardes)(?: aldis)?|aldis(?=,)|ok|okay|please|and|und|et|y|also|then|so|now|thanks|(?:can|could|would) you"
    r"|(?:tell|give|show) me(?! (?:something )?about)|do you know|i(?:'d| would)? (?:want|like) to know"
    r"|bitte|danke|por favor|s'il te plaît"
    r"|(?:sag mir|kannst du mir|weißt du)(?: (?:bitte|mal|sagen))*(?=,? w| die uhr|$)"
    r"|(?:dis[- ]moi|tu (?:peux me dire|sais)|peux-tu me dire|sais-tu)(?=,? (?:qu|com|l'heure)|$)"
    r"|(?:dime|sabes|(?:me )?puedes decir(?:me)?)(?=,? (?:qu|c[uó]|la hora)|$))(?!\w)[\s,:]*)+"
)
_AND = r"and|then|also|but|und|dann|außerdem|sowie|et|puis|ensuite|y|luego|además"
_TAIL = _pattern(
    rf"(?:[\s,]+(?:please|bitte|s'il (?:te|vous) pla[iî]t|por favor|{_AND})"
    r"|,\s*(?:thanks|thank you|danke|vielen dank|merci|gracias)(?: (?:a lot|very much|schön|beaucoup))?)+$"
)
_JOINT = _pattern(rf",?(?P<word>(?:\s+(?:{_AND}|as well as))+|\s+&),?\s+|,\s+")
"""Between two requests, or in the middle of one: "milk and bread", "Tokyo and Lima"."""
_NO_DATE = r"(?!(?<=\d)\.\s+(?:um\b|jan|feb|mär|apr|mai|jun|jul|aug|sep|okt|nov|dez))"
"""The full stop after a day of the month does not end a sentence: "am 3. Dezember", "am 3.12. um 9"."""
_BORDER = _pattern(
    r"[?;\n]+|(?<!\d)!+|(?<=\d!)\s+(?-i:(?=[¿¡A-ZÄÖÜÉ]))"
    rf"|(?<!\bSt)(?<!\bMt)(?<!\b\w\.\w){_NO_DATE}\.+(?=\s|$)"
)
_MAX_HEAD_CHARS = 300
"""A longer text is not read again at each of its joints."""


def clauses(words: str) -> Iterator[str]:
    """The separate requests of a message, without courtesies and surrounding punctuation."""
    # Many blanks in a row would be read again at each of them.
    plain = _BLANKS.sub(" ", words[:_MAX_CHARS]).replace("’", "'")
    for sentence in _split(plain):
        joints = [*_unquoted(_JOINT, sentence)]
        start = 0
        for joint, end in zip(joints, [*(joint.start() for joint in joints[1:]), len(sentence)], strict=False):
            head = sentence[start : joint.start()]
            if len(head) <= _MAX_HEAD_CHARS and _is_border(_bare(head), joint, sentence[joint.end() : end]):
                yield _bare(head)
                start = joint.end()
        if last := _bare(sentence[start:]):
            yield last


def _split(words: str) -> Iterator[str]:
    """The sentences of a message."""
    start = 0
    for border in _unquoted(_BORDER, words):
        yield words[start : border.start()]
        start = border.end()
    yield words[start:]


def _unquoted(pattern: re.Pattern[str], words: str) -> Iterator[re.Match[str]]:
    """The matches outside of quotations: what is quoted asks for nothing by itself."""
    within = {at for quotation in _QUOTATION.finditer(words) for at in range(*quotation.span())}
    return (match for match in pattern.finditer(words) if match.start() not in within)


_BLANKS = re.compile(r"[^\S\n]+")
_QUOTES = '"“”„«»'
_QUOTATION = re.compile(rf"(?<!\w)[{_QUOTES}](?P<words>[^{_QUOTES}]*)[{_QUOTES}](?!\w)")


def _bare(clause: str) -> str:
    plain = clause.strip().strip(_AROUND)
    if whole := _QUOTATION.fullmatch(plain):
        plain = whole["words"].strip(_AROUND)
    elif not _QUOTATION.search(plain):
        plain = plain.strip(_QUOTES)
    return _TAIL.sub("", _COURTESY.sub("", plain)).strip(_AROUND)


_AROUND = " ,:.¿¡"


def _is_border(head: str, joint: re.Match[str], rest: str) -> bool:
    """Whether the words from this joint to the next are a request of their own, or at least no part of the head's."""
    piece = _bare(rest)
    if not head or not piece or head.count("(") > head.count(")"):
        return False
    before, after = _asked(head, _NO_DAY), _asked(piece)
    if _SAYS.match(head) and not before and not _takes_text(head):
        return False
    tool = before[0].tool if before else ""
    is_sure = any(intent.tool != "web_search" for intent in after)
    if _takes_text(head):
        is_new = is_sure and not _PLAIN_NOUN.fullmatch(rest.strip(_AROUND))
        is_order = _SEARCH_ORDER.match(piece) and not (_ENGLISH_TEXT.match(head) and _ENGLISH_VERB.match(piece))
        is_next = bool(is_order or (joint["word"] and _DIRECT.match(piece)))
        return is_new or is_next or (_is_planned(before) and _has_time_of_its_own(piece, head))
    if is_sure or _DIRECT.match(piece) or _SEARCH_ORDER.match(piece) or _NOTHING_ASKED.match(piece):
        return True
    if after:  # after a comma, it may say more of what a question is about: "the house, where Goethe lived"
        return bool(joint["word"]) or tool not in {"", "web_search"}
    return " " in piece and _is_left_over(head, tool, joint, rest)


def _takes_text(head: str) -> bool:
    """Whether any words may belong to it: a reminder, a fact, a search."""
    english = in_english(head)
    reminder = _REMIND.fullmatch(english)
    is_reminder = reminder is not None and not (reminder["wake"] or reminder["timer"])
    return is_reminder or bool(_REMEMBER.match(english) or _SEARCH_ORDER.match(head))


def _is_left_over(head: str, tool: str, joint: re.Match[str], rest: str) -> bool:
    """Whether something that is no request is no part of the head's either: "2+2 and write me a poem"."""
    if tool in {"calculate", "convert"}:
        return _is_exact(head) and not _is_exact(f"{head}{joint[0]}{rest}")
    return bool(tool and (joint["word"] or tool != "web_search") and _PERSONAL_WORD.search(rest))


def _is_exact(clause: str) -> bool:
    english = in_english(clause)
    return bool(_sum(english) or _conversion(english))


def _is_planned(asked: Sequence[OfflineIntent]) -> bool:
    return any(intent.arguments.get("action") == "set" for intent in asked)


def _has_time_of_its_own(piece: str, head: str) -> bool:
    """Whether it begins with a time; or ends with one, as the head of it does: "call Mum at 9 and Dad at 10"."""
    if time_grammar.read(f"{piece} x", now=_NO_DAY, zone="UTC", lacks_hour=True) is not None:
        return True
    reminder = _REMIND.fullmatch(in_english(head))
    is_first = reminder is not None and time_grammar.read(reminder["rest"], now=_NO_DAY, zone="UTC", lacks_hour=True)
    return not is_first and time_grammar.find(piece, now=_NO_DAY, zone="UTC") is not None


_DIRECT = _pattern(
    r"(?:(?:who|what|where|when|how|which|why)(?:'s|(?: time)? (?:is|are|was|were|do|does|did|can|could)"
    r"| (?:much|many|old|far|tall|high|long|late)(?! (?:it|he|she|they|we|you|i|the|this|that)\b))|(?:can|could) you"
    r"|(?:wer|was|wo|wann|wie|warum) (?:ist|sind|war|waren|wird|hat|haben|heißt|macht|kann|kannst|geht"
    r"|(?:viele?|spät|hoch|alt|weit|lang|groß|warm|kalt)(?! (?:es|er|sie|wir|du|ich|man|der|die|das)\b))|kannst du"
    r"|qui (?:est|était|es)|qu'est-ce|quel(?:le)?s? (?:est|sont|heure|temps)|où (?:est|sont)|combien"
    r"|que (?:peux|sais)-tu|peux-tu"
    r"|(?:quién|qué|dónde|cuándo|cómo|cuál(?:es)?) (?:es|son|fue|está|estás|eres|hora|tiempo|puedes|sabes)|cuánt[oa]s?"
    r"|(?:what|which|welche[rsnm]?|quel(?:le)?s?|qué|cuál) \w+ (?:is|are|was|were|do|does|did|has|have|ist|sind|war"
    r"|waren|hat|haben|est|sont|a|ont|es|son|tiene)|merke? dir)\b"
)
"""How a sentence of its own begins, unlike the rest of another: "what is", not "what she wants"."""
_SEARCH_ORDER = _pattern(
    r"(?:do an? )?(?:web )?(?:search|google|look|find|suche|such (?:mal|bitte|nach)|cherche|busca)\b"
)
_ENGLISH_TEXT, _ENGLISH_VERB = _pattern("remind me|remember"), _pattern("search|google|look|find")
"""An order that may also go on with a text: "to call Mum and find her glasses"."""
_SAYS = _pattern(r"[^:]*:\s")
"""Begins what somebody else says, if Aldis understands nothing of it: "Anna: ok, remind me in 5 minutes"."""
_PLAIN_NOUN = _pattern(r"(?:the )?(?:time|date|weather|forecast)")
_PERSONAL_WORD = _pattern(r"\b(?:me|my|mir|mich|mein\w*|dir|du|ich|je|moi|mon|mes|tu|toi|me|yo|tú|mí|you|your|i)\b")


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


_THERE = _pattern(r"\b(?:there|dort|là-bas|allí|ahí)$")


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
    if wish is None or _HALF.match(wish.text) or (now is None and wish.delay_seconds is None):
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
_HALF = _pattern(rf"(?:{_AND}) ")
"""Begins the text of a reminder with a second time, of which only the first was read: "at 9 and at 10 to call"."""
_NO_DAY = datetime(2000, 1, 1, tzinfo=UTC)
"""For when the day is unknown: delays can still be computed."""
_REMINDERS = _pattern(
    r"(?:(?:what are|which are|show(?: me)?|list|what|which|do i have) )?(?:all |any )?(?:(?:of )?my |the )?reminders"
    r"(?: (?:do i have|are there|have i got))?"
)
_CANCEL = _pattern(
    r"(?:please )?(?:cancel|delete|remove) (?:the |my )?reminder (?:number |no\.? ?|nr\.? ?|#)?(\d{1,9})"
)
_REMEMBER = _pattern(r"remember[,:]? (?:that )?(?:i(?:'m| am) )?(.+)")
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
