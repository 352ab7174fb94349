"""Watches: what a person wants to hear of as soon as it happens, and the loop that looks.

    due --quiet hours, or as many messages today as may be--> looked at in the morning
     |--its person cannot read there any more, or its last day is over--> ended
     '--> one call of a tool --failed--> looked at again later; after a day the person reads so, once
                           '--> compared with what was seen (`conditions`)
                                 '--something new--> a number: said
                                                 '--> texts: a model says which are news --> verify_news --> said

What was seen and what is said are one transaction: a kill before it leaves all as it was, after it the outbox has the
message; what a look had paid for until a kill is paid again. A watch that was changed meanwhile has another row, and
nothing is said. What is said is a turn of the history with its calls and pages, so that people can ask for more. Costs
are booked on the turn that made the watch.
"""

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Literal
from zoneinfo import ZoneInfo

from pydantic import Field, TypeAdapter

from bot.access import chat_settings
from bot.access.access import AccessList, may_still_read
from bot.access.routing import Wished
from bot.chat import phrases as chat_phrases
from bot.chat.calls import side_by_side
from bot.chat.citations import CitedPages, visible_words
from bot.chat.context import rows_of
from bot.chat.intents import plain_name, quote
from bot.chat.journal import Turn
from bot.chat.judge import ReportJudge
from bot.chat.steps import ToolRun
from bot.chat.toolbox import Toolbox
from bot.chat.turns import Turns
from bot.clock import again_and_again
from bot.events import ChatId, Incoming, PersonId, SentId
from bot.features.watches.conditions import Item, State, When, compare, found_at
from bot.features.watches.report import Reports
from bot.i18n.catalogues import Sentence, say
from bot.i18n.language import set_language, use_language
from bot.i18n.phrases import REMINDER_CANCELLED, tool_failure
from bot.labels import UNKNOWN, Labels, join_labels
from bot.logs import describe_error
from bot.messages import AssistantMessage, CallId, Page, Text, ToolCall, ToolMessage, UserMessage
from bot.money.budgets import UsedUp
from bot.money.ledger import Bill, periods
from bot.settings import Settings
from bot.signal.protocol import Outside
from bot.trust.links import inert
from bot.trust.rules import may_carry_out
from store import ConversationId, LedgerEntry, Repositories, TurnId, WatchRow
from tools import (
    Arguments,
    Denied,
    Disabled,
    ToolContext,
    ToolError,
    Unavailable,
    shorten,
)

WATCH_NOW = Sentence("WATCH_NOW", "Now {value}, before {before} ({source}, {time}).")
WATCH_CHECKED = Sentence(
    "WATCH_CHECKED",
    "I've checked it. Independent reports for it: {agreeing}, against it: {denying}. Confidence: {percent} %.",
)
WATCH_ALONE = Sentence("WATCH_ALONE", "I've checked it, and found no other report for or against it.")
WATCH_DECIDED = Sentence("WATCH_DECIDED", "It's decided: {outcome}. I've stopped watching.")
WATCH_OVER = Sentence("WATCH_OVER", "The time is up, so I've stopped watching.")
WATCH_FAILS = Sentence("WATCH_FAILS", "For a day now I haven't been able to look; I'll keep trying. {reason}")

_CHECK = "verify_news"
_AT_ONCE = 8
_MAX_SAID = 20
_MAX_CITED = 3
_FAILS_FOR = timedelta(days=1)
_EVERY_SECONDS = 10.0
_NOTE = "(A note from Aldis: no one has written now. Something that this person has it watch is new: {text})"

_log = logging.getLogger(__name__)


class WatchArguments(Arguments):
    """What to watch."""

    rare = frozenset({"until", "month_usd"})

    text: str = Field(min_length=1, max_length=300, description="What to tell of, in a few words of theirs.")
    tool: Literal[
        "convert", "get_weather", "market_get", "open_data", "web_fetch", "intel_search", "web_search", "verify_news"
    ]
    arguments: dict[str, Any] = Field(description="Of that tool, as you would call it.")
    look_at: str = Field(max_length=200, description="Names in its answer, parted by /: rate, likelihood/Yes, results.")
    when: When = Field(
        description="above or below value; rises or falls by value percent; changes; new: items of a list, or lines"
    )
    value: Decimal | None = None
    minutes: int = Field(default=60, ge=1, le=10_080, description="How often to look.")
    until: date | None = Field(default=None, description="The last day.")
    month_usd: Decimal | None = Field(default=None, gt=0, description="The most that it may cost in a month.")


@dataclass(frozen=True, kw_only=True, slots=True)
class Watch:
    """What is watched, for whom and where, as it is stored."""

    person: PersonId
    chat: ChatId
    sent_at: SentId
    """The message that asked for it, which a group sees quoted."""
    given: WatchArguments
    labels: Labels
    """Where the words come from."""
    made_at: datetime

    @property
    def text(self) -> str:
        """What the person wants to hear of, with inert links if an address in it could carry something out."""
        return inert(self.given.text) if may_carry_out(self.labels) else self.given.text

    @property
    def message(self) -> Incoming:
        """What it answers: quoted in a group, which notifies its author."""
        return Incoming(author=self.person, name=None, chat=self.chat, sent_at=self.sent_at, text="🔔")


WATCH_JSON: TypeAdapter[Watch] = TypeAdapter(Watch)
STATE_JSON: TypeAdapter[State] = TypeAdapter(State)


@dataclass(frozen=True, kw_only=True, slots=True)
class Discovery:
    """What is to be said: Markdown that cites pages by their numbers, and the calls behind it."""

    text: str
    runs: tuple[ToolRun, ...] = ()
    pages: tuple[Page, ...] = ()
    ends: bool = False
    """Whether the watch ends with it."""
    facts: Mapping[str, object] = field(default_factory=dict[str, object])
    """For the operator's programs."""


@dataclass
class Lookout(Outside):
    """The watches of all people, and their loop. Methods that take `repos` run within a transaction."""

    _: KW_ONLY
    turns: Turns
    settings: Settings
    allowed: Callable[[], AccessList]
    """Returns who can currently write."""
    toolbox: Toolbox = field(init=False)
    """Set as soon as there is one: the tool that makes watches is in it."""
    judge: ReportJudge = field(init=False)
    reports: Reports = field(init=False)

    def react(
        self, repos: Repositories, conversation: ConversationId, person: PersonId, target: SentId, wish: Wished
    ) -> bool:
        """Cancels the person's watches that our message speaks of, if a reaction wants that; False: there is none."""
        turn = repos.outbox.turn_of(conversation, target)
        found = repos.watches.of_turn(turn, person) if turn is not None and wish == "cancel" else ()
        for row in found:
            repos.watches.settle(row.id, now=self.clock.now())
            watch = WATCH_JSON.validate_json(row.watch or b"")
            with use_language(self.turns.language(repos, conversation)):
                text = say(REMINDER_CANCELLED, text=watch.text)
            self.turns.tell(repos, conversation, watch.message, text, expires_at=row.expires_at)
        return bool(found)

    def spent_usd(self, repos: Repositories, row: WatchRow) -> Decimal:
        """What a watch has cost this month."""
        return repos.watches.spent_usd(row, periods(self.clock.now(), self.settings.locale.timezone)["month"][0])

    def turn(self, repos: Repositories, watch: Watch, conversation: ConversationId, turn: TurnId) -> Turn:
        """What surrounds a look at a watch; `turn` pays."""
        now = self.clock.now()
        return Turn(
            id=turn,
            conversation=conversation,
            chat=watch.chat,
            incoming=(watch.message,),
            loaded_at=now,
            question=UserMessage(text=_NOTE.format(text=watch.given.text), labels=watch.labels),
            history=(),
            steps=(),
            settings=chat_settings.settings_of(repos, conversation, now),
            timezone=repos.reminders.zone(ChatId.direct(watch.person)) or self.settings.locale.timezone,
        )

    # The loop

    async def run(self) -> None:
        """Looks at what is due, again and again; ends only by cancellation."""
        await again_and_again(self.attend_all, lambda: _EVERY_SECONDS, _log, "looking at watches")

    async def attend_all(self) -> None:
        """Looks at everything that is due, unless the clock is in doubt, or who can write in groups is still unknown.

        Raises:
            StoreError: what was found could not be kept, and was not said; try again later.
        """
        allowed = self.allowed()
        if self.clock.doubt() or (allowed.needs_members and not allowed.members):
            return
        while due := await self.store.transaction(self._begin):
            await self.toolbox.offers()  # feeds come and go
            await side_by_side(self._attend(*one) for one in due)

    def _begin(self, repos: Repositories) -> list[tuple[WatchRow, Watch, State, Turn]]:
        """Returns some watches that are due and may be looked at, with what surrounds each."""
        found: list[tuple[WatchRow, Watch, State, Turn]] = []
        now = self.clock.now()
        account = self.transport.account
        for row in repos.watches.due(now, limit=_AT_ONCE):
            try:
                watch = WATCH_JSON.validate_json(row.watch or b"")
                state = STATE_JSON.validate_json(row.state) if row.state else State()
            except ValueError as error:  # another version of Aldis wrote it
                _log.error("watch %d cannot be read and was given up: %s", row.id, describe_error(error))
                repos.watches.settle(row.id, now=now)
                continue
            turn = self.turn(repos, watch, row.conversation, row.turn or TurnId(0))
            whom = watch.person, watch.chat, self.allowed()
            has_disappeared = row.expires_at is not None and row.expires_at <= now
            if has_disappeared or not may_still_read(repos, *whom, account=account, since=watch.made_at):
                repos.watches.settle(row.id, now=now)
            elif opens_at := self._opens_at(repos, watch, turn):
                repos.watches.keep(row, row.state, due_at=opens_at)
            else:
                found.append((row, watch, state, turn))
        return found

    def _opens_at(self, repos: Repositories, watch: Watch, turn: Turn) -> datetime | None:
        """Returns when the person may be sent something again; None: now."""
        zone = ZoneInfo(turn.timezone or "UTC")
        now = self.clock.now().astimezone(zone)
        given = self.settings.watches
        begin, end = map(int, given.quiet_hours.split("-"))
        is_quiet = begin <= now.hour < end if begin <= end else now.hour >= begin or now.hour < end
        midnight = datetime.combine(now.date(), time(), zone)
        is_full = repos.watches.said_since(watch.person, midnight) >= given.messages_per_day
        morning = datetime.combine(now.date() + timedelta(days=is_full or now.hour >= end), time(end), zone)
        return morning if is_quiet or is_full else None

    async def _attend(self, row: WatchRow, watch: Watch, state: State, turn: Turn) -> None:
        """Looks once, keeps what was seen and says what is new; whatever goes wrong, it is looked at again later."""
        set_language(turn.settings.spoken or self.settings.locale.language)
        now = turn.loaded_at
        last = watch.given.until
        finding = None
        try:
            if last is not None and last < now.astimezone(ZoneInfo(turn.timezone or "UTC")).date():
                finding = Discovery(text=say(WATCH_OVER), ends=True)
            else:
                state, finding = await self._look(row, watch, state, turn)
        except Exception as error:  # noqa: BLE001  (one watch must not end the others)
            failure = error if isinstance(error, ToolError) else Unavailable()
            _log.log(logging.INFO if failure is error else logging.ERROR, "watch %d: %s", row.id, describe_error(error))
            since = state.fails_since or now
            is_known = now - since >= _FAILS_FOR
            if is_known and not state.has_said_so:
                text = say(WATCH_FAILS, reason=tool_failure(failure.code, str(failure)))
                finding = Discovery(text=text, facts={"error": failure.code})
            state = replace(state, fails_since=since, has_said_so=is_known)
        due_at = now + timedelta(minutes=max(watch.given.minutes, self.settings.watches.least_minutes))
        kept = STATE_JSON.dump_json(state)

        def keep(repos: Repositories) -> bool:
            # Others that were looked at beside this one may have said as much as may be.
            if finding is not None and (opens_at := self._opens_at(repos, watch, turn)):
                repos.watches.keep(row, row.state, due_at=opens_at)
                return False
            is_kept = repos.watches.keep(row, kept, due_at=due_at)
            if is_kept and finding is not None:
                self._say(repos, row, watch, turn, finding)
                if finding.ends:
                    repos.watches.settle(row.id, now=now)
            return is_kept

        is_kept = await self.store.transaction(keep)
        self.turns.forget(row.conversation)
        if is_kept and finding is not None and self.settings.watches.report:
            try:
                await self.reports.put(_report(row, watch, now, finding))
            except (ToolError, OSError) as error:
                _log.warning("WATCHES__REPORT did not take what was found, which is lost: %r", error)

    async def make_call(self, call: ToolCall, turn: Turn, labels: Labels, pages: CitedPages) -> ToolRun:
        """Runs a call as a turn would, paid by the turn; `labels` are those of what it is made from.

        Raises:
            ToolError: it may not run while no person is there, cannot be paid, or failed.
        """
        budget = self.turns.budget
        cost = self.toolbox.cost_usd([call])
        if self.toolbox.spec(call.name) is None or not turn.settings.allows_tool(call.name):
            raise Disabled(f"{call.name} is switched off here")
        if self.toolbox.approval(call, labels, turn.person, "", in_group=turn.group is not None) is not None:
            raise Denied(f"{call.name} would have to be agreed to each time, and no one is there to agree")
        entry = LedgerEntry(kind="tool", name=call.name, outcome="ok", cost_usd=cost)
        reserved = await self.store.transaction(lambda repos: budget.reserve(repos, turn.payer, entry))
        if isinstance(reserved, UsedUp):
            raise Disabled("the budget is used up")
        run = await self.toolbox.run(call, turn, labels=labels, pages=pages)
        paid = replace(entry, outcome=run.outcome, cost_usd=run.cost_usd)
        bill = Bill(reservation=reserved, entries=(paid,))
        await self.store.transaction(lambda repos: budget.settle(repos, turn.payer, (bill,)))
        if not run.answer.ok:
            kinds = {kind.code: kind for kind in ToolError.__subclasses__()}
            raise kinds.get(run.outcome, Unavailable)(str(json.loads(run.answer.content).get("message")))
        return run

    async def _look(self, row: WatchRow, watch: Watch, state: State, turn: Turn) -> tuple[State, Discovery | None]:
        """Makes its call; returns what was seen, and what of it is to be said."""
        given = watch.given
        bound = self.settings.watches.month_usd
        if await self.store.read(lambda repos: self.spent_usd(repos, row)) >= min(bound, given.month_usd or bound):
            raise Disabled("the budget is used up")
        pages = CitedPages(await self.turns.history(row.conversation), self.toolbox.finds_pages)
        id_ = CallId(f"watch_{row.id}_{turn.loaded_at:%Y%m%d%H%M%S}")
        run = await self.make_call(
            ToolCall(id=id_, name=given.tool, arguments=given.arguments), turn, watch.labels, pages
        )
        data = run.answer.data
        seen, fires, items = compare(given.when, given.value, state, found_at(data, given.look_at))
        seen = replace(seen, fails_since=None, has_said_so=False)
        if outcome := data.get("came_out"):  # of a prediction market
            text = say(WATCH_DECIDED, outcome=quote(str(outcome)))
            return seen, Discovery(text=text, runs=(run,), ends=True, facts={"value": str(outcome)})
        if items:
            return await self._news(watch, seen, turn, run, items, pages)
        shown = quote if given.when == "changes" else plain_name
        before = state.text if state.base is None else f"{state.base:f}"
        text = say(
            WATCH_NOW,
            value=shown(seen.text),
            before=shown(before),
            source=chat_phrases.tool_name(given.tool),
            time=f"{turn.loaded_at.astimezone(ZoneInfo(turn.timezone or 'UTC')):%H:%M}",
        )
        found = replace(_cited(text, [data.get("url")], pages, (run,)), facts={"value": seen.text, "before": before})
        return seen, found if fires else None

    async def _news(
        self, watch: Watch, state: State, turn: Turn, run: ToolRun, items: Sequence[Item], pages: CitedPages
    ) -> tuple[State, Discovery | None]:
        """Has a model say which items are news, and has that checked; else they are still new the next time."""
        context = ToolContext(now=turn.loaded_at, timezone="UTC", person=turn.person, chat=turn.chat, turn=turn.id)
        news = await self.judge.news(watch.given.text, state.said, [item.text for item in items], context)
        if not news.places:
            return state, None
        chosen = [items[place] for place in news.places]
        rows = [{"text": item.text, "url": item.url or run.arguments.get("url")} for item in chosen]
        found = _cited(quote(news.claim), [one["url"] for one in rows], pages, (run,))
        facts: dict[str, object] = {"claim": news.claim, "items": rows}
        claim = {"claim": news.claim, "other_words": [shorten(chosen[0].text, 300)]}
        call = ToolCall(id=CallId(f"{run.answer.call_id}_check"), name=_CHECK, arguments=claim)
        try:
            labels = join_labels([watch.labels, run.answer.labels or UNKNOWN])
            check = await self.make_call(call, turn, labels, pages)
        except ToolError as error:
            _log.info("what is news was not checked, kind %s", error.code)
            facts["error"] = error.code
        else:
            evidence = check.answer.data["evidence"]
            numbers = {"agreeing": evidence["independent_agreeing"], "denying": evidence["independent_contradicting"]}
            percent = round(100 * evidence["confidence"])
            text = say(WATCH_CHECKED, **numbers, percent=percent) if any(numbers.values()) else say(WATCH_ALONE)
            urls = [row["url"] for row in check.answer.data["results"] if row["stance"] != "mentions"][:_MAX_CITED]
            found = _cited(f"{found.text}\n\n{text}", urls, pages, (run, check), known=found.pages)
        return replace(state, said=(*state.said, news.claim)[-_MAX_SAID:]), replace(found, facts=facts)

    def _say(self, repos: Repositories, row: WatchRow, watch: Watch, looked: Turn, finding: Discovery) -> None:
        """Says it, and keeps it as a turn of the history."""
        now = self.clock.now()
        runs = finding.runs
        turn = repos.turns.begin(row.conversation, now=now, expires_at=row.expires_at, origin=row.origin)
        labels = join_labels([watch.labels, *(run.answer.labels or UNKNOWN for run in runs)])
        words = Text(text=f"🔔 {watch.text}\n\n{finding.text}")
        answer = AssistantMessage(parts=(words,), labels=labels, pages=finding.pages)
        calls = AssistantMessage(parts=tuple(run.call for run in runs), labels=watch.labels)
        looks = (calls, ToolMessage(answers=tuple(run.answer for run in runs))) if runs else ()
        repos.history.append(row.conversation, rows_of(turn, (looked.question, *looks, answer)))
        self.turns.tell(repos, row.conversation, watch.message, visible_words(answer), turn=turn)
        repos.journal.close(turn, "kept", now=now)


def _cited(
    text: str, urls: Sequence[object], pages: CitedPages, runs: tuple[ToolRun, ...], known: tuple[Page, ...] = ()
) -> Discovery:
    """A finding with the numbers of these pages behind its text, besides those `known`."""
    cited = [Page(number=pages.find(url), url=url) for url in urls if isinstance(url, str)]
    text = " ".join([text, *(f"[{page.number}]" for page in dict.fromkeys(cited))])
    return Discovery(text=text, runs=runs, pages=tuple(dict.fromkeys((*known, *cited))))


def _report(row: WatchRow, watch: Watch, at: datetime, said: Discovery) -> Mapping[str, object]:
    """What programs read of it: all names are always there."""
    check = next((run.answer.data for run in said.runs if run.answer.name == _CHECK), None)
    found: Mapping[str, Any] = check["evidence"] if check else {"confidence": None, "tone": {}}
    return {
        "watch": {"number": row.number, "made_at": watch.made_at.isoformat(), **watch.given.model_dump(mode="json")},
        "at": at.isoformat(),
        "triggered": bool(said.runs),
        "success": "error" not in said.facts,
        "sources": [page.url for page in said.pages],
        "confidence": found["confidence"],
        "tone": max(found["tone"], key=found["tone"].get, default=None),
        "evidence": check,
        **dict.fromkeys(("error", "value", "before", "claim", "items")),
        **said.facts,
    }
