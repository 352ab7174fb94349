"""A database behind both tools, as tests ask it."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from tools import ToolContext
from tools.databases.options import DbQueryOptions
from tools.databases.query import DbQueryArguments, Rows, question_of
from tools.databases.tool import Databases, DbDescribe, DbDescribeArguments, DbQuery
from tools.errors import NotFound

CONTEXT = ToolContext(now=datetime(2026, 11, 21, 14, 30, 15, tzinfo=UTC), timezone="Europe/Berlin")


def options(databases: Mapping[str, Any]) -> DbQueryOptions:
    """The options as they come from the environment."""
    return DbQueryOptions.model_validate({"databases": json.dumps(databases)})


class Asked:
    """Both tools over one database `shop`."""

    def __init__(self, address: str, tables: Mapping[str, Sequence[str]], **limits: Any) -> None:
        given = {"shop": {"address": address, "tables": tables, **limits}}
        self.databases = Databases(options(given))
        self.context = CONTEXT
        self.describing, self.querying = DbDescribe(self.databases), DbQuery(self.databases)

    async def query(self, table: str, **arguments: Any) -> Any:
        """What the model reads."""
        given = DbQueryArguments.model_validate({"database": "shop", "table": table, **arguments})
        return (await self.querying.run(given, self.context)).data

    async def answer(self, table: str, **arguments: Any) -> Rows:
        """What the database itself gives, before it is made fit for a model."""
        given = DbQueryArguments.model_validate({"database": "shop", "table": table, **arguments})
        return await self.databases.database("shop").ask(question_of(given, self.databases.accesses["shop"]))

    async def rows(self, table: str, **arguments: Any) -> Any:
        """The rows alone; none where the tool says that none fits."""
        try:
            return (await self.query(table, **arguments))["rows"]
        except NotFound:
            return []

    async def describe(self, **arguments: Any) -> Any:
        """What the model reads."""
        return (await self.describing.run(DbDescribeArguments.model_validate(arguments), self.context)).data


def where(column: str, operator: str, *value: Any) -> list[dict[str, Any]]:
    """One condition."""
    return [{"column": column, "op": operator, **({"value": value[0]} if value else {})}]
