"""Invocation: every sentence that names a verb names it as it is typed here."""

import sys
from pathlib import Path

import pytest

from bot.invocation import VARIABLE, command_line, spell_commands


def _program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o755)
    return path


def test_a_package_is_called_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the shell finds it; else by its path, which is short from the folder that it is in."""
    script = _program(tmp_path / "venv" / "bin" / "aldis")
    monkeypatch.setattr("sys.argv", [str(script), "doctor"])
    monkeypatch.setenv("PATH", str(script.parent))
    assert command_line("doctor") == "aldis doctor"
    monkeypatch.setenv("PATH", "/nowhere")
    assert command_line("doctor") == f"{script} doctor"
    monkeypatch.chdir(tmp_path)
    assert command_line() == "venv/bin/aldis"


def test_a_clone_is_called_by_its_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whose path is needed as long as its environment is not activated."""
    python = _program(tmp_path / ".venv" / "bin" / "python")
    monkeypatch.setattr("sys.argv", [str(tmp_path / "bot" / "__main__.py")])
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.chdir(tmp_path)
    assert command_line("link") == ".venv/bin/python -m bot link"
    monkeypatch.setenv("PATH", str(python.parent))
    assert command_line("link") == "python -m bot link"


def test_a_container_is_called_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """The image says how; a second Aldis beside the running one makes no sense, nor does its health."""
    monkeypatch.setenv(VARIABLE, "docker compose -f docker/compose.yaml run --rm aldis")
    assert command_line("trust ab12") == "docker compose -f docker/compose.yaml run --rm aldis trust ab12"
    assert command_line("run") == "docker compose -f docker/compose.yaml up --detach"
    assert command_line("health") == "docker compose -f docker/compose.yaml exec aldis aldis health"
    monkeypatch.setenv(VARIABLE, "sudo -u aldis aldis")
    assert command_line("run") == "sudo -u aldis aldis run"
    assert spell_commands("restore a backup with `aldis restore FILE`: Aldis is a lamp") == (
        "restore a backup with `sudo -u aldis aldis restore FILE`: Aldis is a lamp"
    )
