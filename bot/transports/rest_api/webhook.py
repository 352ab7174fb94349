"""The webhook for signal-cli-rest-api: its posts arrive here, and each is answered once it is stored.

The bridge posts every notification of signal-cli to `RECEIVE_WEBHOOK_URL`, once, waits for the answer as long as it
takes, and reads nothing else from signal-cli in the meantime. So nothing is dropped while a post waits here; and
whoever holds one must not ask the bridge for what signal-cli has to answer, or each waits for the other.

    post --no secret, a wrong one--> 404            --too long--------> 413
         --another method----------> 405            --no notification-> 400
         --too many wait already---> 503            --else: passed on-> 200 when it is stored, 503 when it is not

Left to others: what the frames mean (`bot.transports.envelope.frames`), what also came by the websocket (`arrivals`).

Source: signal-cli-rest-api, commit a08db23, `postMessageToWebhook` and `ReceiveData` in `src/client/jsonrpc2.go`;
pull request 835 of that project for what surrounds a frame in manual receive mode (2026-11-22).
"""

import asyncio
import base64
import hmac
import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from aiohttp import web

from bot.errors import cannot_listen
from bot.logs import RepeatedWarning
from bot.transports.envelope.json import Json, as_object, object_in, text_in

_log = logging.getLogger(__name__)

MAX_BODY_BYTES = 4 * 1024 * 1024
MAX_WAITING = 8
"""How many posts can wait at a time. The bridge makes one at a time; more come from somebody else."""
MAX_CONNECTIONS = 32
READ_SECONDS = 10.0
"""How long a connection can take to show the secret, and then a post to be read."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PostWaits:
    """The time limits of the webhook."""

    next_seconds: float = 0.2
    """For the next post at the end: what is on its way from signal-cli comes at once."""
    stop_seconds: float = 2.0
    """For all posts at the end: a bridge that is not in manual receive mode goes on for ever."""
    forgotten_seconds: float = 30.0
    """For the first post while frames come over the websocket alone: after that the webhook counts as forgotten."""


POST_WAITS = PostWaits()

UNPOSTED = (
    "messages come over the websocket, but nothing to the webhook: start "
    "signal-cli-rest-api with RECEIVE_WEBHOOK_URL=http://aldis:SECRET@HOST:PORT/, the "
    "secret being SIGNAL__WEBHOOK_SECRET"
)


class Post:
    """One notification that the bridge waits for; leaving its `with` block means it is kept, unless the block
    raises.
    """

    def __init__(self, frame: str, account: str) -> None:
        self.frame = frame
        """As it would have come over the websocket."""
        self.account = account
        """The account that it is for, because a bridge can have several. Empty if it does not say."""
        self.is_kept: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        """Whether it was kept, once that is known."""

    def answer(self, *, is_kept: bool) -> None:
        """Lets the bridge go on; the first answer counts."""
        if not self.is_kept.done():
            self.is_kept.set_result(is_kept)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.answer(is_kept=kind is None)


class Webhook:
    """Listens at `host` and `port` for posts that show `secret`, and passes each to `on_post`.

    The secret is the password in the address that the bridge is given (`http://aldis:SECRET@aldis:8788/`), or the last
    part of its path. The password is better: when a post fails, the bridge logs the address without it.
    """

    def __init__(self, host: str, port: int, secret: str, on_post: Callable[[Post], None]) -> None:
        self.host = host
        self.port = port
        """0 takes a free one; once it listens, the actual one."""
        self._secret = secret.encode()
        self._on_post = on_post
        self._waiting: set[Post] = set()
        self._trusted: set[asyncio.BaseProtocol] = set()
        """The connections that have shown the secret."""
        self._runner: web.AppRunner | None = None
        self._server: asyncio.Server | None = None
        self._complaints = RepeatedWarning(_log)

    @property
    def is_open(self) -> bool:
        """Whether it listens."""
        return self._server is not None

    async def start(self) -> None:
        """Listens; does nothing if it already does.

        Raises:
            ConfigError: that cannot be listened on.
        """
        if self._server is not None:
            return
        app = web.Application(client_max_size=MAX_BODY_BYTES)
        app.router.add_route("*", "/{path:.*}", self._take)
        runner = web.AppRunner(app, access_log=None, handle_signals=False, shutdown_timeout=1.0)
        await runner.setup()
        try:
            loop = asyncio.get_running_loop()
            self._server = await loop.create_server(lambda: self._connection(runner), self.host, self.port)
        except OSError as error:
            await runner.cleanup()
            raise cannot_listen("SIGNAL__WEBHOOK_PORT", self.host, self.port, error, "set another") from error
        self._runner = runner
        self.port = self._server.sockets[0].getsockname()[1]
        _log.info("listening for the posts of signal-cli-rest-api at http://%s:%d", self.host, self.port)

    async def aclose(self) -> None:
        """Stops listening; posts that wait are answered with 503."""
        server, self._server = self._server, None
        if server is not None:
            server.close()
        for post in self._waiting:
            post.answer(is_kept=False)
        runner, self._runner = self._runner, None
        if runner is not None:
            await runner.cleanup()

    def _connection(self, runner: web.AppRunner) -> asyncio.BaseProtocol:
        """The protocol of a new connection, which is cut at once if there are too many."""
        server = runner.server
        if server is None or len(server.connections) >= MAX_CONNECTIONS:
            return _Refused()
        connection = server()
        asyncio.get_running_loop().call_later(READ_SECONDS, self._cut_stranger, connection)
        return connection

    def _cut_stranger(self, connection: asyncio.BaseProtocol) -> None:
        """Ends a connection that has not shown the secret in all this time."""
        transport = getattr(connection, "transport", None)
        if connection not in self._trusted and isinstance(transport, asyncio.Transport):
            transport.abort()

    async def _take(self, request: web.Request) -> web.Response:
        """Answers one request; each has a connection of its own.

        A kept one could be closed here at the very moment when the bridge uses it again, and it tries no post twice.
        """
        connection = request.protocol
        try:
            answer = web.Response(status=await self._status(request, connection))
        finally:
            self._trusted.discard(connection)
        answer.force_close()
        return answer

    async def _status(self, request: web.Request, connection: asyncio.BaseProtocol) -> int:
        refusal = self._refusal(request)
        if refusal is not None:
            return refusal
        self._trusted.add(connection)
        try:
            async with asyncio.timeout(READ_SECONDS):
                post = post_in(await request.read())
        except web.HTTPRequestEntityTooLarge as error:
            return error.status_code
        except TimeoutError:
            return web.HTTPRequestTimeout.status_code
        if post is None:
            self._complaints.tell("webhook: ignored a post that is not a notification of signal-cli")
            return web.HTTPBadRequest.status_code
        return web.HTTPOk.status_code if await self._kept(post) else web.HTTPServiceUnavailable.status_code

    def _refusal(self, request: web.Request) -> int | None:
        """The status with which a request is refused before it is read; None if it can come in."""
        if not self._knows_secret(request):
            self._complaints.tell("webhook: somebody without the secret of the webhook was turned away")
            return web.HTTPNotFound.status_code
        if request.method != "POST":
            return web.HTTPMethodNotAllowed.status_code
        if len(self._waiting) >= MAX_WAITING:
            self._complaints.tell("webhook: more posts wait than the bridge makes; some were turned away")
            return web.HTTPServiceUnavailable.status_code
        return None

    async def _kept(self, post: Post) -> bool:
        """Passes it on, and waits until it is known whether it was kept."""
        if self._server is None:
            return False
        self._waiting.add(post)
        try:
            self._on_post(post)
            return await post.is_kept
        finally:
            self._waiting.discard(post)

    def _knows_secret(self, request: web.Request) -> bool:
        shown = _password_in(request.headers.get("Authorization", "")), request.path.rpartition("/")[2]
        return any(hmac.compare_digest(one.encode("utf-8", "replace"), self._secret) for one in shown)


def _password_in(authorization: str) -> str:
    """The password of a header; empty if there is none."""
    scheme, _, encoded = authorization.partition(" ")
    try:
        return base64.b64decode(encoded).decode().partition(":")[2] if scheme.lower() == "basic" else ""
    except ValueError:
        return ""


class _Refused(asyncio.Protocol):
    """A connection too many."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.Transport):
            transport.abort()


def post_in(body: bytes) -> Post | None:
    """Returns the notification in the body of a post; None if there is none.

    In manual receive mode the frame comes with the number of the subscription.
    """
    try:
        line = as_object(json.loads(body.decode("utf-8", "replace")))
        frame = _frame_in(line)
        return Post(json.dumps(frame), text_in(frame, "account")) if frame else None
    except (ValueError, RecursionError):
        return None


def _frame_in(line: Json) -> Json:
    if line.get("method") != "receive":
        return {}
    params = object_in(line, "params")
    return object_in(params, "result") if "subscription" in params else params
