"""Pure: what people have set for their conversation, and its JSON."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, Self

from pydantic import TypeAdapter

from bot.events import PersonId
from bot.i18n.language import Language

MAX_PERSONA_CHARS = 2000
"""A persona goes along with every question, and is paid each time."""


Askers = Literal["all", "admins", "list"]
"""Who may ask in a group: all who may write there, the admins, or those who may write directly as well."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Persona:
    """How the people of a conversation want Aldis to be, in their words."""

    text: str
    author: PersonId
    sent_at: int
    """Of the message in which they said so: when it is deleted, or disappears, this goes, too."""
    expires_at: datetime | None = None
    """When that message disappears; None: it stays."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ChatSettings:
    """The settings of one conversation; as it begins, nothing is set. They end with the conversation, but for `rules`
    that whoever ends it may not change.
    """

    persona: Persona | None = None
    model: str | None = None
    """Which of the configured models answers, as `provider/model`; None means the first."""
    tools_off: tuple[str, ...] = ()
    """The tools that are switched off here, sorted by name."""
    language: Language | None = None
    """What Aldis itself speaks here; None means the language of the messages."""
    heard: Language | None = None
    """The language in which a message was last surely written, or the first ones likely were; None: in none so far."""
    answers_always: bool = False
    """In a group: whether every message is meant for Aldis."""
    paused_at: datetime | None = None
    """Since when nothing but commands is answered; None: Aldis is not paused here."""
    told_paused: bool = False
    """Whether somebody who wrote during the pause was told of it."""
    taken_until: datetime | None = None
    """Until when an admin answers here in Aldis's place; None, or a time that is over: nobody does."""
    askers: Askers = "all"
    """In a group: who may ask, of those who may write there."""
    told_askers: bool = False
    """Whether somebody who may not ask was told so."""
    is_greeted: bool = False
    """Directly: whether the person was greeted."""
    starts_after: int = 0
    """A turn's id: that turn and those before it are not read again, nor is anything that was made of them."""

    def with_tool(self, tool: str, *, is_on: bool) -> Self:
        """The same with this tool on or off."""
        others = set(self.tools_off) - {tool}
        return replace(self, tools_off=tuple(sorted(others if is_on else others | {tool})))

    @property
    def rules(self) -> "ChatSettings":
        """What is set about who is answered and when, alone; there are no words in it."""
        return ChatSettings(
            answers_always=self.answers_always,
            paused_at=self.paused_at,
            told_paused=self.told_paused,
            taken_until=self.taken_until,
            askers=self.askers,
            told_askers=self.told_askers,
        )

    def without(self, author: PersonId, names: Collection[int] | None = None) -> Self:
        """The same without the words that this person wrote, in a message of one of these times; None: in any."""
        persona = self.persona
        is_meant = persona is not None and persona.author == author and (names is None or persona.sent_at in names)
        return replace(self, persona=None) if is_meant else self

    def as_of(self, now: datetime) -> Self:
        """The same without the words that have disappeared by then."""
        until = self.expires_at
        return replace(self, persona=None) if until is not None and until <= now else self

    @property
    def is_paused(self) -> bool:
        """Whether nothing but commands is answered."""
        return self.paused_at is not None

    def is_taken(self, now: datetime) -> bool:
        """Whether an admin answers here in Aldis's place."""
        return self.taken_until is not None and now < self.taken_until

    @property
    def expires_at(self) -> datetime | None:
        """When words in it disappear; None: they stay."""
        return None if self.persona is None else self.persona.expires_at


JSON_VERSION = 1
"""The version in front of stored settings; raised with every change that an older reader would misread."""

_settings: TypeAdapter[ChatSettings] = TypeAdapter(ChatSettings)


class UnreadableSettings(ValueError):
    """Stored settings were written by a newer version or are damaged."""


def dump_settings(settings: ChatSettings) -> bytes:
    """The settings as versioned JSON: the version, a colon, a JSON object in UTF-8."""
    return b"%d:" % JSON_VERSION + _settings.dump_json(settings, exclude_defaults=True)


def parse_settings(data: bytes) -> ChatSettings:
    """The settings that `dump_settings` wrote.

    Raises:
        UnreadableSettings: the version is unknown or the JSON does not fit it.
    """
    version, _, body = data.partition(b":")
    if version != b"%d" % JSON_VERSION:
        raise UnreadableSettings(f"stored settings of version {version[:8]!r}, this Aldis reads {JSON_VERSION}")
    try:
        return _settings.validate_json(body)
    except ValueError as error:
        raise UnreadableSettings("the stored settings do not fit their version") from error
