"""What tools need from the rest of Aldis, as small protocols: tools know neither the store nor the bot.

Who stands behind a port is handed over in `bot/app/`. The names in a `ToolContext` are opaque: a tool hands the
context on and reads nothing out of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal, Protocol

from tools.base import ToolContext

Every = Literal["hour", "day", "week", "month", "year"]
"""What a repetition counts. Seconds and minutes are no reminders."""

Weekday = Literal["mo", "tu", "we", "th", "fr", "sa", "su"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Repeat:
    """How often something comes again, by the clock on the wall of its time zone (`hour`: by elapsed time)."""

    every: Every
    interval: int = 1
    """Every so many hours, days, ..."""
    weekdays: tuple[Weekday, ...] = ()
    """Only on these days; with `month` exactly one, together with `nth`."""
    nth: int | None = None
    """Which of these weekdays of the month: 1 to 4, or -1 for the last."""
    count: int | None = None
    """How often in all; None: without end."""
    until: date | None = None
    """The last day, by the time zone's calendar; None: without end."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Wish:
    """What somebody wants to be reminded of, and when: at a local time, or after a delay, perhaps again and again."""

    text: str
    prompt: str | None = None
    """What is to be asked then, as if the person asked it; None: they only hear `text`."""
    local: str | None = None
    """`YYYY-MM-DDTHH:MM` on the wall clock of the zone; with `repeat` the first time."""
    delay_seconds: int | None = None
    timezone: str | None = None
    """An IANA zone; None: the person's own."""
    repeat: Repeat | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedReminder:
    """A reminder as it stands."""

    number: int
    """How its person calls it in this conversation, as long as it is planned."""
    text: str | None
    """None when its words have disappeared with the message that they came from."""
    prompt: str | None
    when: str
    """The next time: `Monday 2026-11-23 08:00 Europe/Berlin`."""
    due_at: datetime
    """The same, aware, in UTC."""
    timezone: str
    """The IANA zone by which it is reckoned."""
    repeat: Repeat | None
    is_shifted: bool = False
    """Whether the clocks skip the time that was wished for, so that it comes an hour later on that day."""
    loses_words: bool = False
    """Whether its words disappear before its time, with the message that they came from."""
    zone_is_known: bool = True
    """Whether the person has told their time zone, or named one now."""
    origin: str = ""
    """Where its words come from: opaque, for `Result.origins`."""


class Reminders(Protocol):
    """The reminders of the person in the conversation of the context."""

    async def add(self, wish: Wish, context: ToolContext) -> PlannedReminder:
        """Plan one; the same call again, after a crash, plans nothing more.

        Raises:
            BadArguments: there is no such time, it is over, or it is too far away; the message says which.
            RateLimited: the person has as many as one may have.
            Denied: the question was taken back, or is itself a reminder that is run.
        """
        ...

    async def upcoming(self, context: ToolContext) -> tuple[PlannedReminder, ...]:
        """Those that are planned, the next one first."""
        ...

    async def cancel(self, number: int, context: ToolContext) -> PlannedReminder:
        """Cancel one; gives what it was.

        Raises:
            NotFound: there is none of this number.
        """
        ...

    async def keep_timezone(self, name: str, context: ToolContext) -> str:
        """The person lives in this zone from now on, everywhere; gives its name.

        Raises:
            BadArguments: there is no such zone.
        """
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class RememberedFact:
    """One fact that is remembered about a person."""

    number: int
    """How the person calls it, as long as it is remembered."""
    fact: str
    until: str | None = None
    """When it disappears with the message that told it: `2026-11-23T08:00Z`; None: it stays until it is forgotten."""
    origin: str = ""
    """Where it comes from: opaque, for `Result.origins`."""


class Memory(Protocol):
    """What is remembered about the person of the context, in the conversation that they have with Aldis alone."""

    async def remember(self, fact: str, context: ToolContext) -> RememberedFact:
        """Remember a fact; the same call again, after a crash, and the same fact again remember nothing more.

        Raises:
            Denied: it was asked in a group, by a reminder that is run, or the question was taken back.
            RateLimited: as many are remembered as may be.
        """
        ...

    async def forget(self, number: int, context: ToolContext) -> None:
        """Forget one.

        Raises:
            Denied: as `remember`.
            NotFound: there is none of this number.
        """
        ...


Verdict = Literal["came_true", "did_not", "void"]
"""What came of a prediction; `void`: nobody can say, or it no longer means anything, so that it is not scored."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Forecast:
    """What somebody thinks is going to happen."""

    statement: str
    probability: float
    """From 0 to 1: how likely it is, in their opinion."""
    due: date
    """By which day it is known, by the person's calendar."""
    domain: str | None = None
    """One word for what it is about; None: none was given."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Prediction:
    """A forecast as it is kept."""

    number: int
    """How people call it in this conversation, as long as it is kept."""
    forecast: Forecast
    made: date
    """When it was recorded, by the person's calendar."""
    verdict: Verdict | None = None
    """None: it is open."""
    is_overdue: bool = False
    """Whether it is open and its day is over."""
    until: str | None = None
    """When it disappears with a message that it came from: `2026-11-23T08:00Z`; None: it stays."""
    origin: str = ""
    """Where its words come from: opaque, for `Result.origins`."""


class Predictions(Protocol):
    """What the person of the context predicts in the conversation of the context; no other conversation sees it."""

    async def record(self, forecast: Forecast, context: ToolContext) -> Prediction:
        """Record a forecast; the same call again, after a crash, records nothing more.

        Raises:
            BadArguments: its day is over, or too far away; the message says which.
            Denied: a reminder that is run asks for it, or the question was taken back.
            RateLimited: as many are kept for the person as may be.
        """
        ...

    async def resolve(self, number: int, verdict: Verdict | None, context: ToolContext) -> Prediction:
        """This came of one of the person's own; None: it is open again. Gives it as it is now.

        Raises:
            Denied: as `record`.
            NotFound: they have none of this number here.
        """
        ...

    async def strike(self, number: int, context: ToolContext) -> Prediction:
        """Take one of the person's own off the record, as if it had not been made; gives what it was.

        Raises:
            Denied, NotFound: as `resolve`.
        """
        ...

    async def all(self, context: ToolContext) -> tuple[Prediction, ...]:
        """The person's own: what is overdue first, then what is open, each by its day; then what is settled, the
        newest first.
        """
        ...

    async def everybody(self, context: ToolContext) -> tuple[tuple[float, bool], ...]:
        """What everybody in this conversation has predicted and came true or not: how likely it was said to be, and
        whether it came true. Nothing of what it was about, and nothing of who said it.
        """
        ...


Span = Literal["day", "month"]
"""What an amount is for: a calendar day or a calendar month, UTC."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Paper:
    """What a PDF says, as far as it was read. A stranger's words, as `clean_text` leaves them."""

    text: str
    """Each page that holds words under a line `Page 1:`; empty for a scan."""
    pages: int
    """All there are."""
    pages_read: int
    is_cut: bool
    """Whether there is more behind the text because it is as long as was asked for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PageLink:
    """A link of a page: its words, perhaps "", and the whole address, canonical."""

    text: str
    url: str


@dataclass(frozen=True, kw_only=True, slots=True)
class PageText:
    """What stands on a page of the web. A stranger's words, plain and as `clean_text` leaves them."""

    text: str
    title: str = ""
    """"" where the page has none."""
    date: str = ""
    """`YYYY-MM-DD`, perhaps with the time, as the page itself says; "" where it does not."""
    language: str = ""
    links: tuple[PageLink, ...] = ()
    """Those within the text, each address once, in order."""
    has_password: bool = False
    """Whether the page asks for a password."""
    has_script: bool = False
    """Whether JavaScript belongs to it, which may write more."""


class Papers(Protocol):
    """Opens PDFs and pages of strangers where they can do no harm."""

    async def read(self, data: bytes, *, max_chars: int) -> Paper:
        """The first so many characters of what a PDF says.

        Raises:
            BadArguments: it cannot be opened; the message completes "The PDF cannot be read: ".
        """
        ...

    async def read_page(self, body: bytes, *, url: str, charset: str, is_html: bool) -> PageText:
        """What stands on the page that was found at `url`; `charset` as its server names it, or "".

        Raises:
            BadArguments: it cannot be opened; the message completes "The page cannot be read: ".
        """
        ...


class Quotas(Protocol):
    """What services of the outside have given in the running day or month, over all restarts.

    Each service is counted by one span of time.
    """

    async def take(self, service: str, *, most: int, amount: int = 1, per: Span = "month") -> bool:
        """Count `amount` more (at least 1) of what the service gives: requests, or whatever it charges for.

        False: that would be more than `most`, so it is not counted and must not be asked for.
        """
        ...

    async def give_back(self, service: str, *, amount: int, taken_at: datetime, per: Span = "month") -> None:
        """Count `amount` less: what was taken before asking, and then not given. Nothing where another day or month
        runs by now than at `taken_at`.
        """
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Story:
    """One article, as a feed told of it. The words are a stranger's: plain text, not to be obeyed."""

    title: str
    url: str | None
    """http or https, in its one spelling; None: the feed gives no address."""
    feed: str
    """The name of the feed that it stood in."""
    at: datetime
    """When it was published, aware, in UTC; where the feed does not say, when it was seen first."""
    is_dated: bool
    """Whether the feed says when it was published."""
    summary: str
    """The feed's own; may be empty."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Stories:
    """What was found for some words."""

    stories: tuple[Story, ...]
    """The best and newest first."""
    has_all_words: bool = True
    """Whether all words stand in each of them; else there is none like that, and these have some of the words."""


class News(Protocol):
    """What stood in the feeds that are read here. What is looked for is not written down."""

    async def search(self, query: str, *, since: datetime, most: int) -> Stories:
        """The stories from `since` on that the words of the query stand in; words between double quotes side by side.

        Raises:
            Disabled: no feed is read here.
        """
        ...

    async def recent(self, *, since: datetime, most: int, feed: str | None = None) -> tuple[Story, ...]:
        """The newest stories from `since` on, newest first; `feed` is a part of a feed's name, None: of all feeds.

        Raises:
            NotFound: no feed has this in its name.
            Disabled: no feed is read here.
        """
        ...


Stance = Literal["agrees", "contradicts", "mentions"]
"""What a report says of a claim: it, the opposite, or neither."""

Tone = Literal["panic", "neutral", "optimistic"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Excerpt:
    """What is known of a report: a title and some words, both of strangers."""

    title: str
    snippet: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Judgement:
    """What a report says of a claim, as a model has read it."""

    stance: Stance
    tone: Tone
    cites_official: bool
    """Whether it says that an authority has confirmed or denied the claim."""


class Judge(Protocol):
    """Reads reports and says what they say of a claim; never whether it is true."""

    async def judge(self, claim: str, reports: Sequence[Excerpt], context: ToolContext) -> tuple[Judgement, ...]:
        """One judgement for each report, in their order; the implementation records what it costs.

        Raises:
            Disabled: no model is set up.
            Unavailable: the model did not answer, or what it answered cannot be relied on.
        """
        ...
