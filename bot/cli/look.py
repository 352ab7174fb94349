"""The verbs that look and change nothing, `doctor` and `health`; and `link`, which shows a QR code until a
phone has scanned it and Aldis is a device of its account.

    wait for the bridge --> a code --scanned--> linked
                             ^   |-refused by the bridge--> its own message
                             '---'-it ran out, not scanned: a new one, up to MAX_LINK_CODES times

What a verb is asked for goes to standard output, everything else to standard error.
"""

import argparse
import asyncio
import json
import sys

import segno

from bot import app, logs
from bot.app import transports
from bot.clock import Clock
from bot.doctor import checkup
from bot.doctor.findings import format_findings, problem
from bot.doctor.models import fetch_json
from bot.errors import CallRefused, ConfigError, Disconnected
from bot.invocation import command_line, spell_commands
from bot.settings import Settings
from bot.signal.directory import UNNAMED
from bot.web.admin.account import link_states

_HOW = """\
In Signal on your phone: Settings, Linked devices, Link new device; scan this code. If it cannot be scanned, make a QR
code of the address below it. Waiting for the phone (Ctrl-C gives up) ..."""


def examine(given: Settings, options: argparse.Namespace) -> int:
    """`doctor`: prints every finding on a line; status 1 if one is a problem."""
    logs.set_up("ERROR", given.log.format)
    found = asyncio.run(checkup.examine(given, app.doctor_deps(given), Clock(), asks_models=options.model))
    try:
        app.check_settings(given)
    except ConfigError as error:
        how = "correct it: Aldis does not start with it"
        found = (*found, *(problem("settings", line, how) for line in str(error).splitlines()))
    print(format_findings(found, is_verbose=options.verbose))
    return int(any(finding.level == "problem" for finding in found))


def health(given: Settings, _: argparse.Namespace) -> int:
    """`health`: prints the health page of the running Aldis; status 0 if it says that all is well."""
    web = given.web
    if web.port == 0:
        raise ConfigError("the health page is turned off (WEB__PORT=0)")
    try:
        state = asyncio.run(fetch_json(f"http://{web.address}/healthz"))
    except Disconnected as error:
        print(f"aldis: no answer from the health page at {web.address}: {error}", file=sys.stderr)
        print(spell_commands("aldis: `aldis run` starts Aldis, `aldis doctor` says what is wrong"), file=sys.stderr)
        return 1
    print(json.dumps(state, indent=2))
    return 0 if state.get("ok") else 1


def link(given: Settings, _: argparse.Namespace) -> int:
    """`link`: makes Aldis a device of the account that scans the code; status 1 if none does, or it is refused."""
    logs.set_up("WARNING", given.log.format)
    try:
        account = asyncio.run(_linked(given))
    except CallRefused as refusal:
        print(f"aldis: not linked; the bridge says: {refusal}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        account = None
    if account is None:
        print("Not linked.", file=sys.stderr)
        return 1
    if account:
        print(f"Linked as a device of {account}. Start Aldis with: {command_line('run')}", file=sys.stderr)
    else:
        print(f"Linked. SIGNAL__ACCOUNT: {UNNAMED}", file=sys.stderr)
    return 0


async def _linked(given: Settings, **pause: float) -> str | None:
    """Shows codes until one is scanned; returns the account, see `Linking`, or None."""
    linking, accounts = await transports.linking_ready(given, transports.log_waits())
    if accounts:
        names = ", ".join(account.name or "one without a phone number" for account in accounts)
        print(f"The bridge already has an account: {names}.", file=sys.stderr)
    async for state in link_states(linking, **pause):
        if state.kind == "code":
            segno.make(state.uri).terminal(compact=True)
            print(state.uri, flush=True)  # otherwise a pipe would show the code only after the wait
            print(_HOW if state.number == 1 else "This is a new code; the previous one has expired.", file=sys.stderr)
        elif state.kind == "looking":
            print(f"{state.words}; trying again", file=sys.stderr)
        else:
            if state.words and not given.signal.account and any(one.name != state.words for one in accounts):
                print(f"The bridge has several accounts now: set SIGNAL__ACCOUNT={state.words}.", file=sys.stderr)
            return state.words
    return None
