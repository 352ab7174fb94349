"""Asks the server at `SIGNAL__URL` which of the two bridges to Signal it is, and sees that it is one that works.

Left to others: talking to it (`signal_cli`, `rest_api`), choosing the transport (`bot.app`).

Source: signal-cli 0.14.6, `org.asamk.signal.http`; signal-cli-rest-api, commit a08db23 (2026-11-21).
"""

import asyncio
import logging
import re
from http import HTTPStatus

import httpx

from bot.errors import ConfigError, Disconnected
from bot.transports.bridge_versions import Bridge
from bot.transports.frame import Json, loaded, text_in
from bot.transports.lines import is_socket
from bot.transports.rpc import Rpc

LEAST_VERSION = (0, 101)
"""From this version on `/v2/send` answers with results per recipient, as signalbot wants it."""


async def bridge_at(url: str, *, timeout_seconds: float = 10) -> Bridge:
    """Which bridge answers at an address.

    Raises:
        ConfigError: the address is none, or something else answers there.
        Disconnected: nothing answers (yet); ask again.
    """
    if is_socket(url):
        await _spoken_to(url, timeout_seconds)
        return "signal_cli"
    # At INFO httpx logs every address, and one may hold a password.
    logging.getLogger("httpx").setLevel(logging.WARNING)
    # Loading the certificates takes a tenth of a second, and a plain http address needs none.
    verify = url.startswith("https:")
    try:
        async with (
            asyncio.timeout(timeout_seconds),
            httpx.AsyncClient(base_url=url, verify=verify, trust_env=False, timeout=timeout_seconds) as http,
        ):
            check = await http.get("/api/v1/check")
            if check.status_code == HTTPStatus.OK:
                return "signal_cli"
            about = await http.get("/v1/about")
    except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
        raise ConfigError(
            "SIGNAL__URL is no address; it looks like unix:///run/signal-cli/socket or http://signal-cli:8080"
        ) from error
    except (httpx.HTTPError, TimeoutError) as error:
        raise Disconnected(f"nothing answers at SIGNAL__URL yet ({type(error).__name__}): is it running?") from error
    if about.status_code == HTTPStatus.OK and "mode" in loaded(about.text):
        return "rest_api"
    if check.is_server_error or about.is_server_error:
        raise Disconnected(f"what answers at SIGNAL__URL is not ready yet: HTTP {check.status_code}")
    raise ConfigError(
        "SIGNAL__URL: neither signal-cli's daemon (--http) nor signal-cli-rest-api answers there "
        f"(HTTP {check.status_code}); correct the address"
    )


async def _spoken_to(url: str, timeout_seconds: float) -> None:
    """See that signal-cli answers at a socket."""
    rpc = Rpc(url, connect_seconds=timeout_seconds)
    try:
        await rpc.version(timeout_seconds=timeout_seconds)
    except Disconnected as error:
        raise Disconnected(f"nothing answers at SIGNAL__URL yet ({error.__cause__}): is it running?") from error
    finally:
        await rpc.aclose()


def check_about(about: Json) -> None:
    """See that a signal-cli-rest-api runs in the mode and has the version that can be talked to.

    `about` is what it says at `/v1/about`.

    Raises:
        ConfigError: it does not; the message says what to change.
    """
    mode, version = text_in(about, "mode"), text_in(about, "version")
    if mode != "json-rpc":
        raise ConfigError(
            f"SIGNAL__URL: signal-cli-rest-api runs in mode {mode or 'unknown'}; start it with MODE=json-rpc"
        )
    numbers = re.match(r"v?(\d+)\.(\d+)", version)
    if version != "unset" and (not numbers or (int(numbers[1]), int(numbers[2])) < LEAST_VERSION):
        raise ConfigError("SIGNAL__URL: signal-cli-rest-api is too old; use version 0.101 or later")
