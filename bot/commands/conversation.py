"""The commands about a conversation: about what was said (stopping, starting over, asking again, taking back,
forgetting) and what is set there (model, tools, language; in groups also when Aldis speaks up, if at all).

In a group people repeat or take back only what they asked themselves. Everybody can set the first three, just as
everybody can write; when Aldis speaks up is for admins to decide, if there are any.

    /retry --answered, or failed--> asked again; if newest, its answer replaces the old one, else it is a new message
    /undo  --answered-------------> its turn is deleted, and its answer in the chat
           '-being answered-------> stopped silently, its turn is deleted
    /new   -----------------------> nothing that began earlier is read again
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from bot import messages
from bot.access import chat_settings
from bot.access.chat_settings import ChatSettings
from bot.access.routing import parse_word
from bot.chat import outgoing, prompt
from bot.chat import phrases as turn_phrases
from bot.chat.approvals import Approvals
from bot.chat.context import GroupContext
from bot.chat.intents import plain_name
from bot.chat.offers import gather_tools
from bot.chat.steps import Asked, dump_step
from bot.commands import phrases
from bot.commands.base import Answer, Call, CommandContext, CommandGroup, WrongForm, command, fold
from bot.events import ChatId, PersonId
from bot.i18n import phrases as common_phrases
from bot.i18n.catalogues import Sentence, say
from bot.i18n.language import LANGUAGES
from bot.i18n.locale import language_names
from bot.messages import UserMessage
from store import ConversationId, Erasure, LastQuestion, Repositories, TurnId
from tools import Tool, ToolSource, shorten

_SHOWN_CHARACTERS = 120
_MAX_SHOWN = 60
"""How many characters of an unknown name are repeated."""
_ASKERS: Mapping[str, Sentence] = {
    "all": phrases.ASKERS_ALL,
    "admins": turn_phrases.ASKERS_ADMINS,
    "list": turn_phrases.ASKERS_LIST,
}


@dataclass
class ConversationCommands(CommandGroup):
    """Commands about the conversation."""

    approvals: Approvals
    group_context: GroupContext
    models: tuple[str, ...]
    """The choices, as `provider/model`, the first of which answers unless another is chosen."""
    tools: Sequence[Tool]
    sources: Sequence[ToolSource]
    """They have further tools while Aldis runs."""

    @command("/stop", phrases.ABOUT_STOP)
    async def _stop(self, call: Call) -> Answer | None:
        """Stops the answer under way, or what waits for a yes."""
        if call.running.stop(call.running.turn_of(call.conversation)):  # the turn itself reports that it was stopped
            return await self.context.store.transaction(lambda repos: repos.inbox.settle(call.urgent_item.id))

        def put_aside(repos: Repositories) -> Sentence:
            is_put_aside = self.approvals.end_all(repos, call.conversation)
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
        self.group_context.forget_person(author)
        if what == "own":
            return await self._forget_own(call)
        if what == "here":
            self.group_context.forget(call.message.chat)
        person = author if what == "everything" else None
        address = ChatId.direct(author) if person and call.is_in_group else call.message.chat
        return await forget(self.context, call, address, person=person)

    async def _ask_before(self, call: Call, what: Literal["here", "own", "everything"]) -> Answer | None:
        """Says what would go and waits for a yes, if there is anything to delete."""
        author, here = call.message.author, call.conversation

        def preview(repos: Repositories) -> tuple[Erasure, bool]:
            direct = repos.conversations.at(ChatId.direct(author)) if call.is_in_group else here
            whole = {"here": here, "own": None, "everything": direct}[what]
            within, person = here if what == "own" else None, None if what == "here" else author
            is_set = what != "own" and self.context.settings(repos, call) != ChatSettings()
            return repos.forgetting.preview(person, whole=whole, within=within), is_set

        erased, is_set = await self.context.store.read(preview)
        if erased == Erasure() and not is_set:
            return phrases.NOTHING_TO_FORGET
        return await self.context.confirm(call, phrases.forget_asks(what, erased))

    async def _forget_own(self, call: Call) -> None:
        """Destroys what the person said and planned in this group."""
        author = call.message.author
        here = call.conversation
        now = self.context.clock.now()

        def work(repos: Repositories) -> list[TurnId]:
            ended = [turn for place, turn in repos.forgetting.open_turns("", author) if place == here]
            erased = repos.forgetting.preview(author, whole=None, within=here)
            repos.forgetting.person(author, before=call.urgent_item.id, now=now, within=here)
            for turn in ended:
                outgoing.clear(repos, turn, call.message.chat, now)
            self.context.change(repos, call, lambda settings: settings.without(author))
            self.context.say(repos, call, phrases.forget_reply(erased))
            return ended

        self._end(call, await self.context.store.erase(work))

    @command("/new", phrases.ABOUT_NEW)
    async def _new(self, call: Call) -> Answer:
        """Starts a new conversation: what was said before is not read again. It is kept until it is deleted."""

        def begin(repos: Repositories) -> str:
            self.approvals.end_all(repos, call.conversation)
            newest = repos.turns.newest(call.conversation)
            self.context.change(repos, call, lambda settings: replace(settings, starts_after=newest))
            return say(phrases.BEGUN_ANEW)

        return begin

    @command("/retry", phrases.ABOUT_RETRY)
    async def _retry(self, call: Call) -> None:
        """Answers the person's last question again, even one that failed; the newest answer is edited."""

        def retry(repos: Repositories) -> tuple[TurnId, ...]:
            last, question = self._last(repos, call)
            is_paused = self.context.settings(repos, call).is_paused
            is_running = last is not None and last.state == "running"
            if is_paused or is_running or last is None or question is None:
                refusal = phrases.STILL_ANSWERING if is_running else phrases.NOTHING_TO_REPEAT
                # In a pause the previous answer stays.
                self.context.say(repos, call, turn_phrases.IS_PAUSED if is_paused else refusal)
                return ()
            item = call.urgent_item
            now = self.context.clock.now()
            expires_at = min((at for at in (last.expires_at, item.expires_at) if at), default=None)
            replaces = last.turn if repos.turns.is_newest(last.turn) else None
            again = repos.turns.begin(call.conversation, now=now, expires_at=expires_at, replaces=replaces)
            repos.inbox.move(last.turn, again)  # before its words go: what has no answer yet may be asked without this
            planned = self._remove(repos, call, last.turn)
            repos.journal.add(call.conversation, again, 0, dump_step(Asked(question=question)))
            repos.inbox.as_question(item.id, again, expires_at=expires_at)
            return planned

        self._end(call, await self.context.store.transaction(retry))

    @command("/undo", phrases.ABOUT_UNDO)
    async def _undo(self, call: Call) -> None:
        """Takes the person's last question and its answer back, here and in the chat."""

        def undo(repos: Repositories) -> tuple[TurnId, ...]:
            last, question = self._last(repos, call)
            if last is None:
                self.context.say(repos, call, phrases.NOTHING_TO_UNDO)
                return ()
            sent, now = outgoing.shown_answer(repos, last.turn), self.context.clock.now()
            if last.state == "running":
                self.context.turns.end(repos, last.turn)
            planned = self._remove(repos, call, last.turn)
            outgoing.add_removals(repos, call.conversation, last.turn, call.message.chat, sent, now)
            words = "" if question is None else " ".join(prompt.words_of_question(question).split())
            undone = say(phrases.UNDONE, question=shorten(words, _SHOWN_CHARACTERS) or "…")
            self.context.say(repos, call, common_phrases.STOPPED if question is None else undone)
            return (last.turn, *planned)

        self._end(call, await self.context.store.transaction(undo))

    def _last(self, repos: Repositories, call: Call) -> tuple[LastQuestion | None, UserMessage | None]:
        """The caller's last question, and its words if it has ended and they are still kept."""
        here, after = call.conversation, TurnId(self.context.settings(repos, call).starts_after)
        last = repos.turns.last_asked(here, call.message.author, after=after)
        if last is None:
            return None, None
        kept = repos.history.message(last.turn, "first") or repos.turns.unanswered_question(last.turn)
        return last, messages.load_question(kept)

    def _end(self, call: Call, turns: Collection[TurnId]) -> None:
        """Stops those of these deleted turns that are running, and has the history read again."""
        self.context.turns.forget(call.conversation)
        call.running.halt(turns)

    def _remove(self, repos: Repositories, call: Call, turn: TurnId) -> tuple[TurnId, ...]:
        """Deletes a turn with everything that it had Aldis keep and say; returns the turns to stop."""
        now, chat = self.context.clock.now(), call.message.chat
        planned = self.context.turns.undo(repos, None, turn, chat=chat)
        repos.forgetting.turns(turn, now=now)
        outgoing.clear(repos, turn, chat, now)
        return planned

    @command(
        "/model [NAME|NUMBER|default]",
        phrases.ABOUT_MODEL,
        section="settings",
        examples=("/model", "/model 2", "/model default"),
    )
    async def _model(self, call: Call) -> Answer:
        """Chooses one of the models of `LLM__CHOICES` for this chat, by its name, part of it or its number; without an
        argument shows them; `default` returns to the first. A persona's own model comes first.
        """
        wanted, models = fold(call.command.rest), self.models
        if len(models) < 2:  # noqa: PLR2004  (one is no choice)
            return phrases.NO_MODEL_CHOICE

        def answering(repos: Repositories) -> str:
            chosen = self.context.settings(repos, call).for_turn("", self.context.turns.personas).model
            return say(phrases.MODEL_NOW, model=_model_name(chosen if chosen in models else models[0]))

        def shown(repos: Repositories) -> str:
            listed = "\n".join(f"{place}. {_model_name(model)}" for place, model in enumerate(models, 1))
            return f"{answering(repos)} {say(phrases.MODEL_OTHERS, models=listed)}"

        if not wanted:
            return shown
        numbered = enumerate(models, 1)
        found = [
            model for place, model in numbered if wanted in {f"{place}", fold(model), fold(model.partition("/")[2])}
        ]
        if wanted == "default":
            found = [models[0]]
        elif not found and not wanted.isdigit():
            found = [model for model in models if wanted in fold(model)]
        if not found:
            return say(phrases.NO_SUCH_MODEL_HERE, name=call.command.rest[:_MAX_SHOWN])
        if len(found) > 1:
            return phrases.which(call.command.rest, found)
        return self.context.set(call, answering, model=None if wanted == "default" else found[0])

    @command(
        "/tools [on|off|revoke NAME]",
        phrases.ABOUT_TOOLS,
        section="settings",
        examples=("/tools", "/tools off NAME", "/tools on NAME", "/tools revoke NAME"),
    )
    async def _tools(self, call: Call) -> Answer:
        """Switches a tool for this chat, or all tools whose names begin like this; without an argument lists them.
        `revoke` takes back a permanent permission.
        """
        verb, _, rest = call.command.rest.lower().partition(" ")
        tools = await gather_tools(self.tools, self.sources)
        absent = [name for source in self.sources for name in source.absent]
        unable = [name for source in self.sources for name in source.unable]
        if not (tools or absent or unable):
            return phrases.NO_TOOLS
        if verb and (not rest.strip() or verb not in {"on", "off", "revoke"}):
            raise WrongForm

        def listed(repos: Repositories) -> str:
            settings = self.context.settings(repos, call)
            lines = [
                say(phrases.LIST_ON if any(map(settings.allows_tool, those)) else phrases.LIST_OFF, name=name)
                for name, those in _by_name(tools).items()
            ]
            lines += [say(phrases.LIST_ABSENT, name=name) for name in absent]
            lines += [say(phrases.LIST_UNABLE, name=name) for name in _by_name(unable)]
            grants = repos.grants.of(call.conversation, call.message.author)
            return "\n".join((*lines, *dict.fromkeys(turn_phrases.allowed_since(one.tool, one.at) for one in grants)))

        return (lambda repos: self._switch(repos, call, verb, rest.strip(), tools)) if verb else listed

    def _switch(self, repos: Repositories, call: Call, verb: str, word: str, tools: Iterable[str]) -> str:
        """Does it with the tools that are called so, or else with all whose names begin so."""
        settings, author = self.context.settings(repos, call), call.message.author
        # A tool that is unavailable now may have been switched off, or allowed, earlier.
        allowed = (grant.tool for grant in repos.grants.of(call.conversation, author))
        named, wanted = _by_name((*tools, *settings.tools_off, *allowed)), fold(word)
        forms = {name: [*map(fold, (name, *those))] for name, those in named.items()}
        found = [name for name in named if wanted in forms[name]]
        found = found or [name for name in named if any(form.startswith(wanted) for form in forms[name])]
        if not found:
            return say(phrases.NO_SUCH_TOOL, name=word[:_MAX_SHOWN])
        meant = [tool for name in found for tool in named[name]]
        if verb == "revoke":
            gone = [repos.grants.revoke(call.conversation, author, tool) for tool in meant]
            return say(phrases.NO_LONGER_ALLOWED if any(gone) else phrases.NOT_ALLOWED, tool=", ".join(found))
        for tool in meant:
            settings = settings.with_tool(tool, is_on=verb == "on")
        self.context.change(repos, call, lambda _: settings)
        return say(phrases.TOOLS_ON_NOW if verb == "on" else phrases.TOOLS_OFF_NOW, names=", ".join(found))

    @command(
        f"/language {'|'.join(LANGUAGES)}|auto",
        phrases.ABOUT_LANGUAGE,
        section="settings",
        examples=("/language de", "/language auto"),
    )
    async def _language(self, call: Call) -> Answer:
        """Sets the language of Aldis's own sentences here: one of these (or its name), or `auto`, the language that
        people write.
        """
        wanted = fold(call.command.rest)
        names = {code: [code, *(fold(language_names(by)[code]) for by in LANGUAGES)] for code in LANGUAGES}
        code = next((code for code in LANGUAGES if wanted in names[code]), None)
        if code is None and wanted != "auto":
            raise WrongForm
        reply = phrases.LANGUAGE_BY_MESSAGE if code is None else phrases.LANGUAGE_SET
        return self.context.set(call, reply, language=code)

    @command("/always on|off", phrases.ABOUT_ALWAYS, configures_group=True, groups_only=True, section="admins")
    async def _always(self, call: Call) -> Answer:
        """Answers every message of the group, or only those that address Aldis; either ends `/translate`."""
        replies = {"on": phrases.ALWAYS_ON, "off": phrases.ALWAYS_OFF}
        if (word := call.command.rest.lower()) not in replies:
            raise WrongForm
        return self.context.set(call, replies[word], answers_always=word == "on", translates=())

    @command(
        "/who [all|admins|list]",
        phrases.ABOUT_WHO,
        configures_group=True,
        groups_only=True,
        section="admins",
        examples=("/who", "/who all", "/who admins", "/who list"),
    )
    async def _who(self, call: Call) -> Answer:
        """Sets who can ask in the group: everybody, only admins, or only people who can also write directly. Without an
        argument shows who can.
        """
        word = call.command.rest.lower()
        if not word:
            return lambda repos: _ASKERS[self.context.settings(repos, call).askers]
        if word not in _ASKERS:
            raise WrongForm
        return self.context.set(call, _ASKERS[word], askers=word, told_askers=False)

    @command("/pause", phrases.ABOUT_PAUSE, configures_group=True, section="admins")
    async def _pause(self, call: Call) -> Answer:
        """Answers only commands in this chat until resumed."""
        now = self.context.clock.now()
        return self.context.set(call, phrases.PAUSED, paused_at=now, told_paused=False)

    @command("/resume", phrases.ABOUT_RESUME, configures_group=True, section="admins")
    async def _resume(self, call: Call) -> Answer:
        """Ends the pause."""
        return self.context.set(call, phrases.RESUMED, paused_at=None, told_paused=False)

    @command("/whoami", phrases.ABOUT_WHOAMI, section="data")
    async def _whoami(self, call: Call) -> Answer:
        """Shows how Aldis knows the person: name, id for the lists, admin or not."""
        message, name = call.message, plain_name(call.message.name or "")
        lines = [phrases.WHO_NAME] if name else []
        lines += [phrases.WHO_UUID, *([phrases.WHO_ADMIN] if call.is_admin else [])]
        lines += [phrases.WHO_IN_GROUP] if call.is_in_group else []
        values = {"name": name, "person": message.author, "group": f"`{message.chat.id}`"}
        return "\n".join(say(sentence, **values) for sentence in lines)


async def forget(context: CommandContext, call: Call, address: ChatId, *, person: PersonId | None = None) -> None:
    """Destroys the conversation at this address and, with a person, what is theirs elsewhere; settles the command."""
    store, chat, item, now = context.store, call.message.chat, call.urgent_item.id, context.clock.now()
    place = await store.read(lambda repos: repos.conversations.at(address))

    def then(repos: Repositories, conversation: ConversationId, erased: Erasure) -> None:
        there = repos.conversations.at(address)
        is_elsewhere = address.is_group and address != chat
        shown = (there, address) if is_elsewhere and there is not None else (conversation, chat)
        for turn in repos.outbox.turns_with_status(shown[0]):
            outgoing.clear(repos, turn, shown[1], now)
        if person is not None:
            chat_settings.forget_person(repos, person, now)
        text = phrases.forget_reply(erased, everywhere=person is not None)
        context.say(repos, call, text, conversation=conversation)

    here = place if address.is_group and place is not None else call.conversation
    call.running.halt((call.running.turn_of(here),))
    call.running.halt(await store.forget(address, person=person, before=item, now=now, then=then))
    context.turns.forget()


def _by_name(tools: Iterable[str]) -> Mapping[str, Sequence[str]]:
    """The tools by what people call them, in their order."""
    named: dict[str, list[str]] = {}
    for tool in dict.fromkeys(tools):
        named.setdefault(turn_phrases.tool_name(tool), []).append(tool)
    return named


def _model_name(model: str) -> str:
    """Returns a model's name as people say it: `Claude Haiku 4.5` for `anthropic/claude-haiku-4-5-20251001`.

    What no known vendor names so stays as it is, without the server.
    """
    bare = re.sub(r"-(?:\d{8}|latest)$", "", model.rpartition("/")[2])
    vendor, *words = bare.split("-")
    if vendor == "gpt":
        return f"GPT-{' '.join(words)}"
    if vendor != "claude":
        return bare
    version = ".".join(word for word in words if word.isdigit())
    return " ".join(["Claude", *(word.capitalize() for word in words if not word.isdigit()), version]).strip()
