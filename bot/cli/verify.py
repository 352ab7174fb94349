"""The verb `verify`: proof of which Aldis runs on this machine. The quote goes to standard output, text to standard
error.
"""

import argparse
import asyncio
import sys

from bot import logs
from bot.errors import ConfigError, Disconnected
from bot.features.attestation import phrases
from bot.features.attestation.service import Attestation, is_word
from bot.i18n.catalogues import say
from bot.settings import Settings
from bot.version import build


def verify(given: Settings, options: argparse.Namespace) -> int:
    """`verify WORD`: prints a quote for this word as JSON; status 1 if nothing vouches for Aldis.

    Raises:
        ConfigError: no quote can be made for such a word.
    """
    if not is_word(options.word):
        raise ConfigError("verify: a word has 8 to 100 letters without accents, digits, dots, - or _")
    logs.set_up("ERROR", given.log.format)
    attestation = Attestation(given.attestation.socket)
    if not attestation.is_possible():
        print(say(phrases.NOTHING_PROVED, source=build()["source"]), file=sys.stderr)
        return 1
    try:
        evidence = asyncio.run(attestation.evidence(options.word))
    except Disconnected as error:
        print(f"aldis: nothing is proved: {error}", file=sys.stderr)
        return 1
    print(evidence.file.data.decode())
    print(evidence.text, file=sys.stderr)
    return 0
