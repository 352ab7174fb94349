"""The language that Aldis is speaking.

It belongs to the person who is answered, not to a sentence: it is set where an answer begins (`speak`, `speaking`), and
applies to every sentence from there on (`bot.i18n.catalogues`).
"""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal, get_args

Language = Literal["en", "de", "fr", "es"]

LANGUAGES: tuple[Language, ...] = get_args(Language)

_spoken: ContextVar[Language] = ContextVar("spoken", default="en")


def speak(language: Language) -> None:
    """Speaks this language for the rest of the task."""
    _spoken.set(language)


@contextmanager
def speaking(language: Language) -> Generator[None]:
    """Speaks this language within the block."""
    token = _spoken.set(language)
    try:
        yield
    finally:
        _spoken.reset(token)


def current_language() -> Language:
    """Returns the language that is being spoken; English unless another one was chosen."""
    return _spoken.get()
