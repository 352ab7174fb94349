"""Every sentence that people hear from Aldis itself, in one place. Plain words that say what to do."""

from bot.errors import BadKey, ContextTooLong, Overloaded, ProviderError, Rejected, Unavailable

OVERLOADED = "The language model has too much to do right now. Please ask again in a minute."
UNAVAILABLE = "I can't reach the language model right now. Please ask again in a few minutes."
BAD_KEY = (
    "The language model refused my access. Whoever runs me needs to check the key or the account; nothing else helps."
)
REJECTED = "The language model refused this request. Please put it differently, or ask something shorter."
TOO_LONG = "That is more text than the language model can take at once. Please send a shorter message."
REFUSED = "The language model declined to answer that."
NOTHING_SAID = "I found nothing to say to that. Please put it differently."
NO_WORDS_LEFT = (
    "The answer did not fit the length I am allowed. Please ask for something shorter, or for one part of it."
)
CUT_OFF = "… (cut off here: the answer reached the length I am allowed)"
CUT_PARTS = "… (cut: the answer was too long for a chat; ask for the rest)"
TOOK_TOO_LONG = "That took too long, so I stopped. Please try again, or ask for a smaller step."
STOPPED = "Stopped."
FAILED = "Something went wrong on my side and I could not answer. It has been noted; please ask again."
GAVE_UP = "I tried several times to answer your last message and failed each time. It has been noted; please ask again."

_BY_ERROR: tuple[tuple[type[ProviderError], str], ...] = (
    (Overloaded, OVERLOADED),
    (Unavailable, UNAVAILABLE),
    (ContextTooLong, TOO_LONG),
    (BadKey, BAD_KEY),
    (Rejected, REJECTED),
)


def for_error(error: ProviderError) -> str:
    """What a person hears when no model answered."""
    return next((phrase for kind, phrase in _BY_ERROR if isinstance(error, kind)), FAILED)
