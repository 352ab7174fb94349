"""Fixtures and rules for all tests: no settings in the environment, no sockets beyond loopback, a clock that stands
still.
"""

import itertools
import logging
import os
import re
import signal
import socket
import sys
from collections.abc import AsyncGenerator, Generator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from bot.clock import SetClock
from bot.media.sandbox import start_server
from bot.settings import Settings
from bot.settings.load import ALSO
from store import Store, open_store
from tests.cells import PRELOADED

# How fast a machine makes examples, and how many it throws away, says nothing about the code.
_UNHEALTHY = [hypothesis.HealthCheck.too_slow, hypothesis.HealthCheck.data_too_large]
hypothesis.settings.register_profile("aldis", deadline=None, suppress_health_check=_UNHEALTHY, print_blob=True)
hypothesis.settings.load_profile("aldis")

# What a shell puts into the background has Ctrl-C switched off, and every process of a test would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
# What `nohup` starts has hang-ups ignored, and Aldis honours that. A handler of ours is not inherited: see execve(2).
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda *_: None)

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)

_OURS = tuple(f"{group.upper()}__" for group in Settings.model_fields)
_KEYS = (*ALSO.values(), "ANTHROPIC_", "OPENAI_", "TZ", "LANG", "LC_")  # the SDKs read more of theirs


_QUICK = ("bot", "tools", "store", "test_contracts.py")
_WAITS = re.compile(
    r"async def test_|asyncio\.run|^import (subprocess|multiprocessing)|tests\.(cells|flows|servers)|Sandbox",
    re.MULTILINE,
)
"""What shows that a file of tests waits for something: an event loop, a process, a server."""


def is_quick(path: Path) -> bool:
    """Whether `make quick` runs this file: one for a package of Aldis, or the contracts, that waits for nothing."""
    parts = path.relative_to(Path(__file__).parent).parts
    return parts[0] in _QUICK and not _WAITS.search(path.read_text(encoding="utf-8"))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With `--quick` all other files are not even read."""
    if not config.getoption("quick") or collection_path.suffix != ".py" or collection_path.name == "conftest.py":
        return None
    return None if is_quick(collection_path) else True


def pytest_addoption(parser: pytest.Parser) -> None:
    """`make quick` runs some files alone."""
    parser.addoption("--quick", action="store_true", help="only the files of which no test waits for anything")


_LONG = {"flows", "campaigns", "test_bench.py", "test_steps.py", "test_transcripts.py"}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What takes long comes first, so that several workers end at the same time."""
    if config.getoption("quick"):
        items[:] = [item for item in items if not getattr(getattr(item, "obj", None), "is_hypothesis_test", False)]
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    # pytest-xdist (3.8, worksteal) gives every worker a row of neighbours; one that is done takes from the others. Were
    # the long ones neighbours, the end would be theirs alone, one after another.
    long = [item for item in items if _LONG & set(item.path.parts)]
    short = iter([item for item in items if not _LONG & set(item.path.parts)])
    parts = [long[worker::workers] for worker in range(workers)]
    left = len(items)
    for worker, part in enumerate(parts):
        size = left // (workers - worker)
        part.extend(itertools.islice(short, max(size - len(part), 0)))
        left -= size
    items[:] = [*itertools.chain(*parts), *short]


@pytest.fixture(autouse=True)
def _empty_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees the settings or keys of whoever runs it."""
    for name in os.environ:
        if name.startswith((*_OURS, *_KEYS)) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def _own_log() -> Generator[None]:
    """A verb that is carried out within a test sets up the log of its process; the next test has its own again."""
    root, ours = logging.getLogger(), [logging.getLogger(name) for name in ("bot", "store", "tools")]
    levels = [(logger, logger.level) for logger in (root, *ours)]
    handlers, hook, raises = [*root.handlers], sys.excepthook, logging.raiseExceptions
    yield
    for logger, level in levels:
        logger.setLevel(level)
    root.handlers[:] = handlers
    sys.excepthook, logging.raiseExceptions = hook, raises


@pytest.fixture(autouse=True, scope="session")
def _cells() -> None:
    """The one server of cells in this process knows the modules of the tests, whichever test needs it first."""
    start_server(PRELOADED)


@pytest.fixture(autouse=True, scope="session")
def _loopback_only() -> Generator[None]:
    """A connection to anywhere but this machine fails the test that tries it."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        host = address[0] if isinstance(address, tuple) else None
        if host is not None and host not in {"127.0.0.1", "::1", "localhost"}:
            raise AssertionError(f"a test wants to leave loopback: {address!r}")
        connect(self, address)

    socket.socket.connect = guarded
    yield
    socket.socket.connect = connect


@pytest.fixture
def clock() -> SetClock:
    return SetClock(NOON)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "aldis.db"


@pytest.fixture
async def store(path: Path) -> AsyncGenerator[Store]:
    async with open_store(path, realm="signal") as store:
        yield store
