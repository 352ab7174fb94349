"""The account's own profile, over both bridges: name, words, picture and user name, and what each bridge gets wrong."""

from collections.abc import AsyncGenerator

import pytest

from bot.errors import CallRefused, Disconnected, Unfetchable, UsernameRefused
from bot.signal.profiles import USERNAME, AccountProfile, ProfileChange, ProfileClient, ProfilePicture, is_line
from bot.signal.rest_api.account import RestApiProfile
from bot.signal.signal_cli.account import SignalCliProfile
from tests.bot.signal.bridges import NUMBERLESS, OWN_ACCOUNT
from tests.servers.envelopes import ALDIS
from tests.servers.signal_cli import SignalCli
from tests.servers.signal_rest_api import SignalRestApi
from tests.servers.signal_server import SignalServer

Pair = tuple[SignalServer, ProfileClient]
PICTURE = ProfilePicture(data=b"\x89PNG\r\n\x1a\nlamp", content_type="image/png")
MAX = 1000


@pytest.fixture(params=["unix", "rest_api"])
async def pair(request: pytest.FixtureRequest) -> AsyncGenerator[Pair]:
    """A bridge, and the way to the profile of its account."""
    is_rest = request.param == "rest_api"
    async with SignalRestApi() if is_rest else SignalCli(way=request.param) as server:
        client = RestApiProfile(server.url, OWN_ACCOUNT) if is_rest else SignalCliProfile(server.url, OWN_ACCOUNT)
        yield server, client
        await client.aclose()


@pytest.mark.parametrize(
    ("text", "may_be"),
    [
        *((text, True) for text in ("", "Aldis", "a lamp 🏮", "👨\u200d👩\u200d👧 family", "क्\u200dष", "x" * 32)),
        *((text, False) for text in ("a\nb", "a\x00", "\u202egnp", "Al\u200bdis", "\ud800", "Aldis\udcff", "x" * 33)),
    ],
)
def test_a_name_is_one_line_of_signs_that_are_seen(text: str, *, may_be: bool) -> None:
    """Emoji of several signs are; bytes that are no text are none."""
    assert is_line(text, max_bytes=32) is may_be


async def test_a_profile_is_changed_part_by_part(pair: Pair) -> None:
    """What is not named stays, the picture too where the bridge deletes one that is not sent along."""
    server, client = pair
    assert await client.profile() == AccountProfile(name="", about="", has_picture=False, username=None)
    assert await client.picture(max_bytes=MAX) is None
    await client.change(ProfileChange(name="Aldis", about="a lamp", picture=PICTURE))
    await client.change(ProfileChange(name="Aldis 2"))
    assert await client.profile() == AccountProfile(name="Aldis 2", about="a lamp", has_picture=True, username=None)
    assert await client.picture(max_bytes=MAX) == PICTURE.data
    with pytest.raises(Unfetchable):
        await client.picture(max_bytes=3)
    await client.change(ProfileChange(name="Aldis 2", about="", removes_picture=True))
    assert await client.profile() == AccountProfile(name="Aldis 2", about="", has_picture=False, username=None)
    assert server.profile.picture is None


async def test_what_signal_refuses_is_not_taken_for_done(pair: Pair) -> None:
    """signal-cli-rest-api answers 204 all the same."""
    server, client = pair
    await client.change(ProfileChange(name="Aldis", picture=PICTURE))
    with pytest.raises(CallRefused):
        await client.change(ProfileChange(name="x" * 300))
    with pytest.raises(CallRefused):
        await client.change(ProfileChange(name="Aldis", about="x" * 600))
    other = ProfilePicture(data=b"\x89PNG other", content_type="image/png")
    with pytest.raises(CallRefused):
        await client.change(ProfileChange(name="y" * 300, picture=other))
    assert (server.profile.given_name, server.profile.about, server.profile.picture) == ("Aldis", "", PICTURE.data)


async def test_a_user_name(pair: Pair) -> None:
    """It has a link; the own one once more keeps both, another one brings another link, and it can be given up."""
    server, client = pair
    first = await client.take_username("aldis")
    assert first.name == server.profile.username == "aldis.39"
    assert first.link == server.profile.link
    assert await client.take_username("aldis.39") == await client.take_username("aldis") == first
    assert (await client.profile()).username == "aldis.39"
    second = await client.take_username("Lamp.42")
    assert second.name == "Lamp.42"
    assert second.link != first.link
    await client.drop_username()
    assert server.profile.username is None


@pytest.mark.parametrize("wanted", ["taken.42", "al", "9lamp", "lä", "lamp.1", "lamp.00", "lamp.012"])
async def test_a_user_name_that_is_none_or_taken(pair: Pair, wanted: str) -> None:
    """It is told from a bridge that fails, and nothing is changed."""
    server, client = pair
    server.profile.taken.add("taken.42")
    with pytest.raises(UsernameRefused):
        await client.take_username(wanted)
    assert server.profile.username is None
    assert bool(USERNAME.fullmatch(wanted)) is (wanted == "taken.42")


async def test_a_taken_user_name_by_an_older_signal_cli() -> None:
    """0.13 hands on the status of Signal's server."""
    async with SignalCli(version="0.13.14") as server:
        client = SignalCliProfile(server.url, OWN_ACCOUNT)
        server.profile.taken.add("taken.42")
        with pytest.raises(UsernameRefused):
            await client.take_username("taken.42")
        await client.aclose()


async def test_a_picture_that_only_signal_has() -> None:
    """The bridge would delete what it cannot send along: it is asked first."""
    async with SignalRestApi() as server:
        client = RestApiProfile(server.url, OWN_ACCOUNT)
        server.profile.picture = b""  # listed, and not given
        with pytest.raises(CallRefused, match="does not have the picture"):
            await client.change(ProfileChange(name="Aldis"))
        assert server.profile.given_name == ""
        await client.change(ProfileChange(name="Aldis", removes_picture=True))
        assert server.profile.given_name == "Aldis"
        await client.aclose()


async def test_an_account_without_a_number() -> None:
    """It is called by its uuid."""
    async with SignalCli(accounts=[ALDIS.uuid]) as server:
        await server.change_number(None)
        client = SignalCliProfile(server.url, NUMBERLESS)
        await client.change(ProfileChange(name="Aldis"))
        assert (await client.profile()).name == "Aldis"
        await client.aclose()


async def test_a_bridge_that_is_gone(pair: Pair) -> None:
    """Nothing is taken for a refusal."""
    server, client = pair
    await server.stop()
    for asked in (client.profile(), client.picture(max_bytes=MAX), client.drop_username()):
        with pytest.raises(Disconnected):
            await asked
    with pytest.raises(Disconnected):
        await client.change(ProfileChange(name="Aldis"))
    with pytest.raises(Disconnected):
        await client.take_username("aldis")
    await server.start()
