"""The files of a store: the database, and beside it those that bear its name with an ending."""

from pathlib import Path


def beside(path: Path, ending: str) -> Path:
    """The file beside this database that ends so: `-keys`, `-wal`, `-lock`."""
    return path.with_name(path.name + ending)


def master_key_path(path: Path) -> Path:
    """Where the master key stands where none is given."""
    return beside(path, "-master-key")
