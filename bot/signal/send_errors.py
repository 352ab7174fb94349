"""What a refused call means, above all for a send: both bridges pass on a result for each recipient, or a sentence.

signal-cli uploads files before it sends, and turns whatever goes wrong while sending to one person into a result. So a
sentence about an exception means that something failed before the first recipient, except in a group.

Source: signal-cli 0.14.6, `JsonSendMessageResult`, `SendCommand`, `SignalJsonRpcCommandHandler`, `SendHelper` and
`AttachmentHelper` (2026-11-22); signal-cli-rest-api, commit a08db23, `src/api/api.go` (2026-11-21).
"""

import re
from collections.abc import Collection, Generator, Mapping
from contextlib import contextmanager

from bot.errors import (
    CallRefused,
    Disconnected,
    NetworkFailed,
    NotSent,
    NotUploaded,
    SendUnknown,
    TransportError,
    Undeliverable,
    UndeliverableReason,
    Untrusted,
)
from bot.invocation import command_line

SUCCESS, UNTRUSTED = "SUCCESS", "IDENTITY_FAILURE"
_RATE_LIMITED = "RATE_LIMIT_FAILURE"
_HOPELESS: Mapping[str, UndeliverableReason] = {
    "UNREGISTERED_FAILURE": "unregistered",
    "INVALID_PRE_KEY_FAILURE": "no_keys",
}
"""signal-cli's results for a recipient; any other than these is a network failure."""

MAX_CHALLENGE_PAUSE_SECONDS = 900.0
"""The longest pause of a send that Signal wants a captcha for. For people who solve none, Signal says a day."""

_SENTENCES: tuple[tuple[re.Pattern[str], UndeliverableReason], ...] = (
    (re.compile(r"User is not (a member in|allowed to send message to) group|Group not found"), "not_in_group"),
    (re.compile(r"The user .* is not registered|Unregistered user"), "unregistered"),
    (re.compile(r"Invalid (group|recipient|phone number|number)|Specified account does not exist"), "refused"),
    (re.compile(r"couldn't process request", re.IGNORECASE), "refused"),  # the rest-api, before it asked signal-cli
)
"""How sentences begin; further on they contain names that strangers choose."""
_EXCEPTION = re.compile(r"^(?P<failed>Failed to send message: )?.*\((?P<name>\w+(Exception|Error))\)\Z", re.DOTALL)
"""The form of signal-cli's sentence about an exception; in the middle are its subject and its message."""
_UPLOAD = re.compile(r"Attachment|Upload|Resum|Cdn", re.IGNORECASE)
_UNREADABLE = "ClassCastException"
"""What signal-cli says to a timestamp of less than 32 bits, such as a person can make up, before it does anything."""
_RATE_LIMIT = re.compile(r"rate.?limit|\[(413|429)\]", re.IGNORECASE)
_TAIL_CHARS = 400
"""The part of a long sentence that says what happened: before it comes the file itself, as base64."""


class RefusedCall(TransportError):
    """The bridge refused a call; `words` is its sentence, never for a log, because it can hold names and numbers."""

    may_pass = False
    """Whether the same call may succeed later."""

    def __init__(self, message: str, words: str) -> None:
        super().__init__(message)
        self.words = words

    @property
    def line(self) -> str:
        """The bridge's sentence on one line, for the operator's eyes; if there is none, what is known."""
        return " ".join(self.words.split()) or str(self)


@contextmanager
def asking(what: str) -> Generator[None]:
    """Translates the errors of a call that only asks, or that can be repeated, to `Disconnected`."""
    try:
        yield
    except (TransportError, ValueError) as error:
        raise Disconnected(f"{what} did not succeed ({error}); try again") from error


@contextmanager
def doing(what: str) -> Generator[None]:
    """Translates the errors of a call for the operator: a refusal to `CallRefused`, others as `asking`."""
    try:
        with asking(what):
            yield
    except Disconnected as error:
        if isinstance(error.__cause__, RefusedCall):
            raise CallRefused(error.__cause__.line) from error
        raise


def token_in(values: Collection[object]) -> str | None:
    """Returns the token of the captcha that Signal wants solved; None if it wants none."""
    return next((value for value in values if isinstance(value, str) and value), None)


def rate_limited(*, retry_after_seconds: float | None = None, challenge: str | None = None) -> NotSent:
    """Returns the error for a rate limit, with a challenge one that a captcha lifts; it does not name the token."""
    if challenge is None:
        return NotSent("Signal limits the rate of sending", retry_after_seconds=retry_after_seconds)
    return NotSent(
        f"Signal wants a captcha solved before it sends more (see `{command_line('health')}`)",
        retry_after_seconds=min(retry_after_seconds or 0, MAX_CHALLENGE_PAUSE_SECONDS) or None,
    )


def failure(
    kinds: Collection[str], *, retry_after_seconds: float | None = None, challenge: str | None = None
) -> TransportError:
    """Returns the error if no recipient got a message, by all results: unknown goes before later, that before never."""
    if not _HOPELESS.keys() | {UNTRUSTED, _RATE_LIMITED} >= {*kinds}:
        return NetworkFailed("the connection to Signal failed while sending")
    if _RATE_LIMITED in kinds:
        return rate_limited(retry_after_seconds=retry_after_seconds, challenge=challenge)
    if UNTRUSTED in kinds:
        return Untrusted("the safety number of the recipient has changed, and is not trusted")
    reason = _HOPELESS[min(kinds)] if kinds else "refused"
    return Undeliverable(f"no recipient can get it: {', '.join(sorted(kinds))}", reason=reason)


def failure_told(words: str, *, is_group: bool) -> TransportError | None:
    """Returns the error for a sentence about a failed send, which it does not repeat; None if that is unknown."""
    words = words.strip()
    for pattern, reason in _SENTENCES:
        if pattern.match(words):
            return Undeliverable(f"signal-cli refused it: {reason}", reason=reason)
    found, tail = _EXCEPTION.match(words.removesuffix(" (UnexpectedErrorException)")), words[-_TAIL_CHARS:]
    name = found["name"] if found is not None else ""
    if _UPLOAD.search(name):
        return NotUploaded(f"a file was not taken ({name})", is_final=False)
    if found is not None and found["failed"] and not is_group:
        # If there are files, they are what failed: a refused upload is also reported as a rate limit (0.13.14).
        return NotUploaded(f"signal-cli failed before it sent anything ({name})", is_final=False)
    if _RATE_LIMIT.search(tail):
        # In a group the limit can strike halfway (https://github.com/AsamK/signal-cli/issues/2071).
        said = "Signal limits the rate of sending"
        return SendUnknown(f"{said}; some members may have got it") if is_group else NotSent(said)
    if name == _UNREADABLE:
        return Undeliverable(f"signal-cli cannot read the request ({name})")
    return failure({UNTRUSTED}) if not name and "untrusted" in words.lower() else None
