"""Intake: reads the transport's stream and writes down what may come in, before anything else happens to it.

    envelope --stranger--> counted, gone
             |-receipt---> proves an unknown send
             |-other-----> counted, gone
             '-else------> sealed in the inbox, committed; then the read receipt: "read" means "will be answered"

The next envelope is read only after the commit. If the inbox cannot be written, the stream is closed, so that
Signal's server keeps what comes meanwhile; the envelope in hand is written down before the stream is opened again.
That is tried for ever, with growing pauses.
Left to others: what to answer (`bot.loops.worker`).
"""

import asyncio
import logging
import random
import time
from contextlib import aclosing
from datetime import timedelta

from bot import events
from bot.clock import Clock
from bot.errors import ConfigError, Disconnected
from bot.events import Envelope, Kind, Receipt
from bot.logs import described
from bot.metrics import Counts
from bot.policy.access import AccessList, may_write
from bot.policy.routing import Question, route
from bot.transports.base import Transport
from store import Arrival, Store, StoreError

_log = logging.getLogger(__name__)

_KEPT = {Kind.MESSAGE, Kind.EDIT, Kind.DELETE, Kind.REACTION, Kind.TIMER}
_FIRST_PAUSE_SECONDS = 1.0
_LONGEST_PAUSE_SECONDS = 60.0
_MOST_RECEIPTS = 64
"""Read receipts under way at once; beyond that they are left out, for nothing depends on them."""


class Intake:
    """The loop of arrivals."""

    def __init__(
        self,
        transport: Transport,
        store: Store,
        clock: Clock,
        counts: Counts,
        *,
        allowed: AccessList,
        name: str,
        receipt_window: timedelta,
        pause_factor: float = 1.0,
    ) -> None:
        self._transport = transport
        self._store = store
        self._clock = clock
        self._counts = counts
        self._allowed = allowed
        self._name = name
        self._receipt_window = receipt_window
        self._pause_factor = pause_factor
        self._receipts: set[asyncio.Task[None]] = set()
        self._held: Envelope | None = None
        """Taken from the stream and not written down yet: nobody else has it any more."""

    @property
    def is_connected(self) -> bool:
        """Whether the stream is open, as far as one can tell."""
        return self._transport.is_open

    async def run(self) -> None:
        """Read streams for ever; ends only by cancellation.

        Raises:
            ConfigError: the bridge says that it will never work.
        """
        pause_seconds = _FIRST_PAUSE_SECONDS
        while True:
            _log.info("opening the stream of messages (number %d)", self._counts.add("streams"))
            began = time.monotonic()
            if await self._read() or time.monotonic() - began > _LONGEST_PAUSE_SECONDS:
                pause_seconds = _FIRST_PAUSE_SECONDS
            await asyncio.sleep(pause_seconds * random.uniform(0.5, 1.0) * self._pause_factor)  # noqa: S311
            pause_seconds = min(2 * pause_seconds, _LONGEST_PAUSE_SECONDS)

    async def read_once(self) -> None:
        """Read one stream to its end: for a transport that ends for good, like the terminal."""
        async with aclosing(self._transport.envelopes()) as stream:
            async for envelope in stream:
                await self.take(envelope)

    async def take(self, envelope: Envelope) -> None:
        """Write one envelope down, if it may come in.

        Raises:
            StoreError: it could not be written; it must be delivered again.
        """
        self._held = envelope
        self._counts.add(f"envelopes_{envelope.kind}")
        if envelope.kind is Kind.RECEIPT:
            await self._prove(envelope)
        elif envelope.kind is Kind.UNDECRYPTABLE:
            _log.warning("a message could not be decrypted (%d so far)", self._counts.all()["envelopes_undecryptable"])
        elif envelope.kind in _KEPT and not envelope.from_self:
            await self._keep(envelope)
        self._held = None

    async def aclose(self) -> None:
        """Give the read receipts under way up."""
        for task in self._receipts:
            task.cancel()
        await asyncio.gather(*self._receipts, return_exceptions=True)

    async def _read(self) -> bool:
        """Read one stream to its end, whatever ends it; gives whether anything came."""
        came = False
        try:
            if self._held is not None:
                await self.take(self._held)
            async with aclosing(self._transport.envelopes()) as stream:
                async for envelope in stream:
                    came = True
                    await self.take(envelope)
            _log.warning("the stream of messages ended; opening it again")
        except Disconnected as error:
            _log.warning("the stream of messages broke: %s", error)
        except StoreError as error:
            _log.error("the inbox cannot be written: %s; messages stay with Signal until it can", error)
        except ConfigError:
            raise
        except Exception as error:  # noqa: BLE001  (a bug must not make Aldis deaf)
            _log.error("the stream of messages failed: %s", described(error))
            self._held = None
        return came

    async def _keep(self, envelope: Envelope) -> None:
        if not may_write(envelope, self._allowed) or envelope.author is None or envelope.chat is None:
            _log.info(
                "a message from somebody who is not on the list was dropped (%d so far)", self._counts.add("strangers")
            )
            return
        now = self._clock.now()
        conversation = await self._store.conversation(envelope.chat, now=now)
        arrival = Arrival(
            conversation=conversation,
            account=envelope.account,
            author=envelope.author,
            device=envelope.device,
            sent_at=envelope.sent_at,
            kind=envelope.kind,
            envelope=events.dumped(envelope),
            received_at=now,
        )
        if await self._store.transaction(lambda shelves: shelves.inbox.put(arrival)) is None:
            self._counts.add("redelivered")
        elif isinstance(route(self._transport.event(envelope), name=self._name), Question):
            self._acknowledge(envelope)

    def _acknowledge(self, envelope: Envelope) -> None:
        if len(self._receipts) < _MOST_RECEIPTS:
            task = asyncio.create_task(self._transport.receipt(envelope), name="read-receipt")
            self._receipts.add(task)
            task.add_done_callback(self._receipts.discard)

    async def _prove(self, envelope: Envelope) -> None:
        receipt = self._transport.event(envelope)
        if not isinstance(receipt, Receipt):
            return
        for target in receipt.targets:
            proved = await self._store.transaction(
                lambda shelves, target=target: shelves.outbox.prove(
                    f"direct:{receipt.author}", target, window=self._receipt_window
                )
            )
            if proved:
                self._counts.add("sends_proved")
                _log.debug("a receipt came before the bridge's own answer, and proves the send")
