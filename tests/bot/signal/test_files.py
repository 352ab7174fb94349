"""Files on their way: the form in which both bridges take them, and the folder in which signal-cli keeps them."""

import json
import logging
import os
import time
from pathlib import Path
from typing import Any

import pytest

from bot.events import File
from bot.signal.files import Folder, data_uri, files_in
from tests.servers.envelopes import ALICE, attachment, envelope, message, note, quote_of
from tests.servers.signal_server import SentFile, file_of

NAMES = {
    "plot.png": "plot.png",
    "year 2026, all;of=it.csv": "year_2026_all_of_it.csv",
    "größe.pdf": "größe.pdf",
    "../../etc/passwd": "passwd",
    "C:\\secret\\a.txt": "a.txt",
    "100%.txt": "100_.txt",
    "\n\x00": "file",
    "..": "file",
    "x" * 300 + ".png": "x" * 96 + ".png",
}


def test_a_file_arrives_under_a_plain_name() -> None:
    """No sign of the name means anything to the bridge, and none leads out of a folder."""
    for name, arrives in NAMES.items():
        uri = data_uri(File(name=name, content_type="image/png", data=b"\x89PNG"))
        assert file_of(uri) == SentFile(name=arrives, content_type="image/png", data=b"\x89PNG")
    odd = data_uri(File(name="a", content_type="image/png,x", data=b"x"))  # could end the type and begin another part
    assert file_of(odd).content_type == "application/octet-stream"


def test_every_file_of_a_frame_is_found() -> None:
    """Also those of quotes, links, contacts, notes and edits; a bounded number of a frame that is full of them."""
    ids = [attachment() for _ in range(6)]
    quote = quote_of(ALICE, 5, "x") | {"attachments": [{"contentType": "image/png", "thumbnail": ids[1]}]}
    contact = {"avatar": {"attachment": ids[2]}}
    frame = message("look", attachments=[ids[0]], quote=quote, contacts=[contact], previews=[{"image": ids[3]}])
    assert {found.id for found in files_in(json.dumps(frame))} == {item["id"] for item in ids[:4]}
    assert [found.id for found in files_in(json.dumps(note("x", attachments=[ids[4]])))] == [ids[4]["id"]]
    edited = envelope(ALICE, editMessage={"dataMessage": {"attachments": [ids[5]]}})
    assert [found.id for found in files_in(json.dumps(edited))] == [ids[5]["id"]]
    assert len(files_in(json.dumps(message("x", attachments=[attachment()] * 5000)))) == 64


def kept(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def aged(path: Path, seconds: float = 0) -> None:
    path.write_bytes(b"x")
    at = time.time() - seconds
    os.utime(path, (at, at))


def test_a_file_is_deleted_with_its_preview(tmp_path: Path) -> None:
    """And nothing else; signal-cli spells some names differently on the disk."""
    for name in ("a1.jpg", "a1.jpg.preview", "b2.jpg", "Qm9_.pdf"):
        aged(tmp_path / name)
    folder = Folder(tmp_path)
    folder.delete("a1.jpg")
    assert kept(tmp_path) == {"b2.jpg", "Qm9_.pdf"}
    folder.delete("Qm9=.pdf")
    folder.delete("not-there")
    assert kept(tmp_path) == {"b2.jpg"}


def test_what_is_no_bare_name_is_not_deleted(tmp_path: Path) -> None:
    """An id never leads out of the folder, nor into another."""
    inner = tmp_path / "folder"
    (inner / "in").mkdir(parents=True)
    for path in (tmp_path / "outside", inner / ".hidden", inner / "in" / "side"):
        aged(path)
    for id_ in ("../outside", "/etc/hostname", "..", ".", "", ".hidden", "in/side", "a\0b"):
        Folder(inner).delete(id_)
    assert {path.name for path in tmp_path.rglob("*") if path.is_file()} == {"outside", ".hidden", "side"}


def test_a_folder_that_is_none_deletes_nothing(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    """Not set, nothing happens; not there or no file, the operator reads that without the file's name."""
    Folder(None).delete("a1.jpg")
    Folder(None).sweep()
    assert caplog.records == []
    (tmp_path / "a1.jpg").mkdir()
    Folder(tmp_path).delete("a1.jpg")
    Folder(tmp_path / "nowhere").sweep()
    lines = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert len(lines) == 2
    assert all("SIGNAL__ATTACHMENTS" in line and "a1" not in line for line in lines)


@pytest.mark.parametrize("way", [lambda folder: folder.sweep(), lambda folder: folder.delete("gone.jpg")])
def test_what_was_not_asked_for_is_swept_away(tmp_path: Path, way: Any) -> None:
    """Talk among others in groups, and what a crash has left, goes after days; what may be asked for stays."""
    folder = tmp_path / "attachments"
    (folder / "folder").mkdir(parents=True)
    aged(folder / "old.jpg", 3 * 86_400)
    aged(folder / "new.jpg", 86_400)
    way(Folder(folder))
    assert kept(folder) == {"new.jpg", "folder"}
