"""What people hear: a sentence for every failure, in plain words, ready as it stands."""

import pytest

from bot.chat import phrases
from bot.errors import BadKey, ContextTooLong, NoSuchModel, Overloaded, ProviderError, Rejected, TooSlow, Unavailable
from bot.i18n import phrases as common_phrases
from tests.bot.i18n.sentences import ENGLISH

SENTENCES = {
    name: value.text
    for name, value in ENGLISH.items()
    # Those with places to fill in, and parts of others, are for the functions beside them.
    if not name.startswith(("_", "EVERY_", "DEED_")) and "{" not in value.text
}


@pytest.mark.parametrize(
    ("kind", "phrase"),
    [
        (Overloaded, phrases.OVERLOADED.text),
        (Unavailable, phrases.UNAVAILABLE.text),
        (TooSlow, phrases.TOO_SLOW.text),
        (ContextTooLong, phrases.TOO_LONG.text),
        (BadKey, phrases.BAD_KEY.text),
        (Rejected, phrases.REJECTED.text),
        (NoSuchModel, phrases.NO_SUCH_MODEL.text),
        (ProviderError, common_phrases.FAILED.text),
    ],
)
def test_every_error_of_a_provider_has_its_sentence(kind: type[ProviderError], phrase: str) -> None:
    """What is said tells what to do, and nothing of the error's own message."""
    assert phrases.for_error(kind("the vendor's words", provider="openai", model="m")) == phrase


def test_a_model_that_refuses_again_and_again_is_set_up_wrongly() -> None:
    """No other wording of the question would help; a model that is not there has a sentence of its own."""
    refused, missing = Rejected("", provider="p"), NoSuchModel("", provider="p")
    refused.times = missing.times = 2
    assert phrases.for_error(refused) == phrases.REFUSES_ALL.text
    assert phrases.for_error(missing) == phrases.NO_SUCH_MODEL.text


def test_no_sentence_is_said_for_two_reasons() -> None:
    """People can tell what happened, and whoever runs Aldis from what they were told."""
    assert len(set(SENTENCES.values())) == len(SENTENCES)
