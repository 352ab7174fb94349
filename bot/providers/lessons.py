"""What was learnt about models from their refusals, kept across restarts.

    a refusal teaches something --> learn --> stored by server and model --> the next process starts with it

Left to others: what a refusal teaches (the adapters, `bot.turn.room`), where it is stored (`bot.app.learning`).
"""

import functools
import hashlib
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

_Read = TypeVar("_Read")


class ModelLessons:
    """Lessons about models, by the server's address and the model's name.

    `known` are earlier lessons, by subject; `keep` is called with each subject whose lessons have changed.
    """

    def __init__(
        self,
        known: Mapping[str, Mapping[str, Any]] | None = None,
        keep: Callable[[str, Mapping[str, Any]], None] = lambda _subject, _lessons: None,
    ) -> None:
        self._known = {subject: dict(lessons) for subject, lessons in (known or {}).items()}
        self._keep = keep
        self._read: dict[tuple[str, str], Any] = {}

    def of(self, server: str, model: str) -> Mapping[str, Any]:
        """The lessons about a model: JSON values by name; may be empty."""
        return self._known.get(_subject(server, model), {})

    def read(self, server: str, model: str, name: str, reader: Callable[[object], _Read]) -> _Read:
        """The result of a reader on one lesson, or on None; cached until the lesson changes."""
        subject = _subject(server, model)
        if (subject, name) not in self._read:
            self._read[subject, name] = reader(self._known.get(subject, {}).get(name))
        return self._read[subject, name]

    def learn(self, server: str, model: str, **lessons: Any) -> None:
        """Adds these lessons to the others about the same model."""
        subject = _subject(server, model)
        before = self._known.get(subject, {})
        after = {**before, **lessons}
        if after != before:
            self._known[subject] = after
            self._read = {place: made for place, made in self._read.items() if place[0] != subject}
            self._keep(subject, after)


@functools.cache
def _subject(server: str, model: str) -> str:
    """A digest, because an address may contain a password."""
    return hashlib.sha256(f"{server}\n{model}".encode()).hexdigest()[:32]
