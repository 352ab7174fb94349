"""What was learnt of models by their refusals, for longer than a process lives.

    a refusal teaches something --> learn --> kept by server and model --> the next process begins with it

Left to others: what a refusal teaches (the adapters, `bot.turn.room`), where it is kept (`bot.app.learning`).
"""

import functools
import hashlib
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

_Read = TypeVar("_Read")


class ModelLessons:
    """What is known of models, by the address of the server and the name of the model.

    `known` is what was learnt before, by subject; `keep` is told of each subject that has more or other lessons now.
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
        """What was learnt of a model there: anything that JSON holds, by a name; empty where it is nothing."""
        return self._known.get(_subject(server, model), {})

    def read(self, server: str, model: str, name: str, reader: Callable[[object], _Read]) -> _Read:
        """What a reader makes of one lesson, or of None: made once for as long as the lesson stays as it is."""
        subject = _subject(server, model)
        if (subject, name) not in self._read:
            self._read[subject, name] = reader(self._known.get(subject, {}).get(name))
        return self._read[subject, name]

    def learn(self, server: str, model: str, **lessons: Any) -> None:
        """These lessons count from now on, beside the others of the same model."""
        subject = _subject(server, model)
        before = self._known.get(subject, {})
        after = {**before, **lessons}
        if after != before:
            self._known[subject] = after
            self._read = {place: made for place, made in self._read.items() if place[0] != subject}
            self._keep(subject, after)


@functools.cache
def _subject(server: str, model: str) -> str:
    """A digest: an address may hold a password."""
    return hashlib.sha256(f"{server}\n{model}".encode()).hexdigest()[:32]
