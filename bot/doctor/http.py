"""Fetches JSON over HTTP from what is close by: the bridge and the health page."""

import asyncio
import json
from typing import cast

import httpx

from bot.errors import Disconnected
from bot.signal.json import Json
from tools import trusted_certificates

ASK_SECONDS = 10.0
"""For one question, whatever it is."""


async def fetch_json(url: str, *, seconds: float = ASK_SECONDS) -> Json:
    """Returns the JSON object at an address, whatever the status.

    Raises:
        Disconnected: nobody answers there within so many seconds, or with something else.
    """
    # The machine's proxies have no business on the way to what is close by, and no certificate is read without need.
    verify = trusted_certificates() if url.startswith("https:") else False
    try:
        async with (
            asyncio.timeout(seconds),
            httpx.AsyncClient(trust_env=False, timeout=seconds, verify=verify) as client,
        ):
            found = json.loads((await client.get(url)).content)
        if not isinstance(found, dict):
            raise Disconnected("what answers there is something else")
        return cast("Json", found)
    except TimeoutError as error:
        raise Disconnected("no answer in time") from error
    except (httpx.ConnectError, OSError) as error:
        raise Disconnected("nobody listens there") from error
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, RecursionError) as error:
        raise Disconnected("what answers there is something else") from error
