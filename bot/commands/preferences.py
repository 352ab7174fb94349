"""The commands about what is set in a conversation: persona, model, tools and language; in groups also when Aldis
speaks up, and whether it speaks at all; and about the state of things.

In a group everybody can set the first four, just as everybody can write: the choice holds for all, and all see who made
it. When Aldis speaks up is for admins to decide, if there are any.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from bot.access.chat_settings import MAX_PERSONA_CHARS, Persona
from bot.chat import phrases as turn_phrases
from bot.chat.deeds import plain_name
from bot.chat.offers import gather_tools
from bot.commands import phrases
from bot.commands.base import Answer, Call, CommandContext, CommandGroup, WrongForm, command, fold
from bot.i18n.catalogues import Sentence, say
from bot.i18n.language import LANGUAGES
from bot.i18n.locale import language_names
from store import Repositories
from tools import Tool, ToolSource, clean_text

_MAX_SHOWN = 60
"""How many characters of an unknown name are repeated."""
_ASKERS: Mapping[str, Sentence] = {
    "all": phrases.ASKERS_ALL,
    "admins": turn_phrases.ASKERS_ADMINS,
    "list": turn_phrases.ASKERS_LIST,
}


class PreferenceCommands(CommandGroup):
    """Commands that configure the conversation."""

    def __init__(
        self, context: CommandContext, *, models: tuple[str, ...], tools: Sequence[Tool], sources: Sequence[ToolSource]
    ) -> None:
        """`models` are the choices, as `provider/model`, the first of which answers unless another is chosen; `sources`
        have further tools while Aldis runs.
        """
        self._context = context
        self._models = models
        self._always_there = tools
        self._sources = sources

    @command(
        "/model [NAME|NUMBER|default]",
        phrases.ABOUT_MODEL,
        section="settings",
        examples=("/model", "/model 2", "/model default"),
    )
    async def _model(self, call: Call) -> Answer:
        """Chooses one of the models of `LLM__CHOICES` for this chat, by its name, part of it or its number; without an
        argument shows them; `default` returns to the first.
        """
        wanted, models = fold(call.command.rest), self._models
        if len(models) < 2:  # noqa: PLR2004  (one is no choice)
            return phrases.NO_MODEL_CHOICE

        def shown(repos: Repositories) -> str:
            chosen = self._context.settings(repos, call).model
            now = _model_name(chosen if chosen in models else models[0])
            listed = "\n".join(f"{place}. {_model_name(model)}" for place, model in enumerate(models, 1))
            return f"{say(phrases.MODEL_NOW, model=now)} {say(phrases.MODEL_OTHERS, models=listed)}"

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
            return lambda _: say(phrases.NO_SUCH_MODEL_HERE, name=call.command.rest[:_MAX_SHOWN])
        if len(found) > 1:
            return lambda _: phrases.which(call.command.rest, found)
        chosen = None if wanted == "default" else found[0]
        return self._context.set(call, lambda: say(phrases.MODEL_NOW, model=_model_name(found[0])), model=chosen)

    @command(
        "/persona [TEXT|off]",
        phrases.ABOUT_PERSONA,
        section="settings",
        examples=("/persona", "/persona TEXT", "/persona off"),
    )
    async def _persona(self, call: Call) -> Answer:
        """Tells Aldis what to be like in this chat, in addition to what the operator says; `off` ends it."""
        text = clean_text(call.command.rest).strip()  # what they see of it: the rest may be pasted unawares

        def persona_now(repos: Repositories) -> str:
            persona = self._context.settings(repos, call).persona
            return say(phrases.NO_PERSONA) if persona is None else say(turn_phrases.PERSONA_NOW, text=persona.text)

        if not text:
            return persona_now
        if text.lower() == "off":
            return self._context.set(call, phrases.PERSONA_OFF, persona=None)
        if len(text) > MAX_PERSONA_CHARS:
            return lambda _: say(phrases.TOO_LONG_PERSONA, most=MAX_PERSONA_CHARS)
        message, until = call.message, call.urgent_item.expires_at
        persona = Persona(text=text, author=message.author, sent_at=message.sent_at, expires_at=until)
        return self._context.set(call, phrases.PERSONA_TIMED if until else phrases.PERSONA_SET, persona=persona)

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
        tools = await gather_tools(self._always_there, self._sources)
        absent = [name for source in self._sources for name in source.absent]
        if not tools and not absent:
            return phrases.NO_TOOLS
        if verb and (not rest.strip() or verb not in {"on", "off", "revoke"}):
            raise WrongForm

        def listed(repos: Repositories) -> str:
            settings = self._context.settings(repos, call)
            lines = [
                say(phrases.LIST_ON if any(map(settings.allows_tool, those)) else phrases.LIST_OFF, name=name)
                for name, those in _by_name(tools).items()
            ]
            lines += [say(phrases.LIST_ABSENT, name=name) for name in absent]
            grants = repos.grants.of(call.conversation, call.message.author)
            return "\n".join((*lines, *dict.fromkeys(turn_phrases.allowed_since(one.tool, one.at) for one in grants)))

        return (lambda repos: self._switch(repos, call, verb, rest.strip(), tools)) if verb else listed

    def _switch(self, repos: Repositories, call: Call, verb: str, word: str, tools: Iterable[str]) -> str:
        """Switches the tools that are called so, or else all whose names begin so, or takes the caller's permission for
        them back.
        """
        settings, author = self._context.settings(repos, call), call.message.author
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
        self._context.change(repos, call, lambda _: settings)
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
        code = next((code for code in LANGUAGES if wanted in {code, *map(fold, language_names(code))}), None)
        if code is None and wanted != "auto":
            raise WrongForm
        reply = phrases.LANGUAGE_BY_MESSAGE if code is None else phrases.LANGUAGE_SET
        return self._context.set(call, reply, language=code)

    @command("/always on|off", phrases.ABOUT_ALWAYS, configures_group=True, groups_only=True, section="admins")
    async def _always(self, call: Call) -> Answer:
        """Answers every message of the group, or only those that address Aldis."""
        replies = {"on": phrases.ALWAYS_ON, "off": phrases.ALWAYS_OFF}
        if (word := call.command.rest.lower()) not in replies:
            raise WrongForm
        return self._context.set(call, replies[word], answers_always=word == "on")

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
            return lambda repos: _ASKERS[self._context.settings(repos, call).askers]
        if word not in _ASKERS:
            raise WrongForm
        return self._context.set(call, _ASKERS[word], askers=word, told_askers=False)

    @command("/pause", phrases.ABOUT_PAUSE, configures_group=True, section="admins")
    async def _pause(self, call: Call) -> Answer:
        """Answers only commands in this chat until resumed."""
        now = self._context.clock.now()
        return self._context.set(call, phrases.PAUSED, paused_at=now, told_paused=False)

    @command("/resume", phrases.ABOUT_RESUME, configures_group=True, section="admins")
    async def _resume(self, call: Call) -> Answer:
        """Ends the pause."""
        return self._context.set(call, phrases.RESUMED, paused_at=None, told_paused=False)

    @command("/whoami", phrases.ABOUT_WHOAMI, section="data")
    async def _whoami(self, call: Call) -> Answer:
        """Shows how Aldis knows the person: name, id for the lists, admin or not."""
        message, name = call.message, plain_name(call.message.name or "")
        lines = [phrases.WHO_NAME] if name else []
        lines += [phrases.WHO_UUID, *([phrases.WHO_ADMIN] if call.is_admin else [])]
        lines += [phrases.WHO_IN_GROUP] if call.is_in_group else []
        values = {"name": name, "person": message.author, "group": f"`{message.chat.id}`"}
        return lambda _: "\n".join(say(sentence, **values) for sentence in lines)


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
