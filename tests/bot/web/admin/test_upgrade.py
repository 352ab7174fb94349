"""The check of an upgrade from the page: one at a time, bounded in time and words, ended with the pages."""

import os
import sys
from pathlib import Path

import pytest

from bot.web.admin.upgrade import UpgradeCheck
from tests.waiting import eventually


def checked_by(script: str, *, max_seconds: float = 60.0) -> UpgradeCheck:
    return UpgradeCheck(sys.executable, "-u", "-c", script, max_seconds=max_seconds)


async def ended(check: UpgradeCheck) -> str:
    await eventually(lambda: check.kind != "running")
    return check.kind


@pytest.mark.parametrize(("status", "kind"), [(0, "fine"), (1, "failed"), (-9, "failed")])
async def test_how_it_ends(status: int, kind: str) -> None:
    """Fine with status 0 alone; what it said stands there, on both its streams, and of the newest check only."""
    end = "os.kill(os.getpid(), 9)" if status < 0 else f"sys.exit({status})"
    check = checked_by(f"import os, sys; print('said'); print('complained', file=sys.stderr); {end}")
    for _ in range(2):
        assert check.start()
        assert not check.start()
        assert (await ended(check), list(check.lines)) == (kind, ["said", "complained"])


async def test_what_it_says_is_bounded() -> None:
    """However long a line is and however many there are; nothing that a terminal would obey."""
    check = checked_by("print('x' * 10**6); print('\\x1b[2J!'); print('\\n'.join(map(str, range(10**5))))")
    check.start()
    assert await ended(check) == "fine"
    assert (len(check.lines), check.lines[-1]) == (200, str(10**5 - 1))
    check = checked_by("print('x' * 10**6); print('\\x1b[2J!'); print('y' * 10**6, end='')")
    check.start()
    assert await ended(check) == "fine"
    assert [len(line) for line in check.lines] == [500, 5, 500]
    assert "\x1b" not in "".join(check.lines)


async def test_one_that_hangs_is_ended() -> None:
    """When its time is over."""
    check = checked_by("import signal; signal.pause()", max_seconds=0.2)
    check.start()
    assert (await ended(check), list(check.lines)) == ("failed", ["It took too long and was ended."])


async def test_it_ends_with_the_pages(tmp_path: Path) -> None:
    """Nothing of it is left running."""
    told = tmp_path / "pid"
    check = checked_by(f"import os, signal; open({str(told)!r}, 'w').write(str(os.getpid())); signal.pause()")
    check.start()
    await eventually(lambda: told.exists() and bool(told.read_text()))
    await check.stop()
    with pytest.raises(ProcessLookupError):
        os.kill(int(told.read_text()), 0)


async def test_one_that_cannot_be_started() -> None:
    """The page says why."""
    check = UpgradeCheck("/no/such/program")
    check.start()
    assert (await ended(check), len(check.lines)) == ("failed", 1)
