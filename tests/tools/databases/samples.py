"""A database behind both tools, as tests ask it."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from tests.tools.conftest import Asked
from tools import ToolContext
from tools.databases.options import DbQueryOptions
from tools.databases.query import DbQueryArguments, Rows, question_of
from tools.databases.tool import DbDescribe, DbQuery
from tools.errors import NotFound


def options(databases: Mapping[str, Any]) -> DbQueryOptions:
    return DbQueryOptions.model_validate({"databases": json.dumps(databases)})


class Listed:
    def __init__(self, databases: Mapping[str, Any]) -> None:
        context = ToolContext(now=datetime(2026, 11, 21, 14, 30, 15, tzinfo=UTC), timezone="Europe/Berlin")
        self.accesses = options(databases).accesses
        self.tool = DbQuery(self.accesses)
        self.describe, self.ask = Asked(DbDescribe(self.accesses), context), Asked(self.tool, context)


class Shop(Listed):
    def __init__(self, address: str, tables: Mapping[str, Sequence[str]], **limits: Any) -> None:
        super().__init__({"shop": {"address": address, "tables": tables, **limits}})

    async def query(self, table: str, **arguments: Any) -> Any:
        """What the model reads."""
        return await self.ask(None, table, **arguments)

    async def answer(self, table: str) -> Rows:
        question = question_of(DbQueryArguments(table=table), self.accesses["shop"])
        return await self.tool.database("shop").ask(question)

    async def rows(self, table: str, **arguments: Any) -> Any:
        try:
            return (await self.query(table, **arguments))["rows"]
        except NotFound:
            return []


def where(column: str, operator: str, *value: Any) -> list[dict[str, Any]]:
    return [{"column": column, "op": operator, **({"value": value[0]} if value else {})}]
