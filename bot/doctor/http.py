"""The addresses that the doctor asks: JSON over HTTP, on the way to what is close by.

Left to others: what the answers mean (`bridge`, `running`).
"""

import asyncio
import json
import urllib.error
import urllib.request
from datetime import datetime
from email.utils import parsedate_to_datetime

from bot.transports.envelope.json import Json, as_object

ASK_SECONDS = 10.0
"""For one question, whatever it is."""


async def fetch_json(url: str, body: Json | None = None) -> tuple[Json, datetime | None]:
    """The JSON object at an address, and the time that its server shows."""

    def ask() -> tuple[Json, datetime | None]:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url, data, {"Content-Type": "application/json"})  # noqa: S310 - http by its type
        # The machine's proxies have no business on the way to what is close by.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            answer = opener.open(request, timeout=ASK_SECONDS)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            date = answer.headers["Date"]
            return as_object(json.load(answer)), parsedate_to_datetime(date) if date else None

    async with asyncio.timeout(ASK_SECONDS):
        return await asyncio.to_thread(ask)
