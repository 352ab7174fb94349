"""The operator's list of databases, from the JSON of one variable to checked values.

    {"shop": {"address": "sqlite:///data/shop.db", "about": "the club's shop", "tables": {"orders": ["day", "total"]}}}

What is wrong is told without repeating what was given: an address may hold a password. Whether the database is there,
and has these tables, shows only when it is asked.
"""

from collections.abc import Mapping
from typing import Annotated, Literal
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
)

from tools.text import clean_text

Engine = Literal["sqlite", "postgresql"]

_ENGINES: Mapping[str, Engine] = {"sqlite": "sqlite", "postgresql": "postgresql", "postgres": "postgresql"}

_DatabaseName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,31}$")]
_Identifier = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f]+$", max_length=128)]
_Columns = Annotated[
    tuple[_Identifier, ...],
    Field(min_length=1, max_length=100),
    AfterValidator(lambda columns: tuple(dict.fromkeys(columns))),
]
_About = Annotated[str, Field(max_length=200), AfterValidator(lambda about: clean_text(about).strip())]


class _Entry(BaseModel):
    """One database, as the operator writes it."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True, allow_inf_nan=False)

    address: SecretStr
    """`sqlite:///...` or `postgresql://...`: it may hold a password."""
    tables: Annotated[dict[_Identifier, _Columns], Field(min_length=1, max_length=50)]
    """The columns that may be read, by table. A view is a table."""
    about: _About = ""
    """What is in it, for the model; "" where the operator says nothing."""
    max_rows: Annotated[int, Field(ge=1, le=500)] = 50
    """The most rows of an answer."""
    timeout_seconds: Annotated[float, Field(ge=0.1, le=60)] = 5
    """For one question in all, opening and counting included."""


class Access(_Entry):
    """What the operator lets be read of one database."""

    name: str
    """How models call it."""
    engine: Engine


_ENTRIES = TypeAdapter(Annotated[dict[_DatabaseName, _Entry], Field(max_length=20)])
_FIELDS = frozenset(_Entry.model_fields)


def accesses_of(document: str) -> tuple[Access, ...]:
    """The databases in the order in which they stand in the JSON.

    Raises:
        ValueError: it is no such JSON; the message says where, in one line, and holds no value.
    """
    try:
        entries = _ENTRIES.validate_json(document)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        # Where, in words of ours alone: a key that was given may be a password in the wrong place.
        place = next((f"{part}: " for part in first["loc"] if part in _FIELDS), "")
        raise ValueError(f"must be JSON as docs/tools.md shows it: {place}{first['msg']}") from None
    return tuple(
        Access(name=name, engine=_engine(name, entry.address.get_secret_value()), **dict(entry))
        for name, entry in entries.items()
    )


def path_of(access: Access) -> str:
    """The path of an SQLite database: absolute, what was escaped in the address read."""
    return "/" + unquote(urlsplit(access.address.get_secret_value()).path).lstrip("/")


def _engine(name: str, address: str) -> Engine:
    problem = f"{name}: the address must be sqlite:/// and an absolute path, or postgresql:// and what follows it"
    try:
        parts = urlsplit(address)
        engine = _ENGINES.get(parts.scheme)
        is_path = bool(parts.path.strip("/")) and "\x00" not in unquote(parts.path)
        is_whole = engine == "postgresql" or (is_path and not (parts.netloc or parts.query or parts.fragment))
    except ValueError:
        raise ValueError(problem) from None  # the cause would hold the address
    if engine is None or not is_whole:
        raise ValueError(problem)
    return engine
