"""A household with an authority of its own: its servers speak TLS, and no machine knows who vouches for them."""

from pathlib import Path

from tests.flows.outside import Outside
from tests.servers.anthropic import AnthropicServer
from tests.servers.certificates import certified
from tests.servers.envelopes import ALICE
from tests.servers.open_meteo import OpenMeteo
from tests.servers.script import call, say
from tests.servers.signal_rest_api import SignalRestApi

HERE = "127.0.0.1"
UNTRUSTED = "its certificate is not trusted, or is for another name"


async def test_an_authority_of_ones_own_vouches_for_bridge_model_and_tool(tmp_path: Path) -> None:
    """SSL_CERT_FILE names it, as for any other program; without it each of them is refused, and the doctor says why."""
    found = certified(HERE, tmp_path)
    async with (
        SignalRestApi(tls=found.server) as signal,
        AnthropicServer(tls=found.server) as model,
        OpenMeteo(tls=found.server) as weather,
    ):
        world = Outside(signal, model, tmp_path)
        settings = {
            **world.settings,
            "ACCESS__ALLOWED": f"{ALICE.uuid},{ALICE.number}",
            "TOOLS__WEATHER__BASE_URL": weather.url,
            "TOOLS__WEATHER__GEOCODING_BASE_URL": weather.url,
        }
        unknown = (await world.verb("doctor", **settings)).stdout
        assert unknown.count(UNTRUSTED) == 2, unknown

        settings["SSL_CERT_FILE"] = str(found.authority)
        known = (await world.verb("doctor", **settings)).stdout
        assert UNTRUSTED not in known, known
        model.scripted(call("get_weather", {"place": "Hamlet"}), say("It is 3 degrees."))
        async with world.running(**settings):
            assert await world.ask("How cold is it in Hamlet?") == "It is 3 degrees."
    assert {seen.path for seen in weather.requests} == {"/v1/search", "/v1/forecast"}
