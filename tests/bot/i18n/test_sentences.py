"""The sentences in every language: none is forgotten, none is left over, and each says as much as the English one."""

import ast
import itertools
import string
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po

from bot.chat import phrases
from bot.commands import phrases as command_phrases
from bot.errors import BadKey, ContextTooLong, NoSuchModel, Overloaded, ProviderError, Rejected, TooSlow, Unavailable
from bot.i18n import catalogues
from bot.i18n import phrases as common_phrases
from bot.i18n.catalogues import say
from bot.i18n.language import LANGUAGES, Language, use_language
from bot.i18n.locale import day, dollars, moment, number
from store import Erasure
from tests.bot.i18n.sentences import ENGLISH, FILES, NAMED

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


def test_every_sentence_is_in_every_language() -> None:
    """With the English that stands in the code, and none that is no longer said; `make translations` sees to it."""
    english = {one.name: forms((one.text, one.plural) if one.plural else one.text) for one in ENGLISH.values()}
    for language in OTHERS:
        assert {name: forms(one.id) for name, one in CATALOGUES[language].items()} == english, language


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
    """Without the underscore of those that only functions say; none shares its name, or its words."""
    assert len(NAMED) == len(ENGLISH)
    assert [name.lstrip("_") for name in ENGLISH] == [sentence.name for sentence in ENGLISH.values()]
    assert len({sentence.name for sentence in ENGLISH.values()}) == len(ENGLISH)
    # Those with places to fill in, and parts of others, are for the functions beside them.
    said = [one.text for name, one in ENGLISH.items() if not name.startswith(("_", "EVERY_", "DEED_"))]
    whole = [text for text in said if "{" not in text]
    assert len(set(whole)) == len(whole)


def test_no_words_stand_where_they_cannot_be_translated() -> None:
    """Functions of phrases put nothing but signs and short units between what they fill in."""
    for path in (path for path in FILES if path.stem == "phrases"):
        written = [
            part.value
            for joined in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(joined, ast.JoinedStr)
            for part in joined.values
            if isinstance(part, ast.Constant)
        ]
        assert not [text for text in written if any(character.isalpha() for character in str(text))], path


def test_what_is_said_is_in_the_language_that_is_spoken() -> None:
    """Constants, sentences with places, and those of several; a count chooses the form by the language's own rules."""
    expected = {"en": "Stopped.", "de": "Abgebrochen.", "fr": "Arrêté.", "es": "Detenido."}
    used_up = phrases.budget_used_up("person", "day", renews=True)
    for language in LANGUAGES:
        with use_language(language):
            assert say(common_phrases.STOPPED) == expected[language]
            assert "2" in command_phrases.forget_reply(Erasure(turns=2))
            assert (phrases.budget_used_up("person", "day", renews=True) == used_up) == (language == "en")
            one, none = (say(phrases.ANSWERS, count=count) for count in (1, 0))
        assert one.startswith("1 ")
        assert (one.replace("1", "0") == none) == (language == "fr")  # there, nothing is one, too


def test_every_error_of_a_provider_has_its_sentence() -> None:
    """What is said tells what to do, and nothing of the error's own message."""
    for kind, sentence in (
        (Overloaded, phrases.OVERLOADED),
        (Unavailable, phrases.UNAVAILABLE),
        (TooSlow, phrases.TOO_SLOW),
        (ContextTooLong, phrases.TOO_LONG),
        (BadKey, phrases.BAD_KEY),
        (Rejected, phrases.REJECTED),
        (NoSuchModel, phrases.NO_SUCH_MODEL),
        (ProviderError, common_phrases.FAILED),
    ):
        assert phrases.for_error(kind("the vendor's words", provider="openai", model="m")) == sentence.text
    # A model that refuses again and again is set up wrongly; one that is not there keeps its own sentence.
    refused, missing = Rejected("", provider="p"), NoSuchModel("", provider="p")
    refused.is_setup = missing.is_setup = True
    assert phrases.for_error(refused) == phrases.REFUSES_ALL.text
    assert phrases.for_error(missing) == phrases.NO_SUCH_MODEL.text


AT = datetime(2026, 3, 4, 9, 5, tzinfo=UTC)
WRITTEN: dict[Language, tuple[str, ...]] = {
    "en": ("4 Mar 2026", "Wed, 4 Mar 2026, 09:05", "1,234.50", "US$1,234.50", "US$0.0042"),
    "de": ("04.03.2026", "Mi., 4. März 2026, 09:05", "1.234,50", "1.234,50\u00a0$", "0,0042\u00a0$"),
    "fr": ("4 mars 2026", "mer. 4 mars 2026, 09:05", "1\u202f234,50", "1\u202f234,50\u00a0$US", "0,0042\u00a0$US"),
    "es": ("4 mar 2026", "mié, 4 mar 2026, 09:05", "1.234,50", "1.234,50\u00a0US$", "0,0042\u00a0US$"),
}


def test_dates_numbers_and_money_are_written_as_the_language_does() -> None:
    """Without a locale of the machine; money with its cents, and with more places where it has them."""
    for language, written in WRITTEN.items():
        with use_language(language):
            money = (dollars(Decimal("1234.5")), dollars(Decimal("0.0042")))
            assert (day(AT), moment(AT), number(Decimal("1234.50")), *money) == written
