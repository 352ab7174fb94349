"""A model at home: a small window, no tools of its own, and a server that computes again whatever has changed."""

import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.campaigns.bench import aldis
from tests.servers.model_hosts import ModelHost
from tests.servers.openai import OpenAIServer
from tests.servers.script import Heard, Scripted, say
from tests.waiting import eventually

QUESTIONS = (
    "What is the capital of France?",
    "Will it rain there tomorrow, and what is 3 miles in km?",
    "Remind me of it, and look for the news on prediction markets in the encyclopedia.",
    "Thanks!",
)


def _sent(body: Mapping[str, Any]) -> Sequence[Any]:
    """What the model reads, from the beginning."""
    return [body.get("tools"), *body["messages"]]


@pytest.mark.parametrize(("has_tools", "window_tokens"), [(False, 8192), (True, 4096)])
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
