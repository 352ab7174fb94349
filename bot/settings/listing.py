"""Descriptions of the settings for people: the tables of `docs/settings.md`, and a list for a terminal."""

import sys
import textwrap
from collections.abc import Iterator, Sequence
from typing import cast

from pydantic import BaseModel

from bot.settings.groups import USUAL, Settings
from bot.settings.names import FILE_SUFFIX, Variable, variables_of

_INDENT = "    "


def table(model: type[Settings] = USUAL) -> str:
    """The settings as Markdown for `docs/settings.md`: for each group a heading, its purpose, and a table.

    `model`: the class of the loaded settings, which also has sub-groups for what is installed on this machine.
    """
    return "\n".join(_markdown(*group) for group in _groups(model))


def listing(model: type[Settings], columns: int | None) -> str:
    """The same for a terminal: each setting as a line of `.env`, with its meaning below.

    `columns`: the maximum line width; None means no limit.
    """
    return "\n".join(_plain(*group, columns=columns) for group in _groups(model))


def _groups(model: type[Settings]) -> Iterator[tuple[str, str, list[Variable]]]:
    """The groups in their order: name, purpose, and the variables of each."""
    known = tuple(variable for variable in variables_of(model) if not _is_switch(variable))
    switched = ", ".join(variable.path[1].upper() for variable in variables_of(model) if _is_switch(variable))
    for name, field in model.model_fields.items():
        group = cast("type[BaseModel]", field.annotation)
        about = f"{group.__doc__ or ''} `TOOLS__<NAME>__ENABLED=false` turns those off: {switched}."
        purpose = about if name == "tools" else group.__doc__ or ""
        yield name.upper(), purpose, [variable for variable in known if variable.path[0] == name]


def _is_switch(variable: Variable) -> bool:
    """Whether it turns one tool or group of tools off, as each has a variable for."""
    return variable.path[0] == "tools" and variable.path[2:] == ("enabled",)


def _markdown(group: str, purpose: str, variables: Sequence[Variable]) -> str:
    """A heading, the group's purpose and a table of its variables, as Markdown that ends in a line break."""
    bar = "\\|"
    rows = [
        f"| {_names_cell(variable)} | {variable.default and f'`{variable.default}`'} |"
        f" {variable.meaning.replace('|', bar)} |"
        for variable in variables
    ]
    head = [f"### {group}", "", " ".join(purpose.split()), "", "| variable | default | meaning |", "|---|---|---|"]
    return "\n".join([*head, *rows, ""])


def _plain(group: str, purpose: str, variables: Sequence[Variable], *, columns: int | None) -> str:
    """The same for a terminal: each variable as a line of `.env` with its default, and its meaning below it.

    Ends in a line break. Text is wrapped at `columns`; None leaves each sentence on one line.
    """
    blocks = [f"{group}: {' '.join(purpose.split())}", ""]
    for variable in variables:
        blocks.append(f"{variable.name}={variable.default}")
        blocks.extend(_indented(variable.meaning, columns))
        if names := _other_names(variable):
            blocks.extend(_indented(f"Also: {', '.join(names)}", columns))
    return "\n".join([*blocks, ""])


def _indented(text: str, columns: int | None) -> list[str]:
    width = max(columns or sys.maxsize, 2 * len(_INDENT))
    return textwrap.wrap(
        text, width, initial_indent=_INDENT, subsequent_indent=_INDENT, break_long_words=False, break_on_hyphens=False
    )


def _other_names(variable: Variable) -> list[str]:
    """The other names under which it is read; one in `_FILE` names a file that holds the value."""
    return [name for name in variable.names if name != variable.name]


def _names_cell(variable: Variable) -> str:
    names = [variable.name, *((variable.also,) if variable.also else ())]
    return ", ".join(f"`{name}`" + (f" (`{FILE_SUFFIX}`)" if variable.is_secret else "") for name in names)
