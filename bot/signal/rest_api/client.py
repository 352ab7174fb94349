"""Requests to one signal-cli-rest-api, limited in time and in size, and what its refusals mean.

Every request has a connection of its own, and is made only once: whether one on a dead kept-alive connection arrived
would be unknown.

Source: signal-cli-rest-api, commit a08db23, `src/api/api.go` and `src/client/client.go` (2026-11-21); the same in front
of a signal-cli that was killed (2026-11-26).
"""

import asyncio
import json
import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Literal

import httpx

from bot.errors import NetworkFailed, NotSent, NotUploaded, SendUnknown, TransportError, Unfetchable
from bot.signal.json import items_in, parse_frame, text_in
from bot.signal.send_errors import RefusedCall, asking, failure_told, rate_limited, token_in
from tools import trusted_certificates

CONNECT_SECONDS = 1.0
"""For reaching the bridge: every second in which it is back and Aldis is not loses messages."""
MAX_ANSWER_BYTES = 32 * 1024 * 1024
"""For an answer that is no file: the list of all groups is long, and so is a refusal of files, which repeats them."""
_REACHED_NONE = "Failed to send message"
"""All that is left of signal-cli's results if no recipient got it: most often network failures."""

Method = Literal["GET", "POST", "PUT", "DELETE"]


class BridgeRefusal(RefusedCall):
    """The bridge answered with an error: its HTTP status and its body; `words` is mostly signal-cli's own sentence."""

    def __init__(self, status: int, body: bytes) -> None:
        text = body.decode("utf-8", "replace")
        self.status = status
        self.body = parse_frame(text)
        self.may_pass = status >= HTTPStatus.INTERNAL_SERVER_ERROR
        super().__init__(f"signal-cli-rest-api answered with HTTP {status}", text_in(self.body, "error") or text)

    @property
    def challenge(self) -> str | None:
        """The token of the captcha to be solved; None if none is wanted."""
        return token_in(items_in(self.body, "challenge_tokens"))


class Client:
    """Makes requests to the bridge at `url`."""

    def __init__(self, url: str, *, connect_seconds: float = CONNECT_SECONDS) -> None:
        for library in ("httpx", "httpcore"):  # they log every address, and there are numbers in them
            logging.getLogger(library).setLevel(logging.WARNING)
        self.url = url.rstrip("/")
        self._http = httpx.AsyncClient(
            verify=trusted_certificates() if url.startswith("https:") else False,
            trust_env=False,
            timeout=httpx.Timeout(None, connect=connect_seconds),
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=0),
        )

    async def call(
        self,
        method: Method,
        path: str,
        body: Mapping[str, object] | None = None,
        *,
        timeout_seconds: float,
        max_bytes: int = MAX_ANSWER_BYTES,
    ) -> bytes:
        """Returns the body of a successful answer; one of more than `max_bytes` is not read to its end.

        Raises:
            NotSent: the bridge was certainly not reached; call again later.
            SendUnknown: it did not answer, or not in time: the call may have been carried out.
            BridgeRefusal: it answered with an error.
            Unfetchable: the answer is too long.
        """
        answer = bytearray()
        try:
            async with (
                asyncio.timeout(timeout_seconds),
                self._http.stream(method, self.url + path, json=body) as response,
            ):
                async for chunk in response.aiter_bytes():
                    answer += chunk
                    if len(answer) > max_bytes:
                        raise Unfetchable("signal-cli-rest-api's answer is longer than it may be")
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise NotSent("signal-cli-rest-api cannot be reached") from error
        except (httpx.HTTPError, TimeoutError) as error:
            raise SendUnknown(f"signal-cli-rest-api did not answer: {type(error).__name__}") from error
        if not response.is_success:
            raise BridgeRefusal(response.status_code, bytes(answer))
        return bytes(answer)

    async def ask(self, path: str, *, timeout_seconds: float) -> object:
        """Returns the JSON of an answer to a question; raises `Disconnected` if there is none, so ask again."""
        with asking("a question to signal-cli-rest-api"):
            return json.loads(await self.call("GET", path, timeout_seconds=timeout_seconds))

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._http.aclose()


def not_sent(error: BridgeRefusal, *, is_group: bool) -> TransportError:
    """Returns the error for an unsuccessful answer to a send.

    400 is the bridge's catch-all, so its words decide. Other 4xx come before the request was read, from the bridge or a
    proxy, and may pass. After 5xx the outcome is unknown: a proxy may have passed the request on.
    """
    status = error.status
    if status == HTTPStatus.BAD_REQUEST:
        if error.words.strip() == _REACHED_NONE:
            return NetworkFailed("signal-cli reached no recipient")
        known = failure_told(error.words, is_group=is_group)
        return SendUnknown("signal-cli-rest-api failed while sending") if known is None else known
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return rate_limited(challenge=error.challenge)
    if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        return NotUploaded(f"the request is too large: HTTP {status}", is_final=True)
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.INTERNAL_SERVER_ERROR:
        return NotSent(f"what answers at SIGNAL__URL did not take the request: HTTP {status}")
    return SendUnknown(f"signal-cli-rest-api answered with HTTP {status}")
