"""All of Aldis over a store on disk, with a transport that is a function call."""

import asyncio
import itertools
import json
from collections import defaultdict, deque
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from bot import app, logs, settings
from bot.events import ChatId, Envelope, Event, Incoming, Kind, PersonId, Removal, Reply, SentId
from bot.signal.protocol import StreamState
from tests.campaigns.bench import blocks
from tools import CATALOG

_ACCOUNT = "+15550100001"
_FIRST_MILLISECOND = 1_795_000_000_000


class Pier:
    """A transport: `ask` is both of its ends."""

    account = _ACCOUNT
    number: str | None = None
    challenge: str | None = None

    def __init__(self) -> None:
        self.stream = StreamState(is_open=True, pause_seconds=0.0)
        self.missed: deque[PersonId] = deque()
        self.is_at_rest: Callable[[], bool] = lambda: True
        """Whether nothing is done any more about what was asked: who pauses before they ask again pauses for longer."""
        self._arriving: asyncio.Queue[Envelope | None] = asyncio.Queue()
        self._answers: dict[ChatId, asyncio.Future[str]] = {}
        self._parts: defaultdict[ChatId, list[str]] = defaultdict(list)
        self._milliseconds = itertools.count(_FIRST_MILLISECOND)

    def at(self, seconds: float) -> None:
        self._milliseconds = itertools.count(max(next(self._milliseconds), _FIRST_MILLISECOND + round(1000 * seconds)))

    async def ask(self, conversation: str, text: str) -> str:
        chat, sent_at = ChatId(f"direct:{conversation}"), SentId(next(self._milliseconds))
        self._answers[chat] = asyncio.get_running_loop().create_future()
        self._arriving.put_nowait(
            Envelope(
                account=_ACCOUNT,
                author=PersonId(conversation),
                number=None,
                device=1,
                sent_at=sent_at,
                kind=Kind.MESSAGE,
                chat=chat,
                raw=json.dumps({"text": text}),
            )
        )
        return await self._answers[chat]

    async def envelopes(self) -> AsyncGenerator[Envelope]:
        while (envelope := await self._arriving.get()) is not None:
            yield envelope

    def event(self, envelope: Envelope) -> Event | None:
        assert envelope.author is not None
        assert envelope.chat is not None
        text = json.loads(envelope.raw)["text"]
        return Incoming(author=envelope.author, name=None, chat=envelope.chat, sent_at=envelope.sent_at, text=text)

    async def send(self, reply: Reply) -> SentId:
        self._parts[reply.chat].append(reply.content.text)
        if reply.last:
            self._answers.pop(reply.chat).set_result("\n".join(self._parts.pop(reply.chat)))
        return SentId(next(self._milliseconds))

    async def remove(self, removal: Removal) -> SentId:
        return SentId(next(self._milliseconds))

    def stop_receiving(self) -> None:
        self._arriving.put_nowait(None)

    async def _ignore(self, *_: object, **__: object) -> Any: ...

    submit_challenge = typing = react = attachment = discard = receipt = progress = aclose = _ignore


def variables(vendor: str, address: str) -> dict[str, str]:
    """The settings that make a model double answer; everything else is as it comes."""
    if vendor == "offline":
        return {}
    if vendor == "anthropic":
        return {"ANTHROPIC_API_KEY": "test-key", "LLM__ANTHROPIC__BASE_URL": address}
    return {"OPENAI_API_KEY": "test-key", "OPENAI_BASE_URL": address, "LLM__OPENAI__MODEL": "gpt-4.1"}


@asynccontextmanager
async def running(vendor: str, address: str) -> AsyncGenerator[blocks.Ask]:
    """Aldis at work. It offers the calculator alone, so that no other tool changes the figures."""
    chosen = {
        **variables(vendor, address),
        **{f"TOOLS__{name.upper()}__ENABLED": "false" for name in CATALOG if name != "calculator"},
        "STORE__PATH": str(Path.cwd() / "aldis.db"),
    }
    async with at_work(chosen) as pier:
        yield pier.ask


@asynccontextmanager
async def at_work(chosen: dict[str, str]) -> AsyncGenerator[Pier]:
    """Aldis with these settings, open to everybody and without limits; gives both ends of its transport."""
    logs.set_up("WARNING", "text")
    chosen = {
        **chosen,
        "TOOLS__CALLS_PER_MINUTE": "10000",
        "LIMITS__MESSAGES_PER_MINUTE": "10000",
        "LIMITS__CONVERSATION_MESSAGES_PER_MINUTE": "10000",
        "ACCESS__GREETING": "false",
        "ACCESS__ALLOWED": "*",
    }
    pier, stop = Pier(), asyncio.Event()
    async with (
        app.build_service(settings.load_settings(chosen, None), pier, realm="signal") as aldis,
        asyncio.TaskGroup() as group,
    ):
        group.create_task(aldis.chat(stop, asyncio.Event()))
        pier.is_at_rest = lambda: not aldis.worker.tasks and aldis.summaries.is_idle
        yield pier
        stop.set()
