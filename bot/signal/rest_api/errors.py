"""What an error of signal-cli-rest-api means for a send: 400 is its catch-all, so its message decides.

Left to others: what HTTP alone tells (`bot.signal.send_errors`), the requests themselves (`requests`).

Source: signal-cli-rest-api, commit a08db23, `src/api/api.go` and `src/client/client.go` (2026-11-21); the same in front
of a signal-cli that was killed (2026-11-26).
"""

from http import HTTPStatus

from bot.errors import NetworkFailed, NotSent, SendUnknown, TransportError, Undeliverable
from bot.signal.json import items_in, parse_frame, text_in
from bot.signal.send_errors import failure_told, http_failure, rate_limited, token_in

_OUR_FAULT = "couldn't process request"
"""How the bridge begins if it did not even ask signal-cli."""
_NOBODY = "Failed to send message"
"""All that is left of signal-cli's results if nobody got it; most often they are network failures."""


def refusal(status: int, body: str, *, is_group: bool) -> TransportError:
    """Returns the error for an unsuccessful answer, by its status and its body."""
    if status == HTTPStatus.BAD_REQUEST:
        return _bad_request(words_in(body), is_group=is_group)
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return rate_limited(challenge=challenge_in(body))
    if status == HTTPStatus.INTERNAL_SERVER_ERROR and not body:
        # The bridge has lost signal-cli and looks for it: it fails as it begins to write the request. A proxy in front
        # of it would answer with a body, or with 502 to 504.
        return NotSent("signal-cli-rest-api has lost signal-cli and is looking for it")
    return http_failure(status)


def words_in(body: str) -> str:
    """Returns the bridge's message, mostly signal-cli's own; the whole body if it has none."""
    return text_in(parse_frame(body), "error") or body


def challenge_in(body: str) -> str | None:
    """Returns the token of the captcha to be solved; None if none is wanted (the list can hold empty strings)."""
    return token_in(items_in(parse_frame(body), "challenge_tokens"))


def _bad_request(words: str, *, is_group: bool) -> TransportError:
    if words.lower().startswith(_OUR_FAULT):
        return Undeliverable("signal-cli-rest-api refused the request")
    if words.strip() == _NOBODY:
        return NetworkFailed("signal-cli reached nobody")
    told = failure_told(words, is_group=is_group)
    return SendUnknown("signal-cli-rest-api failed while sending") if told is None else told
