"""A sandbox for tests: real cells, forked from one process for all tests of a worker, as in a single Aldis.

It loads the modules that open files, and those of `tests` that do what none of these does.
"""

from bot.media.sandbox import MODULES, Sandbox, Zygote

_STRANGE = ("escapes", "hostile", "pdf", "taken.feed_parser")

ZYGOTE = Zygote([*MODULES, *(f"tests.bot.media.{name}" for name in _STRANGE)])
"""Started by the first cell, and closed behind the last test."""


def sandbox(package: str = "bot.media") -> Sandbox:
    """One whose files are opened by the modules of this package; it need not be closed."""
    return Sandbox(ZYGOTE, package=package)
