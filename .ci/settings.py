# ruff: noqa: INP001  (a script beside the others of its folder, no part of a package)
"""Writes the tables of docs/settings.md anew from the settings: python .ci/settings.py."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bot import settings  # noqa: E402  (found by the line above)

_TABLES = re.compile(r"(?<=<!-- settings -->\n).*(?=<!-- /settings -->)", re.DOTALL)


def main() -> None:
    """Put the tables between their marks."""
    page = ROOT / "docs" / "settings.md"
    table = settings.table().strip()
    page.write_text(_TABLES.sub(lambda _: f"{table}\n", page.read_text(encoding="utf-8")), encoding="utf-8")


main()
