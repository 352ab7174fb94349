"""Personas, which people choose by name, and skills, of which models see the names and read what they want: the
operator's Markdown files with front matter in YAML, read at the start.

A persona has fewer tools than its chat, never others. Reading a skill raises no question; nothing in it is executed.

Source: the form of skills at agentskills.io, 2026-11-30.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.access.chat_settings import MAX_PERSONA_CHARS, ChatSettings, Persona
from bot.commands.base import Answer, Call, CommandGroup, Reply, WrongForm, command
from bot.errors import ConfigError
from bot.i18n.catalogues import Sentence, say
from bot.i18n.language import Language
from bot.i18n.phrases import NO_SUCH_PERSONA
from bot.models.tool_list import NAME as USE_TOOL
from store import Repositories
from tools import Arguments, CommaList, NotFound, Result, ToolContext, ToolSource, ToolSpec, clean_text, shorten

ABOUT_PERSONA = Sentence("ABOUT_PERSONA", "tells me what to be like in this chat, or shows my personas.")
ABOUT_AS = Sentence("ABOUT_AS", "asks one of my personas a single question.")
NO_PERSONA = Sentence("NO_PERSONA", "No persona is set here. `/persona TEXT` sets one.")
PERSONA_NOW = Sentence("PERSONA_NOW", "My persona here: {text}")
PERSONAS = Sentence("PERSONAS", "To choose from with `/persona NAME`, or `/as NAME QUESTION` just once:\n{personas}")
PERSONA_OFF = Sentence("PERSONA_OFF", "Done, I'm back to my usual self.")
PERSONA_SET = Sentence("PERSONA_SET", "Done. From your next message on I'll be like that. `/persona off` ends it.")
PERSONA_TIMED = Sentence("PERSONA_TIMED", "Done, until your message disappears. `/persona off` ends it sooner.")
PERSONA_KEPT = Sentence("PERSONA_KEPT", "I've kept “{name}” for this chat; `/persona {name} off` deletes it.")
PERSONA_DELETED = Sentence("PERSONA_DELETED", "I've deleted “{name}”.")
TOO_LONG_PERSONA = Sentence("TOO_LONG_PERSONA", "That's too long: a persona can have at most {most} characters.")
TOO_MANY_PERSONAS = Sentence("TOO_MANY_PERSONAS", "There are {most} here already; `/persona NAME off` deletes one.")

_MAX_FILE_BYTES = 32_000  # about eight thousand tokens
_MAX_PERSONAS = 20  # that people make in one chat
_ABOUT_CHARACTERS = 36  # of a skill in every request, about ten tokens with its name
_EXAMPLES = ("/persona", "/persona NAME", "/persona TEXT", "/persona NAME: TEXT", "/persona off")
_NAMED = re.compile(r"(?!off:)([^\W_][\w-]{0,39}):\s+(\S.*)", re.DOTALL | re.IGNORECASE)
_FRONT = re.compile(r"---[ \t]*\n(.*?)^---[ \t]*$(.*)", re.DOTALL | re.MULTILINE)


class MarkdownFile(BaseModel):
    """A file; what its front matter may hold are the fields that a kind of it adds."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    name: str
    path: Path
    body: str


class PersonaFile(MarkdownFile):
    """A persona's file; see `Persona`."""

    description: str = ""
    model: str = ""
    tools: Annotated[tuple[str, ...], CommaList] = ()
    language: Language = "en"
    temperature: float = Field(default=0, ge=0, le=1)


class SkillFile(MarkdownFile):
    """A skill's file; other programs know more of its front matter."""

    model_config = ConfigDict(extra="ignore")

    description: str = Field(min_length=1)


FileKind = TypeVar("FileKind", bound=MarkdownFile)


def read_files(setting: str, folder: Path | None, kind: type[FileKind], *patterns: str) -> Mapping[str, FileKind]:
    """Returns the files of a folder that match and are not hidden, by name in small letters; none if it is None.

    Raises:
        ConfigError: one is not as it should be: where and why.
    """
    if folder is None:
        return {}
    if not folder.is_dir():
        raise ConfigError(f"{setting}: there is no folder {folder}")
    files: dict[str, FileKind] = {}
    for path in sorted(path for pattern in patterns for path in folder.glob(pattern) if path.name != "README.md"):
        name = path.stem if path.parent == folder else path.parent.name
        if name.startswith("."):
            continue
        if (other := files.get(name.casefold())) is not None:
            raise ConfigError(f"{setting}: {path}: has the name of {other.path}")
        try:
            files[name.casefold()] = _parsed(kind, name, path, read_text(path, within=folder))
        except ValueError as error:
            raise ConfigError(f"{setting}: {path}: {error}") from None
    return files


def read_text(path: Path, *, within: Path) -> str:
    """Returns the text of a file in a folder, out of which links must not lead; raises ValueError with the reason."""
    try:
        real = path.resolve()
        if not real.is_relative_to(within.resolve()) or not real.is_file():
            raise ValueError("is no file of this folder")
        if real.stat().st_size > _MAX_FILE_BYTES:
            raise ValueError(f"has more than {_MAX_FILE_BYTES:,} bytes")
        return real.read_text("utf-8-sig")
    except (OSError, RuntimeError, UnicodeDecodeError):  # RuntimeError: a ring of links
        raise ValueError("cannot be read, or is no text in UTF-8") from None


def _parsed(kind: type[FileKind], name: str, path: Path, text: str) -> FileKind:
    """The file as a value; raises ValueError with what is wrong."""
    if not re.fullmatch(r"(?!off$)\w[\w-]*", name):
        raise ValueError("must be called by letters, digits and dashes, and not off")
    found = _FRONT.match(text)
    if found is None and text.startswith("---"):
        raise ValueError("line 1: the front matter must end with a line ---")
    front, body = found.groups() if found else ("", text)
    try:
        given: dict[str, Any] = yaml.safe_load(front) or {}
        return kind.model_validate({**given, "name": name, "path": path, "body": body.strip()})
    except (yaml.YAMLError, TypeError) as error:
        mark = error.problem_mark if isinstance(error, yaml.MarkedYAMLError) else None
        raise ValueError(
            f"line {mark.line + 2 if mark else 2}: must be YAML with a value for each key, with : in quotes"
        ) from None
    except ValidationError as error:
        [first, *_] = error.errors(include_url=False, include_input=False)
        key = str(first["loc"][0])
        words = first["msg"].removeprefix("Input ")
        if first["type"] == "extra_forbidden":
            known = sorted(kind.model_fields.keys() - MarkdownFile.model_fields.keys())
            words = f"is not known; there are {', '.join(known)}"
        line = next((number for number, line in enumerate(text.splitlines(), 1) if line.startswith(key)), 1)
        raise ValueError(f"line {line}: {key} {words}") from None


def read_personas(folder: Path | None) -> Mapping[str, Persona]:
    """Returns the operator's personas, by name in small letters; raises ConfigError as `read_files`."""
    personas: dict[str, Persona] = {}
    for key, file in read_files("LLM__PERSONAS", folder, PersonaFile, "*.md").items():
        given = file.model_dump(exclude={"name", "path", "body"}, exclude_unset=True)
        if file.tools:
            given["tools"] += (USE_TOOL,)  # by which models call those that they see as a list
        personas[key] = Persona(name=file.name, text=file.body, **given)
    return personas


class PersonaCommands(CommandGroup):
    """Commands about personas, for everybody."""

    @command("/persona [NAME|TEXT|off]", ABOUT_PERSONA, section="settings", examples=_EXAMPLES)
    async def _run(self, call: Call) -> Answer:
        """Takes on the persona of this name, or one in these words, in addition to what the operator says; `NAME: TEXT`
        keeps it here, `NAME off` deletes it, `off` ends it. Without an argument shows the personas.
        """
        text = clean_text(call.command.rest).strip()  # what they see of it: the rest may be pasted unawares

        def work(repos: Repositories) -> Reply:
            after, reply = self._changed(self.context.settings(repos, call), text, call)
            self.context.change(repos, call, lambda _: after)
            return reply

        return work

    def _shown(self, settings: ChatSettings) -> str:
        """Which persona is on, and which there are."""
        now = settings.for_turn("", self.context.turns.personas).persona
        said = [say(NO_PERSONA) if now is None else say(PERSONA_NOW, text=now.name or now.text)]
        known = settings.known_personas(self.context.turns.personas).values()
        lines = [f"- {one.name}: {one.description}".removesuffix(": ") for one in known]
        return "\n\n".join([*said, *([say(PERSONAS, personas="\n".join(lines))] if lines else [])])

    def _changed(self, settings: ChatSettings, text: str, call: Call) -> tuple[ChatSettings, Reply]:
        """The settings after `/persona TEXT`, and the reply; where there are names, one word is one of them."""
        known = settings.known_personas(self.context.turns.personas)
        words = text.casefold()
        name, _, rest = words.partition(" ")
        is_off = rest == "off" and name in known
        if is_off and (made := known[name]).author:
            return settings.without(made.author, {made.sent_at}), say(PERSONA_DELETED, name=made.name)
        if is_off or words == "off":
            return replace(settings, persona=None, persona_name=""), PERSONA_OFF
        if words in known:
            return replace(settings, persona=None, persona_name=words), PERSONA_SET
        if not text or (known and rest in {"", "off"}):
            return settings, NO_SUCH_PERSONA if text else self._shown(settings)
        return self._written(settings, text, call)

    def _written(self, settings: ChatSettings, text: str, call: Call) -> tuple[ChatSettings, Reply]:
        """The settings with a persona in a person's own words, perhaps with a name, and the reply."""
        named = _NAMED.fullmatch(text)
        name, words = named.groups() if named else ("", text)
        others = tuple(one for one in settings.personas if one.name.casefold() != name.casefold())
        if len(words) > MAX_PERSONA_CHARS:
            return settings, say(TOO_LONG_PERSONA, most=MAX_PERSONA_CHARS)
        if named and len(others) >= _MAX_PERSONAS:
            return settings, say(TOO_MANY_PERSONAS, most=_MAX_PERSONAS)
        message = call.message
        until = call.urgent_item.expires_at
        made = Persona(text=words, author=message.author, sent_at=message.sent_at, expires_at=until, name=name)
        reply = say(PERSONA_TIMED if until else PERSONA_SET)
        if not named:
            return replace(settings, persona=made, persona_name=""), reply
        after = replace(settings, persona=None, personas=(*others, made), persona_name=name.casefold())
        return after, f"{reply} {say(PERSONA_KEPT, name=name)}"

    @command("/as NAME QUESTION", ABOUT_AS, examples=("/as NAME TEXT",))
    async def _as(self, call: Call) -> None:
        """Asks the persona of this name one question, by itself; the chat stays as it is."""
        if call.command.question is None:
            raise WrongForm
        item = call.urgent_item

        def ask(repos: Repositories) -> None:
            now = self.context.clock.now()
            turn = repos.turns.begin(call.conversation, now=now, expires_at=item.expires_at)
            repos.inbox.as_question(item.id, turn)

        await self.context.store.transaction(ask)


class ReadSkillArguments(Arguments):
    """A skill, or a file of it."""

    name: str = Field(max_length=100, description="One of these.")
    file: str | None = Field(default=None, max_length=200, description="A file that the skill names.")


class Skills(ToolSource):
    """The tool that reads the operator's skills, and its source; raises ConfigError as `read_files`."""

    def __init__(self, folder: Path | None) -> None:
        self._files = read_files("LLM__SKILLS", folder, SkillFile, "*.md", "*/SKILL.md")
        about = "; ".join(f"{one.name} ({shorten(one.description, _ABOUT_CHARACTERS)})" for one in self._files.values())
        self.spec = ToolSpec(
            name="read_skill",
            description=f"Reads what the person who runs you wrote for a kind of task, to be followed in it: {about}.",
            seldom=f"instructions to follow in a kind of task, read before you begin: {about}",
            arguments=ReadSkillArguments,
            label="operator",
            max_result_chars=_MAX_FILE_BYTES + 4_000,
        )

    async def tools(self) -> Sequence["Skills"]:
        """See `tools.ToolSource`."""
        return (self,) if self._files else ()

    async def run(self, arguments: ReadSkillArguments, context: ToolContext) -> Result:  # noqa: ARG002  (the seam has it)
        """Returns the text of a skill, or of a file beside it; raises NotFound if there is none that can be read."""
        skill = self._files.get(arguments.name.casefold())
        if skill is None:
            raise NotFound(f"there is no such skill; there are: {', '.join(one.name for one in self._files.values())}")
        if arguments.file is None:
            return Result(data={"skill": skill.name, "text": skill.body})
        try:
            text = read_text(skill.path.parent / arguments.file, within=skill.path.parent)
        except ValueError as error:
            raise NotFound(f"the file {arguments.file} {error}") from None
        return Result(data={"skill": skill.name, "file": arguments.file, "text": text})
