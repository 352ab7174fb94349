"""Pure: whether a person's own words name what a tool is about to do, so that no second yes is needed.

    "Remind me to buy a lamp tomorrow" + remind {text: "Buy a lamp"}           -> named
                                       + remind {text: "Send money to Mallory"} -> not named

A value is named when its words stand in the message in the same order, but for small words that a sentence changes when
it is told about somebody ("I am" -> "is"). What turns a meaning around (a "not") and each number must be the same. The
deed must be named as well: a message that only mentions a file deletes none.
Left to others: where such a yes is needed at all (`bot.policy.trust`).
"""

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from decimal import Decimal, InvalidOperation
from typing import cast

_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+", re.UNICODE)
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
    said = _words(words)[:_MAX_WORDS]
    values = [
        value
        for name, value in arguments.items()
        if besides.isdisjoint({name, f"{name}={value}"}) and value not in (None, "", [], {})
    ]
    return bool(said and values) and all(_is_named(value, said) for value in values)


def asks_for(words: str, deeds: Iterable[str]) -> bool:
    """Whether the words name one of these deeds: each the beginning of a word, or several with spaces between them."""
    said = _words(words)[:_MAX_WORDS]
    return any(
        all(any(word.startswith(begin) for word in said) for begin in _words(deed)) for deed in deeds if _words(deed)
    )


def _is_named(value: object, said: list[str]) -> bool:
    match value:
        case bool():
            return False
        case int() | float():
            return math.isfinite(value) and _is_number_named(Decimal(str(value)), said)
        case str():
            return _is_text_named(value, said)
        case list():
            return all(_is_named(item, said) for item in cast("list[object]", value))
        case dict():
            return all(_is_named(item, said) for item in cast("dict[str, object]", value).values())
        case _:
            return False


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
    wanted = _words(text)
    needed = [word for word in wanted if word not in _SMALL]
    if not needed:
        return False
    at = 0
    for word in needed:
        found = next((place for place in range(at, len(said)) if _is_same(word, said[place])), None)
        if found is None:
            return False
        at = found + 1
    return [word for word in said if word in _TURNING] == [word for word in wanted if word in _TURNING]


def _is_same(word: str, other: str) -> bool:
    """Whether two words are one, perhaps with another ending; numbers must be the same."""
    if word == other:
        return True
    if word[0].isdigit() or other[0].isdigit():
        return False
    short, long = sorted((word, other), key=len)
    stem = max(_MIN_STEM, len(short) - 1)
    return len(long) - len(short) <= _MAX_ENDING and len(short) >= _MIN_STEM and short[:stem] == long[:stem]


def _words(text: str) -> list[str]:
    """The words and numbers in it, without case and accents."""
    plain = unicodedata.normalize("NFKD", text.replace("’", "'").replace("n't", "nt").casefold())
    return _WORD.findall("".join(character for character in plain if not unicodedata.combining(character)))
