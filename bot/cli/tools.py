"""The operator's verbs for tools: `tools` lists them all, `tools call` runs one by hand with the real settings.

Aldis does not have to run for this, and no store is opened: there is no conversation behind a call, and its cost does
not reach the ledger.
"""

import argparse
import asyncio
import difflib
import json
import sys
import textwrap
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any, cast

from bot import app, logs
from bot.chat.journal import ToolRun
from bot.doctor.tools import ToolGroup, inventory
from bot.errors import ConfigError
from bot.events import TERMINAL_PERSON
from bot.labels import Labels
from bot.logs import one_line
from bot.messages import CallId, ToolCall
from bot.settings import Settings
from tools import CATALOG, BadArguments, CatalogEntry, Tool, ToolSource, ToolSpec

WIDTH = 100
"""Columns of the list."""
_ROW = "{:<18} {:<7} {:<8} {:<10} {:<13} {}"
_HEAD = _ROW.format("tool", "state", "cost USD", "effects", "asks first", "who sees what is asked")
_ASKS = "Asks first: in a conversation, before it runs; after reading: where it has read what strangers wrote."


def show(given: Settings, options: argparse.Namespace) -> int:
    """`tools`: lists every tool with its state, cost, effects and who sees what is asked; as JSON if asked for."""
    logs.set_up("ERROR", given.log.format)
    groups = asyncio.run(_groups(given))
    if options.json:
        rows = [_row(given, group, spec) for group in groups for spec in _specs(group)]
        print(json.dumps(rows, indent=2))
    else:
        lines = [line for group in groups for line in _lines(given, group)]
        print("\n".join([_HEAD, *lines, "", *textwrap.wrap(_ASKS, WIDTH)]))
    return 0


def call(given: Settings, options: argparse.Namespace) -> int:
    """`tools call NAME ARGUMENTS`: prints the result as JSON; status 1 if the tool fails.

    Raises:
        ConfigError: there is no such tool, it cannot be called like this, or nobody agreed to what it does.
    """
    logs.set_up("WARNING", given.log.format)
    return asyncio.run(_called(given, options))


async def _groups(given: Settings) -> list[ToolGroup]:
    async with app.standalone_deps(given.tools.contact) as around, _running(given, inventory(given, around)) as groups:
        return [*groups]


def _specs(group: ToolGroup) -> Sequence[ToolSpec | None]:
    """The tools of a group; None stands for one of which no tool can be built."""
    return [tool.spec for tool in group.tools] or [None]


def _row(given: Settings, group: ToolGroup, spec: ToolSpec | None) -> Mapping[str, object]:
    """Everything that is known about a tool."""
    return {
        "tool": spec.name if spec else None,
        "group": group.name,
        "from": group.origin or "aldis",
        "state": group.state,
        "cost_usd": str(spec.cost_usd) if spec else None,
        "effects": spec.effects if spec else None,
        "asks_first": _asks_first(given, spec) if spec else None,
        "seen_by": None if group.seen_by is None else list(group.seen_by),
        "advice": group.advice,
        "why": group.why,
    }


def _asks_first(given: Settings, spec: ToolSpec) -> str:
    if spec.approval in {"always", "unless_named"} or spec.name in given.tools.approve:
        return "always"
    return "never" if spec.effects == "none" else "after reading"


def _lines(given: Settings, group: ToolGroup) -> Iterator[str]:
    """The tools of a group as lines, and below them what is to be said of all."""
    seen = "it does not tell" if group.seen_by is None else ", ".join(group.seen_by) or "nobody"
    for spec in _specs(group):
        cells = (group.name, group.state, "", "", "", "")
        if spec is not None:
            cost = f"{spec.cost_usd:f}" if spec.cost_usd else "free"
            cells = (spec.name, group.state, cost, spec.effects, _asks_first(given, spec), seen)
        row = one_line(_ROW.format(*cells)).rstrip()
        yield from textwrap.wrap(row, WIDTH, subsequent_indent=" " * 61, drop_whitespace=True) or [""]
    for text in (f"of {group.origin}" if group.origin else "", group.why, group.remedy):
        indent = " " * 19
        yield from textwrap.wrap(one_line(text), WIDTH, initial_indent=f"{indent}-> ", subsequent_indent=f"{indent}   ")


@asynccontextmanager
async def _running(
    given: Settings, groups: Sequence[ToolGroup], catalog: Mapping[str, CatalogEntry] = CATALOG
) -> AsyncGenerator[Sequence[ToolGroup]]:
    """Yields the groups with the tools that are known only at run time; their sources run while the block does."""
    taken = {tool.spec.name for group in groups for tool in group.tools}
    async with AsyncExitStack() as stack:
        whole: list[ToolGroup] = []
        for group in groups:
            entry = catalog.get(group.name)
            if entry is None or entry.source is None or group.state != "on":
                whole.append(group)
                continue
            source = entry.source(given.tools.options_by_name[group.name], taken)
            stack.push_async_callback(source.aclose)
            whole += _of_source(group, await source.tools(), source)
        yield whole


def _of_source(group: ToolGroup, tools: Sequence[Tool], source: ToolSource) -> Iterator[ToolGroup]:
    if tools or not source.absent:
        yield replace(group, tools=tuple(tools))
    for name, why in source.absent.items():
        yield ToolGroup(name=name, state="failed", origin=group.name, why=f"it gives no tools at the moment ({why})")
    for name, unfit in source.unfit.items():
        why = f"tools that cannot be offered: {', '.join(unfit)}"
        yield ToolGroup(name=name, state="failed", origin=group.name, why=why)


async def _called(given: Settings, options: argparse.Namespace) -> int:
    async with app.standalone_deps(given.tools.contact) as around, AsyncExitStack() as stack:
        groups: Sequence[ToolGroup] = inventory(given, around)
        if not any(options.name == tool.spec.name for group in groups for tool in group.tools):
            groups = await stack.enter_async_context(_running(given, groups))
        tool = _named(options.name, groups)
        wanted = ToolCall(id=CallId("by-hand"), name=options.name, arguments=_arguments(tool.spec, options.arguments))
        toolbox = app.toolbox(given, (tool,))
        wanted = toolbox.understood(wanted)
        asks = tool.spec.effects == "once" or toolbox.approval(wanted, Labels(), TERMINAL_PERSON, "") is not None
        if asks and not (options.yes or _agreed(tool.spec)):
            return 1
        run = await toolbox.run(wanted, TERMINAL_PERSON)
    return _told(tool.spec, run)


def _named(name: str, groups: Sequence[ToolGroup]) -> Tool:
    """The tool of that name, if it is on."""
    for group in groups:
        tool = next((tool for tool in group.tools if tool.spec.name == name), None)
        if tool is not None and group.state == "on":
            return tool
        if tool is not None or (name == group.name and group.state != "on"):
            raise ConfigError(f"tools: {name} is {group.state}: {group.why or group.remedy}")
    names = [tool.spec.name for group in groups if group.state == "on" for tool in group.tools]
    meant = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {meant[0]}?" if meant else f"there are {', '.join(names) or 'none'}"
    raise ConfigError(f"tools: there is no tool {one_line(name)!r}; {hint}")


def _arguments(spec: ToolSpec, text: str) -> Mapping[str, object]:
    try:
        arguments = json.loads(text)
    except (ValueError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict):
        raise ConfigError(f"tools: the arguments must be a JSON object; {_allowed(spec)}")
    return cast("dict[str, object]", arguments)


def _allowed(spec: ToolSpec) -> str:
    """The arguments that the tool takes, for somebody who gave others."""
    names: Mapping[str, Any] = spec.parameters.get("properties", {})
    required: Sequence[str] = spec.parameters.get("required", ())
    told = ", ".join(f"{name} (needed)" if name in required else name for name in names)
    return f"{spec.name} takes {told or 'no arguments'}"


def _agreed(spec: ToolSpec) -> bool:
    """Whether the person at the terminal says yes.

    Raises:
        ConfigError: nobody is there.
    """
    what = "does something that cannot be undone" if spec.effects == "once" else "asks before it runs"
    told = f"{spec.name} {what}{f' and costs {spec.cost_usd:f} USD' if spec.cost_usd else ''}"
    if not sys.stdin.isatty():
        raise ConfigError(f"tools: {told}; run it with --yes")
    print(f"{told}. Run it? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _told(spec: ToolSpec, run: ToolRun) -> int:
    answer = json.loads(run.answer.content)
    if not run.answer.ok:
        added: str = answer.get("untrusted_data", {}).get("said", "")
        line = f"tools: {spec.name}: {one_line(answer['message'])}" + (f" It says: {one_line(added)}" if added else "")
        if run.outcome == BadArguments.code:
            raise ConfigError(f"{line}; {_allowed(spec)}")
        print(f"aldis: {line}", file=sys.stderr)
        return 1
    # All text in it was cleaned of control sequences: `tools.text`.
    print(json.dumps(answer["untrusted_data"], indent=2, ensure_ascii=False))
    for file in run.files:
        print(f"It made a file, {file.name}, which is not kept.", file=sys.stderr)
    return 0
