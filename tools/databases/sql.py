"""Turns queries into SQL: the only statements on the operator's tables that Aldis can make. Pure functions.

    TableQuery + the table's columns + Dialect --> Statement (rows), Statement (their number)

Names come from the catalogue of the database and are quoted; values are parameters; limit and offset are integers. No
text from a model becomes part of a statement.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from tools.databases.base import MAX_COUNTED, Column, Condition, Kind, Measure, Order, Scalar, TableQuery

Bind = Callable[[Scalar], str]
"""Adds a value as a parameter and returns its placeholder."""


class Dialect(Protocol):
    """The differences between databases."""

    def placeholder(self, number: int) -> str:
        """Returns the placeholder of the parameter with this number, from 1."""
        ...

    def fetch_expression(self, expression: str, kind: Kind) -> str:
        """Returns the expression as it is fetched, bounded in size."""
        ...

    def plain(self, column: Column) -> str:
        """Returns the column for display."""
        ...

    def key(self, column: Column) -> str:
        """Returns the column for comparisons: grouping and ordering."""
        ...

    def measure_expression(self, measure: Measure, column: Column | None) -> tuple[str, Kind]:
        """Returns the measure as an expression, and how it behaves.

        Raises:
            BadArguments: the column does not support this measure.
        """
        ...

    def condition(self, column: Column, condition: Condition, bind: Bind) -> str:
        """Returns the condition on the column, which is never true where the column has no value.

        Raises:
            BadArguments: the column does not support this condition.
        """
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Statement:
    """SQL with its parameters."""

    sql: str
    parameters: tuple[Scalar, ...]
    kinds: tuple[Kind, ...]
    """How each column of the result behaves."""


def quote_identifier(name: str) -> str:
    """Quotes a name for SQL."""
    return '"' + name.replace('"', '""') + '"'


def column_of(column: Column) -> str:
    """Returns the column as an expression, with its table: SQLite may read a quoted name alone as a string."""
    return f"t.{quote_identifier(column.stored_name)}"


def rows_of(question: TableQuery, source: str, columns: Mapping[str, Column], dialect: Dialect) -> Statement:
    """Returns the statement for the rows, plus one more to see whether there are more. `source` is the quoted table.

    Raises:
        BadArguments: as the dialect says.
    """
    expressed = dialect.key if question.is_grouped else dialect.plain
    shown: list[tuple[str, Kind]] = [(expressed(columns[name]), columns[name].kind) for name in question.columns]
    shown += [_express_measure(measure, columns, dialect) for measure in question.measures]
    tail, parameters = _tail(question, source, columns, dialect)
    order = ", ".join(_order_key(order, columns, dialect) for order in question.order_by)
    return Statement(
        sql=(
            f"SELECT {', '.join(dialect.fetch_expression(*each) for each in shown)} {tail}"
            + (f" ORDER BY {order}" if order else "")
            + f" LIMIT {question.limit + 1:d} OFFSET {question.offset:d}"
        ),
        parameters=parameters,
        kinds=tuple(kind for _, kind in shown),
    )


def count_of(question: TableQuery, source: str, columns: Mapping[str, Column], dialect: Dialect) -> Statement:
    """Returns the statement that counts all rows, up to one more than `MAX_COUNTED`."""
    tail, parameters = _tail(question, source, columns, dialect)
    sql = f"SELECT count(*) FROM (SELECT 1 AS one {tail} LIMIT {MAX_COUNTED + 1:d}) AS counted"  # noqa: S608  (see above)
    return Statement(sql=sql, parameters=parameters, kinds=("integer",))


def _tail(
    question: TableQuery, source: str, columns: Mapping[str, Column], dialect: Dialect
) -> tuple[str, tuple[Scalar, ...]]:
    """Returns the FROM, WHERE and GROUP BY clauses with their parameters."""
    parameters: list[Scalar] = []

    def bind(value: Scalar) -> str:
        parameters.append(value)
        return dialect.placeholder(len(parameters))

    conditions = [dialect.condition(columns[each.column], each, bind) for each in question.where]
    where = (" OR " if question.any_of else " AND ").join(f"({condition})" for condition in conditions)
    groups = ", ".join(dialect.key(columns[name]) for name in question.columns) if question.is_grouped else ""
    tail = f"FROM {source} AS t" + (f" WHERE {where}" if where else "") + (f" GROUP BY {groups}" if groups else "")
    return tail, tuple(parameters)


def _express_measure(measure: Measure, columns: Mapping[str, Column], dialect: Dialect) -> tuple[str, Kind]:
    return dialect.measure_expression(measure, None if measure.column is None else columns[measure.column])


def _order_key(order: Order, columns: Mapping[str, Column], dialect: Dialect) -> str:
    by = order.by
    key = _express_measure(by, columns, dialect)[0] if isinstance(by, Measure) else dialect.key(columns[by])
    return f"{key} {'DESC' if order.descending else 'ASC'} NULLS LAST"
