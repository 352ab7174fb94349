"""The files of a store as tests look at them from outside."""

import sqlite3
from contextlib import closing
from pathlib import Path


def keys_of(path: Path) -> Path:
    return path.with_name(path.name + "-keys")


def master_of(path: Path) -> Path:
    return path.with_name(path.name + "-master-key")


def wrapped(path: Path) -> list[bytes]:
    """The wrapped keys in the key file of a store, that of the index among them."""
    with closing(sqlite3.connect(f"file:{keys_of(path)}?mode=ro", uri=True)) as connection:
        return [key for (key,) in connection.execute("SELECT key FROM wrapped")]


def execute(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def contents(path: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in path.parent.iterdir() if file.is_file()}


def replace(path: Path, content: bytes) -> None:
    path.write_bytes(content)


HARMS = {
    "a page of nonsense": lambda content: content[:4096] + b"\xff" * 4096 + content[8192:],
    "a letter of its schema": lambda content: content.replace(b"CREATE TABLE", b"CREATE T\xe1BLE"),
    "cut off": lambda content: content[: len(content) // 8192 * 4096],
    "something else": lambda _: b"Dear diary, " * 1000,
}
