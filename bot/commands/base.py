"""The table of commands: what each is called, the form it wants, who may give it, and what it does.

    /name rest --> known? --> may they, and here? --> right form? --> done, answered and settled in one transaction
                 '-- nearly --> the one that is meant; several, or one that cannot be taken back: "Did you mean ...?"

Left to others: what the commands do (the modules beside this one), what is a command at all (`bot.policy.routing`),
what is nearly a name (`bot.commands.names`).
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from types import MethodType
from typing import Any, Literal, Protocol, get_args

from bot.clock import Clock
from bot.commands import names, phrases
from bot.events import File, Incoming, PersonId, SentId
from bot.i18n.catalogues import Sentence, say
from bot.i18n.detect import detect_language
from bot.i18n.language import Language, speaking
from bot.policy.chat_settings import ChatSettings
from bot.policy.routing import Command
from bot.turn import chats
from bot.turn.turns import Turns
from store import ConversationId, Repositories, Store, TurnId, UrgentItem


class RunningTurns(Protocol):
    """The turns under way."""

    def stop(self, conversation: ConversationId) -> bool:
        """Stop the conversation's turn, which then says so; gives whether there was one."""
        ...

    def stop_turn(self, turn: TurnId) -> bool:
        """Stop this turn, which then says so; gives whether it runs."""
        ...

    def halt(self, conversation: ConversationId, *, is_forgotten: bool = False) -> None:
        """Stop the conversation's turn without a word, if there is one; `is_forgotten`: its journal is about to go."""
        ...

    def halt_turn(self, turn: TurnId) -> None:
        """Stop this turn without a word, if it runs."""
        ...


Section = Literal["chat", "later", "settings", "data", "admins"]
"""The parts of the help, in their order."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """A command as somebody gave it."""

    urgent_item: UrgentItem
    command: Command
    is_admin: bool
    running: RunningTurns
    may_configure_group: bool = False
    """Whether they may say how a group is to be: an admin, or anybody where no admin is named in the settings."""

    @property
    def message(self) -> Incoming:
        """The message that it stood in."""
        return self.command.message

    @property
    def conversation(self) -> ConversationId:
        """Where it was given."""
        return self.urgent_item.conversation

    @property
    def is_in_group(self) -> bool:
        """Whether others read it and its answer."""
        return self.message.chat.is_group


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandReply:
    """What a command is answered with."""

    text: str | Sentence
    files: tuple[File, ...] = ()


class WrongForm(ValueError):
    """The rest of a command is not as it has to be: the person is shown the right form."""


class WrongWords(WrongForm):
    """Likewise, and examples, where the form alone says too little."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandEntry:
    """One line of the table. The docstring of `run` says in docs/commands.md what happens; `make pages` writes it."""

    form: str
    """The command with what may follow it: `/forget [everything]`."""
    summary: Sentence
    """What it does, in one sentence for the help."""
    run: Callable[..., Awaitable[None]]
    """Do it, answer it and settle it. Raises `WrongForm`."""
    section: Section
    """Where it stands in the help."""
    for_admins: bool
    configures_group: bool
    """For admins, and for everybody where no admin is named in the settings: or nobody could ever do it."""
    directly_only: bool
    """Whether the answer tells of other conversations, so that no group may read it."""
    groups_only: bool
    """Whether it sets what there is in groups alone."""
    exact_only: bool
    """Whether it is carried out only where its name is written right, for it cannot be taken back."""
    examples: tuple[str, ...]
    """How it can be written, for the help on it; with the places in capitals, the same in every language."""

    @property
    def name(self) -> str:
        """What it is called, without the slash."""
        return self.form.split()[0].removeprefix("/")

    def may_be_given(self, call: Call) -> bool:
        """Whether the caller may give this command."""
        return call.is_admin or not (self.for_admins or (self.configures_group and not call.may_configure_group))

    def belongs(self, call: Call) -> bool:
        """Whether it is for the kind of chat that it was given in."""
        return not (self.directly_only if call.is_in_group else self.groups_only)


def command(
    form: str,
    summary: Sentence,
    *,
    section: Section = "chat",
    for_admins: bool = False,
    configures_group: bool = False,
    directly_only: bool = False,
    groups_only: bool = False,
    exact_only: bool = False,
    examples: tuple[str, ...] = (),
) -> Callable[[Callable[[Any, Call], Awaitable[None]]], CommandEntry]:
    """Makes the method below it a command of its group; `CommandEntry` says what each of these means."""
    return lambda run: CommandEntry(
        form=form,
        summary=summary,
        run=run,
        section=section,
        for_admins=for_admins,
        configures_group=configures_group,
        directly_only=directly_only,
        groups_only=groups_only,
        exact_only=exact_only,
        examples=examples,
    )


class CommandGroup:
    """Commands that work with the same things: the methods of a class that `command` stands above."""

    @property
    def entries(self) -> tuple[CommandEntry, ...]:
        """Their lines in the table, in the order of the methods."""
        own = (entry for entry in vars(type(self)).values() if isinstance(entry, CommandEntry))
        return tuple(replace(entry, run=MethodType(entry.run, self)) for entry in own)

    def take_back(self, author: PersonId, sent_at: SentId) -> None:
        """A message was deleted or edited: what is in memory of a command in it goes; by default there is nothing."""


class CommandContext:
    """What commands work with: the store, the clock, and the way to answer."""

    def __init__(self, store: Store, turns: Turns, clock: Clock) -> None:
        self.store = store
        self.turns = turns
        self.clock = clock

    async def answer(self, call: Call, work: Callable[[Repositories], str | Sentence | CommandReply]) -> None:
        """Do `work`, say what it gives, and settle the command: all of it or nothing.

        `work` speaks the language of the conversation.
        """

        def answered(repos: Repositories) -> None:
            with speaking(self._language(repos, call)):
                self.say(repos, call, call.conversation, work(repos))

        await self.store.transaction(answered)

    async def reply(self, call: Call, sentence: Sentence, **values: object) -> None:
        """Say this sentence, and settle the command."""
        await self.answer(call, lambda _: say(sentence, **values))

    async def set(self, call: Call, reply: Callable[[], str | Sentence], **values: object) -> None:
        """Set these fields of the conversation's settings, and say what `reply` gives once they are set."""

        def work(repos: Repositories) -> str | Sentence:
            self.change(repos, call, lambda before: replace(before, **values))
            if "language" not in values:
                return reply()
            with speaking(self.turns.language(repos, call.conversation)):
                return reply()

        await self.answer(call, work)

    def change(self, repos: Repositories, call: Call, changed: Callable[[ChatSettings], ChatSettings]) -> ChatSettings:
        """Change the conversation's settings within a transaction; gives what is set now."""
        return chats.change(repos, call.conversation, self.clock.now(), changed)

    def settings(self, repos: Repositories, call: Call) -> ChatSettings:
        """What is set for the conversation, within a transaction."""
        return chats.settings_of(repos, call.conversation, self.clock.now())

    async def language(self, call: Call) -> Language:
        """What Aldis speaks where the command was given."""
        return await self.store.read(lambda repos: self._language(repos, call))

    def _language(self, repos: Repositories, call: Call) -> Language:
        """The language of the conversation; where none is known, the one in which the command is written."""
        if chats.is_language_known(self.settings(repos, call)):
            return self.turns.language(repos, call.conversation)
        name, rest = call.command.name, call.command.rest
        # Its own name is said in every language.
        written = rest if names.command_for(name) is None else f"{name} {rest}"
        return detect_language(written) or self.turns.language(repos, call.conversation)

    async def settle(self, call: Call) -> None:
        """The command needs no answer."""
        await self.store.transaction(lambda repos: repos.inbox.settle(call.urgent_item.item.id))

    def say(
        self, repos: Repositories, call: Call, conversation: ConversationId, reply: str | Sentence | CommandReply
    ) -> None:
        """Answer and settle the command within a transaction; `conversation` is where that is by now.

        An answer that is not sent before the command disappears or is deleted goes with it, for it may repeat what was
        said there.
        """
        whole = reply if isinstance(reply, CommandReply) else CommandReply(text=reply)
        expires_at = call.urgent_item.item.expires_at
        turn = self.turns.tell(repos, conversation, call.message, whole.text, files=whole.files, expires_at=expires_at)
        repos.inbox.settle(call.urgent_item.item.id, turn=turn)


class Commands(CommandGroup):
    """All commands that there are: those given, and the help on them."""

    def __init__(self, context: CommandContext, groups: Sequence[CommandGroup]) -> None:
        self._context = context
        self._groups = groups
        self._entries = {entry.name: entry for group in (self, *groups) for entry in group.entries}

    async def run(self, call: Call) -> bool:
        """Carry a command out and answer it; gives whether it was: one that nobody meant for Aldis is passed over.

        Raises:
            StoreError: nothing was done; try again.
        """
        found = self._found(call, call.command.name, is_addressed=call.command.is_addressed)
        if isinstance(found, CommandEntry):
            await self._carry_out(found, call)
        elif call.command.is_addressed:
            await self._context.answer(call, lambda _: phrases.unknown_command(call.command.name, found))
        else:
            await self._context.settle(call)
        return call.command.is_addressed or isinstance(found, CommandEntry)

    def take_back(self, author: PersonId, sent_at: SentId) -> None:
        """As of a group, for all of them."""
        for group in self._groups:
            group.take_back(author, sent_at)

    def _found(self, call: Call, word: str, *, is_addressed: bool) -> CommandEntry | tuple[str, ...]:
        """The command that is meant; where that is not sure, those that may be.

        An admin's command looks to everybody else like one that does not exist. In a group other bots have commands,
        too: one that is not addressed to Aldis has to be written right, in whatever language.
        """
        given = {entry.name: entry for entry in self._entries.values() if entry.may_be_given(call)}
        if word in self._entries:
            return given.get(word, ())  # who writes a name right means no other one
        near = (names.command_for(word) or word,)
        if near[0] not in given:
            near = names.similar(word, given.keys()) if is_addressed else ()
        if len(near) == 1 and not given[near[0]].exact_only:
            return given[near[0]]
        return near

    async def _carry_out(self, entry: CommandEntry, call: Call) -> None:
        if not entry.belongs(call):
            await self._context.reply(call, phrases.ONLY_DIRECTLY if entry.directly_only else phrases.ONLY_IN_GROUPS)
            return
        try:
            await entry.run(call)
        except WrongForm as error:
            examples = entry.examples if isinstance(error, WrongWords) else ()
            await self._context.answer(
                call, lambda _: _with_examples(say(phrases.WRONG_FORM, form=entry.form), examples)
            )

    @command("/help [NAME]", phrases.ABOUT_HELP, examples=("/help", "/help remind"))
    async def _help(self, call: Call) -> None:
        """Shows the commands that this person may give here, by what they are about, or explains one of them."""
        word = call.command.rest.lower().strip("/? ")
        if not word:
            await self._context.answer(call, lambda _: self._overview(call))
            return
        found = self._found(call, word, is_addressed=True)
        # What may be meant is only explained, which harms nobody.
        entry = found if isinstance(found, CommandEntry) else self._entries[found[0]] if len(found) == 1 else None
        others = found if isinstance(found, tuple) else ()
        await self._context.answer(
            call, lambda _: phrases.unknown_command(word, others) if entry is None else _explained(entry)
        )

    def _overview(self, call: Call) -> str:
        entries = [entry for entry in self._entries.values() if entry.may_be_given(call) and entry.belongs(call)]
        sections = (
            (section, [f"/{entry.name}" for entry in entries if entry.section == section])
            for section in get_args(Section)
        )
        lines = (phrases.help_section(section, own) for section, own in sections if own)
        return "\n".join([say(phrases.HELP), "", *lines])


def _explained(entry: CommandEntry) -> str:
    """What a command does, and how it can be written."""
    return _with_examples(f"`{entry.form}`: {say(entry.summary)}", entry.examples)


def _with_examples(words: str, examples: Sequence[str]) -> str:
    lines = [f"- `{example}`" for example in examples]
    return "\n".join([words, *(["", *lines] if lines else [])])
