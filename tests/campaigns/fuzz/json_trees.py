"""Mutations of any JSON: what a foreign program may write after an update, and what somebody hostile would like it to.

A mutated tree is written out by `written`, which also damages the text itself now and then.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from random import Random
from typing import Any

_AGAIN = "\x00again"
"""Behind a key it makes the same key stand twice in the text; a dict cannot hold that."""

_DEEP = re.compile(r'"\\u0000deep(\d+)"')
"""A text that stands for so many arrays or objects in each other; Python itself cannot copy them."""

_NUMBERS = (
    *(0, -1, 1, 2**31, 2**53 - 1, 2**53 + 1, 2**63, -(2**63) - 1, 10**30, 0.5, -0.0, 1e308),
    *(float("nan"), float("inf")),
)
_TOO_LONG_A_NUMBER = "9" * 5_000

_CHARACTERS = (
    *("\ud800", "\udfff", "\ud83d\ud83d", "\x00", "\x1b[2J", "\u202e", "\u200b", "\ufffc", "\ufeff", "\U000e0041"),
    *("\u0130", "e\u0301" * 3, "\u2028", "👨‍👩‍👧‍👦", "￿", "'; DROP TABLE inbox; --", "../../", "{}", "%s%n", "\\", '"'),
)
_LARGE_CHARACTERS = (1_000, 70_000, 1_000_000)
_DEPTHS = (10, 200, 600, 5_000, 100_000)
_GARBAGE = '{}[]":,.0123456789eE+-truefalsn\\ud8\x00\t￼\ud800é'
"""No line breaks: bridges write a frame on one line, and how lines are put together again is not asked here."""


@dataclass(frozen=True, kw_only=True)
class Mutator:
    """Changes trees; the more its words and trees look like the real ones, the further its work gets."""

    keys: Sequence[str]
    """Names that mean something somewhere in such a tree."""
    words: Sequence[str]
    """Values that mean something: an id of somebody else in the place of one's own is worse than any garbage."""
    trees: Sequence[Any]
    large_in: int = 400
    """One mutation in so many makes something very large."""

    def mutated(self, random: Random, tree: Any) -> Any:
        """A copy of the tree with a few changes, one most often."""
        tree = deepcopy(tree)
        for _ in range(random.choices((1, 2, 3, 6), (50, 25, 15, 10))[0]):
            places = list(places_in(tree))
            if not places:
                return self._any(random)
            container, key = random.choice(places)
            self._change(random, container, key)
        return tree

    def written(self, random: Random, tree: Any) -> str:
        """The tree as a text; one in eight is damaged in its letters as well."""
        text = as_text(tree, ascii_only=random.random() < 0.5)
        return self._damaged(random, text) if random.random() < 0.125 else text

    def _change(self, random: Random, container: Any, key: Any) -> None:
        changes: Sequence[Callable[[Random, Any, Any], None]] = (
            *(self._dropped, self._retyped, self._twice, self._renamed, self._nested),
            *(self._swapped, self._swapped, self._numbered, self._misspelt, self._grafted),
        )
        random.choice(changes)(random, container, key)

    def _dropped(self, random: Random, container: Any, key: Any) -> None:
        del container[key]

    def _retyped(self, random: Random, container: Any, key: Any) -> None:
        container[key] = self._any(random)

    def _twice(self, random: Random, container: Any, key: Any) -> None:
        value = deepcopy(container[key]) if random.random() < 0.5 else self._any(random)
        if isinstance(container, dict):
            container[f"{key}{_AGAIN}"] = value
        else:
            container.insert(key, value)

    def _renamed(self, random: Random, container: Any, key: Any) -> None:
        if isinstance(container, dict):
            name = random.choice((random.choice(self.keys), key.upper(), key + " ", key[:-1], ""))
            container[name] = container.pop(key)
        else:
            random.shuffle(container)

    def _nested(self, random: Random, container: Any, key: Any) -> None:
        value = container[key]
        if random.randrange(self.large_in // 8) == 0:
            value = f"\x00deep{random.choice(_DEPTHS)}"
        container[key] = random.choice(([value], [value, value], {key: value} if isinstance(key, str) else [[value]]))

    def _swapped(self, random: Random, container: Any, key: Any) -> None:
        """A word of the same world in another place: somebody's id where another's was."""
        texts = [(inside, at) for inside, at in places_in(container) if isinstance(inside[at], str)]
        inside, at = random.choice(texts) if texts else (container, key)
        inside[at] = random.choice(self.words)

    def _numbered(self, random: Random, container: Any, key: Any) -> None:
        container[key] = random.choice(_NUMBERS)

    def _misspelt(self, random: Random, container: Any, key: Any) -> None:
        value = container[key]
        text = value if isinstance(value, str) else random.choice(self.words)
        at = random.randint(0, len(text))
        container[key] = text[:at] + random.choice(_CHARACTERS) + text[at:]
        if random.randrange(self.large_in // 8) == 0:
            container[key] = random.choice("aé￼\U0001f4a3\x00") * random.choice(_LARGE_CHARACTERS)

    def _grafted(self, random: Random, container: Any, key: Any) -> None:
        """A piece of another tree, under its own name or in another's place."""
        inside, at = random.choice(list(places_in(random.choice(self.trees))))
        name = at if isinstance(container, dict) and isinstance(at, str) and random.random() < 0.5 else key
        container[name] = deepcopy(inside[at])

    def _any(self, random: Random) -> Any:
        simple = (None, True, False, "", "x", [], {}, random.choice(_NUMBERS), random.choice(self.words))
        value = random.choice(simple)
        return random.choice((value, value, value, [value], {random.choice(self.keys): value}))

    def _damaged(self, random: Random, text: str) -> str:
        at, end = sorted((random.randint(0, len(text)), random.randint(0, len(text))))
        piece = "".join(random.choice(_GARBAGE) for _ in range(random.randint(1, 8)))
        return random.choice(
            (
                text[:at],
                text[at:],
                text[:at] + piece + text[at:],
                text[:at] + text[end:],
                text + text,
                "\ufeff" + text,
                piece,
                "",
                random.choice(("[", '{"a":', '{"envelope":')) * random.choice((1_000, 100_000)),
                text.replace(":1", f":{_TOO_LONG_A_NUMBER}", 1),
            )
        )


def places_in(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Every object and array in the tree with every place in it, however deep."""
    waiting = [tree] if isinstance(tree, dict | list) else []
    while waiting:
        container = waiting.pop()
        for key in container if isinstance(container, dict) else range(len(container)):
            yield container, key
            if isinstance(container[key], dict | list):
                waiting.append(container[key])


def as_text(tree: Any, *, ascii_only: bool) -> str:
    """The tree as JSON, as far as there is JSON for it: NaN, half surrogate pairs and doubled names too."""
    text = json.dumps(tree, ensure_ascii=ascii_only).replace("\\u0000again", "")
    return _DEEP.sub(lambda found: _nest(int(found[1])), text)


def _nest(depth: int) -> str:
    opening, closing = ("[", "]") if depth % 400 else ('{"a":', "}")
    return opening * depth + "1" + closing * depth
