"""The audit of the lock files: what is wrong fails it, what cannot be looked up is told and fails nothing."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent

PIP_AUDIT = """\
#!{python}
import argparse, json, pathlib, sys
parser = argparse.ArgumentParser()
parser.add_argument("--requirement", action="append", type=pathlib.Path, required=True)
parser.add_argument("--format", choices=["json"], required=True)
parser.add_argument("--output", type=pathlib.Path, required=True)
parser.add_argument("--progress-spinner", choices=["on", "off"])
parser.add_argument("--timeout", type=int)
parser.add_argument("--disable-pip", action="store_true")
parser.add_argument("--require-hashes", action="store_true")
parser.add_argument("--ignore-vuln", action="append", default=[])
options = parser.parse_args()
assert all("--hash=sha256:" in lock.read_text() for lock in options.requirement)
packages = json.loads({packages!r})
if packages is None:
    sys.exit({said!r})
for package in packages:
    package["vulns"] = [found for found in package.get("vulns", []) if found["id"] not in options.ignore_vuln]
options.output.write_text(json.dumps({{"dependencies": packages, "fixes": []}}))
sys.exit(any(package["vulns"] for package in packages))
"""
"""What stands in for the real one: its options, its report, its status; version 2.10.1."""

GOOD: Mapping[str, Any] = {"name": "aiohttp", "version": "3.14.5"}
BAD: Mapping[str, Any] = {
    "name": "httpx",
    "version": "0.28.1",
    "vulns": [{"id": "PYSEC-2026-1", "fix_versions": ["0.28.2"], "aliases": [], "description": "bad"}],
}
UNKNOWN: Mapping[str, Any] = {"name": "segno", "skip_reason": "Dependency not found on PyPI and could not be audited"}

NO_NETWORK = "Traceback (most recent call last):\n...\nrequests.exceptions.ConnectionError: no route"
NO_ANSWER = (
    "ERROR:pip_audit._cli:Could not connect to PyPI's vulnerability feed\nERROR:pip_audit._cli:Tip: your network"
)
AN_OUTAGE = "Traceback (most recent call last):\n...\npip_audit._service.interface.ServiceError"
A_BUG = "Traceback (most recent call last):\n...\nTypeError: something else"


def audited(
    folder: Path, packages: list[Mapping[str, Any]] | None, said: str = "", *arguments: str
) -> subprocess.CompletedProcess[str]:
    program = folder / "pip-audit"
    program.write_text(PIP_AUDIT.format(python=sys.executable, packages=json.dumps(packages), said=said))
    program.chmod(0o755)
    command = [sys.executable, str(ROOT / ".ci" / "audit.py"), str(program), *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)


def test_where_nothing_is_known_all_is_well(tmp_path: Path) -> None:
    """Every package was looked up."""
    done = audited(tmp_path, [GOOD, GOOD])
    assert (done.returncode, done.stderr) == (0, "audited: 2 packages, no known vulnerability\n")


def test_a_vulnerability_fails_and_is_named(tmp_path: Path) -> None:
    """With the version that has it and the one that has not."""
    done = audited(tmp_path, [GOOD, BAD])
    assert (done.returncode, done.stderr) == (1, "httpx 0.28.1: PYSEC-2026-1, fixed in 0.28.2\n")


def test_a_vulnerability_can_be_let_pass(tmp_path: Path) -> None:
    """By its name alone, for whoever has looked at it."""
    assert audited(tmp_path, [BAD], "", "--ignore-vuln", "PYSEC-2026-1").returncode == 0
    assert audited(tmp_path, [BAD], "", "--ignore-vuln", "PYSEC-2026-2").returncode == 1


def test_a_mirror_that_knows_nothing_is_no_audit(tmp_path: Path) -> None:
    """It fails nothing, and is not called clean."""
    done = audited(tmp_path, [UNKNOWN, UNKNOWN])
    assert (done.returncode, done.stderr[:12]) == (0, "not audited:")


def test_one_package_that_is_not_known_fails(tmp_path: Path) -> None:
    """The database is there, and a package that we install is not in it: that wants to be looked at."""
    done = audited(tmp_path, [GOOD, UNKNOWN])
    assert (done.returncode, done.stderr) == (1, "not audited, for the database does not know them: segno\n")


@pytest.mark.parametrize("said", [NO_NETWORK, NO_ANSWER, AN_OUTAGE], ids=["no network", "no answer", "an outage"])
def test_a_database_that_does_not_answer_is_told(tmp_path: Path, said: str) -> None:
    """Nobody can do anything about that, so it fails nothing."""
    done = audited(tmp_path, None, said)
    assert (done.returncode, done.stderr[:12]) == (0, "not audited:")


def test_any_other_failure_fails(tmp_path: Path) -> None:
    """An audit that does not work must not look like one that found nothing."""
    done = audited(tmp_path, None, A_BUG)
    assert done.returncode == 1
    assert "TypeError" in done.stderr
