"""Processes die with turns under way: who only waited is answered in the end, who killed them is given up."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

from aiohttp import web

from bot.chat import phrases
from bot.i18n.catalogues import say
from tests.flows.processes import started
from tests.servers.base import Seen
from tests.servers.envelopes import ALICE, BOB, CAROL, Person, message
from tests.servers.openai import OpenAIServer
from tests.servers.signal_cli import SignalCli
from tests.waiting import WAIT_SECONDS, eventually

POISONOUS = "tests.flows.poisonous"


@dataclass
class Slow(OpenAIServer):
    """Answers nobody before its gate opens."""

    local: bool = True
    gate: asyncio.Event = field(default_factory=asyncio.Event)

    async def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        await self.gate.wait()
        return await super().respond(seen, request)


def settings_of(signal: SignalCli, model: Slow, *people: Person) -> dict[str, str]:
    return {
        "SIGNAL__URL": signal.url,
        "ACCESS__ALLOWED": ",".join(person.uuid for person in people),
        "OPENAI_BASE_URL": model.base_url,
        "LLM__OPENAI__MODEL": "llama",
        "SIGNAL__LIVE": "off",
    }


async def test_what_kills_the_process_is_given_up_and_everyone_hears_of_it(tmp_path: Path) -> None:
    """It kills at once, with others under way: after five deaths in a row each of them reads so or is answered."""
    async with SignalCli() as signal, Slow() as model:
        settings = settings_of(signal, model, ALICE, BOB, CAROL)

        def told(person: Person) -> list[str]:
            return [sent.text for sent in signal.visible(person.chat)]

        async with started("run", settings=settings, folder=tmp_path, module=POISONOUS) as process:
            await signal.connected()
            await signal.deliver(message("hello from Bob", author=BOB))
            await signal.deliver(message("hello from Carol", author=CAROL))
            await eventually(lambda: len(model.requests) > 1)
            await signal.deliver(message("poison", author=ALICE))
            await process.ended()
        async with asyncio.timeout(WAIT_SECONDS):
            while not told(ALICE):
                async with started("run", settings=settings, folder=tmp_path, module=POISONOUS) as process:
                    ended = asyncio.create_task(process.ended())
                    telling = asyncio.create_task(eventually(lambda: told(ALICE)))
                    await asyncio.wait([ended, telling], return_when=asyncio.FIRST_COMPLETED)
                    telling.cancel()
        assert told(ALICE) == [say(phrases.GAVE_UP)]
        model.gate.set()
        async with started("run", settings=settings, folder=tmp_path, module=POISONOUS):
            await eventually(lambda: told(BOB) and told(CAROL))
        for person, question in ((BOB, "hello from Bob"), (CAROL, "hello from Carol")):
            [text] = told(person)
            assert question in text or text == say(phrases.GAVE_UP)
