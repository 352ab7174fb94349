"""A sandbox for tests: real cells, forked from one server for all tests of a worker, as in a single Aldis.

It loads the modules that open files, and those of `tests` that do what none of these does.
"""

from multiprocessing import forkserver

from bot.media.sandbox import Sandbox

PRELOADED = "tests.bot.media.preloaded"


def sandbox(package: str = "bot.media") -> Sandbox:
    """One whose files are opened by the modules of this package; it need not be closed."""
    return Sandbox(package=package, preloaded=PRELOADED)


def server_pid() -> int:
    return vars(forkserver)["_forkserver"]._forkserver_pid
