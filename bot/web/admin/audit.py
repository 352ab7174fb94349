"""What was done on the pages: when, by which session, from where. Names of settings and labels; never a value.

A file of JSON lines beside the store, readable by its owner only. When it has grown large, it replaces the previous
one.
"""

import json
import logging
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

_log = logging.getLogger(__name__)

MAX_BYTES = 1_000_000
_MAX_READ_BYTES = 200_000


@dataclass(frozen=True, kw_only=True, slots=True)
class AuditedAction:
    """Something that was done."""

    at: str
    """In ISO format, UTC."""
    who: str
    """The name of the session, or `-` if there was none."""
    origin: str
    """The address that it came from."""
    what: str
    """A word of ours, such as `settings.changed`."""
    about: str = ""
    """Which setting, which label; no value."""


def audit_path(store_path: Path) -> Path:
    """Returns the path of the audit log of the Aldis with this store."""
    return store_path.with_name(store_path.name + "-audit.jsonl")


class Audit:
    """The audit log."""

    def __init__(self, path: Path, now: Callable[[], datetime]) -> None:
        self._path = path
        self._now = now

    def write(self, what: str, *, who: str, origin: str, about: str = "") -> None:
        """Records an action. A file that cannot be written is reported in the log, and keeps no action from being
        done.
        """
        at = self._now().isoformat(timespec="seconds")
        action = AuditedAction(at=at, who=who, origin=origin, what=what, about=about[:200])
        try:
            if self._path.exists() and self._path.stat().st_size > MAX_BYTES:
                self._path.replace(self._path.with_name(self._path.name + ".1"))
            opened = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600)
            with os.fdopen(opened, "ab") as file:
                file.write(json.dumps(asdict(action)).encode() + b"\n")
        except OSError as error:
            _log.error("the audit log cannot be written: %s", error.strerror)

    def newest(self, count: int) -> tuple[AuditedAction, ...]:
        """Returns the newest actions, newest first."""
        try:
            with self._path.open("rb") as file:
                file.seek(max(0, self._path.stat().st_size - _MAX_READ_BYTES))
                lines = file.read(_MAX_READ_BYTES).splitlines()
        except OSError:
            return ()
        actions = map(_action_in, reversed(lines[-count:]))
        return tuple(action for action in actions if action is not None)


def _action_in(line: bytes) -> AuditedAction | None:
    try:
        return AuditedAction(**json.loads(line))
    except (ValueError, TypeError):
        return None  # the first line may be cut off
