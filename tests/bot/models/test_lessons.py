"""What was learnt of a model by its refusals: known to the next process, and to nobody who asks something else."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from bot.app.models import KeptLessons
from bot.chat.room import ContextRoom
from bot.clock import SetClock
from bot.models.capabilities import ModelLessons
from bot.models.openai import OpenAI
from store import Store
from tests.bot.models.test_prompted import QUESTION
from tests.servers.openai import OpenAIServer
from tests.servers.script import say


@dataclass
class Rows:
    """Where lessons are kept, as text."""

    rows: dict[str, str] = field(default_factory=dict[str, str])

    def keep(self, subject: str, lessons: Mapping[str, Any]) -> None:
        self.rows[subject] = json.dumps(lessons)

    def lessons(self) -> ModelLessons:
        return ModelLessons({subject: json.loads(row) for subject, row in self.rows.items()}, self.keep)


async def asked(server: OpenAIServer, rows: Rows, *, model: str = "old-8b", **settings: Any) -> list[bool]:
    """Whether each request of a new process offers tools natively."""
    before = len(server.requests)
    server.scripted(say("Fine."))
    provider = OpenAI(api_key=None, model=model, base_url=server.base_url, lessons=rows.lessons(), **settings)
    try:
        await provider.complete(QUESTION)
    finally:
        await provider.aclose()
    return ["tools" in seen.json() for seen in server.requests[before:]]


async def test_the_next_process_asks_as_this_one_has_learnt_to() -> None:
    """Another model, and the same one as the settings want it, are asked as if nothing were known."""
    rows = Rows()
    async with OpenAIServer(local=True, takes_tools=False) as server:
        assert await asked(server, rows) == [True, False]
        assert await asked(server, rows) == [False]
        assert await asked(server, rows, model="other-8b") == [True, False]
        server.takes_tools = True
        assert await asked(server, rows, tool_mode="native") == [True]
    async with OpenAIServer(local=True, takes_tools=False) as elsewhere:
        assert await asked(elsewhere, rows) == [True, False]
    assert not [subject for subject in rows.rows if "old-8b" in subject or "http" in subject]


@pytest.mark.parametrize(
    "lessons",
    [
        {"quirks": "tools"},
        {"quirks": ["sesame", 1, None]},
        {"habits": {"tool_mode": ["auto", "prompt"]}},
    ],
)
async def test_lessons_that_make_no_sense_change_nothing(lessons: Mapping[str, Any]) -> None:
    """Those of an older version."""
    rows = Rows()
    async with OpenAIServer(local=True) as server:
        rows.lessons().learn(server.base_url, "old-8b", **lessons)
        assert await asked(server, rows) == [True]
        assert server.requests[-1].json()["max_tokens"] == QUESTION.max_output_tokens


def test_a_window_outlasts_the_process() -> None:
    """For the model and server that said it, also where it is the first one and nobody has chosen it."""
    rows = Rows()

    def server(model: str | None) -> tuple[str, str] | None:
        return ("http://gpu", model or "first") if model != "nameless" else None

    room = ContextRoom(rows.lessons(), server)
    room.on_refusal(None, 8192)
    room.on_refusal("nameless", 4096)
    again = ContextRoom(rows.lessons(), server)
    assert (again.window_tokens(None), again.window_tokens("first")) == (8192, 8192)
    assert (again.window_tokens("other"), again.window_tokens("nameless")) == (None, None)
    rows.rows = dict.fromkeys(rows.rows, '{"window_tokens": "many"}')
    assert ContextRoom(rows.lessons(), server).window_tokens(None) is None


async def test_they_are_kept_in_the_store_for_a_month(store: Store, clock: SetClock) -> None:
    """What is no JSON there is as if it were not; nothing is written where nothing is new."""
    kept = KeptLessons(store, clock)
    lessons = await kept.read()
    lessons.learn("http://gpu", "old-8b", window_tokens=8192)
    lessons.learn("http://gpu", "old-8b", quirks=["tools"])
    await kept.aclose()
    await store.transaction(lambda repos: repos.lessons.keep("broken", "{", now=clock.wall()))
    again = await KeptLessons(store, clock).read()
    assert again.of("http://gpu", "old-8b") == {"window_tokens": 8192, "quirks": ["tools"]}
    assert again.of("http://gpu", "other") == {}
    clock.move(31 * 86_400)
    assert (await KeptLessons(store, clock).read()).of("http://gpu", "old-8b") == {}
