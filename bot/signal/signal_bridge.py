"""What both transports to Signal have in common; what each makes of it are its methods with an underscore.

Source: signal-cli 0.14.6, `ListGroupsCommand`, `ListContactsCommand` and `ListIdentitiesCommand` in
`org.asamk.signal.commands`; signal-cli-rest-api, commit a08db23, `src/client/client.go` (2026-11-21).
"""

import logging
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Collection
from typing import Literal

from bot.errors import CallRefused, Disconnected, SendUnknown, TransportError, Unfetchable
from bot.events import Account, Attachment, ChatId, Envelope, PersonId, SentId
from bot.signal.directory import entries_in, is_own
from bot.signal.envelope import FrameReader
from bot.signal.files import check_size, files_in
from bot.signal.json import Json, as_object, items_in, name_of, object_in, person_in, text_in
from bot.signal.protocol import Contact, Group, Identity, Progress, StreamState
from bot.signal.send_errors import UNTRUSTED, RefusedCall

_log = logging.getLogger(__name__)

Listed = Literal["groups", "contacts", "identities"]


class SignalBridge(FrameReader, ABC):
    """The part of a `SignalTransport` that does not depend on the bridge. Abstract methods raise as the one above.

    With `takes_notes` the account is a person's own: notes to self are messages, and nothing goes to other people.
    """

    def __init__(self, account: Account, stream: StreamState, *, name: str, takes_notes: bool) -> None:
        super().__init__(account, name, takes_notes=takes_notes, stream=stream)
        self.account = account.id or account.name
        self.number = account.number
        self.challenge: str | None = None
        self.missed: deque[PersonId] = deque(maxlen=1000)
        self._revisions: dict[ChatId, int] = {}
        """The revision of each group, as far as messages have named it."""
        self._reached: dict[ChatId, int | None] = {}
        """The revision of each group in which something was last sent to everyone in it."""

    async def progress(self, chat: ChatId, progress: Progress) -> None:
        """Does nothing."""

    async def typing(self, chat: ChatId, *, started: bool) -> None:
        """Shows or hides that Aldis is typing, unless it is the account's own chat; see `Transport.typing`."""
        if self.is_own_chat(chat) or self.is_out_of_bounds(chat):
            return
        revision = self._revisions.get(chat)
        if await self._type(chat, started=started):
            self._reached[chat] = revision

    @abstractmethod
    async def _type(self, chat: ChatId, *, started: bool) -> bool: ...

    async def react(
        self, chat: ChatId, author: PersonId, sent_at: SentId, emoji: str, *, removed: bool
    ) -> SentId | None:
        """Puts an emoji on a message, or removes it; see `Transport.react`."""
        if self.is_out_of_bounds(chat):
            return None
        try:
            return await self._react(chat, author, sent_at, emoji, removed=removed)
        except SendUnknown:
            raise
        except TransportError as error:
            _log.info("a reaction failed: %s", error)
            return None

    @abstractmethod
    async def _react(
        self, chat: ChatId, author: PersonId, sent_at: SentId, emoji: str, *, removed: bool
    ) -> SentId | None: ...

    async def attachment(self, chat: ChatId, attachment: Attachment, *, max_bytes: int) -> bytes:
        """Returns the content of a file; see `Transport.attachment`."""
        check_size(attachment.size_bytes, max_bytes)
        try:
            return await self._fetch(chat, attachment.id, max_bytes=max_bytes)
        except TransportError as error:
            is_final = isinstance(error, Unfetchable) or (isinstance(error, RefusedCall) and not error.may_pass)
            raise (Unfetchable if is_final else Disconnected)(f"the file was not fetched: {error}") from error

    @abstractmethod
    async def _fetch(self, chat: ChatId, id_: str, *, max_bytes: int) -> bytes: ...

    @abstractmethod
    async def discard(self, attachment: Attachment) -> None:
        """See `Transport.discard`."""

    async def receipt(self, *envelopes: Envelope) -> None:
        """Shows the author alone that these messages were read; see `Receipts.receipt`."""
        author = envelopes[0].author if envelopes else None
        if author is not None and not self.takes_notes:
            await self._confirm(author, tuple(envelope.sent_at for envelope in envelopes))

    @abstractmethod
    async def _confirm(self, author: PersonId, names: tuple[SentId, ...]) -> None: ...

    # The bridges name some fields of their lists differently: the second name is that of signal-cli-rest-api.

    async def groups(self) -> tuple[Group, ...]:
        """Returns the groups that the account is in; see `Groups.groups`."""
        return tuple(_group(entry) for entry in await self._groups("member"))

    async def invitations(self) -> tuple[Group, ...]:
        """Returns the groups that the account is invited to; see `Groups.invitations`."""
        return tuple(_group(entry) for entry in await self._groups("invited"))

    async def former_groups(self) -> frozenset[str]:
        """Returns the groups that the account is in no more; see `Groups.former_groups`."""
        return frozenset(map(_group_id, await self._groups("former")))

    async def _groups(self, standing: Literal["member", "invited", "former"]) -> list[Json]:
        """The groups in which the account has this standing."""
        listed = entries_in(await self._list("groups"))
        return [entry for entry in listed if _group_id(entry) and self._standing(entry) == standing]

    def _standing(self, entry: Json) -> str:
        if entry.get("isMember") is not False and entry.get("member") is not False:
            return "member"
        invited = (*items_in(entry, "pendingMembers"), *items_in(entry, "pending_invites"))
        return "invited" if any(is_own(as_object(one), self.own) for one in invited) else "former"

    async def contacts(self) -> tuple[Contact, ...]:
        """Returns the people that the account knows; see `Identities.contacts`."""
        found: list[Contact] = []
        for entry in entries_in(await self._list("contacts")):
            number, profile = text_in(entry, "number"), object_in(entry, "profile")
            given = text_in(profile, "givenName") or text_in(profile, "given_name")
            family = text_in(profile, "familyName") or text_in(profile, "lastname")
            name = name_of(text_in(entry, "name"), number) or name_of(f"{given} {family}".strip(), number)
            if not is_own(entry, self.own) and (person := person_in(entry, "uuid")) is not None:
                found.append(Contact(person=person, number=number or None, name=name))
        return tuple(found)

    async def identities(self) -> tuple[Identity, ...]:
        """Returns the keys of all people that the bridge knows; see `Identities.identities`."""
        return tuple(
            Identity(
                person=person,
                is_trusted=(text_in(entry, "trustLevel") or text_in(entry, "status")) != "UNTRUSTED",
                key=text_in(entry, "fingerprint"),
                safety_number=text_in(entry, "safetyNumber") or text_in(entry, "safety_number"),
            )
            for entry in entries_in(await self._list("identities"))
            if (person := person_in(entry, "uuid")) is not None
        )

    @abstractmethod
    async def _list(self, what: Listed) -> object: ...

    def _on_missed(self, missed: Collection[tuple[str, PersonId | None]]) -> None:
        if missed:
            _log.warning("a message did not reach %d members of a group", len(missed))
        self.missed.extend(person for kind, person in missed if kind == UNTRUSTED and person is not None)

    async def submit_challenge(self, captcha: str) -> None:
        """Hands in the solution of a captcha; see `Receipts.submit_challenge`."""
        if self.challenge is None:
            raise CallRefused("Signal wants no captcha solved")
        await self._solve(self.challenge, captcha)
        self.challenge = None

    @abstractmethod
    async def _solve(self, challenge: str, captcha: str) -> None: ...

    async def _read(self, frame: str) -> Envelope | None:
        """Returns a frame as an envelope; of view-once content that was left out of it the bridge's copy is deleted."""
        envelope = self.envelope(frame)
        if envelope is None:
            return None
        if envelope.chat is not None and envelope.group_revision is not None:
            self._revisions[envelope.chat] = envelope.group_revision
        for file in files_in(frame) if envelope.raw != frame else ():
            await self.discard(file)
        return envelope

    async def _ready(self, chat: ChatId) -> None:
        """Prepares a send to a chat, so that it reaches all members of a group; raises as `check_bounds`.

        signal-cli drops its first session with a person a moment after it has begun it. A message to a group that falls
        between the two misses that person, so an invisible typing indicator goes before the first message in each
        revision of the group. Seen with 0.13.14 (2026-11-23): 4 of 25 groups with two such people without it, none of
        25 with it.
        """
        self.check_bounds(chat)
        if chat.is_group and self._reached.get(chat, -1) != self._revisions.get(chat):
            await self.typing(chat, started=False)


def _group_id(entry: Json) -> str:
    return text_in(entry, "internal_id") or text_in(entry, "id")


def _group(entry: Json) -> Group:
    listed = items_in(entry, "members")
    found = (person_in(as_object(member), "uuid") for member in listed)
    members = frozenset(member for member in found if member is not None)
    name, is_complete = name_of(text_in(entry, "name")) or "", len(members) == len(listed) > 0
    return Group(id=_group_id(entry), name=name, members=members, is_complete=is_complete)
