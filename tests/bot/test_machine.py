"""What the machine lets a process have."""

import asyncio
import re
import resource
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from importlib import resources
from pathlib import Path

from bot import app


async def test_a_process_may_open_as_many_files_as_the_machine_allows() -> None:
    """Its shell gave it few; a thousand conversations that wait need one connection each."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    try:
        app.widen()
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (min(hard, 65_536), hard)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def test_many_wait_beside_the_loop_without_delaying_another() -> None:
    """Each lookup of a name occupies a thread until the name server answers."""
    app.widen()
    is_over = asyncio.Event()
    loop = asyncio.get_running_loop()

    def wait() -> None:
        asyncio.run_coroutine_threadsafe(is_over.wait(), loop).result()

    waiting = [asyncio.create_task(asyncio.to_thread(wait)) for _ in range(40)]
    assert await asyncio.to_thread(lambda: "done") == "done"
    is_over.set()
    await asyncio.gather(*waiting)


def test_the_machine_s_own_time_zones_are_not_read(tmp_path: Path) -> None:
    """They may be old: Vancouver keeps summer time since 2026 (tzdata 2026f)."""
    (tmp_path / "America").mkdir()
    london = resources.files("tzdata.zoneinfo.Europe").joinpath("London").read_bytes()
    (tmp_path / "America" / "Vancouver").write_bytes(london)
    asked_at = datetime.now(UTC)
    command = [sys.executable, "-m", "bot", "chat", "--once", "What time is it in Vancouver?"]
    env = {"PYTHONTZPATH": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[2])}
    answered = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True, check=True)
    [shown] = re.findall(r"It's (\d\d:\d\d)", answered.stdout)
    minutes = int((datetime.now(UTC) - asked_at).total_seconds() // 60) + 2
    there = asked_at + timedelta(hours=-7)
    assert shown in {f"{there + timedelta(minutes=minute):%H:%M}" for minute in range(minutes)}
