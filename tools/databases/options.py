"""The settings of the database tools."""

import importlib
import importlib.util

from pydantic import field_validator

from tools.base import Options, SecretText
from tools.databases.access import Access, accesses_of

POSTGRES_PACKAGE = "the package asyncpg (the extra `postgres`)"


class DbQueryOptions(Options):
    """The settings `TOOLS__DB_QUERY__<FIELD>`, of both tools."""

    databases: SecretText | None = None
    """Your own SQLite and PostgreSQL databases, as JSON: by name an `address` (`sqlite:///absolute/path` or
    `postgresql://user:password@host/database`) and under `tables` the columns that may be read; also `about`,
    `max_rows`, `timeout_seconds`. Everyone who may write to Aldis can read what is listed. PostgreSQL needs the package
    asyncpg (the extra `postgres`).
    """

    @field_validator("databases")
    @classmethod
    def _readable(cls, given: SecretText | None) -> SecretText | None:
        if given is not None:
            accesses_of(given.get_secret_value())
        return given

    @property
    def accesses(self) -> tuple[Access, ...]:
        """The databases in the listed order."""
        return () if self.databases is None else accesses_of(self.databases.get_secret_value())

    def missing_settings(self) -> str | None:
        """See `Options.missing_settings`: a database, or the package that all of them need."""
        if not (listed := self.accesses):
            return "DATABASES"
        if has_postgres() or any(access.engine == "sqlite" for access in listed):
            return None
        return POSTGRES_PACKAGE

    def missing_extra(self) -> str | None:
        """See `Options.missing_extra`: the extra for PostgreSQL."""
        is_needed = any(access.engine == "postgresql" for access in self.accesses)
        return "postgres" if is_needed and not has_postgres() else None

    def seen_by(self) -> tuple[str, ...]:
        """See `Options.seen_by`: the operator's own servers, if any."""
        is_served = any(access.engine == "postgresql" for access in self.accesses)
        return ("your own PostgreSQL servers: the question",) if is_served else ()


def has_postgres() -> bool:
    """Whether the package for PostgreSQL is installed."""
    return importlib.util.find_spec("asyncpg") is not None
