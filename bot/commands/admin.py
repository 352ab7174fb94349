"""The commands for admins: who can write besides the people on the operator's list, which groups there are, and what
was spent.
"""

from collections.abc import Awaitable, Callable

from bot.access.pairing import Pairing
from bot.chat.intents import plain_name
from bot.commands import phrases
from bot.commands.base import Call, CommandContext, CommandGroup, WrongForm, command
from bot.commands.broadcast import Audience, KnownGroup
from bot.commands.conversation import forget
from bot.events import ChatId, PersonId
from bot.i18n.catalogues import say
from bot.money import ledger
from bot.money.budgets import limit_usd
from bot.settings import BudgetSettings
from store import Repositories, Scope


class AdminCommands(CommandGroup):
    """The commands that only admins can give. `account` is the number of Aldis's own account."""

    def __init__(
        self,
        context: CommandContext,
        pairing: Pairing,
        audience: Audience,
        limits: BudgetSettings,
        *,
        account: str,
        timezone: str,
        on_allowed: Callable[[PersonId], Awaitable[None]],
    ) -> None:
        """`on_allowed` is called with each person whom an admin has let in."""
        self._context = context
        self._on_allowed = on_allowed
        self._pairing = pairing
        self._audience = audience
        self._limits = limits
        self._account = account
        self._timezone = timezone

    @command("/allow CODE", phrases.ABOUT_ALLOW, for_admins=True, section="admins", exact_only=True)
    async def _allow(self, call: Call) -> None:
        """Lets in the stranger who was given this code."""
        code = call.command.rest
        if not code:
            raise WrongForm
        person = self._pairing.approve(code, self._context.clock.now())

        def allow(repos: Repositories) -> str:
            if person is None:
                return say(phrases.UNKNOWN_CODE)
            by, now = call.message.author, self._context.clock.wall()
            repos.people.allow(person, account=self._account, by=by, now=now)
            return say(phrases.LET_IN, label=repos.people.label(person, account=self._account))

        await self._context.answer(call, allow)
        if person is not None:
            await self._on_allowed(person)

    @command("/deny LABEL", phrases.ABOUT_DENY, for_admins=True, section="admins", exact_only=True)
    async def _deny(self, call: Call) -> None:
        """Shuts out somebody who was let in."""
        label = call.command.rest
        if not label:
            raise WrongForm

        def deny(repos: Repositories) -> str:
            is_done = repos.people.deny(label, account=self._account)
            return say(phrases.SHUT_OUT, label=label) if is_done else say(phrases.UNKNOWN_PERSON)

        await self._context.answer(call, deny)

    @command("/people", phrases.ABOUT_PEOPLE, for_admins=True, section="admins")
    async def _people(self, call: Call) -> None:
        """Shows who was let in."""

        def reply(repos: Repositories) -> str:
            lines = [phrases.guest(found.label, found.at, found.by) for found in repos.people.approvals()]
            return "\n".join(lines) or say(phrases.NOBODY_LET_IN)

        await self._context.answer(call, reply)

    @command("/groups [forget ID]", phrases.ABOUT_GROUPS, for_admins=True, directly_only=True, section="admins")
    async def _groups(self, call: Call) -> None:
        """Shows the groups that Aldis is in or invited to, with their ids for `ACCESS__GROUPS`, and those that it is in
        no more if anything that was said there is left. With `forget` and an id, that is destroyed, as `/forget all`
        there would do it.
        """
        if call.command.rest:
            await self._forget_group(call)
            return
        groups, former = await self._audience.groups(), await self._audience.former_groups()
        if groups is None or former is None:
            await self._context.reply(call, phrases.BRIDGE_SILENT)
            return

        def reply(repos: Repositories) -> str:
            left = [phrases.former_group(group) for group in former if repos.forgetting.has_words(ChatId.group(group))]
            return "\n".join([*map(_group_line, groups), *left]) or say(phrases.NO_GROUPS)

        await self._context.answer(call, reply)

    async def _forget_group(self, call: Call) -> None:
        verb, _, group = call.command.rest.partition(" ")
        if verb.lower() != "forget" or not group:
            raise WrongForm
        address = ChatId.group(group.strip().strip("`"))
        if await self._context.store.read(lambda repos: repos.conversations.at(address)) is None:
            await self._context.reply(call, phrases.UNKNOWN_GROUP)
            return
        await forget(self._context, call, address, phrases.forgot_group)

    @command("/budget [LABEL]", phrases.ABOUT_BUDGET, for_admins=True, directly_only=True, section="admins")
    async def _budget(self, call: Call) -> None:
        """Shows the budgets and what was spent: without a label for everybody, with one for that person."""
        label = call.command.rest.lower()
        if not label:
            await self._context.answer(call, self._everybody)
            return
        contacts = await self._audience.contacts()
        if contacts is None:
            await self._context.reply(call, phrases.BRIDGE_SILENT)
            return

        def reply(repos: Repositories) -> str:
            person = self._audience.person(repos, contacts, label)
            if person is None:
                return say(phrases.UNKNOWN_LABEL)
            return "\n".join(self._lines(repos, person, "person", label))

        await self._context.answer(call, reply)

    def _everybody(self, repos: Repositories) -> str:
        limits = self._limits
        each = (limits.person_day_usd, limits.person_month_usd, limits.group_day_usd, limits.group_month_usd)
        return "\n".join([*self._lines(repos, None, "all", None), phrases.budget_each(each)])

    def _lines(self, repos: Repositories, person: PersonId | None, scope: Scope, label: str | None) -> list[str]:
        """The lines for a scope: what was spent today and this month, and the limits."""
        periods = ledger.periods(self._context.clock.settled_now(), self._timezone)
        totals = [total for total in repos.ledger.totals(person, None, periods) if total.scope == scope]
        lines: list[str] = []
        for total in totals:
            is_day = total.period == periods.day
            limit = limit_usd(self._limits, scope, "day" if is_day else "month")
            amount = phrases.budget_amount(total.spending.cost_usd, limit)
            lines.append(phrases.budget_line(label, is_day=is_day, amount=amount))
        return lines


def _group_line(group: KnownGroup) -> str:
    """A group with its id and whether people can write there; for one that Aldis is not in yet, what it would take."""
    # Anybody can invite the account to a group, by whatever name.
    line = f"- {'✓' if group.may_write else '✗'} {plain_name(group.name)}: `{group.id}`"
    return f"{line} {say(phrases.GROUP_INVITATION)}" if group.is_invitation else line
