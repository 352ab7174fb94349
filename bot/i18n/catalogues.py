"""Aldis's sentences in the current language: gettext's .po files in `locales`, with the English sentence as `msgid` and
its name as `msgctxt`. `make translations` brings them up to date with the sentences in the code.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import cast

from babel.core import Locale

from bot.i18n.language import Language, current_language

FOLDER = Path(__file__).parent / "locales"
_FRENCH_SPACE = re.compile(r"(?<=«) | (?=[:;!?»])")
"""The places where French has a non-breaking space."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence as written in the code: in English, with placeholders as in `str.format`."""

    name: str
    """Its key in the catalogues."""
    text: str
    plural: str | None = None
    """The English text for every `count` but 1; None if there is only one form."""


def say(sentence: Sentence, /, **values: object) -> str:
    """Returns the sentence in the current language, with its placeholders filled in.

    If it has two forms, the value `count` chooses between them by the rules of the language.
    """
    language, english = current_language(), (sentence.text, sentence.plural or sentence.text)
    first, others = _translations(language).get(sentence.name, english)
    is_one = sentence.plural is None or Locale.parse(language).plural_form(cast("int", values["count"])) == "one"
    words = first if is_one else others
    words = _FRENCH_SPACE.sub("\u00a0", words) if language == "fr" else words
    return words.format(**values) if values else words


@cache
def _translations(language: Language) -> Mapping[str, tuple[str, str]]:
    """Both forms of each sentence that is translated, by its name; English ones stand in the code."""
    if language == "en":
        return {}
    from babel.messages.pofile import read_po

    with (FOLDER / language / "LC_MESSAGES" / "aldis.po").open("rb") as file:
        said = {str(one.context): cast("str | tuple[str, str]", one.string) for one in read_po(file, locale=language)}
    both = {name: (words, words) if isinstance(words, str) else words for name, words in said.items()}
    return {name: words for name, words in both.items() if all(words)}
