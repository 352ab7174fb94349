"""A model at home: a small window, no tools of its own, and a server that computes again whatever has changed."""

import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.campaigns.bench import aldis
from tests.flows.gates import Gate
from tests.servers.base import Seen
from tests.servers.model_hosts import ModelHost
from tests.servers.openai import OpenAIServer
from tests.servers.script import Heard, Scripted, broken, say
from tests.waiting import eventually, eventually_found, with_enough_time

QUESTIONS = (
    "What is the capital of France?",
    "Will it rain there tomorrow, and what is 3 miles in km?",
    "Remind me of it, and look for the news on prediction markets in the encyclopedia.",
    "Thanks!",
)


def _sent(body: Mapping[str, Any]) -> Sequence[Any]:
    """What the model reads, from the beginning."""
    return [body.get("tools"), *body["messages"]]


@pytest.mark.parametrize("has_tools", [False, True])
@pytest.mark.parametrize("window_tokens", [4096, 8192])
async def test_each_request_begins_with_the_one_before(tmp_path: Path, has_tools: bool, window_tokens: int) -> None:
    """Whatever is asked, so that a server has only the new words to read: llama.cpp read 40 tokens instead of 900."""

    def reply(_: Heard) -> Scripted:
        return say("So it is.")

    host = ModelHost("llama_cpp", window_tokens=window_tokens, tools=has_tools)
    async with OpenAIServer(local=True, models=("home",), host=host) as server:
        server.reply = reply
        given = {"OPENAI_BASE_URL": f"{server.url}/v1", "STORE__PATH": str(tmp_path / "aldis.db")}
        async with aldis.at_work(given) as pier:
            await eventually(lambda: len(server.looks) >= 5)
            await pier.ask("alice", "Hello!")
            for question in QUESTIONS:
                await pier.ask("alice", question)
        sent = [_sent(json.loads(seen.body)) for seen in server.requests][1:]
    assert len(sent) == len(QUESTIONS)
    for before, after in itertools.pairwise(sent):
        assert after[: len(before)] == before


async def test_what_a_slow_model_has_written_is_sent(tmp_path: Path) -> None:
    """With a mark where it was cut, when all of the turn's time is over; the conversation goes on from these words."""

    async def asked(seconds: float) -> str:
        folder = tmp_path / str(seconds)
        folder.mkdir()
        given = {
            "OPENAI_BASE_URL": f"{server.url}/v1",
            "STORE__PATH": str(folder / "aldis.db"),
            "WORKER__TURN_TIMEOUT_SECONDS": str(4 * seconds),
        }
        server.looks.clear()
        server.script.clear()
        async with aldis.at_work(given) as pier:
            await eventually(lambda: len(server.looks) >= 5)
            server.scripted(broken(say("Roses need water, and so do tulips."), "stall", events=5))
            answer = await pier.ask("alice", "What do roses need?")
            await pier.ask("alice", "Go on.")
        return answer

    host = ModelHost("llama_cpp", window_tokens=8192)
    async with OpenAIServer(local=True, models=("home",), host=host) as server:
        answer = await with_enough_time(asked, is_enough=lambda found: found.startswith("Roses need water"))
        said = server.requests[-1].json()["messages"]
    assert answer == "Roses need water, an\n\n… (cut off here: the language model took too long)"
    assert "Roses need water, an" in [message["content"] for message in said if message["role"] == "assistant"]


async def test_a_question_does_not_wait_for_a_summary(tmp_path: Path) -> None:
    """Which gives way at a server that may have one place only, and is made afterwards: nothing is forgotten."""

    def is_summary(seen: Seen) -> bool:
        return b"You sum up" in seen.body

    async with OpenAIServer(local=True, models=("home",), host=ModelHost("llama_cpp", window_tokens=32_768)) as server:
        given = {
            "OPENAI_BASE_URL": f"{server.url}/v1",
            "STORE__PATH": str(tmp_path / "aldis.db"),
            "HISTORY__MAX_TURNS": "2",
        }
        async with aldis.at_work(given) as pier:
            await eventually(lambda: len(server.looks) >= 5)
            await pier.ask("alice", "The roses are red.")
            await pier.ask("alice", "The violets are blue.")
            gate = Gate(server, say("Never said."))
            server.scripted(say("Noted."), gate)
            await pier.ask("alice", "The grass is green.")
            await gate.arrived()
            await pier.ask("alice", "What else is there?")
            server.scripted(say("They spoke of red roses."))
            await eventually(lambda: len([seen for seen in server.requests if is_summary(seen)]) == 2)
            await eventually(lambda: not server.script)
            await eventually_found(lambda: _is_remembered(pier, server))


async def _is_remembered(pier: aldis.Pier, server: OpenAIServer) -> bool:
    await pier.ask("alice", "And now?")
    return b"They spoke of red roses." in server.requests[-1].body
