"""A whole story in Signal: the bot as a process between the doubles of signal-cli, a model and the weather."""

from pathlib import Path

from tests.flows.outside import Outside
from tests.servers.anthropic import AnthropicServer
from tests.servers.envelopes import ALDIS, ALICE, BOB, GROUP, message, quote_of
from tests.servers.open_meteo import OpenMeteo
from tests.servers.script import call, say
from tests.servers.signal_cli import SignalCli

HOUR = 3600


async def test_questions_are_answered_with_a_tool_and_remembered(signal: SignalCli, tmp_path: Path) -> None:
    """A message comes in, is read, looked up and answered; the next one knows of it, also after a restart.

    In a group who addresses Aldis is answered, by mention, quote or name; the answer quotes the question. Talk among
    others is left alone. A reminder comes in a later life, once, and quotes the message that wished for it.
    """
    async with AnthropicServer() as model, OpenMeteo() as weather:
        more = {
            "ACCESS__ALLOWED": f"{ALICE.uuid},{BOB.number}",
            "ACCESS__GROUPS": GROUP,
            "TOOLS__WEATHER__BASE_URL": weather.url,
            "TOOLS__WEATHER__GEOCODING_BASE_URL": weather.url,
        }
        world = Outside(signal, model, tmp_path, more)
        model.scripted(call("get_weather", {"place": "Hamlet"}), say("It is **3 degrees**."))
        async with world.running():
            asked = message("How cold is it in Hamlet?")
            await signal.deliver(asked)
            [answer] = await signal.sent_count(1)
            assert (answer.text, answer.recipient, answer.styles) == ("It is 3 degrees.", ALICE.uuid, ("6:9:BOLD",))
            assert answer.quote_timestamp is None
            assert await signal.first(signal.read, 1) == [(ALICE.uuid, asked["envelope"]["timestamp"])]
        async with world.running():
            await world.ask("And now?")
            last = model.requests[-1].json()["messages"]
            assert [entry["role"] for entry in last] == ["user", "assistant", "user", "assistant", "user"]
            assert "How cold" in str(last[0])

            await signal.deliver(message("just us", group=GROUP))
            await world.ask("what about the roses?", group=GROUP, mention=True)
            mentioned = signal.sent[-1]
            assert (mentioned.group, mentioned.quote_author) == (GROUP, ALICE.uuid)
            assert "Alice" in model.requests[-1].body.decode()
            quoted = quote_of(ALDIS, mentioned.timestamp, mentioned.text)
            await world.ask("and the tulips?", group=GROUP, author=BOB, quote=quoted)
            await world.ask("Aldis, when?", group=GROUP)
            assert len(model.requests) == 6
            assert "just us" not in model.requests[-1].body.decode()

            await world.ask("/new", group=GROUP)  # Bob has written in this one
            wish = {"action": "set", "text": "bins out", "delay_seconds": HOUR}
            model.scripted(call("remind", wish), say("I will."))
            asked = message("remind me in a moment to put the bins out", group=GROUP, mention=True)
            await signal.deliver(asked)
            sent = await signal.sent_count(7)
            assert sent[-1].text == "I will."
        async with world.running(str(HOUR), "run", module="tests.flows.later"):
            reminder = (await signal.sent_count(8))[7]
            # On a machine that is very slow it says that it is late.
            assert (reminder.text.splitlines()[0], reminder.group) == ("⏰ bins out", GROUP)
            assert (reminder.quote_author, reminder.quote_timestamp) == (ALICE.uuid, asked["envelope"]["timestamp"])
        assert (len(signal.sent), model.refused) == (8, [])
