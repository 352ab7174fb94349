"""Pure: what becomes of an event that a person who may write has caused.

Incoming --begins with /word--> Command (in a group also without being addressed); /word? and "/word": the help on it
         |-yes, no, always----> Verdict
         |-addressed----------> Question; by nothing but the name: about what was said last
         '-not----------------> Talk (in a group, among others)
Edited --> Correction; Deleted --> Withdrawal
Reacted --thumb, check mark on a message of Aldis's own-> Verdict
        '-a cross, a stop sign--> Halt
Reacted, TimerChanged --> Ignore
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from bot.events import ChatId, Deleted, Edited, Event, Incoming, PersonId, Reacted, SentId, plain_command
from bot.policy.yes_no import SKIN_TONES, Word, parse_word


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """Something to answer."""

    message: Incoming
    is_bare: bool = False
    """Whether nothing but Aldis's name stands in it, in a group: what was just said, or is quoted, is meant."""


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
    """Yes or no; whether we had asked is not known here."""

    author: PersonId
    target: SentId | None
    """Our message; None where they said it without quoting one."""
    is_yes: bool
    is_always: bool = False
    """Whether the yes is to hold from now on; whether it can is not known here."""
    instead: "Question | Talk | None" = None
    """What the words are where nothing was asked; None for a reaction."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Halt:
    """Somebody wants an answer to be stopped; whether they may, and whether it is under way, is not known here."""

    chat: ChatId
    author: PersonId
    """Who wants it."""
    target_author: PersonId | None
    """Who wrote the message; None where Signal does not say."""
    target: SentId
    """The message that is answered, or one of ours that answers it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Talk:
    """What people in a group say to each other: nothing to answer."""

    message: Incoming
    reason: str = "not_addressed"


@dataclass(frozen=True, kw_only=True, slots=True)
class Ignore:
    """Nothing to answer; `reason` is a word for the log."""

    reason: str


Route = Question | Command | Correction | Withdrawal | Verdict | Halt | Talk | Ignore

_WORDS: Mapping[str, Word] = {"👍": "yes", "👎": "no", "✅": "always"}
_CROSSES = {"❌", "✖", "🛑", "⛔"}
_AS_PICTURE = "\ufe0f"
"""Follows a sign that is to be shown as an emoji."""

_NAME = r"[^\W\d_](?:[^\W\d]|-){0,30}"
_COMMAND = re.compile(rf"/({_NAME})[.,:;!…\u200b\u2060\ufeff]*(?:\s+(.*))?", re.DOTALL)
_ABOUT_COMMAND = re.compile(
    rf"/\?|/(?P<asked>{_NAME})\s*\?+|[\"“„«'‘`]\s*/(?P<quoted>{_NAME})(?:\s[^\"“”«»'‘’`]*)?[\"”“»'’`][.,!?]*"
)
"""A command with a question mark, or in quotation marks: somebody wants to know, and have nothing done."""


def route(event: Event | None, *, name: str, answers_always: bool = False) -> Route:
    """Where the event goes. `name` is what Aldis is called in groups.

    `answers_always`: in this group every message is meant for Aldis.
    """
    match event:
        case None:
            return Ignore(reason="unreadable")
        case Incoming():
            return _message(event, name, answers_always)
        case Edited():
            edited = _message(event.message, name, answers_always)
            return Correction(edit=event, is_addressed=isinstance(edited, Question))
        case Deleted():
            return Withdrawal(deletion=event)
        case Reacted(removed=False):
            return _reaction(event)
        case _:
            return Ignore(reason=type(event).__name__.lower())


def awaits_answer(found: Route) -> bool:
    """Whether somebody waits for an answer to what goes there."""
    match found:
        case Question() | Verdict(target=None, instead=Question()):
            return True
        case Command(is_addressed=is_addressed):
            return is_addressed
        case _:
            return False


def _reaction(reacted: Reacted) -> Verdict | Halt | Ignore:
    word = _WORDS.get(reacted.emoji.strip().removesuffix(_AS_PICTURE).translate(SKIN_TONES))
    if word is not None and reacted.is_on_mine:
        return _verdict(word, reacted.author, reacted.target, None)
    if reacted.emoji.strip().removesuffix(_AS_PICTURE) in _CROSSES:
        return Halt(
            chat=reacted.chat, author=reacted.author, target_author=reacted.target_author, target=reacted.target
        )
    return Ignore(reason="reacted")


def _message(message: Incoming, name: str, answers_always: bool) -> Question | Command | Verdict | Talk | Ignore:  # noqa: FBT001  (of its one caller, whose keyword it is)
    if _is_bare(message, name):
        return Question(message=message, is_bare=True)
    if not (message.text.strip() or message.attachments or message.sticker or message.extras or message.view_once):
        return Ignore(reason="empty")
    is_addressed = not message.chat.is_group or _addressed(message, name)
    command = _command(message.text, name, is_addressed=is_addressed)
    if command is not None and _command(_own_text(message), name, is_addressed=is_addressed):
        return Command(message=message, name=command[0], rest=command[1], is_addressed=is_addressed)
    found = Question(message=message) if is_addressed or answers_always else Talk(message=message)
    word = None if message.attachments else parse_word(message.text)
    if word is None or (message.quote is not None and not message.quotes_me):
        return found
    target = message.quote.sent_at if message.quote is not None else None
    return _verdict(word, message.author, target, found)


def _command(text: str, name: str, *, is_addressed: bool) -> tuple[str, str] | None:
    """The name of the command that this is, and what follows it; None: it is none."""
    text = plain_command(_without_name(text, name))
    if is_addressed and (about := _ABOUT_COMMAND.fullmatch(text)) is not None:
        return "help", about["asked"] or about["quoted"] or ""
    command = _COMMAND.fullmatch(text)
    return None if command is None else (command[1].lower(), (command[2] or "").strip())


def _verdict(word: Word, author: PersonId, target: SentId | None, instead: Question | Talk | None) -> Verdict:
    return Verdict(author=author, target=target, is_yes=word != "no", is_always=word == "always", instead=instead)


def _is_bare(message: Incoming, name: str) -> bool:
    """Whether somebody in a group calls Aldis and says nothing besides."""
    if message.attachments or message.sticker or message.extras or message.view_once:
        return False
    is_called = message.mentions_me or re.search(r"\w", _own_text(message)) is not None
    only_name = re.fullmatch(rf"\W*(?:@?{re.escape(name)}\W*)*", _own_text(message), re.IGNORECASE) is not None
    return message.chat.is_group and is_called and only_name


def _addressed(message: Incoming, name: str) -> bool:
    return message.mentions_me or message.quotes_me or _called(_own_text(message), name)


def _own_text(message: Incoming) -> str:
    """The text without the names of those whom it mentions: they chose them, and could call or command in them."""
    text = message.text
    for named in sorted((one.name for one in message.mentioned), key=len, reverse=True):
        text = text.replace(f"@{named}", "@")
    return text


def _without_name(text: str, name: str) -> str:
    """The text without the name that a command may follow: `Aldis, /help`."""
    return re.sub(
        rf"^\s*@?{re.escape(name)}\s*[,:]?\s+(?=[\"“„«'‘`]?[/\uff0f\u2044\u2215])", "", text, flags=re.IGNORECASE
    ).strip()


def _called(text: str, name: str) -> bool:
    """Whether the text calls somebody by this name: first (after a greeting or not), or last after a comma."""
    called = re.escape(name)
    first = rf"^\W*(?:(?:hey|hi|hello|ok|okay|hallo|salut|hola|dear)\W+)?@?{called}(?!\w)"
    last = rf",\s*@?{called}\W*$"
    return re.search(f"{first}|{last}", text, re.IGNORECASE) is not None
