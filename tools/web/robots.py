"""Whether a site lets programs like Aldis read a page: checks its robots.txt, fetched once an hour.

    Robots.consent(address) -> None        the page can be read
                            -> Denied      the site says no
                            -> Unavailable the site cannot tell at present

A site without the file lets everybody in; a site whose server fails is left alone until it answers. Aldis reads pages
only because a person asked for them, and still obeys the rules for crawlers. `rules_of` and `allows` are pure.

Source: RFC 9309 (Robots Exclusion Protocol): the most specific group, the longest rule, Allow if two are equally long,
`*` and a final `$`, at least 500 kB, statuses 4xx as if there were no file. Of 4,231 files of the largest sites, nine
have more than 1,000 rules, one has 850 kB, and four misspell a name as below (2026-11-23, protego's tests).
"""

import asyncio
import re
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from string import ascii_letters, digits
from urllib.parse import quote

from tools.errors import BadArguments, Denied, Unavailable
from tools.web.addresses import WebAddress
from tools.web.fetch import Fetcher

NAME = "aldis"
"""The name of Aldis in such a file."""

_OURS = frozenset({NAME, "*"})

MAX_SITES = 256
"""The most cached sites; the least recently used goes first."""

REMEMBERED_SECONDS = 3_600.0

_MAX_BYTES = 1_000_000
"""The part beyond is not read; RFC 9309, 2.5, demands the first 500 KiB."""
_MAX_RULES = 40_000
_MAX_REMEMBERED_RULES = 300_000
"""For all sites together; beyond that, the least recently used goes first."""
_MAX_PATTERN_CHARS = 2_000
_MAX_STARS = 20
_MAX_STARS_OF_FILE = 20_000  # each may look at the whole path again
_LINE = re.compile(r"^[ \t]*([a-z-]+(?: agent)?)[ \t]*:[ \t]*([^#\n]*)", re.IGNORECASE | re.MULTILINE)
_ESCAPED = re.compile("%([0-9a-f]{2})", re.IGNORECASE)
_UNRESERVED = frozenset(f"{ascii_letters}{digits}-._~")
_AGENT = re.compile(r"\*|[a-z_-]+")
"""The name of a robot, without its version or anything else that follows."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """An Allow or Disallow line: a path, where `*` matches anything and a final `$` the end."""

    is_allowed: bool
    pattern: str


Rules = tuple[Rule, ...]


def rules_of(text: str) -> Rules:
    """Returns the rules for Aldis: those of groups that name it, or else of groups for everybody."""
    by_agent: dict[str, list[Rule]] = {}
    stars = 0
    for agents, is_allowed, path in _lines(text):
        for agent in agents:
            rules = by_agent.setdefault(agent, [])
            if len(rules) < _MAX_RULES and stars <= _MAX_STARS_OF_FILE and (pattern := _pattern(path)):
                stars += pattern.count("*")
                rules.append(Rule(is_allowed=is_allowed, pattern=pattern))
    return tuple(by_agent.get(NAME, by_agent.get("*", ())))


def allows(rules: Sequence[Rule], target: str) -> bool:
    """Whether the rules allow a path with its query."""
    path = _canonical(target).replace("*", "%2A").replace("$", "%24")
    longest = max(
        (rule for rule in rules if _fits(rule.pattern, path)),
        key=lambda rule: (len(rule.pattern), rule.is_allowed),
        default=None,
    )
    return longest is None or longest.is_allowed


class Robots:
    """The rules of sites, cached in memory for an hour."""

    def __init__(self, fetcher: Fetcher, *, timeout_seconds: float) -> None:
        self._fetcher = fetcher
        self._timeout_seconds = timeout_seconds
        self._remembered: OrderedDict[str, tuple[float, Rules]] = OrderedDict()

    async def consent(self, address: WebAddress) -> None:
        """Returns if the address can be read.

        Raises:
            Denied: the site's robots.txt forbids it.
            Unavailable: the site's server fails.
            ToolError: as `Fetcher.get`: the site cannot be reached, or must not be.
        """
        # The longest files and paths take up to two seconds, during which others must get their turn.
        if not await asyncio.to_thread(allows, await self._rules(address), address.target):
            raise Denied("This site does not let programs read this page (its robots.txt says so).")

    async def _rules(self, address: WebAddress) -> Rules:
        site, now = f"{address.scheme}://{address.authority}", time.monotonic()
        until, rules = self._remembered.get(site, (now, ()))
        if now >= until:
            rules = await self._fetch(f"{site}/robots.txt")
            until = now + REMEMBERED_SECONDS
        self._remembered[site] = until, rules
        self._remembered.move_to_end(site)
        count = sum(len(rules) for _, rules in self._remembered.values())
        while len(self._remembered) > 1 and (len(self._remembered) > MAX_SITES or count > _MAX_REMEMBERED_RULES):
            _, (_, oldest) = self._remembered.popitem(last=False)
            count -= len(oldest)
        return rules

    async def _fetch(self, url: str) -> Rules:
        try:
            page = await self._fetcher.get(
                url, accept=("text/*",), max_bytes=_MAX_BYTES, timeout_seconds=self._timeout_seconds, cuts=True
            )
        except BadArguments:  # it is something else, such as a picture
            return ()
        if page.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise Unavailable("The site's server fails, so that it is unknown whether the page may be read.")
        if not page.ok or page.content_type != "text/plain":
            return ()
        # A line that was cut could close more than the site wants.
        body = page.body if len(page.body) < _MAX_BYTES else page.body.rpartition(b"\n")[0]
        return await asyncio.to_thread(rules_of, body.decode("utf-8-sig", errors="replace"))  # as above


def _lines(text: str) -> Iterator[tuple[frozenset[str], bool, str]]:
    """Yields each relevant line: the names of its group that mean Aldis, whether it allows, and the path.

    A line that names an agent has the path "".
    """
    agents: frozenset[str] = frozenset()
    is_naming = False
    for name, value in _LINE.findall(text.replace("\r", "\n")):
        match name.lower():
            case "user-agent" | "user agent" | "useragent":
                # Other names are not kept: a file can have a hundred thousand.
                named = _AGENT.match(value.lower())
                agent = {named[0]} & _OURS if named else set[str]()
                agents = agents | agent if is_naming else frozenset(agent)
                is_naming = True
                yield agents, True, ""
            case "allow" | "disallow" | "dissallow" | "dissalow" | "disalow" | "diasllow" | "disallaw":
                is_naming = False
                yield agents, name.lower() == "allow", value.strip()
            case _:
                continue


def _pattern(path: str) -> str:
    """Returns the path of a rule in the spelling of addresses; "" if it is empty or excessive."""
    is_readable = len(path) <= _MAX_PATTERN_CHARS and path.count("*") <= _MAX_STARS
    if not is_readable or not path.startswith(("/", "*")):
        return ""
    body = path.removesuffix("$")
    return _canonical(body).replace("$", "%24") + path[len(body) :]


def _canonical(path: str) -> str:
    """Unescapes letters, digits and characters that never need escaping; any other escape has a meaning."""

    def unescaped(escaped: re.Match[str]) -> str:
        char = chr(int(escaped[1], 16))
        return char if char in _UNRESERVED else escaped[0].upper()

    return _ESCAPED.sub(unescaped, quote(path, safe="/?&=*$:;,@!'()+~%"))


def _fits(pattern: str, path: str) -> bool:
    """Whether the pattern matches the beginning of the path, or the whole path if it ends in `$`."""
    body, is_whole = (pattern[:-1], True) if pattern.endswith("$") else (pattern, False)
    first, *others = body.split("*")
    if not path.startswith(first):
        return False
    if not others:
        return not is_whole or path == first
    *middle, last = others
    at = len(first)
    for piece in middle:
        if (found := path.find(piece, at)) < 0:
            return False
        at = found + len(piece)
    return path[at:].endswith(last) if is_whole else last in path[at:]
