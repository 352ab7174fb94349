"""The table of what the founding documents want, from which `.ci/pages.py` writes docs/coverage.md."""

import tomllib
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

FILE = Path(__file__).with_name("capabilities.toml")


class Row(BaseModel):
    """One wish, in the document's words; `tests` are `path::name`, `why` says what is otherwise, or left out."""

    model_config = ConfigDict(extra="forbid")

    id: str
    wants: str
    state: Literal["works", "differs", "left out"]
    why: str = ""
    tests: tuple[Annotated[str, Field(pattern=r"^tests/[\w/]+\.py::(\w+::)?test_\w+$")], ...]


class Document(BaseModel):
    """A founding document with its wishes."""

    model_config = ConfigDict(extra="forbid")

    title: str
    rows: tuple[Row, ...]


def documents() -> tuple[Document, ...]:
    """The five, in their order."""
    return tuple(map(Document.model_validate, tomllib.loads(FILE.read_text(encoding="utf-8"))["documents"]))


def table() -> str:
    """The documents as Markdown: for each a heading and a table with a line a row."""
    lines: list[str] = []
    for document in documents():
        lines += [f"## {document.title}", "", "| row | wants | state | shown by |", "|---|---|---|---|"]
        lines += map(_line, document.rows)
        lines.append("")
    return "\n".join(lines)


def _line(row: Row) -> str:
    state = f"*{row.state}*: {row.why}" if row.state != "works" else f"works: {row.why}" if row.why else "works"
    cells = (row.id, row.wants, state, "<br>".join(f"`{test}`" for test in row.tests))
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"
