"""A transport whose both ends the test holds: what arrives, how sends go, and everything that was asked of it."""

import asyncio
import json
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from bot.doctor.findings import Finding
from bot.errors import Disconnected, NotUploaded, Unfetchable
from bot.events import Attachment, ChatId, Envelope, Event, Incoming, Kind, PersonId, Receipt, Removal, Reply, SentId
from bot.formatting.split import is_long
from bot.loops.watchdog import Watchdog
from bot.signal.protocol import Contact, Group, Identity, Progress, Release, StreamState
from tests.waiting import WAIT_SECONDS

T = TypeVar("T")

ACCOUNT = "+15550100001"


def envelope(
    text: str = "hello",
    sent_at: int = 1,
    *,
    author: str | None = "alice",
    chat: str | None = None,
    kind: Kind = Kind.MESSAGE,
    from_self: bool = False,
    targets: tuple[int, ...] = (),
) -> Envelope:
    return Envelope(
        account=ACCOUNT,
        author=None if author is None else PersonId(author),
        number=None,
        device=1,
        sent_at=SentId(sent_at),
        kind=kind,
        chat=None if author is None else ChatId(chat or f"direct:{author}"),
        raw=json.dumps({"text": text, "targets": targets}),
        from_self=from_self,
    )


@dataclass
class FakeTransport:
    """Streams are lists of envelopes or errors; each call of `envelopes` takes the next, the last one stays open."""

    streams: list[list[Envelope | Exception]] = field(default_factory=list[list[Envelope | Exception]])
    sends: list[Callable[[], SentId] | Exception] = field(default_factory=list[Callable[[], SentId] | Exception])
    """How the next sends go, deletions among them; afterwards all go well."""
    stream: StreamState = field(default_factory=lambda: StreamState(is_open=True, pause_seconds=0.0))
    """Open at first, for stories without a stream of their own."""
    sent: list[Reply] = field(default_factory=list[Reply])
    removed: list[Removal] = field(default_factory=list[Removal])
    read: list[SentId] = field(default_factory=list[SentId])
    typed: list[tuple[ChatId, bool]] = field(default_factory=list[tuple[ChatId, bool]])
    reactions: list[tuple[ChatId, PersonId, SentId, str, bool]] = field(
        default_factory=list[tuple[ChatId, PersonId, SentId, str, bool]]
    )
    files: dict[str, bytes] = field(default_factory=dict[str, bytes])
    fetched: int = 0
    """How many of them were fetched, each time counted."""
    discarded: list[str] = field(default_factory=list[str])
    opened: int = 0
    closed: int = 0
    account: str = ACCOUNT
    number: str | None = None
    known_release: Release | None = None
    challenge: str | None = None
    linked: bool | Exception = True
    known_groups: tuple[Group, ...] = ()
    """The groups that it has left."""
    known_invitations: list[Group] = field(default_factory=list[Group])
    invitations_asked: int = 0
    closed_groups: frozenset[str] = frozenset()
    """Those whose invitation the bridge still lists, but cannot accept."""
    known_contacts: tuple[Contact, ...] = ()
    directory_fails: Exception | None = None
    """How asking for groups, contacts and identities fails."""
    former: frozenset[str] = frozenset()
    missed: deque[PersonId] = field(default_factory=deque[PersonId])
    known_identities: list[Identity] = field(default_factory=list[Identity])
    trusted: list[PersonId] = field(default_factory=list[PersonId])
    captchas: list[str] = field(default_factory=list[str])
    refuses: Exception | None = None
    """How trusting and handing in a captcha fails."""
    takes_long_texts: bool = True
    """Whether what is longer than a message can hold goes out as its attachment; else it is refused like a file."""
    gate: asyncio.Event | None = None
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    stopping: asyncio.Event = field(default_factory=asyncio.Event)

    async def envelopes(self) -> AsyncGenerator[Envelope]:
        self.opened += 1
        self.stream.is_open = True
        try:
            items = self.streams.pop(0) if self.streams else []
            for item in items:
                if isinstance(item, Exception):
                    raise item
                yield item
            if not self.streams:
                await self._note()
                await self.stopping.wait()
        finally:
            self.closed += 1
            self.stream.is_open = False

    def stop_receiving(self) -> None:
        self.stopping.set()

    def event(self, envelope: Envelope) -> Event | None:
        frame = json.loads(envelope.raw)
        if envelope.author is None or envelope.chat is None or frame["text"] == "unreadable":
            return None
        if envelope.kind is Kind.RECEIPT:
            return Receipt(author=envelope.author, targets=tuple(map(SentId, frame["targets"])))
        return Incoming(
            author=envelope.author, name=None, chat=envelope.chat, sent_at=envelope.sent_at, text=frame["text"]
        )

    async def send(self, reply: Reply) -> SentId:
        if not self.takes_long_texts and is_long(reply.content):
            raise NotUploaded("the text was not taken", is_final=True)
        return await self._went_out(lambda: self.sent.append(reply))

    async def remove(self, removal: Removal) -> SentId:
        return await self._went_out(lambda: self.removed.append(removal))

    async def _went_out(self, remember: Callable[[], None]) -> SentId:
        if self.gate is not None:
            await self.gate.wait()
        how = self.sends.pop(0) if self.sends else None
        if isinstance(how, Exception):
            await self._note()
            raise how
        remember()
        await self._note()
        return SentId(1000 + len(self.sent) + len(self.removed)) if how is None else how()

    async def release(self) -> Release:
        if self.known_release is None:
            raise Disconnected("the bridge does not say")
        return self.known_release

    async def is_linked(self) -> bool:
        if isinstance(self.linked, Exception):
            raise self.linked
        return self.linked

    def _listed(self, found: T) -> T:
        if self.directory_fails is not None:
            raise self.directory_fails
        return found

    async def groups(self) -> tuple[Group, ...]:
        return self._listed(self.known_groups)

    async def invitations(self) -> tuple[Group, ...]:
        self.invitations_asked += 1
        await self._note()
        return self._listed(tuple(self.known_invitations))

    async def former_groups(self) -> frozenset[str]:
        return self._listed(self.former)

    async def join(self, group: str) -> None:
        [invited] = [one for one in self.known_invitations if one.id == group]
        if group in self.closed_groups:
            raise Disconnected("the bridge did not answer in time")
        self.known_invitations.remove(invited)
        self.known_groups += (invited,)
        await self._note()

    async def contacts(self) -> tuple[Contact, ...]:
        return self._listed(self.known_contacts)

    async def identities(self) -> tuple[Identity, ...]:
        return self._listed(tuple(self.known_identities))

    async def trust(self, person: PersonId) -> None:
        if self.refuses is not None:
            raise self.refuses
        self.trusted.append(person)
        self.known_identities = [
            replace(one, is_trusted=True) if one.person == person else one for one in self.known_identities
        ]

    async def submit_challenge(self, captcha: str) -> None:
        if self.refuses is not None:
            raise self.refuses
        self.captchas.append(captcha)
        self.challenge = None

    async def typing(self, chat: ChatId, *, started: bool) -> None:
        self.typed.append((chat, started))

    async def react(
        self, chat: ChatId, author: PersonId, sent_at: SentId, emoji: str, *, removed: bool
    ) -> SentId | None:
        self.reactions.append((chat, author, sent_at, emoji, removed))
        await self._note()
        return None

    async def attachment(self, chat: ChatId, attachment: Attachment, *, max_bytes: int) -> bytes:
        self.fetched += 1
        data = self.files.get(attachment.id)
        if data is None or len(data) > max_bytes:
            raise Unfetchable("no such file, or too large")
        return data

    async def discard(self, attachment: Attachment) -> None:
        self.files.pop(attachment.id, None)
        self.discarded.append(attachment.id)

    async def receipt(self, *envelopes: Envelope) -> None:
        self.read.extend(envelope.sent_at for envelope in envelopes)
        await self._note()

    async def progress(self, chat: ChatId, progress: Progress) -> None:
        """Shows it to no one."""

    async def aclose(self) -> None:
        """Nothing is open."""

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(WAIT_SECONDS), self.changed:
            await self.changed.wait_for(holds)

    async def _note(self) -> None:
        async with self.changed:
            self.changed.notify_all()


def watchdog_of(
    transport: FakeTransport, found: Sequence[Finding] = (), seconds: Callable[[], float] = time.monotonic
) -> Watchdog:
    """A watchdog that asks no server and tells no admin."""
    nothing: Any = None
    return Watchdog(transport, nothing, lambda: found, nothing, nothing, seconds=seconds)
