"""The commands about the conversation itself: stopping and forgetting."""

from collections.abc import Callable
from datetime import datetime

from bot.commands import phrases
from bot.commands.base import Call, CommandContext, CommandGroup, DoneBefore, WrongForm, command
from bot.events import ChatId, PersonId
from bot.i18n import phrases as common_phrases
from bot.i18n.catalogues import say
from bot.i18n.language import use_language
from bot.policy.chat_settings import ChatSettings
from bot.turn import chats, outgoing
from bot.turn.approvals import Approvals
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
        "/forget [everything]",
        phrases.ABOUT_FORGET,
        section="data",
        examples=("/forget", "/forget everything"),
        exact_only=True,
    )
    async def _forget(self, call: Call) -> None:
        """Destroys what was said, set, planned and remembered in this conversation, with the key that sealed it, and
        says how much that was. With `everything` the direct conversation is destroyed in the same way, and everywhere
        else what this person asked, was told and has planned. What an admin has set about who is answered, and when,
        stays.
        """
        if call.command.rest.lower() not in {"", "everything"}:
            raise WrongForm
        message = call.message
        if not call.command.rest:
            await forget(self._context, call, message.chat, phrases.forgot_here)
            return
        address = ChatId.direct(message.author) if call.is_in_group else message.chat
        await forget(self._context, call, address, phrases.forgot_everything, person=message.author)


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
        for conversation, turn in repos.forgetting.open_turns(address, person):
            context.turns.charges.add_open(repos, conversation, turn)
            ended.append(turn)

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
