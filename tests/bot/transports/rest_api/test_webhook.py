"""The webhook: a post is answered when it is written down, and nobody without the secret gets further than a 404."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

import aiohttp
import pytest

from bot.errors import ConfigError
from bot.transports.rest_api import webhook
from bot.transports.rest_api.webhook import MAX_BODY_BYTES, MAX_CONNECTIONS, MAX_WAITING, Post, Webhook, post_in
from tests.ports import free_port
from tests.servers.envelopes import ACCOUNT, message
from tests.waiting import WAIT_SECONDS, eventually

SECRET = "open-sesame-open-sesame"
LINE = {"jsonrpc": "2.0", "method": "receive", "params": message("hi")}


@dataclass
class Ear:
    """A webhook, and the posts that it has handed on."""

    posts: list[Post] = field(default_factory=list[Post])

    def __post_init__(self) -> None:
        self.webhook = Webhook("127.0.0.1", 0, SECRET, self.posts.append)

    @property
    def url(self) -> str:
        return f"http://bridge:{SECRET}@127.0.0.1:{self.webhook.port}/"

    @property
    def bare_url(self) -> str:
        return f"http://127.0.0.1:{self.webhook.port}/"


@pytest.fixture
async def ear() -> AsyncIterator[Ear]:
    ear = Ear()
    await ear.webhook.start()
    yield ear
    await ear.webhook.aclose()


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


async def status(http: aiohttp.ClientSession, url: str, body: Any = LINE, method: str = "POST", **more: Any) -> int:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    async with http.request(method, url, data=BytesIO(data), **more) as response:
        return response.status


async def test_a_post_is_answered_when_it_is_written_down(ear: Ear, http: aiohttp.ClientSession) -> None:
    """Not before, however long that takes; and its connection is not kept, for the bridge tries no post twice."""
    posting = asyncio.ensure_future(http.post(ear.url, data=json.dumps(LINE)))
    await eventually(lambda: ear.posts)
    [post] = ear.posts
    assert (json.loads(post.frame), post.account) == (LINE["params"], ACCOUNT)
    assert not posting.done()
    with post:
        await asyncio.sleep(0)
        assert not posting.done()
    async with await posting as response:
        assert (response.status, response.headers["Connection"]) == (200, "close")


async def test_what_could_not_be_written_down_is_answered_as_such(ear: Ear, http: aiohttp.ClientSession) -> None:
    """So that the bridge's log tells of it."""
    posting = asyncio.ensure_future(status(http, ear.url))
    await eventually(lambda: ear.posts)
    with pytest.raises(OSError, match="full"), ear.posts[0]:
        raise OSError("full")
    assert await posting == 503


async def test_the_secret_may_stand_in_the_path(ear: Ear, http: aiohttp.ClientSession) -> None:
    """For those whose bridge, or whose proxy, takes no password in an address."""
    posting = asyncio.ensure_future(status(http, f"{ear.bare_url}signal/{SECRET}"))
    await eventually(lambda: ear.posts)
    ear.posts[0].answer(is_kept=True)
    assert await posting == 200


@pytest.mark.parametrize(
    "place",
    [
        "",
        SECRET[:-1],
        f"{SECRET}x",
        f"{SECRET}/",
        f"?{SECRET}",
        f"?secret={SECRET}",
        "%00",
        "\N{LATIN SMALL LETTER O}" * 9,
    ],
)
async def test_without_the_secret_there_is_nothing(ear: Ear, http: aiohttp.ClientSession, place: str) -> None:
    """Nor with a part of it, nor with it elsewhere: the same answer as for any other path."""
    assert await status(http, ear.bare_url + place) == 404
    assert ear.posts == []


@pytest.mark.parametrize(
    "authorization",
    ["", "Basic", "Basic !", f"Bearer {SECRET}", "Basic YnJpZGdlOndyb25n", f"Basic {SECRET}", "Basic gICA"],
)
async def test_another_password_is_none(ear: Ear, http: aiohttp.ClientSession, authorization: str) -> None:
    """Whatever stands in the header."""
    assert await status(http, ear.bare_url, headers={"Authorization": authorization}) == 404
    assert ear.posts == []


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "HEAD", "OPTIONS"])
async def test_only_posts_are_taken(ear: Ear, http: aiohttp.ClientSession, method: str) -> None:
    """With the secret, too."""
    assert await status(http, ear.url, method=method) == 405


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff\xfe",
        b"null",
        b"[]",
        b'{"method": "receive"}',
        b'{"method": "receive", "params": []}',
        b'{"method": "receive", "params": {}}',
        b'{"method": "receive", "params": {"subscription": 0}}',
        b'{"method": "receive", "params": {"subscription": 0, "result": 5}}',
        b'{"method": "send", "params": {"envelope": {}}}',
        b'{"id": "1", "result": {}}',
        b"[" * 100_000,
    ],
)
async def test_what_is_no_notification_is_refused(ear: Ear, http: aiohttp.ClientSession, body: bytes) -> None:
    """It is not handed on, and the next post is."""
    assert await status(http, ear.url, body) == 400
    assert ear.posts == []


async def test_a_post_that_is_too_long_is_refused(ear: Ear, http: aiohttp.ClientSession) -> None:
    """Its size is bounded before it is read whole."""
    assert await status(http, ear.url, b"x" * (MAX_BODY_BYTES + 1)) == 413


def test_the_frame_of_manual_receive_mode() -> None:
    """There the number of a subscription stands beside it."""
    frame = message("hi")
    post = {"jsonrpc": "2.0", "method": "receive", "params": {"subscription": 0, "result": frame}}

    async def read() -> Post | None:
        return post_in(json.dumps(post).encode())

    found = asyncio.run(read())
    assert found is not None
    assert (json.loads(found.frame), found.account) == (frame, ACCOUNT)


async def test_few_posts_wait_at_once(ear: Ear, http: aiohttp.ClientSession) -> None:
    """The bridge makes one at a time: what comes beyond a few is not the bridge, and is turned away at once."""
    waiting = [asyncio.ensure_future(status(http, ear.url)) for _ in range(MAX_WAITING)]
    await eventually(lambda: len(ear.posts) == MAX_WAITING)
    assert await status(http, ear.url) == 503
    for post in ear.posts:
        post.answer(is_kept=True)
    assert await asyncio.gather(*waiting) == [200] * MAX_WAITING


async def test_few_connections_are_open_at_once(ear: Ear, monkeypatch: pytest.MonkeyPatch) -> None:
    """One too many is cut at once, and those before it are not."""
    monkeypatch.setattr(webhook, "READ_SECONDS", WAIT_SECONDS)
    silent = [await asyncio.open_connection("127.0.0.1", ear.webhook.port) for _ in range(MAX_CONNECTIONS)]
    refused, refused_writer = await asyncio.open_connection("127.0.0.1", ear.webhook.port)
    assert await read_to_the_end(refused) == b""
    assert not any(reader.at_eof() for reader, _ in silent)
    for _, writer in [*silent, (refused, refused_writer)]:
        writer.close()


async def test_who_shows_no_secret_is_cut_after_a_moment(ear: Ear, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that nobody keeps the bridge out for longer."""
    monkeypatch.setattr(webhook, "READ_SECONDS", 0.2)
    silent = [await asyncio.open_connection("127.0.0.1", ear.webhook.port) for _ in range(MAX_CONNECTIONS)]
    for reader, writer in silent:
        assert await read_to_the_end(reader) == b""
        writer.close()
    async with aiohttp.ClientSession() as http:
        assert await status(http, ear.bare_url) == 404


async def test_a_body_that_does_not_come_is_not_waited_for(ear: Ear, monkeypatch: pytest.MonkeyPatch) -> None:
    """Although the secret was shown."""
    monkeypatch.setattr(webhook, "READ_SECONDS", 0.2)
    reader, writer = await asyncio.open_connection("127.0.0.1", ear.webhook.port)
    writer.write(f"POST /{SECRET} HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{{".encode())
    assert (await read_to_the_end(reader)).startswith(b"HTTP/1.1 408")
    writer.close()


async def test_a_bridge_that_dies_while_it_waits_loses_nothing(ear: Ear) -> None:
    """It has handed the frame over: nobody else has it any more."""
    _, writer = await asyncio.open_connection("127.0.0.1", ear.webhook.port)
    body = json.dumps(LINE)
    writer.write(f"POST /{SECRET} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
    await eventually(lambda: ear.posts)
    writer.transport.abort()
    with ear.posts[0]:
        pass


async def test_closing_lets_go_of_what_waits(ear: Ear, http: aiohttp.ClientSession) -> None:
    """The bridge goes on; afterwards nobody listens, and closing again does no harm."""
    posting = asyncio.ensure_future(status(http, ear.url))
    await eventually(lambda: ear.posts)
    await ear.webhook.aclose()
    assert await posting == 503
    await ear.webhook.aclose()
    with pytest.raises(aiohttp.ClientConnectorError):
        await status(http, ear.url)


async def test_a_port_that_is_taken_is_the_operators(ear: Ear) -> None:
    """The message names the variable."""
    other = Webhook("127.0.0.1", ear.webhook.port, SECRET, ear.posts.append)
    with pytest.raises(ConfigError, match="SIGNAL__WEBHOOK_PORT"):
        await other.start()
    await other.aclose()


async def test_nothing_listens_before_it_is_started() -> None:
    """And starting twice is the same as once."""
    ear = Ear()
    ear.webhook.port = free_port()
    async with aiohttp.ClientSession() as http:
        with pytest.raises(aiohttp.ClientConnectorError):
            await status(http, ear.url)
        await ear.webhook.start()
        await ear.webhook.start()
        assert await status(http, ear.bare_url) == 404
    await ear.webhook.aclose()


async def read_to_the_end(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.read()
    except ConnectionError:
        return b""
