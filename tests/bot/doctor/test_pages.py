"""The doctor on the pages for set-up and administration: who reaches them, and that their port is theirs."""

from bot.doctor.machine import check_pages, is_published
from bot.settings import load_settings

SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
PORT = {"WEB__ADMIN_PORT": "8789"}


def found_by(given: dict[str, str], *, is_contained: bool = False) -> list[tuple[str, str]]:
    settings = load_settings({**PORT, **given}, None)
    return [(one.level, f"{one.what}; {one.advice}") for one in check_pages(settings, is_contained=is_contained)]


PUBLIC = {"WEB__ADMIN_URL": "https://aldis.example.org"}
TOTP = {"WEB__ADMIN_TOTP": SECRET}
ILL: tuple[tuple[dict[str, str], str, str], ...] = (
    (PUBLIC, "problem", "WEB__ADMIN_URL publishes the pages"),
    *(
        ({"WEB__ADMIN_HOST": host}, "problem", "WEB__ADMIN_HOST publishes the pages")
        for host in ("192.168.1.5", "fd00::5", "aldis.lan", "0.0.0.0", "::")
    ),
    ({"WEB__ADMIN_TOTP": "not!base32"}, "problem", "base32"),
    ({"WEB__ADMIN_TOTP": SECRET[:16]}, "problem", "must be longer"),
    ({"WEB__ADMIN_HOST": "0.0.0.0", **TOTP}, "warning", "without https"),
    ({"WEB__ADMIN_HOST": "192.168.1.5", **TOTP}, "warning", "without https"),
    ({"WEB__ADMIN_URL": "http://aldis.example.org", **TOTP}, "warning", "without https"),
    ({"WEB__PORT": "8789"}, "problem", "are the same"),
)


def test_who_reaches_the_pages() -> None:
    """Others without a second factor or without https are told; this machine alone, or all that is wanted, is well."""
    for given, level, words in ILL:
        [(found, said)] = found_by(given)
        assert (found, words in said) == (level, True), (given, said)
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
