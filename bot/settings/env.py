"""How settings are spelled as environment variables: their names, their files, and the errors about wrong ones.

Works on any tree of pydantic models: a leaf `max_tool_calls` in the group `tools` is `TOOLS__MAX_TOOL_CALLS`. A value
comes from the environment, or else from the `.env` file; an empty one counts as unset. A secret can be kept in a file
named by `NAME_FILE`. Every error is a line that begins with the variable and never shows a value; unknown names are
reported together, a line each.

A misspelt name must not go unnoticed, least of all for a budget or a list of people. The `.env` file belongs to Aldis
alone, so every unknown name in it is refused. The environment also belongs to other programs, and compose files pass
one on as the other: there, a name is refused if it begins like one of our groups, or can only be a slip for one of our
names (`Spelling`). Names that merely look related are left alone, and the doctor lists them (`names_not_read`).
"""

import ast
import difflib
import inspect
import re
import sys
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel, SecretStr, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from bot.errors import ConfigError

SEPARATOR = "__"
FILE_SUFFIX = "_FILE"
ENVIRONMENT = "the environment"
"""The source of a value that comes from no file."""

_MISTAKEN = {
    "OPENAI_API_BASE": "OPENAI_BASE_URL",
    "OPENAI_API_URL": "OPENAI_BASE_URL",
    "OPENAI_MODEL": "LLM__OPENAI__MODEL",
    "CLAUDE_API_KEY": "ANTHROPIC_API_KEY",
    "CLAUDE_KEY": "ANTHROPIC_API_KEY",
}
"""Other programs' names for settings of ours; people copy these."""
_OFTEN_MEANT = {
    "CLAUDE_MODEL": "LLM__ANTHROPIC__MODEL",
    "DAILY_BUDGET": "BUDGET__ALL_DAY_USD",
    "MAX_BUDGET": "BUDGET__ALL_MONTH_USD",
    "MONTHLY_BUDGET": "BUDGET__ALL_MONTH_USD",
    "ALLOWED_NUMBERS": "ACCESS__ALLOWED",
    "ALLOWED_USERS": "ACCESS__ALLOWED",
    "SIGNAL_NUMBER": "SIGNAL__ACCOUNT",
    "SIGNAL_PHONE_NUMBER": "SIGNAL__ACCOUNT",
    "SIGNAL_CLI_REST_API_URL": "SIGNAL__URL",
    "ANTHROPIC_BASE_URL": "LLM__ANTHROPIC__BASE_URL",
    "ANTHROPIC_MODEL": "LLM__ANTHROPIC__MODEL",
    "OPENAI_HOST": "OPENAI_BASE_URL",
    "OPENAI_API_HOST": "OPENAI_BASE_URL",
    "OPENAI_ENDPOINT": "OPENAI_BASE_URL",
    "OLLAMA_HOST": "OPENAI_BASE_URL",
    "OLLAMA_BASE_URL": "OPENAI_BASE_URL",
    "OPENROUTER_API_KEY": "OPENAI_API_KEY",
    "GROQ_API_KEY": "OPENAI_API_KEY",
    "GEMINI_API_KEY": "OPENAI_API_KEY",
    "MISTRAL_API_KEY": "OPENAI_API_KEY",
    "LLM_API_KEY": "LLM__OPENAI__API_KEY",
    "SIGNAL__NUMBER": "SIGNAL__ACCOUNT",
    "SIGNAL__PHONE": "SIGNAL__ACCOUNT",
    "SIGNAL__PHONE_NUMBER": "SIGNAL__ACCOUNT",
    "LLM__CLAUDE__API_KEY": "LLM__ANTHROPIC__API_KEY",
    "LLM__CLAUDE__MODEL": "LLM__ANTHROPIC__MODEL",
    "ENCRYPTION_KEY": "STORE__KEY",
    "MASTER_KEY": "STORE__KEY",
    "SEARXNG_URL": "TOOLS__WEB_SEARCH__SEARXNG_BASE_URL",
}
"""The same for names that may well belong to another program: what they mean if they are meant for us."""
_SHARED = frozenset({"LOGLEVEL", "LOGFORMAT", "WEBHOST", "WEBPORT"})
"""Names, without underscores, so common in an environment that they are probably meant for something else."""
_ELSEWHERE = re.compile(r"TZ|LANG|LC_\w+|EXTRAS|(HTTPS?|ALL|NO|FTP)_PROXY|(COMPOSE|DOCKER|PYTHON|SSL_CERT|PIP)_?\w*")
"""What a `.env` file can also hold, for the container, its engine and Python."""
_OF_CONTAINERS = re.compile(
    r"PATH|HOME|HOSTNAME|PWD|OLDPWD|SHLVL|TERM|USER|LOGNAME|SHELL|_|CONTAINER|GPG_KEY|DEBIAN_FRONTEND|"
    r"ALDIS_REVISION|ALDIS_COMMAND|REVISION|GRAFANA_PASSWORD|SEARXNG_SECRET|KUBERNETES_\w+|\w+_SERVICE_(HOST|PORT\w*)|\w+_PORT(_\d+_(TCP|UDP)\w*)?|"
    r"INVOCATION_ID|JOURNAL_STREAM|NOTIFY_SOCKET|SYSTEMD_\w+|MEMORY_PRESSURE_\w+"
)
"""What a container's environment also holds, put there by its image, its engine, its supervisor or our compose
files."""
_QUOTED = re.compile(r"""(["'])(?:(?!\1).)*\1""", re.DOTALL)
_NUMBERS = frozenset({int, float, Decimal})
_SIMILAR, _SIMILAR_WORD = 0.84, 0.8
"""How alike two names, and their first words, must be for one to count as a slip for the other (difflib's ratio). These
catch a wrong letter, a missing `API` and one underscore instead of two, but keep `OPENAI_API_TYPE` and
`ANTHROPIC_MODEL`, which other programs use, apart from ours."""

_BOUNDS: Mapping[type, tuple[str, str]] = {
    Ge: ("ge", "from"),
    Gt: ("gt", "above"),
    Le: ("le", "to"),
    Lt: ("lt", "below"),
}


@dataclass(frozen=True, kw_only=True)
class Variable:
    """One leaf of the settings."""

    path: tuple[str, ...]
    """The names of the groups and of the field, such as `("llm", "openai", "model")`."""
    field: FieldInfo
    group: type[BaseModel]
    """The model that the field belongs to."""
    also: str | None = None
    """A well-known name that is read if the variable's own is not set."""

    @property
    def name(self) -> str:
        """Its own name in the environment."""
        return SEPARATOR.join(self.path).upper()

    @property
    def default(self) -> str:
        """Its default, as written in a file; empty for none."""
        default = self.field.get_default(call_default_factory=True)
        if default is None or default == ():
            return ""
        if isinstance(default, bool):
            return str(default).lower()
        return f"{default:g}" if isinstance(default, float) else f"{default}"

    @property
    def is_secret(self) -> bool:
        """Whether its value is a secret: never shown, and allowed to be kept in a file."""
        kind = _kind(self.field.annotation)
        return isinstance(kind, type) and issubclass(kind, SecretStr)

    @property
    def is_one_word(self) -> bool:
        """Whether it is a secret that ends up in a header, as a key does; others are subclasses of `SecretStr`."""
        return _kind(self.field.annotation) is SecretStr

    @property
    def meaning(self) -> str:
        """The docstring of its field, on one line; empty if it has none.

        Read from the source on demand: pydantic would do it at every start, at 8 ms a group (measured).
        """
        kinds = [kind for kind in self.group.__mro__ if kind.__module__ in sys.modules]
        docs = (_docstrings(kind.__module__).get((kind.__name__, self.path[-1])) for kind in kinds)
        return " ".join((self.field.description or next(filter(None, docs), "")).split())

    @property
    def names(self) -> tuple[str, ...]:
        """Every name under which it is read, its own first."""
        own = (self.name, *((self.also,) if self.also else ()))
        return tuple(name for base in own for name in ((base, base + FILE_SUFFIX) if self.is_secret else (base,)))


@dataclass(frozen=True, kw_only=True, slots=True)
class GivenValue:
    """A value that was set, under the name that was used."""

    name: str
    value: str
    where: str
    """`the environment`, or the name of the file that it comes from."""
    is_ambiguous: bool = False
    """Whether the same source has the name again, in different capitals and with another value."""


def variables_of(model: type[BaseModel], also: Mapping[str, str], path: tuple[str, ...] = ()) -> Iterator[Variable]:
    """The leaves of a settings model, in its own order; `also` maps a variable's name to its well-known one."""
    for name, field in model.model_fields.items():
        inner, below = field.annotation, (*path, name)
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from variables_of(inner, also, below)
        else:
            yield Variable(path=below, field=field, group=model, also=also.get(SEPARATOR.join(below).upper()))


def gather_values(sources: Mapping[str, Mapping[str, str]]) -> dict[str, GivenValue]:
    """The values that are set, by upper-case name; `sources` maps a source to its values, the strongest last."""
    found: dict[str, GivenValue] = {}
    for where, values in sources.items():
        for name, value in ((name.upper(), value.strip()) for name, value in values.items() if value.strip()):
            other = found.get(name)
            is_ambiguous = other is not None and other.where == where and other.value != value
            found[name] = GivenValue(name=name, value=value, where=where, is_ambiguous=is_ambiguous)
    return found


def resolve_values(
    given: Mapping[str, GivenValue], known: Sequence[Variable], passed_over: Sequence[str] = ()
) -> dict[str, GivenValue]:
    """The value of each variable that is set, by the variable's own name; secrets are read from their files.

    Names that begin with one of `passed_over` are skipped: what can be set there is not known.

    Raises:
        ConfigError: a name that can only be meant for us is unknown, a value is quoted or given twice, or a secret
            cannot be read.
    """
    _refuse_unknown(given, known, tuple(passed_over))
    found = [(variable, _value_of(variable, given)) for variable in known]
    return {variable.name: _checked(value, variable) for variable, value in found if value is not None}


def complaint(error: ValidationError, known: Sequence[Variable], values: Mapping[str, GivenValue]) -> str:
    """The first error that pydantic found, as one line for the operator."""
    first = error.errors(include_url=False, include_input=False)[0]
    variable = _blamed(first["loc"], known)
    name = variable.name if variable else SEPARATOR.join(map(str, first["loc"])).upper()
    given = values.get(name)
    return f"{given.name if given else name}: {_expectation(first, variable)}{_whence(given)}"


@cache
def _docstrings(module: str) -> Mapping[tuple[str, str], str]:
    """The docstrings below the fields of all classes of a module, by the names of class and field."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (OSError, TypeError, SyntaxError):  # installed without its source
        return {}
    return {
        (group.name, field.target.id): doc.value.value
        for group in ast.walk(tree)
        if isinstance(group, ast.ClassDef)
        for field, doc in pairwise(group.body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(doc, ast.Expr) and isinstance(doc.value, ast.Constant) and isinstance(doc.value.value, str)
    }


class Spelling:
    """Our names, to tell slips for them from other programs' names."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = frozenset(names)
        self._by_flat = {_flat(name): name for name in self.names}
        self._by_word: dict[str, list[str]] = {}
        for name in sorted(self.names):
            self._by_word.setdefault(_first_word(name), []).append(name)

    def slip_of(self, name: str) -> str | None:
        """Returns the name of ours that an unknown one was surely meant to be; None if it may be another program's."""
        flat = _flat(name)
        if name in _MISTAKEN or flat in _SHARED:
            return _MISTAKEN.get(name)
        if flat in self._by_flat:
            return self._by_flat[flat]
        words = [word for word in self._by_word if _likeness(word, _first_word(name)) >= _SIMILAR_WORD]
        scores = {near: _likeness(flat, _flat(near)) for word in words for near in self._by_word[word]}
        best = max(scores, key=lambda near: scores[near], default="")
        return best if scores.get(best, 0.0) >= _SIMILAR else None

    def slip_in_file(self, name: str) -> str | None:
        """The same for a name in a file that no other program reads."""
        return self._by_flat.get(_flat(name)) or self.slip_of(name)

    def nearest(self, name: str) -> str | None:
        """Returns the name of ours closest to one that surely belongs to no other program."""
        meant = _OFTEN_MEANT.get(name) or self.slip_of(name)
        return meant or next(iter(difflib.get_close_matches(name, self.names, n=1)), None)


def slips(names: Iterable[str], known: Sequence[Variable]) -> dict[str, str]:
    """Returns the unknown names of one of our files, each with the name that it was surely meant to be."""
    spelling = Spelling(name for variable in known for name in variable.names)
    unknown = [name for name in map(str.upper, names) if name not in spelling.names and not _ELSEWHERE.fullmatch(name)]
    return {name: meant for name in unknown if (meant := spelling.slip_in_file(name)) is not None}


def names_not_read(
    environ: Iterable[str], known: Sequence[Variable], passed_over: Sequence[str] = (), *, is_alone: bool
) -> tuple[str, ...]:
    """Returns the names in the environment that may be meant for us but are not read, sorted.

    If nothing but Aldis runs there (`is_alone`: a container, whose environment compose takes from `.env`), these are
    all that containers do not have by themselves; otherwise those that begin with a word of ours or are often meant for
    us.
    """
    names = {name for variable in known for name in variable.names}
    words = {_first_word(name) for name in names}
    unread = {name.upper() for name in environ} - names
    return tuple(
        sorted(
            name
            for name in unread
            if not name.startswith(tuple(passed_over))
            and (
                not (_ELSEWHERE.fullmatch(name) or _OF_CONTAINERS.fullmatch(name))
                if is_alone
                else name in _OFTEN_MEANT or _first_word(name) in words
            )
        )
    )


def _likeness(one: str, other: str) -> float:
    """The similarity of two words, from 0 to 1."""
    return difflib.SequenceMatcher(None, one, other, autojunk=False).ratio()


def _flat(name: str) -> str:
    return name.replace("_", "")


def _first_word(name: str) -> str:
    return name.partition("_")[0]


def _refuse_unknown(given: Mapping[str, GivenValue], known: Sequence[Variable], passed_over: tuple[str, ...]) -> None:
    spelling = Spelling(name for variable in known for name in variable.names)
    groups = tuple({variable.path[0].upper() + SEPARATOR for variable in known})
    refused: list[str] = []
    for name, value in given.items():
        if name in spelling.names or name.startswith(passed_over):
            continue
        is_in_file = value.where != ENVIRONMENT and not _ELSEWHERE.fullmatch(name)
        if is_in_file or name.startswith(groups) or spelling.slip_of(name):
            close = spelling.nearest(name)
            hint = f"; did you mean {close}?" if close else ""
            refused.append(f"{name}: there is no such setting{hint}{_whence(value)}")
    if refused:
        raise ConfigError("\n".join(refused))


def _value_of(variable: Variable, given: Mapping[str, GivenValue]) -> GivenValue | None:
    """The value under the strongest name that is set; None if the variable is left out."""
    if not variable.is_secret:
        return next((given[name] for name in variable.names if name in given), None)
    for name in (variable.name, variable.also or ""):
        direct, file = given.get(name), given.get(name + FILE_SUFFIX)
        if direct and file:
            raise ConfigError(f"{name}: {file.name} is also set; remove one of the two{_whence(direct)}")
        chosen = direct or (file and _read_from_file(file))
        if chosen:
            return _checked_secret(chosen) if variable.is_one_word else chosen
    return None


def _read_from_file(given: GivenValue) -> GivenValue:
    try:
        value = Path(given.value).read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        # The path itself is left out: people paste the secret in its place.
        why = error.strerror if isinstance(error, OSError) else "it is not text"
        raise ConfigError(f"{given.name}: the file that it names cannot be read: {why}{_whence(given)}") from error
    if not value:
        raise ConfigError(f"{given.name}: the file that it names is empty{_whence(given)}")
    return replace(given, value=value)


def _checked(given: GivenValue, variable: Variable) -> GivenValue:
    """Returns the value if it is surely what was meant: `docker run --env-file` and others keep quotes as part of
    it.
    """
    if given.is_ambiguous:
        raise ConfigError(f"{given.name}: is set twice, in different capitals; remove one of the two{_whence(given)}")
    if _QUOTED.fullmatch(given.value):
        raise ConfigError(
            f"{given.name}: has quotes around its value, which count as part of it here; remove them{_whence(given)}"
        )
    if "_" in given.value and _kind(variable.field.annotation) in _NUMBERS:
        raise ConfigError(f"{given.name}: must be {_number_words(variable)}{_whence(given)}")  # Python ignores them
    return given


def _checked_secret(given: GivenValue) -> GivenValue:
    """Refuses secrets that no HTTP header can carry: a library that refuses a header would show it."""
    if not (given.value.isascii() and given.value.isprintable() and " " not in given.value):
        raise ConfigError(f"{given.name}: must be one word of printable ASCII characters{_whence(given)}")
    return given


def _blamed(loc: Sequence[int | str], known: Sequence[Variable]) -> Variable | None:
    """The variable at the location or above it; None if a whole group is wrong."""
    return next((variable for variable in known if variable.path == tuple(loc)[: len(variable.path)]), None)


def _whence(given: GivenValue | None) -> str:
    return f" (it is set in {given.where})" if given else ""


def _expectation(error: ErrorDetails, variable: Variable | None) -> str:
    if error["type"] == "value_error":
        return str(error.get("ctx", {}).get("error", "is not valid"))
    kind = _kind(variable.field.annotation) if variable else None
    if kind is bool:
        return "must be true or false"
    if variable is not None and kind in _NUMBERS:
        return f"must be {_number_words(variable)}"
    words = ", ".join(map(str, _words(kind)))
    if words and get_origin(kind) is tuple:
        return f"must be a comma-separated list of {words}"
    if words:
        return f"must be one of {words}"
    return f"is not valid: {error['msg']}"


def _number_words(variable: Variable) -> str:
    """The kind and range of the number that it must be."""
    noun = "a whole number" if _kind(variable.field.annotation) is int else "a number"
    return noun + _range(variable.field.metadata)


def _kind(annotation: Any) -> Any:
    """The annotation without `| None` and `Annotated`."""
    if get_origin(annotation) is Annotated:
        return _kind(get_args(annotation)[0])
    if get_origin(annotation) in {Union, types.UnionType}:
        inner = [part for part in get_args(annotation) if part is not type(None)]
        return _kind(inner[0]) if len(inner) == 1 else annotation
    return annotation


def _words(kind: Any) -> tuple[object, ...]:
    """The allowed words, as a choice or as items of a list; empty if any text is allowed."""
    item = _kind(get_args(kind)[0]) if get_origin(kind) is tuple else kind
    return get_args(item) if get_origin(item) is Literal else ()


def _range(metadata: Iterable[object]) -> str:
    """The bounds in words, such as ` from 0 to 50`; empty if there are none."""
    limits = {type(bound): getattr(bound, _BOUNDS[type(bound)][0]) for bound in metadata if type(bound) in _BOUNDS}
    return "".join(f" {word} {limits[bound]}" for bound, (_, word) in _BOUNDS.items() if bound in limits)
