"""Every sentence in the code, and the modules where they stand."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import cast

from bot.i18n.catalogues import Sentence

ROOT = Path(__file__).parents[3]
FILES = sorted(path for path in (ROOT / "bot").rglob("*.py") if " = Sentence(" in path.read_text(encoding="utf-8"))
"""Where they stand: each in the room that says it, those that several rooms say in `bot/i18n`."""


def _named(path: Path) -> Iterator[tuple[str, Sentence]]:
    """Those of a module; one that stands in a table alone has the name of the catalogues."""
    values = vars(import_module(".".join(path.relative_to(ROOT).with_suffix("").parts)))
    named = {value: name for name, value in values.items() if isinstance(value, Sentence)}
    yield from ((name, value) for value, name in named.items())
    for table in values.values():
        inside = cast("Mapping[object, object]", table).values() if isinstance(table, Mapping) else ()
        yield from ((f"_{one.name}", one) for one in inside if isinstance(one, Sentence) and one not in named)


NAMED = {found for path in FILES for found in _named(path)}
"""Each with the name that it has in the code."""
ENGLISH = dict(sorted(NAMED, key=lambda named: named[0]))
