"""The names of the settings: how a field is spelled as a variable, what it means, and which unknown name means which.

A leaf `max_tool_calls` in the group `tools` is `TOOLS__MAX_TOOL_CALLS`. Some are also read under a name that many
machines have set already (`ALSO`); a secret can be kept in a file, named by `NAME_FILE`.
"""

import ast
import inspect
import re
import sys
import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from functools import cache
from itertools import pairwise
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from tools import FIXED

SEPARATOR = "__"
FILE_SUFFIX = "_FILE"
NUMBERS = frozenset({int, float, Decimal})
"""The kinds of values that are numbers."""

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
    "DEEP_ANALYSIS_": "TOOLS__VERIFY_NEWS__",
    "SEARCH_": "TOOLS__WEB_SEARCH__",
    "CLAUDE_": "ANTHROPIC_",
    "OPENAI_API_BASE": "OPENAI_BASE_URL",
}
"""How names of other programs begin, and how Aldis's begin for the same."""
_OTHERS = re.compile(
    r"TZ|LANG|LC_\w+|EXTRAS|(HTTPS?|ALL|NO|FTP)_PROXY|(COMPOSE|DOCKER|PYTHON|SSL_CERT|PIP|MAKE|MFLAGS)_?\w*"
)
"""What a `.env` file can also hold, for the container, its engine and Python."""
_COMMON = frozenset({"LOG_LEVEL", "LOG_FORMAT", "WEB_HOST", "WEB_PORT", "ANTHROPIC_MODEL", "ANTHROPIC_BASE_URL"})
"""Names so common in an environment that they are probably meant for another program."""
_SURE, _SURE_WORD, _LIKELY = 0.84, 0.8, 0.6
"""How alike (difflib's ratio) a name must be to ours, and its first word, to be a slip for it in the environment; and
how alike to be named as what may be meant. The first keeps `OPENAI_API_TYPE` apart from ours."""


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
    def also(self) -> str | None:
        """A well-known name that is read if the variable's own is not set."""
        return ALSO.get(self.name)

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
    def kind(self) -> Any:
        """The type of its value, without `None` and annotations."""
        return kind_of(self.field.annotation)

    @property
    def is_secret(self) -> bool:
        """Whether its value is a secret: never shown, and allowed to be kept in a file."""
        return isinstance(self.kind, type) and issubclass(self.kind, SecretStr)

    @property
    def number_words(self) -> str:
        """The kind and range of the number that it must be, such as `a whole number from 0 to 50`."""
        words = ["a whole number" if self.kind is int else "a number"]
        for name, word in (("ge", "from"), ("gt", "above"), ("le", "to"), ("lt", "below")):
            words += [f"{word} {getattr(bound, name)}" for bound in self.field.metadata if hasattr(bound, name)]
        return " ".join(words)

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


def variables_of(model: type[BaseModel], path: tuple[str, ...] = ()) -> Iterator[Variable]:
    """Yields the leaves of a settings model that can be set, in its own order."""
    for name, field in model.model_fields.items():
        inner, below = field.annotation, (*path, name)
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from variables_of(inner, below)
        elif FIXED not in field.metadata:
            yield Variable(path=below, field=field, group=model)


def kind_of(annotation: Any) -> Any:
    """Returns an annotation without `| None` and `Annotated`."""
    if get_origin(annotation) is Annotated:
        return kind_of(get_args(annotation)[0])
    if get_origin(annotation) in {Union, types.UnionType}:
        inner = [part for part in get_args(annotation) if part is not type(None)]
        return kind_of(inner[0]) if len(inner) == 1 else annotation
    return annotation


def hint(name: str, names: Iterable[str]) -> str:
    """Returns `; did you mean NAME?` for the closest of our names; empty if none is close."""
    meant = _closest(name, names, _LIKELY)
    return f"; did you mean {meant}?" if meant else ""


def is_meant_for_us(name: str, names: frozenset[str], *, is_in_file: bool) -> bool:
    """Whether an unknown name must be refused because it can only be meant for Aldis.

    In a file of ours that is every name but those of the container; in the environment, which other programs share,
    it is one that begins like a group of ours, or that is nearly one of our names.
    """
    if is_in_file:
        return not _OTHERS.fullmatch(name)
    words = {one.partition("_")[0] for one in (*names, *_ELSEWHERE)}
    first = name.partition("_")[0]
    if SEPARATOR in name and first in words:
        return True
    is_near = name not in _COMMON and bool(get_close_matches(first, words, n=1, cutoff=_SURE_WORD))
    return is_near and _closest(name, names, _SURE) is not None


def _closest(name: str, names: Iterable[str], similarity: float) -> str | None:
    """The one of our names that is most like this one, underscores aside."""
    begin = next((begin for begin in _ELSEWHERE if name.startswith(begin)), "")
    wanted = _ELSEWHERE.get(begin, "") + name.removeprefix(begin)
    flat = {one.replace("_", ""): one for one in sorted(names)}
    found = get_close_matches(wanted.replace("_", ""), flat, n=1, cutoff=similarity)
    return flat[found[0]] if found else None


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
