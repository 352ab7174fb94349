"""Folders, ports, feeds and extras: what a start would trip over is found before it."""

import socket
from pathlib import Path

import pytest

from bot.doctor.machine import check_ports, check_rights, check_sqlite, check_store_folder
from bot.invocation import is_contained
from bot.settings import Settings, load_settings
from tests.bot.doctor.practice import USER_AGENT, examined, wrong
from tests.ports import free_port
from tests.servers.feeds import HOSTILE, FeedSite, Item, rss
from tests.tools.sites import only_here
from tools import Fetcher

SECRET = "0123456789abcdef"


def given(**values: str) -> Settings:
    return load_settings({"WEB__PORT": "0", **values}, None)


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """Whatever is in its place; one that has still to be made is looked at where it would be."""
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    assert check_store_folder(given(STORE__PATH=str(tmp_path / "new" / "deeper" / "aldis.db"))) == []
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]
    for path in (tmp_path / "file" / "aldis.db", Path("/proc/1/aldis.db")):
        [found] = check_store_folder(given(STORE__PATH=str(path)))
        assert (found.level, "cannot write to" in found.what) == ("problem", True)
        assert "STORE__PATH" in found.advice


@pytest.mark.parametrize(
    ("version", "is_contained", "level"),
    [
        ((3, 46, 1), False, "warning"),
        ((3, 46, 1), True, "ok"),
        ((3, 50, 7), False, "ok"),
        ((3, 51, 2), False, "warning"),
        ((3, 53, 0), False, "ok"),
    ],
)
def test_what_others_could_do_beside_aldis_is_no_matter_of_a_container(
    version: tuple[int, ...], is_contained: bool, level: str
) -> None:
    """Nobody else has the database open there, so a warning would stand there for good."""
    found = check_sqlite(version, is_contained=is_contained)
    assert (found.level, found.what.partition(":")[0]) == (level, f"SQLite {'.'.join(map(str, version))}")


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


def test_a_port_that_is_taken_is_named() -> None:
    """One that our own Aldis has is no problem."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for name in ("WEB__PORT",):
            settings = given(**{name: port})
            [found] = check_ports(settings, is_held=False)
            assert (found.level, f"{name} is {port}, which is already in use" in found.what) == ("problem", True)
            assert name in found.advice
            assert check_ports(settings, is_held=True) == []
    free = str(free_port())
    assert check_ports(given(WEB__PORT=free), is_held=False) == []


def test_a_port_that_was_used_a_moment_ago_is_free() -> None:
    """What still lingers in the kernel does not keep Aldis from listening, so it is not called taken."""
    kept = socket.create_server(("127.0.0.1", free_port()))
    with socket.create_connection(kept.getsockname()):
        accepted, _ = kept.accept()
        accepted.close()
    port = str(kept.getsockname()[1])
    kept.close()
    assert check_ports(given(WEB__PORT=port), is_held=False) == []


@pytest.mark.parametrize("host", ["192.0.2.7", "no.such.host.invalid"])
def test_an_address_that_is_not_ours_is_named(host: str) -> None:
    """With the variable that says it."""
    [found] = check_ports(given(WEB__HOST=host, WEB__PORT="8787"), is_held=False)
    assert (found.level, "WEB__HOST" in found.what, "WEB__HOST" in found.advice) == ("problem", True, True)


async def test_each_feed_is_read(tmp_path: Path) -> None:
    """One that is none, one that is missing and one where Aldis never reads are named; the good one is not."""
    async with FeedSite(feeds={"/feed": rss(Item(title="Lit", link="/lit")), "/page": HOSTILE["no feed"]}) as site:
        fetcher = Fetcher(USER_AGENT, reach=only_here(site.port))
        feeds = [site.url + path for path in ("/feed", "/page", "/none")]
        names = ",".join([*feeds, "http://127.0.0.1:9/feed"])
        found = await examined(tmp_path, {"TOOLS__NEWS__FEEDS": names}, fetcher=fetcher)
    lines = [line for line in wrong(found) if line.startswith("feeds:")]
    assert [line.split()[1] for line in lines] == [*feeds[1:], "http://127.0.0.1:9/feed"]
    assert all("TOOLS__NEWS__FEEDS" in line for line in lines)
    assert "not a readable feed" in lines[0]
    assert "404" in lines[1]
    assert "not on the public web" in lines[2]


def test_a_container_is_known_by_its_marks() -> None:
    """Here there is none, or there is one: it says what the files say."""
    marks = ("/.dockerenv", "/run/.containerenv")
    assert is_contained() == any(Path(mark).exists() for mark in marks)
