"""Reads coordinates as people write them."""

import re

_ANGLE = (
    r"(?P<{0}before>[NSEW])?\s*(?P<{0}sign>[-+−])?(?P<{0}degrees>\d{{1,3}}(?:\.\d+)?)\s*°?"
    r"\s*(?:(?P<{0}minutes>\d{{1,2}}(?:\.\d+)?)\s*['′’])?\s*(?:(?P<{0}seconds>\d{{1,2}}(?:\.\d+)?)\s*[\"″”])?"
    r"\s*(?P<{0}behind>[NSEW])?"
)
_COORDINATES = re.compile(rf"\(?{_ANGLE.format('a')}(?:\s*[,;/]\s*|\s+){_ANGLE.format('b')}\)?", re.IGNORECASE)
_MAX_LATITUDE, _MAX_LONGITUDE = 90, 180


def coordinates(text: str) -> tuple[float, float] | None:
    """Returns latitude and longitude by a text such as `52.52 13.41`, `33.9 S, 18.4 E` or `48°51'24" N 2°21'08" E`;
    None if it has no such form.
    """
    found = _COORDINATES.fullmatch(text.strip())
    if found is None:
        return None
    angles: list[tuple[str, float]] = []
    for which in "ab":
        letter = (found[f"{which}before"] or found[f"{which}behind"] or "").upper()
        degrees, minutes, seconds = (float(found[f"{which}{part}"] or 0) for part in ("degrees", "minutes", "seconds"))
        is_negative = (found[f"{which}sign"] or "+") != "+" or letter in {"S", "W"}
        angles.append((letter, (degrees + minutes / 60 + seconds / 3600) * (-1 if is_negative else 1)))
    (first, latitude), (second, longitude) = angles
    if first in {"E", "W"} and second in {"N", "S"}:
        latitude, longitude = longitude, latitude
    elif first in {"E", "W"} or second in {"N", "S"}:
        return None
    is_on_earth = abs(latitude) <= _MAX_LATITUDE and abs(longitude) <= _MAX_LONGITUDE
    return (round(latitude, 6), round(longitude, 6)) if is_on_earth else None
