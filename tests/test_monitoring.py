"""What watches over Aldis: the rules do what they are for, and every figure that anything here names is there."""

import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.app.models import count_answer, count_failure, count_run
from bot.chat.notices import Notice
from bot.chat.steps import ToolRun
from bot.clock import SetClock
from bot.doctor.findings import problem
from bot.errors import BadKey
from bot.media.confinement import Level
from bot.messages import CallId, ToolAnswer
from bot.metrics import Counts
from bot.signal.protocol import Release, StreamState
from bot.web.health import HealthPage
from store import Store
from tests.bot.chat.turn_helpers import says
from tests.bot.loops.fake_transport import FakeTransport, watchdog_of

ROOT = Path(__file__).parent.parent
MONITORING = ROOT / "docker" / "monitoring"
PROMTOOL = shutil.which("promtool") or shutil.which("promtool", path=str(ROOT / ".venv/prometheus/usr/bin"))
NAME = re.compile(r"\baldis_[a-z_]+\b")


def complaints(*arguments: str, stdin: str | None = None) -> str:
    """What promtool says against something; empty where it takes it."""
    command = [str(PROMTOOL), *arguments]
    ran = subprocess.run(command, cwd=MONITORING, check=False, capture_output=True, text=True, input=stdin)
    return "" if ran.returncode == 0 else ran.stdout + ran.stderr


@pytest.fixture
async def exposition(store: Store, clock: SetClock) -> str:
    transport = FakeTransport(stream=StreamState(is_open=True, heard_at=88.0))
    transport.known_release = Release(bridge="signal_cli", version="0.14.8")
    counts = Counts()
    count_answer(counts, says("Hi."))
    count_failure(counts, BadKey("refused", provider="openai"))
    counts.observe("turn", 1, outcome="answered")
    counts.observe("send", 1)
    answer = ToolAnswer(call_id=CallId("1"), name="any", content="", ok=False)
    count_run(counts, ToolRun(answer=answer, arguments={}, outcome="timeout", latency_seconds=1, cost_usd=Decimal(0)))
    watchdog = watchdog_of(transport, [problem("", "a key", notice=Notice(kind="key"))])
    await watchdog.look()

    async def used_share() -> Mapping[str, float]:
        return {"day": 0.5, "month": 0.25}

    page = HealthPage(
        transport,
        store,
        clock,
        counts,
        watchdog,
        level=lambda: Level(landlock=4, seccomp=True),
        free_bytes=lambda: 10**9,
        used_share=used_share,
    )
    return await page.metrics()


def names_in(exposition: str) -> set[str]:
    return {line.split("{")[0].split(" ")[0] for line in exposition.splitlines() if not line.startswith("#")}


def expressions() -> dict[str, list[str]]:
    rules = yaml.safe_load((MONITORING / "rules.yaml").read_text(encoding="utf-8"))
    dashboard: dict[str, Any] = json.loads((MONITORING / "dashboard.json").read_text(encoding="utf-8"))
    panels = [panel for panel in dashboard["panels"] if panel["type"] != "row"]
    return {
        "rules.yaml": [rule["expr"] for group in rules["groups"] for rule in group["rules"]],
        "dashboard.json": [target["expr"] for panel in panels for target in panel["targets"]],
    }


async def test_every_figure_that_is_named_is_there(exposition: str) -> None:
    """With its labels: a panel over a name that was changed would be empty for ever, an alert silent."""
    there, samples = names_in(exposition), exposition.splitlines()
    for file, found in expressions().items():
        named = {name for expression in found for name in NAME.findall(expression)}
        assert len(named) > 10, file
        assert named <= there, file
        for expression in found:
            for name, label, value in re.findall(r'(aldis_\w+)\{(\w+)="(\w+)"', expression):
                assert any(line.startswith(f"{name}{{") and f'{label}="{value}"' in line for line in samples), name


@pytest.mark.skipif(
    PROMTOOL is None, reason="NO PROMTOOL HERE: the rules are not tried; it is in Debian's package prometheus"
)
async def test_prometheus_takes_all_of_it(exposition: str, tmp_path: Path) -> None:
    """Names, types and units; each rule alerts when it should and not before (rules.test.yaml); the configuration
    beside its rules, as the compose file hands it over; and each expression of the dashboard.
    """
    assert complaints("check", "metrics", stdin=exposition) == ""
    assert complaints("check", "rules", "rules.yaml") == complaints("test", "rules", "rules.test.yaml") == ""
    for name in ("prometheus.yaml", "rules.yaml"):
        shutil.copy(MONITORING / name, tmp_path)
    assert complaints("check", "config", str(tmp_path / "prometheus.yaml")) == ""
    found = [expression.replace("$__rate_interval", "5m") for expression in expressions()["dashboard.json"]]
    rules = [{"record": f"panel:{number}", "expr": expression} for number, expression in enumerate(found)]
    path = tmp_path / "panels.yaml"
    path.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}), encoding="utf-8")
    assert complaints("check", "rules", str(path)) == ""


def test_the_alerts_that_were_asked_for_are_there() -> None:
    """Each with a severity, a sentence and what to do."""
    rules = yaml.safe_load((MONITORING / "rules.yaml").read_text(encoding="utf-8"))["groups"][0]["rules"]
    by_name = {rule["alert"]: rule for rule in rules}
    wanted = {"AldisDeaf", "AldisQueueOld", "AldisCaptchaWanted", "AldisKeyRefused", "AldisBudgetNear"}
    assert wanted | {"AldisDiskNearlyFull"} <= by_name.keys()
    for rule in rules:
        assert rule["labels"]["severity"] in {"warning", "critical"}
        assert rule["annotations"].keys() == {"summary", "description"}
    page = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")
    for title in re.findall(r'"([A-Z][^"]+)" in docs/operating.md', (MONITORING / "rules.yaml").read_text("utf-8")):
        assert f"## {title}\n" in page
