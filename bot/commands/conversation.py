"""The commands about the conversation itself: stopping and forgetting."""

from bot.commands import phrases
from bot.commands.base import Call, CommandContext, CommandGroup, WrongForm, command
from bot.events import ChatId
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
        return say(common_phrases.STOPPED) if count else say(phrases.NOTHING_TO_STOP)

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
        is_everything = bool(call.command.rest)
        # What was set in the conversation is destroyed with it.
        language = await self._context.language(call)

        rules = ChatSettings()

        def then(repos: Repositories, conversation: ConversationId, erased: Erasure) -> None:
            if (place := repos.conversations.at(address)) is not None:
                chats.change(repos, place, now, lambda _: rules)
            outgoing.clear_all(repos, conversation, message.chat, self._context.clock.now())
            if is_everything:
                chats.forget_person(repos, message.author, self._context.clock.now())
            reply = phrases.forgot_everything if is_everything else phrases.forgot_here
            with use_language(language):
                self._context.say(repos, call, conversation, reply(erased))

        store, message, item = self._context.store, call.message, call.urgent_item.item.id
        person = message.author if is_everything else None
        address = ChatId.direct(message.author) if is_everything and call.is_in_group else message.chat
        ended: list[TurnId] = []

        def first(repos: Repositories) -> None:
            nonlocal rules
            place = repos.conversations.at(address)
            if place is not None and not call.may_configure_group:
                rules = chats.settings_of(repos, place, now).rules
            for conversation, turn in repos.forgetting.open_turns(address, person):
                self._context.turns.charges.add_open(repos, conversation, turn)
                ended.append(turn)

        call.running.halt(call.conversation, is_forgotten=True)
        now = self._context.clock.now()
        if person is None:
            await store.forget(address, before=item, now=now, then=then, first=first)
        else:
            await store.forget_person(person, direct_address=address, before=item, now=now, then=then, first=first)
        for turn in ended:
            call.running.halt_turn(turn)
        self._context.turns.forget()
