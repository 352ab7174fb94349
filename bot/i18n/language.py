"""Which language Aldis speaks now.

It belongs to whoever is answered, not to a sentence: it is set where an answer begins (`speak`, `speaking`), and every
sentence said from there on is in it (`bot.i18n.catalogues`).
"""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal, get_args

Language = Literal["en", "de", "fr", "es"]

LANGUAGES: tuple[Language, ...] = get_args(Language)

_spoken: ContextVar[Language] = ContextVar("spoken", default="en")


def speak(language: Language) -> None:
    """Speak this language for the rest of the task."""
    _spoken.set(language)


@contextmanager
def speaking(language: Language) -> Generator[None]:
    """Speak this language within the block."""
    token = _spoken.set(language)
    try:
        yield
    finally:
        _spoken.reset(token)


def current_language() -> Language:
    """The language that is spoken now; English unless another one was chosen."""
    return _spoken.get()
