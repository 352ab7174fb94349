"""Every sentence in the code, and the modules where they stand."""

from importlib import import_module
from pathlib import Path

from bot.i18n.catalogues import Sentence

ROOT = Path(__file__).parents[3]
FILES = sorted((ROOT / "bot").rglob("phrases.py"))
"""Where they stand: each in the room that says it, those that several rooms say in `bot/i18n`."""
NAMED = {
    (name, value)
    for path in FILES
    for name, value in vars(import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))).items()
    if isinstance(value, Sentence)
}
"""Each with the name that it has in the code; what a module has from another is the same one."""
ENGLISH = dict(sorted(NAMED, key=lambda named: named[0]))
