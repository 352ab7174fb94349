# ruff: noqa: INP001  (a script beside the others of its folder, no part of a package)
"""Rewrites the tables of docs/settings.md, commands.md, tools.md and coverage.md from the code: python .ci/pages.py.

What explains more than a table can stands on these pages around the marks between which the tables are put.
"""

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import get_args

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bot.app.tools import idle_features  # noqa: E402  (found by the line above)
from bot.commands.base import CommandEntry, CommandGroup, Section  # noqa: E402
from bot.doctor.tools import ToolGroup, inventory  # noqa: E402
from bot.settings import load_settings  # noqa: E402
from tests import capabilities, variables  # noqa: E402
from tools import CATALOG, Fetcher, Http, Options, Tool, ToolDeps, build_tools  # noqa: E402
from tools.search.base import Query  # noqa: E402
from tools.search.options import SearchOptions  # noqa: E402
from tools.search.services import SERVICES  # noqa: E402


def page(name: str) -> str:
    """A page of docs/ as it has to be."""
    text = (ROOT / "docs" / name).read_text(encoding="utf-8")
    for mark, content in _TABLES[name].items():
        before, rest = text.split(f"<!-- {mark} -->\n")
        text = f"{before}<!-- {mark} -->\n{content().strip()}\n<!-- /{mark} -->{rest.split(f'<!-- /{mark} -->')[1]}"
    return text


def _commands() -> str:
    """The commands by the parts of the help: what each wants, who may give it, what the method that does it says."""
    entries = sorted(_entries(), key=lambda entry: (get_args(Section).index(entry.section), entry.name))
    rows = ((f"`{_cell(entry.form)}`", _who(entry), _first(entry.run)) for entry in entries)
    return _table(("command", "who", "what happens"), rows)


def _entries() -> Iterator[CommandEntry]:
    """Those of every class that has some; nothing that such a class is given is needed to say what they are."""
    for path in sorted((*(ROOT / "bot/commands").glob("*.py"), *(ROOT / "bot/features").rglob("*.py"))):
        module = import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
        for kind in vars(module).values():
            if isinstance(kind, type) and issubclass(kind, CommandGroup) and kind.__module__ == module.__name__:
                yield from object.__new__(kind).entries


def _who(entry: CommandEntry) -> str:
    who = "admins" if entry.for_admins else "admins, if there are any" if entry.configures_group else "everybody"
    return f"{who}{'; directly' if entry.directly_only else '; in groups' if entry.groups_only else ''}"


def _tools() -> str:
    """The tools in the order in which models see them, as they are without any setting."""
    around = _around()
    groups = {group.name: group for group in inventory(load_settings({}, env_file=None), around)}
    filled = {name: entry.options.model_validate(entry.example) for name, entry in CATALOG.items() if entry.example}
    made = build_tools(CATALOG, filled, around)
    rows = (row for name, tools in made.items() for row in _rows(groups[name], tools, filled.get(name)))
    return _table(("tool", "what it does", "needs", "cost of a call", "who sees what is asked"), rows)


def _rows(group: ToolGroup, tools: Iterable[Tool], filled: Options | None) -> Iterator[tuple[str, ...]]:
    seen = (filled.seen_by() if filled else group.seen_by) or ("no one",)
    is_set = filled is not None and "cost_usd" in type(filled).model_fields
    for tool in tools:
        cost = f"`TOOLS__{group.name.upper()}__COST_USD`" if is_set else _usd(tool.spec.cost_usd)
        yield f"`{tool.spec.name}`", _first(type(tool)), _needs(group), cost, "; ".join(seen)
    if not tools:
        about = _first(CATALOG[group.name].options)
        asked = "each server: what its tools are asked"
        yield f"those of {group.name.upper()}", about, _needs(group), "not counted", asked


def _needs(group: ToolGroup) -> str:
    if group.name == "web_search":
        return "nothing; [other services](#search-services) are asked once they are set up"
    needs = re.sub(r"TOOLS__[\w=]+", r"`\g<0>`", group.advice.removeprefix("it needs ")).removesuffix(" switches it on")
    return needs if group.state != "on" else f"nothing; {needs}" if needs else "nothing"


def _services() -> str:
    """The search services in the order in which they are asked."""
    wanted, paid = SearchOptions().idle_services(), SearchOptions.model_validate({"tavily_api_key": "key"})
    rows = (
        (
            form.name,
            form.summary,
            f"`TOOLS__WEB_SEARCH__{wanted[form.name]}`" if form.name in wanted else "nothing",
            _usd(form.price_usd(Query(text="", count=1), paid), "free, or not counted"),
        )
        for form in SERVICES.values()
    )
    return _table(("service", "what it does", "needs", "cost of a search"), rows)


def _usd(cost: Decimal, free: str = "free") -> str:
    return f"{cost.normalize():f} USD" if cost else free


def _around() -> ToolDeps:
    return ToolDeps(http=Http("Aldis"), fetcher=Fetcher("Aldis"), features=idle_features())


def _first(documented: object) -> str:
    """The first paragraph of a docstring on one line."""
    return _cell(" ".join((inspect.getdoc(documented) or "").split("\n\n")[0].split()))


def _cell(text: str) -> str:
    return text.replace("|", r"\|")


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = (f"| {' | '.join(row)} |" for row in rows)
    return "\n".join([f"| {' | '.join(head)} |", "|---" * len(head) + "|", *lines])


_TABLES: Mapping[str, Mapping[str, Callable[[], str]]] = {
    "settings.md": {"settings": variables.table},
    "commands.md": {"commands": _commands},
    "tools.md": {"tools": _tools, "search services": _services},
    "coverage.md": {"capabilities": capabilities.table},
}
"""What stands between the marks of each page, by the name of the mark."""


if __name__ == "__main__":
    for name in _TABLES:
        (ROOT / "docs" / name).write_text(page(name), encoding="utf-8")
