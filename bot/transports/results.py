"""What an answer that is no success means for a send, as far as it is the same for both bridges.

Source: signal-cli 0.14.6, `org.asamk.signal.json.JsonSendMessageResult` (2026-11-21).
"""

from collections.abc import Collection
from http import HTTPStatus

from bot.errors import NotSent, SendUnknown, TransportError, Undeliverable

SUCCESS = "SUCCESS"

_RATE_LIMITED = "RATE_LIMIT_FAILURE"
_HOPELESS = {"UNREGISTERED_FAILURE", "IDENTITY_FAILURE", "INVALID_PRE_KEY_FAILURE"}


def failure(kinds: Collection[str], *, retry_after_seconds: float | None = None) -> TransportError:
    """What it means that no recipient got a message: unknown outweighs again later, which outweighs never.

    `kinds` are the result types of all recipients. A type that is not known counts as a failure of the network.
    """
    if set(kinds) - _HOPELESS - {_RATE_LIMITED}:
        return SendUnknown("the connection to Signal failed while sending")
    if _RATE_LIMITED in kinds:
        return NotSent("Signal limits the rate of sending", retry_after_seconds=retry_after_seconds)
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
        return NotSent("Signal limits the rate of sending")
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.INTERNAL_SERVER_ERROR:
        return NotSent(f"what answers at SIGNAL__URL did not take the request: HTTP {status}")
    return SendUnknown(f"the bridge to Signal answered with HTTP {status}")
