"""Aldis's sentences in the current language: gettext catalogues in `locales`, in which each is found by its name.

The catalogues are plain .po files, which any translation tool opens; nothing has to be compiled. They hold the English
sentence as `msgid` and its name as `msgctxt`. `make translations` brings them up to date with the sentences in the
code.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from gettext import c2py
from pathlib import Path

from bot.i18n.language import Language, current_language

FOLDER = Path(__file__).parent / "locales"
"""`LANGUAGE/LC_MESSAGES/aldis.po`, as gettext lays them out."""

_FRENCH_SPACE = re.compile(r"(?<=«) | (?=[:;!?»])")
"""The places where French has a non-breaking space."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence as written in the code: in English, with placeholders as in `str.format`."""

    name: str
    """Its key in the catalogues; unique, even among sentences with the same English."""
    text: str
    """The English text; if there are two forms, the one for a `count` of 1."""
    plural: str | None = None
    """The English text for every other `count`; None if there is only one form."""


def say(sentence: Sentence, /, **values: object) -> str:
    """Returns the sentence in the current language, with its placeholders filled in.

    If it has two forms, the value `count` chooses between them by the rules of the language.
    """
    language, count = current_language(), 1
    if sentence.plural is not None:
        if not isinstance(given := values.get("count"), int):
            raise TypeError("a sentence with two forms needs its `count`")
        count = given
    words = sentence.text if sentence.plural is None or count == 1 else sentence.plural
    if language != "en":
        sentences, form_of = _catalogue(language)
        if forms := sentences.get(sentence.name):
            words = forms if isinstance(forms, str) else forms[form_of(count)]
        if language == "fr":
            words = _FRENCH_SPACE.sub("\u00a0", words)
    return words.format(**values) if values else words


@cache
def _catalogue(language: Language) -> tuple[Mapping[str, Sequence[str]], Callable[[int], int]]:
    """The sentences of a language by name, and which of two forms belongs to a number."""
    from babel.messages.pofile import read_po

    with (FOLDER / language / "LC_MESSAGES" / "aldis.po").open("rb") as file:
        catalogue = read_po(file, locale=language)
    sentences = {str(message.context): message.string for message in catalogue if message.string}
    return sentences, c2py(catalogue.plural_expr)
