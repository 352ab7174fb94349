"""Everything that can go wrong in `bot`, split by who must act, which each class says first.

Messages are for operators and logs: they contain nothing a person wrote, no key and no phone number.
People hear sentences from `bot.i18n.phrases`.
"""

from decimal import Decimal
from typing import Any, Literal


class ConfigError(Exception):
    """The operator: a setting is wrong or missing. One line per setting names the variable and the remedy."""


class ProviderError(Exception):
    """A model did not answer. `cost_usd` is what this try has cost; what is None is unknown.

    `attempts` are the failed tries so far, as `LedgerEntry`s of the store; only `fallback` sets them.
    """

    def __init__(
        self, message: str, *, provider: str, model: str = "", retry_after_seconds: float | None = None
    ) -> None:
        super().__init__(message)
        self.provider = provider
        self.model = model
        self.retry_after_seconds = retry_after_seconds
        self.attempts: tuple[Any, ...] = ()
        self.cost_usd: Decimal | None = Decimal(0)


class Overloaded(ProviderError):
    """Again later: rate limit or overload."""


class Unavailable(ProviderError):
    """Again later: no connection, a server error or an unreadable answer."""


class TooSlow(Unavailable):
    """Again later, or the operator: the model takes longer than it may."""


class Unreadable(Unavailable):
    """Again once: the server could not read what its model wrote, such as a call of a tool."""


class ContextTooLong(ProviderError):
    """Ask again with fewer turns: the request does not fit the model's context window."""

    window_tokens: int | None = None
    """The size of the window, if the service named it."""


class BadKey(ProviderError):
    """The operator: the key, the account or its credit was refused."""


class Rejected(ProviderError):
    """The model's service refused the request itself (400, 404, 422); again and again: the operator."""

    is_setup: bool = False
    """Whether this model has refused too many in a row for a request of one person to be the cause."""


class NoSuchModel(Rejected):
    """The operator: no such model, or nothing at this address (404)."""


class TransportError(Exception):
    """Signal did not take something."""

    def __init__(self, message: str, *, retry_after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class NotSent(TransportError):
    """Again later: the connection or the rate was refused before anything went out."""


class SendUnknown(TransportError):
    """Reconcile, never repeat blindly: a send was started, and its answer never came or proves nothing."""


class NetworkFailed(SendUnknown):
    """The same; the bridge believes that it did not reach Signal's server, so perhaps nothing goes out."""


class NotUploaded(TransportError):
    """A file was refused, so nothing went out: bridges upload first. `is_final` is whether it always will be."""

    def __init__(self, message: str, *, is_final: bool) -> None:
        super().__init__(message)
        self.is_final = is_final


class Untrusted(TransportError):
    """An admin: the recipient's safety number has changed and is not trusted yet."""


UndeliverableReason = Literal["unregistered", "not_in_group", "no_keys", "refused"]
"""No such account; not in the group, or silent there; no usable keys; or the bridge refuses the request itself."""


class Undeliverable(TransportError):
    """No one: it certainly did not go out, and never will. `reason` is a word for counters and the health page."""

    def __init__(self, message: str, *, reason: UndeliverableReason = "refused") -> None:
        super().__init__(message)
        self.reason: UndeliverableReason = reason


class CallRefused(TransportError):
    """The bridge refused an operator's request; the message is its own sentence, for the operator, never for a log."""


class Disconnected(TransportError):
    """Connect again: the stream of envelopes ended or cannot be opened."""


class NotScanned(Disconnected):
    """The operator: the code for linking was not scanned in time."""


class Unfetchable(TransportError):
    """The file that came with a message is gone or too large."""
