"""The commands about questions: starting over, asking again, taking back, and the text of a voice note.

They act on the caller's own last question: in a group nobody can repeat or take back what others have asked.

    /retry --answered, or failed--> asked again; if newest, its answer replaces the old one, else it is a new message
    /undo  --answered-------------> its turn is deleted, and its answer in the chat
           '-being answered-------> stopped silently, its turn is deleted
    /new   -----------------------> nothing that began earlier is read again
"""

from collections.abc import Collection
from dataclasses import replace

from bot import messages
from bot.chat import outgoing, prompt
from bot.chat import phrases as turn_phrases
from bot.chat.approvals import Approvals
from bot.chat.journal import Asked, dump_step
from bot.commands import phrases
from bot.commands.base import Call, CommandContext, CommandGroup, command
from bot.i18n import phrases as common_phrases
from bot.i18n.catalogues import say
from bot.i18n.language import use_language
from bot.messages import UserMessage
from bot.trust.links import inert
from store import LastQuestion, Repositories, TurnId
from tools import shorten

_SHOWN_CHARACTERS = 120
_LOOKED_BACK = 20
"""How many turns back a voice note is searched."""


class QuestionCommands(CommandGroup):
    """Commands about the caller's own questions, for everybody."""

    def __init__(self, context: CommandContext, approvals: Approvals) -> None:
        self._context = context
        self._approvals = approvals

    @command("/new", phrases.ABOUT_NEW)
    async def _new(self, call: Call) -> None:
        """Starts a new conversation: what was said before is not read again. It is kept until it is deleted."""

        def begin(repos: Repositories) -> str:
            self._context.once(repos, call)
            self._approvals.end_all(repos, call.conversation)
            newest = repos.turns.newest(call.conversation)
            self._context.change(repos, call, lambda settings: replace(settings, starts_after=newest))
            return say(phrases.BEGUN_ANEW)

        await self._context.answer(call, begin)

    @command("/retry", phrases.ABOUT_RETRY)
    async def _retry(self, call: Call) -> None:
        """Answers the person's last question again, even one that failed; the newest answer is edited."""

        def retry(repos: Repositories) -> tuple[TurnId, ...]:
            refusal = self._refusal(repos, call)
            if isinstance(refusal, str):
                self._context.say(repos, call, call.conversation, refusal)
                return ()
            return self._asked_again(repos, call, *refusal)

        self._end(call, await self._context.store.transaction(retry))

    def _refusal(self, repos: Repositories, call: Call) -> str | tuple[LastQuestion, UserMessage]:
        """The reason why nothing is asked again; or the question that is."""
        settings = self._context.settings(repos, call)
        if settings.is_paused:
            return say(turn_phrases.IS_PAUSED)  # and the previous answer stays
        last = self._last(repos, call)
        if last is None:
            return say(phrases.NOTHING_TO_REPEAT)
        if last.state == "running":
            return say(phrases.STILL_ANSWERING)
        question = _question(repos, call, last.turn)
        if question is None:
            return say(phrases.NOTHING_TO_REPEAT)
        return last, question

    def _asked_again(
        self, repos: Repositories, call: Call, last: LastQuestion, question: UserMessage
    ) -> tuple[TurnId, ...]:
        """Turns the command into the question; returns the turns to stop."""
        self._context.once(repos, call)
        item = call.urgent_item.item.id
        expires_at = min((at for at in (last.expires_at, call.urgent_item.item.expires_at) if at), default=None)
        replaces = last.turn if repos.turns.is_newest(last.turn) else None
        repos.inbox.shorten(item, expires_at)
        again = repos.turns.begin(
            call.conversation, now=self._context.clock.now(), expires_at=expires_at, replaces=replaces
        )
        repos.revisions.move(last.turn, again)  # before its words go: what has no answer yet may be asked without this
        planned = self._forget(repos, call, last.turn)
        step = dump_step(Asked(question=question))
        repos.journal.add(call.conversation, again, 0, step)
        repos.inbox.as_question(item, again)
        return planned

    @command("/undo", phrases.ABOUT_UNDO, exact_only=True)
    async def _undo(self, call: Call) -> None:
        """Takes the person's last question and its answer back, here and in the chat."""
        self._end(call, await self._context.store.transaction(lambda repos: self._undone(repos, call)))

    def _undone(self, repos: Repositories, call: Call) -> tuple[TurnId, ...]:
        """Deletes the last question, and tells the person which it was; returns the turns to stop."""
        last = self._last(repos, call)
        if last is None:
            self._context.say(repos, call, call.conversation, phrases.NOTHING_TO_UNDO)
            return ()
        self._context.once(repos, call)
        question = _question(repos, call, last.turn)
        sent = outgoing.shown_answer(repos, last.turn)
        if last.state == "running":
            self._context.turns.end(repos, last.turn)
        planned = self._forget(repos, call, last.turn)
        outgoing.add_removals(repos, call.conversation, last.turn, call.message.chat, sent, self._context.clock.now())
        with use_language(self._context.turns.language(repos, call.conversation)):
            reply = say(common_phrases.STOPPED) if question is None else phrases.undone(_shown(question))
            self._context.say(repos, call, call.conversation, reply)
        return (last.turn, *planned)

    @command("/transcript", phrases.ABOUT_TRANSCRIPT)
    async def _transcript(self, call: Call) -> None:
        """Shows the last voice note as text."""

        def reply(repos: Repositories) -> str:
            after = self._context.settings(repos, call).starts_after
            person, group = call.message.author, call.is_in_group
            for row in reversed(repos.history.last(call.conversation, _LOOKED_BACK)):
                if row.role == "user" and row.turn > after and (not group or repos.turns.is_asker(row.turn, person)):
                    asked = messages.load_question(row.message)
                    heard = () if asked is None else prompt.transcripts(asked)
                    if heard:
                        return inert(heard[-1])  # it may be forwarded: anybody's words
            return say(phrases.NO_TRANSCRIPT)

        await self._context.answer(call, reply)

    def _last(self, repos: Repositories, call: Call) -> LastQuestion | None:
        """The caller's last question."""
        after = TurnId(self._context.settings(repos, call).starts_after)
        return repos.turns.last_asked(call.conversation, call.message.author, after=after)

    def _end(self, call: Call, turns: Collection[TurnId]) -> None:
        """Stops those of these deleted turns that are running, and has the history read again."""
        self._context.turns.forget(call.conversation)
        for turn in turns:
            call.running.halt_turn(turn)

    def _forget(self, repos: Repositories, call: Call, turn: TurnId) -> tuple[TurnId, ...]:
        """Deletes a turn with everything that it had Aldis keep and say, and its status messages; returns the turns to
        stop.
        """
        now = self._context.clock.now()
        chat = call.message.chat
        planned = self._context.turns.undo(repos, None, turn, chat=chat)
        repos.forgetting.turn(turn, now=now)
        outgoing.clear(repos, turn, chat, now)
        return planned


def _question(repos: Repositories, call: Call, turn: TurnId) -> UserMessage | None:
    """The question of a turn that has ended; None if it is no longer kept."""
    kept = repos.history.question(call.conversation, turn) or repos.turns.unanswered_question(call.conversation, turn)
    return messages.load_question(kept)


def _shown(question: UserMessage) -> str:
    """The beginning of a question in the person's own words, without the lines that Aldis adds to them."""
    return shorten(" ".join(prompt.words_of_question(question).split()), _SHOWN_CHARACTERS)
