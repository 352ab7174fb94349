"""What keeps Aldis from its bridge or account, as errors that the operator reads in their own language.

    Disconnected <- BridgeSilent       nothing that can be talked to answers yet: ask again
    ConfigError  <- BridgeRefused      something else answers, or it is not clear which account is meant

As all errors they are English for the shell and the log; `words_of` is for whoever shows them to people.
"""

from collections.abc import Mapping

from bot.errors import ConfigError, Disconnected
from bot.i18n.catalogues import Sentence
from bot.i18n.statements import Words, english
from bot.transports import phrases
from tools import why_unreachable


class BridgeSilent(Disconnected):
    """Nothing that can be talked to answers at the address yet: ask again."""

    def __init__(self, words: Words) -> None:
        super().__init__(english(words))
        self.words = words


class BridgeRefused(ConfigError):
    """Something else answers there, or it is not clear which account is meant: the operator must act."""

    def __init__(self, words: Words) -> None:
        super().__init__(english(words))
        self.words = words


def words_of(error: Exception) -> Words:
    """Returns an error's message, in the language of its reader; in English if it is said elsewhere."""
    return error.words if isinstance(error, BridgeSilent | BridgeRefused) else str(error)


def words_of_unreachable(error: BaseException) -> Words:
    """Returns why a connection failed; see `why_unreachable`."""
    return in_words(why_unreachable(error))


def in_words(why: str) -> Words:
    """Returns the result of `why_unreachable`, in the language of its reader; anything else as it is."""
    return _REACHABILITY.get(why, why)


_REACHABILITY: Mapping[str, Sentence] = {
    sentence.text: sentence
    for sentence in (
        phrases.REACH_NO_HOST,
        phrases.REACH_CERTIFICATE,
        phrases.REACH_NO_TLS,
        phrases.REACH_SLOW,
        phrases.REACH_REFUSED,
        phrases.REACH_DENIED,
        phrases.REACH_NO_SOCKET,
        phrases.REACH_NO_WAY,
    )
}
"""By what the tools say in English, to models."""
