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
       |- SendUnknown              unknown whether it went out: reconcile, never repeat blindly
       |  '- NetworkFailed         the same, and perhaps nothing goes out at present
       |- NotUploaded              the sender: an attached file was refused, so nothing went out
       |- Untrusted                an admin: a person's safety number has changed and is not trusted yet
       |- Undeliverable            no one: it will never go out
       |- CallRefused              the operator: the bridge refused a request, and says why
       |- Disconnected             the intake: connect again
       |  '- NotScanned            the operator: scan the next code
       |- LinkRefused              the operator: the bridge does not link this account, and says why
       '- Unfetchable              no one: the file that came with a message cannot be fetched

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
    """A model did not answer. `retry_after_seconds` is None if unknown.

    `attempts` are the failed tries that led here, this one included, as `bot.models.base.Attempt`s for the ledger; only
    `fallback` sets them. `cost_usd` is what this try has cost; None if that is unknown.
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
    """Rate limit or overload."""


class Unavailable(ProviderError):
    """No connection, a server error or an unreadable answer."""


class TooSlow(Unavailable):
    """The model did not answer in time."""


class Unreadable(Unavailable):
    """The server could not read what its model wrote, such as a call of a tool."""


class ContextTooLong(ProviderError):
    """The request does not fit the model's context window."""

    window_tokens: int | None = None
    """The size of the window, if the service named it."""


class BadKey(ProviderError):
    """The key, the account or its credit was refused."""


class Rejected(ProviderError):
    """The model's service refused the request itself (400, 404, 422)."""

    times: int = 1
    """How many requests in a row this model has refused."""

    @property
    def is_setup(self) -> bool:
        """Whether these are too many for a request of one person to be the cause."""
        return self.times > 1


class NoSuchModel(Rejected):
    """No such model, or nothing at this address (404)."""


class TransportError(AldisError):
    """Signal did not take something."""

    def __init__(self, message: str, *, retry_after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class NotSent(TransportError):
    """The connection or the rate was refused before anything went out."""


class SendUnknown(TransportError):
    """A send was started, and its answer never came or proves nothing."""


class NetworkFailed(SendUnknown):
    """The bridge believes that it did not reach Signal's server."""


class NotUploaded(TransportError):
    """A file was refused; `is_final` is whether it always will be. Bridges upload before they send."""

    def __init__(self, message: str, *, is_final: bool) -> None:
        super().__init__(message)
        self.is_final = is_final


class Untrusted(TransportError):
    """The recipient's safety number has changed and is not trusted yet."""


UndeliverableReason = Literal["unregistered", "not_in_group", "no_keys", "refused"]
"""No such account; we are not in the group (or may not write there); the account has no usable keys; or the bridge
refuses the request itself."""


class Undeliverable(TransportError):
    """It certainly did not go out. `reason` is a word for counters and the health page."""

    def __init__(self, message: str, *, reason: UndeliverableReason = "refused") -> None:
        super().__init__(message)
        self.reason: UndeliverableReason = reason


class CallRefused(TransportError):
    """The bridge refused an operator's request; the message is its own sentence, for the operator, never for a log."""


class Disconnected(TransportError):
    """The stream of envelopes ended or cannot be opened."""


class NotScanned(Disconnected):
    """The code for linking was not scanned in time."""


class LinkRefused(TransportError):
    """The account cannot be linked; the message is as that of `CallRefused`, and may contain the account's number."""


class Unfetchable(TransportError):
    """The file that came with a message is gone or too large."""
