"""Any question to a database, against the same question reckoned in Python over the same rows."""

import asyncio
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from itertools import groupby
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tools.databases.samples import Asked
from tools import BadArguments, NotFound
from tools.databases.query import Function, Operator

Row = Mapping[str, Any]

COLUMNS = ("id", "whole", "real", "text", "any")
CELLS = (None, -1, 0, 1, 10, 0.5, 2.0, "", "a", "A", "ab", "ä", "Ä", "%", "_", "1", "10", "x%y", b"", b"a", b"12")
VALUES = (-1, 0, 1, 10, 0.5, 2.0, True, False, "a", "A", "b", "ä", "%", "_", "1", "10", "zz")
ROWS = 120
LIMIT = 50  # the operator's


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> tuple[Asked, list[Row]]:
    """Rows with every kind of cell in every kind of column, as SQLite has stored them."""
    path = tmp_path_factory.mktemp("reference") / "any.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute('CREATE TABLE t (id INTEGER PRIMARY KEY, whole INT, real REAL, "text" TEXT, "any")')
        cells = [[CELLS[(row * step + step) % len(CELLS)] for step in (1, 5, 8, 11)] for row in range(ROWS)]
        connection.executemany('INSERT INTO t (whole, real, "text", "any") VALUES (?, ?, ?, ?)', cells)
        connection.commit()
        stored = connection.execute("SELECT * FROM t").fetchall()
    rows: list[Row] = [dict(zip(COLUMNS, row, strict=True)) for row in stored]
    return Asked(f"sqlite://{path}", {"t": COLUMNS}, max_rows=LIMIT), rows


names = st.sampled_from((*COLUMNS * 5, "gone"))
scalars = st.sampled_from(VALUES)
fitting = {
    "is_null": st.none(),
    "is_not_null": st.none(),
    "in": st.lists(scalars, min_size=1, max_size=3),
    "between": st.lists(scalars, min_size=2, max_size=2),
}
any_values = st.none() | scalars | st.lists(scalars, max_size=3)


@st.composite
def conditions(draw: st.DrawFn) -> dict[str, Any]:
    """Mostly such as make sense."""
    operator = draw(st.sampled_from(get_args(Operator)))
    is_odd = draw(st.integers(0, 9)) == 9
    value = draw(any_values if is_odd else fitting.get(operator, scalars))
    return {"column": draw(names), "op": operator, "value": value}


figures = st.just("count") | st.builds("{}({})".format, st.sampled_from(get_args(Function)), names)
questions = st.fixed_dictionaries(
    {
        "columns": st.lists(names, max_size=3, unique=True),
        "where": st.lists(conditions(), max_size=3),
        "match": st.sampled_from(("all", "any")),
        "group_by": st.lists(names, max_size=2, unique=True),
        "compute": st.lists(figures, max_size=3, unique=True),
        "limit": st.integers(1, 60),
        "offset": st.integers(0, 5),
    }
)


@settings(max_examples=80, deadline=None)
@given(question=questions, order=st.data())
def test_every_answer_is_what_python_reckons(
    table: tuple[Asked, list[Row]], question: dict[str, Any], order: Any
) -> None:
    """Or the question is refused, and then for a reason."""
    asked, rows = table
    if question["group_by"] or question["compute"]:
        question["columns"] = question["columns"] if order.draw(st.booleans(), "keep columns") else []
    question["order_by"] = _total_order(question, order)
    try:
        data = asyncio.run(asked.query("t", **question))
    except BadArguments:
        assert _is_flawed(question)
        return
    except NotFound:
        assert not _is_flawed(question)
        assert _answer(question, rows)[question["offset"] :] == []
        return
    assert not _is_flawed(question)
    expected = _answer(question, rows)
    limit, offset = min(question["limit"], LIMIT), question["offset"]
    assert data["rows"] == expected[offset : offset + limit]
    assert data["truncated"] is (len(expected) > offset + limit)


def _total_order(question: dict[str, Any], order: Any) -> list[str]:
    """Some order, and behind it what makes it total, so that there is one right answer."""
    last = question["group_by"] if _is_grouped(question) else ["id"]
    possible = [*question["compute"], *last] if _is_grouped(question) else [*COLUMNS]
    drawn = order.draw(st.lists(st.sampled_from(possible), max_size=2, unique=True), "order") if possible else []
    return [
        by + order.draw(st.sampled_from(("", " desc", " ASC")), "direction") for by in dict.fromkeys((*drawn, *last))
    ]


def _is_grouped(question: Mapping[str, Any]) -> bool:
    return bool(question["group_by"] or question["compute"])


def _is_flawed(question: Mapping[str, Any]) -> bool:
    used = [*question["columns"], *question["group_by"], *(each["column"] for each in question["where"])]
    used += [figure.partition("(")[2].rstrip(")") for figure in question["compute"] if "(" in figure]
    is_mixed = _is_grouped(question) and not set(question["columns"]) <= set(question["group_by"])
    return "gone" in used or is_mixed or not all(map(_fits, question["where"]))


def _fits(condition: Mapping[str, Any]) -> bool:
    value = condition["value"]
    match condition["op"]:
        case "is_null" | "is_not_null":
            return value is None
        case "in":
            return isinstance(value, list) and len(value) > 0
        case "between":
            return isinstance(value, list) and len(value) == 2
        case _:
            return value is not None and not isinstance(value, list)


def _answer(question: Mapping[str, Any], rows: Iterable[Row]) -> list[list[Any]]:
    combine = all if question["match"] == "all" or not question["where"] else any
    found = [row for row in rows if combine(_holds(row, condition) for condition in question["where"])]
    lines = _groups(question, found) if _is_grouped(question) else found
    for by in reversed(question["order_by"]):
        name, _, direction = by.partition(" ")
        lines = sorted(lines, key=lambda line: _rank(line[name]), reverse=direction.lower() == "desc")
        lines = sorted(lines, key=lambda line: line[name] is None)
    heads = [*question["group_by"], *question["compute"]] if _is_grouped(question) else question["columns"] or COLUMNS
    return [[_shown(line[head]) for head in heads] for line in lines]


def _groups(question: Mapping[str, Any], rows: Sequence[Row]) -> list[Row]:
    """One line for each group; without groups one for all rows, even if there are none."""

    def key(row: Row) -> list[Any]:
        return [_rank(row[column]) for column in question["group_by"]]

    groups = [list(group) for _, group in groupby(sorted(rows, key=key), key)] if question["group_by"] else [rows]
    return [
        {column: group[0][column] for column in question["group_by"]}
        | {figure: _figure(figure, group) for figure in question["compute"]}
        for group in groups
    ]


def _figure(figure: str, rows: Sequence[Row]) -> Any:
    function, _, column = figure.rstrip(")").partition("(")
    if not column:
        return len(rows)
    cells = [row[column] for row in rows if row[column] is not None]
    numbers = [cell for cell in cells if isinstance(cell, int | float)]
    match function:
        case "count":
            return len(cells)
        case "sum":
            return sum(numbers) if numbers else None
        case "average":
            return sum(numbers) / len(numbers) if numbers else None
        case "min":
            return min(cells, key=_rank, default=None)
        case _:
            return max(cells, key=_rank, default=None)


def _holds(row: Row, condition: Mapping[str, Any]) -> bool:
    cell, value = row[condition["column"]], condition["value"]
    if cell is None:
        return condition["op"] == "is_null"
    here = _rank(cell)

    def there(given: Any) -> Any:
        return _rank(_as_column(condition["column"], given))

    match condition["op"]:
        case "is_null":
            return False
        case "is_not_null":
            return True
        case "contains":
            return not isinstance(cell, bytes) and _word(value) in str(cell).casefold()
        case "starts_with":
            return not isinstance(cell, bytes) and str(cell).casefold().startswith(_word(value))
        case "in":
            return any(here == there(each) for each in value)
        case "between":
            return there(value[0]) <= here <= there(value[1])
        case "=":
            return here == there(value)
        case "!=":
            return here != there(value)
        case "<":
            return here < there(value)
        case "<=":
            return here <= there(value)
        case ">":
            return here > there(value)
        case _:
            return here >= there(value)


def _as_column(column: str, value: Any) -> Any:
    """What SQLite makes of a value that is compared with a column of a declared type."""
    if column == "text" and not isinstance(value, str):
        return str(int(value)) if isinstance(value, bool) else str(value)
    if column in {"id", "whole", "real"} and isinstance(value, str) and value.isdecimal():
        return int(value)
    return value


def _word(value: Any) -> str:
    return str(value).casefold()


def _rank(cell: Any) -> Any:
    """SQLite's order of all cells: nothing, numbers, texts, bytes."""
    if cell is None:
        return (0, 0)
    return (2, cell) if isinstance(cell, str) else (3, cell) if isinstance(cell, bytes) else (1, cell)


def _shown(cell: Any) -> Any:
    return f"[{len(cell)} bytes]" if isinstance(cell, bytes) else cell
