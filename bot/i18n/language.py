"""The language in which Aldis answers: that of the person, set where an answer begins, for all sentences from there."""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal, get_args

Language = Literal["en", "de", "fr", "es"]

LANGUAGES: tuple[Language, ...] = get_args(Language)

_current: ContextVar[Language] = ContextVar("language", default="en")


def set_language(language: Language) -> None:
    """Sets the language for the rest of the task."""
    _current.set(language)


@contextmanager
def use_language(language: Language) -> Generator[None]:
    """Sets the language within the block."""
    token = _current.set(language)
    try:
        yield
    finally:
        _current.reset(token)


def current_language() -> Language:
    """Returns the language that applies here; English unless another one was set."""
    return _current.get()
