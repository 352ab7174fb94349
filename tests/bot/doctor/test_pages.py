"""The doctor on the pages for set-up and administration: who reaches them, and that their port is theirs."""

import pytest

from bot.doctor.machine import check_pages, is_published
from bot.settings import load_settings

SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
PORT = {"WEB__ADMIN_PORT": "8789"}


def found_by(given: dict[str, str], *, is_contained: bool = False) -> list[tuple[str, str]]:
    settings = load_settings({**PORT, **given}, None)
    return [(one.level, f"{one.what}; {one.advice}") for one in check_pages(settings, is_contained=is_contained)]


@pytest.mark.parametrize(
    ("given", "level", "words"),
    [
        ({"WEB__ADMIN_URL": "https://aldis.example.org"}, "problem", "WEB__ADMIN_URL publishes the pages"),
        ({"WEB__ADMIN_HOST": "192.168.1.5"}, "problem", "WEB__ADMIN_HOST publishes the pages"),
        ({"WEB__ADMIN_HOST": "fd00::5"}, "problem", "WEB__ADMIN_HOST publishes the pages"),
        ({"WEB__ADMIN_HOST": "aldis.lan"}, "problem", "WEB__ADMIN_HOST publishes the pages"),
        ({"WEB__ADMIN_TOTP": "not!base32"}, "problem", "base32"),
        ({"WEB__ADMIN_HOST": "0.0.0.0"}, "problem", "WEB__ADMIN_HOST publishes the pages"),
        ({"WEB__ADMIN_HOST": "::"}, "problem", "WEB__ADMIN_HOST publishes the pages"),
        ({"WEB__ADMIN_HOST": "0.0.0.0", "WEB__ADMIN_TOTP": SECRET}, "warning", "without https"),
        ({"WEB__ADMIN_HOST": "192.168.1.5", "WEB__ADMIN_TOTP": SECRET}, "warning", "without https"),
        ({"WEB__ADMIN_URL": "http://aldis.example.org", "WEB__ADMIN_TOTP": SECRET}, "warning", "without https"),
        ({"WEB__PORT": "8789"}, "problem", "are the same"),
    ],
)
def test_pages_that_others_reach(given: dict[str, str], level: str, words: str) -> None:
    """Without a second factor, without https, or not at all."""
    [(found, said)] = found_by(given)
    assert found == level
    assert words in said


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"WEB__ADMIN_HOST": "::1"},
        {"WEB__ADMIN_HOST": "localhost"},
        {"WEB__ADMIN_URL": "https://aldis.example.org", "WEB__ADMIN_TOTP": SECRET},
        {"WEB__ADMIN_URL": "http://localhost:8789"},
        {"WEB__ADMIN_PORT": "0", "WEB__ADMIN_URL": "https://aldis.example.org"},
    ],
)
def test_pages_that_are_well_kept(given: dict[str, str]) -> None:
    """This machine alone, or with all that is wanted beyond it; or none at all."""
    assert found_by(given) == []


def test_a_container_listens_on_every_address() -> None:
    """That is how it is reached; compose publishes it to the machine alone."""
    assert found_by({"WEB__ADMIN_HOST": "0.0.0.0"}, is_contained=True) == []
    everywhere = load_settings({"WEB__ADMIN_HOST": "0.0.0.0"}, None)
    assert [is_published(everywhere, is_contained=is_contained) for is_contained in (True, False)] == [False, True]
