"""The settings of the database tools: the operator's list of databases, the JSON of one variable.

    {"shop": {"address": "sqlite:///data/shop.db", "about": "the club's shop", "tables": {"orders": ["day", "total"]}}}

Errors do not repeat what was given, as an address may contain a password. Whether a database has these tables only
shows when it is queried.
"""

import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated
from urllib.parse import unquote, urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    field_validator,
)

from tools.base import Options

_DatabaseName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,31}$")]
_Identifier = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f]+$", max_length=128)]
_Columns = Annotated[
    tuple[_Identifier, ...],
    Field(min_length=1, max_length=100),
    AfterValidator(lambda columns: tuple(dict.fromkeys(columns))),
]
_ADDRESS = re.compile(r"sqlite:///[^?#]*[^?#/]|postgres(ql)?://.*")


class Access(BaseModel):
    """What can be read of one database, as the operator writes it."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True, allow_inf_nan=False)

    address: SecretStr
    """`sqlite:///...` or `postgresql://...`, perhaps with a password."""
    tables: Annotated[dict[_Identifier, _Columns], Field(min_length=1, max_length=50)]
    """The readable columns by table or view."""
    about: Annotated[str, Field(max_length=200)] = ""
    """What it contains, for the model."""
    max_rows: Annotated[int, Field(ge=1, le=500)] = 50
    """The most rows of an answer."""
    timeout_seconds: Annotated[float, Field(ge=0.1, le=60)] = 5
    """The time limit of a query, including opening and counting."""

    @property
    def is_postgresql(self) -> bool:
        """Whether it is on a PostgreSQL server, and no file of SQLite."""
        return self.address.get_secret_value().startswith("postgres")

    @property
    def sqlite_file(self) -> Path:
        """The file of a database of SQLite."""
        return Path("/" + unquote(urlsplit(self.address.get_secret_value()).path).lstrip("/"))

    @field_validator("address")
    @classmethod
    def _readable(cls, given: SecretStr) -> SecretStr:
        if not _ADDRESS.fullmatch(given.get_secret_value()):
            raise ValueError("must be sqlite:/// and an absolute path, or postgresql:// and what follows it")
        return given


_ACCESSES = TypeAdapter(Annotated[dict[_DatabaseName, Access], Field(max_length=20)])


def accesses_of(document: str) -> dict[str, Access]:
    """Returns the databases by name, in order; a `ValueError` says in one line, without any value, what is wrong."""
    try:
        return _ACCESSES.validate_json(document)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        # Only our own names tell where: a given key may be a misplaced password.
        place = next((f"{part}: " for part in first["loc"] if part in Access.model_fields), "")
        raise ValueError(f"must be JSON as docs/tools.md shows it: {place}{first['msg']}") from None


class DbQueryOptions(Options):
    """The settings `TOOLS__DB_QUERY__<FIELD>`, of both tools."""

    databases: SecretStr | None = None
    """Your own SQLite and PostgreSQL databases, as JSON: by name an `address` (`sqlite:///absolute/path` or
    `postgresql://user:password@host/database`) and under `tables` the columns that may be read; also `about`,
    `max_rows`, `timeout_seconds`. Everyone who may write to Aldis can read what is listed. PostgreSQL needs the package
    asyncpg (the extra `postgres`).
    """

    @field_validator("databases")
    @classmethod
    def _readable(cls, given: SecretStr | None) -> SecretStr | None:
        accesses = {} if given is None else accesses_of(given.get_secret_value())
        if any(access.is_postgresql for access in accesses.values()) and find_spec("asyncpg") is None:
            raise ValueError(
                "needs the package asyncpg, which is missing: pip install asyncpg, or an image with EXTRAS=postgres"
            )
        return given

    @property
    def accesses(self) -> dict[str, Access]:
        """The databases by name, in the listed order."""
        return {} if self.databases is None else accesses_of(self.databases.get_secret_value())

    def missing_settings(self) -> str | None:
        """See `Options.missing_settings`: a database."""
        return None if self.accesses else "DATABASES"

    def absent_files(self) -> Iterator[Path]:
        """Returns the files of SQLite that are named and not there."""
        files = (access.sqlite_file for access in self.accesses.values() if not access.is_postgresql)
        return (file for file in files if not file.is_file())

    def seen_by(self) -> tuple[str, ...]:
        """See `Options.seen_by`: the operator's own servers, if any."""
        has_postgres = any(access.is_postgresql for access in self.accesses.values())
        return ("your own PostgreSQL servers: the question",) if has_postgres else ()
