"""What people read of the settings: the tables of `docs/settings.md`, and a list for a terminal."""

import textwrap
from collections.abc import Sequence

from bot.settings.env import FILE_SUFFIX, Variable

_INDENT = "    "


def markdown(group: str, purpose: str, variables: Sequence[Variable]) -> str:
    """A heading, the group's purpose and a table of its variables, as Markdown that ends in a line break."""
    rows = [
        f"| {_names_cell(variable)} | {_default_cell(variable)} | {_meaning_cell(variable)} |" for variable in variables
    ]
    head = [f"### {group}", "", " ".join(purpose.split()), "", "| variable | default | meaning |", "|---|---|---|"]
    return "\n".join([*head, *rows, ""])


def plain(group: str, purpose: str, variables: Sequence[Variable], *, columns: int | None) -> str:
    """The same for a terminal: each variable as a line of `.env` with its default, its meaning below it.

    Ends in a line break. No line of words is longer than `columns`; None: each sentence stays one line.
    """
    blocks = [f"{group}: {' '.join(purpose.split())}", ""]
    for variable in variables:
        blocks.append(f"{variable.name}={variable.default}")
        blocks.extend(_indented(variable.meaning, columns))
        if names := _other_names(variable):
            blocks.extend(_indented(f"Also: {', '.join(names)}", columns))
    return "\n".join([*blocks, ""])


def _indented(text: str, columns: int | None) -> list[str]:
    if columns is None:
        return [_INDENT + text]
    width = max(columns, 2 * len(_INDENT))
    return textwrap.wrap(
        text, width, initial_indent=_INDENT, subsequent_indent=_INDENT, break_long_words=False, break_on_hyphens=False
    )


def _other_names(variable: Variable) -> list[str]:
    """Under which names it is read besides; one in `_FILE` names a file that holds the value."""
    return [name for name in variable.names if name != variable.name]


def _names_cell(variable: Variable) -> str:
    names = [variable.name, *((variable.also,) if variable.also else ())]
    return ", ".join(f"`{name}`" + (f" (`{FILE_SUFFIX}`)" if variable.is_secret else "") for name in names)


def _default_cell(variable: Variable) -> str:
    return f"`{variable.default}`" if variable.default else ""


def _meaning_cell(variable: Variable) -> str:
    return variable.meaning.replace("|", "\\|")
