"""Pure: what a watch looks at in a tool's answer, and whether that is worth a message.

    above, below    a number crosses the value; it fires again only after it has gone back
    rises, falls    a number has moved by so many percent since the watch was made, or since it last fired
    changes         a short text is another than the last time
    new             items of a list, or lines of a text, that were never there before

The first look is the baseline, and never fires.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal, cast

from bot.chat.judge import MAX_REPORTS
from tools import BadArguments, shorten

When = Literal["above", "below", "rises", "falls", "changes", "new"]

_MAX_KNOWN = 300
_MAX_TEXT_CHARS = 500
_MIN_LINE_CHARS = 25  # shorter lines of a page are menus and buttons
_NUMBER = re.compile(r"[-+−]?\d[\d,\u00a0\u202f ]*(?:\.\d+)?(?:[eE][-+]?\d+)?")


@dataclass(frozen=True, kw_only=True, slots=True)
class State:
    """What was seen and said, as it is stored."""

    is_baseline: bool = True
    """Whether nothing was seen yet."""
    text: str = ""
    base: Decimal | None = None
    """From where `rises` and `falls` count."""
    is_met: bool = False
    """Whether the number is above, or below, so that it has to go back before it fires again."""
    known: tuple[str, ...] = ()
    """The digests of items, oldest first."""
    said: tuple[str, ...] = ()
    """The claims that the person has read."""
    fails_since: datetime | None = None
    has_said_so: bool = False
    """Whether the person knows that it fails."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """One item of a list, or a line of a text: a stranger's words."""

    text: str
    url: str | None = None

    @property
    def digest(self) -> str:
        """What it is known by: its address and its words."""
        return hashlib.sha256(f"{self.url}\n{self.text.casefold()}".encode(errors="replace")).hexdigest()[:20]


def found_at(data: Mapping[str, Any], look_at: str) -> object:
    """Returns what the names lead to, which slashes part; raises `BadArguments`, which shows what there is."""
    found: Any = data
    for name in filter(None, look_at.split("/")):
        try:
            found = found[int(name) if isinstance(found, list) else name]
        except (KeyError, IndexError, TypeError, ValueError) as error:
            there = shorten(json.dumps(found, ensure_ascii=False), 300)
            raise BadArguments(f"look_at: there is no {name[:80]!r} in {there}") from error
    return found


def compare(when: When, value: Decimal | None, before: State, found: object) -> tuple[State, bool, tuple[Item, ...]]:
    """Returns what is seen now, whether that fires, and the new items, of many the first ones: the others are still new
    the next time. Raises `BadArguments` if it does not fit.
    """
    may_fire = not before.is_baseline
    now = replace(before, is_baseline=False, text=shorten(str(found), _MAX_TEXT_CHARS))
    if when == "new":
        items = {item.digest: item for item in _items(found)}
        new = [digest for digest in items if may_fire and digest not in before.known]
        seen = [digest for digest in items if digest not in new[MAX_REPORTS:]]
        # What is still there stands last, so that what is another each time does not push it out.
        known = (*(digest for digest in before.known if digest not in items), *seen)[-max(_MAX_KNOWN, len(seen)) :]
        return replace(now, text="", known=known), bool(new), tuple(items[digest] for digest in new[:MAX_REPORTS])
    if when == "changes":
        if len(str(found)) > _MAX_TEXT_CHARS:
            raise BadArguments("look_at: that is long; with `changes`, name one short value, or use `new`")
        return now, may_fire and before.text != now.text, ()
    if value is None or (value == 0 and when in {"rises", "falls"}):
        raise BadArguments(f"value: name the number for `{when}`")
    number = number_in(found)
    if when in {"above", "below"}:
        is_met = number > value if when == "above" else number < value
        return replace(now, is_met=is_met), may_fire and is_met and not before.is_met, ()
    base = before.base or number
    moved = (number - base) / abs(base) * 100 if base else Decimal(0)
    fires = may_fire and (moved if when == "rises" else -moved) >= abs(value)
    return replace(now, base=number if fires else base), fires, ()


def number_in(found: object) -> Decimal:
    """Returns the one number that this is, perhaps with a unit, or behind an equals sign; raises `BadArguments` if it
    is none, or several.
    """
    is_plain = isinstance(found, str | int | float) and not isinstance(found, bool)
    numbers = _NUMBER.findall(str(found).rpartition("=")[2]) if is_plain else []
    if len(numbers) != 1:
        raise BadArguments(f"look_at: {shorten(str(found), 80)!r} is not one number; name a place with just one")
    return Decimal(re.sub(r"[,\s]", "", numbers[0]).replace("−", "-"))


def _items(found: object) -> Iterator[Item]:
    if not isinstance(found, str | list):
        raise BadArguments("look_at: with `new`, name a list or a text, such as results or text")
    rows = cast("list[object]", found.splitlines() if isinstance(found, str) else found)
    for one in rows:
        row = cast("dict[str, Any]", one) if isinstance(one, dict) else {"title": one}
        words = " ".join(" - ".join(str(row[name]) for name in ("title", "snippet") if row.get(name)).split())
        if len(words) >= _MIN_LINE_CHARS or not isinstance(found, str):
            yield Item(text=shorten(words or str(row), _MAX_TEXT_CHARS), url=cast("str | None", row.get("url")))
