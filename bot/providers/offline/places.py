"""Pure: which places a message asks for the weather or the time of, for which days, and in which units.

Left to others: requests in other languages (`phrasebook`), whether the places exist (`tools.weather`, `tools.clock`).
"""

import re
from collections.abc import Mapping, Sequence

_MAX_DAYS = 7
_BOUND = "\u00a0"


def times(clause: str) -> Sequence[Mapping[str, object]]:
    """The arguments of the calls that tell the time, one for each place; none if it is not asked for.

    They are empty for the local time.
    """
    if not _TIME.search(clause):
        return ()
    places = _places(_WHEN.sub("", clause))
    if places == [""] and (there := _THERE.search(clause)):
        places = [there[0]]  # it was not said where, and it is not here
    return [{"timezone": place} if place else {} for place in places]


def forecasts(clause: str) -> Sequence[Mapping[str, object]]:
    """The arguments of the calls that tell the weather, one for each place; none if it is not asked for.

    They are empty if no place is named.
    """
    bare = " ".join(_WHEN.sub(" ", _UNITS.sub(" ", clause)).split())
    places = _places(bare)
    others = _NO_PLACE.sub(" ", bare).strip(" ,'")
    if not _WEATHER.search(clause) and not (_WEATHER_LIKELY.match(clause) and (places != [""] or not others)):
        return ()
    more = {**_days(clause), **_units(clause)}
    return [{"place": place, **more} if place else {} for place in (places if places != [""] else [others])]


def _any(*alternatives: str) -> str:
    return rf"\b(?:{'|'.join(alternatives)})\b"


def _pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_TIME = _pattern(
    r"\b(?:what time(?: is it| it is|(?= in\b))|(?:what's|what is|whats) the (?:current |local |exact )?time"
    r"|(?:current|local) time|how late is it|(?:what's|what is|whats) (?:the |today's )(?:current )?date"
    r"|today's date|current date|(?:what|which) (?:day|date) (?:is (?:it|today)|it is))\b"
    r"|^(?:the )?(?:time|date)(?: in\b|$)"
)

_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_WHEN = _pattern(
    r"(?:\b(?:for|over|in|during|on|at)\s+)?(?:\bthe\s+)?"
    + _any(
        "right now|now|currently|at the moment|today|tonight|please|bitte|por favor",
        "tomorrow(?: (?:morning|afternoon|evening|night))?",
        "(?:this|next|coming) (?:morning|afternoon|evening|night|week|weekend|few days|days)",
        r"(?:next |coming )?\d[ -]days?|weekend|week",
        f"(?:next |this )?{_DAY}",
    )
)
_COUNTED_DAYS = _pattern(r"\b([1-9])[ -]days?\b")
_DAYS_BY_WORD = (
    (_pattern(_any("week", "weekend", "few days", "next days", "coming days", _DAY)), _MAX_DAYS),
    (_pattern(_any("tomorrow")), 2),
    (_pattern(_any("today", "tonight", "now", "currently", "at the moment")), 1),
)
_UNITS = _pattern(r"\bin (?:degrees )?(celsius|metric|fahrenheit|imperial)(?: units)?\b")

_MISSPELT = "wether|wheather|weater|weahter"
"""The weather, as it is often written in haste."""
_WEATHER = _pattern(_any("weather", _MISSPELT, "forecast", "temperature", "umbrella"))
_WEATHER_SIGNS = r"rain(?:ing|y)?|snow(?:ing|y)?|sunny|cloudy|windy|stormy?|warm|cold|hot"
_WEATHER_LIKELY = _pattern(rf"(?:will|is|does|do|how)\b.*\b(?:{_WEATHER_SIGNS})\b")
_NO_PLACE = _pattern(
    _any(
        "what's|whats|what|how's|how|is|are|the|an?|like|will|would|it|be|does|do|i|we|need|take|should|going|to|there",
        f"weather|{_MISSPELT}|forecast|temperature|umbrella|current|outside|here|for|in|of|at|check|get|{_WEATHER_SIGNS}",
    )
)
_AT_PLACE = _pattern(r"\b(?:(?:in|for|at|near|around|of)\s+)+(?:the )?(\S.*)$")
_AND = "(?:and|or|&|und|(?<!der )oder|et|ou|y)"
_THERE = _pattern(r"\bthere$")
_LIST = _pattern(rf"(?:,? {_AND} |, ?)(?:also |auch |aussi |también )?(?:(?:in|à|en|au|aux) )?")
_LISTED = _pattern(f" {_AND} ")
_LOOSE_AND = _pattern(rf"^{_AND} | {_AND}$")
_ONE_NAME = _pattern(
    r"\b(?:antigua|bosnia|bosnien|bosnie|brighton|castilla|dumfries|heard|jammu|kitts|cristóbal|newfoundland|perth"
    r"|pierre|tomé|tome|trinidad|trinité|turks|turks-|turcas|turques|tyne|vincent|vicente|wallis)"
    rf" {_AND} (?:the |die |den |les |las )?(?:barbuda|her[zc][eé]\w+|hove|león|galloway|mcdonald|kashmir|nevis|nieves"
    r"|labrador|kinross|miquelon|pr[ií]ncipe|tobago|caicos\w*|wear|gr[ea]n[ae]d\w+|futuna)\b"
)
"""Names of one place that hold an "and": countries as in the CLDR 48, and regions."""


def _places(clause: str) -> Sequence[str]:
    """The places named after an "in" or "for", at least one, which is empty if there are none.

    "Paris, Texas" is one place, "Paris, Rome and Oslo" are three.
    """
    match = _AT_PLACE.search(clause)
    named = _LOOSE_AND.sub("", match[1].strip(" ,")) if match else ""
    bound = _ONE_NAME.sub(lambda name: name[0].replace(" ", _BOUND), named)
    listed = [place.strip(" ,") for place in _LIST.split(bound)] if _LISTED.search(bound) else []
    return [place.replace(_BOUND, " ") for place in listed if place] or [bound.replace(_BOUND, " ")]


def _days(clause: str) -> Mapping[str, object]:
    if counted := _COUNTED_DAYS.search(clause):
        return {"days": min(int(counted[1]), _MAX_DAYS)}
    spoken_of = [days for pattern, days in _DAYS_BY_WORD if pattern.search(clause)]
    return {"days": spoken_of[0]} if spoken_of else {}


def _units(clause: str) -> Mapping[str, object]:
    match = _UNITS.search(clause)
    if not match:
        return {}
    return {"units": "imperial" if match[1].lower() in {"fahrenheit", "imperial"} else "metric"}
