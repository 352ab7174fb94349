"""The tables of docs/settings.md, which `.ci/pages.py` writes."""

import ast
import inspect
import re
import sys
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from typing import Any, cast

from pydantic import BaseModel

from bot.settings import Settings
from bot.settings.groups import USUAL
from bot.settings.load import Variable, variables_of


def table(model: type[Settings] = USUAL) -> str:
    """The settings as Markdown: for each group a heading, its purpose and a table."""
    lines: list[str] = []
    for name, field in model.model_fields.items():
        group = cast("type[BaseModel]", field.annotation)
        found = list(variables_of(group, name))
        switches = [one for one in found if re.fullmatch("TOOLS__.+__ENABLED", one.name)]
        switches = [one for one in switches if "| `true` |" in _row(one, model)]
        purpose = " ".join((group.__doc__ or "").split())
        if switches:
            off = ", ".join(one.name.split("__")[1] for one in switches)
            purpose += f" `TOOLS__<NAME>__ENABLED=false` turns those off: {off}."
        if rows := [_row(one, model) for one in found if one not in switches]:
            lines += [f"### {name.upper()}", "", purpose, "", "| variable | default | meaning |", "|---|---|---|"]
            lines += [*rows, "", ""]
    return "\n".join(lines[:-1])


def _row(one: Variable, group: Any) -> str:
    names = ", ".join(f"`{name}`" + (" (`_FILE`)" if one.is_secret else "") for name in one.own_names)
    *groups, last = one.name.lower().split("__")
    for name in groups:
        group = group.model_fields[name].annotation
    docs = (_docstrings(kind.__module__).get((kind.__name__, last)) for kind in group.__mro__)
    meaning = " ".join(next(filter(None, docs), "").split()).replace("|", "\\|")
    default = group.model_fields[last].get_default(call_default_factory=True)
    written = "" if default is None or default == () else str(default)
    written = written.lower() if isinstance(default, bool) else written
    return f"| {names} | {written and f'`{written}`'} | {meaning} |"


@cache
def _docstrings(module: str) -> Mapping[tuple[str, str], str]:
    """The docstrings below the fields of all classes of a module, by the names of class and field."""
    return {
        (group.name, field.target.id): doc.value.value
        for group in ast.walk(ast.parse(inspect.getsource(sys.modules[module])))
        if isinstance(group, ast.ClassDef)
        for field, doc in pairwise(group.body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(doc, ast.Expr) and isinstance(doc.value, ast.Constant) and isinstance(doc.value.value, str)
    }
