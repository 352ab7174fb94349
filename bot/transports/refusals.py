"""What an error of signal-cli-rest-api means for a send: 400 is its catch-all, so its words decide.

Left to others: what HTTP alone tells (`results`), the requests themselves (`rest_api`).

Source: signal-cli-rest-api, commit a08db23, `src/api/api.go` and `src/client/client.go` (2026-11-21).
"""

import re
from http import HTTPStatus

from bot.errors import NotSent, SendUnknown, TransportError, Undeliverable
from bot.transports.frame import items_in, loaded
from bot.transports.results import http_failure, rate_limited, token_in

_RATE_LIMIT = re.compile(r"rate.?limit|\[(413|429)\]", re.IGNORECASE)
_HOPELESS = re.compile(
    r"couldn't process request|untrusted|unregistered|not registered|does not exist|not found"
    r"|invalid (group|recipient|number)|not a group member",
    re.IGNORECASE,
)


def refusal(status: int, body: str, *, is_group: bool) -> TransportError:
    """What an answer that is no success means, by its status and its body."""
    if status == HTTPStatus.BAD_REQUEST:
        return _bad_request(body, is_group=is_group)
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return rate_limited(challenge=challenge_in(body))
    return http_failure(status)


def challenge_in(body: str) -> str | None:
    """The token of the captcha that is to be solved; None where none is wanted (the list may hold empty strings)."""
    return token_in(items_in(loaded(body), "challenge_tokens"))


def _bad_request(body: str, *, is_group: bool) -> TransportError:
    if _RATE_LIMIT.search(body):
        # In a group the limit may strike in the middle (https://github.com/AsamK/signal-cli/issues/2071).
        words = "Signal limits the rate of sending"
        return SendUnknown(f"{words}; some members may have got it") if is_group else NotSent(words)
    if _HOPELESS.search(body):
        return Undeliverable("signal-cli-rest-api refused the message")
    return SendUnknown("signal-cli-rest-api failed while sending")
