"""The user names that were taken: kept beside the store, and nothing that fails costs more than a link."""

from pathlib import Path

import pytest

from bot.signal.profiles import Username, UsernameFile, usernames_path

LAMP = Username(name="lamp.39", link="https://signal.me/#eu/lamp")


def test_what_was_taken_is_there_again(tmp_path: Path) -> None:
    """By account, for its owner alone; one that was given up is known to be."""
    path = usernames_path(tmp_path / "aldis.db")
    UsernameFile(path).keep("first", LAMP)
    UsernameFile(path).keep("second", None)
    assert UsernameFile(path).read() == {"first": LAMP, "second": None}
    assert path.stat().st_mode & 0o777 == 0o600
    UsernameFile(path).forget()
    UsernameFile(path).forget()
    assert UsernameFile(path).read() == {}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"first": {"name": 1}}', b"\xff"])
def test_a_file_that_cannot_be_read_is_none(data: bytes, tmp_path: Path) -> None:
    """The next name that is taken makes it anew."""
    file = UsernameFile(tmp_path / "names")
    (tmp_path / "names").write_bytes(data)
    assert file.read() == {}
    file.keep("first", LAMP)
    assert file.read() == {"first": LAMP}


def test_a_folder_that_takes_nothing_costs_the_link_alone(tmp_path: Path) -> None:
    """Nothing is raised."""
    file = UsernameFile(tmp_path / "none" / "names")
    file.keep("first", LAMP)
    assert file.read() == {}


def test_a_write_that_fails_leaves_no_draft(tmp_path: Path) -> None:
    """Nothing stands beside what is in the way."""
    (tmp_path / "names").mkdir()
    UsernameFile(tmp_path / "names").keep("first", LAMP)
    assert [path.name for path in tmp_path.iterdir()] == ["names"]
