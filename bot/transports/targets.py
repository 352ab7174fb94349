"""What a request to a bridge may name, and where it goes: Signal calls a message by its sender's clock, which may say
anything, and signal-cli misses people in a group to whom it has never sent anything.

What cannot be named is read and answered like everything else, without a quote, a mark on it or a read receipt. Left to
others: what a request looks like (`signal_cli`, `rest_requests`).

Source: signal-cli 0.14.6, `org.asamk.signal.jsonrpc.JsonRpcNamespace` (2026-11-22): a number below 2^31 is read as an
`Integer`, cast to a `Long`, and fails the whole request, each time.
"""

from dataclasses import replace

from bot.errors import Undeliverable
from bot.events import ChatId, Reply, SentId

MIN_NAMED = 2**31
"""25 January 1970 in milliseconds, and long before there was Signal: only a clock that was never set is earlier."""
MAX_NAMED = 253_402_300_799_999
"""The last millisecond of the year 9999. Later ones are no dates for many programs, Python among them."""


class GroupSessions:
    """In which groups signal-cli has a session with everybody, as far as anything has gone there since the start.

    It throws its first session with a person away a moment after it has begun it. A message to a group that comes
    between the two misses that person and is answered with an error, after it has gone to the others; so an indicator
    that nobody sees goes before the first one.

    Source: signal-cli 0.14.6, `IdentityKeyStore.saveNewIdentity` and `ManagerImpl` ("Archiving old sessions"); seen
    with 0.13.14: 4 of 25 groups with two such people without the indicator, none of 25 with it (2026-11-23).
    """

    def __init__(self) -> None:
        self._complete: set[ChatId] = set()

    def may_lack(self, chat: ChatId) -> bool:
        """Whether the chat is a group in which there may be somebody without one."""
        return is_group(chat) and chat not in self._complete

    def complete(self, chat: ChatId) -> None:
        """Something has gone to everybody there."""
        self._complete.add(chat)


def is_group(chat: ChatId) -> bool:
    """Whether it is a group's chat."""
    return chat.startswith("group:")


def can_be_named(sent_at: SentId) -> bool:
    """Whether a request may be about the message of this time."""
    return MIN_NAMED <= sent_at <= MAX_NAMED


def check_target(sent_at: SentId | None) -> None:
    """See that a message of ours can be edited or deleted; None: there is none.

    Raises:
        Undeliverable: its time cannot be named.
    """
    if sent_at is not None and not can_be_named(sent_at):
        raise Undeliverable("a message of such a timestamp can be neither edited nor deleted")


def without_odd_quote(reply: Reply) -> Reply:
    """The reply as it can be sent: what it quotes is left out where that cannot be named.

    Raises:
        Undeliverable: it edits what cannot be named.
    """
    check_target(reply.edits)
    if reply.quote is None or can_be_named(reply.quote.sent_at):
        return reply
    return replace(reply, quote=None)
