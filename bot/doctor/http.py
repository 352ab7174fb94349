"""Fetches JSON over HTTP from what is close by: the bridge and the health page."""

import asyncio
import json
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import cast

import httpx

from bot.errors import Disconnected
from bot.signal.json import Json
from tools import trusted_certificates

ASK_SECONDS = 10.0
"""For one question, whatever it is."""


async def fetch_json(
    url: str, body: Json | None = None, *, seconds: float = ASK_SECONDS
) -> tuple[Json, datetime | None]:
    """Returns the JSON object at an address, whatever the status, and the time that its server shows.

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
            answer = await (client.get(url) if body is None else client.post(url, json=body))
        date = answer.headers.get("Date")
        return _object(json.loads(answer.content)), parsedate_to_datetime(date) if date else None
    except TimeoutError as error:
        raise Disconnected("no answer in time") from error
    except (httpx.ConnectError, OSError) as error:
        raise Disconnected("nobody listens there") from error
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, RecursionError) as error:
        raise Disconnected("what answers there is something else") from error


def _object(value: object) -> Json:
    if not isinstance(value, dict):
        raise ValueError("no JSON object")  # noqa: TRY004  (it is what was read, not what was called with)
    return cast("Json", value)
