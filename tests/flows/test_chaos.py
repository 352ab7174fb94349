"""Short rounds of the crash harness; `python -m tests.campaigns.chaos` plays long ones."""

from pathlib import Path

import pytest

from tests.campaigns.chaos import audit
from tests.campaigns.chaos.phones import Way
from tests.campaigns.chaos.rounds import played
from tests.campaigns.chaos.world import Size


@pytest.mark.parametrize(
    ("way", "groups", "kills", "restarts"), [("unix", 2, 2, 0), ("unix", 0, 1, 3), ("websocket", 0, 2, 0)]
)
async def test_killed_again_and_again(tmp_path: Path, way: Way, groups: int, kills: int, restarts: int) -> None:
    """Lives end by SIGKILL under load, or begin anew; every property of the audit holds over what they leave behind."""
    size = Size(
        seed=1,
        way=way,
        kills=kills,
        stops=1,
        restarts=restarts,
        rate_per_second=20,
        people=12,
        groups=groups,
        strangers=2,
        uptime_seconds=0.7,
    )
    here = await played(size, tmp_path)
    found = audit.findings(here)
    assert not any(finding.violations for finding in found), "\n".join(map(str, found))
    assert sum(life.status == -9 for life in here.lives) == size.kills
    assert here.restarts == size.stops * size.restarts
    assert all(finding.count for finding in found if "lost" not in finding.property), "\n".join(map(str, found))
