# ruff: noqa: INP001  (a script beside the others of its folder, no part of a package)
"""Looks up what both lock files pin among the known vulnerabilities, and tells apart the ways in which that can fail.

    python .ci/audit.py path/to/pip-audit [--ignore-vuln ID ...]

    every package looked up, none vulnerable ----> "audited: ..."        status 0
    a package is vulnerable ---------------------> named with its fix    status 1
    the database knows some of the packages only > the others named      status 1
    the database cannot be reached, or is a mirror without vulnerabilities, which knows none of them
                              -------------------> "not audited: ..."    status 0
    anything else -------------------------------> what pip-audit said   status 1

pip-audit alone will not do: it ends with 0 and "No known vulnerabilities found" also when it skipped every package, and
with --strict it stops at the first one, with the same status as for a vulnerability. Its report lists them all.

Source: pip-audit 2.10.1, `_cli.py` and `_service/pypi.py` (2026-11-22).
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

LOCKS = ("requirements.lock", "tests/requirements.lock")
_ANSWER_SECONDS = 10
_ALL_SECONDS = 180.0
_UNREACHED = (
    "requests.exceptions.",
    "pip_audit._service.interface.",
    "Could not connect",
    "is not redirecting properly",
)
"""One of these stands in what pip-audit says when its database did not answer, or not as a database."""


def main() -> int:
    """Audit, say what came of it, and give the exit status."""
    with tempfile.TemporaryDirectory(prefix="aldis-audit-") as folder:
        report = Path(folder) / "report.json"
        try:
            said = _run(*sys.argv[1:], report=report)
        except subprocess.TimeoutExpired:
            return _told(0, f"not audited: the database has not answered within {_ALL_SECONDS:.0f} s")
        if report.exists():
            return _judged(json.loads(report.read_text(encoding="utf-8"))["dependencies"])
    if any(sign in said for sign in _UNREACHED):
        return _told(0, f"not audited: the database cannot be reached ({said.strip().splitlines()[-1]})")
    return _told(1, f"the audit failed: {said}")


def _run(pip_audit: str, *more: str, report: Path) -> str:
    """Everything that pip-audit says; the report is there when it came to an end."""
    command = [pip_audit, "--progress-spinner=off", f"--timeout={_ANSWER_SECONDS}", "--disable-pip", "--require-hashes"]
    command += ["--format=json", f"--output={report}", *(f"--requirement={lock}" for lock in LOCKS), *more]
    done = subprocess.run(  # noqa: S603  (the Makefile names the program)
        command, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=_ALL_SECONDS
    )
    return done.stdout


def _judged(packages: list[dict[str, Any]]) -> int:
    skipped = [package["name"] for package in packages if "skip_reason" in package]
    lines = [
        f"{package['name']} {package['version']}: {found['id']}, fixed in {', '.join(found['fix_versions']) or 'none'}"
        for package in packages
        for found in package.get("vulns", ())
    ]
    if packages and len(skipped) == len(packages):
        return _told(0, f"not audited: what answers for the database knows none of the {len(packages)} packages")
    if skipped:
        lines.append(f"not audited, for the database does not know them: {', '.join(skipped)}")
    return _told(1, *lines) if lines else _told(0, f"audited: {len(packages)} packages, no known vulnerability")


def _told(status: int, *lines: str) -> int:
    sys.stderr.write("\n".join(lines) + "\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
