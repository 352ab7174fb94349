"""What Aldis keeps. The front door: `bot` imports from here, only `bot.app` reaches inside.

The store knows rows and time, not meaning: contents are bytes, sealed with a key for each conversation.

What the door gives is listed in `__init__.pyi`, each name with its module, which is imported when the name is first
asked for: whoever names an error or a row needs neither SQLite nor keys.
"""

import ast
from importlib import import_module
from pathlib import Path

_LIST = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
_HOMES = {
    alias.asname or alias.name: (line.module or "", alias.name)
    for line in _LIST.body
    if isinstance(line, ast.ImportFrom)
    for alias in line.names
}


def __getattr__(name: str) -> object:
    """A name that was not asked for before; from then on it stands here."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, name_there = _HOMES[name]
    found = globals()[name] = getattr(import_module(module), name_there)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
