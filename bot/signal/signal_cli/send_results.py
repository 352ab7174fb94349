"""What signal-cli's answers to a send mean: who got it, whether to send it again, whether a captcha is wanted.

Left to others: what both bridges share (`bot.signal.send_errors`), the calls themselves (`transport`).

Source: signal-cli 0.14.6, `org.asamk.signal.util.SendMessageResultUtils` and `org.asamk.signal.jsonrpc` (2026-11-21).
"""

import logging
from collections import deque
from collections.abc import Mapping

from pydantic import BaseModel, Field, ValidationError

from bot.errors import SendUnknown, TransportError, Undeliverable
from bot.events import SentId
from bot.signal.json import as_object, items_in, object_in, person_in, text_in
from bot.signal.protocol import MissedRecipient
from bot.signal.send_errors import (
    SUCCESS,
    failure,
    failure_told,
    missed_recipient,
    rate_limited,
    token_in,
    untrusted_error,
)

_log = logging.getLogger(__name__)


_UNREACHABLE_CODE = -3
_UNTRUSTED_CODE = -4


class RpcError(TransportError):
    """The daemon refused a call: `code` is JSON-RPC's or signal-cli's own, `response` what the call had written.

    `words` is its message, only for the operator's own eyes, because it can contain names and numbers.
    """

    def __init__(self, code: int, response: Mapping[str, object], words: str = "") -> None:
        what = "cannot get through to Signal's server" if code == _UNREACHABLE_CODE else "refused the call"
        super().__init__(f"signal-cli {what} (code {code})")
        self.code = code
        self.response = response
        self.words = words

    @property
    def line(self) -> str:
        """Its message on one line; if it has none, the meaning of the code."""
        return " ".join(self.words.split()) or str(self)


class _Result(BaseModel):
    type: str
    token: str | None = None
    retry_after_seconds: float | None = Field(default=None, alias="retryAfterSeconds")
    address: dict[str, object] = Field(default_factory=dict, alias="recipientAddress")


class _Response(BaseModel):
    timestamp: int = Field(ge=0)
    results: list[_Result]


_RATE_LIMIT_CODE = -5
_REFUSED_CODES = {-1, -6, -32600, -32601, -32602, -32700}
"""User error, captcha rejected; invalid request, unknown method, bad parameters, no JSON."""


def parse_sent_id(result: object, missing: deque[MissedRecipient]) -> SentId:
    """Returns the id of a message that at least one recipient got, or that had none (a group with nobody else in it).

    The people whom it missed are added to `missing`.

    Raises:
        NotSent, SendUnknown, Undeliverable: nobody got it; see `bot.signal.protocol.Transport.send`.
    """
    try:
        response = _Response.model_validate(result)
    except ValidationError as error:
        raise SendUnknown("signal-cli's answer cannot be read") from error
    failed = [result for result in response.results if result.type != SUCCESS]
    if failed and len(failed) == len(response.results):
        raise _failure(response.results)
    if failed:
        _log.warning("a message did not reach %d of %d recipients", len(failed), len(response.results))
        missing.extend(missed_recipient(result.type, person_in(result.address, "uuid")) for result in failed)
    return SentId(response.timestamp)


def outcome(error: RpcError, *, is_group: bool) -> TransportError:
    """Returns the error for a refused send, by its results for each recipient, if any, or else by its message and
    code.
    """
    try:
        results = _Response.model_validate(object_in(error.response, "response")).results
    except ValidationError:
        results = []
    if results:
        return _failure(results)
    if error.code == _RATE_LIMIT_CODE:
        return rate_limited()
    if error.code == _UNTRUSTED_CODE:
        return untrusted_error()
    if (told := failure_told(error.words, is_group=is_group)) is not None:
        return told
    if error.code in _REFUSED_CODES:
        return Undeliverable(f"signal-cli refused the message with code {error.code}")
    # I/O errors (-3) and internal errors (-32603) also come during a send, when some recipients may have it already.
    return SendUnknown(f"signal-cli failed with code {error.code} while sending")


def _failure(results: list[_Result]) -> TransportError:
    waits = [result.retry_after_seconds for result in results if result.retry_after_seconds is not None]
    kinds, token = {result.type for result in results}, token_in([result.token for result in results])
    return failure(kinds, retry_after_seconds=max(waits, default=None), challenge=token)


def challenge_in(response: object) -> str | None:
    """Returns the token of the captcha in the answer to a send; None if Signal wants none."""
    results = items_in(as_object(response), "results")
    return token_in([text_in(as_object(result), "token") for result in results])
