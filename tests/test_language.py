"""The words of the house: who acts has a name (the sender, the operator, the bridge)."""

import re

from tests.test_size import FILES, ROOT

NAMELESS = re.compile(r"\b(?:whoever|nobody|anybody|somebody|told)\b", re.IGNORECASE)
MAX_NAMELESS = 27
"""How many lines of the product say so; lower it with each that is reworded, until none is left."""
MAX_NAMELESS_IN_PAGES = 23
QUOTING = {"CHANGELOG.md", "docs/decisions.md", "docs/coverage.md"}


def lines_with(pattern: re.Pattern[str], paths: list[str]) -> list[str]:
    return [
        f"{path}:{number}"
        for path in paths
        for number, line in enumerate((ROOT / path).read_text(encoding="utf-8").splitlines(), start=1)
        if pattern.search(line)
    ]


def test_who_acts_has_a_name() -> None:
    """No line of the product and of the pages says `whoever`, `nobody`, `anybody`, `somebody` or `told`; the page of
    decisions and the changelog keep what they once said, and that of coverage quotes.
    """
    product = [path for path in FILES if path.startswith(("bot/", "tools/", "store/")) and path.endswith(".py")]
    pages = [path for path in FILES if path.endswith(".md") and path not in QUOTING]
    assert len(lines_with(NAMELESS, product)) <= MAX_NAMELESS
    assert len(lines_with(NAMELESS, pages)) <= MAX_NAMELESS_IN_PAGES
