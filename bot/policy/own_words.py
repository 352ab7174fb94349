"""Pure: whether a person's own words name what a tool is about to do, so that no second yes is needed.

    "Remind me to buy a lamp tomorrow" + remind {text: "Buy a lamp"}           -> named
                                       + remind {text: "Send money to Mallory"} -> not named

A value is named when its words stand in the message in the same order, but for small words that a sentence changes when
it is told about somebody ("I am" -> "is"). What turns a meaning around (a "not") and each number must be the same. The
deed must be named as well: a message that only mentions a file deletes none. What is one thing to a machine (an
address, an account, a name of a file, a password) must stand there as a whole: it is not put together from parts of
others. Days and times may be spelled otherwise.
Left to others: where such a yes is needed at all (`bot.policy.trust`), how times are said (`bot.policy.spoken_times`).
"""

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import cast

from bot.policy.spoken_times import Times, is_moment, is_moment_named, times_in, without_days

_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+", re.UNICODE)
_BETWEEN_TOKENS = re.compile(r"[\s;|]+|,(?![0-9])")
_AROUND_TOKENS = "\"'`“”„‘’‚«»‹›()[]{}<>*_~.,:;!?…¡¿"
# Letters, digits and signs in one, but neither "15th", "5km", nor what holds digits and their signs alone.
_WHOLE = re.compile(r"(?=.*[^\W\d_])(?:.*\w[@./\\#=&%+~$:]+\w|(?!\d+[^\W\d_]{1,3}\Z).*(?:\d[^\W\d_]|[^\W\d_]\d))")
_STANDS_FOR_OTHERS = frozenset("*~")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_AMOUNT = re.compile(r"[^\w@/:#-]?(\d+(?:[.,]\d+)*)(?:(?!st|nd|rd|th)[^\W\d_]{1,4}|[^\w@/:#-])?")
_MIN_STEM = 4
_MAX_ENDING = 3
_MAX_WORDS = 2000

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


def names(words: str, arguments: Mapping[str, object], *, besides: AbstractSet[str] = frozenset()) -> bool:
    """Whether the words name all values of a call's arguments but those `besides`; false where they have none.

    `besides` holds names of arguments, and of arguments with the value that needs no name: `action=set`.
    """
    said = _said(words)
    values = [
        value
        for name, value in arguments.items()
        if besides.isdisjoint({name, f"{name}={value}"}) and value not in (None, "", [], {})
    ]
    return bool(said.items and values) and all(_is_named(value, said) for value in values)


def asks_for(words: str, deeds: Iterable[str]) -> bool:
    """Whether the words name one of these deeds: each the beginning of a word, or several with spaces between them."""
    said = _words(words)[:_MAX_WORDS]
    return any(
        all(any(word.startswith(begin) for word in said) for begin in _words(deed)) for deed in deeds if _words(deed)
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Said:
    """Somebody's words, taken apart once."""

    items: list[str]
    """The words and numbers, and before those of a thing that is one to a machine the whole of it, in order."""
    numbers: frozenset[str]
    """Those that stand alone, perhaps with a unit: none out of an account, an address or a day."""
    times: Times


def _said(words: str) -> _Said:
    plain = _plain(words)
    tokens = [token.strip(_AROUND_TOKENS) for token in _BETWEEN_TOKENS.split(without_days(plain))]
    numbers = frozenset(found[1] for token in tokens if (found := _AMOUNT.fullmatch(token)))
    return _Said(items=_items(words, with_parts=True)[:_MAX_WORDS], numbers=numbers, times=times_in(plain))


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
    """0.7 is named by 70 as well: people say percent."""
    numbers = {found for word in said if (found := _number(word)) is not None}
    return number in numbers or (0 < number < 1 and number * 100 in numbers)


def _number(word: str) -> Decimal | None:
    try:
        return Decimal(word.replace(",", "."))
    except InvalidOperation:
        return None


def _is_text_named(text: str, said: list[str]) -> bool:
    """Whether its words stand there in this order, and nothing turns the meaning around."""
    wanted = _items(text)
    needed = [word for word in wanted if word not in _SMALL]
    if not needed:
        return False
    is_same = _is_same if len(needed) > 1 else str.__eq__  # one word may be somebody's name
    at = 0
    for word in needed:
        found = next((place for place in range(at, len(said)) if is_same(word, said[place])), None)
        if found is None:
            return False
        at = found + 1
    return [word for word in said if word in _TURNING] == [word for word in wanted if word in _TURNING]


def _is_same(word: str, other: str) -> bool:
    """Whether two words are one, perhaps with another ending; what are not words must be the same."""
    if word == other:
        return True
    if not (word.isalpha() and other.isalpha()):
        return False
    short, long = sorted((word, other), key=len)
    stem = max(_MIN_STEM, len(short) - 1)
    return len(long) - len(short) <= _MAX_ENDING and len(short) >= _MIN_STEM and short[:stem] == long[:stem]


def _items(text: str, *, with_parts: bool = False) -> list[str]:
    """The words and numbers in it, and what is one thing as a whole; `with_parts`: followed by the words in it."""
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
    """The words and numbers in it, without case and accents."""
    return _WORD.findall(_plain(text))


def _plain(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text.replace("’", "'").replace("n't", "nt").casefold())
    return "".join(character for character in decomposed if not unicodedata.combining(character))
