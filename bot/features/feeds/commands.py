"""The command about news feeds: everybody can list them, admins add and remove them."""

import re
from collections.abc import Mapping
from zoneinfo import ZoneInfo

from bot.chat.intents import plain_name
from bot.commands.base import Call, CommandContext, CommandGroup, WrongForm, command
from bot.features.feeds import phrases
from bot.features.feeds.service import name_of
from bot.i18n.catalogues import Sentence, say
from bot.i18n.locale import moment
from store import Feed, Repositories
from tools import canonical_url

_ADD = re.compile(r"add\s+<?(?P<url>[^\s<>]+)>?", re.IGNORECASE)
_REMOVE = re.compile(r"remove\s+(?P<number>\d{1,9})", re.IGNORECASE)
_TROUBLES: Mapping[str, Sentence] = {
    "denied": phrases.FEED_DENIED,
    "no_host": phrases.FEED_NO_HOST,
    "slow": phrases.FEED_SLOW,
    "too_large": phrases.FEED_TOO_LARGE,
    "no_feed": phrases.FEED_UNREADABLE,
    "unreadable": phrases.FEED_UNREADABLE,
    "gone": phrases.FEED_GONE,
}


class FeedCommands(CommandGroup):
    """The command about feeds. `is_on` is whether they are read at all."""

    def __init__(self, context: CommandContext, *, is_on: bool, timezone: str) -> None:
        self._context = context
        self._is_on = is_on
        self._timezone = timezone

    @command(
        "/feeds [add URL|remove N]",
        phrases.ABOUT_FEEDS,
        section="later",
        examples=("/feeds", "/feeds add URL", "/feeds remove 2"),
    )
    async def _run(self, call: Call) -> None:
        """Shows the news feeds that are read, and their state; admins add and remove them."""
        rest = call.command.rest
        added, removed = _ADD.fullmatch(rest), _REMOVE.fullmatch(rest)
        if rest and not (added or removed):
            raise WrongForm

        def answer(repos: Repositories) -> str:
            if not (self._is_on and repos.feeds.can_search()):
                return say(phrases.FEEDS_OFF)
            if rest and not call.is_admin:
                return say(phrases.FEED_ONLY_ADMINS)
            if added:
                return self._add(repos, added["url"])
            return _remove(repos, int(removed["number"])) if removed else self._list(repos)

        await self._context.answer(call, answer)

    def _add(self, repos: Repositories, given: str) -> str:
        url = canonical_url(given)
        if url is None:
            return say(phrases.FEED_NO_ADDRESS)
        feed = repos.feeds.add(url, now=self._context.clock.now())
        return say(phrases.FEED_KNOWN) if feed is None else _named(phrases.FEED_ADDED, feed)

    def _list(self, repos: Repositories) -> str:
        counts = repos.feeds.counts()
        lines = [self._line(feed, counts.get(feed.id, 0)) for feed in repos.feeds.all()]
        return "\n".join(lines) or say(phrases.NO_FEEDS)

    def _line(self, feed: Feed, count: int) -> str:
        when = "" if feed.read_at is None else moment(feed.read_at.astimezone(ZoneInfo(self._timezone)))
        if feed.trouble is None:
            phrase = phrases.FEED_LINE_WAITING if feed.read_at is None else phrases.FEED_LINE
        else:
            phrase = phrases.FEED_LINE_USELESS if feed.read_at is None else phrases.FEED_LINE_TROUBLE
        return say(phrase, number=feed.id, name=_name(feed), count=count, when=when, why=_why(feed))


def _remove(repos: Repositories, number: int) -> str:
    feed = next((feed for feed in repos.feeds.all() if feed.id == number), None)
    if feed is None:
        return say(phrases.NO_SUCH_FEED)
    if feed.is_set:
        return _named(phrases.FEED_IS_SET, feed)
    repos.feeds.remove(number)
    return _named(phrases.FEED_REMOVED, feed)


def _named(phrase: Sentence, feed: Feed) -> str:
    return say(phrase, name=_name(feed))


def _name(feed: Feed) -> str:
    """Its name; a title is its server's words."""
    return name_of(plain_name(feed.title), feed.url)


def _why(feed: Feed) -> str:
    """The reason for the last failure, in words."""
    trouble = feed.trouble or ""
    word, _, status = trouble.partition(" ")
    if word == "status":
        return say(phrases.FEED_STATUS, status=status)
    return say(_TROUBLES.get(word, phrases.FEED_UNREACHABLE)) if trouble else ""
