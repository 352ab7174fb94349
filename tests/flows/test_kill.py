"""Killed between any two steps of a turn and started again: answered once, nothing paid twice, no tool run twice.

The steps are the transactions of the store (see `dying`), and what the outside sees: a request arriving, an answer
going out. Each story kills a real process with SIGKILL and starts it again until everything has been answered.
"""

from pathlib import Path

import pytest

from store import open_store
from tests.flows.outside import Outside
from tests.servers.envelopes import ALICE, message
from tests.servers.open_meteo import OpenMeteo
from tests.servers.openai import OpenAIServer
from tests.servers.script import Heard, Scripted, call, say
from tests.servers.signal_cli import SignalCli

STEPS = {
    "arrival": ("Intake._commit", 1),
    "completion": ("Journal._write", 2),
    "tool": ("Journal._write", 3),
    "kept": ("Turns.keep", 1),
    "send begun": ("Sender._begin", 1),
    "sent": ("Sender._deliver", 1),
}
"""What changes the store on the way from a first message to its answer: the function that does it, and which of its
changes it is. The simulation (`tests/campaigns/simulation`) kills at every other."""

LOST_WITH_ITS_COMMIT = {"tool": (4, 3), "kept": (5, 2)}
"""Completions and tool runs in all when Aldis dies between getting something and writing it down: that one is gone, and
got once more. Four completions and two tool runs is what two questions take."""


def model_that_looks_up(heard: Heard) -> Scripted:
    return say("It is 3 degrees.") if heard.answers else call("get_weather", {"place": "Hamlet"})


@pytest.mark.parametrize(
    ("when", "step"),
    [
        *(("after", step) for step in ("arrival", "completion", "kept", "send begun")),
        *(("before", step) for step in ("tool", "sent")),
    ],
)
async def test_killed_at_a_step_of_the_store(signal: SignalCli, tmp_path: Path, when: str, step: str) -> None:
    """Whatever was committed is not done again; what was about to be is done at the next start."""
    name, number = STEPS[step]
    more = {
        "ACCESS__ALLOWED": ALICE.uuid,
        # How long Aldis waits for the proof of a send in doubt; long where the proof is on its way.
        "SIGNAL__UNKNOWN_GRACE_SECONDS": "600" if (when, step) == ("before", "sent") else "1",
    }
    async with OpenAIServer(local=True, reply=model_that_looks_up) as model, OpenMeteo() as weather:
        more |= {"TOOLS__WEATHER__BASE_URL": weather.url, "TOOLS__WEATHER__GEOCODING_BASE_URL": weather.url}
        world = Outside(signal, model, tmp_path, more)
        await signal.deliver(message("How cold is it?"))
        signal.receipts_mode = "on_call"
        died = await world.verb(when, str(number), name, "run", module="tests.flows.dying")
        assert died.status == -9
        # A receipt that comes while Aldis is down waits at Signal's server, as everything does; one that comes before
        # signal-cli has seen the connection end is lost with it.
        await signal.disconnected()
        await signal.confirm()
        signal.receipts_mode = "at_once"
        async with world.running():
            await signal.sent_count(1)
            # Another message proves that nothing else is on its way before it.
            await world.ask("thanks")
        completions, tool_runs = LOST_WITH_ITS_COMMIT.get(step, (4, 2)) if when == "before" else (4, 2)
        assert [sent.text for sent in signal.sent] == ["It is 3 degrees.", "It is 3 degrees."]
        assert len([seen for seen in weather.requests if "forecast" in seen.path]) == tool_runs
        assert (len(model.completed), model.refused) == (completions, [])
    async with open_store(tmp_path / "aldis.db", realm="signal") as store:
        inbox, outbox = await store.read(lambda repos: (repos.inbox.backlog(), repos.outbox.backlog()))
    assert (inbox.items, inbox.dead, outbox.items, outbox.dead) == (0, 0, 0, 0)
