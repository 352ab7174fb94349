"""What goes between Aldis and a cell: a process that opens one file of a stranger, and then ends.

A file may be made to crash, stall or bloat whatever opens it, or to take it over. So nothing of Aldis is in a cell's
memory, no key, no other message, no environment, and it can neither open anything nor reach anybody
(`bot.media.confinement`). What it says is read as data of the stranger's.

Each module that opens files has two functions, and is imported by the cells alone:

    preload()                      has everything loaded that its library would load later, when no file opens any more
    serve(data, arguments)         what is in the file: facts, and bytes
"""

import importlib
import pkgutil
from collections.abc import Mapping
from contextlib import suppress
from types import ModuleType
from typing import Any

Facts = Mapping[str, Any]
"""What JSON knows."""


class FileRefused(Exception):
    """The file cannot be opened; the message completes "which cannot be opened: ..." for the model."""


def load_all(package: ModuleType) -> None:
    """Load every module of a package, those left out that lack a library; for `preload`."""
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        with suppress(ImportError):
            importlib.import_module(module.name)
