"""The sentences in every language: none is forgotten, none is left over, and each says as much as the English one."""

import ast
import string
from decimal import Decimal
from pathlib import Path
from typing import get_args

import pytest

from bot.i18n import phrases
from bot.i18n.locale import LANGUAGES, SENTENCES, Language, speaking
from bot.labels import Source, SourceKind

ENGLISH = {
    name.lstrip("_"): value for name, value in vars(phrases).items() if name.isupper() and isinstance(value, str)
}
OTHERS = [language for language in LANGUAGES if language != "en"]


def places(sentence: str) -> list[str]:
    return sorted(name for _, name, _, _ in string.Formatter().parse(sentence) if name is not None)


def commands(sentence: str) -> list[str]:
    """What people are to type stands between backticks and is the same everywhere."""
    return sorted(part for part in sentence.split("`")[1::2] if part.startswith("/"))


@pytest.mark.parametrize("language", OTHERS)
def test_every_sentence_is_in_every_language(language: Language) -> None:
    """And none that is no longer said."""
    assert set(SENTENCES[language]) == set(ENGLISH)


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("name", sorted(ENGLISH))
def test_a_translation_has_the_same_places_and_commands(language: Language, name: str) -> None:
    """What is filled in is filled in everywhere; what people are told to type works."""
    translated = SENTENCES[language].get(name, ENGLISH[name])
    assert places(translated) == places(ENGLISH[name])
    assert commands(translated) == commands(ENGLISH[name])
    assert translated == translated.strip()
    assert translated


def test_two_sentences_never_share_a_name() -> None:
    """The underscore before those with places does not count."""
    named = [name for name, value in vars(phrases).items() if name.isupper() and isinstance(value, str)]
    assert len(ENGLISH) == len(named)


def test_no_words_stand_where_they_cannot_be_translated() -> None:
    """Functions of phrases put nothing but signs and short units between what they fill in."""
    tree = ast.parse(Path(phrases.__file__ or "").read_text(encoding="utf-8"))
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
    with speaking(language):
        said = [
            phrases.said(phrases.STOPPED),
            phrases.wrong_form("/allow CODE"),
            phrases.forgot(2),
            phrases.budget_used_up("person", "day", renews=True),
        ]
    expected = {"en": "Stopped.", "de": "Abgebrochen.", "fr": "Arrêté.", "es": "Detenido."}
    assert said[0] == expected[language]
    assert "/allow CODE" in said[1]
    assert "2" in said[2]
    assert language == "en" or not {*said} & {phrases.STOPPED, phrases.BUDGET_PERSON_DAY}


@pytest.mark.parametrize("kind", get_args(SourceKind))
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_question_names_its_causes(language: Language, kind: SourceKind) -> None:
    """Every kind of source, with a name and without, in each language; of many the newest."""
    named, unnamed = Source(kind=kind, name="site.example"), Source(kind=kind)
    with speaking(language):
        question = phrases.may_i([phrases.Deed(words="x")], Decimal(0), (named, unnamed))
        many = phrases.may_i([], Decimal(0), [Source(kind="page", name=f"{n}.example") for n in range(5)])
        origin = phrases.origin((named,))
    assert "{" not in question
    assert ("site.example" in question) is (kind in {"page", "tool", "file", "person"})
    assert [f"{n}.example" in many for n in range(5)] == [False, False, True, True, True]
    assert "…" in many
    assert origin


def test_what_is_no_sentence_of_aldis_is_left_as_it_is() -> None:
    """An answer of a model, or words that were put into the language before."""
    with speaking("de"):
        assert phrases.said("Stopped, said the pilot.") == "Stopped, said the pilot."
        assert phrases.said(phrases.said(phrases.STOPPED)) == "Abgebrochen."
        assert phrases.said("100 % {sure}") == "100 % {sure}"
