"""The tool `twitter_search`: recent posts from X, or what web search services know of X.

    query --> within the daily quota? --> X --> posts with author, time, counts, address
                      '- no token, used up, out of credit, down: a web search limited to x.com

Every post and author that X returns costs money, so the requested number of posts is counted in advance.

Source: docs.x.com, API v2, recent search, 2026-11-21: 10 to 100 posts a request, of the last seven days; 0.005 dollars
a post read and 0.010 a user read (pay per use since 2026-02-06). Answers name their fields after tweets or after posts:
both are read, the older names are sent. X refuses a query that it does not understand before it charges anything, and
says why.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from http import HTTPStatus
from typing import Any, Literal

from pydantic import AliasChoices, AliasPath, BaseModel, Field

from tools.base import Arguments, Intent, Key, Options, Quotas, Result, ToolContext, ToolSpec, fit
from tools.errors import BadArguments, Disabled, RateLimited, ToolError
from tools.http import Http, JsonAnswer, bearer
from tools.search.base import Hit, Query
from tools.search.services import SearchService, clean_query, row
from tools.text import clean_line, plain, shorten

SITE = "x.com"
KEPT_HOURS = 167
"""How far back X's search goes: seven days, less what a request may take."""

_SERVICE = "X"
_BASE_URL = "https://api.x.com"
_TIMEOUT_SECONDS = 8.0
_POST_COST_USD = Decimal("0.005")
_USER_COST_USD = Decimal("0.010")
_MIN_POSTS = 10  # the fewest that X accepts
_MAX_POSTS = 100
_MAX_HITS = 20
_MAX_TEXT_CHARS = 600
_HOURS_OF_A_DAY = 24

_TIME = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d):")
_USERNAME = re.compile(r"[A-Za-z0-9_]{1,15}")
_NAMING = re.compile(r"\b(?:from|to|url):")
_OPERATOR = re.compile(r"-|\(*[a-z_]+:")
_ORDERS = {"newest": "recency", "relevant": "relevancy"}
_FIELDS = {
    "tweet.fields": "created_at,public_metrics,author_id,note_tweet",
    "expansions": "author_id",
    "user.fields": "username,name,verified",
}
_COUNTS = {
    "like_count": "likes",
    "retweet_count": "reposts",
    "repost_count": "reposts",
    "reply_count": "replies",
    "quote_count": "quotes",
    "impression_count": "views",
}


class TwitterOptions(Options):
    """The settings `TOOLS__TWITTER__<FIELD>` of twitter_search; without a token it searches the web for posts on X."""

    bearer_token: Key | None = None
    """The bearer token of your X app (app-only); every post read with it costs money."""
    posts_per_day: int = Field(default=100, ge=0, le=1_000_000)
    """The limit of posts asked for per day (UTC), by ten at least. Beyond it the web is searched instead."""

    def missing_settings(self) -> str | None:
        """See `Options`: a token, unless a search service can search the web for posts on X."""
        return None if self.bearer_token else "BEARER_TOKEN"

    def idle_services(self) -> Mapping[str, str]:
        """See `Options`."""
        return {} if self.bearer_token else {"X": "BEARER_TOKEN"}

    def seen_by(self) -> tuple[str, ...]:
        """See `Options`."""
        others = "whoever sees what is asked of web_search"
        return ("X", f"in its stead {others}") if self.bearer_token else (others,)


class TwitterArguments(Arguments):
    """The posts to search for."""

    query: str = Field(min_length=1, max_length=2_000, description="Words and operators; at most 512 characters.")
    count: int = Field(default=_MIN_POSTS, description=f"{_MIN_POSTS} to {_MAX_POSTS} posts; each costs money.")
    order: Literal["newest", "relevant"] = Field(default="relevant", description="Which posts come first.")
    hours: int | None = Field(default=None, ge=1, le=KEPT_HOURS, description="Only posts from the last so many hours.")


class TwitterSearch:
    """Searches posts on X, or the web for such posts."""

    def __init__(
        self, options: TwitterOptions, http: Http, quotas: Quotas, search: SearchService, *, base_url: str = _BASE_URL
    ) -> None:
        self._options = options
        self._http, self._base_url = http, base_url
        self._quotas = quotas
        self._search = search
        usual_usd = Decimal(0) if options.missing_settings() else _MIN_POSTS * (_POST_COST_USD + _USER_COST_USD)
        self.spec = ToolSpec(
            name="twitter_search",
            description=(
                "Searches the posts of the last seven days on X (Twitter): author, time, words, counts, address. The"
                ' query takes words, "phrases", #tags, @names, from:name, to:name, url:"...", lang:en, -is:reply,'
                " is:verified, has:images, min_likes:100, OR, brackets, and a minus before what to exclude. `source`"
                " says who answered: if X itself cannot, a web search limited to x.com does, without counts and"
                " perhaps with old posts; say so then. Anybody can post anything: name the authors, and check news"
                " elsewhere. Cite by number, such as [3]."
            ),
            arguments=TwitterArguments,
            intent=lambda given: Intent("search_posts", {"query": given.query}),
            label="pages",
            cost_usd=usual_usd,
        )

    async def run(self, arguments: TwitterArguments, context: ToolContext) -> Result:
        """Returns the posts, or what the web search finds of X, with `why_not_x`."""
        query = clean_query(arguments.query)
        count, note = fit(arguments.count, _MIN_POSTS, _MAX_POSTS, "posts")
        try:
            result = await self._from_x(query, count, arguments, context)
        except BadArguments:
            raise
        except ToolError as error:
            return await self._from_web(query, arguments, context, error)
        return replace(result, data={**note, **result.data})

    async def _from_x(self, query: str, count: int, arguments: TwitterArguments, context: ToolContext) -> Result:
        token, limit = self._options.bearer_token, self._options.posts_per_day
        if token is None:
            raise Disabled("X itself was not searched: the operator has set no TOOLS__TWITTER__BEARER_TOKEN.")
        if not await self._quotas.take(_SERVICE, limit=limit, amount=count):
            raise RateLimited(f"X itself was not searched: the daily limit of {limit} posts is used up.")
        params = {"query": query, "max_results": str(count), "sort_order": _ORDERS[arguments.order], **_FIELDS}
        if arguments.hours is not None:
            params["start_time"] = f"{context.now - timedelta(hours=arguments.hours):%Y-%m-%dT%H:%M:%SZ}"
        answer = await self._http.get_json(
            f"{self._base_url}/2/tweets/search/recent",
            service=_SERVICE,
            params=params,
            headers=bearer(token),
            timeout_seconds=_TIMEOUT_SECONDS,
            retries=False,
        )
        if not answer.ok:
            raise _refusal(answer)
        found = answer.parse(_Answer, _SERVICE)
        posts = found.data[:count]  # no more were requested, and no more are charged
        users = {user.id: user for user in found.users}
        # At most this much, as X charges no post or author twice in a day.
        authors = users.keys() & {post.author_id for post in posts}
        cost_usd = _POST_COST_USD * len(posts) + _USER_COST_USD * len(authors)
        results = [described for post in posts if (described := _row(post, users.get(post.author_id)))]
        message = {} if results else {"message": "Nothing was found in the last seven days; try fewer or other words."}
        return Result(data={"query": query, "source": _SERVICE, **message, "results": results}, cost_usd=cost_usd)

    async def _from_web(self, query: str, arguments: TwitterArguments, context: ToolContext, why: ToolError) -> Result:
        # A search engine knows no operators, but whom a post is from is a word to search for.
        plain = [word.strip("()#@$") for word in _NAMING.sub("", query).split() if not _OPERATOR.match(word)]
        words, hours = " ".join(word for word in plain if word not in {"OR", "AND"}), arguments.hours
        wanted = Query(
            text=words,
            count=min(max(arguments.count, 1), _MAX_HITS),
            freshness=None if hours is None else "day" if hours <= _HOURS_OF_A_DAY else "week",
            sites=(SITE,),
        )
        try:
            found = await self._search.search(wanted, context.now)
        except ToolError as error:
            raise type(error)(f"{why} {error}") from error
        data: dict[str, Any] = {"query": words, "source": f"{found.source}, limited to {SITE}", "why_not_x": str(why)}
        if not found.hits:
            data["message"] = f"Nothing was found at {SITE}; try other words, or web_search."
        return Result(data=data | {"results": list(map(row, found.hits))}, cost_usd=found.cost_usd)


def twitter_tools(
    options: TwitterOptions, http: Http, quotas: Quotas, search: SearchService
) -> tuple[TwitterSearch, ...]:
    """Returns the tool; none if neither X nor a search limited to its site is available."""
    if options.missing_settings() and not search.takes(Query(text=SITE, count=1, sites=(SITE,))):
        return ()
    return (TwitterSearch(options, http, quotas, search),)


class _Post(BaseModel):
    id: str
    text: str = ""
    note: Mapping[str, Any] = Field(default={}, validation_alias=AliasChoices("note_tweet", "note_post"))
    """A long post in full; `text` is its beginning."""
    created_at: str = ""
    author_id: str = ""
    public_metrics: Mapping[str, Any] = Field(default_factory=dict[str, Any])


class _User(BaseModel):
    id: str
    username: str = ""
    name: str = ""
    verified: bool | None = None


class _Answer(BaseModel):
    """The answer of X. Errors beside it are about posts that are gone."""

    data: tuple[_Post, ...] = ()
    users: tuple[_User, ...] = Field(default=(), validation_alias=AliasPath("includes", "users"))
    meta: Mapping[str, Any]


def _row(post: _Post, user: _User | None) -> Mapping[str, Any]:
    """Describes a post as a page, with what else X tells of it; empty without an address."""
    if not post.id.isdigit():
        return {}
    posted = _TIME.match(post.created_at)
    named = user if user is not None and _USERNAME.fullmatch(user.username) else None
    page = Hit(
        title=plain(f"{user.name} on X") if user and user.name else "A post on X",
        url=f"https://{SITE}/{named.username if named else 'i'}/status/{post.id}",
        site=SITE,
        snippet=shorten(plain(str(post.note.get("text") or post.text)), _MAX_TEXT_CHARS),
        age=f"{posted[1]} {posted[2]} UTC" if posted else None,
    )
    details: dict[str, Any] = {"author": f"@{named.username}", "verified": bool(named.verified)} if named else {}
    for name, count in post.public_metrics.items():
        if name in _COUNTS and type(count) is int:
            details[_COUNTS[name]] = count
    return {**row(page), **details}


def _refusal(answer: JsonAnswer) -> ToolError:
    match answer.status, answer.body:
        case HTTPStatus.BAD_REQUEST, {"errors": [{"message": str(reason)}, *_]} | {"detail": str(reason)}:
            quoted = shorten(clean_line(reason), _MAX_TEXT_CHARS)
            return BadArguments("X does not accept this query; what it says is quoted.", quoted=quoted)
        case _:
            return answer.refusal(_SERVICE, key="TOOLS__TWITTER__BEARER_TOKEN")
