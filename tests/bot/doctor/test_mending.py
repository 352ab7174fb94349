"""What the doctor mends by itself: only what is surely wrong, each thing told, and nothing of anybody else."""

import fcntl
import os
import socket
import stat
from pathlib import Path

import pytest

from bot.doctor.mending import mend
from bot.settings import SETTINGS_FILE_NAME, load_settings
from bot.web.control import socket_path


class Machine:
    """A folder with a `.env`, a store and a settings file."""

    def __init__(self, folder: Path) -> None:
        self.data = folder / "data"
        self.store = self.data / "aldis.db"
        self.env_file = folder / ".env"

    def mend(self) -> list[str]:
        return list(mend(self.data / SETTINGS_FILE_NAME, socket_of=socket_path, env_file=self.env_file))

    def put(self, name: str, text: str = "", mode: int = 0o600) -> Path:
        self.data.mkdir(mode=0o700, exist_ok=True)
        path = self.data / name
        path.write_text(text)
        path.chmod(mode)
        return path


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setenv("STORE__PATH", str(tmp_path / "data" / "aldis.db"))
    return Machine(tmp_path)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_slips_in_env_are_corrected_and_the_file_is_kept(machine: Machine) -> None:
    """What the line holds besides stays; the settings can be read then; a second time there is nothing to mend."""
    text = "# mine\nLOG_LEVEL=debug # for now\nBUDGET_ALL_DAY_USD=5\nANTHROPIC_APIKEY='sk 1'\nTZ=UTC\n"
    machine.env_file.write_text(text)
    machine.env_file.chmod(0o600)
    told = machine.mend()
    assert [line.split(": ")[1] for line in told if line.startswith("fixed    ") and ".env" in line] == [
        "LOG_LEVEL is now LOG__LEVEL",
        "BUDGET_ALL_DAY_USD is now BUDGET__ALL_DAY_USD",
        "ANTHROPIC_APIKEY is now ANTHROPIC_API_KEY",
    ]
    assert machine.env_file.read_text() == text.replace("LOG_LEVEL", "LOG__LEVEL").replace(
        "BUDGET_ALL_DAY_USD", "BUDGET__ALL_DAY_USD"
    ).replace("ANTHROPIC_APIKEY", "ANTHROPIC_API_KEY")
    [copy] = [path for path in machine.env_file.parent.iterdir() if path.name.startswith(".env.")]
    assert (copy.read_text(), mode_of(copy), mode_of(machine.env_file)) == (text, 0o600, 0o600)
    assert str(copy) in told[3]
    assert "sk 1" not in str(told)
    assert machine.mend() == []


def test_what_is_not_sure_is_left(machine: Machine) -> None:
    """A name that is nearly none of ours, and one whose right one stands there as well."""
    text = "MY_PASSWORD=x\nWEB_PORT=1\nWEB__PORT=2\n"
    machine.env_file.write_text(text)
    machine.env_file.chmod(0o600)
    machine.data.mkdir()
    assert machine.mend() == [f"left     {machine.env_file}: WEB_PORT may be WEB__PORT, which stands there, too"]
    assert machine.env_file.read_text() == text


def test_slips_in_the_settings_file_are_corrected(machine: Machine) -> None:
    """In the same way; it can be read again."""
    path = machine.put(SETTINGS_FILE_NAME, "WEB_PORT=1\n")
    assert f"fixed    {path}: WEB_PORT is now WEB__PORT" in machine.mend()
    assert load_settings(env_file=machine.env_file).web.port == 1


def test_a_line_that_is_none_is_told(machine: Machine) -> None:
    """By its number, without what stands there; nothing else of the file is touched."""
    machine.put(SETTINGS_FILE_NAME, "WEB_PORT=1\nsesame\n")
    [told] = machine.mend()
    assert told.startswith("left     ")
    assert "line 2" in told
    assert "sesame" not in told


def test_rights_of_others_are_taken_away(machine: Machine) -> None:
    """Of files that may hold keys or words, and of no others."""
    opened = [machine.put(name, mode=0o644) for name in ("aldis.db", "aldis.db-master-key", SETTINGS_FILE_NAME)]
    other, closed = machine.put("notes.txt", mode=0o644), machine.put("aldis.db-keys", mode=0o400)
    machine.env_file.write_text("")
    machine.env_file.chmod(0o664)
    told = machine.mend()
    assert {mode_of(path) for path in (*opened, machine.env_file)} == {0o600}
    assert (mode_of(other), mode_of(closed)) == (0o644, 0o400)
    assert len(told) == 4
    assert all(": was 06" in line for line in told)


def test_links_are_not_followed(machine: Machine, tmp_path: Path) -> None:
    """Somebody else's file is not changed by way of one."""
    there = tmp_path / "elsewhere"
    there.write_text("WEB_PORT=1\n")
    there.chmod(0o644)
    machine.data.mkdir()
    (machine.data / "aldis.db-keys").symlink_to(there)
    machine.env_file.symlink_to(there)
    assert machine.mend() == [f"left     {machine.env_file}: its names are not looked at (it is a link)"]
    assert (there.read_text(), mode_of(there)) == ("WEB_PORT=1\n", 0o644)


def test_a_missing_folder_is_made(machine: Machine) -> None:
    """For its owner alone."""
    assert machine.mend() == [f"fixed    {machine.data}: made, for its owner alone"]
    assert mode_of(machine.data) == 0o700


def test_what_a_kill_left_is_taken_away_while_nobody_runs(machine: Machine) -> None:
    """The socket, and a write that came to no end; what a running Aldis has stays."""
    machine.put("aldis.db")
    lock, draft = machine.put("aldis.db-lock"), machine.put(".settings.env-abc")
    control = socket_path(machine.store)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(control))
    held = os.open(lock, os.O_RDWR)
    fcntl.flock(held, fcntl.LOCK_EX)
    assert machine.mend() == []
    assert control.is_socket()
    os.close(held)
    told = machine.mend()
    assert [line.split(":")[0] for line in told] == [f"fixed    {control}", f"fixed    {draft}"]
    assert not control.exists()
    assert not draft.exists()
    assert machine.mend() == []
