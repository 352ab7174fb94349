"""The sentences in every language: none is forgotten, none is left over, and each says as much as the English one."""

import ast
import itertools
import string
from pathlib import Path
from typing import Any

import pytest
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po

from bot.chat import phrases
from bot.commands import phrases as command_phrases
from bot.i18n import catalogues
from bot.i18n import phrases as common_phrases
from bot.i18n.catalogues import say
from bot.i18n.language import LANGUAGES, Language, use_language
from store import Erasure
from tests.bot.i18n.sentences import ENGLISH, FILES, NAMED

USED_UP = phrases.budget_used_up("person", "day", renews=True)

OTHERS: tuple[Language, ...] = tuple(language for language in LANGUAGES if language != "en")


def catalogue(language: Language) -> Catalog:
    with (catalogues.FOLDER / language / "LC_MESSAGES" / "aldis.po").open("rb") as file:
        return read_po(file, locale=language)


CATALOGUES = {language: {str(one.context): one for one in catalogue(language) if one.id} for language in OTHERS}


def places(sentence: str) -> list[str]:
    return sorted(name for _, name, _, _ in string.Formatter().parse(sentence) if name is not None)


def commands(sentence: str) -> list[str]:
    """What people are to type stands between backticks and is the same everywhere."""
    return sorted(part for part in sentence.split("`")[1::2] if part.startswith("/"))


def forms(text: Any) -> tuple[str, ...]:
    return (text,) if isinstance(text, str) else tuple(text)


@pytest.mark.parametrize("language", OTHERS)
def test_every_sentence_is_in_every_language(language: Language) -> None:
    """With the English that stands in the code, and none that is no longer said; `make translations` sees to it."""
    english = {one.name: forms((one.text, one.plural) if one.plural else one.text) for one in ENGLISH.values()}
    assert {name: forms(one.id) for name, one in CATALOGUES[language].items()} == english


def test_a_translation_has_the_same_places_and_commands() -> None:
    """What is filled in is filled in everywhere; what people are told to type works. Each form of a plural is there."""
    for language, sentence in itertools.product(OTHERS, ENGLISH.values()):
        translated = forms(CATALOGUES[language][sentence.name].string)
        last = translated[-1]
        expected = (
            1 if sentence.plural is None else catalogue(language).num_plurals,
            places(sentence.plural or sentence.text),
            {tuple(commands(sentence.text))},
            {True},
        )
        found = (
            len(translated),
            places(last),
            {tuple(commands(form)) for form in translated},
            {bool(form) and form == form.strip() and set(places(form)) <= set(places(last)) for form in translated},
        )
        assert found == expected, (language, sentence.name)


def test_a_sentence_is_known_by_the_name_that_it_has_in_the_code() -> None:
    """Without the underscore of those that only functions say; none shares its name."""
    assert len(NAMED) == len(ENGLISH)
    assert [name.lstrip("_") for name in ENGLISH] == [sentence.name for sentence in ENGLISH.values()]
    assert len({sentence.name for sentence in ENGLISH.values()}) == len(ENGLISH)


def test_a_count_chooses_the_form() -> None:
    """By the rules of the language: in French nothing is one, too."""
    for language in LANGUAGES:
        with use_language(language):
            one, none = phrases.answers(1), phrases.answers(0)
        assert one.startswith("1 ")
        assert (one.replace("1", "0") == none) == (language == "fr")


@pytest.mark.parametrize("path", [path for path in FILES if path.stem == "phrases"], ids=lambda path: path.parent.name)
def test_no_words_stand_where_they_cannot_be_translated(path: Path) -> None:
    """Functions of phrases put nothing but signs and short units between what they fill in."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    written = [
        part.value
        for joined in ast.walk(tree)
        if isinstance(joined, ast.JoinedStr)
        for part in joined.values
        if isinstance(part, ast.Constant)
    ]
    assert not [text for text in written if any(character.isalpha() for character in str(text))]


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_said_is_in_the_language_that_is_spoken(language: Language) -> None:
    """Constants, sentences with places, and those that are made of several."""
    with use_language(language):
        said = [
            say(common_phrases.STOPPED),
            command_phrases.wrong_form("allow", ()),
            command_phrases.forget_reply(Erasure(turns=2)),
            phrases.budget_used_up("person", "day", renews=True),
        ]
    expected = {"en": "Stopped.", "de": "Abgebrochen.", "fr": "Arrêté.", "es": "Detenido."}
    assert said[0] == expected[language]
    assert "`/help allow`" in said[1]
    assert "2" in said[2]
    assert language == "en" or not {*said} & {
        common_phrases.STOPPED.text,
        USED_UP,
    }
