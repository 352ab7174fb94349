"""The commands about the conversation itself: stopping and forgetting."""

from collections.abc import Callable
from datetime import datetime

from bot.access.chat_settings import ChatSettings
from bot.access.yes_no import parse_word
from bot.chat import chats, outgoing
from bot.chat.approvals import Approvals
from bot.commands import phrases
from bot.commands.base import Call, CommandContext, CommandGroup, DoneBefore, WrongForm, command
from bot.events import ChatId, PersonId
from bot.i18n import phrases as common_phrases
from bot.i18n.catalogues import say
from bot.i18n.language import use_language
from store import ConversationId, Erasure, Repositories, TurnId


class ConversationCommands(CommandGroup):
    """Commands about the conversation, for everybody."""

    def __init__(self, context: CommandContext, approvals: Approvals) -> None:
        self._context = context
        self._approvals = approvals

    @command("/stop", phrases.ABOUT_STOP)
    async def _stop(self, call: Call) -> None:
        """Stops the answer under way, or what waits for a yes."""
        if call.running.stop(call.conversation):
            # The turn itself reports that it was stopped.
            await self._context.settle(call)
        else:
            await self._context.answer(call, lambda repos: self._put_aside(repos, call))

    def _put_aside(self, repos: Repositories, call: Call) -> str:
        """Cancels what only waits for a yes."""
        count = self._approvals.end_all(repos, call.conversation)
        return say(common_phrases.STOPPED) if count or call.has_stopped else say(phrases.NOTHING_TO_STOP)

    @command(
        "/forget [all|everything]",
        phrases.ABOUT_FORGET,
        section="data",
        examples=("/forget", "/forget everything"),
        exact_only=True,
    )
    async def _forget(self, call: Call) -> None:
        """Destroys what was said, set, planned and remembered in this conversation, with the key that sealed it, and
        says how much that was; in a group, what this person asked, was told and has planned there, or with `all`, for
        admins, everything of the group. With `everything` the person's direct conversation is destroyed, and everywhere
        else what is theirs. Says before what would go, and waits ten minutes for a yes of the same person. What an
        admin has set about who is answered, and when, stays.
        """
        *words, last = call.command.rest.lower().split() or [""]
        meant = parse_word(last)
        scope = " ".join(words) if meant else call.command.rest.lower()
        if scope not in {"", "all", "everything"}:
            raise WrongForm
        if scope == "all" and call.is_in_group and not call.is_admin:
            await self._context.reply(call, phrases.FORGET_ALL_ADMINS)
        elif meant is None:
            await self._context.confirm(call, lambda repos: self._preview(repos, call, scope))
        elif meant == "no":
            await self._context.reply(call, phrases.NOT_FORGOTTEN)
        elif scope == "everything":
            message = call.message
            address = ChatId.direct(message.author) if call.is_in_group else message.chat
            await forget(self._context, call, address, phrases.forgot_everything, person=message.author)
        elif call.is_in_group and scope != "all":
            await self._forget_own(call)
        else:
            await forget(self._context, call, call.message.chat, phrases.forgot_here)

    def _preview(self, repos: Repositories, call: Call, scope: str) -> str:
        """The question that says what would go."""
        author, here = call.message.author, call.conversation
        if scope == "everything":
            whole = repos.conversations.at(ChatId.direct(author)) if call.is_in_group else here
            return phrases.forget_asks("everything", repos.forgetting.preview(author, whole=whole, within=None))
        if call.is_in_group and scope != "all":
            return phrases.forget_asks("own", repos.forgetting.preview(author, whole=None, within=here))
        return phrases.forget_asks("here", repos.forgetting.preview(None, whole=here, within=None))

    async def _forget_own(self, call: Call) -> None:
        """Destroys what the person said and planned in this group."""
        if call.is_repeat:
            raise DoneBefore
        context, author, item = self._context, call.message.author, call.urgent_item.item.id
        language, now, ended = await context.language(call), context.clock.now(), list[TurnId]()

        def work(repos: Repositories) -> None:
            ended.clear()
            for conversation, turn in repos.forgetting.open_turns("", author):
                if conversation == call.conversation:
                    ended.append(turn)
            erased = repos.forgetting.counting(
                lambda: repos.forgetting.person(author, before=item, now=now, within=call.conversation)
            )
            for turn in ended:
                outgoing.clear(repos, turn, call.message.chat, now)
            context.change(repos, call, lambda settings: settings.without(author))
            context.once(repos, call)
            with use_language(language):
                context.say(repos, call, call.conversation, phrases.forgot_own(erased))

        await context.store.erase(work)
        for turn in ended:
            call.running.halt_turn(turn)
        context.turns.forget(call.conversation)


async def forget(
    context: CommandContext,
    call: Call,
    address: ChatId,
    reply: Callable[[Erasure], str],
    *,
    person: PersonId | None = None,
) -> None:
    """Destroys the conversation at this address and, with a person, what they asked and were told everywhere else; then
    answers the command and settles it.

    Raises:
        DoneBefore: the command's message has had such an effect before it was edited.
    """
    if call.is_repeat:
        raise DoneBefore
    store, chat, item, now = context.store, call.message.chat, call.urgent_item.item.id, context.clock.now()
    is_elsewhere = address.is_group and address != chat
    # What was set in the conversation is destroyed with it.
    language = await context.language(call)
    rules, ended = ChatSettings(), list[TurnId]()

    def first(repos: Repositories) -> None:
        nonlocal rules
        rules = _rules_that_stay(repos, call, address, now)
        ended.extend(turn for _, turn in repos.forgetting.open_turns(address, person))

    def then(repos: Repositories, conversation: ConversationId, erased: Erasure) -> None:
        place = repos.conversations.at(address)
        if place is not None:
            chats.change(repos, place, now, lambda _: rules)
        shown = (place, address) if is_elsewhere and place is not None else (conversation, chat)
        outgoing.clear_all(repos, *shown, context.clock.now())
        if person is not None:
            chats.forget_person(repos, person, context.clock.now())
        context.once(repos, call)
        with use_language(language):
            context.say(repos, call, conversation, reply(erased))

    place = await store.read(lambda repos: repos.conversations.at(address)) if is_elsewhere else None
    call.running.halt(place or call.conversation, is_forgotten=True)
    if person is None:
        await store.forget(address, before=item, now=now, then=then, first=first)
    else:
        await store.forget_person(person, direct_address=address, before=item, now=now, then=then, first=first)
    for turn in ended:
        call.running.halt_turn(turn)
    context.turns.forget()


def _rules_that_stay(repos: Repositories, call: Call, address: ChatId, now: datetime) -> ChatSettings:
    """The settings at this address that the caller cannot change."""
    place = repos.conversations.at(address)
    if place is None or call.may_configure_group:
        return ChatSettings()
    return chats.settings_of(repos, place, now).rules
