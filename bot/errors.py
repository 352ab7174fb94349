"""Everything that can go wrong in `bot`, split by who must act.

    AldisError
    |- ConfigError                 the operator: a setting is wrong or missing
    |- ProviderError               a model did not answer
    |  |- Overloaded               again later: rate limit, overload; may say when
    |  |- Unavailable              again later: no connection, time-out, server error, garbage
    |  |- ContextTooLong           the bot: ask again with fewer turns
    |  |- BadKey                   the operator: the key or the account was refused
    |  '- Rejected                 nobody: the request itself was refused
    |     '- NoSuchModel           the operator: there is nothing at this address, or no model of this name
    '- TransportError              Signal did not take something
       |- NotSent                  again later: it surely did not go out; may say when
       |- SendUnknown              nobody knows whether it went out: reconcile, never repeat blindly
       |  '- NetworkFailed         the same, and it may be that nothing goes out at present
       |- NotUploaded              the sender: a file that goes with it was not taken, so that nothing went out
       |- Untrusted                an admin: somebody's safety number has changed, and nobody has said yet that it may
       |- SentUnnamed              nobody: it went out, but its timestamp was not told; never send it again
       |- Undeliverable            nobody: it will never go out
       |- CallRefused              the operator: the bridge refused what it was asked to do, and says why
       |- Disconnected             the intake: connect again
       |- LinkRefused              the operator: the bridge does not link this account, and says why
       '- Unfetchable              nobody: the file that came with a message cannot be had

Messages are for operators and logs: they carry no word that a person wrote, no key and no phone number.
People hear sentences from `bot.i18n.phrases`.
"""

from decimal import Decimal
from typing import Literal


class AldisError(Exception):
    """The root: catch it to catch everything that Aldis raises on purpose."""


class ConfigError(AldisError):
    """A setting is wrong or missing; the message has a line for each, which names the variable and says what to do."""


class ProviderError(AldisError):
    """A model did not answer. `provider` and `model` say which; `retry_after_seconds` is None where unknown.

    `attempts` lists the failed tries that led here, oldest first, this one included: `bot.providers.base.Attempt`s for
    the ledger, set by the provider that made them (`fallback`) and empty on the error of a single model. `cost_usd` is
    what this try has cost although it failed, as far as is known; None where that is more than nothing, but unknown.
    """

    def __init__(
        self, message: str, *, provider: str, model: str = "", retry_after_seconds: float | None = None
    ) -> None:
        super().__init__(message)
        self.provider = provider
        self.model = model
        self.retry_after_seconds = retry_after_seconds
        self.attempts: tuple[object, ...] = ()
        self.cost_usd: Decimal | None = Decimal(0)


class Overloaded(ProviderError):
    """Rate limit or overload: try again after `retry_after_seconds`, or ask another provider."""


class Unavailable(ProviderError):
    """No connection, a time-out, a server error or an unreadable answer: try again, or ask another provider."""


class ContextTooLong(ProviderError):
    """The request does not fit the model's window: ask again with less, until nothing is left to leave out.

    `window_tokens` is how much the window holds, where the service said so.
    """

    window_tokens: int | None = None


class BadKey(ProviderError):
    """The key, the account or its credit was refused: the operator has to act."""


class Rejected(ProviderError):
    """The model's service refused the request itself (400, 404, 422): repeating it changes nothing."""


class NoSuchModel(Rejected):
    """There is no model of this name, or nothing that answers at this address (404): the operator has to act."""


class TransportError(AldisError):
    """Signal did not take something."""

    def __init__(self, message: str, *, retry_after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class NotSent(TransportError):
    """It surely did not go out (connection refused, rate limit): send it again, after `retry_after_seconds` if set."""


class SendUnknown(TransportError):
    """A send was started and its answer never came or proves nothing: reconcile it by receipts."""


class NetworkFailed(SendUnknown):
    """The bridge did not get it through to Signal's server, as far as it knows: it may be Signal, not this message."""


class SentUnnamed(TransportError):
    """It surely went out, and nobody knows under which timestamp: it cannot be edited, and must not be sent again."""


class NotUploaded(TransportError):
    """A file was not taken, and bridges upload before they send: surely nothing went out. Send the words without it.

    `is_final`: this file will never be taken (it is too large, say); else it may be, later.
    """

    def __init__(self, message: str, *, is_final: bool) -> None:
        super().__init__(message)
        self.is_final = is_final


class Untrusted(TransportError):
    """Nobody got it, for the safety number of whoever it is for has changed: hold it until that is trusted."""


UndeliverableReason = Literal["unregistered", "not_in_group", "no_keys", "refused"]
"""There is no such account, we are not in the group (or may not write there), the account has no usable keys, or the
bridge refuses the request itself."""


class Undeliverable(TransportError):
    """It will never go out, and surely did not. `reason` is a word for counters and the health page."""

    def __init__(self, message: str, *, reason: UndeliverableReason = "refused") -> None:
        super().__init__(message)
        self.reason: UndeliverableReason = reason


class CallRefused(TransportError):
    """The bridge refused what the operator asked it to do.

    The message is the bridge's own sentence: for the operator's eyes, never for a log.
    """


class UsernameRefused(CallRefused):
    """Somebody else has the user name, or Signal does not allow it."""


class Disconnected(TransportError):
    """The stream of envelopes ended or cannot be opened: connect again after a pause."""


class LinkRefused(TransportError):
    """The account will not be linked however often it is tried; the message is the bridge's own sentence.

    It may hold the account's number: it is for the operator's eyes, and for no log.
    """


class Unfetchable(TransportError):
    """The file that came with a message is not there, or larger than it may be: the message goes on without it."""
