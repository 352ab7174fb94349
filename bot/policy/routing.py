"""Pure: what becomes of an event that a person who may write has caused.

Incoming --begins with /word--> Command (in a group also without being addressed)
         |-yes, no, quoting us-> Verdict
         |-addressed----------> Question
         '-not----------------> Ignore (group talk among others)
Edited --> Correction; Deleted --> Withdrawal
Reacted --thumbs up, down--> Verdict
Reacted, TimerChanged --> Ignore
"""

import re
from collections.abc import Collection
from dataclasses import dataclass

from bot.events import Deleted, Edited, Event, Incoming, PersonId, Reacted, SentId


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """Something to answer."""

    message: Incoming


@dataclass(frozen=True, kw_only=True, slots=True)
class Command:
    """Something that Aldis itself is to do: `/name rest`. Whether there is such a command is not known here."""

    message: Incoming
    name: str
    """In lower case, without the slash."""
    rest: str
    """What follows the name, without white space around it; may be empty."""
    is_addressed: bool
    """Whether it is surely meant for Aldis: other bots in a group have commands, too."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Correction:
    """An older message has other words now."""

    edit: Edited
    is_addressed: bool
    """Whether the new words would be answered if they came as a message."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Withdrawal:
    """An older message was taken back."""

    deletion: Deleted


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """Yes or no to a message of ours; whether that was a question is not known here."""

    author: PersonId
    target: SentId
    """Our message."""
    is_yes: bool
    message: Incoming | None
    """The words in which it was said; None for a reaction."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ignore:
    """Nothing to answer; `reason` is a word for the log."""

    reason: str


Route = Question | Command | Correction | Withdrawal | Verdict | Ignore

_WORDS = {
    **dict.fromkeys(("yes", "y", "ok", "okay", "ja", "oui", "si", "sí", "👍"), True),
    **dict.fromkeys(("no", "n", "nein", "non", "👎"), False),
}
_SKIN_TONES = dict.fromkeys(range(0x1F3FB, 0x1F400))

_COMMAND = re.compile(r"/([A-Za-z][A-Za-z_-]{0,30})(?:\s+(.*))?", re.DOTALL)


def route(event: Event | None, *, name: str) -> Route:
    """Where the event goes. `name` is what Aldis is called in groups."""
    match event:
        case None:
            return Ignore(reason="unreadable")
        case Incoming():
            return _message(event, name)
        case Edited():
            return Correction(edit=event, is_addressed=isinstance(_message(event.message, name), Question))
        case Deleted():
            return Withdrawal(deletion=event)
        case Reacted(removed=False) if (is_yes := _meant(event.emoji, {"👍", "👎"})) is not None:
            return Verdict(author=event.author, target=event.target, is_yes=is_yes, message=None)
        case _:
            return Ignore(reason=type(event).__name__.lower())


def _message(message: Incoming, name: str) -> Question | Command | Verdict | Ignore:
    if not (message.text.strip() or message.attachments or message.sticker or message.view_once):
        return Ignore(reason="empty")
    is_addressed = not message.chat.startswith("group:") or _addressed(message, name)
    command = _COMMAND.fullmatch(_without_name(message.text, name))
    if command is not None:
        word, rest = command.group(1).lower(), (command.group(2) or "").strip()
        return Command(message=message, name=word, rest=rest, is_addressed=is_addressed)
    if message.quotes_me and message.quote is not None and (is_yes := _meant(message.text, _WORDS)) is not None:
        return Verdict(author=message.author, target=message.quote.sent_at, is_yes=is_yes, message=message)
    return Question(message=message) if is_addressed else Ignore(reason="not_addressed")


def _meant(text: str, words: Collection[str]) -> bool | None:
    """Whether a word or sign means yes; None where it means neither, or is not one of these."""
    word = text.strip().rstrip(".!").lower().translate(_SKIN_TONES)
    return _WORDS.get(word) if word in words else None


def _addressed(message: Incoming, name: str) -> bool:
    return message.mentions_me or message.quotes_me or _called(message.text, name)


def _without_name(text: str, name: str) -> str:
    """The text without the name that a command may follow: `Aldis, /help`."""
    return re.sub(rf"^\s*@?{re.escape(name)}\s*[,:]?\s+(?=/)", "", text, flags=re.IGNORECASE).strip()


def _called(text: str, name: str) -> bool:
    """Whether the text calls somebody by this name: first (after a greeting or not), or last after a comma."""
    called = re.escape(name)
    first = rf"^\W*(?:(?:hey|hi|hello|ok|okay|hallo|salut|hola|dear)\W+)?@?{called}(?!\w)"
    last = rf",\s*@?{called}\W*$"
    return re.search(f"{first}|{last}", text, re.IGNORECASE) is not None
