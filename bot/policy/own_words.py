"""Pure: whether a person's own words name what a tool is about to do, so that no confirmation is needed.

    "Remind me to buy a lamp tomorrow" + remind {text: "Buy a lamp"}           -> named
                                       + remind {text: "Send money to Mallory"} -> not named

A value is named if the message contains its words in the same order, apart from small words that change in reported
speech ("I am" -> "is"). Words that reverse the meaning ("not") and all numbers must match. The deed must be named as
well: a message that only mentions a file deletes none. Anything a machine treats as one unit (an address, an account,
a file name, a password) must occur as a whole and is never assembled from parts of others. Days and times may be
spelled differently, and a flag is named by its name. A server's key of a record is named by what people call the
record; a value from a catalogue may fill a gap in the words.
"""

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import cast

from bot.policy.records import ReadRecords, Record, fields_of
from bot.policy.spoken_times import Times, is_moment, is_moment_named, times_in, without_days

MESSAGE_END = "\f"
"""Separates consecutive messages of the same person."""

_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+", re.UNICODE)
_BETWEEN_TOKENS = re.compile(r"[\s;|]+|,(?![0-9])")
_AROUND_TOKENS = "\"'`“”„‘’‚«»‹›()[]{}<>*_~.,:;!?…¡¿"
# Letters, digits and signs in one token, but not "15th", "5km", or a token of only digits and their signs.
_WHOLE = re.compile(r"(?=.*[^\W\d_])(?:.*\w[@./\\#=&%+~$:]+\w|(?!\d+[^\W\d_]{1,3}\Z).*(?:\d[^\W\d_]|[^\W\d_]\d))")
_STANDS_FOR_OTHERS = frozenset("*~")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_AMOUNT = re.compile(r"[^\w@/:#-]?(\d+(?:[.,]\d+)*)(?:(?!st|nd|rd|th)[^\W\d_]{1,4}|[^\w@/:#-])?")
_MIN_STEM = 4
_MAX_ENDING = 3
_MAX_WORDS = 2000
"""The limit for a message that names anything: beyond it, a "not" might go unnoticed."""

_SMALL_WORDS = (  # English, German, French, Spanish
    "a an the i me my mine myself you your yours he she him his her hers we us our ours they them their theirs it its "
    "is am are was were be been being has have had do does did to of in on at for from by with and that this these "
    "those as please person user "
    "der die das den dem des ein eine einen einem einer eines ich mich mir mein meine meinen meinem meiner du dich dir "
    "dein deine er sie ihn ihm ihr ihre sein seine wir uns unser es ist bin bist sind war waren hat habe hast haben zu "
    "zum zur in im am an auf von vom bei mit und dass bitte "
    "le la les un une des du de d l je j me m moi mon ma mes tu te t toi ton ta tes il elle lui son sa ses nous notre "
    "vous votre est suis es sont a ai as avoir etre qu que ce cette et en au aux sur pour avec s se "
    "el los las una unos unas yo mi mis tu tus usted su sus nosotros nuestro es soy eres son esta estoy ha he has y "
    "con por para del al en lo"
)
_SMALL = frozenset(_SMALL_WORDS.split())
_TURNING_WORDS = (
    "not no never nobody nothing none without dont doesnt didnt isnt arent wasnt cant wont except unless instead but "
    "nicht nein kein keine keinen keinem keiner nie niemals ohne ausser statt aber sondern "
    "ne pas non jamais sans aucun aucune sauf mais rien "
    "nunca sin ningun ninguna ninguno salvo excepto sino pero nada"
)
_TURNING = frozenset(_TURNING_WORDS.split())
_REMINDING = re.compile(
    r"\b(?:(?:do not|dont) forget|vergiss (?:es |bitte )*nicht|nicht (?:zu )?vergessen|n'?oubliez? pas|"
    r"no (?:te |se )?olvides?)\b"
)
"""Phrases that emphasise a request although they contain a word that otherwise reverses the meaning."""


_NOTHING_KNOWN = ReadRecords()


@dataclass(frozen=True, kw_only=True, slots=True)
class Takes:
    """The values that a tool's arguments may have besides the person's words."""

    of_records: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Arguments and what they may be taken from: `event`, the key of one, or `event.guests`, one of its fields."""
    fills: AbstractSet[str] = frozenset()
    """Arguments in which catalogue values may occur between the person's words."""
    known: ReadRecords = _NOTHING_KNOWN
    """What was read in the turn."""
    may_pick: bool = False
    """Whether a name from a list no stranger can write in counts although the person did not say it."""


_TAKES_NOTHING = Takes()
_NO_WORDS: Mapping[str, Iterable[str]] = {}


def naming_message(words: str, names_it: Callable[[str], bool], deeds: Iterable[str]) -> str:
    """The message that names a call (decided by `names_it`) and its deed; else one that names the call, else the first.

    Messages are never combined: the recipient in one may not be meant for the amount in another.
    """
    wanted = tuple(deeds)
    return max(words.split(MESSAGE_END), key=lambda one: (named := names_it(one), named and asks_for(one, wanted)))


def names(
    words: str,
    arguments: Mapping[str, object],
    *,
    besides: AbstractSet[str] = frozenset(),
    value_words: Mapping[str, Iterable[str]] = _NO_WORDS,
    takes: Takes = _TAKES_NOTHING,
) -> bool:
    """Whether the words name all values of a call's arguments except those in `besides`; false if there are none.

    `besides` contains names of arguments, or of an argument with the value that needs no naming: `action=set`.
    `value_words` are what people call a value, such as `action=cancel`: beginnings of words, or several separated by
    spaces.
    """
    said = _said(words)
    given = {
        name: value
        for name, value in arguments.items()
        if besides.isdisjoint({name, f"{name}={value}"}) and value not in (None, "", [], {})
    }
    return bool(said.items and given) and all(
        _is_named(value, said)
        or (value is True and _has_word(said, name))
        or _is_called(value_words.get(f"{name}={value}", ()), said)
        or _is_taken(name, value, said, takes)
        for name, value in given.items()
    )


def asks_for(words: str, deeds: Iterable[str]) -> bool:
    """Whether the words name one of these deeds: each is the beginning of a word, or several separated by spaces."""
    said = _words(words)[:_MAX_WORDS]
    return any(_begin(_words(deed), said) for deed in deeds)


def _begin(beginnings: list[str], said: list[str]) -> bool:
    """Whether each of these, at least one, is the beginning of a word."""
    return bool(beginnings) and all(any(word.startswith(begin) for word in said) for begin in beginnings)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Said:
    """Somebody's words, analysed once."""

    items: list[str]
    """The words and numbers in order; a machine-readable unit comes as a whole before its words."""
    numbers: frozenset[str]
    """Numbers that stand alone, possibly with a unit: none that is part of an account, an address or a day."""
    times: Times


def _said(words: str) -> _Said:
    plain = _plain(words)
    tokens = [token.strip(_AROUND_TOKENS) for token in _BETWEEN_TOKENS.split(without_days(plain))]
    numbers = frozenset(found[1] for token in tokens if (found := _AMOUNT.fullmatch(token)))
    items = _items(words, with_parts=True)
    return _Said(items=items if len(items) <= _MAX_WORDS else [], numbers=numbers, times=times_in(plain))


def _is_named(value: object, said: _Said) -> bool:
    match value:
        case bool():
            return False
        case int() | float():
            return math.isfinite(value) and _is_number_named(Decimal(str(value)), said.numbers)
        case str():
            return _is_string_named(value.strip(), said)
        case list():
            return all(_is_named(item, said) for item in cast("list[object]", value))
        case dict():
            return all(_is_named(item, said) for item in cast("dict[str, object]", value).values())
        case _:
            return False


def _is_string_named(value: str, said: _Said) -> bool:
    if is_moment(value):
        return is_moment_named(value, said.times)
    if _NUMBER.fullmatch(value):
        return value in said.numbers
    return _is_text_named(value, said.items)


def _is_number_named(number: Decimal, said: Iterable[str]) -> bool:
    """Whether a number is named; 0.7 is also named by 70, because people say percent."""
    numbers = {found for word in said if (found := _number(word)) is not None}
    return number in numbers or (0 < number < 1 and number * 100 in numbers)


def _number(word: str) -> Decimal | None:
    try:
        return Decimal(word.replace(",", "."))
    except InvalidOperation:
        return None


def _is_text_named(text: str, said: list[str]) -> bool:
    """Whether its words occur in this order, and nothing reverses the meaning."""
    wanted = _items(text)
    needed = [word for word in wanted if word not in _SMALL]
    if not needed:
        return False
    is_same = _is_same if len(needed) > 1 else str.__eq__  # a single word may be somebody's name
    at = 0
    for word in needed:
        found = next((place for place in range(at, len(said)) if is_same(word, said[place])), None)
        if found is None:
            return False
        at = found + 1
    return [word for word in said if word in _TURNING] == [word for word in wanted if word in _TURNING]


def _is_called(phrases: Iterable[str], said: _Said) -> bool:
    """Whether the words contain one of these phrases, and nothing that reverses its meaning."""
    turning = [word for word in said.items if word in _TURNING]
    return any(
        _begin(phrase, said.items) and turning == [word for word in phrase if word in _TURNING]
        for phrase in map(_words, phrases)
    )


def _is_taken(name: str, value: object, said: _Said, takes: Takes) -> bool:
    """Whether it belongs to a record that the words name, or fills a gap in the words."""
    if isinstance(value, str) and name in takes.fills and _is_filled(value, said, takes.known.values):
        return True
    return any(_is_taken_from(source, name, value, said, takes) for source in takes.of_records.get(name, ()))


def _is_taken_from(source: str, name: str, value: object, said: _Said, takes: Takes) -> bool:
    scope, slash, rest = source.rpartition("/")
    kind, _, field_name = rest.partition(".")
    kind = f"{scope}{slash}{kind}"
    if not field_name and takes.may_pick and (kind, value) in takes.known.names:
        return True
    if kind in takes.known.incomplete or (field_name and not _has_word(said, name, field_name)):
        return False
    named = [one for one in takes.known.records if one.kind == kind and _called(one, said)]
    if _is_whole(value, named, field_name):
        return True
    items = cast("list[object]", value) if isinstance(value, list) else []
    return bool(items) and all(_is_named(item, said) or _is_each(item, named, field_name, said) for item in items)


def _is_whole(value: object, named: list[Record], field_name: str) -> bool:
    """Whether all these records have this value there, and one of them is certainly the one that is meant."""
    found = fields_of(named, field_name)
    return len(found) == 1 and _same(found[0], value) and any(record.is_sure for record in named)


def _is_each(item: object, named: list[Record], field_name: str, said: _Said) -> bool:
    """Whether all records of one of the names have this value."""
    names_said = {name for record in named for name in _called(record, said)}
    return any(_is_whole(item, [record for record in named if name in record.names], field_name) for name in names_said)


def _same(one: object, other: object) -> bool:
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return one == other or (isinstance(one, str | int) and isinstance(other, str | int) and str(one) == str(other))


def _called(record: Record, said: _Said) -> tuple[str, ...]:
    """The record's names that occur in the words, as a whole and without anything that reverses the meaning."""
    return tuple(name for name in record.names if _stands_in(_items(name), said.items))


def _stands_in(wanted: list[str], said: list[str]) -> bool:
    if not wanted or all(word in _SMALL for word in wanted):
        return False
    if [word for word in said if word in _TURNING] != [word for word in wanted if word in _TURNING]:
        return False
    return any(said[at : at + len(wanted)] == wanted for at in range(len(said) - len(wanted) + 1))


def _has_word(said: _Said, *wanted: str) -> bool:
    """Whether the words contain one of these names of arguments or fields."""
    return any(_is_text_named(name.replace("_", " "), said.items) for name in wanted)


def _is_filled(text: str, said: _Said, values: Iterable[str]) -> bool:
    """Whether it consists of the person's words in their order, at least one, and of whole values between them."""
    wanted = _items(text)
    fillings = sorted({tuple(_items(value)) for value in values}, key=len, reverse=True)
    fillings = [words for words in fillings if words and not any(map(_WHOLE.match, words))]
    turning = [word for word in said.items if word in _TURNING]
    at = place = own = 0
    while at < len(wanted):
        filling = next((words for words in fillings if tuple(wanted[at : at + len(words)]) == words), None)
        if filling is not None:
            at += len(filling)
            continue
        word = wanted[at]
        at += 1
        if word in _TURNING and (not turning or turning.pop(0) != word):
            return False
        if word in _SMALL:
            continue
        found = next((spot for spot in range(place, len(said.items)) if _is_same(word, said.items[spot])), None)
        if found is None:
            return False
        place, own = found + 1, own + 1
    return own > 0 and not turning


def _is_same(word: str, other: str) -> bool:
    """Whether two words are the same, possibly with different endings; anything but words must match exactly."""
    if word == other:
        return True
    if not (word.isalpha() and other.isalpha()):
        return False
    short, long = sorted((word, other), key=len)
    stem = max(_MIN_STEM, len(short) - 1)
    return len(long) - len(short) <= _MAX_ENDING and len(short) >= _MIN_STEM and short[:stem] == long[:stem]


def _items(text: str, *, with_parts: bool = False) -> list[str]:
    """The words and numbers in a text, and units as a whole; `with_parts`: each followed by the words in it."""
    items: list[str] = []
    for token in _BETWEEN_TOKENS.split(_plain(text)):
        bare = token.strip(_AROUND_TOKENS)
        if not with_parts and not _STANDS_FOR_OTHERS.isdisjoint(token):
            items.append(token)  # "docs/*" is more than "docs"
        elif _WHOLE.match(bare) is None:
            items += _WORD.findall(token)
        else:
            items += [bare, *(_WORD.findall(bare) if with_parts else ())]
    return items


def _words(text: str) -> list[str]:
    """The words and numbers in a text, without case and accents."""
    return _WORD.findall(_plain(text))


def _plain(text: str) -> str:
    plain = text.replace("’", "'").replace("n't", "nt").casefold()
    if not plain.isascii():
        decomposed = unicodedata.normalize("NFKD", plain)
        plain = "".join(sign for sign in decomposed if not unicodedata.combining(sign))
    return _REMINDING.sub(" ", plain)
