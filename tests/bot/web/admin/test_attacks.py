"""The pages under attack: other names, other sites, stolen links, foreign frames, forged forms, too much."""

import asyncio
import io
import json
import re
from datetime import UTC, datetime
from pathlib import Path

import aiohttp
import pytest

from bot.web.admin.audit import MAX_BYTES, Audit, audit_path
from bot.web.admin.guard import MAX_BODY_BYTES, MAX_UPLOAD_BYTES
from bot.web.admin.sessions import IDLE_SECONDS, LINK_SECONDS, SecondFactor, Sessions
from tests.bot.web.admin.browsers import Visitor, settings_of, visited
from tests.bot.web.admin.test_sessions import SECRET, Watch, code_at
from tests.waiting import WAIT_SECONDS, eventually_found

EVIL = "http://evil.example"
POSTS = [
    "/setup/tools/try/calculate",
    "/upkeep/upgrade",
    "/upkeep/feed/add",
    "/upkeep/feed/remove",
    "/upkeep/factor/begin",
    "/upkeep/factor/confirm",
    "/upkeep/factor/off",
    "/captcha",
    "/trust",
    "/setup/account/link",
    "/setup/account/stop",
    "/leave",
]
GETS = [
    "/upkeep/factor",
    "/upkeep/factor/code.svg",
    "/",
    "/setup/account",
    "/live/state",
    "/live/account",
    "/live/upgrade",
    "/setup/account/code-1.svg",
]


def is_hardened(headers: dict[str, str]) -> bool:
    policy = headers["Content-Security-Policy"]
    return (
        "default-src 'self'" in policy
        and "frame-ancestors 'none'" in policy
        and "unsafe" not in policy
        and headers["X-Content-Type-Options"] == "nosniff"
        and headers["X-Frame-Options"] == "DENY"
        and headers["Referrer-Policy"] == "same-origin"
        and headers["Server"] == "Aldis"
    )


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "127.0.0.1.:{port}"]
)
async def test_a_name_that_was_bound_to_this_machine(host: str, tmp_path: Path) -> None:
    """DNS rebinding: a stranger's name may lead here, but it opens nothing, not even for who is signed in."""
    async with visited(tmp_path) as visitor:
        await visitor.enter()
        named = {"Host": host.format(port=visitor.place.port)}
        for path in ["/", "/enter/x", "/static/x/style.css"]:
            answer = await visitor.get(path, named)
            assert answer.status == 421
            assert is_hardened(dict(answer.headers))
        assert (await visitor.post("/leave", {}, named)).status == 421


@pytest.mark.parametrize("path", GETS)
async def test_who_is_not_signed_in_sees_nothing(path: str, tmp_path: Path) -> None:
    """Only how one signs in."""
    async with visited(tmp_path) as visitor:
        answer = await visitor.get(path)
        assert answer.status == 401
        assert "aldis admin" in answer.text
        assert "was not taken" not in answer.text
        assert is_hardened(dict(answer.headers))
        visitor.cookies["aldis-session"] = "x" * 43
        assert (await visitor.get(path)).status == 401


@pytest.mark.parametrize("path", POSTS)
async def test_forged_forms(path: str, tmp_path: Path) -> None:
    """CSRF: no form without the session's own token, from another site, or from nowhere; nothing is done."""
    async with visited(tmp_path) as visitor:
        await visitor.enter()
        before = len(visitor.audit.newest(100))
        assert (await visitor.post(path, {"token": ""})).status == 403
        assert (await visitor.post(path, {"token": visitor.token[:-1]})).status == 403
        assert (await visitor.post(path, headers={"Origin": EVIL})).status == 403
        assert (await visitor.post(path, headers={"Origin": "null"})).status == 403
        assert (await visitor._ask("POST", path, {}, {"token": visitor.token})).status == 403
        assert (await visitor.get("/")).status == 200
        assert len(visitor.audit.newest(100)) == before


async def test_who_was_signed_out_meanwhile_is_told_that_nothing_was_taken(tmp_path: Path) -> None:
    """A form that somebody filled in while their session ended."""
    async with visited(tmp_path) as visitor:
        await visitor.enter()
        await visitor.post("/leave")
        answer = await visitor.post("/setup/tools/retention", {"days": "30"})
        assert answer.status == 401
        assert "was not accepted, and nothing has changed" in answer.text
        assert "aldis admin" in answer.text
        assert visitor.site.world.file.read() == {}


async def test_a_token_of_another_session(tmp_path: Path) -> None:
    """Each session has its own."""
    async with visited(tmp_path) as visitor:
        await visitor.enter()
        other = visitor.token
        await visitor.enter()
        assert visitor.token != other
        assert (await visitor.post("/setup/account/stop", {"token": other})).status == 403


async def test_what_other_pages_load(tmp_path: Path) -> None:
    """No picture, script or fetch of another site; a link that a person follows is no attack."""
    async with visited(tmp_path) as visitor:
        await visitor.enter()
        for path in GETS:
            strange = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
            assert (await visitor.get(path, strange)).status == 403
            assert (await visitor.get(path, {"Origin": EVIL})).status == 403
        followed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
        assert (await visitor.get("/enter/x", followed)).status == 303


async def test_a_link_that_is_used_again(tmp_path: Path) -> None:
    """Looking at it uses it up for nobody; pushing its button does, for everybody else."""
    async with visited(tmp_path) as visitor:
        path = visitor.site.new_link().removeprefix(visitor.place.address)
        for _ in range(3):
            assert (await visitor.get(path)).status == 200
        first = await visitor.post(path)
        assert (first.status, first.headers["Location"]) == (303, "/")
        # Who is in already is not told to fetch another link.
        for again in (await visitor.get(path), await visitor.post(path)):
            assert (again.status, again.headers["Location"]) == (303, "/")
        visitor.cookies.clear()
        second = await visitor.post(path)
        assert second.status == 410
        assert "Set-Cookie" not in second.headers
        assert (await visitor.get(path)).status == 410
        assert [action.what for action in visitor.audit.newest(2)] == ["link.refused", "link.used"]


async def test_who_tries_links_without_end_pushes_nothing_out_of_the_audit_log(tmp_path: Path) -> None:
    """They stand in it once in ten minutes, with their number."""
    watch = Watch()
    async with visited(tmp_path, sessions=Sessions(seconds=watch)) as visitor:
        for _ in range(30):
            assert (await visitor.post("/enter/guessed")).status == 410
        watch.now += LINK_SECONDS
        assert (await visitor.post("/enter/guessed")).status == 410
        told = [(action.what, action.about) for action in visitor.audit.newest(100)]
    assert told == [("link.refused", "30 times"), ("link.refused", ""), ("pages.opened", "")]


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


async def test_a_page_that_others_reach_wants_a_code(tmp_path: Path) -> None:
    """With the link alone nothing opens; wrong codes close what the link has opened."""
    watch = Watch()
    factor = SecondFactor(SECRET, wall=watch)
    async with visited(tmp_path, factor=factor) as visitor:
        await visitor.enter()
        for path in GETS:
            answer = await visitor.get(path)
            assert (answer.status, answer.headers["Location"]) == (303, "/code")
        page = await visitor.get("/code")
        found = re.search(r'name="token" value="([^"]+)"', page.text)
        assert found is not None
        visitor.token = found[1]
        for path in ("/captcha", "/setup/account/link"):
            assert (await visitor.post(path)).headers["Location"] == "/code"
        assert (await visitor.post("/code", {"code": "12"})).headers["Location"] == "/code"
        assert (await visitor.post("/code", {"code": code_at(watch.now)})).headers["Location"] == "/"
        assert (await visitor.get("/")).status == 200
        visitor.cookies.clear()
        await visitor.enter()
        page = await visitor.get("/code")
        visitor.token = (re.search(r'name="token" value="([^"]+)"', page.text) or ["", ""])[1]
        for _ in range(5):
            assert (await visitor.post("/code", {"code": code_at(watch.now)})).status == 303  # was used
        assert (await visitor.get("/")).status == 401


async def test_too_much(tmp_path: Path) -> None:
    """Bodies, fields, headers and pages that stay open: each has its end, and the pages go on."""
    async with visited(tmp_path) as visitor:
        await visitor.enter()
        assert (await visitor.post("/captcha", {"captcha": "x" * MAX_BODY_BYTES})).status == 413
        assert (await visitor.post("/captcha", {f"f{n}": "x" for n in range(300)})).status == 400
        assert (await visitor.get("/", {"Accept-Language": "x" * 9000})).status == 400
        assert (await visitor.get("/" + "x" * 9000)).status == 400
        opened = [visitor.http.get(visitor.origin + "/live/state", headers=cookie(visitor)) for _ in range(17)]
        answers = [await one for one in opened]
        assert [one.status for one in answers] == [200] * 16 + [503]
        for one in answers:
            one.close()
        assert (await visitor.get("/")).status == 200


async def test_what_goes_on_being_shown_ends_with_the_session(tmp_path: Path) -> None:
    """A page that was left open somewhere shows nothing more once its owner has signed out."""
    async with visited(tmp_path) as visitor, asyncio.timeout(WAIT_SECONDS):
        await visitor.enter()
        headers = cookie(visitor)
        async with visitor.http.get(visitor.origin + "/live/state", headers=headers) as shown:
            assert (await shown.content.readline()).startswith(b"data: ")
            assert (await visitor.post("/leave", {"token": visitor.token})).status == 303
            await shown.content.read()  # until it ends
        async with visitor.http.get(visitor.origin + "/live/state", headers=headers) as shown:
            assert shown.status == 401


async def test_a_page_that_was_left_open_keeps_nobody_in(tmp_path: Path) -> None:
    """What it asks by itself is no visit: the session ends as if the page had been closed."""
    watch = Watch()
    async with visited(tmp_path, sessions=Sessions(seconds=watch)) as visitor, asyncio.timeout(WAIT_SECONDS):
        await visitor.enter()
        headers = cookie(visitor)
        watch.now += IDLE_SECONDS - 1
        async with visitor.http.get(visitor.origin + "/live/state", headers=headers) as shown:
            assert shown.status == 200
        watch.now += 1
        async with visitor.http.get(visitor.origin + "/live/state", headers=headers) as shown:
            assert shown.status == 401


def cookie(visitor: Visitor) -> dict[str, str]:
    return {"Cookie": "; ".join(f"{name}={value}" for name, value in visitor.cookies.items())}


async def test_bodies_that_are_no_form(tmp_path: Path) -> None:
    """JSON, files, text and other charsets are refused before they are read, and other verbs with them."""
    async with visited(tmp_path) as visitor:
        await visitor.enter()
        charsets = [f"application/x-www-form-urlencoded; charset={name}" for name in ("nobody-knows-it", "utf-7")]
        for kind in ("application/json", "text/plain", "multipart/form-data; boundary=x", *charsets):
            headers = {"Origin": visitor.origin, "Content-Type": kind, **cookie(visitor)}
            async with visitor.http.post(visitor.origin + "/captcha", data=b"{}", headers=headers) as response:
                assert response.status == 415
        for method in ("PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"):
            answer = await visitor._ask(method, "/", {"Origin": visitor.origin}, None)
            assert answer.status == 405


async def test_what_is_shown_is_text(tmp_path: Path) -> None:
    """A header or an address that holds HTML or line breaks changes neither page nor answer."""
    async with visited(tmp_path) as visitor:
        await visitor.enter()
        markup = "<script>alert(1)</script>"
        visitor.site.world.wait_for(f"waiting for {markup}")
        home = await visitor.get("/")
        assert markup not in home.text
        assert "&lt;script&gt;" in home.text
        missing = await visitor.get(f"/{markup}")
        assert missing.status == 404
        assert markup not in missing.text


async def test_no_page_holds_anything_from_outside_or_inline(tmp_path: Path) -> None:
    """What the policy forbids is not there to begin with."""
    async with visited(tmp_path) as visitor:
        await visitor.enter()
        for path in ("/", "/setup/account"):
            page = (await visitor.get(path)).text
            assert not re.findall(r'(?:src|action)="(?!/)[^"]*"', page)
            assert not re.findall(r"<script(?! src)|<style|\sstyle=|\son\w+=", page)
            for name in re.findall(r'(?:src|href)="(/static/[^"]+)"', page):
                answer = await visitor.get(name)
                assert (answer.status, "immutable" in answer.headers["Cache-Control"]) == (200, True)
                assert is_hardened(dict(answer.headers))
        assert (await visitor.get("/static/0/../../pages.py")).status in {401, 404}
        assert (await visitor.get("/static/0/%2e%2e%2fpages.py")).status == 404


async def test_what_was_done_is_written_down(tmp_path: Path) -> None:
    """When, who, from where and what; no value, no token, no cookie, and for its owner alone."""
    async with visited(tmp_path) as visitor:
        await visitor.enter()
        await visitor.post("/captcha", {"captcha": "signalcaptcha://signal-hcaptcha.secret-word"})
        await visitor.post("/setup/account/link")
        await visitor.post("/setup/account/stop")
        await visitor.post("/leave")
        assert (await visitor.get("/")).status == 401
        path = audit_path(settings_of(tmp_path).store.path)
        text = await asyncio.to_thread(path.read_text)
        mode = (await asyncio.to_thread(path.stat)).st_mode
    actions = [json.loads(line) for line in text.splitlines()]
    assert [action["what"] for action in actions] == [
        "pages.opened",
        "link.used",
        "account.link_begun",
        "account.link_stopped",
        "signed_out",
    ]
    assert {action["origin"] for action in actions[1:]} == {"127.0.0.1"}
    assert len({action["who"] for action in actions[1:]}) == 1
    assert mode & 0o777 == 0o600
    assert not [
        secret for secret in (visitor.token, *visitor.cookies.values(), "secret-word") if secret and secret in text
    ]


def test_the_audit_log_does_not_grow_for_ever(tmp_path: Path) -> None:
    """The one before is kept; what cannot be read is passed over."""
    path = tmp_path / "audit"
    path.write_bytes(b"x" * (MAX_BYTES + 1))
    audit = Audit(path, now=lambda: datetime(2026, 11, 22, tzinfo=UTC))
    audit.write("tested", who="a", origin="b", about="c")
    assert path.with_name("audit.1").stat().st_size == MAX_BYTES + 1
    path.write_bytes(b'{"at": "cut' + b"\n" + path.read_bytes())
    assert [action.what for action in audit.newest(10)] == ["tested"]


async def test_too_many_connections(tmp_path: Path) -> None:
    """Those beyond the bound are closed at once; when others have gone there is room again."""
    async with visited(tmp_path, max_connections=3) as visitor:
        open_ones = [await asyncio.open_connection("127.0.0.1", visitor.place.port) for _ in range(3)]
        reader, writer = await asyncio.open_connection("127.0.0.1", visitor.place.port)
        assert await reader.read() == b""
        assert not any(one.at_eof() for one, _ in open_ones)
        writer.close()
        for _, one in open_ones:
            one.close()
            await one.wait_closed()

        async def is_answered() -> bool:
            try:
                return (await visitor.get("/")).status == 401
            except aiohttp.ClientError:
                return False

        await eventually_found(is_answered)


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "])
async def test_headers_that_never_end(sent: bytes, tmp_path: Path) -> None:
    """A connection that sends them a byte at a time, or none, is closed, whatever it goes on to send."""
    async with visited(tmp_path, keepalive_seconds=0.05) as visitor, asyncio.timeout(WAIT_SECONDS):
        reader, writer = await asyncio.open_connection("127.0.0.1", visitor.place.port)
        writer.write(sent)
        ended = asyncio.create_task(reader.read())
        while not ended.done():
            writer.write(b"x" if sent else b"")
            await asyncio.wait([ended], timeout=0.01)
        assert ended.exception() is not None or ended.result() == b""
        writer.close()


async def test_files_are_read_of_those_who_are_signed_in_and_where_they_belong(tmp_path: Path) -> None:
    """Nobody else's body is read; a file that is too large is read to its end, so that the page can say so."""
    async with visited(tmp_path) as visitor:

        async def upload(path: str, size: int) -> int:
            data = aiohttp.FormData({"token": visitor.token, "name": "Aldis"})
            data.add_field("picture", io.BytesIO(b"\xff\xd8\xff" * size), filename="a.jpg", content_type="image/jpeg")
            cookie = "; ".join(f"{name}={value}" for name, value in visitor.cookies.items())
            headers = {"Origin": visitor.origin, **({"Cookie": cookie} if cookie else {})}
            async with visitor.http.post(
                visitor.origin + path, data=data, headers=headers, allow_redirects=False
            ) as response:
                return response.status

        assert await upload("/setup/profile", 10) == 415
        assert await upload("/enter/x", 10) == 415
        await visitor.enter()
        assert await upload("/setup/profile", 10) == 303
        assert await upload("/setup/profile", MAX_UPLOAD_BYTES // 2) == 303
        assert await upload("/setup/tools/retention", 10) == 415
        visitor.token = "another"
        assert await upload("/setup/profile", 10) == 403
