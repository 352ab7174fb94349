"""The tool `run_code`: a model's short program, run by Monty where files of strangers are opened, or not at all.

It ends with `1.2ms ❯ None`, or `1.2ms ❯ error: ` and a traceback. Source: pydantic-monty-runtime 1.4.0, 2026-11-30.
"""

import asyncio
import json
import re
import secrets
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Protocol, cast

from pydantic import Field, FiniteFloat, StringConstraints, ValidationError

from tools.base import FIXED, Arguments, Options, Result, ResultFile, Tool, ToolContext, ToolSource, ToolSpec
from tools.chart import PNG, Panel, line_chart
from tools.errors import BadArguments, TooLarge, ToolError, Unavailable
from tools.text import shorten

_FLAGS = ("--max-feed-duration=2", "--max-memory=100MB", "--max-total-sleep=0", "/dev/stdin")
_END_SECONDS = 3.0
"""When a program is ended from outside: one large power does not look at Monty's clock."""
_MAX_PRINTED_CHARS = 4_000
_Number = Annotated[FiniteFloat, Field(ge=-1e18, le=1e18)]  # between the largest floats, an axis has no length
_TAIL = """
def _plain_(it):
    if isinstance(it, dict):
        return {str(key): _plain_(each) for key, each in it.items()}
    if isinstance(it, (list, tuple, set)):
        return [_plain_(each) for each in it]
    return it if it is None or isinstance(it, (bool, int, float, str)) else str(it)
def _get_(name):
    try:
        return _plain_(eval(name))
    except NameError:
        return None
import json as _json_
print('MARK' + _json_.dumps([_get_('table'), _get_('plot')]))
"""
_TRACEBACK = re.compile(r"\A\s*Traceback[^\n]*\n(?: [^\n]*\n)*")


class CodeOptions(Options):
    """The settings `TOOLS__CODE__<FIELD>`."""

    known_to = ()

    enabled: bool = False
    """Whether models may run programs of their own."""
    monty: Annotated[Path, FIXED] = Path(sys.executable).with_name("monty")
    """Where the package puts its program."""

    def missing_settings(self) -> str | None:
        """See `Options.missing_settings`: Monty."""
        return None if self.monty.is_file() else "the package pydantic-monty-runtime (the extra `code`)"


class CodeArguments(Arguments):
    """A program."""

    code: Annotated[str, StringConstraints(strip_whitespace=False)] = Field(min_length=1, max_length=10_000)


class Plot(Arguments):
    """A picture: labels of steps, and for each name a panel with its values."""

    title: str = ""
    labels: list[str | int | float] = Field(default=[])
    values: dict[str, Annotated[list[_Number | None], Field(max_length=400)]] = Field(max_length=4)
    bars: bool = False


class ProgramCells(Protocol):
    """Where programs are contained."""

    async def run_program(self, text: str, *call: str, timeout_seconds: float, person: str = "") -> str:
        """Returns what a program says to a text, its standard input: cut if too long, empty if it is not contained."""
        ...


class RunCode:
    """Runs a program of the model in a part of Python that can reach nothing, and draws what it plots."""

    spec = ToolSpec(
        name="run_code",
        seldom="programs in Python: rows, tables, plots",
        description=(
            "Runs a short program in a part of Python, without files, network and packages. For many numbers, rows,"
            " dates or steps; calculate stays the first choice for a sum. You get what it prints, nothing else: print"
            " what you want to know. A variable `table`, a list of dicts, comes back as a table for the answer; `plot`,"
            " such as {'title': 'T', 'labels': ['Jan', 'Feb'], 'values': {'EUR': [1, 2]}, 'bars': True}, is drawn and"
            " sent to the person. There are math, decimal, datetime, re, json, csv, random, itertools, collections,"
            " functools; no statistics, fractions, zoneinfo, no yield, del, inheritance. round() makes 2.68 of 2.675:"
            " take Decimal for money. It may take 2 seconds and 100 MB, and keeps nothing."
        ),
        arguments=CodeArguments,
        label="computed",
        timeout_seconds=15.0,  # other people's programs may go before
    )

    def __init__(self, options: CodeOptions, cells: ProgramCells) -> None:
        self._monty = str(options.monty)
        self._cells = cells

    async def run(self, arguments: CodeArguments, context: ToolContext) -> Result:
        """Returns what it printed, and its table; its picture goes to the person. What fails in it is an answer."""
        printed, table, plot = await self.work_out(arguments.code, context.person)
        data = {"printed": printed} | ({"table": rows} if (rows := _table(table)) else {})
        try:
            picture = await asyncio.to_thread(_draw, plot, context.language) if plot else b""
        except ValidationError as error:
            why = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()[:3]]
            return Result(data=data | {"plot": f"not drawn: {'; '.join(why)}"})
        if not picture:
            return Result(data=data | ({"plot": "not drawn: it has no values"} if plot is not None else {}))
        return Result(data=data, files=(ResultFile(name="plot.png", content_type=PNG, data=picture),))

    async def work_out(self, code: str, person: str = "") -> tuple[str, object, object]:
        """Returns what a program printed, its table and its plot; raises the `ToolError` that its failure is."""
        mark = secrets.token_hex(8)
        output = await self._cells.run_program(
            code + _TAIL.replace("MARK", mark), self._monty, *_FLAGS, timeout_seconds=_END_SECONDS, person=person
        )
        printed, is_marked, rest = output.rpartition(mark)
        try:
            table, plot = json.loads(rest.partition("\n")[0] if is_marked else "")
        except ValueError:  # its traceback shows the mark
            unread = BadArguments("`table` or `plot` cannot be read: make them of lists, dicts and plain values.")
            raise (unread if is_marked else _failure(output)) from None
        return shorten(printed.strip(), _MAX_PRINTED_CHARS), table, plot


class CodeSource(ToolSource):
    """Offers the tool where a first program comes back: whether one can be contained depends on the machine."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        """`tools` is the tool, or nothing where its package is missing."""
        self._tools = [tool for tool in tools if isinstance(tool, RunCode)]
        self._holds: bool | None = None if self._tools else False

    async def tools(self) -> Sequence[Tool]:
        """See `ToolSource`."""
        if self._holds is None:
            try:
                async with asyncio.timeout(2 * _END_SECONDS):
                    self._holds = (await self._tools[0].work_out("print(6 * 7)"))[0] == "42"
            except (TimeoutError, ToolError) as error:  # what took too long is tried again next time
                self._holds = False if isinstance(error, Unavailable) else None
        return self._tools if self._holds else ()

    @property
    def unable(self) -> Sequence[str]:
        """See `ToolSource`."""
        return () if self._holds else (RunCode.spec.name,)


def _failure(output: str) -> ToolError:
    """The error of a program that did not end well; what it says of itself may be data, and so is quoted."""
    if (found := re.search(r"(?:\A| ❯ )error:\s", output)) is None:
        why = "The code prints too much, or ends before its last line."
        return TooLarge(why) if output else Unavailable("No code can be run here.")
    trouble = output[found.end() :]
    printed = output[: found.start()].rpartition("\n")[0]
    places = re.findall(r'File "/dev/stdin", line (\d+)', trouble)
    where = f" in line {places[-1]}" if places else ""
    before = f"; before that it printed: {printed}" if printed else ""
    return BadArguments(f"The code failed{where}.", quoted=_TRACEBACK.sub("", trouble).strip() + before)


def _table(given: object) -> str:
    """Returns a list of dicts as a table in Markdown; empty if it is none."""
    items = cast("list[object]", given) if isinstance(given, list) else ()
    rows = [cast("dict[str, object]", item) for item in items if isinstance(item, dict)]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    lines = [columns, ["---"] * len(columns), *([row.get(name, "") for name in columns] for row in rows)]
    cells = ([" ".join(str(each).split()).replace("|", "\\|") for each in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in cells) if columns else ""


def _draw(given: object, language: str) -> bytes:
    """Draws a plot; a step of nothing at either end, so that the first and the last bar are whole."""
    plot = Plot.model_validate(given)
    panels = [Panel(name=name, values=[None, *values, None], bars=plot.bars) for name, values in plot.values.items()]
    point = "." if language == "en" else ","
    return line_chart(plot.title, dict(enumerate(map(str, plot.labels), 1)), panels, point=point)
