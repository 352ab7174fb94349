"""A number becomes an account of its own, over both bridges: captcha, call, code and PIN, in the bridge's words."""

from collections.abc import AsyncGenerator

import pytest

from bot.errors import CallRefused, Disconnected
from bot.signal.protocol import Linking
from bot.signal.rest_api.account import RestApiLinking
from bot.signal.signal_cli.account import SignalCliLinking
from tests.servers.signal_cli import SignalCli
from tests.servers.signal_rest_api import SignalRestApi
from tests.servers.signal_server import SignalServer

NUMBER = "+15550100009"
Pair = tuple[SignalServer, Linking]


@pytest.fixture(params=["signal_cli", "rest_api"])
async def pair(request: pytest.FixtureRequest) -> AsyncGenerator[Pair]:
    """A bridge without an account, and the way to register one by it."""
    is_cli = request.param == "signal_cli"
    async with SignalCli(accounts=[]) if is_cli else SignalRestApi(accounts=[]) as server:
        linking: Linking = SignalCliLinking(server.url) if is_cli else RestApiLinking(server.url)
        yield server, linking
        await linking.aclose()


async def test_a_number_is_registered_by_sms(pair: Pair) -> None:
    """The captcha is handed in, the code comes, and the bridge has the account."""
    server, linking = pair
    await linking.register(NUMBER, captcha=server.registration_captcha, by_call=False)
    assert server.registering == {NUMBER: False}
    await linking.verify(NUMBER, "123456", pin=None)
    assert [account.number for account in await linking.accounts()] == [NUMBER]


async def test_a_number_is_registered_by_a_call(pair: Pair) -> None:
    """Where Signal wants no captcha, none is handed in; a registration lock wants its PIN."""
    server, linking = pair
    server.registration_captcha, server.registration_pin = None, "4711"
    await linking.register(NUMBER, captcha=None, by_call=True)
    assert server.registering == {NUMBER: True}
    with pytest.raises(CallRefused, match="locked with a pin"):
        await linking.verify(NUMBER, "123456", pin=None)
    with pytest.raises(CallRefused, match="Invalid pin, tries remaining: 9"):
        await linking.verify(NUMBER, "123456", pin="1")
    await linking.verify(NUMBER, "123456", pin="4711")
    assert NUMBER in server.accounts


async def test_what_signal_refuses_is_said_in_its_words(pair: Pair) -> None:
    """A captcha is wanted, another one is wrong, a code is wrong; nothing is an account then."""
    server, linking = pair
    with pytest.raises(CallRefused, match="Captcha required for verification"):
        await linking.register(NUMBER, captcha=None, by_call=False)
    with pytest.raises(CallRefused, match="Invalid captcha given"):
        await linking.register(NUMBER, captcha="signal-hcaptcha.other", by_call=False)
    await linking.register(NUMBER, captcha=server.registration_captcha, by_call=False)
    with pytest.raises(CallRefused, match="Verify error"):
        await linking.verify(NUMBER, "000000", pin=None)
    assert server.accounts == []


async def test_a_bridge_that_is_gone(pair: Pair) -> None:
    """It is tried again, and nothing is taken for a refusal."""
    server, linking = pair
    await server.stop()
    with pytest.raises(Disconnected):
        await linking.register(NUMBER, captcha=None, by_call=False)
    with pytest.raises(Disconnected):
        await linking.verify(NUMBER, "123456", pin=None)
    await server.start()
