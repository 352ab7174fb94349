"""Killed while something costs money: the next start knows what it has cost, once, whatever was being paid."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

import pytest

from bot.money.ledger import RESERVED
from store import open_store
from tests.bot.media.samples import adts
from tests.flows.outside import Outside
from tests.flows.processes import started
from tests.servers import brave
from tests.servers.anthropic import AnthropicServer
from tests.servers.base import Server, hang
from tests.servers.brave import Brave
from tests.servers.envelopes import ALICE, Frame, attachment, message
from tests.servers.openai_audio import KEY, OpenAIAudio
from tests.servers.script import Heard, Scripted, Tokens, call, say
from tests.servers.signal_cli import SignalCli
from tests.waiting import eventually

MODEL = "claude-of-next-year"
CENT = Decimal("0.0100001")
"""What each answer of the model costs."""


def a_cent(heard: Heard) -> Scripted:
    """Searches first if it is asked to, then says that it has."""
    wants = "Search" in heard.text and not heard.answers
    said = call("web_search", {"query": "lamps"}) if wants else say("Done.")
    return said.using(Tokens(fresh=1, cache_read=0, output=20_000))


@dataclass
class World(Outside[SignalCli, AnthropicServer]):
    """The outside, with two more services that cost money."""

    audio: OpenAIAudio = field(default_factory=lambda: OpenAIAudio(says=["Well?"]))
    search: Brave = field(default_factory=Brave)

    @property
    def settings(self) -> dict[str, str]:
        return {
            **super().settings,
            "ACCESS__ALLOWED": ALICE.uuid,
            "LLM__ANTHROPIC__MODEL": MODEL,
            "BUDGET__PRICES": f"{MODEL}=0.1/0.5",
            "HISTORY__MAX_TURNS": "2",
            "AUDIO__BASE_URL": f"{self.audio.url}/v1",
            "AUDIO__API_KEY": KEY,
            "AUDIO__PRICE": "0.006",
            "BRAVE_API_KEY": brave.KEY,
            "TOOLS__WEB_SEARCH__BASE_URL": f"{self.search.url}/res/v1",
        }

    async def killed_while_asking(self, service: Server, question: Frame) -> None:
        """Ask, and kill Aldis as soon as this service is asked."""
        service.faults.append(hang)
        asked, streams = len(service.requests), self.signal.streams_opened
        async with started("run", settings=self.settings, folder=self.folder) as process:
            await self.signal.connected(streams + 1)
            await self.signal.deliver(question)
            await eventually(lambda: len(service.requests) > asked)
            await process.kill()

    async def paid(self, answers: int) -> Sequence[tuple[str, str, Decimal]]:
        """What the ledger has in the end, when this many answers are there: what, what became of it, its dollars."""
        for _ in range(2):  # what is recorded once is not recorded again
            async with self.running():
                await self.signal.sent_count(answers)
        rows = "SELECT name, outcome, cost_usd FROM ledger WHERE CAST(cost_usd AS REAL) > 0 ORDER BY id"
        async with open_store(self.folder / "aldis.db", realm="signal") as store:
            found = await store.read(lambda repos: repos.ledger.rows(rows))
            day = "SELECT sum(CAST(cost_usd AS REAL)) FROM spent WHERE length(period) = 10 GROUP BY scope"
            sums = await store.read(lambda repos: repos.ledger.rows(day))
        paid = [(name, outcome, Decimal(cost)) for name, outcome, cost in found]
        assert [pytest.approx(float(sum(cost for *_, cost in paid)))] * 2 == [spent for (spent,) in sums]  # hers, all's
        return paid


@pytest.fixture
async def world(tmp_path: Path) -> AsyncGenerator[World]:
    async with SignalCli() as signal, AnthropicServer() as model:
        model.reply, model.models = a_cent, (MODEL,)
        world = World(signal, model, tmp_path)
        async with world.audio, world.search:
            yield world


async def test_killed_while_a_recording_is_heard(world: World) -> None:
    """It costs by its length, and once more when it is heard in the end."""
    sound = adts(*([b"voice"] * 50))
    frame = attachment(size_bytes=len(sound)) | {"contentType": "audio/aac", "filename": None, "isVoiceNote": True}
    world.signal.files[str(frame["id"])] = sound
    await world.killed_while_asking(world.audio, message(None, attachments=[frame]))
    lost, heard, answer = await world.paid(1)
    assert lost[:2] == ("whisper-1", RESERVED)
    assert heard == (lost[0], "ok", lost[2])
    assert answer == (MODEL, "ok", CENT)


async def test_killed_during_a_paid_search(world: World) -> None:
    """The service has counted it; it is searched again."""
    await world.killed_while_asking(world.search, message("Search for it."))
    asked, lost, again, answered = await world.paid(1)
    assert lost == ("web_search", RESERVED, Decimal("0.005"))
    assert again == ("web_search", "ok", lost[2])
    assert [asked, answered] == [(MODEL, "ok", CENT)] * 2
