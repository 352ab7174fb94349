"""The verb `health`: the state of the running Aldis, from its health page."""

import argparse
import asyncio
import json
import sys

from bot.doctor.http import fetch_json
from bot.errors import Disconnected
from bot.invocation import spell_commands
from bot.settings import Settings

_HEALTH_SECONDS = 5.0


def health(given: Settings, _: argparse.Namespace) -> int:
    """`health`: prints the page; status 0 if it says that all is well."""
    web = given.web
    if web.port == 0:
        print("aldis: the health page is turned off (WEB__PORT=0)", file=sys.stderr)
        return 2
    try:
        state, _date = asyncio.run(fetch_json(f"http://{web.address}/healthz", seconds=_HEALTH_SECONDS))
    except Disconnected as error:
        print(f"aldis: no answer from the health page at {web.address}: {error}", file=sys.stderr)
        print(spell_commands("aldis: `aldis run` starts Aldis, `aldis doctor` says what is wrong"), file=sys.stderr)
        return 1
    print(json.dumps(state, indent=2))
    return 0 if state.get("ok") else 1
