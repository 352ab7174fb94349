"""The verbs that look and change nothing: `doctor`, `health`, `tools` and `verify`."""

import argparse
import asyncio
import json
import sys
import textwrap
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import replace

from bot import app, logs
from bot.clock import MachineClock
from bot.doctor import checkup
from bot.doctor.findings import exit_status, format_findings
from bot.doctor.http import fetch_json
from bot.doctor.tools import ToolGroup, inventory
from bot.errors import ConfigError, Disconnected
from bot.features.attestation import phrases
from bot.features.attestation.service import Attestation, is_word
from bot.i18n.catalogues import say
from bot.invocation import spell_commands
from bot.logs import one_line
from bot.settings import Settings
from bot.version import build
from tools import CATALOG, ToolSpec

WIDTH = 100
"""Columns of the list of tools."""
_HEALTH_SECONDS = 5.0
_ROW = "{:<18} {:<7} {:<8} {:<10} {:<13} {}"
_HEAD = _ROW.format("tool", "state", "cost USD", "effects", "asks first", "who sees what is asked")
_ASKS = "Asks first: in a conversation, before it runs; after reading: where it has read what strangers wrote."


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


def tools(given: Settings, _: argparse.Namespace) -> int:
    """`tools`: lists every tool with its state, cost, effects and who sees what is asked."""
    logs.set_up("ERROR", given.log.format)
    lines = [line for group in asyncio.run(_groups(given)) for line in _lines(given, group)]
    print("\n".join([_HEAD, *lines, "", *textwrap.wrap(_ASKS, WIDTH)]))
    return 0


async def _groups(given: Settings) -> list[ToolGroup]:
    """All groups, with the tools that are known only at run time; their sources are started and ended."""
    found: list[ToolGroup] = []
    async with app.standalone_deps(given.tools.contact) as around, AsyncExitStack() as stack:
        groups = inventory(given, around)
        taken = {tool.spec.name for group in groups for tool in group.tools}
        for group in groups:
            entry = CATALOG.get(group.name)
            if entry is None or entry.source is None or group.state != "on":
                found.append(group)
                continue
            source = entry.source(given.tools.options_by_name[group.name], taken)
            stack.push_async_callback(source.aclose)
            tools = tuple(await source.tools())
            missing = {name: f"it gives no tools at the moment ({why})" for name, why in source.absent.items()}
            missing |= {
                name: f"tools that cannot be offered: {', '.join(unfit)}" for name, unfit in source.unfit.items()
            }
            found += [replace(group, tools=tools)] if tools or not source.absent else []
            found += [ToolGroup(name=name, state="failed", origin=group.name, why=why) for name, why in missing.items()]
    return found


def _lines(given: Settings, group: ToolGroup) -> Iterator[str]:
    """The tools of a group as lines, and below them what is to be said of all."""
    seen = "it does not tell" if group.seen_by is None else ", ".join(group.seen_by) or "nobody"
    for spec in [tool.spec for tool in group.tools] or [None]:
        cells = (group.name, group.state, "", "", "", "")
        if spec is not None:
            cost = f"{spec.cost_usd:f}" if spec.cost_usd else "free"
            cells = (spec.name, group.state, cost, spec.effects, _asks_first(given, spec), seen)
        row = one_line(_ROW.format(*cells)).rstrip()
        yield from textwrap.wrap(row, WIDTH, subsequent_indent=" " * 61, drop_whitespace=True) or [""]
    for text in (f"of {group.origin}" if group.origin else "", group.why, group.remedy):
        indent = " " * 19
        yield from textwrap.wrap(one_line(text), WIDTH, initial_indent=f"{indent}-> ", subsequent_indent=f"{indent}   ")


def _asks_first(given: Settings, spec: ToolSpec) -> str:
    if spec.approval in {"always", "unless_named"} or spec.name in given.tools.approve:
        return "always"
    return "never" if spec.effects == "none" else "after reading"
