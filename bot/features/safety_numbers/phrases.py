"""The sentences about safety numbers that have changed."""

from datetime import datetime

from bot.chat.intents import plain_name
from bot.i18n.catalogues import Sentence, say
from bot.i18n.locale import moment

ABOUT_TRUST = Sentence("ABOUT_TRUST", "shows whose safety number has changed, or trusts the new one.")
NO_SUSPECTS = Sentence("NO_SUSPECTS", "All safety numbers are trusted.")
NOT_SUSPECT = Sentence("NOT_SUSPECT", "Nobody with that label has a new safety number; `/trust` shows who does.")
TRUST_CHANGED_AGAIN = Sentence(
    "TRUST_CHANGED_AGAIN", "The safety number has changed again since I told you. `/trust` shows the newest one."
)
TRUST_OWN = Sentence("TRUST_OWN", "That's your own safety number; somebody else has to trust it.")
TRUST_REFUSED = Sentence(
    "TRUST_REFUSED", "The bridge to Signal refused. If you gave me the number, it isn't the one I see."
)
_IDENTITY_CHANGED = Sentence(
    "IDENTITY_CHANGED",
    "{name} has a new safety number. Usually that's a new phone; it can also be somebody who has taken "
    "over their phone number. Until it is trusted I can't read or answer them, and my answers wait. "
    "Check with them some other way, then write `/trust {label}`. `/trust` alone shows the new number, "
    "to compare.",
)
_SUSPECT = Sentence("SUSPECT", "{name}, since {when}: {number}")
_TRUSTED = Sentence("TRUSTED", "The new safety number of {name} is trusted now. What was waiting is on its way.")


def identity_changed(name: str | None, label: str) -> str:
    """The notice that somebody's safety number has changed, and what an admin can do about it."""
    return say(_IDENTITY_CHANGED, name=_named(name, label), label=label)


def suspect(name: str | None, label: str, since: datetime, safety_number: str) -> str:
    """A line about somebody whose safety number has changed, with the new one."""
    return say(_SUSPECT, name=_named(name, label), when=moment(since), number=safety_number or "?")


def now_trusted(name: str | None, label: str) -> str:
    """The reply when a new safety number is trusted."""
    return say(_TRUSTED, name=_named(name, label))


def _named(name: str | None, label: str) -> str:
    return f"{plain_name(name)} ({label})" if name else label
