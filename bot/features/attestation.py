"""Proof of which Aldis runs here: a quote of its machine, made for a person's word and for Aldis's source.

    word --> "aldis-attestation-1", digest of the source, word --SHA-512--> report data --> quote --> a file to check

The person makes up a new word each time, so that no older quote can be passed off as the answer. They check the file on
a machine that they trust; nothing is checked here. docs/operating.md explains how, and what remains unproved.

The quote comes from the guest agent of dstack: JSON over HTTP on a Unix socket. The same socket also hands out the
application's keys; this module never asks for one.

Source: Dstack-TEE/dstack at 312dc60 (2026-08-07): `dstack/guest-agent/rpc/proto/agent_rpc.proto`, `src/rpc_service.rs`,
`sdk/curl/api.md`.
"""

import asyncio
import hashlib
import json
import logging
import re
from dataclasses import dataclass
from pathlib import Path

import httpx

from bot.commands.base import Answer, Call, CommandGroup, command
from bot.errors import Disconnected
from bot.events import File
from bot.i18n.catalogues import Sentence, say
from bot.version import build, source_digest

ABOUT_VERIFY = Sentence("ABOUT_VERIFY", "shows what proves which Aldis runs here.")
NOTHING_PROVED = Sentence(
    "NOTHING_PROVED",
    "I can't prove what runs here: this machine has no hardware for that. The digest of my source is `{source}`.",
)
VERIFY_HOW = Sentence(
    "VERIFY_HOW",
    "Send `/verify` and a word of your own that nobody could have foreseen: 8 to 100 letters without accents, "
    "digits, dots, `-` or `_`.",
)
VERIFY_FAILED = Sentence(
    "VERIFY_FAILED",
    "Nothing is proved: the hardware that should vouch for me gave no quote. Try again later, or tell the person who"
    " runs me.",
)
_QUOTED = Sentence(
    "QUOTED", "The file holds an Intel TDX quote for your word `{word}` and for the digest of my source, `{source}`."
)
_TO_BE_CHECKED = Sentence(
    "TO_BE_CHECKED",
    "It proves nothing until you have checked it, and nothing about the model's vendor, Signal's servers or my "
    "settings: docs/operating.md in my source says how, and what.",
)


FORMAT = "aldis-attestation-1"
FILE_NAME = "aldis-attestation.json"

_QUOTE_SECONDS = 20.0
"""A quote takes a second or two."""
_WORD = re.compile(r"[A-Za-z0-9._-]{8,100}")
"""Only characters that no keyboard changes, and long enough to be new."""

_log = logging.getLogger(__name__)


async def evidence(socket: Path, word: str) -> tuple[str, File]:
    """Returns what a quote for this word is, in two lines, and the file with it from the guest agent at this socket.

    Raises:
        Disconnected: the agent does not answer, or answers with anything but a quote.
    """
    source = await asyncio.to_thread(source_digest)
    made_for = report_data(source, word).hex()
    agent = httpx.AsyncHTTPTransport(uds=str(socket))
    try:
        async with (
            asyncio.timeout(_QUOTE_SECONDS),
            httpx.AsyncClient(transport=agent, base_url="http://dstack", timeout=_QUOTE_SECONDS) as client,
        ):
            found = (await client.post("/GetQuote", json={"report_data": made_for})).raise_for_status().json()
        measured = {name: found[name] for name in ("quote", "event_log", "vm_config")}
    except TimeoutError as error:
        raise Disconnected("the guest agent does not answer in time") from error
    except (httpx.HTTPError, OSError) as error:
        raise Disconnected(f"the guest agent does not answer: {type(error).__name__}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise Disconnected("the guest agent answers with something else than a quote") from error
    shown = {"format": FORMAT, "word": word, "source": source, "report_data": made_for, **measured}
    data = json.dumps(shown, indent=1, ensure_ascii=False).encode()
    text = f"{say(_QUOTED, word=word, source=source)}\n{say(_TO_BE_CHECKED)}"
    return text, File(name=FILE_NAME, content_type="application/json", data=data)


def report_data(source: str, word: str) -> bytes:
    """The 64 bytes in the quote."""
    return hashlib.sha512(f"{FORMAT}\n{source}\n{word}".encode()).digest()


@dataclass
class AttestationCommands(CommandGroup):
    """The command that asks for proof, for everybody; without a guest agent at the socket nothing vouches for Aldis."""

    socket: Path = Path("/var/run/dstack.sock")

    @command("/verify [WORD]", ABOUT_VERIFY, section="data", examples=("/verify violet-2718-otter",))
    async def _run(self, call: Call) -> Answer | None:
        """Gives a quote of the machine for this word if Aldis runs in a TEE; elsewhere it says that nothing is proved
        ([how to check it](operating.md#proving-which-aldis-runs)).
        """
        if not self.socket.is_socket():
            source = (await asyncio.to_thread(build))["source"]
            return say(NOTHING_PROVED, source=source)
        if _WORD.fullmatch(call.command.rest) is None:
            return VERIFY_HOW
        try:
            text, file = await evidence(self.socket, call.command.rest)
        except Disconnected as error:
            _log.warning("no quote: %s", error)
            return VERIFY_FAILED
        await self.context.answer(call, text, files=(file,))
        return None
