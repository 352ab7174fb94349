"""Pure: parts of tool answers that can name a call's arguments, in addition to the person's own words.

    record   {"id": "24", "title": "Introductory meeting"}   "move the introductory meeting" names this id
    name     "general", in a list that strangers             may be told to its own server, because it reveals nothing
             cannot write in
    value    "Luxury Palace", in a catalogue                  may occur within words of the person: "Dinner at {hotel}"

A record is only ever found by the person's words. If two could be meant, nobody guesses: a stranger who invites to an
event with the same title causes a question. To keep strangers from hiding the intended one, results of a look-up made
after their words were read count only if everything was requested, or exactly that name. Anything read after something
was done does not count, because it may be the result of that.

Source: Debenedetti and others, "Defeating Prompt Injections by Design" (CaMeL), arXiv 2503.18813, 2025, for values that
keep their origin; Costa and others (FIDES), arXiv 2505.23643, for content that cannot carry instructions.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, cast

from tools import Records

_PLAIN = re.compile(r"[\w.@+:-]{0,32}")
"""The form of a name that cannot carry instructions: one word, an id, or a day."""
_LETTERS = re.compile(r"[^\W\d_]+")
_MAX_WORDS_IN_A_NAME = 4
_MAX_LEVELS = 12
_MAX_RECORDS = 1_000
_MAX_VALUES = 500
_MAX_VALUE_CHARACTERS = 100
_CUT_MARKS = ("[left out: ", "[cut: ")


@dataclass(frozen=True, kw_only=True, slots=True)
class Record:
    """One record of an answer."""

    kind: str
    key: str
    """The server's key of it."""
    names: tuple[str, ...]
    """What people may call it."""
    fields: Mapping[str, object]
    is_sure: bool = True
    """Whether no stranger can have caused it to be looked up instead of another."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadRecords:
    """The records that a turn has read so far and that count."""

    records: tuple[Record, ...] = ()
    names: frozenset[tuple[str, str]] = frozenset()
    """Each with its kind."""
    values: tuple[str, ...] = ()
    """Values from catalogues."""
    incomplete: frozenset[str] = frozenset()
    """Kinds of records that were cut off, so that another of the same name may exist."""

    def reading(
        self,
        data: Mapping[str, Any],
        told: Records | None,
        *,
        is_catalogue: bool,
        is_cut: bool,
        looked_up: Mapping[str, object] | None,
    ) -> "ReadRecords":
        """A copy with one more answer; `told` describes its records, None: it has none. `looked_up` are the arguments
        of a request that contained strangers' words, None: it contained none.
        """
        whole = _structured(data)
        values = (*self.values, *values_in(whole)) if is_catalogue else self.values
        known = replace(self, values=values[:_MAX_VALUES])
        if told is None:
            return known
        if not told.key:
            names = frozenset((told.kind, name) for name in _strings(whole, _MAX_LEVELS) if _is_name(name))
            return replace(known, names=known.names | names)
        read = islice(_records(whole, told, _MAX_LEVELS), _MAX_RECORDS + 1)
        found = tuple(replace(one, is_sure=_is_sure(one, looked_up)) for one in read)
        is_all = not is_cut and len(found) <= _MAX_RECORDS
        incomplete = known.incomplete if is_all else known.incomplete | {told.kind}
        return replace(known, records=(*known.records, *found), incomplete=incomplete)


def is_cut(content: str) -> bool:
    """Whether an answer, as the model reads it, may be only part of what was found."""
    return any(mark in content for mark in _CUT_MARKS)


def is_plain(data: Any) -> bool:
    """Whether an answer contains only numbers, days, ids and one-word names, which cannot carry instructions."""
    return all(map(_is_name, _strings(_structured(data), _MAX_LEVELS, with_keys=True)))


def values_in(data: Any) -> Iterator[str]:
    """The values of a catalogue: its texts, line by line, and the parts after a colon."""
    for text in _strings(data, _MAX_LEVELS, with_keys=True):
        for line in text.splitlines():
            value = line.partition(": ")[2] or line
            if 0 < len(value.strip()) <= _MAX_VALUE_CHARACTERS:
                yield value.strip()


def _is_sure(record: Record, looked_up: Mapping[str, object] | None) -> bool:
    """Whether everything was requested, or exactly that name: a narrower search may miss the one that is meant."""
    given = [value for value in (looked_up or {}).values() if value not in (None, "", [], {})]
    return not given or (len(given) == 1 and str(given[0]).strip().casefold() in map(str.casefold, record.names))


def _is_name(text: str) -> bool:
    return _PLAIN.fullmatch(text) is not None and len(_LETTERS.findall(text)) <= _MAX_WORDS_IN_A_NAME


def _structured(data: Any) -> Any:
    """The data of a server's answer, parsed if the server sent it as text only."""
    if not isinstance(data, dict):
        return data
    given = cast("dict[str, Any]", data)
    if "structured" in given:
        return given["structured"] if set(given) == {"structured"} else given
    try:
        return json.loads(given["text"]) if set(given) == {"text"} else given
    except (TypeError, ValueError, RecursionError):
        return given


def _strings(data: Any, levels: int, *, with_keys: bool = False) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif levels == 0 and isinstance(data, dict | list):
        yield "too deep to be looked through"  # not a name
    elif isinstance(data, dict):
        for key, item in cast("dict[str, Any]", data).items():
            yield from (key,) if with_keys else ()
            yield from _strings(item, levels - 1, with_keys=with_keys)
    elif isinstance(data, list):
        for item in cast("list[Any]", data):
            yield from _strings(item, levels - 1, with_keys=with_keys)


def _records(data: Any, told: Records, levels: int) -> Iterator[Record]:
    if levels == 0:
        return
    if isinstance(data, list):
        for item in cast("list[Any]", data):
            yield from _records(item, told, levels - 1)
    elif isinstance(data, dict):
        fields = cast("dict[str, Any]", data)
        key = fields.get(told.key)
        if isinstance(key, str | int) and not isinstance(key, bool):
            named = (fields.get(field) for field in told.named_by)
            names = tuple(name for name in named if isinstance(name, str) and name)
            yield Record(kind=told.kind, key=str(key), names=names, fields=fields)
        else:
            for item in fields.values():
                yield from _records(item, told, levels - 1)


def fields_of(records: Iterable[Record], field: str) -> tuple[object, ...]:
    """The distinct values of that field in these records; `""` means their keys."""
    found = (record.fields.get(field) if field else record.key for record in records)
    return tuple({json.dumps(value, sort_keys=True): value for value in found}.values())
