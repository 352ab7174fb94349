"""Stores as earlier Aldis made them: empty, with the tables of a schema from 1 to 35."""

import re
import sqlite3
from pathlib import Path

NEWEST_EARLIER = 35


def build_earlier(connection: sqlite3.Connection, version: int) -> None:
    """Create the tables of this schema in an empty database, and its number."""
    steps = re.split(
        r"^---- (\d+)$", Path(__file__).with_name("earlier_schemas.sql").read_text("utf-8"), flags=re.MULTILINE
    )
    wanted = [script for number, script in zip(steps[1::2], steps[2::2], strict=True) if int(number) <= version]
    connection.executescript("".join(wanted) + f"PRAGMA user_version = {version};")
