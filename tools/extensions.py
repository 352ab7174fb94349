"""Tools of other distributions: Python entry points of the group `aldis.tools`, found at every start.

    entry point --name is free?--> enabled? --> import --> Extension --needs nothing more?--> Tool
         '------------------------- any error --> Failure: reported and left out

An entry point names a class or function that returns a tool, or a tuple of tools, when called. Arguments are passed by
the names of its parameters: `options`, annotated with a subclass of `Options`; `http`; `fetcher`. The name of the entry
point is the group of its settings, `TOOLS__<NAME>__<FIELD>`. If it is switched off there, it is not even imported.

No error of foreign code keeps Aldis from starting. Only its type is reported, as messages may contain settings. What
such code prints goes to standard error, as a program may read standard output.
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
from typing import cast

from tools.base import Options, Tool, ToolSpec

GROUP = "aldis.tools"

_GROUP_NAME = re.compile(r"(?!model_)[a-z](?:_?[a-z0-9])*")
_TOOL_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """An entry point that provides no tool."""

    name: str
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
            failures.append(Failure(name=point.name, distribution=_origin(point), why=f"it {unfit}"))
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
            with _foreign("has options that cannot be used"):
                is_wanted = options.enabled and not options.missing_settings()
            if not is_wanted:
                continue
            built[extension.name] = _build(extension, {"options": options, "http": http, "fetcher": fetcher}, names)
        except _Unfit as unfit:
            failures.append(Failure(name=extension.name, distribution=extension.distribution, why=f"it {unfit}"))
            continue
        names.update(tool.spec.name for tool in built[extension.name])
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
        absent = f" ({error.name})" if isinstance(error, ModuleNotFoundError) and error.name else ""
        raise _Unfit(f"{unfit}: {type(error).__name__}{absent}") from error


def _check_name(name: str, taken: Collection[str]) -> None:
    if not _GROUP_NAME.fullmatch(name):
        raise _Unfit("cannot be called so: small letters, digits and single underscores, a letter first")
    if name in taken:
        raise _Unfit("is called like something else that is set under TOOLS")


def _import(point: metadata.EntryPoint) -> Extension:
    with _foreign("cannot be imported"):
        make = point.load()
        parameters = inspect.signature(make, eval_str=True).parameters
    options: object = parameters["options"].annotation if "options" in parameters else Options
    if not (isinstance(options, type) and issubclass(options, Options)):
        raise _Unfit("must annotate its parameter options with a subclass of tools.Options")
    with _foreign("has options without a default"):
        options()
    wants = frozenset({"options", "http", "fetcher"}) & set(parameters)
    return Extension(name=point.name, distribution=_origin(point), options=options, make=make, wants=wants)


def _build(extension: Extension, handed: Mapping[str, object], taken: Collection[str]) -> tuple[Tool, ...]:
    with _foreign("cannot be built"):
        made = extension.make(**{name: handed[name] for name in extension.wants})
        tools = cast("tuple[object, ...]", made) if isinstance(made, tuple) else (made,)
        checked = tuple(_check_tool(tool) for tool in tools)
    names = set(taken)
    for tool in checked:
        if tool.spec.name in names:
            raise _Unfit(f"gives a tool {tool.spec.name}, and there is one already")
        names.add(tool.spec.name)
    return checked


def _check_tool(tool: object) -> Tool:
    spec = getattr(tool, "spec", None)
    if not (isinstance(spec, ToolSpec) and inspect.iscoroutinefunction(getattr(tool, "run", None))):
        raise _Unfit("gives no tool: one has a spec and an async run")
    if not _TOOL_NAME.fullmatch(spec.name):
        raise _Unfit("gives a tool whose name is none: small letters, digits and underscores, a letter first")
    # Models are offered this, and every call relies on it: an error shows here and not in each turn.
    json.dumps(spec.parameters)
    return cast("Tool", tool)


def _origin(point: metadata.EntryPoint) -> str:
    return "an unknown place" if point.dist is None else f"{point.dist.name} {point.dist.version}"
