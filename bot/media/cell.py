"""The protocol between Aldis and a cell: a process that opens one file of a stranger, and then exits.

A file can be crafted to crash, stall or bloat whatever opens it, or to take it over. So a cell's memory holds nothing
of Aldis, no key, no other message and no environment, and a cell can neither open nor reach anything
(`bot.media.confinement`). Its answers are treated as data from the stranger.

Each module that opens files has two functions, and is imported only by cells:

    preload()                      loads everything that its library would load later, when no file can be opened
    serve(data, arguments)         returns the content of the file: facts, and bytes
"""

import importlib
import pkgutil
from collections.abc import Mapping
from contextlib import suppress
from types import ModuleType
from typing import Any

Facts = Mapping[str, Any]
"""Values that JSON knows."""


class FileRefused(Exception):
    """The file cannot be opened; the message completes "which cannot be opened: ..." for the model."""


def load_all(package: ModuleType) -> None:
    """Loads every module of a package, except those that lack a library; for `preload`."""
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        with suppress(ImportError):
            importlib.import_module(module.name)
