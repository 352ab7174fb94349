"""Tools of other distributions: Python entry points of the group `aldis.tools`, found at every start.

    entry point --name is free?--> enabled? --> import --> Extension --needs nothing more?--> Tool
         '------------------------- any error --> Failure: reported and left out

An entry point names a class or function that returns a tool, or a tuple of tools, when called. Arguments are passed by
the names of its parameters: `options`, annotated with a subclass of `Options`; `http`; `fetcher`. The name of the entry
point is the group of its settings, `TOOLS__<NAME>__<FIELD>`. If it is switched off there, it is not even imported.

No error of foreign code keeps Aldis from starting: as where tools run, everything is caught. Only its type is reported,
as messages may contain settings. What such code prints goes to standard error, as a program may read standard output.
"""

import functools
import inspect
import json
import re
import sys
from collections.abc import Callable, Collection, Generator, Iterable, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from importlib import metadata
from typing import Any, cast, get_type_hints

from pydantic import TypeAdapter, ValidationError

from tools.base import Options, Tool, ToolSpec
from tools.text import MIN_FITTED_CHARS

GROUP = "aldis.tools"

_HANDED = ("options", "http", "fetcher")
_GROUP_NAME = re.compile(r"(?!model_)[a-z](?:_?[a-z0-9])*")
_TOOL_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_MAX_SHOWN_CHARS = 80
_ANSWERS: Mapping[str, Any] = {
    "missing_settings": str | None,
    "idle_services": Mapping[str, str],
    "seen_by": tuple[str, ...] | None,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """An entry point that provides no tool."""

    name: str
    """Its name, shortened and without unprintable characters."""
    distribution: str
    """The distribution it comes from, such as `aldis-tides 1.2`."""
    why: str
    """What is wrong, for the operator: one line without values of settings."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Extension:
    """An imported entry point that can be built."""

    name: str
    distribution: str
    options: type[Options]
    """Its settings, all of which have defaults."""
    make: Callable[..., object]
    wants: frozenset[str]
    """The names of its parameters, which are passed to it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Extensions:
    """The extensions of the installed distributions."""

    found: tuple[Extension, ...] = ()
    switched_off: tuple[str, ...] = ()
    """Names of extensions that were not imported."""
    failures: tuple[Failure, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ExtensionTools:
    """The tools built from extensions."""

    by_name: Mapping[str, tuple[Tool, ...]]
    """The tools of each extension that works with its settings."""
    failures: tuple[Failure, ...]


class _Unfit(Exception):
    """The entry point provides no tool. The text completes "it ..."."""


@functools.cache
def find_entry_points() -> tuple[metadata.EntryPoint, ...]:
    """Returns the entry points of the group by name, without importing them. Searches once per process."""
    return tuple(sorted(metadata.entry_points(group=GROUP), key=lambda point: (point.name, _origin(point))))


def import_extensions(
    points: Iterable[metadata.EntryPoint], *, off: Collection[str] | None, taken: Collection[str]
) -> Extensions:
    """Imports what the entry points name; never raises.

    `off` are the names that are switched off (None: all); `taken` are names already used by settings groups.
    """
    found: dict[str, Extension] = {}
    switched_off: list[str] = []
    failures: list[Failure] = []
    for point in points:
        try:
            _check_name(point.name, {*taken, *found, *switched_off})
            if off is None or point.name in off:
                switched_off.append(point.name)
            else:
                found[point.name] = _import(point)
        except _Unfit as unfit:
            failures.append(_failure(point.name, _origin(point), unfit))
    return Extensions(found=tuple(found.values()), switched_off=tuple(switched_off), failures=tuple(failures))


def build_extensions(
    extensions: Extensions,
    options_by_name: Mapping[str, Options],
    *,
    http: object,
    fetcher: object,
    taken: Collection[str],
) -> ExtensionTools:
    """Builds the tools of extensions that are enabled and lack nothing; never raises. Passes on `http` and `fetcher`.

    `taken` are the names of existing tools, which no extension can use.
    """
    built: dict[str, tuple[Tool, ...]] = {}
    failures = list(extensions.failures)
    names = set(taken)
    for extension in extensions.found:
        options = options_by_name.get(extension.name) or extension.options()
        try:
            # The lists of tools show these.
            for name, kind in _ANSWERS.items():
                with _foreign(f"has options whose {name}() cannot be used"):
                    TypeAdapter(kind).validate_python(getattr(options, name)(), strict=True)
            if not options.enabled or options.missing_settings():
                continue
            made = _build(extension, {"options": options, "http": http, "fetcher": fetcher}, names)
        except _Unfit as unfit:
            failures.append(_failure(extension.name, extension.distribution, unfit))
            continue
        built[extension.name] = made
        names.update(tool.spec.name for tool in made)
    return ExtensionTools(by_name=built, failures=tuple(failures))


@contextmanager
def _foreign(unfit: str) -> Generator[None]:
    """Runs foreign code; turns its errors into `unfit` with their type, and the name of a missing module."""
    try:
        with redirect_stdout(sys.stderr):
            yield
    except (_Unfit, KeyboardInterrupt):
        raise
    except BaseException as error:  # (Rust's panics and SystemExit, for instance, are no `Exception`)
        absent = error.name if isinstance(error, ModuleNotFoundError) else None
        raise _Unfit(f"{unfit}: {type(error).__name__}" + (f" ({_printable(absent)})" if absent else "")) from error


def _check_name(name: str, taken: Collection[str]) -> None:
    if not _GROUP_NAME.fullmatch(name):
        raise _Unfit("cannot be called so: small letters, digits and single underscores, a letter first")
    if name in taken:
        raise _Unfit("is called like something else that is set under TOOLS")


def _import(point: metadata.EntryPoint) -> Extension:
    with _foreign("cannot be imported"):
        make = point.load()
    if not callable(make):
        raise _Unfit("is neither a class nor a function")
    with _foreign("has parameters that cannot be read"):
        parameters = inspect.signature(make, eval_str=True).parameters.values()
    wants = frozenset(_wanted_names(parameters))
    options = _options_of(parameters) if "options" in wants else Options
    return Extension(name=point.name, distribution=_origin(point), options=options, make=make, wants=wants)


def _wanted_names(parameters: Iterable[inspect.Parameter]) -> Iterable[str]:
    """Yields the names of the arguments to pass."""
    for parameter in parameters:
        if parameter.kind in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}:
            continue
        if parameter.name in _HANDED and parameter.kind is not parameter.POSITIONAL_ONLY:
            yield parameter.name
        elif parameter.default is parameter.empty:
            raise _Unfit(f"asks for {_printable(parameter.name)}; there are {', '.join(_HANDED)}")


def _options_of(parameters: Iterable[inspect.Parameter]) -> type[Options]:
    [kind] = [parameter.annotation for parameter in parameters if parameter.name == "options"]
    if not (isinstance(kind, type) and issubclass(kind, Options)):
        raise _Unfit("must annotate its parameter options with a subclass of tools.Options")
    with _foreign("has options without a default"):
        kind()
    return kind


def _build(extension: Extension, handed: Mapping[str, object], taken: Collection[str]) -> tuple[Tool, ...]:
    with _foreign("cannot be built"):
        made = extension.make(**{name: handed[name] for name in extension.wants})
        tools = cast("tuple[object, ...]", made) if isinstance(made, tuple) else (made,)
        checked = [_check_tool(tool) for tool in tools]
    names = [tool.spec.name for tool in checked]
    for place, name in enumerate(names):
        if name in {*taken, *names[:place]}:
            raise _Unfit(f"gives a tool {name}, and there is one already")
    return tuple(checked)


def _check_tool(tool: object) -> Tool:
    spec = getattr(tool, "spec", None)
    if not (isinstance(spec, ToolSpec) and inspect.iscoroutinefunction(getattr(tool, "run", None))):
        raise _Unfit("gives no tool: one has a spec and an async run")
    if not _TOOL_NAME.fullmatch(spec.name):
        raise _Unfit("gives a tool whose name is none: small letters, digits and underscores, a letter first")
    # Models are offered this, and every call relies on it: an error shows here and not in each turn.
    json.dumps(spec.parameters)
    _check_values(spec)
    return cast("Tool", tool)


def _check_values(spec: ToolSpec) -> None:
    """Checks the type and size of each value: a cost that is a float, for instance, would break every turn."""
    for name, kind in get_type_hints(ToolSpec).items():
        try:
            TypeAdapter(kind).validate_python(getattr(spec, name), strict=True)
        except ValidationError as error:
            raise _Unfit(f"gives a tool with a wrong {name} in its spec") from error
    most, seconds = spec.max_result_chars, spec.timeout_seconds
    if most is not None and most < MIN_FITTED_CHARS:
        raise _Unfit(f"gives a tool whose max_result_chars is below {MIN_FITTED_CHARS}")
    if not (seconds is None or seconds > 0) or not (spec.cost_usd.is_finite() and spec.cost_usd >= 0):
        raise _Unfit("gives a tool whose time or cost is no amount")


def _failure(name: str, distribution: str, unfit: _Unfit) -> Failure:
    return Failure(name=_printable(name), distribution=distribution, why=f"it {unfit}")


def _origin(point: metadata.EntryPoint) -> str:
    return "an unknown place" if point.dist is None else _printable(f"{point.dist.name} {point.dist.version}")


def _printable(text: str) -> str:
    return "".join(character for character in text if character.isprintable())[:_MAX_SHOWN_CHARS]
