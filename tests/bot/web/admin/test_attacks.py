"""The pages under attack: other names, other sites, stolen links, foreign frames, forged forms, too much."""

import asyncio
import logging
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP

from bot.settings.groups import WebSettings
from bot.web.admin.guard import (
    LINK_SECONDS,
    LIVE,
    MAX_BODY_BYTES,
    SESSION_SECONDS,
    BrowserSession,
    Sessions,
    address_of,
    origins_of,
)
from bot.web.admin.world import Wait
from bot.web.listening import on_address, serving
from tests.bot.web.admin.conftest import Visitor, visited
from tests.ports import free_port
from tests.waiting import eventually_found

EVIL = "http://evil.example"
POSTS = [
    ("/", "captcha"),
    ("/", "trust"),
    ("/setup/account", "link"),
    ("/upkeep", "file"),
    ("/upkeep", "restore"),
    ("/leave", ""),
]
GETS = ["/", "/setup/account", "/upkeep"]
SECRET = b"twenty bytes of it.."


class Watch:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def code_at(seconds: float) -> str:
    return TOTP(SECRET, 6, SHA1(), 30).generate(int(seconds)).decode()


def is_hardened(headers: Mapping[str, str]) -> bool:
    policy, given = headers["Content-Security-Policy"], {"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY"}
    given |= {"Referrer-Policy": "same-origin", "Server": "Aldis"}
    has_policy = all(rule in policy for rule in ("default-src 'self'", "frame-ancestors 'none'"))
    return has_policy and "unsafe" not in policy and given.items() <= headers.items()


async def test_names_and_sites_of_strangers(tmp_path: Path) -> None:
    """A stranger's name, or another site's fetch, opens nothing, not even for who is signed in (DNS rebinding)."""
    async with visited(tmp_path) as visitor:
        for path in GETS:
            for headers in ({}, {LIVE: "yes"}, {"Cookie": f"aldis-session={'x' * 43}"}):
                answer = await visitor.get(path, headers)
                assert (answer.status, "aldis admin" in answer.text) == (401, True)
                assert is_hardened(answer.headers)
        await visitor.enter()
        for host in ("evil.example", f"evil.example:{visitor.pages.admin_port}", "127.0.0.1:1", "127.0.0.1."):
            for path in ("/", "/enter/x", "/static/style.css"):
                answer = await visitor.get(path, {"Host": host})
                assert answer.status == 421
                assert is_hardened(answer.headers)
            assert (await visitor.post("/leave", {}, {"Host": host})).status == 421
        for path in GETS:
            assert (await visitor.get(path, {"Origin": EVIL})).status == 403


async def test_the_cookie_cannot_be_read_or_sent_along(tmp_path: Path) -> None:
    """By no script and with no request of another site; behind https it is bound to that."""
    async with visited(tmp_path) as visitor:
        answer = await visitor.enter()
        assert re.fullmatch(r"aldis-session=[\w-]{43}; HttpOnly; Path=/; SameSite=Strict", answer.headers["Set-Cookie"])
    async with visited(tmp_path, url="https://aldis.example.org") as visitor:
        headers = {"Host": "aldis.example.org", "Origin": "https://aldis.example.org"}
        path = visitor.site.new_link().removeprefix("https://aldis.example.org")
        answer = await visitor.post(path, headers=headers)
        cookie = answer.headers["Set-Cookie"]
        assert cookie.startswith("__Host-aldis=")
        assert {"Secure", "HttpOnly", "SameSite=Strict", "Path=/"} <= set(cookie.split("; "))
        assert "max-age" in answer.headers["Strict-Transport-Security"]


async def test_too_many_connections() -> None:
    """Those beyond the bound are closed at once; when others have gone there is room again."""
    app, port = web.Application(), free_port()
    async with serving(app, on_address("127.0.0.1", port, "WEB__PORT"), max_connections=3):
        open_ones = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        assert await reader.read() == b""
        assert not any(one.at_eof() for one, _ in open_ones)
        for one in (writer, *(one for _, one in open_ones)):
            one.close()
            await one.wait_closed()

        async def is_answered() -> bool | None:
            with suppress(aiohttp.ClientError):
                async with aiohttp.request("GET", f"http://127.0.0.1:{port}/") as answer:
                    return answer.status == 404

        await eventually_found(is_answered)


async def test_forged_forms(visitor: Visitor, caplog: pytest.LogCaptureFixture) -> None:
    """CSRF: no form without the session's own token, from another site, or from nowhere; nothing is done."""
    other = visitor.token
    await visitor.enter()
    caplog.set_level(logging.INFO, "bot.web.admin")
    for path, button in POSTS:
        for token in ("", visitor.token[:-1], other):
            assert (await visitor.post(path, {"do": button, "token": token})).status == 403
        for origin in (EVIL, "null"):
            assert (await visitor.post(path, {"do": button}, {"Origin": origin})).status == 403
        assert (await visitor._ask("POST", path, {}, {"do": button, "token": visitor.token})).status == 403
    assert (await visitor.get("/")).status == 200
    assert " by session " not in caplog.text


async def test_a_link_that_is_used_again(tmp_path: Path) -> None:
    """Looking at it does not use it up; pushing its button does, for every other browser."""
    async with visited(tmp_path) as visitor:
        path = visitor.site.new_link().removeprefix(address_of(visitor.pages))
        for _ in range(3):
            assert (await visitor.get(path)).status == 200
        first = await visitor.post(path)
        assert (first.status, first.headers["Location"]) == (303, "/")
        for again in (await visitor.get(path), await visitor.post(path)):  # a browser that is in needs no link
            assert (again.status, again.headers["Location"]) == (303, "/")
        visitor.cookies.clear()
        second = await visitor.post(path)
        assert (second.status, "Set-Cookie" in second.headers) == (410, False)
        assert (await visitor.get(path)).status == 410


async def test_a_page_that_others_reach_wants_a_code(tmp_path: Path) -> None:
    """With the link alone nothing opens; wrong codes close what the link has opened."""
    watch = Watch()
    async with visited(tmp_path, sessions=Sessions(lambda: SECRET, wall=watch)) as visitor:
        await visitor.enter()
        for path in GETS:
            answer = await visitor.get(path)
            assert (answer.status, answer.headers["Location"]) == (303, "/code")
        for path, button in POSTS[:3]:
            assert (await visitor.post(path, {"do": button})).headers["Location"] == "/code"
        assert "That code is wrong" in (await visitor.do("/code", "open", code="12")).text
        assert (await visitor.do("/code", "open", code=code_at(watch.now))).status == 200
        visitor.cookies.clear()
        await visitor.enter()
        for _ in range(5):
            assert (await visitor.do("/code", "open", code=code_at(watch.now))).status == 422  # was used
        assert (await visitor.get("/")).status == 401


async def test_what_is_no_form_or_too_much(visitor: Visitor) -> None:
    """JSON, files, text, charsets, verbs; bodies and headers have an end, and the pages go on until one leaves."""
    assert (await visitor.post("/", {"captcha": "x" * MAX_BODY_BYTES})).status == 413
    assert (await visitor.get("/", {"Accept-Language": "x" * 9000})).status == 400
    cookie = {"Cookie": "; ".join(f"{name}={value}" for name, value in visitor.cookies.items())}
    charsets = [f"application/x-www-form-urlencoded; charset={name}" for name in ("unknown-to-all", "utf-7")]
    for kind in ("application/json", "text/plain", "multipart/form-data; boundary=x", *charsets):
        headers = {"Origin": visitor.origin, "Content-Type": kind, **cookie}
        async with visitor.http.post(visitor.origin + "/", data=b"{}", headers=headers) as response:
            assert response.status == 415
    for method in ("PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"):
        assert (await visitor._ask(method, "/", {"Origin": visitor.origin}, None)).status == 405
    assert (await visitor.get("/")).status == 200
    left = await visitor.post("/leave")
    assert ("Max-Age=0" in left.headers["Set-Cookie"], (await visitor.get("/")).status) == (True, 401)


async def test_what_is_shown_is_text(visitor: Visitor) -> None:
    """What holds HTML or line breaks changes neither page nor answer; nothing comes from outside or stands inline."""
    markup = "<script>alert(1)</script>"
    visitor.site.world.waits = Wait(f"waiting for {markup}")
    home = await visitor.get("/")
    assert markup not in home.text
    assert "&lt;script&gt;" in home.text
    lost = (await visitor.get(f"/{markup}")).text
    assert markup not in lost
    assert "There is nothing at this address (error 404)." in lost
    for path in GETS:
        page = (await visitor.get(path)).text
        assert not re.findall(r'(?:src|action)="(?!/)[^"]*"', page)
        assert not re.findall(r"<script(?! src)|<style|\sstyle=|\son\w+=", page)
    for name in re.findall(r'(?:src|href)="(/static/[^"]+)"', home.text):
        answer = await visitor.get(name)
        assert answer.status == 200
        assert is_hardened(answer.headers)
    assert (await visitor.get("/static/%2e%2e%2fsite.py")).status == 404


async def test_what_was_done_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Who, from where and what; no value, no token, no cookie."""
    caplog.set_level(logging.INFO, "bot.web.admin")
    async with visited(tmp_path) as visitor:
        await visitor.enter()
        await visitor.do("/", "captcha", captcha="signalcaptcha://signal-hcaptcha.secret-word")
        await visitor.do("/setup/account", "link")
        await visitor.do("/upkeep", "nightly", STORE__BACKUP_DAYS="7")
    actions = [record.message.split() for record in caplog.records if " by session " in record.message]
    assert [action[0] for action in actions] == ["link.used", "account.link_begun", "settings.changed"]
    assert {(len(action[3]), action[5].rstrip(":")) for action in actions} == {(8, "127.0.0.1")}
    assert actions[-1][-1] == "STORE__BACKUP_DAYS"
    secrets = (visitor.token, *visitor.cookies.values(), "secret-word")
    assert not [secret for secret in secrets if secret in caplog.text]


def test_links_and_sessions_end_by_themselves() -> None:
    """A link after ten minutes or with the next one, a session after eight hours, and not a second longer."""
    watch = Watch()
    sessions = Sessions(seconds=watch)
    former, link = sessions.new_link(), sessions.new_link()
    watch.now += LINK_SECONDS - 1
    assert (sessions.enter(former), sessions.is_open(link)) == (None, True)
    entered = sessions.enter(link)
    late = sessions.new_link()
    watch.now += LINK_SECONDS
    assert sessions.enter(late) is None
    assert entered is not None
    watch.now += SESSION_SECONDS - LINK_SECONDS - 1
    assert sessions.find(entered[0]) is entered[1]
    watch.now += 1
    assert sessions.find(entered[0]) is None


def test_a_code_is_taken_once() -> None:
    """The present one and its neighbours, for clocks differ; none that is older than one that was taken."""
    watch = Watch()
    sessions = Sessions(lambda: SECRET, wall=watch)
    session = BrowserSession(name="", form_token="", began_at=0)
    for code, is_right in (
        (code_at(watch.now - 90), False),
        (code_at(watch.now - 30), True),
        (code_at(watch.now - 30), False),
        (" ".join(code_at(watch.now)), True),
        (code_at(watch.now - 30), False),
        (code_at(watch.now + 30), True),
        (code_at(watch.now + 90), False),
        ("", False),
        ("٠٠٠٠٠٠", False),
    ):
        assert sessions.confirm(session, code) == is_right, code


def test_which_origins_are_ours() -> None:
    """As browsers name them, which leave out the port of the web; the address elsewhere without its password."""
    for host, port, url, ours, other in (
        ("0.0.0.0", 80, None, "http://127.0.0.1", "http://0.0.0.0"),
        ("FD00::7", 8789, None, "http://[fd00::7]:8789", "http://[fd00::8]:8789"),
        ("::1", 8, "https://a:b@Aldis.example", "https://aldis.example", "https://aldis"),
    ):
        origins = origins_of(WebSettings(admin_host=host, admin_port=port, admin_url=url))
        assert (ours in origins, other in origins) == (True, False)
