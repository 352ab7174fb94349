"""Statements: sentences of Aldis that are made here and read elsewhere, each reader in a language of their own.

What is found, noted or refused is a value as long as nobody reads it; `str` says it in the language that is spoken
then (`bot.i18n.language`). What is answered at once has no need of it: `bot.i18n.catalogues.say`.
Babel is loaded when something is said, because every start imports this module.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Literal

from bot.i18n.catalogues import Sentence, say
from bot.i18n.language import use_language


@dataclass(frozen=True, slots=True)
class FilledSentence:
    """A sentence with what its places are filled with; the same where all of it is the same."""

    sentence: Sentence
    values: tuple[tuple[str, object], ...]
    """Place and value. A `Decimal` and a `date` are written as the reader's language does, words are said in it."""

    def __str__(self) -> str:
        """The sentence in the language that is spoken now."""
        return say(self.sentence, **{name: _written(value) for name, value in self.values})


@dataclass(frozen=True, slots=True)
class WordList:
    """Several words in one place: `A, B and C`."""

    words: "tuple[Words, ...]"
    last: Literal["and", "or"] = "and"

    def __str__(self) -> str:
        """The list as one reads it out in the language that is spoken now; empty where there are none."""
        from bot.i18n.locale import join_list

        return join_list([text_of(one) for one in self.words], self.last)


Words = Sentence | FilledSentence | WordList | str
"""What is said in the language of whoever reads it; a `str` are somebody else's words, or a name, and stay as they are.
"""


def fill(sentence: Sentence, /, **values: object) -> FilledSentence:
    """The sentence with its places filled in, to be said later; one with two forms needs its `count`."""
    return FilledSentence(sentence, tuple(values.items()))


def either(words: Iterable[Words]) -> WordList:
    """One of several: `A, B or C`."""
    return WordList(tuple(words), "or")


def text_of(words: Words) -> str:
    """The words in the language that is spoken now."""
    return say(words) if isinstance(words, Sentence) else str(words)


def english(words: Words) -> str:
    """The words in English, whatever is spoken: for the log, and for programs."""
    with use_language("en"):
        return text_of(words)


def _written(value: object) -> object:
    from bot.i18n.locale import day, number

    match value:
        case Sentence():
            return say(value)
        case Decimal():
            return number(value)
        case date():
            return day(value)
        case _:
            return value
