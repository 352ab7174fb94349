"""Lazy packages: what the `__init__` of one imports from its own modules is imported when somebody asks for it.

`import anthropic` runs 2,900 modules, although Aldis needs the client and the errors; the others describe requests and
answers that it writes and reads itself. They cost half a second and 25 MB.

    package.__init__:  from .message import Message     --> noted: Message comes from package.message
    package.Message                                     --> package.message is imported

What a name is does not change, only when its module runs: also when the `__init__` itself uses the name. One that
defines functions or classes, which could use its names unseen, is executed as it stands. What stands in the `__init__`
by its name counts before what `import *` brings.
Source: PEP 810 (Python 3.15) does this for all imports, which older versions cannot; PEP 562 for `__getattr__`.
"""

import builtins
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any


def make_lazy(package: str) -> None:
    """Makes this package and those in it lazy, if they have not been imported yet."""
    sys.meta_path.insert(0, _Finder(package))


@dataclass(frozen=True, slots=True)
class _Finder:
    package: str

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not f"{fullname}.".startswith(f"{self.package}."):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.submodule_search_locations and type(spec.loader) is SourceFileLoader:
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


class _Loader(SourceFileLoader):
    def exec_module(self, module: ModuleType) -> None:
        code = self.get_code(module.__name__)
        if code is None or any(isinstance(constant, CodeType) for constant in code.co_consts):
            super().exec_module(module)
            return
        names = _Names(module.__dict__)
        module.__dict__["__getattr__"] = names.attribute
        module.__dict__["__builtins__"] = vars(builtins) | {"__import__": names.note}
        try:
            exec(code, module.__dict__, names)  # noqa: S102  (the code of the package, as every import executes it)
        finally:
            module.__dict__["__builtins__"] = vars(builtins)


@dataclass(frozen=True, slots=True)
class _Origin:
    """Where a name comes from."""

    module: str
    name: str


class _Source:
    """A module that is not imported yet: each of its names is an `_Origin`."""

    __all__ = ()

    def __init__(self, module: str) -> None:
        self._lazy_module = module

    def __getattr__(self, name: str) -> _Origin:
        return _Origin(self._lazy_module, name)


class _Names(dict[str, Any]):
    """What the code of a package sees as its names: they are kept in the module, except for those not imported yet."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        super().__init__()
        self._namespace = namespace
        self._origins: dict[str, _Origin] = {}
        self._starred: list[str] = []

    def note(
        self,
        name: str,
        globals: Mapping[str, object] | None = None,  # noqa: A002  (as `__import__` has it)
        locals: Mapping[str, object] | None = None,  # noqa: A002
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> object:
        """In place of `__import__`: notes `from .module import names`, `*` too, and imports everything else."""
        if level != 1 or not name or not fromlist:
            return __import__(name, globals, locals, fromlist or (), level)
        module = f"{self._namespace['__name__']}.{name}"
        if "*" in fromlist:
            self._starred.append(module)
        return _Source(module)

    def attribute(self, name: str) -> object:
        """What the module has by this name, imported now.

        Raises:
            AttributeError: nothing.
        """
        try:
            return self[name]
        except KeyError:
            module = self._namespace["__name__"]
            raise AttributeError(f"module {module!r} has no attribute {name!r}") from None

    def __setitem__(self, name: str, value: object) -> None:
        if isinstance(value, _Origin):
            self._origins[name] = value
            self._namespace.pop(name, None)
        else:
            self._namespace[name] = value

    def __getitem__(self, name: str) -> object:
        if name not in self._namespace:
            self._namespace[name] = self._value(name)
        return self._namespace[name]

    def _value(self, name: str) -> object:
        if name in self._origins:
            origin = self._origins[name]
            return getattr(import_module(origin.module), origin.name)
        if not name.startswith("_") and not hasattr(builtins, name):
            for module in map(import_module, reversed(self._starred)):
                if name in getattr(module, "__all__", (name,)) and hasattr(module, name):
                    return getattr(module, name)
        raise KeyError(name)

    def __delitem__(self, name: str) -> None:
        self[name]
        del self._namespace[name]
        self._origins.pop(name, None)
