"""CONTRIBUTING.md: its rule for `make quick` holds, and its recipes work as they stand there."""

from pathlib import Path

import pytest

from tests.conftest import is_quick

TESTS = Path(__file__).parent


@pytest.mark.parametrize(
    "name", ["bot/policy/test_access.py", "tools/test_calibration.py", "bot/turn/test_markdown.py"]
)
def test_what_waits_for_nothing_is_quick(name: str) -> None:
    """Tables of examples over pure functions."""
    assert is_quick(TESTS / name)


@pytest.mark.parametrize(
    "name",
    [
        "bot/turn/test_turns.py",  # an event loop
        "bot/media/test_sandbox.py",  # processes
        "bot/providers/test_seam.py",  # servers
        "flows/test_chat.py",
        "simulation/test_simulation.py",
        "test_docker.py",
    ],
)
def test_what_waits_is_not(name: str) -> None:
    """For a loop, a process, a server; nor what belongs to no room."""
    assert not is_quick(TESTS / name)
