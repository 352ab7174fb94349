"""The second factor on its page: it counts for every session once a code was right, and goes with a code."""

import re
import time
from base64 import b32decode
from pathlib import Path

from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP

from bot.settings.file import SettingsFile
from tests.bot.web.admin.browsers import Answer, Visitor, settings_of, visited

PAGE = "/upkeep/factor"
SETTING = "WEB__ADMIN_TOTP"
PUBLISHED = "https://aldis.example.org"


def secret_on(page: Answer) -> str:
    found = re.search(r'<pre tabindex="0" class="digits">([A-Z2-7 ]+)</pre>', page.text)
    return found[1].replace(" ", "") if found else ""


def code_of(secret: str, steps: int = 0) -> str:
    """The code that the app shows, or will so many half minutes later."""
    return TOTP(b32decode(secret), 6, SHA1(), 30).generate(int(time.time()) + 30 * steps).decode()


async def enrolled(visitor: Visitor) -> str:
    """The secret that an app and Aldis share by now."""
    secret = secret_on(await visitor.do(PAGE, "begin"))
    assert "The second factor is on." in (await visitor.do(PAGE, "on", code=code_of(secret))).text
    return secret


async def test_it_counts_once_a_code_was_right(tmp_path: Path) -> None:
    """Not before; then every link asks for a code, so does every other session, and no code counts twice."""
    async with visited(tmp_path) as visitor:
        await visitor.enter()
        other, token = dict(visitor.cookies), visitor.token
        visitor.cookies.clear()
        await visitor.enter()
        page = await visitor.do(PAGE, "begin")
        secret = secret_on(page)
        assert len(b32decode(secret)) == 20
        assert 'aria-label="QR code for the authenticator app' in page.text
        for code in ("000000", "", "x" * 500):
            assert "That code is wrong" in (await visitor.do(PAGE, "on", code=code)).text
        assert visitor.site.world.file.read() == {}
        code = code_of(secret)
        page = await visitor.do(PAGE, "on", code=code)
        assert dict(visitor.site.world.file.read()) == {SETTING: secret}
        assert secret not in page.text
        visitor.cookies, visitor.token = other, token
        assert (await visitor.get("/")).headers["Location"] == "/code"
        assert (await visitor.post(PAGE, {"do": "off", "code": code})).headers["Location"] == "/code"
        visitor.cookies.clear()
        await visitor.enter()
        assert "That code is wrong" in (await visitor.do("/code", "open", code=code)).text
        answer = await visitor.post("/code", {"do": "open", "code": code_of(secret, 1)})
        assert answer.headers["Location"] == "/"
        assert (await visitor.get("/")).status == 200


async def test_it_is_switched_off_with_a_code(tmp_path: Path) -> None:
    """A browser that was left open is not enough; a session that waits with a code comes in. Guessing ends one."""
    async with visited(tmp_path) as visitor:
        await visitor.enter()
        secret = await enrolled(visitor)
        own = dict(visitor.cookies), visitor.token
        visitor.cookies = {}
        await visitor.enter()
        waiting = dict(visitor.cookies)
        assert (await visitor.get("/")).headers["Location"] == "/code"
        visitor.cookies, visitor.token = own
        await visitor.do(PAGE, "off", code="123456")
        assert visitor.site.world.file.read() != {}
        assert "The second factor is off." in (await visitor.do(PAGE, "off", code=code_of(secret, 1))).text
        assert visitor.site.world.file.read() == {}
        visitor.cookies = waiting
        assert (await visitor.get("/code")).headers["Location"] == "/"
        assert (await visitor.get("/")).status == 200
        visitor.token = own[1]
        visitor.cookies = own[0]
        await enrolled(visitor)
        for _ in range(5):
            await visitor.do(PAGE, "off", code="000000")
        assert (await visitor.get("/")).status == 401
        assert SETTING in visitor.site.world.file.read()


async def test_published_pages_keep_theirs(tmp_path: Path) -> None:
    """The page offers another phone, says how it goes at the shell, and refuses to switch it off."""
    secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
    given = settings_of(tmp_path, WEB__ADMIN_URL=PUBLISHED, WEB__ADMIN_TOTP=secret)
    async with visited(tmp_path, settings=given) as visitor:
        await visitor.enter()
        await visitor.do("/code", "open", code=code_of(secret))
        page = await visitor.get(PAGE)
        assert "It is required here" in page.text
        assert "Switch it off" not in page.text
        assert f"aldis settings set {SETTING}=$secret" in page.text
        page = await visitor.do(PAGE, "off", code=code_of(secret, 1))
        assert "It is required here" in page.text.partition("</title>")[0]
        assert visitor.site.world.settings.web.admin_totp is not None


async def test_a_secret_of_the_environment_is_not_changed_here(tmp_path: Path) -> None:
    """The page says where it stands; a form that was sent all the same changes nothing."""
    async with visited(tmp_path) as visitor:
        await visitor.enter()
        world = visitor.site.world
        world.file = SettingsFile(world.file.path, environ={SETTING: "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"}, env_file=None)
        page = await visitor.do(PAGE, "begin")
        assert f"{SETTING} is set in the environment" in page.text
        assert secret_on(page) == ""
        await visitor.do(PAGE, "on", code="000000")
        assert world.file.read() == {}


async def test_one_that_is_set_at_the_shell_is_asked_for_in_open_sessions(tmp_path: Path) -> None:
    """From the restart on that this means; taken out there, no code is wanted; another one is asked for anew."""
    async with visited(tmp_path) as visitor:
        world = visitor.site.world
        await visitor.enter()
        for secret in ("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP", "KRSXG5CTMVRXEZLUKRSXG5CTMVRXEZLU"):
            assert (await visitor.get("/upkeep")).status == 200
            world.file.write({SETTING: secret})
            await world.restart()
            assert (await visitor.get("/upkeep")).headers["Location"] == "/code"
            assert (await visitor.post("/upkeep", {"do": "backup"})).headers["Location"] == "/code"
            await visitor.do("/code", "open", code=code_of(secret))
        assert (await visitor.get("/upkeep")).status == 200
        world.file.write({SETTING: None})
        await world.restart()
        assert (await visitor.get("/upkeep")).status == 200
