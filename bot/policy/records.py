"""Pure: what the answers of a turn's tools give to name the arguments of a call by, besides the person's own words.

    record   {"id": "24", "title": "Introductory meeting"}   who says "move the introductory meeting" has said which id
    name     "general", in a list that strangers do not      may be said to its own server, for nothing is told by it
             write in
    value    "Luxury Palace", in a catalogue                  may stand inside of words that the person gave: "Dinner
                                                              at {hotel}"

A record is only ever found by words of the person. Where two could be meant nobody guesses: a stranger who invites to
an event of the same title brings about a question. So that nobody is led past the one that is meant, what was looked up
after words of strangers were read counts only where all were asked for, or those of that very name. What was read after
something was done counts for nothing: it may be what was done.

Source: Debenedetti and others, "Defeating Prompt Injections by Design" (CaMeL), arXiv 2503.18813, 2025, for values that
keep where they are from; Costa and others (FIDES), arXiv 2505.23643, for what cannot hold an order.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, cast

from tools import Records

_PLAIN = re.compile(r"[\w.@+:-]{0,32}")
"""What a name may look like so that it can hold no order: one word of signs, or an id, or a day."""
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
    """By what the server knows it."""
    names: tuple[str, ...]
    """What people may call it."""
    fields: Mapping[str, object]
    is_sure: bool = True
    """Whether no stranger can have had it looked up in the place of another."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadRecords:
    """What has been read so far in a turn, of what counts."""

    records: tuple[Record, ...] = ()
    names: frozenset[tuple[str, str]] = frozenset()
    """Each with its kind."""
    values: tuple[str, ...] = ()
    """Of catalogues."""
    incomplete: frozenset[str] = frozenset()
    """Kinds of records of which some were cut off, so that another of the same name may be among them."""

    def reading(
        self,
        data: Mapping[str, Any],
        told: Records | None,
        *,
        is_catalogue: bool,
        is_cut: bool,
        looked_up: Mapping[str, object] | None,
    ) -> "ReadRecords":
        """With one more answer; `told` says what its records are, None: there are none. `looked_up` is what was asked
        for by a request that held words of strangers, None: it held none.
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
    """Whether an answer, as the model reads it, may be a part of what was found."""
    return any(mark in content for mark in _CUT_MARKS)


def is_plain(data: Any) -> bool:
    """Whether an answer holds nothing but numbers, days, ids and names of one word, in which no order has room."""
    return all(map(_is_name, _strings(_structured(data), _MAX_LEVELS, with_keys=True)))


def values_in(data: Any) -> Iterator[str]:
    """The values of a catalogue: its texts, line by line, and what stands behind a colon there."""
    for text in _strings(data, _MAX_LEVELS, with_keys=True):
        for line in text.splitlines():
            value = line.partition(": ")[2] or line
            if 0 < len(value.strip()) <= _MAX_VALUE_CHARACTERS:
                yield value.strip()


def _is_sure(record: Record, looked_up: Mapping[str, object] | None) -> bool:
    """Whether all were asked for, or those of that name: a narrower search may pass over the one that is meant."""
    given = [value for value in (looked_up or {}).values() if value not in (None, "", [], {})]
    return not given or (len(given) == 1 and str(given[0]).strip().casefold() in map(str.casefold, record.names))


def _is_name(text: str) -> bool:
    return _PLAIN.fullmatch(text) is not None and len(_LETTERS.findall(text)) <= _MAX_WORDS_IN_A_NAME


def _structured(data: Any) -> Any:
    """What a server has given as data; one that gives only words may have written it as words."""
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
        yield "too deep to be looked through"  # no name
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
    """What stands in that field of these records, each value once; `""`: their keys."""
    found = (record.fields.get(field) if field else record.key for record in records)
    return tuple({json.dumps(value, sort_keys=True): value for value in found}.values())
