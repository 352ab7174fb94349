"""Questions to the operator's databases, as a model asks them, over a real SQLite file."""

import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from bot.errors import ConfigError
from bot.settings import load_settings
from tests.tools.databases.samples import Listed, Shop, where
from tools import BadArguments, Disabled, NotFound
from tools.databases.options import DbQueryOptions

SCHEMA = """
CREATE TABLE orders
  (id INTEGER PRIMARY KEY, customer TEXT, town VARCHAR(20), total REAL, paid BOOLEAN, note, password TEXT);
INSERT INTO orders VALUES
  (1, 'Müller', 'Kiel', 3.5, 1, '50% off_now', 'hidden'), (2, 'MÜLLERIN', 'Kiel', 10, 0, NULL, 'hidden'),
  (3, 'Ann', 'Husum', NULL, 1, 'a_b', 'hidden'), (4, NULL, 'Husum', 2, 0, 'axb', 'hidden');
CREATE TABLE staff (name TEXT, salary REAL);
"""
ORDERS = ("id", "customer", "town", "total", "paid", "note")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "shop.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(SCHEMA)
    return file


@pytest.fixture
def shop(path: Path) -> Shop:
    return Shop(f"sqlite://{path}", {"orders": ORDERS})


async def test_several_databases_are_listed_in_short_and_described_one_by_one(path: Path) -> None:
    """Listing opens none of them, so one that is gone does not hide the others."""
    here, gone = f"sqlite://{path}", "sqlite:///nowhere/gone.db"
    listed = {
        "shop": {"address": here, "tables": {"orders": ["id"]}},
        "gone": {"address": gone, "tables": {"t": ["a"]}, "about": "Lost."},
    }
    both = Listed(listed)
    assert "shop, gone" in both.ask.tool.spec.description
    short = [{"database": "shop", "tables": ["orders"]}, {"database": "gone", "about": "Lost.", "tables": ["t"]}]
    assert await both.describe() == {"databases": short}
    described = await both.describe("gone")
    assert described == {"database": "gone", "about": "Lost.", "tables": [{"table": "t", "columns": ["a"]}]}
    with pytest.raises(Disabled, match="operator"):
        await both.ask("gone", "t")
    with pytest.raises(BadArguments, match=r"no database 'other'; there are: shop, gone\."):
        await both.ask("other", "t")


async def test_rows_come_as_a_small_table(shop: Shop) -> None:
    """The columns in the order asked for, empty cells as null and last, whichever way they are ordered."""
    assert await shop.query("orders", columns=["total", "id"], order_by=["total desc"]) == {
        "database": "shop",
        "table": "orders",
        "columns": ["total", "id"],
        "rows": [[10.0, 2], [3.5, 1], [2.0, 4], [None, 3]],
        "truncated": False,
    }
    assert await shop.rows("orders", columns=["id"], order_by=["total"]) == [[4], [1], [2], [3]]
    assert (await shop.query("orders"))["columns"] == list(ORDERS)


async def test_each_operator_finds_its_rows(shop: Shop) -> None:
    """Signs mean themselves, no value fits `is_null` alone, and an object of columns and values does as well."""
    finds: tuple[tuple[str, str, Any, list[int]], ...] = (
        ("customer", "=", "müller", []),
        ("customer", "!=", "Müller", [2, 3]),
        ("customer", "contains", "MÜLLER", [1, 2]),
        ("customer", "starts_with", "m", [1, 2]),
        ("customer", "is_null", None, [4]),
        ("note", "contains", "%", [1]),
        ("note", "starts_with", "a_", [3]),
        ("total", "<=", 3.5, [1, 4]),
        ("total", ">", "3", [1, 2]),
        ("paid", "=", True, [1, 3]),
        ("id", "in", [1, "4", 99], [1, 4]),
        ("total", "between", [2, 3.5], [1, 4]),
    )
    for column, operator, value, ids in finds:
        condition = {"column": column, "op": operator, "value": value}
        found = await shop.rows("orders", columns=["id"], where=[condition], order_by=["id"])
        assert found == [[each] for each in ids], condition
    for conditions, rows in (({"town": "Kiel"}, 2), ({"customer": ["Ann", "Müller"]}, 2), ({"customer": None}, 1)):
        assert len((await shop.query("orders", where=conditions))["rows"]) == rows, conditions
    either = [*where("town", "=", "Kiel"), *where("customer", "=", "Ann")]
    assert [len(await shop.rows("orders", where=either, match=match)) for match in ("all", "any")] == [0, 3]


async def test_the_only_database_needs_no_name_and_no_row_is_not_found(shop: Shop) -> None:
    """Columns and values as a model may write them; what no row has is an error of its own, not an empty table."""
    rows = await shop.ask(table="orders", columns=["id"], where={"customer": "Müller"}, limit=5)
    assert (rows["database"], rows["rows"]) == ("shop", [[1]])
    with pytest.raises(NotFound, match="No row of orders"):
        await shop.ask(table="orders", where={"customer": "Alice"})


async def test_figures_are_computed_by_group(shop: Shop) -> None:
    """Cells without a value are in no figure but the count of the rows."""
    figures = ["count", "count(total)", "sum(total)", "average(total)", "min(total)", "max(customer)"]
    data = await shop.query("orders", group_by=["town"], compute=figures, order_by=["sum(total) DESC"])
    assert data["columns"] == ["town", *figures]
    assert data["rows"] == [["Kiel", 2, 2, 13.5, 6.75, 3.5, "Müller"], ["Husum", 2, 1, 2.0, 2.0, 2.0, "Ann"]]
    assert await shop.rows("orders", compute=["count(*)", "sum(note)"], where=where("id", ">", 9)) == [[0, None]]
    assert await shop.rows("orders", group_by=["town"], order_by=["town"]) == [["Husum"], ["Kiel"]]


async def test_what_is_more_than_asked_for_is_said_with_the_way_on(path: Path) -> None:
    """The operator's limit is above the model's; the total is told, and where to go on; behind the end nothing is."""
    shop = Shop(f"sqlite://{path}", {"orders": ["id"]}, max_rows=3)
    first = await shop.query("orders", order_by=["id"], limit=500)
    assert (first["rows"], first["truncated"], first["next_offset"]) == ([[1], [2], [3]], True, 3)
    rest = await shop.query("orders", order_by=["id"], offset=first["next_offset"])
    assert (rest["rows"], rest["truncated"]) == ([[4]], False)
    assert "next_offset" not in rest
    groups = await shop.query("orders", group_by=["id"], limit=1)
    assert groups["truncated"]


async def test_a_table_of_large_cells_stays_small(path: Path) -> None:
    """Each cell is cut, then rows are left out; the way on still leads to the first that was left out."""
    with closing(sqlite3.connect(path)) as connection:
        rows = [(f"{n:02d} " + "word " * 5000, n) for n in range(40)]
        connection.executemany("INSERT INTO staff VALUES (?, ?)", rows)
        connection.commit()
    shop = Shop(f"sqlite://{path}", {"staff": ["name", "salary"]})
    data = await shop.query("staff", order_by=["salary"], limit=40)
    assert 5 < len(data["rows"]) == data["next_offset"] < 40
    assert len(json.dumps(data["rows"])) < 7000
    assert all(len(name) <= 300 and name.endswith("…") for name, _ in data["rows"])
    assert data["truncated"] is True
    going_on = await shop.rows("staff", columns=["salary"], order_by=["salary"], offset=data["next_offset"], limit=1)
    assert going_on == [[float(data["next_offset"])]]


async def test_what_no_text_holds_is_shown_safely(path: Path) -> None:
    """Bytes by their number, broken text repaired, and nothing that cannot be seen."""
    with closing(sqlite3.connect(path)) as connection:
        odd = [(b"\x00\x01\x02",), ("seen\u202e\x07",), (2**62,)]
        connection.executemany("INSERT INTO orders (note) VALUES (?)", odd)
        connection.execute("INSERT INTO orders (note) VALUES (CAST(x'61ff62' AS TEXT))")
        connection.commit()
    shop = Shop(f"sqlite://{path}", {"orders": ["id", "note"]})
    rows = await shop.rows("orders", columns=["note"], where=where("id", ">", 4), order_by=["id"])
    assert rows == [["[3 bytes]"], ["seen"], [2**62], ["a\ufffdb"]]


async def test_what_may_not_be_asked_is_told_with_what_may(shop: Shop) -> None:
    """So that the model corrects itself; names are names here, never SQL."""
    unaskable: list[tuple[dict[str, Any], str]] = [
        ({"table": 'orders"; DROP TABLE orders; --'}, r"no table 'orders.*there are: orders\."),
        ({"columns": ["password"]}, r"no column 'password' here; there are: id, customer"),
        ({"columns": ['id" FROM staff --']}, "there are: id, customer"),
        ({"where": where("password", "=", "x")}, "no column 'password'"),
        ({"compute": ["max(password)"]}, "no column 'password'"),
        ({"compute": ["load_extension(customer)"]}, "is no figure: use count, or count, sum"),
        ({"compute": ["count"], "columns": ["id"]}, "leave columns out"),
        ({"order_by": ["password"]}, "ordered by 'password'; they can by: id"),
        ({"where": where("id", "in", [])}, "in takes a list of values"),
        ({"where": where("id", "between", [1])}, "between takes a list of two values"),
        ({"where": where("id", "=")}, "= takes one value, not a list; for empty cells use is_null"),
        ({"where": where("id", "is_null", 1)}, "is_null takes no value"),
        # There is no place for SQL, nor for what would take long.
        ({"where": where("customer", "=", "x" * 501)}, "at most 500"),
        ({"where": where("id", "in", [1] * 51)}, "at most 50"),
        ({"where": where("id", "=", float("nan"))}, "finite"),
        ({"where": where("customer", "in", ["a", "\ud800"])}, "unicode"),
        ({"where": where("id", "=", 1) * 21}, "at most 20"),
        ({"sql": "SELECT 1"}, "Extra inputs"),
        ({"limit": 0}, "greater than or equal to 1"),
        ({"columns": ["id"] * 31}, "at most 30"),
    ]
    for arguments, told in unaskable:
        with pytest.raises((BadArguments, ValidationError), match=told):
            await shop.query(**{"table": "orders", **arguments})
    assert len((await shop.query("orders"))["rows"]) == 4


ADDRESS = "postgresql://keeper:SECRET@db.example/shop"


def test_a_list_that_cannot_work_is_refused_without_repeating_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the start, in one line that names the variable, and the package to install where one is missing."""
    for document in (
        "SECRET",
        '{"SECRET": {}}',
        '{"shop": {"address": "sqlite://SECRET/x.db", "tables": {"t": ["a"]}}}',
        '{"shop": {"address": "sqlite:///x.db?mode=SECRET", "tables": {"t": ["a"]}}}',
        json.dumps({"shop": {"address": ADDRESS}}),
        json.dumps({"shop": {"address": ADDRESS, "tables": {"t": ["a"]}, "SECRET": 1}}),
        json.dumps({"shop": {"address": ADDRESS, "tables": {"t": ["SECRET\n"]}}}),
    ):
        with pytest.raises(ConfigError) as caught:
            load_settings({"TOOLS__DB_QUERY__DATABASES": document}, None)
        assert str(caught.value).startswith("TOOLS__DB_QUERY__DATABASES: ")
        assert "SECRET" not in str(caught.value)
        assert "\n" not in str(caught.value)
    monkeypatch.setitem(sys.modules, "asyncpg", None)  # as where it is not installed
    document = json.dumps({"far": {"address": ADDRESS, "tables": {"t": ["a"]}}})
    with pytest.raises(ConfigError, match=r"TOOLS__DB_QUERY__DATABASES: needs the package asyncpg.*EXTRAS=postgres"):
        load_settings({"TOOLS__DB_QUERY__DATABASES": document}, None)


def test_the_list_may_stand_in_a_file_of_many_lines(tmp_path: Path) -> None:
    """JSON is no single word, as keys are."""
    file = tmp_path / "databases.json"
    listed = {"shop": {"address": ADDRESS, "about": "Käse", "tables": {"t": ["a", "a"]}}}
    file.write_text(json.dumps(listed, indent=2, ensure_ascii=False), encoding="utf-8")
    given = load_settings({"TOOLS__DB_QUERY__DATABASES_FILE": str(file)}, None).tools.options_by_name["db_query"]
    assert isinstance(given, DbQueryOptions)
    access = given.accesses["shop"]
    assert (access.is_postgresql, access.about, access.tables) == (True, "Käse", {"t": ("a",)})
    assert "SECRET" not in repr(given) + str(given) + given.model_dump_json() + repr(access)
    assert given.seen_by() == ("your own PostgreSQL servers: the question",)
