"""Aldis's sentences in the current language: gettext catalogues in `locales`, in which each is found by its name.

The catalogues are plain .po files, which any translation tool opens; nothing has to be compiled. They hold the English
sentence as `msgid` and its name as `msgctxt`. `make translations` brings them up to date with the sentences in the
code.
"""

import re
from dataclasses import dataclass
from functools import cache
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
from pathlib import Path
from typing import cast

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
    language, plural = current_language(), sentence.plural
    translations = _translations(language)
    if plural is None:
        words = translations.pgettext(sentence.name, sentence.text)
    else:
        words = translations.npgettext(sentence.name, sentence.text, plural, cast("int", values["count"]))
    words = _FRENCH_SPACE.sub("\u00a0", words) if language == "fr" else words
    return words.format(**values) if values else words


@cache
def _translations(language: Language) -> NullTranslations:
    """The sentences of a language; English ones stand in the code."""
    if language == "en":
        return NullTranslations()
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    compiled = BytesIO()
    with (FOLDER / language / "LC_MESSAGES" / "aldis.po").open("rb") as file:
        write_mo(compiled, read_po(file, locale=language))
    compiled.seek(0)
    return GNUTranslations(compiled)
