"""Stories of questions and their answers: alone and in a group, while they take long, and when minds change."""

import asyncio

from aiohttp import web

from tests.campaigns.transcripts.stage import Stage, Story
from tests.flows import gates
from tests.servers.base import Seen
from tests.servers.envelopes import ALICE, BOB, CAROL
from tests.servers.open_meteo import OpenMeteo
from tests.servers.script import call, say

_DINNER = """\
You need **4.25 kg**, this week ~~8.46 €~~ **6.33 €**. If more people come:

| people | potatoes |
|---|---|
| 17 | `4.25 kg` |
| 20 | `5.00 kg` |

1. Heat the oven to 200 °C.
   - *Prick* the potatoes, or they burst.
2. Bake them for an hour, as in [this recipe](https://example.org/potatoes)."""


async def _question(stage: Stage) -> None:
    stage.doubles.model.scripted(call("calculate", {"expression": "17 * 0.25 * 1.49"}), say(_DINNER))
    await stage.says(
        ALICE,
        "On Saturday we are 17, with 250 g of potatoes each, and a kilo is 1.49 € instead of 1.99 €. How much do I "
        "buy, and how do I bake them?",
    )
    await stage.answer()
    stage.read("6.3325")


async def _group(stage: Stage) -> None:
    stage.doubles.model.scripted(
        say("Water **them**, @Alice, as @Bob says."), say("Ten litres for each bush."), say("Yes: in the morning.")
    )
    await stage.says(BOB, "The roses are dry.", to_group=True)
    await stage.says(ALICE, "Aldis, what about the roses?", to_group=True)
    answer = await stage.answer()
    stage.reads()
    await stage.says(CAROL, "How much?", to_group=True, quote=answer)
    await stage.answer()
    await stage.says(BOB, "Tomorrow is soon enough.", to_group=True)
    await stage.says(ALICE, "should Bob do it earlier?", to_group=True, mention=True)
    await stage.answer()


async def _always(stage: Stage) -> None:
    stage.doubles.model.scripted(say("On **Saturday**, says the list."))
    await stage.says(ALICE, "/always on", to_group=True)
    await stage.answer()
    await stage.says(BOB, "When do we meet?", to_group=True)
    await stage.answer()
    for text in ("/pause", "When do we meet?", "/resume"):
        await stage.says(ALICE, text, to_group=True)
        await stage.answer()


async def _older(stage: Stage) -> None:
    model = stage.doubles.model.scripted(say("Sow beans in **May**."), say("Carrots: in March."))
    model.scripted(say("Alice sows beans."), say("Under glass, yes."))
    await stage.says(ALICE, "When do I sow beans?")
    old = await stage.answer()
    await stage.says(ALICE, "And carrots?")
    await stage.answer()
    await stage.summed_up()
    await stage.says(ALICE, "Not earlier?", quote=old)
    await stage.answer()
    stage.reads("Not earlier?")


async def _live(stage: Stage) -> None:
    weather = stage.doubles.weather
    gate = _Gate(weather)
    stage.doubles.model.scripted(call("get_weather", {"place": "Utopia"}), say("Take one: **78 %** chance of rain."))
    weather.faults += [weather._answer, gate]
    await stage.says(ALICE, "Aldis, do I need an umbrella in Utopia?", to_group=True)
    await stage.reaction()
    await stage.status("Weather")
    assert stage.doubles.signal.typing
    gate.opened.set()
    await stage.answer()
    stage.read("Open-Meteo", "Utopia")
    await stage.reaction()


class _Gate:
    """An answer of the weather service that is held back until `opened`."""

    def __init__(self, server: OpenMeteo) -> None:
        self.opened = asyncio.Event()
        self._server = server

    async def __call__(self, seen: Seen) -> web.StreamResponse:
        await self.opened.wait()
        return self._server._answer(seen)


async def _stop(stage: Stage) -> None:
    for question, how in (("Write me a very long poem.", "❌"), ("Then a short one.", "/stop")):
        gate = gates.Gate(stage.doubles.model, say("Never said."))
        stage.doubles.model.script.append(gate)
        line = await stage.says(ALICE, question)
        await gate.arrived()
        await (stage.reacts(ALICE, how, line) if how == "❌" else stage.says(ALICE, how))
        await stage.answer()


async def _change(stage: Stage) -> None:
    stage.doubles.model.scripted(say("Beans: in May."), say("Peas: in **March**."))
    first = await stage.says(ALICE, "When do I sow beans?")
    await stage.answer()
    second = await stage.edits(first, "When do I sow peas?")
    await stage.answer()
    stage.read("When do I sow peas?")
    await stage.deletes(second)
    await stage.removal()


STORIES = (
    Story(
        title="A question",
        words="Markdown from the model arrives as Signal's own styles: bold, italic, struck through, monospace."
        " Tables and nested lists become lines that you can read on a phone, and links show their address.",
        play=_question,
    ),
    Story(
        title="In a group",
        words="Aldis answers when it is called by name, mentioned, or quoted. Its answer quotes the question and"
        " can mention people natively. With `GROUPS__CONTEXT_MESSAGES` it knows what others said since its"
        " last answer, but does not answer that.",
        play=_group,
        settings={"GROUPS__CONTEXT_MESSAGES": "5"},
    ),
    Story(
        title="A group that wants more of it, or less",
        words="In a group where an admin turns this on, Aldis answers every message. After `/pause` it answers only"
        " commands; these need no name before them.",
        play=_always,
        settings={"ACCESS__ADMINS": ALICE.uuid},
    ),
    Story(
        title="Old messages",
        words="Messages that are too old to be sent again in full are summarised (`HISTORY__SUMMARIES`), and the"
        " model is told that it reads a summary. A quoted message goes along with the question, however old it"
        " is. Here only one question is sent again in full (`HISTORY__MAX_TURNS=1`).",
        play=_older,
        settings={"HISTORY__MAX_TURNS": "1", "HISTORY__SUMMARIES": "true"},
    ),
    Story(
        title="A slow answer",
        words="After three seconds Aldis puts 👀 on the message (`SIGNAL__ACK`), after six it says what is going on"
        " (`SIGNAL__LIVE`); edits turn that message into the answer. The typing indicator shows all the while.",
        play=_live,
        settings={
            "SIGNAL__ACK": "reaction",
            "SIGNAL__LIVE": "status",
            "TOOLS__TIMEOUT_SECONDS": "100",
        },
    ),
    Story(
        title="Stopping it",
        words="❌ on your message stops its answer at once, and so does `/stop`: the model's call and the tools end.",
        play=_stop,
    ),
    Story(
        title="Changing your mind",
        words="When you edit a question, Aldis asks it again and edits its answer. A deleted message is destroyed"
        " with everything made from it; with `SIGNAL__DELETE_ANSWERS=true` the answer disappears from the chat"
        " as well.",
        play=_change,
        settings={"SIGNAL__DELETE_ANSWERS": "true"},
    ),
)
