"""Pure: what becomes of an event that a person who may write has caused.

Incoming --addressed--> Question
         '-not--------> Ignore (group talk among others)
Edited, Deleted, Reacted, TimerChanged --> Ignore
"""

import re
from dataclasses import dataclass

from bot.events import Event, Incoming


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """Something to answer."""

    message: Incoming


@dataclass(frozen=True, kw_only=True, slots=True)
class Ignore:
    """Nothing to answer; `reason` is a word for the log."""

    reason: str


Route = Question | Ignore


def route(event: Event | None, *, name: str) -> Route:
    """Where the event goes. `name` is what Aldis is called in groups."""
    if event is None:
        return Ignore(reason="unreadable")
    if not isinstance(event, Incoming):
        return Ignore(reason=type(event).__name__.lower())
    if not (event.text.strip() or event.attachments or event.sticker or event.view_once):
        return Ignore(reason="empty")
    if event.chat.startswith("group:") and not _addressed(event, name):
        return Ignore(reason="not_addressed")
    return Question(message=event)


def _addressed(message: Incoming, name: str) -> bool:
    return message.mentions_me or message.quotes_me or _called(message.text, name)


def _called(text: str, name: str) -> bool:
    """Whether the text calls somebody by this name: first (after a greeting or not), or last after a comma."""
    called = re.escape(name)
    first = rf"^\W*(?:(?:hey|hi|hello|ok|okay|hallo|salut|hola|dear)\W+)?@?{called}(?!\w)"
    last = rf",\s*@?{called}\W*$"
    return re.search(f"{first}|{last}", text, re.IGNORECASE) is not None
