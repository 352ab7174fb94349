"""Invocation: every sentence that names a verb names it as it is typed here."""

import subprocess
import sys
from pathlib import Path

import pytest

from bot.invocation import VARIABLE, command_line, spell_commands

ROOT = Path(__file__).parents[2]


def shown(*command: str | Path, found_in: Path | str, folder: Path = ROOT) -> str:
    env = {"PATH": str(found_in), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    code = "import sys\nfrom bot.invocation import command_line\nprint(command_line(*sys.argv[1:]))\n"
    path.write_text(code, encoding="utf-8")
    path.chmod(0o755)
    return path


def test_a_package_is_called_by_its_name(tmp_path: Path) -> None:
    """Where the shell finds it; else by its path, which is short from the folder that it is in."""
    script = program(tmp_path / "venv" / "bin" / "aldis")
    assert shown(sys.executable, script, "doctor", found_in=script.parent) == "aldis doctor"
    assert shown(sys.executable, script, "doctor", found_in="/nowhere") == f"{script} doctor"
    assert shown(sys.executable, script, found_in="/nowhere", folder=tmp_path) == "venv/bin/aldis"
    assert shown(sys.executable, script, found_in="/nowhere", folder=script.parent) == str(script)


def test_a_clone_is_called_by_its_python(tmp_path: Path) -> None:
    """By its path, also where its environment is activated."""
    module = program(tmp_path / "bot" / "__main__.py")
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    assert shown(python, module, "link", found_in=python.parent, folder=tmp_path) == ".venv/bin/python -m bot link"


def test_a_container_is_called_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """The image says how; a second Aldis beside the running one makes no sense, nor does its health."""
    monkeypatch.setenv(VARIABLE, "docker compose -f docker/compose.yaml run --rm aldis")
    assert command_line("backup b") == "docker compose -f docker/compose.yaml run --rm aldis backup b"
    assert command_line("run") == "docker compose -f docker/compose.yaml up --detach"
    assert command_line("health") == "docker compose -f docker/compose.yaml exec aldis aldis health"
    monkeypatch.setenv(VARIABLE, "sudo -u aldis aldis")
    assert command_line("run") == "sudo -u aldis aldis run"
    assert spell_commands("restore a backup with `aldis restore FILE`: Aldis is a lamp") == (
        "restore a backup with `sudo -u aldis aldis restore FILE`: Aldis is a lamp"
    )
