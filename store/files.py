"""The files of a store: the database, and beside it files with the same name and a suffix."""

from pathlib import Path


def beside(path: Path, ending: str) -> Path:
    """Returns the file beside this database with the given suffix, such as `-keys`, `-wal` or `-lock`."""
    return path.with_name(path.name + ending)


def master_key_path(path: Path) -> Path:
    """Returns where the master key is kept when the settings give none."""
    return beside(path, "-master-key")
