"""MediaWiki's action API as Wikimedia runs it: the common part of both doubles of Wikipedia, with its rate limits.

Source: mediawiki.org, 2026-11-21: every error but those of access and rate is a 200 with `error` in the body.

Source: the User-Agent policy and the API usage guidelines of foundation.wikimedia.org, and "Wikimedia APIs/Rate limits"
of mediawiki.org, 2026-11-22: a User-Agent is required and must not be that of a library (403); a client that tells how
to reach its operator has 200 requests a minute, any other 10. Reported on 2026-09-19: of 14 simultaneous requests 10
were answered and 4 refused with 429 and a Retry-After of 18 to 39 seconds
(https://github.com/ProfessionalWiki/MediaWiki-MCP-Server/issues/625).
"""

import re
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from tests.servers.base import Seen, Server

GENERIC_AGENTS = ("python-httpx", "python-requests", "curl", "Python-urllib")
_CONTACT = re.compile(r"\([^()]*(https?://|[\w.+-]+@[\w-]+\.)[^()]*\)")


@dataclass
class Wikimedia(Server):
    """A service of Wikimedia's. The minute in which requests are counted never ends."""

    left_unidentified: int = 10
    left_identified: int = 200

    def refused(self, seen: Seen) -> web.StreamResponse | None:
        """What this client is told instead of an answer; None: it may ask, and asks the API for JSON."""
        agent = seen.headers.get("user-agent", "")
        if not agent or agent.startswith(GENERIC_AGENTS):
            return web.Response(status=403, text="Please set a user-agent and respect our robot policy.")
        if _CONTACT.search(agent):
            self.left_identified -= 1
            left = self.left_identified
        else:
            self.left_unidentified -= 1
            left = self.left_unidentified
        if left < 0:
            return web.Response(status=429, text="Too many requests.", headers={"Retry-After": "39"})
        if not seen.path.endswith("/w/api.php"):
            return web.Response(status=404, text="<html>Not found</html>", content_type="text/html")
        wanted = {"format": "json", "formatversion": "2", "action": "query"}
        return None if wanted.items() <= seen.query.items() else error("badvalue")


def error(code: str) -> web.StreamResponse:
    """An error of the API."""
    return web.json_response({"error": {"code": code, "info": "No."}, "servedby": "mw-test"})


def found(pages: list[dict[str, Any]]) -> web.StreamResponse:
    """The pages of an answer; nothing matches where there are none."""
    query = {"query": {"pages": pages}} if pages else {}
    return web.json_response({"batchcomplete": True, **query})
