"""Everything Aldis keeps. `bot` imports from here; only `bot.app` reaches inside.

`__init__.pyi` lists the public names. The module behind a name is imported when the name is first used, so code that
only needs an error or a row type loads neither SQLite nor cryptography.
"""

import re
from importlib import import_module
from pathlib import Path

_STUB = Path(__file__).with_suffix(".pyi").read_text(encoding="ascii")
_HOMES = {name: home for home, name in re.findall(r"from (\S+) import (\w+) as", _STUB)}


def __getattr__(name: str) -> object:
    """What stands in the module that the stub names."""
    if name not in _HOMES:
        raise AttributeError(name)
    return getattr(import_module(_HOMES[name], __name__), name)
