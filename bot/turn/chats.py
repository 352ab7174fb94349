"""The settings of conversations, read and kept within a transaction, and the language that follows from them."""

import logging
from collections.abc import Callable, Iterable
from datetime import datetime

from bot.events import Incoming, PersonId
from bot.i18n.detect import detect_language, guess_language
from bot.i18n.language import Language
from bot.policy import chat_settings
from bot.policy.chat_settings import ChatSettings, UnreadableSettings
from store import ConversationId, Damaged, Repositories

_log = logging.getLogger(__name__)


def settings_of(repos: Repositories, conversation: ConversationId, now: datetime) -> ChatSettings:
    """What is set for the conversation now. Settings that cannot be read are as good as none: people set them again."""
    try:
        line = repos.chats.settings(conversation)
        return ChatSettings() if line is None else chat_settings.parse_settings(line).as_of(now)
    except (UnreadableSettings, Damaged) as error:
        _log.error("the settings of conversation %d are lost: %s", conversation, error)
        return ChatSettings()


def change(
    repos: Repositories, conversation: ConversationId, now: datetime, changed: Callable[[ChatSettings], ChatSettings]
) -> ChatSettings:
    """Set something for the conversation; gives what is set now. Nothing is written where nothing changes."""
    before = settings_of(repos, conversation, now)
    after = changed(before)
    if after != before:
        repos.chats.keep(conversation, chat_settings.dump_settings(after), expires_at=after.expires_at)
    return after


def expire(repos: Repositories, now: datetime) -> None:
    """Words in settings that have disappeared go, in every conversation."""
    for conversation in repos.chats.expired_chats(now):
        settings = settings_of(repos, conversation, now)
        repos.chats.keep(conversation, chat_settings.dump_settings(settings), expires_at=settings.expires_at)


def forget_person(repos: Repositories, person: PersonId, now: datetime) -> None:
    """What this person has written into settings goes, in every conversation."""
    for conversation in repos.chats.all():
        change(repos, conversation, now, lambda settings: settings.without(person))


def language_of(settings: ChatSettings, default: Language) -> Language:
    """What Aldis speaks there when nobody writes: a language that was chosen, else the last that was surely written."""
    return settings.language or settings.heard or default


def heard_in(messages: Iterable[Incoming], settings: ChatSettings) -> Language | None:
    """The language of the last of these messages that surely has one; None: of none of them, nor of all together.

    Where nothing was chosen or heard before, what they likely are in will do.
    """
    texts = [message.text for message in messages]
    for text in reversed(texts):
        if (language := detect_language(text)) is not None:
            return language
    return detect_language("\n".join(texts)) or (None if is_language_known(settings) else guess_language(texts[-1]))


def is_language_known(settings: ChatSettings) -> bool:
    """Whether somebody chose a language there, or surely wrote in one."""
    return (settings.language or settings.heard) is not None
