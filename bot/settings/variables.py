"""The settings as variables: how a field is spelled, what it means, and which unknown name is a slip for which.

A leaf `max_tool_calls` in the group `tools` is `TOOLS__MAX_TOOL_CALLS`. Some are also read under a name that many
machines have set already (`ALSO`); a secret can be kept in a file, named by `NAME_FILE`. The page of settings and the
list in a terminal are made from the docstrings of the fields.
"""

import ast
import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from itertools import pairwise
from typing import Any, cast, get_args

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from bot.settings.groups import SEPARATOR, USUAL, Settings
from tools import FIXED

FILE_SUFFIX = "_FILE"

ALSO = {
    "LLM__ANTHROPIC__API_KEY": "ANTHROPIC_API_KEY",
    "LLM__OPENAI__API_KEY": "OPENAI_API_KEY",
    "LLM__OPENAI__BASE_URL": "OPENAI_BASE_URL",
    "TOOLS__TWITTER__BEARER_TOKEN": "TWITTER_BEARER",
    "TOOLS__WEB_SEARCH__API_KEY": "BRAVE_API_KEY",
    "TOOLS__WEB_SEARCH__TAVILY_API_KEY": "TAVILY_API_KEY",
    "TOOLS__WEB_SEARCH__SERPAPI_API_KEY": "SERPAPI_API_KEY",
    "TOOLS__WEB_SEARCH__PERPLEXITY_API_KEY": "PERPLEXITY_API_KEY",
}
"""Names that many machines have set already; each is read if our own is left out."""

_ELSEWHERE = {
    "DEEP_ANALYSIS_MAX_TOOL_CALLS": "TOOLS__VERIFY_NEWS__MAX_SEARCHES",
    "DEEP_ANALYSIS_": "TOOLS__VERIFY_NEWS__",
    "TOOLS__X__": "TOOLS__TWITTER__",
    "SEARCH_": "TOOLS__WEB_SEARCH__",
    "CLAUDE_": "ANTHROPIC_",
    "OPENAI_API_BASE": "OPENAI_BASE_URL",
}
"""How names of other programs begin, and how Aldis's begin for the same; the first that fits counts."""
_OTHERS = re.compile(
    r"TZ|LANG|LC_\w+|EXTRAS|(HTTPS?|ALL|NO|FTP)_PROXY|(COMPOSE|DOCKER|PYTHON|SSL_CERT|PIP|MAKE|MFLAGS)_?\w*"
)
"""What a `.env` file can also hold, for the container, its engine and Python."""
_COMMON = frozenset(
    {"LOG_LEVEL", "LOG_FORMAT", "WEB_HOST", "WEB_PORT", "ANTHROPIC_MODEL", "ANTHROPIC_BASE_URL", "TWITTER_API_KEY"}
)
"""Names so common in an environment that they are probably meant for another program."""
_LIKENESS, _LIKENESS_OF_WORD = 0.84, 0.8
"""How alike (difflib's ratio) a name must be to ours, and its first word; this keeps `OPENAI_API_TYPE` apart."""


@dataclass(frozen=True, kw_only=True)
class Variable:
    """One leaf of the settings."""

    path: tuple[str, ...]
    """The names of the groups and of the field, such as `("llm", "openai", "model")`."""
    field: FieldInfo
    group: type[BaseModel]
    """The model that the field belongs to."""

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
        return str(default).lower() if isinstance(default, bool) else str(default)

    @property
    def is_secret(self) -> bool:
        """Whether its value is a secret: never shown, and allowed to be kept in a file."""
        return _is_secret(self.field.annotation)

    @property
    def meaning(self) -> str:
        """The docstring of its field, on one line; empty if it has none.

        Read from the source on demand: pydantic would do it at every start, at 8 ms a group (measured).
        """
        kinds = (kind for kind in self.group.__mro__ if issubclass(kind, BaseModel) and kind is not BaseModel)
        docs = (_docstrings(kind.__module__).get((kind.__name__, self.path[-1])) for kind in kinds)
        return " ".join((self.field.description or next(filter(None, docs), "")).split())

    @property
    def own_names(self) -> tuple[str, ...]:
        """Its name, and the well-known one that is read if its own is not set."""
        return (self.name, ALSO[self.name]) if self.name in ALSO else (self.name,)

    @property
    def names(self) -> tuple[str, ...]:
        """Every name under which it is read, its own first."""
        files = (FILE_SUFFIX,) if self.is_secret else ()
        return tuple(name + suffix for name in self.own_names for suffix in ("", *files))


def variables_of(model: type[BaseModel], path: tuple[str, ...] = ()) -> Iterator[Variable]:
    """Yields the leaves of a settings model that can be set, in its own order."""
    for name, field in model.model_fields.items():
        inner, below = field.annotation, (*path, name)
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from variables_of(inner, below)
        elif FIXED not in field.metadata:
            yield Variable(path=below, field=field, group=model)


def _is_secret(annotation: Any) -> bool:
    is_one = isinstance(annotation, type) and issubclass(annotation, SecretStr)
    return is_one or any(_is_secret(part) for part in get_args(annotation))


KNOWN = tuple(variables_of(USUAL))
"""Every setting."""
NAMES: Mapping[str, Variable] = {name: variable for variable in KNOWN for name in variable.names}
"""Every setting by each of its names."""


def hint(name: str) -> str:
    """Returns `; did you mean NAME?` for the closest of our names; empty if none is close."""
    wanted = name.removeprefix("ALDIS_")
    begin = next((begin for begin in _ELSEWHERE if wanted.startswith(begin)), "")
    wanted = _ELSEWHERE.get(begin, "") + wanted.removeprefix(begin)
    flat = {one.replace("_", ""): one for one in sorted(NAMES)}
    found = get_close_matches(wanted.replace("_", ""), flat, n=1, cutoff=_LIKENESS)
    return f"; did you mean {flat[found[0]]}?" if found else ""


def is_meant_for_us(name: str, *, is_in_file: bool) -> bool:
    """Whether an unknown name must be refused because it can only be meant for Aldis.

    In a file of ours that is every name but those of the container; in the environment, which other programs share,
    it is one that begins like a group of ours, or that is nearly one of our names.
    """
    if is_in_file:
        return not _OTHERS.fullmatch(name)
    first = name.partition("_")[0]
    words = {*map(str.upper, Settings.model_fields), *(one.partition("_")[0] for one in NAMES)}
    if name.startswith("DEEP_ANALYSIS_") or (SEPARATOR in name and first in words):
        return True
    is_near = name.startswith(("ALDIS_", *_ELSEWHERE)) or get_close_matches(first, words, 1, _LIKENESS_OF_WORD)
    return bool(is_near and name not in _COMMON and hint(name))


@cache
def _docstrings(module: str) -> Mapping[tuple[str, str], str]:
    """The docstrings below the fields of all classes of a module, by the names of class and field."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {
        (group.name, field.target.id): doc.value.value
        for group in ast.walk(tree)
        if isinstance(group, ast.ClassDef)
        for field, doc in pairwise(group.body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(doc, ast.Expr) and isinstance(doc.value, ast.Constant) and isinstance(doc.value.value, str)
    }


def table(model: type[Settings] = USUAL, *, is_for_terminal: bool = False) -> str:
    """Returns the settings as Markdown, for each group a heading, its purpose and a table; or as lines of `.env`."""
    lines: list[str] = []
    for name, field in model.model_fields.items():
        group = cast("type[BaseModel]", field.annotation)
        found = list(variables_of(group, (name,)))
        switches = [one for one in found if name == "tools" and one.path[2:] == ("enabled",)]
        purpose = " ".join((group.__doc__ or "").split())
        if switches:
            off = ", ".join(one.path[1].upper() for one in switches)
            purpose += f" `TOOLS__<NAME>__ENABLED=false` turns those off: {off}."
        rows = [one for one in found if one not in switches]
        if is_for_terminal and rows:
            lines += [f"{name.upper()}: {purpose}", "", *(line for one in rows for line in _in_terminal(one)), "", ""]
        elif rows:
            head = ("| variable | default | meaning |", "|---|---|---|")
            lines += [f"### {name.upper()}", "", purpose, "", *head, *map(_in_page, rows), "", ""]
    return "\n".join(lines[:-1])


def _in_page(one: Variable) -> str:
    names = ", ".join(f"`{name}`" + (f" (`{FILE_SUFFIX}`)" if one.is_secret else "") for name in one.own_names)
    meaning = one.meaning.replace("|", "\\|")
    return f"| {names} | {one.default and f'`{one.default}`'} | {meaning} |"


def _in_terminal(one: Variable) -> list[str]:
    also = f"Also: {', '.join(one.names[1:])}" if one.names[1:] else ""
    return [f"{one.name}={one.default}", *(f"    {text}" for text in (one.meaning, also) if text)]
