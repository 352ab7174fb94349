"""What an answer that is no success means for a send, as far as it is the same for both bridges.

Source: signal-cli 0.14.6, `org.asamk.signal.json.JsonSendMessageResult` (2026-11-21).
"""

import re
from collections.abc import Collection
from http import HTTPStatus

from bot.errors import NotSent, SendUnknown, TransportError, Undeliverable

SUCCESS = "SUCCESS"

LONGEST_CHALLENGE_PAUSE_SECONDS = 900.0
"""How long at most a send waits that Signal wants a captcha for. Signal says a day, but for whoever solves none."""

_RATE_LIMITED = "RATE_LIMIT_FAILURE"
_HOPELESS = {"UNREGISTERED_FAILURE", "IDENTITY_FAILURE", "INVALID_PRE_KEY_FAILURE"}

_TOKEN = re.compile(r"[\w.:+/=-]{1,500}", re.ASCII)


def token_in(values: Collection[object]) -> str | None:
    """The first of some values that can be the token of a captcha; None where there is none."""
    return next((value for value in values if isinstance(value, str) and _TOKEN.fullmatch(value)), None)


def rate_limited(*, retry_after_seconds: float | None = None, challenge: str | None = None) -> NotSent:
    """What a rate limit means; with a challenge it is lifted by a captcha that the operator solves.

    The token itself is not in the words, for they are logged.
    """
    if challenge is None:
        return NotSent("Signal limits the rate of sending", retry_after_seconds=retry_after_seconds)
    pause_seconds = None if retry_after_seconds is None else min(retry_after_seconds, LONGEST_CHALLENGE_PAUSE_SECONDS)
    return NotSent(
        "Signal wants a captcha solved before it sends more (submitRateLimitChallenge; see `python -m bot health`)",
        retry_after_seconds=pause_seconds,
    )


def failure(
    kinds: Collection[str], *, retry_after_seconds: float | None = None, challenge: str | None = None
) -> TransportError:
    """What it means that no recipient got a message: unknown outweighs again later, which outweighs never.

    `kinds` are the result types of all recipients. A type that is not known counts as a failure of the network.
    """
    if set(kinds) - _HOPELESS - {_RATE_LIMITED}:
        return SendUnknown("the connection to Signal failed while sending")
    if _RATE_LIMITED in kinds:
        return rate_limited(retry_after_seconds=retry_after_seconds, challenge=challenge)
    return Undeliverable(f"no recipient can get it: {', '.join(sorted(set(kinds)))}")


def http_failure(status: int) -> TransportError:
    """What an HTTP status that is no success means for a send.

    400, 413 and 422 are about this very request. Other 4xx come before the request was read: the bridge's own 404, 405
    and 415, or a proxy's 401, 403, 408 and 429, which may pass; 429 is also how the rest-api tells of a rate limit.
    After 5xx nothing is known: a proxy may have handed the request on.
    """
    if status in {HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNPROCESSABLE_ENTITY}:
        return Undeliverable(f"the request was refused with HTTP {status}")
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return rate_limited()
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.INTERNAL_SERVER_ERROR:
        return NotSent(f"what answers at SIGNAL__URL did not take the request: HTTP {status}")
    return SendUnknown(f"the bridge to Signal answered with HTTP {status}")
