"""A doctor as the product puts it together, in front of doubles."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from bot import app, settings
from bot.app.wiring import idle_features
from bot.clock import Clock
from bot.doctor import checkup
from bot.doctor.findings import Finding
from tests.cells import sandbox
from tools import Fetcher, alone
from tools.http import Http

USER_AGENT = "Aldis-test"


async def examined(
    folder: Path,
    given: Mapping[str, str],
    *,
    is_contained: bool = False,
    asks_models: bool = False,
    clock: Clock | None = None,
) -> tuple[Finding, ...]:
    """What the doctor finds, with the product's own parts; the bridge is away unless `given` names one."""
    usual = {"SIGNAL__URL": "http://127.0.0.1:9", "STORE__PATH": str(folder / "aldis.db"), "WEB__PORT": "0"}
    wanted = settings.load_settings({**usual, **given}, env_file=None)
    tool_deps = alone(Http(USER_AGENT), Fetcher(USER_AGENT), idle_features())
    deps = replace(app.doctor_deps(wanted), is_contained=is_contained, tool_deps=tool_deps, sandbox=sandbox)
    return await checkup.examine(wanted, deps, clock or Clock(), asks_models=asks_models)


def wrong(findings: tuple[Finding, ...]) -> list[str]:
    """What is wrong, each with what to do, but for the bridge, what only a missing bridge leaves open, and what stands
    in the environment of the tests.
    """
    passed = ("bridge:", "access:", "ACCESS__", "SQLite", "network: HTTP", "settings: not read")
    return [
        f"{finding.what} -> {finding.advice}"
        for finding in findings
        if finding.level in {"warning", "problem"} and not finding.what.startswith(passed)
    ]
