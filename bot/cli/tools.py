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
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
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

_COLUMNS = (
    ("tool", 18),
    ("state", 7),
    ("cost USD", 8),
    ("effects", 10),
    ("asks first", 13),
    ("who sees what is asked", 39),
)
_INDENT = " " * (_COLUMNS[0][1] + 1)


def show(given: Settings, options: argparse.Namespace) -> int:
    """`tools`: lists every tool with its state, cost, effects and who sees what is asked; as JSON if asked for."""
    logs.set_up("ERROR", given.log.format)
    rows = asyncio.run(_rows(given))
    print(json.dumps([row.as_json() for row in rows], indent=2) if options.json else _table(rows))
    return 0


def call(given: Settings, options: argparse.Namespace) -> int:
    """`tools call NAME ARGUMENTS`: prints the result as JSON; status 1 if the tool fails.

    Raises:
        ConfigError: there is no such tool, it cannot be called like this, or nobody agreed to what it does.
    """
    logs.set_up("WARNING", given.log.format)
    return asyncio.run(_called(given, options))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Row:
    """One tool as it is listed, or a group of which no tool can be built."""

    group: ToolGroup
    spec: ToolSpec | None
    asks_always: bool
    is_last: bool
    """Whether it is the last one of its group, and is followed by the remarks about the whole group."""

    def as_json(self) -> Mapping[str, object]:
        """Everything that is known about it."""
        group, spec = self.group, self.spec
        return {
            "tool": spec.name if spec else None,
            "group": group.name,
            "from": group.origin or "aldis",
            "state": group.state,
            "cost_usd": str(spec.cost_usd) if spec else None,
            "effects": spec.effects if spec else None,
            "asks_first": self._asks_first if spec else None,
            "seen_by": None if group.seen_by is None else list(group.seen_by),
            "advice": group.advice,
            "why": group.why,
        }

    def lines(self) -> Iterator[str]:
        """The same for people, in columns; text that does not fit continues below."""
        group, spec = self.group, self.spec
        if spec is None:
            yield from _columns([group.name, group.state])
        else:
            seen = "it does not tell" if group.seen_by is None else ", ".join(group.seen_by) or "nobody"
            cost = f"{spec.cost_usd:f}" if spec.cost_usd else "free"
            yield from _columns([spec.name, group.state, cost, spec.effects, self._asks_first, seen])
        if self.is_last:
            below = (f"of {group.origin}" if group.origin else "", group.why, group.remedy)
            yield from (line for text in below for line in _below(text))

    @property
    def _asks_first(self) -> str:
        if self.asks_always:
            return "always"
        return "never" if self.spec is None or self.spec.effects == "none" else "after reading"


async def _rows(given: Settings) -> list[_Row]:
    async with app.standalone_deps(given.tools.contact) as around, _running(given, inventory(given, around)) as groups:
        return [row for group in groups for row in _rows_of(given, group)]


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


def _rows_of(given: Settings, group: ToolGroup) -> Iterator[_Row]:
    specs = [tool.spec for tool in group.tools] or [None]
    for place, spec in enumerate(specs, start=1):
        wants = spec is not None and spec.approval in {"always", "unless_named"}
        asks = spec is not None and (wants or spec.name in given.tools.approve)
        yield _Row(group=group, spec=spec, asks_always=asks, is_last=place == len(specs))


def _table(rows: Iterable[_Row]) -> str:
    lines = [*_columns([title for title, _ in _COLUMNS]), *(line for row in rows for line in row.lines())]
    asks = "Asks first: in a conversation, before it runs; after reading: where it has read what strangers wrote."
    return "\n".join([*lines, "", *textwrap.wrap(asks, WIDTH)])


def _columns(cells: Sequence[str]) -> Iterator[str]:
    """The cells side by side; the last one can take several lines, and a first one that is too long gets its own."""
    *before, last = map(one_line, cells)
    if len(before[0]) > _COLUMNS[0][1]:
        yield before[0][:WIDTH]
        before[0] = ""
    first, *more = textwrap.wrap(last, _COLUMNS[len(before)][1], break_on_hyphens=False) or [""]
    left = " ".join(cell.ljust(size) for cell, (_, size) in zip(before, _COLUMNS, strict=False))
    yield f"{left} {first}".rstrip()
    yield from (f"{' ' * len(left)} {line}" for line in more)


def _below(text: str) -> list[str]:
    return textwrap.wrap(
        one_line(text), WIDTH, initial_indent=f"{_INDENT}-> ", subsequent_indent=f"{_INDENT}   ", break_on_hyphens=False
    )


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
