"""Asks the server at `SIGNAL__URL` which of the two bridges to Signal it is.

Left to others: talking to it (`signal_cli`, `rest_api`), choosing the transport (`bot.app`).

Source: signal-cli 0.14.6, `org.asamk.signal.http`; signal-cli-rest-api, commit a08db23 (2026-11-21).
"""

import asyncio
import logging
from http import HTTPStatus

import httpx

from bot.errors import ConfigError, Disconnected, SendUnknown
from bot.signal.bridge_versions import Bridge
from bot.signal.json import parse_frame
from bot.signal.signal_cli.lines import is_socket
from bot.signal.signal_cli.rpc import Rpc
from tools import trusted_certificates, why_unreachable

NOT_BY_HTTP = (
    "SIGNAL__URL: signal-cli's own daemon answers there over HTTP, which loses messages; start it with --socket or "
    "--tcp and --receive-mode=manual, and write its address as unix:///path or tcp://host:port"
)


async def bridge_at(url: str, *, timeout_seconds: float = 10) -> Bridge:
    """Returns which bridge answers at an address.

    Raises:
        ConfigError: the address is invalid, or something else answers there.
        Disconnected: nothing answers (yet); ask again.
    """
    if is_socket(url):
        await _spoken_to(url, timeout_seconds)
        return "signal_cli"
    # At INFO httpx logs every address, which can contain a password.
    logging.getLogger("httpx").setLevel(logging.WARNING)
    # Loading the certificates takes a tenth of a second, and a plain http address needs none.
    verify = trusted_certificates() if url.startswith("https:") else False
    try:
        async with (
            asyncio.timeout(timeout_seconds),
            httpx.AsyncClient(base_url=url, verify=verify, trust_env=False, timeout=timeout_seconds) as http,
        ):
            check = await http.get("/api/v1/check")
            if check.status_code == HTTPStatus.OK:
                raise ConfigError(NOT_BY_HTTP)
            about = await http.get("/v1/about")
    except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
        like = {"socket": "unix:///run/signal-cli/socket", "url": "http://signal-cli-rest-api:8080"}
        raise ConfigError(
            "SIGNAL__URL is not an address; it should look like {socket} or {url}".format(**like)
        ) from error
    except (httpx.HTTPError, TimeoutError) as error:
        raise Disconnected(f"nothing answers at SIGNAL__URL yet ({_why(error)}): is the bridge running?") from error
    if about.status_code == HTTPStatus.OK and "mode" in parse_frame(about.text):
        return "rest_api"
    if check.is_server_error or about.is_server_error:
        raise Disconnected(f"what answers at SIGNAL__URL is not ready yet: HTTP {check.status_code}")
    raise ConfigError(
        f"SIGNAL__URL: no signal-cli-rest-api answers there (HTTP {check.status_code}); correct the address"
    )


async def _spoken_to(url: str, timeout_seconds: float) -> None:
    """Checks that signal-cli answers at a socket."""
    rpc = Rpc(url, connect_seconds=timeout_seconds)
    try:
        await rpc.version(timeout_seconds=timeout_seconds)
    except Disconnected as error:
        if isinstance(error.__cause__, SendUnknown):
            raise Disconnected(
                f"what answers at SIGNAL__URL is not a signal-cli socket ({error.__cause__!s}); "
                "the address of an HTTP server begins with http://"
            ) from error
        raise Disconnected(
            f"nothing answers at SIGNAL__URL yet ({why_unreachable(error)}): is the bridge running?"
        ) from error


def _why(error: httpx.HTTPError | TimeoutError) -> str:
    """Returns why an HTTP server did not answer. A socket waits for a whole line, so it never answers HTTP at all."""
    if isinstance(error, TimeoutError | httpx.ReadTimeout):
        return "no answer in time; a socket of signal-cli is written tcp://host:port"
    return why_unreachable(error)
