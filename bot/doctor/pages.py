"""The pages for set-up and administration as the doctor sees them: who reaches them, and what guards them."""

import base64
import ipaddress
from collections.abc import Iterator
from pathlib import Path

from bot.doctor.findings import Finding, problem, warning
from bot.doctor.servers import is_loopback
from bot.errors import ConfigError
from bot.settings import Settings

_MIN_SECRET_BYTES = 16


def check_pages(settings: Settings, *, is_contained: bool) -> Iterator[Finding]:
    """Whether others than this machine reach the pages, and what they meet there."""
    web = settings.web
    if web.admin_port == 0:
        return
    if web.admin_port == web.port:
        how = "set another WEB__ADMIN_PORT, or 0 for none"
        yield problem("pages", "WEB__ADMIN_PORT and WEB__PORT are the same", how)
    try:
        secret_of(settings, is_contained=is_contained)
    except ConfigError as error:
        yield problem("pages", str(error))
        return
    url = str(web.admin_url or "")
    if is_published(settings, is_contained=is_contained) and not url.startswith("https:"):
        yield warning(
            "pages",
            "other machines reach them without https, so what is typed there can be read on the way",
            "put a proxy with https in front, and set WEB__ADMIN_URL to its address",
        )


def secret_of(settings: Settings, *, is_contained: bool = False) -> bytes | None:
    """What the codes of the pages are made of; None where only this machine reaches them and no secret is set.

    Raises:
        ConfigError: others reach them and there is no secret, or it is too short or not base32.
    """
    secret = settings.web.admin_totp
    if secret is None:
        if is_published(settings, is_contained=is_contained):
            name = "WEB__ADMIN_URL" if settings.web.admin_url else "WEB__ADMIN_HOST"
            raise ConfigError(
                f"WEB__ADMIN_TOTP: must be set, because {name} publishes the pages: 32 letters in base32, which "
                "you give to an authenticator app, too; `head -c 20 /dev/urandom | base32` makes some"
            )
        return None
    letters = secret.get_secret_value().upper().replace(" ", "").rstrip("=")
    try:
        found = base64.b32decode(letters + "=" * (-len(letters) % 8))
    except ValueError as error:
        raise ConfigError("WEB__ADMIN_TOTP: must be base32: letters and the digits 2 to 7") from error
    if len(found) < _MIN_SECRET_BYTES:
        raise ConfigError("WEB__ADMIN_TOTP: must be longer; 32 letters are good")
    return found


def is_published(settings: Settings, *, is_contained: bool = False) -> bool:
    """Whether browsers of other machines are to reach the pages: by an address of their own, or one of the network.

    0.0.0.0 is every address of the network, but for a container: it listens on that, and is reached as it is published.
    """
    web = settings.web
    host = f"[{web.admin_host}]" if ":" in web.admin_host else web.admin_host
    is_of_network = not (is_contained if is_every_address(web.admin_host) else is_loopback(f"http://{host}"))
    return is_of_network if web.admin_url is None else is_of_network or not is_loopback(web.admin_url)


def is_contained() -> bool:
    """Whether the process runs in a container of Docker or Podman, going by their marker files."""
    return any(Path(mark).exists() for mark in ("/.dockerenv", "/run/.containerenv"))


def is_every_address(host: str) -> bool:
    """Whether a host stands for every address of the machine, as 0.0.0.0 does."""
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False
