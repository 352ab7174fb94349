"""The audit of the lock files: what is wrong fails it, what cannot be looked up is told and fails nothing."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

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
    folder: Path, packages: Sequence[Mapping[str, Any]] | None, said: str = "", *arguments: str
) -> subprocess.CompletedProcess[str]:
    program = folder / "pip-audit"
    program.write_text(PIP_AUDIT.format(python=sys.executable, packages=json.dumps(packages), said=said))
    program.chmod(0o755)
    command = [sys.executable, str(ROOT / ".ci" / "audit.py"), str(program), *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)


ROWS = (
    ([GOOD, GOOD], "", (), 0, "audited: 2 packages, no known vulnerability\n"),
    # A vulnerability, with the version that has it and the one that has not; it can be let pass by its name alone.
    ([GOOD, BAD], "", (), 1, "httpx 0.28.1: PYSEC-2026-1, fixed in 0.28.2\n"),
    ([BAD], "", ("--ignore-vuln", "PYSEC-2026-1"), 0, "audited: 1 packages"),
    ([BAD], "", ("--ignore-vuln", "PYSEC-2026-2"), 1, "httpx"),
    # A mirror that knows nothing fails nothing; one package that is not known wants to be looked at.
    ([UNKNOWN, UNKNOWN], "", (), 0, "not audited:"),
    ([GOOD, UNKNOWN], "", (), 1, "not audited, for the database does not know them: segno\n"),
    # Nothing can be done about a database that does not answer; any other failure must not look like a clean audit.
    (None, NO_NETWORK, (), 0, "not audited:"),
    (None, NO_ANSWER, (), 0, "not audited:"),
    (None, AN_OUTAGE, (), 0, "not audited:"),
    (None, A_BUG, (), 1, "TypeError"),
)


def test_what_is_wrong_fails_and_what_cannot_be_looked_up_does_not(tmp_path: Path) -> None:
    """With the sentence that the operator reads."""
    for packages, said, arguments, status, words in ROWS:
        done = audited(tmp_path, packages, said, *arguments)
        assert (done.returncode, words in done.stderr) == (status, True), (words, done.stderr)
