"""What people have set for their conversation: its JSON, read and written within a transaction, and the language."""

import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, Self

from pydantic import TypeAdapter

from bot.events import Incoming, PersonId, UnreadableJson, dump_json, load_json
from bot.i18n.detect import detect_language, guess_language
from bot.i18n.language import Language
from store import ConversationId, Damaged, Repositories

_log = logging.getLogger(__name__)

MAX_PERSONA_CHARS = 2000
"""A persona is part of every question, and paid each time."""


Askers = Literal["all", "admins", "list"]
"""Who may ask in a group: all who may write there, admins only, or those who may also write directly."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Persona:
    """How Aldis should be: in the words of a conversation's people, or as the operator has written it."""

    text: str
    author: PersonId | None = None
    """Who wrote it in the conversation; None: the operator."""
    sent_at: int = 0
    """The message in which they said so: when it is deleted or disappears, the persona goes, too."""
    expires_at: datetime | None = None
    """When that message disappears; None: it stays."""
    name: str = ""
    """What people choose it by; empty for words that hold just now."""
    model: str | None = None
    """The model that answers, as `provider/model`; None: the conversation's."""
    tools: tuple[str, ...] | None = None
    """The only tools it has, of those of the conversation; None: all of these."""
    language: Language | None = None
    temperature: float | None = None
    description: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class ChatSettings:
    """The settings of one conversation; initially none are set."""

    persona: Persona | None = None
    """The words that hold here; in a turn the persona that it has, the operator's included."""
    personas: tuple[Persona, ...] = ()
    """Those with a name that people have made here."""
    persona_name: str = ""
    """The one that is chosen, of these or the operator's, in small letters; empty: none."""
    model: str | None = None
    """The configured model that answers, as `provider/model`; None means the first."""
    tools_off: tuple[str, ...] = ()
    language: Language | None = None
    """The language of Aldis's own sentences here; None means the language of the messages."""
    heard: Language | None = None
    """The language last reliably detected in a message, or the likely one of the first messages; None: none so far."""
    answers_always: bool = False
    translates: tuple[str, ...] = ()
    """In a group: the codes of the languages between which messages are translated; empty: they are not."""
    untranslated: tuple[str, ...] = ()
    """Who has read that their messages cannot be translated at the moment; an empty name stands for the group."""
    paused_at: datetime | None = None
    """Since when only commands are answered; None: Aldis is not paused here."""
    told_paused: bool = False
    """Whether a sender during the pause has read about it."""
    askers: Askers = "all"
    """In a group: which of the people who may write there may ask."""
    told_askers: bool = False
    """Whether a sender who may not ask has read so."""
    is_greeted: bool = False
    told_zone: bool = False
    """Whether people here have read which time zone was assumed for a reminder."""
    starts_after: int = 0
    """A turn's id: that turn, those before it, and anything made from them are not read again."""

    def allows_tool(self, tool: str) -> bool:
        """Whether the chat may use this tool: whether models are offered it, and a call of it is run."""
        listed = None if self.persona is None else self.persona.tools
        return tool not in self.tools_off and (listed is None or tool in listed)

    def with_tool(self, tool: str, *, is_on: bool) -> Self:
        """A copy with this tool on or off."""
        others = set(self.tools_off) - {tool}
        return replace(self, tools_off=tuple(sorted(others if is_on else others | {tool})))

    def without(self, author: PersonId, names: Collection[int] | None = None) -> Self:
        """A copy without this person's words from a message with one of these timestamps; None: from any message."""
        return self._keeping(lambda one: one.author != author or (names is not None and one.sent_at not in names))

    def as_of(self, now: datetime) -> Self:
        """A copy without words that have expired by then."""
        return self._keeping(lambda one: one.expires_at is None or one.expires_at > now)

    def _keeping(self, stays: Callable[[Persona], bool]) -> Self:
        """A copy without the words that do not stay, and without the name of what they were."""
        gone = {one.name.casefold() for one in self.personas if not stays(one)}
        return replace(
            self,
            persona=self.persona if self.persona is None or stays(self.persona) else None,
            personas=tuple(filter(stays, self.personas)),
            persona_name="" if self.persona_name in gone else self.persona_name,
        )

    def known_personas(self, others: Mapping[str, Persona]) -> Mapping[str, Persona]:
        """The personas to choose from, by name in small letters: those made here, and the operator's `others`."""
        return {**others, **{one.name.casefold(): one for one in self.personas}}

    def for_turn(self, name: str, others: Mapping[str, Persona]) -> Self:
        """A copy as a turn has it: with the persona of this name, or else the chosen one, and what that brings."""
        wanted = name.casefold() or self.persona_name
        persona = self.known_personas(others).get(wanted) if wanted else self.persona
        model = (persona and persona.model) or self.model
        language = (persona and persona.language) or self.language
        return replace(self, persona=persona, personas=(), model=model, language=language)

    @property
    def spoken(self) -> Language | None:
        """The language Aldis uses unprompted: the chosen one, else the last that was reliably detected."""
        return self.language or self.heard

    @property
    def is_paused(self) -> bool:
        """Whether only commands are answered."""
        return self.paused_at is not None

    @property
    def expires_at(self) -> datetime | None:
        """When words in it expire; None: they stay."""
        return min((one.expires_at for one in (*self.personas, self.persona) if one and one.expires_at), default=None)


_settings: TypeAdapter[ChatSettings] = TypeAdapter(ChatSettings)


def dump_settings(settings: ChatSettings) -> bytes:
    """The settings as versioned JSON."""
    return dump_json(_settings, settings, exclude_defaults=True)


def parse_settings(data: bytes) -> ChatSettings:
    """The settings written by `dump_settings`; raises UnreadableJson if the version or the JSON does not fit."""
    return load_json(_settings, data, "setting")


def settings_of(repos: Repositories, conversation: ConversationId, now: datetime) -> ChatSettings:
    """The conversation's current settings. Unreadable settings count as none: people set them again."""
    try:
        line = repos.conversations.settings(conversation)
        return ChatSettings() if line is None else parse_settings(line).as_of(now)
    except (UnreadableJson, Damaged) as error:
        _log.error("the settings of conversation %d are lost: %s", conversation, error)
        return ChatSettings()


def change(
    repos: Repositories, conversation: ConversationId, now: datetime, changed: Callable[[ChatSettings], ChatSettings]
) -> bool:
    """Changes the conversation's settings; returns whether they were different: a hint is given once."""
    before = settings_of(repos, conversation, now)
    after = changed(before)
    if after != before:
        repos.conversations.keep_settings(conversation, dump_settings(after), expires_at=after.expires_at)
    return after != before


def expire(repos: Repositories, now: datetime) -> None:
    """Removes expired words from the settings of every conversation."""
    for conversation in repos.conversations.with_expired_settings(now):
        settings = settings_of(repos, conversation, now)
        repos.conversations.keep_settings(conversation, dump_settings(settings), expires_at=settings.expires_at)


def forget_person(repos: Repositories, person: PersonId, now: datetime) -> None:
    """Removes what this person has written into the settings of any conversation."""
    for conversation in repos.conversations.with_settings():
        change(repos, conversation, now, lambda settings: settings.without(person))


def heard_in(messages: Iterable[Incoming], settings: ChatSettings) -> Language | None:
    """The language of the last message in which it is certain, else of all; one or two words change no known one."""
    is_known = settings.spoken is not None
    texts = [message.text for message in messages if not is_known or message.text.split()[2:]]
    for text in (*reversed(texts), "\n".join(texts)):
        if (language := detect_language(text)) is not None:
            return language
    return None if is_known else guess_language(texts[-1])
