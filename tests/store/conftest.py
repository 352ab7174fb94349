"""A store without its thread, for the tests that look at rows alone."""

from collections.abc import Generator
from contextlib import closing
from pathlib import Path

import pytest

from store import Repositories
from store.database import connect
from store.migrations import migrate
from store.repository import Context
from store.sealing import unlock
from tests.store.places import master_of


@pytest.fixture
def repos(path: Path) -> Generator[Repositories]:
    """The repositories of a new store, in one transaction that is never committed."""
    path.parent.mkdir()
    with closing(connect(path)) as connection:
        migrate(connection)
        keyring = unlock(connection, master_of(path))
        connection.execute("BEGIN")
        yield Repositories(Context(keyring, "signal"))
