"""Folders, ports, feeds and extras: what a start would trip over is found before it."""

import asyncio
import socket
from pathlib import Path

from bot.doctor.machine import check_rights, check_store
from bot.settings import Settings, load_settings


def given(**values: str) -> Settings:
    return load_settings({"WEB__PORT": "0", **values}, None)


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """Whatever is in its place; one that has still to be made is looked at where it would be."""
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    [well] = asyncio.run(check_store(given(STORE__PATH=str(tmp_path / "new" / "deeper" / "aldis.db"))))
    assert (well.level, list(tmp_path.iterdir())) == ("ok", [tmp_path / "file"])
    for path in (tmp_path / "file" / "aldis.db", Path("/proc/1/aldis.db")):
        [found] = asyncio.run(check_store(given(STORE__PATH=str(path))))
        assert (found.level, "cannot write to" in found.what) == ("problem", True)
        assert "STORE__PATH" in found.advice


def test_keys_that_others_may_read_are_named(tmp_path: Path) -> None:
    """Every file of the store and the settings file; what Aldis makes is nobody else's, a socket holds nothing."""
    settings = given(STORE__PATH=str(tmp_path / "aldis.db"))
    for name in ("aldis.db", "aldis.db-master-key", "settings.env", "other"):
        (tmp_path / name).write_text("x", encoding="utf-8")
        (tmp_path / name).chmod(0o600)
    (tmp_path / "other").chmod(0o644)
    with socket.socket(socket.AF_UNIX) as control:
        control.bind(str(tmp_path / "aldis.db-control"))
    assert list(check_rights(settings)) == []
    (tmp_path / "aldis.db-master-key").chmod(0o644)
    (tmp_path / "settings.env").chmod(0o640)
    [found] = check_rights(settings)
    assert (found.level, "settings.env, aldis.db-master-key in" in found.what) == ("warning", True)
    files = f"{tmp_path}/settings.env {tmp_path}/aldis.db-master-key"
    assert found.advice == f"`chmod go-rwx {files}` removes that permission"
