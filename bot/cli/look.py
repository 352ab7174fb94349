"""The verbs that look and change nothing: `doctor`, `health` and `verify`."""

import argparse
import asyncio
import json
import sys

from bot import app, logs
from bot.clock import MachineClock
from bot.doctor import checkup
from bot.doctor.findings import exit_status, format_findings
from bot.doctor.servers import fetch_json
from bot.errors import ConfigError, Disconnected
from bot.features.attestation import NOTHING_PROVED, Attestation, is_word
from bot.i18n.catalogues import say
from bot.invocation import spell_commands
from bot.settings import Settings
from bot.version import build

_HEALTH_SECONDS = 5.0


def examine(given: Settings, options: argparse.Namespace) -> int:
    """`doctor`: prints every finding on a line; status 1 if one is a problem."""
    logs.set_up("ERROR", given.log.format)
    found = asyncio.run(checkup.examine(given, app.doctor_deps(given), MachineClock(), asks_models=options.model))
    print(format_findings(found, is_verbose=options.verbose))
    return exit_status(found)


def health(given: Settings, _: argparse.Namespace) -> int:
    """`health`: prints the health page of the running Aldis; status 0 if it says that all is well."""
    web = given.web
    if web.port == 0:
        print("aldis: the health page is turned off (WEB__PORT=0)", file=sys.stderr)
        return 2
    try:
        state = asyncio.run(fetch_json(f"http://{web.address}/healthz", seconds=_HEALTH_SECONDS))
    except Disconnected as error:
        print(f"aldis: no answer from the health page at {web.address}: {error}", file=sys.stderr)
        print(spell_commands("aldis: `aldis run` starts Aldis, `aldis doctor` says what is wrong"), file=sys.stderr)
        return 1
    print(json.dumps(state, indent=2))
    return 0 if state.get("ok") else 1


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
        print(say(NOTHING_PROVED, source=build()["source"]), file=sys.stderr)
        return 1
    try:
        evidence = asyncio.run(attestation.evidence(options.word))
    except Disconnected as error:
        print(f"aldis: nothing is proved: {error}", file=sys.stderr)
        return 1
    print(evidence.file.data.decode())
    print(evidence.text, file=sys.stderr)
    return 0
