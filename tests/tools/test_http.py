"""The client for JSON, against services that misbehave."""

import asyncio
import errno
import json
import logging
import socket
import ssl
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from aiohttp import web

from tests.servers.base import Seen, Server, answer_json, hang
from tests.servers.certificates import certified
from tests.servers.fixtures import fixture_of
from tests.tools.conftest import USER_AGENT, memory_below
from tests.tools.sites import answer_bytes, bomb, line, trickle
from tests.waiting import DEADLINE_SECONDS
from tools import Http, RateLimited, TimedOut, TooLarge, Unavailable, why_unreachable
from tools.connections import trusted_certificates
from tools.http import MAX_BODY_BYTES, BytesAnswer, JsonAnswer

SECRET = "sk-very-secret"
JSON = "application/json"


@dataclass
class Service(Server):
    body: Any = field(default_factory=lambda: {"fine": True})

    def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        return web.json_response(self.body)


service = fixture_of(Service)


async def ask(http: Http, url: str, **more: Any) -> JsonAnswer:
    given: dict[str, Any] = {
        "service": "Service",
        "params": {"q": "words", "key": SECRET},
        "timeout_seconds": DEADLINE_SECONDS,
    }
    return await http.get_json(url, **(given | more))


async def post(http: Http, url: str, *, seconds: float = DEADLINE_SECONDS, **more: Any) -> BytesAnswer:
    return await http.post(url, service="Service", timeout_seconds=seconds, headers={"X-Key": SECRET}, **more)


async def test_an_answer_has_status_json_and_headers(http: Http, service: Service) -> None:
    """The request says who asks; a refusal is handed on with its JSON, asked once, and a redirect not followed."""
    service.faults.append(answer_json({"ä": [1, 2.5, None]}, headers={"X-Limit": "7"}))
    answer = await ask(http, service.url + "/a/path", headers={"X-Key": SECRET})
    assert (answer.status, answer.body, answer.headers["x-limit"]) == (200, {"ä": [1, 2.5, None]}, "7")
    (seen,) = service.requests
    assert (seen.method, seen.path, seen.query["q"], seen.headers["x-key"]) == ("GET", "/a/path", "words", SECRET)
    assert seen.headers["user-agent"] == USER_AGENT
    assert seen.headers["accept-encoding"] == "gzip, identity"
    for status in (301, 404, 500):
        service.requests.clear()
        service.faults.append(answer_json({"error": "why"}, status=status, headers={"Location": "/elsewhere"}))
        answer = await ask(http, service.url)
        assert (answer.ok, answer.status, answer.body) == (False, status, {"error": "why"})
        assert len(service.requests) == 1


async def test_a_success_that_is_no_json_is_a_failure(http: Http, service: Service) -> None:
    """Invalid, another charset or type, nested without end, a gzip bomb or a byte too many: in bounded memory."""
    for body in (
        b"<html>please log in</html>",
        b'{"number": NaN}',
        b'{"number": ' + b"9" * 5000 + b"}",
        b"[" * 90_000,
        '{"text": "ä"}'.encode("latin-1"),
    ):
        service.faults.append(answer_bytes(body, JSON))
        with pytest.raises(Unavailable, match="Service answers with something that cannot be read as JSON"):
            await ask(http, service.url)
    service.faults.append(answer_bytes(b'{"text": "\\ud83d"}', JSON))
    assert (await ask(http, service.url)).body == {"text": "?"}
    for fault in (answer_bytes(bomb(), JSON, Content_Encoding="gzip"), answer_bytes(b" " * (MAX_BODY_BYTES + 1), JSON)):
        service.faults.append(fault)
        with memory_below(12 * MAX_BODY_BYTES), pytest.raises(TooLarge, match="more than 2 MB"):
            await ask(http, service.url)


async def test_no_answer_ends_at_the_deadline(http: Http, service: Service) -> None:
    """A service that hangs is told from one that is gone; a byte now and then does not prolong it."""
    service.faults += [hang] * 2
    for asked in (ask(http, service.url, timeout_seconds=0.05), post(http, service.url, seconds=0.05, json={})):
        with pytest.raises(TimedOut, match=r"Service did not answer within 0\.05 seconds"):
            await asked

    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n"
    async with line(trickle(head, b" ")) as site:
        with pytest.raises(TimedOut):
            await ask(http, site.url, timeout_seconds=0.1)


async def test_a_connection_that_breaks_once_is_no_failure(http: Http, service: Service) -> None:
    """The one retry hides a dropped connection. Where nothing listens that is said, without address and key."""
    await service.stop()
    with pytest.raises(Unavailable) as caught:
        await ask(http, service.url)
    assert str(caught.value) == "Service cannot be reached: nothing listens there."
    answers = [b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"]

    async def talk(writer: asyncio.StreamWriter) -> None:
        writer.write(answers.pop(0))
        await writer.drain()

    async with line(talk) as site:
        assert (await ask(http, site.url)).body == {}
    assert not answers


async def test_a_short_wait_is_waited_for(http: Http, service: Service) -> None:
    """Twice after a 429 or 503, within the deadline; asked in JSON, by POST, with the key in its header alone."""
    for status, tries in ((429, 3), (503, 3)):
        busy = answer_json({"error": "busy"}, status=status, headers={"Retry-After": "0"})
        service.faults += [busy] * (tries - 1)
        answer = await ask(http, service.url, params=None, body={"q": "wörter"}, headers={"X-Key": SECRET})
        assert (answer.ok, answer.body, len(service.requests)) == (True, {"fine": True}, tries)
        seen = service.requests[-1]
        assert (seen.method, seen.json(), seen.headers["x-key"]) == ("POST", {"q": "wörter"}, SECRET)
        assert seen.headers["content-type"] == JSON
        service.requests.clear()
        service.faults += [busy] * tries
        assert (await ask(http, service.url)).status == status
        assert len(service.requests) == tries
        service.requests.clear()
    odd = [JsonAnswer(status=503, body=None, headers={"retry-after": told}) for told in ("-5", "inf", "soon")]
    assert {one.retry_after_seconds for one in odd} == {None}
    for wait, given in (("60", {}), ("2", {"timeout_seconds": 1.5}), ("0", {"retries": False})):
        service.requests.clear()
        service.faults.append(answer_json({}, status=429, headers={"Retry-After": wait}))
        answer = await ask(http, service.url, **given)
        assert isinstance(answer.refusal("Service"), RateLimited)
        assert str(answer.refusal("Service")) == f"Service wants fewer requests; ask again in {wait} seconds."
        assert len(service.requests) == 1


async def test_addresses_and_keys_are_in_no_log(http: Http, service: Service, caplog: pytest.LogCaptureFixture) -> None:
    """The library below logs every address at INFO; not here, even where everything is logged."""
    caplog.set_level(logging.DEBUG)
    await ask(http, service.url)
    service.faults += [hang]
    with pytest.raises(TimedOut) as caught:
        await ask(http, service.url, timeout_seconds=0.05)
    assert SECRET not in caplog.text
    assert service.url not in caplog.text
    assert SECRET not in repr(caught.value)
    assert json.dumps(service.requests[0].query).count(SECRET) == 1


async def test_what_is_posted_is_sent_once_and_whole(http: Http, service: Service) -> None:
    """Whatever bytes it has, and however busy the server is, as it may be paid for; a file comes back as it is."""
    data = bytes(range(256)) * 3 + b"\r\n--"
    form: Any = {"data": {"model": "m"}, "files": {"file": ("a.m4a", data, "audio/mp4")}}
    assert (await post(http, service.url, **form)).as_json("Service").body == {"fine": True}
    [seen] = service.requests
    assert seen.method == "POST"
    for part in (data, b'name="file"; filename="a.m4a"', b"Content-Type: audio/mp4", b'name="model"'):
        assert part in seen.body
    service.faults.append(answer_json({}, status=503, headers={"Retry-After": "0"}))
    assert (await post(http, service.url, **form)).status == 503
    assert len(service.requests) == 2
    service.faults.append(answer_bytes(b"\x00\xff sound", "audio/aac"))
    answer = await post(http, service.url, json={"input": "ä"})
    assert (answer.status, answer.ok, answer.body) == (200, True, b"\x00\xff sound")
    seen = service.requests[-1]
    assert (seen.json(), seen.headers["accept"]) == ({"input": "ä"}, "*/*")
    service.faults.append(answer_bytes(b"x" * 2000, JSON))
    with pytest.raises(TooLarge):
        await post(http, service.url, json={}, max_bytes=1000)


def test_authorities_are_those_that_the_environment_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file, a folder that is read when it is needed, or else the public ones."""
    certified("127.0.0.1", tmp_path)
    for name in ("empty", "hashed"):
        (tmp_path / name).mkdir()
    (tmp_path / "hashed" / "0a1b2c3d.0").touch()
    for file, folder, count in (
        ("authority.pem", "", range(1, 2)),
        ("missing.pem", "hashed", range(1)),
        ("missing.pem", "empty", range(50, 1000)),
    ):
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / file))
        monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path / folder) if folder else "")
        assert trusted_certificates.__wrapped__().cert_store_stats()["x509"] in count


CAUSES: list[tuple[Exception, str]] = [
    (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), "no host of that name is known here"),
    (ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER]"), "it does not use TLS; an address without it begins with http://"),
    (ConnectionRefusedError(errno.ECONNREFUSED, "refused"), "nothing listens there"),
    (PermissionError(errno.EACCES, "Permission denied"), "this user may not connect to it"),
    (FileNotFoundError(errno.ENOENT, "No such file"), "there is no such file or socket"),
    (TimeoutError(), "no answer in time"),
    (OSError(errno.ENETUNREACH, "Network is unreachable"), "it cannot be reached from here"),
    (ValueError("secret"), "ConnectError"),
]


def test_the_cause_of_a_failed_connection_is_named() -> None:
    """Behind several errors or as one of a group, without an address; an unknown one by its kind alone."""
    for cause, words in CAUSES:
        behind = OSError("all failed")
        behind.__cause__ = cause
        for outer in (behind, ExceptionGroup("tried both", [cause])):
            error = httpx.ConnectError("x")
            error.__cause__ = outer
            assert why_unreachable(error) == words
