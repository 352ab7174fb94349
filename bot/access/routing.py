"""Pure: decides what happens to an event from a person who may write.

Incoming --begins with /word--> Command (in a group even unaddressed)
         |-yes, no, always----> Verdict
         |-addressed----------> Question; with nothing but the name: about the last thing said
         '-not----------------> Talk (in a group, among others)
Edited --> Correction; Deleted --> Deleted
Reacted --thumb, check mark on a message of Aldis-> Verdict
        '-a cross, a stop sign; an alarm clock on a message of Aldis--> Reaction
Reacted --> Ignore

A yes, a no or an always is made of words that mean nothing else, in Aldis's languages.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from bot.events import Deleted, Edited, Event, Incoming, PersonId, Reacted, SentId

Word = Literal["yes", "no", "always"]
Wished = Literal["cancel", "done", "later"]
"""What a reaction wants of a thing that one of our messages speaks of: a cross, a check mark, an alarm clock."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """Something to answer."""

    message: Incoming
    is_bare: bool = False
    """Whether it is only Aldis's name, in a group: then the last or the quoted message is meant."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Command:
    """Something that Aldis itself should do: `/name rest`."""

    message: Incoming
    name: str
    """In lower case, without the slash."""
    rest: str
    """What follows the name; may be empty."""
    is_addressed: bool
    """Whether it is certainly meant for Aldis: other bots have commands, too."""
    confirms: int | None = None
    """The inbox id of the command that a yes or no at the end of `rest` answers; None: it is no such answer."""

    @property
    def question(self) -> Incoming | None:
        """The question of `/as NAME QUESTION`, which knows the persona; None: another command, or it asks nothing."""
        message = self.message
        name, *question = self.rest.split(maxsplit=1) or [""]
        if self.name not in AS_NAMES or not name.strip(":,.") or not (question or message.files or message.quote):
            return None
        return replace(message, text="".join(question), persona=name.strip(":,."))


@dataclass(frozen=True, kw_only=True, slots=True)
class Correction:
    """New words for an older message."""

    edit: Edited
    as_message: "Question | Command | Verdict | Talk | Ignore"
    """What the new words would be if they came as a message."""

    @property
    def is_addressed(self) -> bool:
        """Whether the new words ask something, or answer what was asked."""
        meant = self.as_message.instead if isinstance(self.as_message, Verdict) else self.as_message
        return isinstance(meant, Question)


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """Yes or no; whether anything was asked is decided elsewhere."""

    author: PersonId
    target: SentId | None
    """Our message; None if they did not quote one."""
    is_yes: bool
    is_always: bool = False
    """Whether the yes should hold permanently."""
    instead: "Question | Talk | None" = None
    """What the words mean if nothing was asked; None for a reaction."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reaction:
    """A wish to stop an answer, or to cancel or put off what our message speaks of; decided elsewhere, as a verdict."""

    reacted: Reacted
    wish: Wished


@dataclass(frozen=True, kw_only=True, slots=True)
class Talk:
    """Talk among people in a group: nothing to answer."""

    message: Incoming
    reason: str = "not_addressed"
    is_translated: bool = False
    """Whether the group has it translated."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ignore:
    """Nothing to answer; `reason` is a word for the log."""

    reason: str


Meant = Question | Command | Verdict | Talk | Ignore
Route = Meant | Correction | Deleted | Reaction

AS_NAMES = ("as", "als", "comme", "como")
"""The command that asks one question of a persona, in each language."""
SKIN_TONES = dict.fromkeys(range(0x1F3FB, 0x1F400))
"""For `str.translate`: a thumb is a thumb in any colour."""

_MAX_WORDS = 6
"""Counts each word once: "yes yes yes" is one."""
_MAX_SAID = 30
_BETWEEN = re.compile(r"[\s,.!¡;…\ufe0f]+")
_THUMBS = re.compile("[👍👎✅]")
"""People write these without a space before them."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_YES = _words("""
    yes y yeah yep yup sure course okay ok k go approved 👍
    ja jawohl jep jo klar gerne gern passt einverstanden natürlich
    oui ouais accord daccord d'accord vas-y allez sûr
    sí si claro vale dale adelante hazlo supuesto
""")
_NO = _words("""
    no n nope nah not don't dont never 👎
    nein ne nee nö nicht nie
    non pas jamais
    nunca
""")
_BESIDE_YES = _words("""
    please do it ahead that this thanks thank you right of fine good alright
    bitte mach machs mach's das es mal danke los doch in ordnung alles gut sicher
    s'il te plaît plait vous fais fais-le le bien merci
    por favor gracias bueno de que está esta
""")
_BESIDE_NO = _words("""
    please do it that this thanks thank you better
    bitte mach das es danke lieber lass sein
    merci fais le surtout mieux
    gracias por favor lo hagas mejor
""")
_ALWAYS = _words("always immer toujours siempre ✅")
_BESIDE_ALWAYS = _words("""
    yes yeah ok okay please do that this 👍 ja bitte das oui d'accord s'il te plaît sí si vale por favor esto
""")

_WORDS: Mapping[str, Word] = {"👍": "yes", "👎": "no", "✅": "always"}
_CROSSES = {"❌", "✖", "🛑", "⛔"}
_ALARM = "⏰"
_AS_PICTURE = "\ufe0f"
"""Follows a character that should be shown as an emoji."""

_NAME = r"[^\W\d_](?:[^\W\d]|-){0,30}"
_COMMAND = re.compile(rf"/({_NAME})[.,:;!…\u200b\u2060\ufeff]*(?:\s+(.*))?", re.DOTALL)


def route(event: Event | None, *, name: str, answers_always: bool = False, translates: bool = False) -> Route:
    """Decides where an event goes; people call Aldis by `name`; this group has all answered, or its talk translated."""
    others = Question if answers_always else partial(Talk, is_translated=translates)
    match event:
        case None:
            return Ignore(reason="unreadable")
        case Incoming():
            return _message(event, name, others)
        case Edited():
            meant = _message(event.message, name, others)
            asked = meant.question if isinstance(meant, Command) else None
            edit = replace(event, message=asked or event.message)
            return Correction(edit=edit, as_message=Question(message=asked) if asked else meant)
        case Deleted():
            return event
        case Reacted(removed=False):
            return _reaction(event)
        case _:
            return Ignore(reason=type(event).__name__.lower())


def is_translated(found: Route) -> bool:
    """Whether it is what people say to each other in a group that has it translated."""
    meant = found.as_message if isinstance(found, Correction) else found
    meant = meant.instead if isinstance(meant, Verdict) else meant
    return isinstance(meant, Talk) and meant.is_translated


def unanswered_message(found: Route) -> Incoming | None:
    """The message whose sender awaits an answer; None without one."""
    match found:
        case Question(message=message) | Verdict(target=None, instead=Question(message=message)):
            return message
        case Command(message=message, is_addressed=True):
            return message
        case _:
            return None


def _reaction(reacted: Reacted) -> Verdict | Reaction | Ignore:
    emoji = reacted.emoji.strip().removesuffix(_AS_PICTURE)
    word = _WORDS.get(emoji.translate(SKIN_TONES))
    if word is not None and reacted.is_on_mine:
        return _verdict(word, reacted.author, reacted.target, None)
    if emoji == _ALARM and reacted.is_on_mine:
        return Reaction(reacted=reacted, wish="later")
    if emoji in _CROSSES:
        return Reaction(reacted=reacted, wish="cancel")
    return Ignore(reason="reacted")


def _message(message: Incoming, name: str, others: Callable[..., Question | Talk]) -> Meant:
    text = _own_text(message)
    has_more = bool(message.attachments or message.sticker or message.extras or message.view_once)
    is_only_name = re.fullmatch(rf"\W*(?:@?{re.escape(name)}\W*)*", text, re.IGNORECASE) is not None
    if message.chat.is_group and not has_more and is_only_name and (message.mentions_me or re.search(r"\w", text)):
        return Question(message=message, is_bare=True)
    if not (message.text.strip() or has_more):
        return Ignore(reason="empty")
    is_addressed = message.mentions_me or message.quotes_me or _called(text, name) or not message.chat.is_group
    command = _command(message.text, name)
    if command is not None and _command(text, name):
        return Command(message=message, name=command[0], rest=command[1], is_addressed=is_addressed)
    found = Question(message=message) if is_addressed else others(message=message)
    word = None if message.attachments else parse_word(message.text)
    if word is None or (message.quote is not None and not message.quotes_me):
        return found
    target = message.quote.sent_at if message.quote is not None else None
    return _verdict(word, message.author, target, found)


def _command(text: str, name: str) -> tuple[str, str] | None:
    """The command's name and what follows it, `Aldis, /help` included; None if this is not a command."""
    called = rf"^\s*@?{re.escape(name)}\s*[,:]?\s+(?=/)"
    command = _COMMAND.fullmatch(re.sub(called, "", text, flags=re.IGNORECASE).strip())
    return None if command is None else (command[1].lower(), (command[2] or "").strip())


def _verdict(word: Word, author: PersonId, target: SentId | None, instead: Question | Talk | None) -> Verdict:
    return Verdict(author=author, target=target, is_yes=word != "no", is_always=word == "always", instead=instead)


def _own_text(message: Incoming) -> str:
    """The text without the names of people it mentions, who could choose names that call Aldis or give commands."""
    text = message.text
    for named in sorted((one.name for one in message.mentioned), key=len, reverse=True):
        text = text.replace(f"@{named}", "@")
    return text


def _called(text: str, name: str) -> bool:
    """Whether the text addresses a person by this name: first, possibly after a greeting, or last after a comma."""
    called = re.escape(name)
    first = rf"^\W*(?:(?:hey|hi|hello|ok|okay|hallo|salut|hola|dear)\W+)?@?{called}(?!\w)"
    last = rf",\s*@?{called}\W*$"
    return re.search(f"{first}|{last}", text, re.IGNORECASE) is not None


def parse_word(text: str) -> Word | None:
    """The meaning of words that mean nothing else; None if they may mean more, or anything else."""
    plain = unicodedata.normalize("NFC", text).lower().translate(SKIN_TONES).replace("’", "'")
    # Everything after the first of them is one piece, which matches none of our words.
    words = {*_BETWEEN.split(_THUMBS.sub(r" \g<0> ", plain).strip(), maxsplit=_MAX_SAID)} - {""}
    if len(words) > _MAX_WORDS:
        return None
    if words & _YES and words <= _YES | _BESIDE_YES:
        return "yes"
    if words & _NO and words <= _NO | _BESIDE_NO:
        return "no"
    return "always" if words & _ALWAYS and words <= _ALWAYS | _BESIDE_ALWAYS else None
