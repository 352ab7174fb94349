"""Receipts: other devices' confirmations of our messages, which may prove a send with an unknown outcome.

Left to others: which sends they prove (`store.attempts`), storing that (`inbox_writer`).
"""

from collections.abc import Callable, Collection

from bot.access.limits import CallRate, taken_at
from bot.clock import Clock
from bot.events import ChatId, Envelope, Receipt, SentId
from bot.metrics import Counts
from bot.signal.protocol import Transport
from store import Confirmation, Repositories, Store

_MAX_RECEIPTS_A_MINUTE = 240
"""Per person: a phone confirms each message and each revision twice, as delivered and as read."""


class Receipts:
    """Reads what receipts confirm; `note_to_self`: people talk to Aldis in the account's own chat.

    `on_confirmation` is called for each message of ours that a device of the account confirms.
    """

    def __init__(
        self,
        transport: Transport,
        store: Store,
        clock: Clock,
        counts: Counts,
        *,
        note_to_self: bool,
        on_confirmation: Callable[[int], None],
    ) -> None:
        self._transport = transport
        self._store = store
        self._clock = clock
        self._counts = counts
        self._note_to_self = note_to_self
        self._on_confirmation = on_confirmation
        self._rate = CallRate(_MAX_RECEIPTS_A_MINUTE)

    async def from_self(self, envelope: Envelope) -> tuple[Confirmation, ...]:
        """Confirmations that another device of the account showed our messages, which proves sends to the account
        itself.
        """
        confirmed = self._transport.event(envelope)
        if not isinstance(confirmed, Receipt):
            return ()
        for target in confirmed.targets:
            self._on_confirmation(target)
        return (await self._shown(confirmed),) if self._note_to_self else ()

    def from_person(self, envelope: Envelope) -> tuple[Confirmation, ...]:
        """Returns what a receipt can prove; receipts beyond the limit of a minute are ignored, as phones do not send as
        many.
        """
        receipt = self._transport.event(envelope)
        if not isinstance(receipt, Receipt):
            return ()
        if self._rate.admits(receipt.author, taken_at(envelope, self._clock.now())):
            return (self._confirmation(ChatId.direct(receipt.author), receipt.targets),)
        self._counts.add("receipts_too_many")
        return ()

    async def _shown(self, confirmed: Receipt) -> Confirmation:
        """Returns what the owner's phone showed in the account's own chat, which therefore went out, unless the owner
        wrote it.
        """
        chat = ChatId.direct(confirmed.author)
        conversation = await self._store.conversation(chat, now=self._clock.now())

        def unwritten(repos: Repositories) -> list[SentId]:
            """Those the owner has not written themselves."""
            find = repos.revisions.find
            return [at for at in confirmed.targets if find(conversation, confirmed.author, at) is None]

        return self._confirmation(chat, await self._store.read(unwritten))

    def _confirmation(self, chat: ChatId, names: Collection[SentId]) -> Confirmation:
        """The confirmation that the person of this direct chat has received the messages with these names."""
        return Confirmation(address=chat, names=names, came_at=self._clock.now(), stamped_at=self._clock.wall())
