"""Everything inside: the doctor finds nothing wrong with an Aldis set as docker/compose.private.yaml sets it."""

import re
from pathlib import Path
from urllib.parse import urlsplit

import yaml

from tests.flows.processes import REPOSITORY, run_to_end
from tests.servers.envelopes import ALICE
from tests.servers.openai import OpenAIServer
from tests.servers.openai_audio import OpenAIAudio
from tests.servers.searches import SearXNG
from tests.servers.signal_cli import SignalCli

FILE = REPOSITORY / "docker" / "compose.private.yaml"


async def test_the_doctor_is_green(tmp_path: Path) -> None:
    """Model, search and speech are found where the file says, and nothing else is asked."""
    given: dict[str, str] = yaml.safe_load(FILE.read_text(encoding="utf-8"))["services"]["aldis"]["environment"]
    given = {name: re.sub(r"\$\{\w+:-(.*)\}", r"\1", value) for name, value in given.items()}
    model, speech = given["LLM__OPENAI__MODEL"], given["AUDIO__MODEL"]
    async with (
        SignalCli() as signal,
        OpenAIServer(local=True, models=(model,)) as ollama,
        SearXNG() as searxng,
        OpenAIAudio(key=None, models=(speech,)) as audio,
    ):
        inside = {"ollama": ollama.url, "searxng": searxng.url, "speech": audio.url}
        there = {
            name: inside[host] + urlsplit(value).path if (host := urlsplit(value).hostname) else value
            for name, value in given.items()
        }
        settings = {**there, "SIGNAL__URL": signal.url, "ACCESS__ALLOWED": ALICE.uuid, "WEB__PORT": "0"}
        found = await run_to_end("doctor", settings=settings, folder=tmp_path)
        assert (found.status, "problem" in found.stdout) == (0, False), found.stdout
        assert all((ollama.looks, searxng.requests, audio.requests))
