"""The arguments of `db_query`, and the query that they become.

Everything that a model names is checked against the operator's list before a database is opened. Errors list what can
be named instead.
"""

import re
from collections.abc import Sequence
from typing import Annotated, cast, get_args

from pydantic import BeforeValidator, ConfigDict, Field, WithJsonSchema

from tools.base import Arguments
from tools.databases.access import Access
from tools.databases.base import Condition, Function, Measure, Operator, Order, Scalar, TableQuery
from tools.errors import BadArguments
from tools.text import shorten

_MAX_CONDITIONS = 20
_MAX_VALUES = 50
_MAX_VALUE_CHARS = 500
_MAX_NAME_CHARS = 200
_MAX_ROW = 1_000_000
_MAX_INTEGER = 2**63 - 1
_MEASURE = re.compile(rf"({'|'.join(get_args(Function))})\((.*)\)")
_DIRECTION = re.compile(r"(.*?)(?: +(asc|desc))?", re.IGNORECASE)

_Text = Annotated[str, Field(max_length=_MAX_VALUE_CHARS)]
_Number = int | Annotated[float, Field(allow_inf_nan=False)]
Name = Annotated[str, Field(max_length=_MAX_NAME_CHARS)]
"""A name written by a model: of a database, table or column."""


class ConditionArguments(Arguments):
    """A condition on rows."""

    model_config = ConfigDict(str_strip_whitespace=False)

    column: Name
    op: Operator
    value: _Text | _Number | bool | Annotated[list[_Text | _Number | bool], Field(max_length=_MAX_VALUES)] | None = (
        Field(default=None, description="A list for in and between; none for is_null and is_not_null.")
    )


def _conditions(given: object) -> object:
    """Accepts an object of columns and values: each has to be equal, one of a list, or empty for null."""
    if not isinstance(given, dict):
        return given
    columns = cast("dict[str, object]", given)
    rows: list[dict[str, object]] = []
    for column, value in columns.items():
        op = "is_null" if value is None else "in" if isinstance(value, list) else "="
        rows.append({"column": column, "op": op, "value": cast("object", value)})
    return rows


# Inlined because not every server with OpenAI's API follows references within a schema.
_Conditions = Annotated[
    tuple[ConditionArguments, ...],
    WithJsonSchema({"type": "array", "maxItems": _MAX_CONDITIONS, "items": ConditionArguments.model_json_schema()}),
    Field(max_length=_MAX_CONDITIONS),
    BeforeValidator(_conditions),
]


class DbQueryArguments(Arguments):
    """A query to one table."""

    model_config = ConfigDict(str_strip_whitespace=False)

    database: Name | None = Field(default=None, description="Its name from db_describe; default: the only one.")
    table: Name
    columns: tuple[Name, ...] = Field(
        default=(), max_length=30, description="The columns to show; default: all readable ones."
    )
    where: _Conditions = Field(
        default=(),
        description=(
            "contains and starts_with ignore case, the others do not. A row without a value in the column only matches"
            " is_null, not even !=."
        ),
    )
    match: Annotated[str, Field(pattern="^(all|any)$")] = Field(
        default="all", description="Whether all conditions have to match, or any of them."
    )
    group_by: tuple[Name, ...] = Field(
        default=(), max_length=5, description="One row per combination; alone: the distinct values."
    )
    compute: tuple[Name, ...] = Field(
        default=(),
        max_length=10,
        description="Figures for each group, or for all rows: count, count(x), sum(x), average(x), min(x), max(x).",
    )
    order_by: tuple[Name, ...] = Field(
        default=(), max_length=5, description="Columns or figures, such as: day, or sum(total) desc. Empty cells last."
    )
    limit: int = Field(default=20, ge=1, description="The most rows; `truncated` says whether there are more.")
    offset: int = Field(default=0, ge=0, le=_MAX_ROW, description="Rows to skip; needs order_by.")


def question_of(arguments: DbQueryArguments, access: Access) -> TableQuery:
    """Returns the query, which names nothing but what can be read.

    Raises:
        BadArguments: the arguments name something else, or do not fit together.
    """
    check_table(arguments.table, access)
    allowed = access.tables[arguments.table]
    measures = tuple(_measure(text, allowed) for text in arguments.compute)
    is_grouped = bool(measures or arguments.group_by)
    if is_grouped and not set(arguments.columns) <= set(arguments.group_by):
        raise BadArguments("With group_by or compute, the columns are those of group_by: leave columns out.")
    columns = arguments.group_by if is_grouped else arguments.columns or allowed
    for column in columns:
        _check(column, allowed)
    return TableQuery(
        table=arguments.table,
        columns=tuple(dict.fromkeys(columns)),
        where=tuple(_condition(condition, allowed) for condition in arguments.where),
        any_of=arguments.match == "any",
        is_grouped=is_grouped,
        measures=measures,
        order_by=tuple(_order(text, columns if is_grouped else allowed, measures) for text in arguments.order_by),
        limit=min(arguments.limit, access.max_rows),
        offset=arguments.offset,
    )


def check_table(table: str, access: Access) -> None:
    """Checks that the table can be read.

    Raises:
        BadArguments: it cannot.
    """
    if table not in access.tables:
        raise BadArguments(f"There is no table {quote_name(table)}; there are: {', '.join(access.tables)}.")


def _check(column: str, allowed: Sequence[str]) -> None:
    if column not in allowed:
        raise BadArguments(f"There is no column {quote_name(column)} here; there are: {', '.join(allowed)}.")


def _measure(text: str, allowed: Sequence[str]) -> Measure:
    match = _MEASURE.fullmatch(text if "(" in text else f"{text}(*)")
    if match is None:
        raise BadArguments(
            f"{quote_name(text)} is no figure: use count, or {', '.join(get_args(Function))} with (column)."
        )
    function, column = cast("Function", match[1]), match[2]
    if column == "*" and function == "count":
        return Measure(function="count", column=None)
    _check(column, allowed)
    return Measure(function=function, column=column)


def _order(text: str, columns: Sequence[str], measures: Sequence[Measure]) -> Order:
    keys: dict[str, str | Measure] = {heading(measure): measure for measure in measures}
    keys |= {column: column for column in columns}
    if text in keys:
        return Order(by=keys[text], descending=False)
    match = _DIRECTION.fullmatch(text)
    if match is None or match[1] not in keys:
        raise BadArguments(f"Rows cannot be ordered by {quote_name(text)}; they can by: {', '.join(keys)}.")
    return Order(by=keys[match[1]], descending=(match[2] or "").lower() == "desc")


def _condition(given: ConditionArguments, allowed: Sequence[str]) -> Condition:
    _check(given.column, allowed)
    value = given.value
    values: tuple[Scalar, ...] = tuple(value) if isinstance(value, list) else () if value is None else (value,)
    if (problem := _misfit(given, len(values))) is not None:
        raise BadArguments(f"{given.op} {problem}.")
    for value in values:
        if isinstance(value, str) and "\x00" in value:
            raise BadArguments("A value contains characters that no text in a database has.")
        if isinstance(value, int) and abs(value) > _MAX_INTEGER:
            raise BadArguments("A value is a number that no column can hold.")
    if given.op in {"contains", "starts_with"} and values == ("",):
        raise BadArguments(f"{given.op} needs a word.")
    return Condition(column=given.column, operator=given.op, values=values)


def _misfit(given: ConditionArguments, count: int) -> str | None:
    """Returns what is wrong with the number of values; None if nothing is."""
    match given.op:
        case "is_null" | "is_not_null":
            return "takes no value" if given.value is not None else None
        case "between":
            return None if isinstance(given.value, list) and count == 2 else "takes a list of two values"  # noqa: PLR2004
        case "in":
            return None if isinstance(given.value, list) and count else "takes a list of values"
        case _:
            is_one = given.value is not None and not isinstance(given.value, list)
            return None if is_one else "takes one value, not a list; for empty cells use is_null"


def heading(measure: Measure) -> str:
    """Returns the name of a measure in queries and above its column: `count`, `sum(total)`."""
    return measure.function if measure.column is None else f"{measure.function}({measure.column})"


def quote_name(name: str) -> str:
    """Returns a name from a model, shortened and quoted, for an answer."""
    return repr(shorten(name, 60))
