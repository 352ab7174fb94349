"""The commands for everybody: stopping, forgetting, and what Aldis knows of the person who asks."""

import asyncio
from collections.abc import Iterable, Sequence
from datetime import timedelta

from bot.commands import phrases
from bot.commands.base import Call, CommandContext, CommandGroup, CommandReply, WrongForm, command
from bot.events import ChatId, File
from bot.formatting.split import parts
from bot.i18n import phrases as common_phrases
from bot.i18n.catalogues import say
from bot.i18n.language import speaking
from bot.policy import budgets
from bot.policy.budgets import limit_usd
from bot.settings import BudgetSettings
from bot.turn import chats, outgoing
from bot.turn.approvals import Approvals
from bot.turn.export import MAX_FILE_BYTES, gather_export
from store import ConversationId, Erasure, Repositories, Total
from tools import PNG, Panel, bar_chart

_CACHE_DAYS = timedelta(days=30)
_FEWEST_PARTS = 2
"""An export in so many messages is sent as a file instead."""
_FEWEST_DAYS = 2
"""With money spent on one day only, the sentence says as much as a picture."""
_MAX_BYTES_IN_WORDS = 100_000
"""Of its file: one that is larger fits no message, and is not tried."""


class ConversationCommands(CommandGroup):
    """What everybody may tell Aldis to do."""

    def __init__(
        self, context: CommandContext, approvals: Approvals, *, timezone: str, limits: BudgetSettings, name: str
    ) -> None:
        """`limits` are told by `/usage`; `name` is what Aldis is called."""
        self._context = context
        self._approvals = approvals
        self._timezone = timezone
        self._limits = limits
        self._name = name

    @command("/stop", phrases.ABOUT_STOP)
    async def _stop(self, call: Call) -> None:
        """Stops the answer under way, or what waits for a yes."""
        if call.running.stop(call.conversation):
            # The turn itself says that it was stopped.
            await self._context.settle(call)
        else:
            await self._context.answer(call, lambda repos: self._put_aside(repos, call))

    def _put_aside(self, repos: Repositories, call: Call) -> str:
        """What only waits for a word is not going to happen."""
        count = self._approvals.end_all(repos, call.conversation, call.message)
        return say(common_phrases.STOPPED) if count else say(phrases.NOTHING_TO_STOP)

    @command(
        "/forget [everything]",
        phrases.ABOUT_FORGET,
        section="data",
        examples=("/forget", "/forget everything"),
        exact_only=True,
    )
    async def _forget(self, call: Call) -> None:
        """Destroys what was said and set in this conversation, with the key that sealed it. With `everything` the
        direct conversation goes in that way, and everywhere else what this person asked and was told.
        """
        if call.command.rest.lower() not in {"", "everything"}:
            raise WrongForm
        is_everything = bool(call.command.rest)
        # What was set in the conversation goes with it.
        language = await self._context.language(call)

        def then(repos: Repositories, conversation: ConversationId, erased: Erasure) -> None:
            outgoing.clear_all(repos, conversation, message.chat, self._context.clock.now())
            if is_everything:
                chats.forget_person(repos, message.author, self._context.clock.now())
            reply = phrases.forgot_everything if is_everything else phrases.turns_forgotten
            with speaking(language):
                self._context.say(repos, call, conversation, reply(erased.turns))

        store, message, item = self._context.store, call.message, call.urgent_item.item.id
        call.running.halt(call.conversation)
        if is_everything:
            direct = ChatId.direct(message.author) if call.is_in_group else message.chat
            await store.forget_person(
                message.author, direct_address=direct, before=item, now=self._context.clock.now(), then=then
            )
        else:
            await store.forget(message.chat, before=item, now=self._context.clock.now(), then=then)
        self._context.turns.forget()

    @command("/export", phrases.ABOUT_EXPORT, section="data")
    async def _export(self, call: Call) -> None:
        """Shows what is kept about the person; where it is long or has pictures, as a page to read (with the pictures)
        and as JSON. In a group it is only what they asked there.
        """
        author, now = call.message.author, self._context.clock.now()
        # In a group nobody is shown more than what the group has seen.
        direct = None if call.is_in_group else call.message.chat

        found = await gather_export(
            self._context.store, author, direct, now=now, conversation=call.conversation, max_bytes=MAX_FILE_BYTES
        )
        file, shown = await asyncio.to_thread(found.as_file, in_group=call.is_in_group)
        with speaking(await self._context.language(call)):
            page = await asyncio.to_thread(found.as_page, self._name, in_group=call.is_in_group)

        def reply(_: Repositories) -> CommandReply:
            if len(file.data) < _MAX_BYTES_IN_WORDS and not (found.has_pictures and not call.is_in_group):
                words = found.words()
                if len(parts(words, max_parts=_FEWEST_PARTS)) < _FEWEST_PARTS:
                    return CommandReply(text=words)
            return CommandReply(text=phrases.kept_in_file(found.count, shown), files=(page, file))

        await self._context.answer(call, reply)

    @command("/usage", phrases.ABOUT_USAGE, section="data")
    async def _usage(self, call: Call) -> None:
        """Tells what was spent for the person and for the group, today and this month, what the limits are and what is
        left of them, with a chart of the days; admins see everybody's sum.
        """
        periods = budgets.periods(self._context.clock.settled_now(), self._timezone)
        chart = await self._chart(call, periods.month)

        def reply(repos: Repositories) -> CommandReply:
            totals = _shown_totals(repos, call, periods)
            unknown = sum(total.spending.unknown_costs for total in totals if total.period == periods.month)
            lines = [self._spent(total, is_day=total.period == periods.day) for total in totals]
            share = repos.ledger.cached_share(call.conversation, since=self._context.clock.now() - _CACHE_DAYS)
            lines += [phrases.from_cache(share)] if share else []
            return CommandReply(
                text="\n".join([*lines, say(phrases.UNPRICED, calls=unknown)] if unknown else lines), files=chart
            )

        await self._context.answer(call, reply)

    def _spent(self, total: Total, *, is_day: bool) -> str:
        limit = limit_usd(self._limits, total.scope, "day" if is_day else "month")
        return phrases.spent_line(total.scope, total.spending.cost_usd, limit, is_day=is_day)

    async def _chart(self, call: Call, month: str) -> tuple[File, ...]:
        """What was spent on each day of the month, as a picture; drawn beside the loop, for it takes a while."""
        days = budgets.days(month)
        totals = await self._context.store.read(lambda repos: _shown_totals(repos, call, days))
        with speaking(await self._context.language(call)):
            return await asyncio.to_thread(spending_chart, totals, days)


def _shown_totals(repos: Repositories, call: Call, periods: Sequence[str]) -> list[Total]:
    """What was spent in these periods, as far as the person may know, within a transaction."""
    group = call.message.chat if call.is_in_group else None
    totals = repos.ledger.totals(call.message.author, group, periods)
    return [total for total in totals if call.is_admin or total.scope != "all"]


def spending_chart(totals: Iterable[Total], days: Sequence[str]) -> tuple[File, ...]:
    """The sums of these days (all of one month, `2026-11-01` and so on), with bars for each scope that spent anything.

    Empty where there is too little to show, or the machine cannot draw.
    """
    spent: dict[str, dict[str, float]] = {}
    for total in totals:
        if total.spending.cost_usd:
            spent.setdefault(total.scope, {})[total.period] = float(total.spending.cost_usd)
    if len({day for sums in spent.values() for day in sums}) < _FEWEST_DAYS:
        return ()
    panels = [
        Panel(name=say(phrases.SPENDERS[scope]), values=[sums.get(day, 0.0) for day in days])
        for scope, sums in spent.items()
    ]
    month = days[0].rpartition("-")[0]
    labels = {place: str(place + 1) for place in range(len(days))}
    picture = bar_chart(say(phrases.SPENT_BY_DAY, month=month), labels, panels)
    return (File(name=f"spent-{month}.png", content_type=PNG, data=picture),) if picture else ()
