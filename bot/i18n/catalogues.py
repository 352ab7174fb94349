"""Aldis's sentences in the current language: gettext catalogues in `locales`, in which each is found by its name.

The catalogues are plain .po files, which any translation tool opens; nothing has to be compiled. They hold the English
sentence as `msgid` and its name as `msgctxt`. `make translations` brings them up to date with the sentences in the
code.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
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
    translations = _translations(current_language())
    if sentence.plural is None:
        words = translations.pgettext(sentence.name, sentence.text)
    else:
        words = translations.npgettext(sentence.name, sentence.text, sentence.plural, _count(values))
    return words.format(**values) if values else words


@cache
def _translations(language: Language) -> NullTranslations:
    if language == "en":
        return NullTranslations()
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    compiled = BytesIO()
    with (FOLDER / language / "LC_MESSAGES" / "aldis.po").open("rb") as file:
        catalogue = read_po(file, locale=language)
    if language == "fr":
        for message in catalogue:
            forms = [message.string or ""] if isinstance(message.string, str) else message.string or ()
            bound = tuple(_FRENCH_SPACE.sub("\u00a0", form) for form in forms)
            message.string = bound[0] if isinstance(message.string, str) else bound
    write_mo(compiled, catalogue)
    compiled.seek(0)
    return GNUTranslations(compiled)


def _count(values: Mapping[str, object]) -> int:
    count = values.get("count")
    if not isinstance(count, int):
        raise TypeError("a sentence with two forms needs its `count`")
    return count
