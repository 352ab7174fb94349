"""The commands about the conversation: stopping, starting over, asking again, taking back, forgetting.

In a group people repeat or take back only what they asked themselves.

    /retry --answered, or failed--> asked again; if newest, its answer replaces the old one, else it is a new message
    /undo  --answered-------------> its turn is deleted, and its answer in the chat
           '-being answered-------> stopped silently, its turn is deleted
    /new   -----------------------> nothing that began earlier is read again
"""

from collections.abc import Collection
from dataclasses import replace
from typing import Literal

from bot import messages
from bot.access import chat_settings
from bot.access.chat_settings import ChatSettings
from bot.access.routing import parse_word
from bot.chat import outgoing, prompt
from bot.chat import phrases as turn_phrases
from bot.chat.approvals import Approvals
from bot.chat.steps import Asked, dump_step
from bot.commands import phrases
from bot.commands.base import Answer, Call, CommandContext, CommandGroup, WrongForm, command
from bot.events import ChatId, PersonId
from bot.i18n import phrases as common_phrases
from bot.i18n.catalogues import Sentence, say
from bot.i18n.language import use_language
from bot.messages import UserMessage
from store import ConversationId, Erasure, LastQuestion, Repositories, TurnId
from tools import shorten

_SHOWN_CHARACTERS = 120


class ConversationCommands(CommandGroup):
    """Commands about the conversation, for everybody."""

    def __init__(self, context: CommandContext, approvals: Approvals) -> None:
        self._context = context
        self._approvals = approvals

    @command("/stop", phrases.ABOUT_STOP)
    async def _stop(self, call: Call) -> Answer | None:
        """Stops the answer under way, or what waits for a yes."""
        if call.running.stop(call.conversation):
            return await self._context.settle(call)  # the turn itself reports that it was stopped

        def put_aside(repos: Repositories) -> Sentence:
            is_put_aside = self._approvals.end_all(repos, call.conversation)
            return common_phrases.STOPPED if is_put_aside else phrases.NOTHING_TO_STOP

        return put_aside

    @command(
        "/forget [all|everything]",
        phrases.ABOUT_FORGET,
        section="data",
        examples=("/forget", "/forget everything"),
    )
    async def _forget(self, call: Call) -> Answer | None:
        """Destroys what was said, set, planned and remembered in this conversation, with the key that sealed it, and
        says how much that was; in a group, what this person asked, heard and has planned there, or with `all`, for
        admins, everything of the group. With `everything` the person's direct conversation is destroyed, and everywhere
        else what is theirs. Says before what would go, and waits ten minutes for a yes of the same person. What an
        admin has set about who is answered, and when, stays.
        """
        *words, last = call.command.rest.lower().split() or [""]
        meant, author = parse_word(last), call.message.author
        scope = " ".join(words if meant else [*words, last])
        if scope not in {"", "all", "everything"}:
            raise WrongForm
        if scope == "all" and call.is_in_group and not call.is_admin:
            return phrases.FORGET_ALL_ADMINS
        if meant == "no":
            return common_phrases.NOT_DONE
        what = "everything" if scope == "everything" else "own" if call.is_in_group and not scope else "here"
        if meant is None:
            return await self._ask_before(call, what)
        if what == "own":
            return await self._forget_own(call)
        person = author if what == "everything" else None
        address = ChatId.direct(author) if person and call.is_in_group else call.message.chat
        return await forget(self._context, call, address, person=person)

    async def _ask_before(self, call: Call, what: Literal["here", "own", "everything"]) -> Answer | None:
        """Says what would go and waits for a yes, if there is anything to delete."""
        author, here = call.message.author, call.conversation

        def preview(repos: Repositories) -> tuple[Erasure, bool]:
            direct = repos.conversations.at(ChatId.direct(author)) if call.is_in_group else here
            whole = {"here": here, "own": None, "everything": direct}[what]
            within, person = here if what == "own" else None, None if what == "here" else author
            is_set = what != "own" and self._context.settings(repos, call) != ChatSettings()
            return repos.forgetting.preview(person, whole=whole, within=within), is_set

        erased, is_set = await self._context.store.read(preview)
        if erased == Erasure() and not is_set:
            return phrases.NOTHING_TO_FORGET
        return await self._context.confirm(call, lambda: phrases.forget_asks(what, erased))

    async def _forget_own(self, call: Call) -> None:
        """Destroys what the person said and planned in this group."""
        context, author, here = self._context, call.message.author, call.conversation
        language, now, item = await context.language(call), context.clock.now(), call.urgent_item.id

        def work(repos: Repositories) -> list[TurnId]:
            ended = [turn for place, turn in repos.forgetting.open_turns("", author) if place == here]
            erased = repos.forgetting.preview(author, whole=None, within=here)
            repos.forgetting.person(author, before=item, now=now, within=here)
            for turn in ended:
                outgoing.clear(repos, turn, call.message.chat, now)
            context.change(repos, call, lambda settings: settings.without(author))
            with use_language(language):
                context.say(repos, call, here, phrases.forget_reply(erased))
            return ended

        self._end(call, await context.store.erase(work))

    @command("/new", phrases.ABOUT_NEW)
    async def _new(self, call: Call) -> Answer:
        """Starts a new conversation: what was said before is not read again. It is kept until it is deleted."""

        def begin(repos: Repositories) -> str:
            self._approvals.end_all(repos, call.conversation)
            newest = repos.turns.newest(call.conversation)
            self._context.change(repos, call, lambda settings: replace(settings, starts_after=newest))
            return say(phrases.BEGUN_ANEW)

        return begin

    @command("/retry", phrases.ABOUT_RETRY)
    async def _retry(self, call: Call) -> None:
        """Answers the person's last question again, even one that failed; the newest answer is edited."""

        def retry(repos: Repositories) -> tuple[TurnId, ...]:
            last, question = self._last(repos, call)
            if self._context.settings(repos, call).is_paused:
                refusal = turn_phrases.IS_PAUSED  # and the previous answer stays
            elif last is not None and last.state == "running":
                refusal = phrases.STILL_ANSWERING
            elif last is not None and question is not None:
                return self._asked_again(repos, call, last, question)
            else:
                refusal = phrases.NOTHING_TO_REPEAT
            self._context.say(repos, call, call.conversation, refusal)
            return ()

        self._end(call, await self._context.store.transaction(retry))

    def _asked_again(
        self, repos: Repositories, call: Call, last: LastQuestion, question: UserMessage
    ) -> tuple[TurnId, ...]:
        """Turns the command into the question; returns the turns to stop."""
        item = call.urgent_item
        expires_at = min((at for at in (last.expires_at, item.expires_at) if at), default=None)
        replaces = last.turn if repos.turns.is_newest(last.turn) else None
        again = repos.turns.begin(
            call.conversation, now=self._context.clock.now(), expires_at=expires_at, replaces=replaces
        )
        repos.inbox.move(last.turn, again)  # before its words go: what has no answer yet may be asked without this
        planned = self._remove(repos, call, last.turn)
        repos.journal.add(call.conversation, again, 0, dump_step(Asked(question=question)))
        repos.inbox.as_question(item.id, again, expires_at=expires_at)
        return planned

    @command("/undo", phrases.ABOUT_UNDO)
    async def _undo(self, call: Call) -> None:
        """Takes the person's last question and its answer back, here and in the chat."""

        def undo(repos: Repositories) -> tuple[TurnId, ...]:
            last, question = self._last(repos, call)
            if last is None:
                self._context.say(repos, call, call.conversation, phrases.NOTHING_TO_UNDO)
                return ()
            sent, now = outgoing.shown_answer(repos, last.turn), self._context.clock.now()
            if last.state == "running":
                self._context.turns.end(repos, last.turn)
            planned = self._remove(repos, call, last.turn)
            outgoing.add_removals(repos, call.conversation, last.turn, call.message.chat, sent, now)
            with use_language(self._context.turns.language(repos, call.conversation)):
                words = "" if question is None else " ".join(prompt.words_of_question(question).split())
                undone = say(phrases.UNDONE, question=shorten(words, _SHOWN_CHARACTERS) or "…")
                reply = common_phrases.STOPPED if question is None else undone
                self._context.say(repos, call, call.conversation, reply)
            return (last.turn, *planned)

        self._end(call, await self._context.store.transaction(undo))

    def _last(self, repos: Repositories, call: Call) -> tuple[LastQuestion | None, UserMessage | None]:
        """The caller's last question, and its words if it has ended and they are still kept."""
        here, after = call.conversation, TurnId(self._context.settings(repos, call).starts_after)
        last = repos.turns.last_asked(here, call.message.author, after=after)
        if last is None:
            return None, None
        kept = repos.history.message(here, last.turn, "first") or repos.turns.unanswered_question(here, last.turn)
        return last, messages.load_question(kept)

    def _end(self, call: Call, turns: Collection[TurnId]) -> None:
        """Stops those of these deleted turns that are running, and has the history read again."""
        self._context.turns.forget(call.conversation)
        for turn in turns:
            call.running.halt_turn(turn)

    def _remove(self, repos: Repositories, call: Call, turn: TurnId) -> tuple[TurnId, ...]:
        """Deletes a turn with everything that it had Aldis keep and say, and its status messages; returns the turns to
        stop.
        """
        now, chat = self._context.clock.now(), call.message.chat
        planned = self._context.turns.undo(repos, None, turn, chat=chat)
        repos.forgetting.turns(turn, now=now)
        outgoing.clear(repos, turn, chat, now)
        return planned


async def forget(context: CommandContext, call: Call, address: ChatId, *, person: PersonId | None = None) -> None:
    """Destroys the conversation at this address and, with a person, what is theirs elsewhere; settles the command."""
    store, chat, item, now = context.store, call.message.chat, call.urgent_item.id, context.clock.now()
    # What was set in the conversation is destroyed with it.
    language = await context.language(call)
    place = await store.read(lambda repos: repos.conversations.at(address))

    def then(repos: Repositories, conversation: ConversationId, erased: Erasure) -> None:
        there = repos.conversations.at(address)
        is_elsewhere = address.is_group and address != chat
        shown = (there, address) if is_elsewhere and there is not None else (conversation, chat)
        outgoing.clear_all(repos, *shown, now)
        if person is not None:
            chat_settings.forget_person(repos, person, now)
        with use_language(language):
            context.say(repos, call, conversation, phrases.forget_reply(erased, everywhere=person is not None))

    call.running.halt(place if address.is_group and place is not None else call.conversation)
    for turn in await store.forget(address, person=person, before=item, now=now, then=then):
        call.running.halt_turn(turn)
    context.turns.forget()
