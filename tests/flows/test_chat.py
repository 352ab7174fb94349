"""Aldis in the terminal, as a process: what stands where, what is there again, how it is stopped, and how it fails."""

import re
import signal
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import closing
from pathlib import Path

import pytest

from store import open_store
from tests.flows.consoles import seated
from tests.flows.gates import Gate
from tests.flows.processes import run_to_end, started
from tests.servers.anthropic import AnthropicServer
from tests.servers.base import answer_json, hang
from tests.servers.openai import OpenAIServer, error_body
from tests.servers.script import call, say
from tests.waiting import eventually

QUESTION = "What is 17*23?"
PROMPTED = "\x1b[?2004h"
"""What a terminal is told whenever the prompt begins to listen (bracketed paste)."""


@pytest.fixture
async def model() -> AsyncGenerator[OpenAIServer]:
    """A local model: of the two SDKs its own is loaded in half the time."""
    async with OpenAIServer(local=True) as server:
        yield server


def key_of(model: OpenAIServer) -> dict[str, str]:
    return {"OPENAI_BASE_URL": model.base_url, "OPENAI_API_KEY": model.key or "", "LLM__OPENAI__MODEL": "llama"}


def names_in(folder: Path) -> list[str]:
    return [file.name for file in folder.iterdir()]


async def test_without_a_key_a_sum_is_answered(tmp_path: Path) -> None:
    """The answer is all of standard output; on standard error stands a line for the tool call and nothing else."""
    ended = await run_to_end("chat", "--once", QUESTION, settings={}, folder=tmp_path)
    assert ended.status == 0
    assert ended.stdout == "17*23 = 391\n"
    assert ended.stderr == '· calculate {"expression": "17*23"}\n'


async def test_the_conversation_is_there_again(model: OpenAIServer, tmp_path: Path) -> None:
    """The next process remembers, also with another model; another conversation knows nothing.

    A key in the environment chooses its provider, and so does one in `.env`; -vv adds timings, tokens and cost.
    """
    async with AnthropicServer() as first:
        first.scripted(say("What a **fine** name."))
        key = {"ANTHROPIC_API_KEY": first.key or "", "LLM__ANTHROPIC__BASE_URL": first.url}
        told = await run_to_end("chat", "--once", "My cat is called Minka.", "-vv", settings=key, folder=tmp_path)
    assert (told.status, told.stdout) == (0, "What a fine name.\n")
    assert re.search(r"· anthropic \S+: 100 tokens in, 10 out, 0\.\d+ USD \(\d+\.\d\d s\)\n", told.stderr)
    assert first.refused == []

    model.scripted(say("Minka."), say("Which cat?"))
    (tmp_path / ".env").write_text("".join(f"{name}={value}\n" for name, value in key_of(model).items()))
    assert (
        await run_to_end("chat", "--once", "What is she called?", settings={}, folder=tmp_path)
    ).stdout == "Minka.\n"
    _, *remembered = model.requests[-1].json()["messages"]
    assert [message["role"] for message in remembered] == ["user", "assistant", "user"]
    assert "My cat is called Minka." in str(remembered[0])

    elsewhere = await run_to_end("chat", "--once", "My cat?", "--conversation", "work", settings={}, folder=tmp_path)
    assert elsewhere.stdout == "Which cat?\n"
    assert "Minka" not in model.requests[-1].body.decode()
    assert model.refused == []


async def test_a_model_that_fails_is_a_sentence_and_status_1(model: OpenAIServer, tmp_path: Path) -> None:
    """People are told what helps; what the service said, with the key and their words in it, is not repeated."""
    words = f"invalid key {model.key} for the request 'sesame'"
    model.faults.append(answer_json(error_body(words, code="invalid_api_key"), 401))
    ended = await run_to_end("chat", "--once", "sesame", "-vv", settings=key_of(model), folder=tmp_path)
    assert ended.status == 1
    assert "has stopped working" in ended.stdout
    assert "· openai did not answer (BadKey)" in ended.stderr
    assert "doctor` looks for what is wrong" in ended.stderr
    assert "sesame" not in ended.stdout + ended.stderr
    assert (model.key or "") not in ended.stdout + ended.stderr


async def test_what_goes_wrong_behind_the_prompt(tmp_path: Path) -> None:
    """The prompt comes before the store is opened; it is taken away again, and one line says what is wrong."""
    async with open_store(tmp_path / "aldis.db", realm="terminal"):
        pass
    with sqlite3.connect(tmp_path / "aldis.db") as connection:
        connection.execute("PRAGMA user_version = 4711")
    connection.close()
    async with seated("chat", settings={}, folder=tmp_path) as console:
        await console.out.until(PROMPTED)
        ended = await console.ended()
    assert ended.status == 2
    shown = ended.stdout.rpartition(PROMPTED)[2]
    assert re.search(r"\x1b\[\?2004l\r?\naldis: .*4711", shown)
    assert "Traceback" not in ended.stdout


async def test_ctrl_c_at_the_terminal(model: OpenAIServer, tmp_path: Path) -> None:
    """While the model thinks it stops the answer; at an empty prompt it leaves."""
    model.faults.append(hang)
    async with seated("chat", settings=key_of(model), folder=tmp_path) as console:
        await console.out.until(PROMPTED)
        console.type("Tell me the whole tale.\r")
        await eventually(lambda: model.requests)
        console.type("\x03")
        await console.out.until("Stopped.")
        await console.out.until(PROMPTED, 2)
        console.type("\x03")
        ended = await console.ended()
    assert ended.status == 0  # who sat there has seen it
    assert "Traceback" not in ended.stdout


async def test_an_answer_is_corrected_and_stopped_while_it_is_made(model: OpenAIServer, tmp_path: Path) -> None:
    """With -v the prompt stays: "no, it is" corrects what a tool found, and `/stop` and Ctrl-C stop the answer."""

    def is_taken() -> bool:
        with closing(sqlite3.connect(f"file:{tmp_path / 'aldis.db'}?mode=ro", uri=True)) as store:
            [(taken,)] = store.execute("SELECT count(*) FROM inbox WHERE urgent AND state = 'done'")
        return taken == 1

    wrong = Gate(model, say("It makes 391."))
    model.scripted(call("calculate", {"expression": "17*23"}), wrong, say("As you say."), hang, hang)
    async with seated("chat", "-v", settings=key_of(model), folder=tmp_path) as console:
        await console.out.until(PROMPTED)
        console.type(f"{QUESTION}\r")
        await wrong.arrived()
        console.type("No, it is 400.\r")
        await eventually(is_taken)
        wrong.opened.set()
        await console.out.until("As you say.")
        for number, stop in ((4, "never mind\x03"), (5, "/stop\r")):
            console.type("Tell me the whole tale.\r")
            await eventually(lambda number=number: len(model.requests) == number)
            console.type(stop)
            await console.out.until("Stopped.", number - 3)
        console.type("\x03")
        ended = await console.ended()
    assert (ended.status, "It makes" in ended.stdout, "Traceback" in ended.stdout) == (0, False, False)
    assert "No, it is 400." in model.requests[2].json()["messages"][-1]["content"]
    assert model.refused == []


async def test_a_terminal_that_knows_no_control_sequences(tmp_path: Path) -> None:
    """An editor's shell (`TERM=dumb`) would show them: it gets plain lines."""
    async with seated("chat", settings={"TERM": "dumb"}, folder=tmp_path) as console:
        console.type("What is 17*23?\n")
        await console.out.until("17*23 = 391")
        console.type("/quit\n")
        ended = await console.ended()
    assert (ended.status, "\x1b" in ended.stdout, "…" in ended.stdout) == (0, False, False)


async def test_ctrl_c_before_anything_is_imported(tmp_path: Path) -> None:
    """It ends the process as a shell expects it, without a traceback."""
    (tmp_path / "difflib.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    ended = await run_to_end("chat", "--once", "hi", settings={}, folder=tmp_path, is_warm=False)
    assert (ended.status, ended.stdout, ended.stderr) == (130, "", "")


async def test_killed_in_the_middle_and_answered_by_the_next_start(model: OpenAIServer, tmp_path: Path) -> None:
    """What a SIGKILL left behind is answered by whichever chat is started next, whatever conversation that is."""
    model.faults.append(hang)
    arguments = ("chat", "--once", "How deep is the well?", "--conversation", "garden")
    async with started(*arguments, settings=key_of(model), folder=tmp_path) as process:
        await eventually(lambda: model.requests)
        assert (await process.kill()).status == -signal.SIGKILL
    ended = await run_to_end("chat", "--once", "How high is the tower?", settings=key_of(model), folder=tmp_path)
    assert ended.status == 0
    assert ended.stdout.count("How deep is the well?\n") == 1
    assert ended.stdout.count("How high is the tower?\n") == 1
    assert "· an answer in the conversation garden:" in ended.stderr
    assert len(model.requests) == 3
