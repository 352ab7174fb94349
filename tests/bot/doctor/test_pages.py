"""The pages for set-up and administration: who reaches them, and what that takes."""

import pytest

from bot import app
from bot.doctor.machine import check_pages, is_published
from bot.errors import ConfigError
from bot.settings import load_settings

SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
PORT = {"WEB__ADMIN_PORT": "8789"}


def found_by(given: dict[str, str], *, is_contained: bool = False) -> list[str]:
    settings = load_settings({**PORT, **given}, None)
    return [one.what for one in check_pages(settings, is_contained=is_contained)]


PUBLIC = {"WEB__ADMIN_URL": "https://aldis.example.org"}
TOTP = {"WEB__ADMIN_TOTP": SECRET}
REFUSED: tuple[tuple[dict[str, str], str], ...] = (
    (PUBLIC, "WEB__ADMIN_URL publishes the pages"),
    *(
        ({"WEB__ADMIN_HOST": host}, "WEB__ADMIN_HOST publishes the pages")
        for host in ("192.168.1.5", "fd00::5", "aldis.lan")
    ),
    ({"WEB__ADMIN_TOTP": "not!base32"}, "base32"),
    ({"WEB__ADMIN_TOTP": SECRET[:16]}, "must be longer"),
)
OPEN = ({"WEB__ADMIN_HOST": "192.168.1.5"}, {"WEB__ADMIN_HOST": "::"}, {"WEB__ADMIN_URL": "http://aldis.example.org"})


def test_who_reaches_the_pages() -> None:
    """Others without a second factor are refused at the start, without https are told; this machine alone is well."""
    for given, words in REFUSED:
        with pytest.raises(ConfigError, match=words):
            app.check_settings(load_settings({**PORT, **given}, None))
    for given in OPEN:
        [said] = found_by({**given, **TOTP})
        assert "without https" in said
    for given in (
        {},
        {"WEB__ADMIN_HOST": "::1"},
        {"WEB__ADMIN_HOST": "localhost"},
        {**PUBLIC, **TOTP},
        {"WEB__ADMIN_URL": "http://localhost:8789"},
        {**PUBLIC, "WEB__ADMIN_PORT": "0"},
    ):
        assert found_by(given) == []


def test_a_container_listens_on_every_address() -> None:
    """That is how it is reached; compose publishes it to the machine alone."""
    assert found_by({"WEB__ADMIN_HOST": "0.0.0.0"}, is_contained=True) == []
    everywhere = load_settings({"WEB__ADMIN_HOST": "0.0.0.0"}, None)
    assert [is_published(everywhere, is_contained=is_contained) for is_contained in (True, False)] == [False, True]
