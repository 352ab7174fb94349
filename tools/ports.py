"""Protocols for what tools need from the rest of Aldis, as tools know neither the store nor the bot.

`bot/app/` passes the implementations to the tools. The names in a `ToolContext` are opaque: a tool passes the context
on and reads nothing from it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal, Protocol

from tools.base import ToolContext

Every = Literal["hour", "day", "week", "month", "year"]
"""The unit of a repetition. Seconds and minutes are too short for reminders."""

Weekday = Literal["mo", "tu", "we", "th", "fr", "sa", "su"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Repeat:
    """A repetition, by the wall clock of its time zone (`hour`: by elapsed time)."""

    every: Every
    interval: int = 1
    """Every how many hours, days, ..."""
    weekdays: tuple[Weekday, ...] = ()
    """Only on these days; with `month` exactly one, together with `nth`."""
    nth: int | None = None
    """Which of these weekdays of the month: 1 to 4, or -1 for the last."""
    count: int | None = None
    """How many times in all; None: without end."""
    until: date | None = None
    """The last day, by the time zone's calendar; None: without end."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Wish:
    """A request for a reminder: a text, and a local time or a delay, once or repeatedly."""

    text: str
    prompt: str | None = None
    """A question to ask then on the person's behalf; None: they are only told `text`."""
    local: str | None = None
    """`YYYY-MM-DDTHH:MM` on the wall clock of the zone; with `repeat`, the first time."""
    delay_seconds: int | None = None
    timezone: str | None = None
    """An IANA zone; None: the person's own."""
    repeat: Repeat | None = None
    names_half: bool = True
    """Whether the half of the day was said; if not ("at 5"), the hour is settled when it is planned."""
    names_day: bool = True
    """Whether a day was said; if not, the next time at that hour is meant."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedReminder:
    """A planned reminder."""

    number: int
    """The number by which its person knows it in this conversation while it is planned."""
    text: str | None
    """None if its words have disappeared with the message they came from."""
    prompt: str | None
    when: str
    """The next time: `Monday 2026-11-23 08:00 Europe/Berlin`."""
    due_at: datetime
    """The same as an aware datetime in UTC."""
    in_seconds: int
    """The time from now until then; negative if it is over."""
    timezone: str
    """The IANA zone of the person, in which `when` is told."""
    repeat: Repeat | None
    loses_words: bool = False
    """Whether its words disappear before it is due, with the message they came from."""
    zone_is_known: bool = True
    """Whether the time zone is known; if not, the person is to be asked now."""
    origin: str = ""
    """Where its words come from: opaque, for `Result.origins`."""


class Reminders(Protocol):
    """The reminders of the person in the conversation of the context."""

    async def check(self, wish: Wish, context: ToolContext) -> None:
        """Raises what `add` would raise about the wish, and plans nothing."""
        ...

    async def add(self, wish: Wish, context: ToolContext) -> PlannedReminder:
        """Plans a reminder; repeating the same call after a crash changes nothing.

        Raises:
            BadArguments: the time does not exist, is past or too far away; the message says which.
            RateLimited: the person has as many reminders as allowed.
            Denied: the question was taken back, or a reminder itself asks it.
        """
        ...

    async def upcoming(self, context: ToolContext) -> tuple[PlannedReminder, ...]:
        """Returns the planned reminders, the next one first."""
        ...

    async def cancel(self, number: int, context: ToolContext) -> PlannedReminder:
        """Cancels a reminder; returns what it was.

        Raises:
            NotFound: no reminder has this number.
        """
        ...

    async def keep_timezone(self, name: str, context: ToolContext) -> str:
        """Keeps the person's time zone for all conversations; returns its name.

        Raises:
            BadArguments: there is no such zone.
        """
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class RememberedFact:
    """A remembered fact about a person."""

    number: int
    """The number by which the person knows it while it is remembered."""
    fact: str
    until: str | None = None
    """When it disappears with the message it came from (`2026-11-23T08:00Z`); None: it stays until it is forgotten."""
    origin: str = ""
    """Where it comes from: opaque, for `Result.origins`."""


class Memory(Protocol):
    """The facts about the person of the context, in their direct conversation with Aldis."""

    async def remember(self, fact: str, context: ToolContext) -> RememberedFact:
        """Remembers a fact; repeating the call after a crash, or the same fact, changes nothing.

        Raises:
            Denied: it was asked in a group or by a reminder, or the question was taken back.
            RateLimited: there are as many facts as allowed.
        """
        ...

    async def forget(self, number: int, context: ToolContext) -> None:
        """Forgets a fact.

        Raises:
            Denied: as `remember`.
            NotFound: no fact has this number.
        """
        ...


Verdict = Literal["came_true", "did_not", "void"]
"""The outcome of a prediction; `void`: nobody can tell, or it became meaningless, so it is not scored."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Forecast:
    """What somebody expects to happen."""

    statement: str
    probability: float
    """How likely they think it is, from 0 to 1."""
    due: date
    """The day by which the outcome is known, by the person's calendar."""
    domain: str | None = None
    """One word for its subject; None: none was given."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Prediction:
    """A recorded forecast."""

    number: int
    """Its number in this conversation while it is kept."""
    forecast: Forecast
    made: date
    """When it was recorded, by the person's calendar."""
    verdict: Verdict | None = None
    """None: it is open."""
    is_overdue: bool = False
    """Whether it is open and its due day is over."""
    until: str | None = None
    """When it disappears with a message it came from (`2026-11-23T08:00Z`); None: it stays."""
    origin: str = ""
    """Where its words come from: opaque, for `Result.origins`."""


class Predictions(Protocol):
    """The predictions of a person in a conversation, both from the context; other conversations do not see them."""

    async def record(self, forecast: Forecast, context: ToolContext) -> Prediction:
        """Records a forecast; repeating the same call after a crash changes nothing.

        Raises:
            BadArguments: its day is past or too far away; the message says which.
            Denied: a reminder asks for it, or the question was taken back.
            RateLimited: the person has as many predictions as allowed.
        """
        ...

    async def resolve(self, number: int, verdict: Verdict | None, context: ToolContext) -> Prediction:
        """Records the outcome of one of the person's predictions (None: reopens it); returns its new state.

        Raises:
            Denied: as `record`.
            NotFound: they have no prediction with this number here.
        """
        ...

    async def strike(self, number: int, context: ToolContext) -> Prediction:
        """Strikes one of the person's predictions, as if it had not been made; returns what it was.

        Raises:
            Denied, NotFound: as `resolve`.
        """
        ...

    async def all(self, context: ToolContext) -> tuple[Prediction, ...]:
        """Returns the person's predictions: overdue, then open ones, each by due day; then settled, newest first."""
        ...

    async def everybody(self, context: ToolContext) -> tuple[tuple[float, bool], ...]:
        """Returns the probability of each settled prediction of anybody in this conversation, and if it came true.

        Nothing tells what it was about or who made it.
        """
        ...


Span = Literal["day", "month"]
"""The period of a quota: a calendar day or month, UTC."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Paper:
    """The text of a PDF, as far as it was read: a stranger's words, cleaned by `clean_text`."""

    text: str
    """Each page with words follows a line `Page 1:`; empty for a scan."""
    pages: int
    """The number of pages in the PDF."""
    pages_read: int
    is_cut: bool
    """Whether the text was cut at the requested length."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PageLink:
    """A link on a page: its words, perhaps "", and its full canonical address."""

    text: str
    url: str


@dataclass(frozen=True, kw_only=True, slots=True)
class PageText:
    """The content of a web page: a stranger's words, plain and cleaned by `clean_text`."""

    text: str
    title: str = ""
    """"" if the page has none."""
    date: str = ""
    """`YYYY-MM-DD`, perhaps with the time, as the page says; "" if it does not."""
    language: str = ""
    links: tuple[PageLink, ...] = ()
    """The links within the text in order, each address once."""
    has_password: bool = False
    """Whether the page asks for a password."""
    has_script: bool = False
    """Whether it has JavaScript, which may add content."""
    moves_to: str = ""
    """The address to which it sends browsers on after some seconds; "" if it does not."""


class Papers(Protocol):
    """Reads strangers' PDFs and pages where they can do no harm."""

    async def read(self, data: bytes, *, max_chars: int, person: str = "") -> Paper:
        """Returns at most the first `max_chars` characters of a PDF. `person` is who asks: others do not wait for it.

        Raises:
            BadArguments: it cannot be opened; the message completes "The PDF cannot be read: ".
        """
        ...

    async def read_page(self, body: bytes, *, url: str, charset: str, is_html: bool, person: str = "") -> PageText:
        """Returns the content of the page found at `url`; `charset` is what its server says, or "".

        `person` is as for `read`.

        Raises:
            BadArguments: it cannot be opened; the message completes "The page cannot be read: ".
        """
        ...


class Quotas(Protocol):
    """Counts the use of outside services in the current day or month, across restarts.

    Each service has one period.
    """

    async def take(self, service: str, *, limit: int, amount: int = 1, per: Span = "month") -> bool:
        """Counts `amount` more units (at least 1): requests, or whatever the service charges for.

        Returns False, and counts nothing, if the sum would exceed `limit`: then the service must not be called.
        """
        ...

    async def give_back(self, service: str, *, amount: int, taken_at: datetime, per: Span = "month") -> None:
        """Counts `amount` fewer units, which were taken in advance but not used.

        Does nothing if a new day or month has begun since `taken_at`.
        """
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Story:
    """An article of a feed. Its words are a stranger's: plain text, not to be obeyed."""

    title: str
    url: str | None
    """The normalized http or https address; None: the feed gives none."""
    feed: str
    """The name of its feed."""
    at: datetime
    """When it was published, aware, in UTC; if the feed does not tell, when it was first seen."""
    is_dated: bool
    """Whether the feed tells when it was published."""
    summary: str
    """The summary from the feed; may be empty."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Stories:
    """The stories found for a query."""

    stories: tuple[Story, ...]
    """The best and newest first."""
    has_all_words: bool = True
    """Whether each contains all words; otherwise none does, and these contain some of them."""


class News(Protocol):
    """The articles of the feeds that are read here. Searches are not recorded."""

    async def search(self, query: str, *, since: datetime, limit: int) -> Stories:
        """Returns stories from `since` on that contain the words of the query; quoted words follow each other.

        Raises:
            Disabled: no feed is read here.
        """
        ...

    async def recent(self, *, since: datetime, limit: int, feed: str | None = None) -> tuple[Story, ...]:
        """Returns the newest stories from `since` on, newest first. `feed` is part of a feed's name; None: all feeds.

        Raises:
            NotFound: no feed has this in its name.
            Disabled: no feed is read here.
        """
        ...


Stance = Literal["agrees", "contradicts", "mentions"]
"""What a report says about a claim: the same, the opposite, or neither."""

Tone = Literal["panic", "neutral", "optimistic"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Excerpt:
    """The known part of a report: a title and some text, both by strangers."""

    title: str
    snippet: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Judgement:
    """A model's reading of what a report says about a claim."""

    stance: Stance
    tone: Tone
    cites_official: bool
    """Whether it says that an authority confirmed or denied the claim."""


class Judge(Protocol):
    """Reads reports and tells what they say about a claim, never whether it is true."""

    async def judge(self, claim: str, reports: Sequence[Excerpt], context: ToolContext) -> tuple[Judgement, ...]:
        """Returns one judgement per report, in order; the implementation records the cost.

        Raises:
            Disabled: no model is set up.
            Unavailable: the model did not answer, or not reliably.
        """
        ...
