"""Proof of which Aldis runs here: a quote of its machine, made for a person's word and for Aldis's source.

    word --> "aldis-attestation-1", digest of the source, word --SHA-512--> report data --> quote --> a file to check

The person makes up a new word each time, so that no older quote can be passed off as the answer. They check the file on
a machine that they trust: docs/attestation.md explains how, and what remains unproved.
"""

import asyncio
import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path

from bot.events import File
from bot.features.attestation import phrases
from bot.features.attestation.guest_agent import QUOTE_SECONDS, GuestAgent
from bot.version import source_digest

FORMAT = "aldis-attestation-1"
FILE_NAME = "aldis-attestation.json"

_WORD = re.compile(r"[A-Za-z0-9._-]{8,100}")


@dataclass(frozen=True, kw_only=True, slots=True)
class QuoteFile:
    """A quote with what belongs to it, and what it is, in the current language."""

    file: File
    text: str
    """What the file holds and proves, in three lines."""


class Attestation:
    """The proof of this Aldis: the guest agent behind this socket, if there is one."""

    def __init__(self, socket: Path, *, quote_seconds: float = QUOTE_SECONDS) -> None:
        self._agent = GuestAgent(socket, quote_seconds=quote_seconds)

    def is_possible(self) -> bool:
        """Whether there is a guest agent; outside a TEE nothing vouches for Aldis."""
        return self._agent.is_here()

    async def evidence(self, word: str) -> QuoteFile:
        """Returns a quote for this word, which must pass `is_word`.

        Raises:
            Disconnected: the guest agent gives none.
        """
        source = await asyncio.to_thread(source_digest)
        found = await self._agent.quote(report_data(source, word))
        compose = {} if found.app_compose is None else {"app_compose": found.app_compose}
        shown = {
            "format": FORMAT,
            "word": word,
            "source": source,
            "report_data": report_data(source, word).hex(),
            "quote": found.quote,
            "event_log": found.event_log,
            "vm_config": found.vm_config,
            "compose_hash": found.compose_digest,
            **compose,
        }
        data = json.dumps(shown, indent=1, ensure_ascii=False).encode()
        text = phrases.quote_lines(word, source, found.compose_digest, has_compose=bool(compose))
        return QuoteFile(file=File(name=FILE_NAME, content_type="application/json", data=data), text=text)


def is_word(given: str) -> bool:
    """Whether a quote can be made for it: only characters that no keyboard changes, and long enough to be new."""
    return _WORD.fullmatch(given) is not None


def report_data(source: str, word: str) -> bytes:
    """The 64 bytes in the quote."""
    return hashlib.sha512(f"{FORMAT}\n{source}\n{word}".encode()).digest()
