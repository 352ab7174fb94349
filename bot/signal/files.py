"""Files in transit: the form in which bridges accept them, their description in a frame, and signal-cli's own copies.

Source: signal-cli 0.14.6, `DataURI` and `AttachmentStore` of `org.asamk.signal.manager`; signal-cli-rest-api, commit
a08db23, `src/client/client.go` (2026-11-21); the folders of signal-cli 0.13.14, observed (2026-11-26).
"""

import base64
import binascii
import logging
import re
import time
from dataclasses import replace
from pathlib import Path
from typing import cast

from bot.errors import Unfetchable
from bot.events import Attachment, File
from bot.signal.json import Json, as_object, name_of, object_in, parse_frame, text_in, whole_in

_log = logging.getLogger(__name__)

_ID = re.compile(r"[A-Za-z0-9_=-][A-Za-z0-9._=-]{0,254}")
"""The form of signal-cli's own ids: they become part of a path at the bridge, so nothing else is let through."""

_TYPE = re.compile(r"[\w!#$&^.+-]{1,64}/[\w!#$&^.+-]{1,64}", re.ASCII)
_UNFIT = re.compile(r"[^\w.-]+")
_LONG_TEXT = "text/x-signal-plain"
_UNKNOWN_TYPE = "application/octet-stream"
_MAX_NAME_CHARS = 100
_SWEEP_SECONDS = 3600.0
_KEPT_SECONDS = 2 * 86_400.0
"""How often the folder is swept, of files older than a message can wait."""
_MAX_FILES = 64
"""How many files of one frame are looked at; Signal's apps send at most 32 with a message."""


def data_uri(file: File) -> str:
    """Returns the file in the only form that both bridges accept: type, name and content in base64."""
    kind = file.content_type if _TYPE.fullmatch(file.content_type) else _UNKNOWN_TYPE
    # A name without a folder and without characters that have a meaning in a data URI.
    bare = file.name.replace("\\", "/").rpartition("/")[2]
    name = _UNFIT.sub("_", bare).strip("._")[-_MAX_NAME_CHARS:] or "file"
    return f"data:{kind};filename={name};base64,{base64.b64encode(file.data).decode()}"


def attachment_in(item: Json) -> Attachment | None:
    """Returns the file that an object of a frame describes; None if its id is not of signal-cli's form."""
    id_ = text_in(item, "id")
    if not _ID.fullmatch(id_):
        return None
    return Attachment(
        id=id_,
        content_type=text_in(item, "contentType") or _UNKNOWN_TYPE,
        name=name_of(text_in(item, "filename")),
        size_bytes=whole_in(item, "size"),
        is_voice_note=item.get("isVoiceNote") is True,
    )


def repeats_text(file: Attachment, text: str) -> bool:
    """Whether a file of a message is only the message's text, which phones send as a file from 2,000 bytes on.

    signal-cli hands on the whole text as well; 0.13, and any that could not fetch the file, only its beginning.
    Source: signal-cli 0.14.6, `MessageEnvelope.Data.from`, read; 0.13.14, seen (2026-11-26).
    """
    is_whole = file.size_bytes is not None and file.size_bytes <= len(text.encode())
    return file.content_type == _LONG_TEXT and is_whole


def quoted_picture_in(item: Json) -> Attachment | None:
    """Returns the small picture of a file of a quoted message, under the name of that file; None if there is none."""
    picture = attachment_in(object_in(item, "thumbnail"))
    return None if picture is None else replace(picture, name=name_of(text_in(item, "filename")), is_voice_note=False)


def files_in(raw: str) -> tuple[Attachment, ...]:
    """Returns every file that the bridge has fetched for a frame: attachments, pictures of quotes, links, contacts."""
    found: list[Attachment] = []
    waiting: list[object] = [object_in(parse_frame(raw), "envelope")]
    while waiting and len(found) < _MAX_FILES:
        value = waiting.pop()
        item = as_object(value)
        waiting += cast("list[object]", value) if isinstance(value, list) else item.values()
        if "contentType" in item and (attachment := attachment_in(item)) is not None:
            found.append(attachment)
    return tuple(found)


def check_size(size_bytes: int | None, max_bytes: int) -> None:
    """Raises `Unfetchable` if a file is too large; an unknown size passes."""
    if size_bytes is not None and size_bytes > max_bytes:
        raise Unfetchable(f"the file has {size_bytes} bytes, {max_bytes} are allowed")


def decode_file(text: str, max_bytes: int) -> bytes:
    """Returns the content of a file in base64; raises `Unfetchable` if it is none, or too large."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise Unfetchable("the bridge gave something that is no file") from error
    check_size(len(data), max_bytes)
    return data


class Folder:
    """The folder in which signal-cli keeps received files, for ever unless they are deleted; None: out of reach."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._sweep_at = 0.0
        """When the next sweep is due, on `time.monotonic`'s clock."""

    def delete(self, id_: str) -> None:
        """Deletes a file and its preview; now and then also files too old to be asked for."""
        if self._path is None or not _ID.fullmatch(id_):
            return
        name = id_.replace("=", "_")  # signal-cli's spelling on disk
        for path in (self._path / name, self._path / f"{name}.preview"):
            _unlink(path)
        if time.monotonic() >= self._sweep_at:
            self.sweep()

    def sweep(self) -> None:
        """Deletes files that arrived days ago: from group talk that was not for Aldis, and left behind by crashes."""
        if self._path is None:
            return
        self._sweep_at = time.monotonic() + _SWEEP_SECONDS
        try:
            files = [path for path in self._path.iterdir() if path.is_file() and not path.is_symlink()]
            old = [path for path in files if path.stat().st_mtime < time.time() - _KEPT_SECONDS]
        except OSError as error:
            what = "the folder SIGNAL__ATTACHMENTS, which signal-cli creates with the first file, cannot be read"
            _log.warning("%s: %s", what, error.strerror)
            return
        for path in old:
            _unlink(path)


def _unlink(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        _log.warning("a file in SIGNAL__ATTACHMENTS cannot be deleted: %s", error.strerror)
