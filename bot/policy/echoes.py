"""Pure: whether a note to self is Aldis's own words that came back.

Where Aldis answers in a person's own chat with themselves, both write under the same account. What is known to have
been sent is known by its time (`store.outbox`); this is for what is on its way, whose time nobody knows yet.
"""

from collections.abc import Iterable

from bot import events
from bot.events import Edited, Event, Incoming, Reply, UnreadableEvent


def is_echo(event: Event | None, doubtful: Iterable[bytes]) -> bool:
    """Whether the event says what one of the messages says that may be under way (as the outbox keeps them)."""
    message = event.message if isinstance(event, Edited) else event
    if not isinstance(message, Incoming):
        return False
    return any(_words(stored) == message.text.strip() for stored in doubtful)


def _words(stored: bytes) -> str | None:
    """What a message in the outbox says; None where it is none, or cannot be read."""
    try:
        outgoing = events.outgoing(stored)
    except UnreadableEvent:
        return None
    return outgoing.content.text.strip() if isinstance(outgoing, Reply) else None
