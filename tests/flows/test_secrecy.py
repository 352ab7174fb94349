"""What people write, who they are and the keys stand in no log, on no page and in no file, whatever goes wrong.

Canaries are put wherever words, names, numbers and keys come in (`tests.flows.indiscreet`). Aldis runs with its log at
DEBUG; then everything that it has written is searched for each of them, in every form (`tests.flows.canaries`).
"""

import base64
import re
import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from store import open_store
from tests.flows.canaries import Canaries, files_in, forms
from tests.flows.indiscreet import AT_ONCE, MASTER_KEY, STORIES, World
from tests.flows.processes import Ended, run_to_end, started
from tests.servers import anthropic, openai
from tests.servers.anthropic import AnthropicServer
from tests.servers.base import answer_json
from tests.servers.open_meteo import OpenMeteo
from tests.servers.openai import OpenAIServer
from tests.servers.script import call, say
from tests.servers.searches import Brave
from tests.servers.signal_cli import SignalCli
from tests.servers.signal_rest_api import SignalRestApi
from tests.servers.signal_server import SignalServer

LOG_LINE = re.compile(r'\d{4}-\d\d-\d\dT[0-9:]+Z [A-Z]+ |\{"at":|Traceback|  File |aldis: ')

VERBS = (("health",), ("doctor", "--verbose"), ("settings",))
"""What an operator asks of one that runs; the last two name whom the operator has entered, and the account."""
ENTERED = ("the number of ", "the uuid of ", "the group's id")


@pytest.fixture(params=["signal-cli", "rest-api"])
async def world(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[World]:
    async with AsyncExitStack() as stack:
        signal: SignalServer = SignalCli() if request.param == "signal-cli" else SignalRestApi()
        yield World(
            signal=await stack.enter_async_context(signal),
            model=await stack.enter_async_context(AnthropicServer()),
            spare=await stack.enter_async_context(OpenAIServer(local=True)),
            search=await stack.enter_async_context(Brave()),
            weather=await stack.enter_async_context(OpenMeteo()),
            folder=tmp_path,
        )


def said_by(ended: Ended) -> str:
    return ended.stdout + ended.stderr


@pytest.mark.parametrize(("world", "form"), [("signal-cli", "text"), ("rest-api", "json")], indirect=["world"])
async def test_a_day_with_everything_in_it(world: World, form: str) -> None:
    """Not in the log at DEBUG, not on the pages, not from the verb that asks for them, not in any file of the store."""
    settings = world.settings | {"LOG__FORMAT": form}
    async with started("run", settings=settings, folder=world.folder) as process:
        await world.signal.connected()
        for story in STORIES:
            await story(world)
        pages = [await world.page(path) for path in ("/healthz", "/metrics")]
        verbs = [await run_to_end(*verb, settings=settings, folder=world.folder) for verb in VERBS]
        assert {path.suffix for path in files_in(world.folder)} >= {".db", ".db-wal", ".db-keys"}
        running = world.canaries.found_beneath(world.folder)
        ended = await process.terminate()
    assert ended.status == 0
    assert '"counts"' in pages[0]
    assert ("DEBUG" if form == "text" else '"debug"') in ended.stderr
    assert "\n" in said_by(verbs[1])
    told = {verb[0]: said_by(one) for verb, one in zip(VERBS, verbs, strict=True)}
    entered = "".join(told.pop(verb) for verb in ("doctor", "settings"))
    assert [name for name in world.canaries.found_in(entered) if not name.startswith(ENTERED)] == []
    assert world.leaks({"log": said_by(ended), "pages": "".join(pages), **told}, running) == {}
    async with open_store(world.folder / "aldis.db", realm="signal", key=bytes.fromhex(MASTER_KEY)) as store:
        [(rows,)] = await store.read(lambda repos: repos.history.rows("SELECT count(*) FROM history"))
    assert rows > 10


@pytest.mark.parametrize("world", ["signal-cli"], indirect=True)
async def test_a_chat_shows_words_to_whoever_sits_there_and_logs_none(world: World) -> None:
    """The answer on standard output, the steps on standard error; nothing of it in a line of the log or in the store.

    The same search finds what may be seen, so it would find the rest.
    """
    new = world.canaries.word
    quoted = f"{world.said('an error')} {world.model.key}"
    world.model.scripted(
        call("calculate", {"expression": f"1 + {new('an expression')}"}) + call(new("no tool"), {}),
        say(new("the answer")),
    )
    world.model.faults.append(answer_json(anthropic.error_body("overloaded_error", quoted), 529, AT_ONCE))
    world.spare.faults.append(answer_json(openai.error_body(quoted, code=quoted), 401))
    settings = {name: value for name, value in world.settings.items() if name != "STORE__KEY"}
    ended = await run_to_end("chat", "--once", world.said("a question"), "-vv", settings=settings, folder=world.folder)
    logged = "".join(line for line in ended.stderr.splitlines(keepends=True) if LOG_LINE.match(line))
    assert "did not answer" in logged
    assert world.canaries.found_in(ended.stdout) == ["the answer"]
    assert "an expression" in world.canaries.found_in(ended.stderr)
    assert not [name for name in world.canaries.found_in(said_by(ended)) if "key" in name]
    assert world.leaks({"log": logged}) == {}
    [file] = [path for path in files_in(world.folder) if path.name.endswith("-master-key")]
    made = file.read_text("ascii")
    assert re.fullmatch(r"[0-9a-f]{64}\n", made)
    looked_for = Canaries(known={"made": made.strip(), "bytes": bytes.fromhex(made).decode("latin-1")})
    assert looked_for.found_beneath(world.folder).keys() == {file.name}


@pytest.mark.parametrize(("text", "before"), [("quitte1zaun", b"x"), ("\xc0\xff\xee\x00\x01\x02\x03\x04", b"xy")])
def test_the_search_finds_every_form(text: str, before: bytes) -> None:
    """Letters of both sizes, UTF-8 and UTF-16, hex, base64 at any place in a longer text, escapes of JSON."""
    canaries = Canaries(known={"it": text})
    data = text.encode("latin-1")
    written = [data, data.hex().encode(), data.hex().upper().encode(), base64.b64encode(before + data + b"tail")]
    if text.isascii():
        escaped = "".join(f"\\u{ord(letter):04x}" for letter in text).encode()
        written += [text.upper().encode(), text.encode("utf-16"), text.upper().encode("utf-16-le"), escaped]
    assert [canaries.found_in(b"\xff\x00{" + before + form + b"}\x00\xff") for form in written] == [["it"]] * len(
        written
    )
    assert canaries.found_in(b"\xff".join(form[1:] for form in forms("something else"))) == []


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is a folder of Linux")
async def test_nobody_gets_at_the_memory(tmp_path: Path) -> None:
    """No core dump, whatever the shell allowed; and other processes of the same user may not look into it."""
    async with (
        SignalCli() as signal,
        started("run", settings={"SIGNAL__URL": signal.url}, folder=tmp_path, is_warm=False) as process,
    ):
        await signal.connected()
        place = Path(f"/proc/{process.process_id}")
        limits = (place / "limits").read_text()
        assert re.search(r"Max core file size +0 +0 ", limits)
        # The files of a process that may not be traced are root's; of those that root runs they are anyway.
        assert (place / "environ").stat().st_uid == 0
