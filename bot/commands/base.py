"""The table of commands: the name and form of each, who can give it, and what it does.

    /name rest --> known? --> allowed, and here? --> right form? --> done, answered and settled in one transaction
                 '-- no --> "Did you mean ...?"; in a group, where other bots have commands too, nothing

Left to others: what the commands do (the modules beside this one), what counts as a command (`bot.access.routing`).
"""

import unicodedata
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import datetime, timedelta
from difflib import get_close_matches
from types import MethodType
from typing import Any, Literal, Self, get_args

from bot.access import chat_settings
from bot.access.chat_settings import ChatSettings
from bot.access.routing import AS_NAMES, Command, Verdict
from bot.chat.turn_tasks import TurnTasks
from bot.chat.turns import Turns
from bot.clock import Clock
from bot.commands import phrases
from bot.events import File, Incoming, PersonId
from bot.i18n.catalogues import Sentence, say
from bot.i18n.detect import detect_language
from bot.i18n.language import Language, use_language
from bot.i18n.locale import join_list
from store import ConversationId, InboxItem, Repositories, Store, TurnId

_CONFIRMED_WITHIN = timedelta(minutes=10)
_CLOSE = 0.75
"""One letter in four can be wrong, or two swapped."""
_WORDS: Mapping[str, str] = {
    "help": "hilfe aide ayuda start commands befehle commandes comandos",
    "new": "neu nouveau nuevo reset",
    "stop": "stopp halt anhalten abbrechen arret arrete arreter para parar detener cancel",
    "retry": "nochmal wiederhole wiederholen reessayer reintentar repetir again",
    "model": "modell modele modelo",
    "persona": "rolle personnage personaje",
    "as": " ".join(AS_NAMES[1:]),
    "tools": "werkzeuge outils herramientas",
    "language": "sprache langue idioma lang",
    "translate": "ubersetze uebersetze ubersetzen uebersetzen traduis traduire traduce traducir",
    "remind": "erinnere erinner erinnern erinnerung erinnerungen reminder reminders rappelle rappel rappels "
    "rappellemoi recuerdame recordar recordatorio recordatorios",
    "watch": "watches beobachte beobachten surveille surveiller vigila vigilar",
    "timezone": "zeitzone fuseau zona tz",
    "memory": "gedachtnis gedaechtnis memoire memoria",
    "feeds": "nachrichten flux noticias news",
    "usage": "verbrauch kosten cout couts consommation consumo gastos cost costs",
    "verify": "prufen pruefen nachweis verifier verificar attestation",
    "whoami": "werbinich quisuisje quiensoy",
    "export": "exportieren exporter exportar",
    "forget": "vergiss vergessen oublie oublier olvida olvidar",
    "pause": "pausieren pausa",
    "resume": "weiter fortsetzen reprendre reanudar",
    "always": "immer toujours siempre",
    "people": "leute personnes personas",
    "groups": "gruppen groupes grupos",
}
"""Names of commands in other languages and programs, as `fold` writes them; none for what is done without a question
and cannot be undone.
"""
_NAMES: Mapping[str, str] = {word: name for name, words in _WORDS.items() for word in words.split()}

Section = Literal["chat", "later", "settings", "data", "admins"]
"""The sections of the help, in order."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """A command as a person gave it."""

    urgent_item: InboxItem
    command: Command
    is_admin: bool
    running: TurnTasks
    may_configure_group: bool = False
    """Whether the caller can configure a group: an admin, or everyone if no admin is named in the settings."""

    @property
    def message(self) -> Incoming:
        """The message that contains the command."""
        return self.command.message

    @property
    def conversation(self) -> ConversationId:
        """Where it was given."""
        return self.urgent_item.conversation

    @property
    def is_in_group(self) -> bool:
        """Whether others can read it and its answer."""
        return self.message.chat.is_group


Reply = str | Sentence
Answer = Reply | Callable[[Repositories], Reply]
"""What a command answers, or what does the work of it within a transaction and returns that."""


class WrongForm(ValueError):
    """The rest of a command has the wrong form: the person is shown the right one."""


async def _nothing(*_: object) -> None:
    """Stands in for what a command does until it decorates a method."""


@dataclass(frozen=True, slots=True)
class command:  # noqa: N801  (it decorates methods)
    """One line of the table: it makes the method below it a command of its group, and describes it in docs/commands.md
    by that method's docstring.
    """

    form: str
    """The command with what can follow it, such as `/forget [everything]`."""
    summary: Sentence
    """What it does, in one sentence for the help."""
    _: KW_ONLY
    section: Section = "chat"
    for_admins: bool = False
    configures_group: bool = False
    """Whether it is for admins, or for everybody if the settings name no admin: otherwise no one could ever use it."""
    directly_only: bool = False
    """Whether its answer is about other conversations, so that no group can be shown it."""
    groups_only: bool = False
    """Whether it sets something that only groups have."""
    examples: tuple[str | Sentence, ...] = ()
    """Examples for its help; placeholders are in capitals, the same in every language."""
    run: Callable[..., Awaitable[Answer | None]] = _nothing
    """Carries it out, and returns its answer; None if it has settled the command itself. Raises `WrongForm`."""

    def __call__(self, run: Callable[[Any, Call], Awaitable[Answer | None]]) -> Self:
        """Returns the entry with what the command does."""
        return replace(self, run=run)

    @property
    def name(self) -> str:
        """Its name, without the slash."""
        return self.form.split()[0].removeprefix("/")

    def may_be_given(self, call: Call) -> bool:
        """Whether the caller can give this command."""
        return call.is_admin or not (self.for_admins or (self.configures_group and not call.may_configure_group))

    def belongs(self, call: Call) -> bool:
        """Whether it is meant for the kind of chat that it was given in."""
        return not (self.directly_only if call.is_in_group else self.groups_only)


CommandEntry = command


Unconfirmed = dict[tuple[ConversationId, PersonId], tuple[Call, TurnId, datetime]]
"""Commands that wait for the yes of their giver: each with the turn that has asked, and the time until when."""


@dataclass
class CommandContext:
    """What commands work with: the store, the clock, and a way to answer."""

    store: Store
    turns: Turns
    clock: Clock
    unconfirmed: Unconfirmed = field(default_factory=Unconfirmed)

    async def confirm(self, call: Call, question: str) -> None:
        """Asks once whether a command should be carried out: with a yes it is given again, with `yes` at its end.

        A message that disappears before the yes takes it along.
        """
        turn = await self.answer(call, question)
        until, gone_at = self.clock.now() + _CONFIRMED_WITHIN, call.urgent_item.expires_at
        self.unconfirmed[call.conversation, call.message.author] = call, turn, min(until, gone_at or until)

    async def answer(self, call: Call, answer: Answer, *, files: tuple[File, ...] = ()) -> TurnId:
        """Does a command's work, gives its answer and settles it, all or nothing; returns the turn that speaks."""
        return await self.store.transaction(
            lambda repos: self.say(repos, call, answer(repos) if callable(answer) else answer, files=files)
        )

    def set(self, call: Call, reply: Answer, **values: object) -> Answer:
        """Returns the answer that sets these fields of the conversation's settings."""

        def work(repos: Repositories) -> Reply:
            self.change(repos, call, lambda before: replace(before, **values))
            return reply(repos) if callable(reply) else reply

        return work

    def change(self, repos: Repositories, call: Call, changed: Callable[[ChatSettings], ChatSettings]) -> None:
        """Changes the conversation's settings within a transaction."""
        chat_settings.change(repos, call.conversation, self.clock.now(), changed)

    def settings(self, repos: Repositories, call: Call) -> ChatSettings:
        """Returns the conversation's settings, within a transaction."""
        return chat_settings.settings_of(repos, call.conversation, self.clock.now())

    def language(self, repos: Repositories, call: Call) -> Language:
        """Returns the language of the conversation; if none is known, the one that the command is written in."""
        if spoken := self.settings(repos, call).spoken:
            return spoken
        name, rest = call.command.name, call.command.rest
        # A command's own name is the same in every language.
        words = f"{name} {rest}" if fold(name) in _NAMES else rest
        return detect_language(words) or self.turns.language(repos, call.conversation)

    def say(
        self,
        repos: Repositories,
        call: Call,
        reply: Reply,
        *,
        conversation: ConversationId | None = None,
        files: tuple[File, ...] = (),
    ) -> TurnId:
        """Answers and settles the command within a transaction; `conversation` is where that belongs if it has moved.

        Returns the turn that speaks. If the command disappears or is deleted before the answer is sent, the answer goes
        with it: it may repeat what the command said.
        """
        place = conversation or call.conversation
        until = call.urgent_item.expires_at
        turn = self.turns.tell(repos, place, call.message, reply, files=files, expires_at=until)
        repos.inbox.settle(call.urgent_item.id, turn=turn)
        return turn


@dataclass
class CommandGroup:
    """Commands that work with the same things: a class whose methods are decorated with `command`."""

    context: CommandContext

    @property
    def entries(self) -> tuple[CommandEntry, ...]:
        """Their lines in the table, in the order of the methods."""
        own = (entry for entry in vars(type(self)).values() if isinstance(entry, CommandEntry))
        return tuple(replace(entry, run=MethodType(entry.run, self)) for entry in own)


@dataclass
class Commands(CommandGroup):
    """All commands: those of the given groups, and the help."""

    groups: Sequence[CommandGroup]
    meaning: Callable[[Verdict], Command | None]
    """Returns the command that an admin's yes or no to a question about a stranger means; None if it is about none."""

    def __post_init__(self) -> None:
        self._entries = {entry.name: entry for group in (self, *self.groups) for entry in group.entries}

    def awaits(self, conversation: ConversationId, person: PersonId) -> bool:
        """Whether a command of this person waits there for their yes."""
        _, _, until = self.context.unconfirmed.get((conversation, person), (None, None, None))
        return until is not None and until > self.context.clock.now()

    async def take_confirmation(self, urgent_item: InboxItem, verdict: Verdict) -> Command | None:
        """The command that a yes or no means, which it ends if it waited; None if it means something else."""
        if meant := self.meaning(verdict):
            return meant
        place = urgent_item.conversation, verdict.author
        if not self.awaits(*place):
            return None
        call, turn, _ = self.context.unconfirmed[place]

        def is_meant(repos: Repositories) -> bool:
            if verdict.target is not None:
                return repos.outbox.turn_of(urgent_item.conversation, verdict.target) == turn
            since = repos.outbox.said_since(urgent_item.conversation, turn, 0, urgent_item.id)
            return since is not None and not since.turns

        is_one = await self.context.store.read(is_meant)
        if is_one or verdict.target is None:  # a word that means anything else ends it, too
            self.take_back(*place)
        if not is_one:
            return None
        message = call.message if verdict.instead is None else verdict.instead.message
        rest = f"{call.command.rest} {'yes' if verdict.is_yes else 'no'}".strip()
        return replace(call.command, rest=rest, message=message, confirms=call.urgent_item.id)

    async def run(self, call: Call) -> bool:
        """Carries out a command and answers it; returns False if it was not meant for Aldis, and was ignored.

        Raises:
            StoreError: nothing was done; try again.
        """
        found = self._found(call, call.command.name)
        if not (isinstance(found, CommandEntry) or call.command.is_addressed):
            await self.context.store.transaction(lambda repos: repos.inbox.settle(call.urgent_item.id))
            return False
        with use_language(await self.context.store.read(lambda repos: self.context.language(repos, call))):
            if not isinstance(found, CommandEntry):
                answer: Answer | None = phrases.unknown_command(call.command.name, found)
            elif not found.belongs(call):
                answer = phrases.ONLY_DIRECTLY if found.directly_only else phrases.ONLY_IN_GROUPS
            else:
                try:
                    answer = await found.run(call)
                except WrongForm:
                    right = _typed(found.examples or (found.form,))
                    answer = say(phrases.WRONG_FORM, examples=join_list(right, "or"))
            if answer is not None:
                await self.context.answer(call, answer)
        return True

    def has(self, word: str) -> bool:
        """Whether this is the exact name of a command, in any language."""
        return _NAMES.get(fold(word), word) in self._entries

    def take_back(self, conversation: ConversationId, author: PersonId) -> None:
        """Forgets what waits there for a yes of this person, who has deleted or edited a message."""
        self.context.unconfirmed.pop((conversation, author), None)

    def _found(self, call: Call, word: str) -> CommandEntry | Sequence[str]:
        """The command of this name, in any language; if there is none, the names that it resembles.

        To everybody else an admin's command looks like one that does not exist.
        """
        given = {entry.name: entry for entry in self._entries.values() if entry.may_be_given(call)}
        folded = fold(word)
        name = _NAMES.get(folded, word)
        if name in given:
            return given[name]
        return () if name in self._entries else get_close_matches(folded, given, cutoff=_CLOSE)

    @command("/help [NAME]", phrases.ABOUT_HELP, examples=("/help", "/help remind"))
    async def _help(self, call: Call) -> Answer:
        """Shows the commands that this person can give here, by topic, or explains one of them."""
        if word := call.command.rest.lower().strip("/? "):
            found = self._found(call, word)
            if not isinstance(found, CommandEntry):
                return phrases.unknown_command(word, found)
            return "\n- ".join([f"`{found.form}`: {say(found.summary)}\n", *_typed(found.examples)]).strip()
        entries = [entry for entry in self._entries.values() if entry.may_be_given(call) and entry.belongs(call)]
        lines = [say(phrases.HELP), ""]
        for section in get_args(Section):
            names = " ".join(f"`/{entry.name}`" for entry in entries if entry.section == section)
            lines += [say(phrases.HELP_SECTIONS[section], names=names)] if names else []
        return "\n".join(lines)


def _typed(examples: Sequence[str | Sentence]) -> list[str]:
    """Returns commands as they are to be typed, in the current language."""
    return [f"`{say(one) if isinstance(one, Sentence) else one}`" for one in examples]


def fold(word: str) -> str:
    """Returns the word in lower case without accents, dashes and underscores."""
    parts = unicodedata.normalize("NFKD", word.casefold().replace("-", "").replace("_", ""))
    return "".join(letter for letter in parts if not unicodedata.combining(letter))
