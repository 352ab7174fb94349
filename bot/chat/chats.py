"""The settings of conversations, read and written within a transaction, and the language that follows from them."""

import logging
from collections.abc import Callable, Iterable
from datetime import datetime

from bot.access import chat_settings
from bot.access.chat_settings import ChatSettings
from bot.event_json import UnreadableJson
from bot.events import Incoming, PersonId
from bot.i18n.detect import detect_language, guess_language
from bot.i18n.language import Language
from store import ConversationId, Damaged, Repositories

_log = logging.getLogger(__name__)


def settings_of(repos: Repositories, conversation: ConversationId, now: datetime) -> ChatSettings:
    """The conversation's current settings. Unreadable settings count as none: people set them again."""
    try:
        line = repos.chats.settings(conversation)
        return ChatSettings() if line is None else chat_settings.parse_settings(line).as_of(now)
    except (UnreadableJson, Damaged) as error:
        _log.error("the settings of conversation %d are lost: %s", conversation, error)
        return ChatSettings()


def change(
    repos: Repositories, conversation: ConversationId, now: datetime, changed: Callable[[ChatSettings], ChatSettings]
) -> ChatSettings:
    """Changes the conversation's settings and returns the new ones; writes nothing if nothing changes."""
    before = settings_of(repos, conversation, now)
    after = changed(before)
    if after != before:
        repos.chats.keep(conversation, chat_settings.dump_settings(after), expires_at=after.expires_at)
    return after


def expire(repos: Repositories, now: datetime) -> None:
    """Removes expired words from the settings of every conversation."""
    for conversation in repos.chats.expired_chats(now):
        settings = settings_of(repos, conversation, now)
        repos.chats.keep(conversation, chat_settings.dump_settings(settings), expires_at=settings.expires_at)


def forget_person(repos: Repositories, person: PersonId, now: datetime) -> None:
    """Removes what this person has written into the settings of any conversation."""
    for conversation in repos.chats.all():
        change(repos, conversation, now, lambda settings: settings.without(person))


def language_of(settings: ChatSettings, default: Language) -> Language:
    """The language Aldis uses there unprompted: the chosen one, else the last that was reliably detected."""
    return settings.language or settings.heard or default


def heard_in(messages: Iterable[Incoming], settings: ChatSettings) -> Language | None:
    """The language of the last message in which it is certain, else of all; one or two words change no known one."""
    is_known = is_language_known(settings)
    texts = [message.text for message in messages if not is_known or message.text.split()[2:]]
    for text in (*reversed(texts), "\n".join(texts)):
        if (language := detect_language(text)) is not None:
            return language
    return None if is_known else guess_language(texts[-1])


def is_language_known(settings: ChatSettings) -> bool:
    """Whether a language was chosen there, or reliably detected."""
    return (settings.language or settings.heard) is not None
