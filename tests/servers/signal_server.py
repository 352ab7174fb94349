"""The common part of the doubles of both Signal bridges: the people behind them, and what was sent to them.

A test uses `tests.servers.signal_cli.SignalCli` and `tests.servers.signal_rest_api.SignalRestApi` in the same way:

    async with SignalCli() as server:
        await server.deliver(message("hi"))       # frames come from tests.servers.envelopes
        [sent] = await server.sent_count(1)        # waits for the first reply
        server.visible(ALICE.chat)                 # what she sees of us now, after edits and deletions
"""

import asyncio
import base64
import binascii
import hashlib
import json
import re
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar, cast
from urllib.parse import unquote_plus

from aiohttp import web

from tests.servers.base import Answer, Seen, Server
from tests.servers.envelopes import (
    ACCOUNT,
    ALDIS,
    ALICE,
    BOB,
    CAROL,
    GROUP,
    GROUP_NAME,
    MALLORY,
    Frame,
    Person,
    group_change,
    note,
    receipt,
    sync_read,
    timestamp,
)
from tests.waiting import WAIT_SECONDS

T = TypeVar("T")

End = Literal["drop", "close", "silence"]
"""How a stream of envelopes ends: broken in the middle, in good order, or not at all but mute."""


@dataclass(frozen=True, kw_only=True)
class Parcel:
    """What goes out to people and what their phones confirm: a message or a deletion; a reaction is just this."""

    recipient: str | None
    """The uuid or number of a direct message."""
    group: str | None
    timestamp: int

    @property
    def chat(self) -> str:
        return f"group:{self.group}" if self.group else f"direct:{self.recipient}"


@dataclass(frozen=True, kw_only=True)
class SentFile:
    name: str
    content_type: str
    data: bytes


@dataclass(frozen=True, kw_only=True)
class Reaction:
    chat: str
    author: str
    target: int
    emoji: str
    removed: bool


@dataclass(frozen=True, kw_only=True)
class Sent(Parcel):
    text: str
    styles: tuple[str, ...]
    """`start:length:STYLE` in UTF-16 units."""
    quote_timestamp: int | None
    quote_author: str | None
    quote_text: str | None
    edits: int | None = None
    mentions: tuple[str, ...] = ()
    files: tuple[SentFile, ...] = ()
    is_voice_note: bool = False
    notifies_self: bool = False
    """Whether it goes to the account itself as a message of its own, of which phones make a notification."""


@dataclass(frozen=True, kw_only=True)
class Removed(Parcel):
    target: int


class Refused(Exception):
    """What signal-cli refuses: its error code, its sentence, and what it had written before it failed."""

    def __init__(self, code: int, words: str, response: Any = None) -> None:
        super().__init__(words)
        self.code = code
        self.response = response


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How one send goes; the default goes well. Put plans into `plans`: the next sends take them in order, and edits,
    deletions and notes to self are sends, too.
    """

    results: tuple[str, ...] = ()
    """Per recipient, e.g. `("SUCCESS", "NETWORK_FAILURE")`; empty means all `SUCCESS`."""
    retry_after_seconds: int | None = None
    """Stands with every `RATE_LIMIT_FAILURE` of signal-cli; the rest-api drops it."""
    challenge: str | None = None
    """The token of the captcha that Signal wants solved; stands with every `RATE_LIMIT_FAILURE`."""
    error: int | None = None
    """A JSON-RPC error code of signal-cli instead of results; the rest-api makes 400 or 429 of it."""
    words: str | None = None
    """signal-cli's sentence with that error, which the rest-api hands on; None: the one that belongs to the code."""
    goes_out: bool | None = None
    """Whether the message reaches people all the same; None follows from results and error."""
    delay_seconds: float = 0
    """Between going out and the answer: how to answer after the client's deadline."""
    answer: Answer | None = None
    """An HTTP answer in place of the regular one; `hang` never answers, `cut` closes the connection."""

    @property
    def succeeds(self) -> bool:
        """Whether anybody gets the message, as far as the answer tells."""
        return self.error is None and self.answer is None and (not self.results or "SUCCESS" in self.results)

    @property
    def code(self) -> int:
        """The error code of signal-cli, where nobody gets it: as set, or as it follows from the results."""
        if self.error is not None:
            return self.error
        kinds = set(self.results)
        return -4 if kinds == {"IDENTITY_FAILURE"} else -5 if kinds == {"RATE_LIMIT_FAILURE"} else -1

    def sentence(self, *, in_group: bool) -> str:
        """What signal-cli says of that error; its exceptions tell of something before a send, or of a group."""
        if self.words is not None:
            return self.words
        odd = "Failed to send message: Connection reset (SocketException) (UnexpectedErrorException)"
        return {
            -1: "Failed to send message",
            -3: "Failed to send message: Connection closed!",
            -4: "Failed to send message due to untrusted identities",
            -5: "Failed to send message due to rate limiting",
        }.get(self.code, odd if in_group else "null (NullPointerException)")


async def cut(_: Seen) -> web.StreamResponse:
    """An answer for `Plan`: the connection is closed without one."""
    return web.Response()


FIRST_LONG = 2**31
NO_LONG = "class java.lang.Integer cannot be cast to class java.lang.Long (ClassCastException)"
"""What signal-cli makes of a smaller number where it wants a timestamp. Seen on signal-cli 0.13.14 (2026-11-22)."""

NO_SESSION = (
    "Failed to send message: org.signal.libsignal.protocol.InvalidSessionException: Session not found. (IOException) "
    "(UnexpectedErrorException)"
)
"""What signal-cli says where a session is gone when it wants to use it; seen on 0.13.14 (2026-11-23)."""

UNTRUSTED = "UNTRUSTED"
CAPTCHA_REJECTED = "Captcha rejected, it may be outdated, already used or solved from a different IP address."


@dataclass(kw_only=True)
class Key:
    """The identity key of a person, as signal-cli has it; a new phone brings a new one."""

    person: Person
    number: int = 1
    level: Literal["UNTRUSTED", "TRUSTED_UNVERIFIED"] = "TRUSTED_UNVERIFIED"
    added_at: int = 1_700_000_000_000
    former: "Key | None" = None
    """The one that signal-cli believes in until it has tried to send something to the new one; None: it knows."""

    @property
    def fingerprint(self) -> str:
        return "05" + self._digest().hex()

    @property
    def safety_number(self) -> str:
        digits = f"{int.from_bytes(self._digest()):060d}"[-60:]
        return " ".join(digits[place : place + 5] for place in range(0, 60, 5))

    def _digest(self) -> bytes:
        return hashlib.sha256(f"{self.person.uuid}|{self.number}".encode()).digest()


DEVICE = 3
"""Which device of the account Aldis is where it is linked to a phone."""

RECIPIENT = re.compile(r"\+[1-9]\d{6,14}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

_DATA_URI = re.compile(r"data:(.+?/.+?)?(;.+?)?(;base64)?,(.+)", re.DOTALL)


def file_of(uri: str) -> SentFile:
    """The file in a data URI, read as signal-cli does; without a name, a type and base64 it is a mistake of ours."""
    found = _DATA_URI.fullmatch(uri)
    name = unquote_plus(((found and found[2]) or "").removeprefix(";filename="))
    if not found or not found[1] or not found[3] or not name or set(name) & set("/\\;=,"):
        raise Refused(-32603, "Failed to send message: attachment invalid")
    try:
        return SentFile(name=name, content_type=found[1], data=base64.b64decode(found[4], validate=True))
    except binascii.Error as error:
        raise Refused(-32603, "Failed to send message: attachment invalid") from error


def utf16_units(text: str) -> int:
    """How long a text is as Signal counts."""
    return len(text.encode("utf-16-le")) // 2


def _without_content(frame: Frame) -> Frame:
    """What signal-cli says of a frame that it cannot decrypt for its author's key is not trusted."""
    names = ("source", "sourceNumber", "sourceUuid", "sourceName", "sourceDevice", "timestamp")
    times = ("serverReceivedTimestamp", "serverDeliveredTimestamp")
    bare = {name: frame["envelope"][name] for name in (*names, *times) if name in frame["envelope"]}
    exception = {
        "message": f"Untrusted identity: {frame['envelope']['sourceUuid']}",
        "type": "UntrustedIdentityException",
    }
    return {**frame, "envelope": bare, "exception": exception}


@dataclass(frozen=True)
class ListedGroup:
    """A group as both bridges know it; people as `_listed` has them."""

    id: str
    name: str
    is_member: bool = False
    members: list[Frame] = field(default_factory=list[Frame])
    invited: list[Frame] = field(default_factory=list[Frame])


def _parcel_to(chat: str) -> Parcel:
    kind, _, name = chat.partition(":")
    is_group = kind == "group"
    return Parcel(recipient=None if is_group else name, group=name if is_group else None, timestamp=timestamp())


def _listed(people: Iterable[Person]) -> list[Frame]:
    return [{"number": person.number, "uuid": person.uuid} for person in people]


@dataclass
class SignalServer(Server, ABC):
    """A bridge with one account; `async with` starts and stops it. `deliver` is the way in, `sent` the way out."""

    accounts: list[str] = field(default_factory=lambda: [ACCOUNT])
    groups: dict[str, tuple[Person, ...]] = field(default_factory=lambda: {GROUP: (ALICE, BOB, CAROL)})
    """The groups the account is in, by id: their other members."""
    former_groups: tuple[str, ...] = ()
    """The groups that it has left: still listed, as such."""
    invitations: dict[str, tuple[Person, ...]] = field(default_factory=dict[str, tuple[Person, ...]])
    """The groups that it is invited to, by id: their members. They are listed, it can send nothing there, and nothing
    that is written there comes. Source: signal-cli 0.13.14, `SendHelper.getGroupForSending` (2026-11-24).
    """
    people: tuple[Person, ...] = (ALICE, BOB, CAROL, MALLORY)
    own: Person | None = ALDIS
    """What the account knows of itself; None: nothing."""
    receipts_mode: Literal["at_once", "on_call", "never"] = "at_once"
    """When people's phones confirm what was sent; `on_call` waits for `confirm()`."""
    echoes: bool = False
    """Whether notes to self that Aldis sends come back to Aldis, too."""
    newcomers: set[str] = field(default_factory=set[str])
    """To whom signal-cli has never sent anything, by uuid. It throws its first session with them away a moment later: a
    message to a group that comes before that is answered with an error, misses them, and has gone to the others.

    Source: seen with 0.13.14 (2026-11-23); 0.14.6, `IdentityKeyStore.saveNewIdentity`.
    """
    missed: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    """Whom messages to groups have missed so: (uuid, timestamp)."""
    devices: list[tuple[int, str]] = field(default_factory=lambda: [(1, "phone"), (DEVICE, "Aldis")])
    files: dict[str, bytes] = field(default_factory=dict[str, bytes])
    """What the bridge has fetched for messages, by the attachment's id."""
    upload_fails: str | None = None
    """What happens to files on their way to Signal, in signal-cli's words; None: they are taken."""
    stickers: dict[tuple[str, int], str] = field(default_factory=dict[tuple[str, int], str])
    """The emoji of the stickers that the bridge knows, by pack and number."""
    plans: deque[Plan] = field(default_factory=deque[Plan])
    links_begun: int = 0
    link_seconds: float = 60.0
    limited_by: str | None = None
    """The token of the captcha that Signal wants solved before anything is sent; None: it wants none."""
    captcha: str = "signal-hcaptcha.5fad97ac-7d06-4e44-b18a-b950b20148ff.challenge.P1_eyJ0eXAiOiJKV1Q"

    sent: list[Sent] = field(default_factory=list[Sent])
    """All messages to people that went out, each revision by itself, oldest first; see `visible`."""
    removed: list[Removed] = field(default_factory=list[Removed])
    notes: list[Sent] = field(default_factory=list[Sent])
    read: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    """Read receipts that were sent: (recipient, timestamp)."""
    reactions: list[Reaction] = field(default_factory=list[Reaction])
    """What was put on messages or taken off them, oldest first; see `shown_on`."""
    typing: list[tuple[str, bool]] = field(default_factory=list[tuple[str, bool]])
    """Typing indicators that were sent: (chat id, started)."""
    streams_opened: int = 0
    """How many streams of envelopes there were so far, the closed ones included."""
    streams_open: int = 0
    lost: list[str] = field(default_factory=list[str])
    """The frames that were fetched and handed to nobody."""

    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    _unconfirmed: list[Parcel] = field(default_factory=list[Parcel])
    _out: list[Parcel] = field(default_factory=list[Parcel])
    _arrived: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])
    _keys: dict[str, Key] = field(default_factory=dict[str, Key])
    _withheld: list[tuple[str, Frame]] = field(default_factory=list[tuple[str, Frame]])
    """What came from people whose key is not trusted, until it is."""
    _is_to_retry: bool = False
    """Whether it looks for what it keeps as soon as it has handed on another frame, or a minute has passed."""

    def has_account(self, name: str | None) -> bool:
        own = self.own.uuid if self.own else None
        return name in self.accounts or (name is not None and name == own and any(map(self._is_own, self.accounts)))

    def _is_own(self, name: str) -> bool:
        return self.own is not None and name in {self.own.uuid, self.own.number}

    def _addressed(self, frame: Frame) -> Frame:
        """The frame as signal-cli writes it for the account with the number that it has by now, or for its uuid."""
        if self.own is None or self.own.number == ACCOUNT:
            return frame
        return {name: self._known(name, value) for name, value in frame.items()}

    def _known(self, name: str, value: object) -> object:
        if isinstance(value, dict):
            return self._addressed(cast("Frame", value))
        if value != ACCOUNT or self.own is None:
            return value
        return self.own.number if name.endswith("Number") else self.own.number or self.own.uuid

    async def deliver(self, *frames: Frame) -> None:
        """Let frames arrive from Signal. What cannot be decrypted for a key not trusted is kept until it is."""
        for frame in map(self._addressed, frames):
            if self._is_of_no_member(frame):
                continue
            envelope = frame.get("envelope")  # the bridge writes other frames, too
            author = envelope.get("sourceUuid") if isinstance(envelope, dict) else None
            if isinstance(author, str) and author in self._keys and self._keys[author].level == UNTRUSTED:
                self._withheld.append((author, frame))
                await self.deliver_data(json.dumps(_without_content(frame), ensure_ascii=False))
            else:
                await self._deliver_content(frame)
            if self._is_to_retry:
                await self.retry()

    def _is_of_no_member(self, frame: Frame) -> bool:
        """Whether signal-cli hands it to nobody: it is for a group that its author is not in. Of edits it does not ask.

        Source: signal-cli 0.14.6, `IncomingMessageHandler.isNotAllowedToSendToGroup` (2026-11-26).
        """
        match frame.get("envelope"):
            case {"sourceUuid": author, "dataMessage": {"groupInfo": {"groupId": group}}} if group in self.groups:
                return author not in {member["uuid"] for member in self.members(group)}
            case {"dataMessage": {"groupInfo": {"groupId": group}}}:
                return group in self.former_groups
            case _:
                return False

    async def _deliver_content(self, frame: Frame) -> None:
        if isinstance(envelope := frame.get("envelope"), dict):  # the bridge writes other frames, too
            self._arrived.add((envelope.get("sourceUuid") or "", envelope.get("timestamp") or 0))
        await self.deliver_data(json.dumps(frame, ensure_ascii=False))

    async def retry(self) -> None:
        """Hand on what was kept and can be decrypted by now, as signal-cli does when it begins to receive, too."""
        self._is_to_retry = False
        kept, self._withheld = self._withheld, []
        for author, frame in kept:
            if self._keys[author].level == UNTRUSTED:
                self._withheld.append((author, frame))
            else:
                await self._deliver_content(frame)

    @abstractmethod
    async def deliver_data(self, text: str) -> None:
        """Let any text arrive where a frame should be."""

    @abstractmethod
    async def end_streams(self, how: End) -> None:
        """End every open stream, or let it fall silent without ending."""

    async def connected(self, streams_opened: int = 1) -> None:
        await self.until(lambda: self.streams_open > 0 and self.streams_opened >= streams_opened)

    async def disconnected(self) -> None:
        await self.until(lambda: self.streams_open == 0)

    async def sent_count(self, count: int) -> list[Sent]:
        """Wait until so many messages went out and give them, oldest first."""
        return await self.first(self.sent, count)

    async def first(self, repository: list[T], count: int) -> list[T]:
        """Wait until so many of a kind went out (`read`, `notes`, ...) and give them, oldest first."""
        await self.until(lambda: len(repository) >= count)
        return repository[:count]

    def visible(self, chat: str) -> list[Sent]:
        """What people see of us in a chat, oldest first: each message with the words and quote of its last revision.
        Phones drop an edit that is not of the newest revision.
        """
        revisions: list[list[Sent]] = []
        for parcel in self._out:
            if parcel.chat != chat:
                continue
            if isinstance(parcel, Removed):
                # Phones pass over the deletion of what is not in that chat.
                revisions = [known for known in revisions if parcel.target not in {sent.timestamp for sent in known}]
            elif isinstance(parcel, Sent) and parcel.edits is None:
                revisions.append([parcel])
            elif isinstance(parcel, Sent):
                for known in revisions:
                    if known[-1].timestamp == parcel.edits:
                        known.append(parcel)
        return [known[-1] for known in revisions]

    def check_target(self, chat: str, target: int, *, may_be_elsewhere: bool = False) -> None:
        """Refuse what is about a message never sent to that chat, or never at all: the real one does it in vain."""
        named = [parcel for parcel in self._out if parcel.timestamp == target]
        chats = {parcel.chat for parcel in named if isinstance(parcel, Sent)}
        if not named if may_be_elsewhere else chat not in chats:
            raise Refused(-1, "No message of this account has that timestamp there")

    def checked(self, sent: Sent) -> Sent:
        """The message, if signal-cli takes it and phones show it as it is meant."""
        if not sent.text and not sent.files:
            raise Refused(-1, "Neither message text nor attachment was given")
        if (sent.quote_timestamp is None) != (sent.quote_author is None):
            raise Refused(-1, "A quote needs its timestamp and its author")
        for mention in sent.mentions:
            start, length = map(int, mention.split(":")[:2])
            if length < 1 or start < 0 or start + length > utf16_units(sent.text):
                raise Refused(-1, "Invalid mention syntax")
        if sent.edits is not None and sent.files:
            raise Refused(-1, "Phones do not show an edit with files as one")
        if sent.edits is not None:
            self.check_target(self.chat_of(sent.recipient, sent.group), sent.edits)
        return sent

    def shown_on(self, author: str, target: int) -> str | None:
        """The emoji of ours that people see on a message; None where there is none."""
        on_it = [reaction for reaction in self.reactions if (reaction.author, reaction.target) == (author, target)]
        return None if not on_it or on_it[-1].removed else on_it[-1].emoji

    async def react(self, reaction: Reaction) -> int:
        """Put an emoji on a message that came or went out; gives the time by which phones confirm that."""
        is_emoji = reaction.emoji and not reaction.emoji.isascii() and len(reaction.emoji) <= 16
        ours = {(self.own.uuid, sent.timestamp) for sent in self._out} if self.own else set[tuple[str, int]]()
        if not is_emoji or (reaction.author, reaction.target) not in self._arrived | ours:
            raise Refused(-1, "No such message, or no emoji")
        parcel = _parcel_to(reaction.chat)
        self._arrived_at_phones(parcel)
        await self.note(self.reactions, reaction)
        await self._confirm_by_mode()
        return parcel.timestamp

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(WAIT_SECONDS), self._changed:
            await self._changed.wait_for(holds)

    async def confirm(self) -> None:
        """Let people's phones confirm everything that went out and is not confirmed yet."""
        confirmed, self._unconfirmed = self._unconfirmed, []
        for sent in confirmed:
            for person in self.recipients(sent):
                if self._is_untrusted(person) or (person.uuid, sent.timestamp) in self.missed:
                    continue
                await self.deliver(receipt([sent.timestamp], author=person))

    @property
    def link_uri(self) -> str:
        return f"sgnl://linkdevice?uuid=c29tZS11dWlk{self.links_begun}&pub_key=c29tZS1rZXk%3D&capabilities=nopni"

    async def begin_link(self) -> str:
        async with self._changed:
            self.links_begun += 1
            self._changed.notify_all()
        return self.link_uri

    def key(self, person: Person) -> Key:
        return self._keys.setdefault(person.uuid, Key(person=person))

    @property
    def keys(self) -> list[Key]:
        """The keys of everybody whom the account knows, as signal-cli lists them."""
        keys = [self.key(person) for person in self.people]
        return [key.former or key for key in keys]

    async def change_key(self, person: Person) -> Key:
        """The person has a new phone: signal-cli trusts the first key of a person, and no other. It lists the former
        one as trusted until it has tried to send something (seen with 0.13.14, 2026-11-22).
        """
        last = self.key(person)
        self._keys[person.uuid] = Key(
            person=person, number=last.number + 1, level=UNTRUSTED, added_at=timestamp(), former=last.former or last
        )
        await self.note([], None)
        return self._keys[person.uuid]

    def trust(self, recipient: str) -> None:
        """Trust somebody's newest key. What they wrote meanwhile comes behind the next frame from Signal.

        Source: signal-cli 0.13.14, `ManagerImpl.trustIdentity`, `ReceiveHelper.receiveMessagesInternal` (2026-11-24).
        """
        keys = [key for key in self.keys if recipient in {key.person.uuid, key.person.number}]
        if not keys:
            raise Refused(-1, "Failed to set the trust for this number, make sure the number is correct.")
        keys[0].level = "TRUSTED_UNVERIFIED"
        self._is_to_retry = self.is_receiving

    @property
    def waiting(self) -> int:
        """How many frames wait at Signal's server: none where the bridge drops what comes while nobody listens."""
        return 0

    @property
    def is_receiving(self) -> bool:
        """Whether the bridge fetches from Signal: only then it remembers to look for what it keeps."""
        return True

    def solve(self, challenge: str, captcha: str) -> None:
        if challenge != self.limited_by or captcha.replace("signalcaptcha://", "") != self.captcha:
            raise Refused(-6, CAPTCHA_REJECTED)
        self.limited_by = None

    def planned(self, sent: Parcel) -> Plan:
        """How this send goes: as the next plan says, else as keys and limits let it."""
        if self.plans:
            return self.plans.popleft()
        people = self.recipients(sent)
        if self.limited_by is None and sent.group and (missed := self._met(sent)):
            self.missed += [(person.uuid, sent.timestamp) for person in missed]
            return Plan(error=-32603, words=NO_SESSION, goes_out=True)
        if self.limited_by is not None:
            limited = ("RATE_LIMIT_FAILURE",) * len(people)
            return Plan(results=limited, retry_after_seconds=86_400, challenge=self.limited_by)
        kinds = tuple("IDENTITY_FAILURE" if self.meets_untrusted(person) else "SUCCESS" for person in people)
        return Plan(results=kinds) if "IDENTITY_FAILURE" in kinds else Plan()

    def _met(self, sent: Parcel) -> list[Person]:
        """Those among the recipients who were newcomers until now."""
        new = [person for person in self.recipients(sent) if person.uuid in self.newcomers]
        self.newcomers -= {person.uuid for person in new}
        return new

    async def add_to_group(self, person: Person, *, revision: int, group: str = GROUP) -> None:
        """Somebody adds a person to whom signal-cli has never sent anything, and tells the group."""
        self.groups[group] = (*self.groups[group], person)
        self.newcomers.add(person.uuid)
        await self.deliver(group_change(revision, group=group))

    def accept(self, group: str) -> bool:
        if group not in self.invitations:
            self.check_group(group)
            return False
        self.groups[group] = self.invitations.pop(group)
        return True

    async def show_typing(self, chat: str, *, started: bool) -> None:
        """People see that the account writes, or does not any more; none of them is a newcomer after that."""
        parcel = _parcel_to(chat)
        if parcel.group not in self.former_groups:
            self._met(parcel)
        await self.note(self.typing, (chat, started))

    def meets_untrusted(self, person: Person) -> bool:
        """Whether what is sent to somebody now is refused for their key, which signal-cli knows from then on."""
        if self._is_untrusted(person):
            self._keys[person.uuid].former = None
        return self._is_untrusted(person)

    def _is_untrusted(self, person: Person) -> bool:
        return person.uuid in self._keys and self._keys[person.uuid].level == UNTRUSTED

    async def scan(self, number: str) -> None:
        """The operator scans the newest QR code with the phone of that number, or of that uuid where it has none; one
        that is linked already is not linked again.
        """
        if number not in self.accounts:
            await self.note(self.accounts, number)

    def members(self, group: str) -> list[Frame]:
        return _listed((*self.groups[group], *([self.own] if self.own else [])))

    def listed_groups(self) -> Iterator[ListedGroup]:
        for group in self.groups:
            yield ListedGroup(group, self.group_name(group), is_member=True, members=self.members(group))
        for group, people in self.invitations.items():
            invited = _listed((self.own,) if self.own else ())
            yield ListedGroup(group, self.group_name(group), members=_listed(people), invited=invited)
        for group in self.former_groups:
            yield ListedGroup(group, self.group_name(group))

    def group_name(self, group: str) -> str:
        return GROUP_NAME if group == GROUP else f"Group {group[:4]}"

    def recipients(self, sent: Parcel) -> tuple[Person, ...]:
        if sent.group:
            return self.groups[sent.group]
        if sent.recipient in self.accounts:
            return (self.own or Person(uuid="", name=None, number=sent.recipient),)
        known = tuple(person for person in self.people if sent.recipient in {person.uuid, person.number})
        return known or (Person(uuid=sent.recipient or "", name=None),)

    def outcomes(self, sent: Parcel, plan: Plan) -> list[tuple[Person, str]]:
        """Who got the message and who did not, and why: one result type for each recipient."""
        people = self.recipients(sent)
        kinds = plan.results or ("SUCCESS",) * len(people)
        return [(people[number % len(people)], kind) for number, kind in enumerate(kinds)]

    def check_group(self, group: str) -> None:
        """Refuse to write to a group that the account is not in, or that there is none of."""
        if group in self.former_groups or group in self.invitations:
            raise Refused(-1, f"User is not a member in group: {self.group_name(group)} ({group})")
        if group not in self.groups:
            raise Refused(-1, f"Group not found: {group}")

    def chat_of(self, recipient: str | None, group: str | None) -> str:
        own = self.own.uuid if self.own and recipient in self.accounts else recipient
        return f"group:{group}" if group else f"direct:{own}"

    async def confirm_read(self, kind: object, recipient: str, targets: Iterable[int]) -> None:
        """Tell a person that their messages were read."""
        if not RECIPIENT.fullmatch(recipient) or kind not in {"read", "viewed"}:
            raise Refused(-1, "Invalid receipt")
        if any(self.meets_untrusted(person) for person in self.people if recipient in {person.uuid, person.number}):
            raise Refused(-4, "Failed to send message due to untrusted identities")
        for target in targets:
            await self.note(self.read, (recipient, target))

    async def send_by(
        self, plan: Plan, sent: Parcel, seen: Seen, wire: asyncio.BaseTransport | None
    ) -> web.StreamResponse | None:
        """Send as planned; gives what is answered in place of the regular answer, if anything."""
        if self.upload_fails is not None and isinstance(sent, Sent) and sent.files:
            # signal-cli uploads files before it sends, and names what it was given.
            [first, *_] = sent.files
            name = f"data:{first.content_type};filename={first.name};base64,{base64.b64encode(first.data).decode()}"
            words = f"Failed to send message: {name}: {self.upload_fails}"
            raise Refused(-32603, f"{words} (AttachmentInvalidException) (UnexpectedErrorException)")
        await self.go_out(sent, plan)
        await asyncio.sleep(plan.delay_seconds)
        if plan.answer is cut and isinstance(wire, asyncio.WriteTransport):
            wire.abort()
        if plan.answer is None:
            return None
        answer = plan.answer(seen)
        return answer if isinstance(answer, web.StreamResponse) else await answer

    async def go_out(self, sent: Parcel, plan: Plan) -> None:
        """Hand a message or a deletion to the people it is for, if the plan lets it through."""
        if not (plan.succeeds if plan.goes_out is None else plan.goes_out):
            return
        if self.own is not None and sent.recipient in {*self.accounts, self.own.uuid}:
            sent = replace(sent, recipient=self.own.uuid)
            self._out.append(sent)
            # Signal brings a note to self to the other devices of the account alone; one that shows it says so.
            if isinstance(sent, Sent):
                if self.echoes:
                    await self.deliver(note(sent.text, device=DEVICE, sent_at=sent.timestamp))
                await self.note(self.notes, sent)
                await self.deliver(sync_read([sent.timestamp]))
            elif isinstance(sent, Removed):
                await self.note(self.removed, sent)
            return
        self._arrived_at_phones(sent)
        if isinstance(sent, Sent):
            await self.note(self.sent, sent)
        elif isinstance(sent, Removed):
            await self.note(self.removed, sent)
        await self._confirm_by_mode()

    def _arrived_at_phones(self, parcel: Parcel) -> None:
        """Phones confirm all that is no typing and no receipt, reactions, too (IncomingMessageHandler.java:389)."""
        self._unconfirmed.append(parcel)
        self._out.append(parcel)

    async def _confirm_by_mode(self) -> None:
        if self.receipts_mode == "at_once":
            await self.confirm()
        elif self.receipts_mode == "never":
            self._unconfirmed.clear()

    async def note(self, repository: list[T], value: T) -> None:
        async with self._changed:
            repository.append(value)
            self._changed.notify_all()

    async def opened(self, change: int) -> None:
        self.streams_open += change  # at once: what is handed on before the lock is free belongs to the new stream
        self.streams_opened += max(change, 0)
        async with self._changed:
            self._changed.notify_all()
