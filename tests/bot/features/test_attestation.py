"""What vouches for Aldis: the file that people get passes the check that the docs print, and nothing else does."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bot.clock import SetClock
from bot.errors import Disconnected
from bot.features import attestation
from bot.features.attestation import AttestationCommands, report_data
from bot.i18n.catalogues import say
from bot.version import build, source_digest
from store import Store
from tests.bot.commands.test_commands import ask
from tests.bot.loops.app_harness import app_harness
from tests.servers.base import answer_json
from tests.servers.dstack import GuestAgent

CHECK = Path(__file__).parents[3] / "docs" / "check_attestation.py"
WORD = "violet-2718-otter"


@pytest.fixture
def socket(tmp_path: Path) -> Path:
    return tmp_path / "dstack.sock"


def checked(data: bytes, folder: Path, word: str = WORD) -> tuple[int, str]:
    (folder / "given.json").write_bytes(data)
    command = [sys.executable, "-I", str(CHECK), "given.json", word]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, (done.stdout or done.stderr).strip()


async def test_the_file_passes_the_check_of_the_docs(socket: Path, tmp_path: Path) -> None:
    """With either kind of event; what an application adds to the log later takes no compose file's place."""
    for version in (1, 2):
        async with GuestAgent(socket=socket, version=version, later=(("compose-hash", "ab" * 32),)) as agent:
            _, evidence = await attestation.evidence(socket, WORD)
        expected = f"source  {source_digest()}\ncompose {agent.compose_digest}"
        assert checked(evidence.data, tmp_path) == (0, expected)
        assert agent.requests[0].json() == {"report_data": report_data(source_digest(), WORD).hex()}
        assert [seen.path for seen in agent.requests] == ["/GetQuote"]  # and no key


async def test_the_check_of_the_docs_finds_what_was_changed(socket: Path, tmp_path: Path) -> None:
    """And that a file was made for somebody else's word."""
    async with GuestAgent(socket=socket):
        _, evidence = await attestation.evidence(socket, WORD)
    for change, words in (
        ({"source": "0" * 64}, "another word or source"),
        ({"event_log": "[]"}, "the event log is not"),
        ({"quote": "05" + "00" * 700}, "no quote of version 4"),
    ):
        status, said = checked(json.dumps(json.loads(evidence.data) | change).encode(), tmp_path)
        assert (status, words in said) == (1, True), said
    assert checked(evidence.data, tmp_path, "another-word")[1].endswith("another word or source")


async def test_an_agent_that_gives_no_quote(socket: Path) -> None:
    """Is said to give none; nothing of it is handed on."""
    for fault, words in (
        (answer_json({"quote": "04"}), "something else than a quote"),
        (answer_json(["04"]), "something else than a quote"),
        (answer_json({"error": "quote generation failed"}, 400), "does not answer"),
    ):
        async with GuestAgent(socket=socket, faults=[fault]):
            with pytest.raises(Disconnected, match=words):
                await attestation.evidence(socket, WORD)


async def test_in_the_chat(store: Store, clock: SetClock, socket: Path) -> None:
    """Outside a TEE one line, inside the file with two; without a word it says how, and failing it says so."""
    async with app_harness(store, clock, commands=lambda desk: [AttestationCommands(desk, socket)]) as aldis:
        for said in ("/verify", f"/verify {WORD}"):
            text = await ask(aldis, said)
            assert text == say(attestation.NOTHING_PROVED, source=build()["source"]).replace("`", "")
            assert (aldis.transport.sent[-1].files, "\n" in text) == ((), False)
        async with GuestAgent(socket=socket, faults=[]) as agent:
            assert (await ask(aldis, "/verify")).startswith("Send /verify and a word")
            assert agent.requests == []
            text = await ask(aldis, f"/verify {WORD}")
            assert len(aldis.transport.sent[-1].files) == 1
            assert (len(text.splitlines()), WORD in text) == (2, True)
            agent.faults.append(answer_json({"error": "no"}, 400))
            assert (await ask(aldis, f"/verify {WORD}")).startswith("Nothing is proved: the hardware")
