"""A real PostgreSQL server, started once; without Debian's package `postgresql` the tests are skipped."""

import asyncio
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from tests.servers.postgres import PASSWORD, PostgresServer, programs, running
from tests.tools.databases.samples import Shop, where
from tests.waiting import DEADLINE_SECONDS, WAIT_SECONDS, eventually_found
from tools import BadArguments, Disabled, TimedOut, ToolError, Unavailable

SCHEMA = (
    "CREATE DOMAIN town AS text",
    "CREATE DOMAIN part AS real",
    "CREATE TYPE mood AS ENUM ('sad', 'glad')",
    """CREATE TABLE orders (
         id int PRIMARY KEY, customer varchar(40), town town, total numeric(8, 2), share part, paid boolean,
         day date, at timestamptz, took interval, tags text[], more jsonb, mood mood, raw bytea, "select 'x" text,
         password text)""",
    """INSERT INTO orders VALUES
         (1, 'Müller', 'Kiel', 3.50, 0.1, true, '2026-01-02', '2026-01-02 10:00+01', '1 day', '{a,b}', '{"k": [1]}',
          'glad', '\\x0102', 'x', 'hidden'),
         (2, 'MÜLLERIN', 'Kiel', 10, 2, false, '0001-01-01 BC', 'infinity', '2 hours', '{}', 'null', 'sad', NULL,
          'a_b', 'hidden')""",
    """INSERT INTO orders (id, customer, town, total, share, paid) VALUES
         (3, 'Ann', 'Husum', NULL, NULL, true), (4, NULL, 'Husum', 2, 1, false)""",
    "CREATE TABLE towns AS SELECT '01067' AS code",
    "CREATE TABLE long (words text, bytes bytea, list int[], doc json)",
    """INSERT INTO long SELECT repeat('word ', 100000), decode(repeat('00', 5000), 'hex'),
         array_agg(n), json_agg(n) FROM generate_series(1, 500) AS n""",
    "CREATE VIEW endless AS WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n",
    "CREATE TABLE written (n int)",
    """CREATE FUNCTION writes() RETURNS int LANGUAGE plpgsql AS
         'BEGIN RAISE WARNING ''SECRET notice''; INSERT INTO public.written VALUES (1); RETURN 1; END'""",
    "CREATE VIEW writing AS SELECT writes() AS n",
    """CREATE FUNCTION fails() RETURNS int LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''SECRET words''; END'""",
    "CREATE VIEW failing AS SELECT fails() AS n",
    # What whoever may create in `public` could set as a trap for comparisons that do not say whose `=` they mean.
    "CREATE FUNCTION trap(varchar, text) RETURNS bool LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''trapped''; END'",
    "CREATE OPERATOR = (LEFTARG = varchar, RIGHTARG = text, FUNCTION = trap)",
    "ALTER DATABASE lighthouse SET timezone = 'Asia/Tokyo'",  # answers do not go by what is set at home
    "ALTER DATABASE lighthouse SET datestyle = 'German'",
    "CREATE ROLE reader LOGIN",
    "GRANT SELECT (id) ON orders TO reader",
    "ANALYZE orders",
)
ORDERS = (
    *("id", "customer", "town", "total", "share", "paid", "day", "at", "took", "tags", "more", "mood", "raw"),
    "select 'x",
)


@pytest.fixture(scope="session")
def server() -> Iterator[PostgresServer]:
    if (folder := programs()) is None:
        pytest.skip("PostgreSQL is NOT tested: there is no initdb here (Debian: apt-get install postgresql)")
    with running(folder) as started:
        asyncio.run(started.run(*SCHEMA))
        yield started


@pytest.fixture
def shop(server: PostgresServer) -> Shop:
    return Shop(server.address(), {"orders": ORDERS}, timeout_seconds=DEADLINE_SECONDS)


async def test_every_type_becomes_json(shop: Shop) -> None:
    """Exact figures keep their digits, instants are in UTC, bytes are told by their number; nothing stays nothing."""
    first, second, third, _ = await shop.rows("orders", order_by=["id"])
    assert first == [
        *("1", "Müller", "Kiel", "3.50", "0.1", "true", "2026-01-02", "2026-01-02 09:00:00+00", "1 day", "{a,b}"),
        *('{"k": [1]}', "glad", "\\x0102", "x"),
    ]
    assert second[6:12] == ["0001-01-01 BC", "infinity", "02:00:00", "{}", "null", "sad"]
    assert third == ["3", "Ann", "Husum", None, None, "true", *[None] * 8]


async def test_each_operator_finds_its_rows(shop: Shop) -> None:
    """As with SQLite; values take the type of their column, and one of a wrong type is the model's to mend."""
    cases: tuple[tuple[str, str, Any, list[int]], ...] = (
        ("customer", "=", "Müller", [1]),
        ("customer", "in", ["Ann", "' OR 1=1 --"], [3]),
        ("id", "in", [1, "4", 99], [1, 4]),
        ("total", "<=", 3.5, [1, 4]),
        ("share", "=", 0.1, [1]),
        ("paid", "=", True, [1, 3]),
        ("at", ">=", "2026-01-02 10:00+01", [1, 2]),
        ("took", ">", "90 minutes", [1, 2]),
        ("mood", "=", "glad", [1]),
    )
    for column, operator, value, ids in cases:
        condition = {"column": column, "op": operator, "value": value}
        found = await shop.rows("orders", columns=["id"], where=[condition], order_by=["id"])
        assert found == [[str(each)] for each in ids], condition
    for column, value in (("id", "four"), ("day", "soon"), ("paid", "perhaps"), ("at", "13:99"), ("id", 2**63 - 1)):
        with pytest.raises(BadArguments, match=r"^A value does not fit the type of its column\.$"):
            await shop.query("orders", where=where(column, "=", value))


async def test_figures(shop: Shop) -> None:
    """Of numbers alone, with every digit."""
    figures = ["sum(id)", "sum(total)", "average(id)", "sum(share)", "count"]
    [computed] = await shop.rows("orders", compute=figures, where=where("id", "!=", 9))
    assert computed == ["10", "15.50", "2.5", "3.1", "4"]
    assert await shop.rows("orders", compute=["sum(id)"], where=where("id", ">", 9)) == [[None]]
    with pytest.raises(BadArguments, match="cannot be asked of a column of this type"):
        await shop.query("orders", compute=["sum(customer)"])


async def test_what_is_large_is_cut_by_the_server(server: PostgresServer) -> None:
    """Half a megabyte of a text never travels; lists and documents that do not fit become cut texts."""
    shop = Shop(server.address(), {"long": ["words", "bytes", "list", "doc"], "towns": ["code"]})
    [[words, size, numbers, document]] = await shop.rows("long")
    [cells] = await shop.answer("long")
    assert [len(str(cell)) for cell in cells] == [301, 301, 301, 301]
    assert (len(words) <= 300, words[-5:], size[:6]) == (True, "word…", "\\x0000")
    assert (numbers[:6], document[:8]) == ("{1,2,3", "[1, 2, 3")
    assert await shop.rows("towns") == [["01067"]]


async def test_nothing_is_ever_written(server: PostgresServer, caplog: pytest.LogCaptureFixture) -> None:
    """Not by a view with a function in it, not by the owner of everything; what the server says is not logged."""
    caplog.set_level(logging.DEBUG)
    shop = Shop(server.address(), {"writing": ["n"], "failing": ["n"]})
    for view in ("writing", "failing"):
        with pytest.raises(Unavailable, match="could not answer this"):
            await shop.query(view)
    assert await server.run("SELECT n FROM written") == []
    assert "SECRET" not in caplog.text


async def test_what_takes_too_long_is_stopped_at_the_server(server: PostgresServer) -> None:
    """By its own deadline, or because nobody waits any more."""
    shop = Shop(server.address(), {"endless": ["x"]}, timeout_seconds=0.5)
    with pytest.raises(TimedOut, match="ask for less"):
        await shop.query("endless", compute=["count"])
    patient = Shop(server.address(), {"endless": ["x"]}, timeout_seconds=DEADLINE_SECONDS)
    question = asyncio.create_task(patient.query("endless", compute=["count"]))
    await _until(server, running=True)
    question.cancel()
    with pytest.raises(asyncio.CancelledError):
        await question
    await _until(server, running=False)


async def _until(server: PostgresServer, *, running: bool) -> None:
    """Wait until a question about the endless view runs at the server, or none does."""
    sql = "SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%endless%' AND pid <> pg_backend_pid()"

    async def has_come() -> bool:
        return bool(await server.run(sql)) is running

    await eventually_found(has_come)


async def test_a_login_that_does_not_fit_is_the_operators_to_mend(server: PostgresServer) -> None:
    """The password works over the network; a wrong one, a wrong database, a role that may not read: each is told."""
    tables = {"orders": ["id", "customer"]}
    assert len(await Shop(server.tcp_address(PASSWORD), tables).rows("orders")) == 4
    refused = {
        server.tcp_address("wrong-SECRET"): "refuses Aldis",
        server.tcp_address(PASSWORD, "SECRET"): "no such database",
        server.address("reader"): "refuses Aldis",
        server.address() + "&sslmode=SECRET": "address cannot be read",
        "postgresql://u:SECRET/word@localhost/d": "address cannot be read",
    }
    for address, told in refused.items():
        with pytest.raises(Disabled, match=told) as caught:
            await Shop(address, tables).query("orders")
        assert "SECRET" not in str(caught.value)
        assert not isinstance(caught.value.__cause__, ValueError)  # its words hold a part of the address
    assert len(await Shop(server.address("reader"), {"orders": ["id"]}).rows("orders")) == 4
    with pytest.raises(Disabled, match="lacks a table or column"):
        await Shop(server.address(), {"orders": ["gone"]}).query("orders")


async def test_a_server_that_is_none_is_told() -> None:
    """Nobody there, somebody who says nothing, somebody who talks something else: all within the time of a question."""

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async def chatty(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 SECRET\r\n\r\n")
        writer.close()

    for behaviour in (silent, chatty):
        async with await asyncio.start_server(behaviour, "127.0.0.1", 0) as listening:
            port = listening.sockets[0].getsockname()[1]
            shop = Shop(f"postgresql://u:SECRET@127.0.0.1:{port}/d", {"t": ["a"]}, timeout_seconds=0.5)
            with pytest.raises((TimedOut, Unavailable)) as caught:
                async with asyncio.timeout(WAIT_SECONDS):  # asyncpg alone would wait for a minute
                    await shop.query("t")
            assert "SECRET" not in str(caught.value)
    with pytest.raises(ToolError, match="cannot be reached"):
        await Shop(f"postgresql://u:SECRET@127.0.0.1:{port}/d", {"t": ["a"]}).query("t")
