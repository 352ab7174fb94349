"""Everything that can go wrong in `bot`, split by who must act.

    AldisError
    |- ConfigError                 the operator: a setting is wrong or missing
    |- ProviderError               a model did not answer
    |  |- Overloaded               again later: rate limit, overload; may say when
    |  |- Unavailable              again later: no connection, time-out, server error, garbage
    |  |  |- TooSlow               again later, or the operator: it takes longer than it may
    |  |  '- Unreadable            again once: the server cannot read what its own model wrote
    |  |- ContextTooLong           the bot: ask again with fewer turns
    |  |- BadKey                   the operator: the key or the account was refused
    |  '- Rejected                 the request itself was refused; again and again: the operator
    |     '- NoSuchModel           the operator: there is nothing at this address, or no model of this name
    '- TransportError              Signal did not take something
       |- NotSent                  again later: it certainly did not go out; may say when
       |- SendUnknown              nobody knows whether it went out: reconcile, never repeat blindly
       |  '- NetworkFailed         the same, and perhaps nothing goes out at present
       |- NotUploaded              the sender: an attached file was refused, so nothing went out
       |- Untrusted                an admin: somebody's safety number has changed and is not trusted yet
       |- Undeliverable            nobody: it will never go out
       |- CallRefused              the operator: the bridge refused a request, and says why
       |- Disconnected             the intake: connect again
       |  '- NotScanned            the operator: scan the next code
       |- LinkRefused              the operator: the bridge does not link this account, and says why
       '- Unfetchable              nobody: the file that came with a message cannot be fetched

Messages are for operators and logs: they contain nothing a person wrote, no key and no phone number.
People hear sentences from `bot.i18n.phrases`.
"""

from decimal import Decimal
from typing import Literal


class AldisError(Exception):
    """The root of all errors that Aldis raises on purpose."""


class ConfigError(AldisError):
    """A setting is wrong or missing; the message has one line per setting, naming the variable and the remedy."""


class ProviderError(AldisError):
    """A model did not answer. `provider` and `model` say which; `retry_after_seconds` is None if unknown.

    `attempts` lists the failed tries that led here, oldest first, including this one: `bot.models.base.Attempt`s for
    the ledger, set by the provider that made them (`fallback`) and empty on the error of a single model. `cost_usd` is
    the known cost of this failed try; None if it cost an unknown amount.
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


class TooSlow(Unavailable):
    """The model was silent for too long, or did not come to an end: a slow one at home may need more time."""


class Unreadable(Unavailable):
    """The server could not read what its model wrote, such as a call of a tool: the next answer may be readable."""


class ContextTooLong(ProviderError):
    """The request does not fit the model's context window: ask again with less, until nothing can be left out.

    `window_tokens` is the size of the window, if the service told it.
    """

    window_tokens: int | None = None


class BadKey(ProviderError):
    """The key, the account or its credit was refused: the operator must act."""


class Rejected(ProviderError):
    """The model's service refused the request itself (400, 404, 422): repeating it would not help.

    `times` is how many requests in a row this model has refused; `is_setup` whether these are too many for a request of
    one person to be the cause, so that the operator must act.
    """

    times: int = 1

    @property
    def is_setup(self) -> bool:
        """Whether the model seems to refuse everything."""
        return self.times > 1


class NoSuchModel(Rejected):
    """No such model, or nothing answers at this address (404): the operator must act."""


class TransportError(AldisError):
    """Signal did not take something."""

    def __init__(self, message: str, *, retry_after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class NotSent(TransportError):
    """It surely did not go out (connection refused, rate limit): send it again, after `retry_after_seconds` if set."""


class SendUnknown(TransportError):
    """A send was started, and its answer never came or proves nothing: reconcile it by receipts."""


class NetworkFailed(SendUnknown):
    """The bridge believes it did not reach Signal's server: the cause may be Signal, not this message."""


class NotUploaded(TransportError):
    """A file was refused. Bridges upload before they send, so nothing went out: send the words without it.

    `is_final`: this file will never be accepted (too large, for example); otherwise it may be later.
    """

    def __init__(self, message: str, *, is_final: bool) -> None:
        super().__init__(message)
        self.is_final = is_final


class Untrusted(TransportError):
    """Nobody got it, because the recipient's safety number has changed: hold it until the new one is trusted."""


UndeliverableReason = Literal["unregistered", "not_in_group", "no_keys", "refused"]
"""No such account; we are not in the group (or may not write there); the account has no usable keys; or the bridge
refuses the request itself."""


class Undeliverable(TransportError):
    """It will never go out, and certainly did not. `reason` is a word for counters and the health page."""

    def __init__(self, message: str, *, reason: UndeliverableReason = "refused") -> None:
        super().__init__(message)
        self.reason: UndeliverableReason = reason


class CallRefused(TransportError):
    """The bridge refused an operator's request.

    The message is the bridge's own sentence: for the operator's eyes, never for a log.
    """


class Disconnected(TransportError):
    """The stream of envelopes ended or cannot be opened: connect again after a pause."""


class NotScanned(Disconnected):
    """The code for linking was not scanned in time: show another."""


class LinkRefused(TransportError):
    """The account cannot be linked, however often it is tried; the message is the bridge's own sentence.

    It may contain the account's number: for the operator's eyes, never for a log.
    """


class Unfetchable(TransportError):
    """The file that came with a message is gone or too large: the message is handled without it."""
