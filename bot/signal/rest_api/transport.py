"""Signal by an existing signal-cli-rest-api (mode json-rpc): a websocket comes in, signalbot's client sends out.

Of signalbot only the HTTP clients are used. Its pipeline is not: it goes deaf on a frame that it does not know, and for
good when the server closes in order, and it holds what arrived in memory. Even so this bridge is best effort: it loses
what arrives while no websocket is open, and part of a burst; `signal_cli` does not.

Left to others: what frames mean (`envelope`), styles (`styled`), when to connect
again (intake), what to do about a send of unknown outcome (sender), the form of a request (`requests`).

Source: signalbot 2.2.1; signal-cli-rest-api 0.101 and commit a08db23, which was run (2026-11-22).
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Literal

from signalbot._generated import Receipt, RemoteDeleteRequest, SendReactionRequest, TypingIndicatorRequest
from signalbot._generated.api.receipt_type import ReceiptType

from bot.errors import CallRefused, ConfigError, Disconnected, SendUnknown, TransportError
from bot.events import Account, Attachment, ChatId, Envelope, PersonId, Removal, Reply, SentId, Styled
from bot.invocation import command_line
from bot.signal.bridge_versions import Release
from bot.signal.directory import (
    accounts_in,
    contacts_in,
    former_groups_in,
    groups_in,
    identities_in,
    invitations_in,
)
from bot.signal.files import check_size
from bot.signal.json import as_object, text_in
from bot.signal.protocol import Contact, Group, Identity
from bot.signal.rest_api.about import check_about
from bot.signal.rest_api.clients import (
    CONNECT_SECONDS,
    BridgeRefusal,
    Clients,
    as_disconnected,
    as_fetched,
    as_log,
    as_outcome,
    file_path,
)
from bot.signal.rest_api.errors import challenge_in
from bot.signal.rest_api.requests import message_of, recipient_of
from bot.signal.rest_api.send_results import parse_sent_id
from bot.signal.rest_api.websocket import Connection, frames_of, open_websocket
from bot.signal.send_errors import NO_CHALLENGE
from bot.signal.signal_bridge import SignalBridge

_log = logging.getLogger(__name__)

MAX_PAUSE_SECONDS = 0.6
"""The pause between two attempts to reach the bridge: together with `CONNECT_SECONDS` less than the two seconds within
which Aldis must be back after the bridge."""


class RestApi(SignalBridge):
    """A `Transport` over the bridge at `url` for an account.

    The deadlines are in seconds: `silence` for a websocket that does not answer pings, `send` for a message or a file,
    `call` for anything else. For `name` and `notes_of` see `SignalBridge`.
    """

    keeps_messages = False
    max_pause_seconds = MAX_PAUSE_SECONDS

    def __init__(
        self,
        url: str,
        account: Account,
        *,
        name: str = "Aldis",
        notes_of: str | None = None,
        silence_seconds: float = 20,
        send_seconds: float = 60,
        call_seconds: float = 10,
        connect_seconds: float = CONNECT_SECONDS,
    ) -> None:
        super().__init__(account, name=name, notes_of=notes_of)
        self._name = account.name
        """The account's name in addresses."""
        self.is_open = False
        self._connection: Connection | None = None
        """The last one, open or not."""
        self._closing: asyncio.Task[None] | None = None
        self._is_stopping = False
        self._silence_seconds = silence_seconds
        self._send_seconds = send_seconds
        self._call_seconds = call_seconds
        self._clients = Clients(url, account.name, connect_seconds)
        # At DEBUG the library logs every frame, and with it what people wrote.
        logging.getLogger("websockets").setLevel(logging.WARNING)

    @property
    def heard_at(self) -> float | None:
        """When the last sign of life came over a websocket; see `Transport.heard_at`."""
        return self._connection.heard_at if self._connection else None

    # Incoming

    async def envelopes(self) -> AsyncGenerator[Envelope]:
        """Yields the frames of one connection; see `Transport.envelopes`.

        What the bridge has to say of the account is asked beside the reading, for what waits at the bridge is dropped.
        """
        check_about(as_object(await self._ask("/v1/about")))
        async with self._websocket() as websocket:
            looking = asyncio.create_task(self._look_up())
            looking.add_done_callback(lambda task: self._end_if_failed(task, websocket))
            try:
                if self._notes_of is not None:
                    await asyncio.wait([looking], timeout=self._call_seconds)
                async for raw in frames_of(websocket):
                    envelope = self._reader.envelope(raw)
                    if envelope is not None:
                        await self._heard(raw, envelope)
                        yield envelope
                if looking.done():
                    looking.result()
            finally:
                looking.cancel()
                await asyncio.wait([looking])

    def _end_if_failed(self, looking: asyncio.Task[None], websocket: Connection) -> None:
        """Closes the websocket of an account that the bridge does not have: it would stay silent."""
        if not looking.cancelled() and looking.exception() is not None:
            self._closing = asyncio.create_task(websocket.close())

    async def check_receiving(self) -> None:
        """Checks that the bridge has the right mode and the account; see `Transport.check_receiving`."""
        check_about(as_object(await self._ask("/v1/about")))
        await self._check_account()

    def stop_receiving(self) -> None:
        """Closes the websocket in order, and hands out what has arrived; see `Transport.stop_receiving`."""
        if not self._is_stopping and self._connection is not None and self.is_open:
            self._closing = asyncio.create_task(self._connection.close())
        self._is_stopping = True

    async def _check_account(self) -> None:
        """Checks that the bridge has the account; otherwise there would just be silence."""
        if not await self.is_linked():
            raise ConfigError(
                "SIGNAL__ACCOUNT: signal-cli-rest-api does not know this account;"
                f" link it with `{command_line('link')}`"
            )

    async def _look_up(self) -> None:
        """Checks the account, and asks who it is.

        A bridge that does not answer this is no reason to stay away: what arrives in the meantime would be lost.
        """
        try:
            await self._check_account()
        except Disconnected as error:
            _log.warning("signal-cli-rest-api does not say whether it has the account: %s", error)
        if self._notes_of is not None:
            await self._learn_own_device(self._ask(f"/v1/devices/{self._name}"))

    async def _ask(self, path: str) -> object:
        return await self._clients.ask(path, timeout_seconds=self._call_seconds)

    async def _told(self, path: str) -> object:
        """Like `_ask`, once the stream has shown that this is a bridge: its refusals may pass.

        Raises:
            Disconnected: it did not tell.
        """
        try:
            return await self._ask(path)
        except ConfigError as error:
            raise Disconnected(str(error)) from error

    @asynccontextmanager
    async def _websocket(self) -> AsyncGenerator[Connection]:
        with as_disconnected():
            websocket = await open_websocket(
                self._clients.receive_uri, open_seconds=self._call_seconds, silence_seconds=self._silence_seconds
            )
        self._connection = websocket
        try:
            _log.info("connected to signal-cli-rest-api")
            self.is_open = True
            yield websocket
        finally:
            self.is_open = False
            await websocket.close()

    # Outgoing

    async def send(self, reply: Reply) -> SentId:
        """Sends one message; see `Transport.send`."""
        ready = await self._ready(reply)
        message = message_of(ready, account=self._name, recipient=self._recipient(reply.chat))
        in_group = reply.chat.is_group
        async with self._sending(in_group=in_group):
            sent_id = parse_sent_id(await self._clients.plain.send(message), self.missed, in_group=in_group)
        self._reader.remember(sent_id)
        return sent_id

    async def remove(self, removal: Removal) -> SentId:
        """Deletes one of our own messages for everybody; see `Transport.remove`."""
        self._check_target(removal.chat, removal.target)
        request = RemoteDeleteRequest(recipient=self._recipient(removal.chat), timestamp=removal.target)
        async with self._sending(in_group=removal.chat.is_group):
            sent_id = parse_sent_id(await self._clients.plain.remove(self._name, request), self.missed, in_group=True)
        self._reader.remember(sent_id)
        return sent_id

    async def note_to_self(self, text: str) -> SentId:
        """Sends a message to the account itself; see `Transport.note_to_self`."""
        return await self.send(Reply(chat=ChatId.direct(self.account), content=Styled(text=text)))

    def _recipient(self, chat: ChatId) -> str:
        return self._name if self._reader.is_own_chat(chat) else recipient_of(chat)

    @asynccontextmanager
    async def _sending(self, *, in_group: bool) -> AsyncGenerator[None]:
        """Applies the deadline of a send, translates its failure, and notes whether Signal wants a captcha."""
        try:
            with as_outcome(is_group=in_group):
                async with asyncio.timeout(self._send_seconds):
                    yield
        except TransportError as error:
            if isinstance(error.__cause__, BridgeRefusal):
                self.challenge = challenge_in(error.__cause__.body) or self.challenge
            raise
        self.challenge = None

    async def typing(self, chat: ChatId, *, started: bool) -> None:
        """Shows or hides that Aldis is typing; see `Transport.typing`."""
        if not self._shows_typing(chat):
            return
        messages = self._clients.messages
        tell = messages.start_typing if started else messages.stop_typing
        revision = self._sessions.revision(chat)
        with as_log("a typing indicator", logging.DEBUG):
            async with asyncio.timeout(self._call_seconds):
                await tell(TypingIndicatorRequest(recipient=recipient_of(chat)))
            self._sessions.complete(chat, revision)

    async def react(
        self, chat: ChatId, author: PersonId, sent_at: SentId, emoji: str, *, removed: bool
    ) -> SentId | None:
        """Puts an emoji on a message, or removes it; see `Transport.react`."""
        if not self._may_mark(chat, sent_at):
            return None
        reaction = SendReactionRequest(
            recipient=self._recipient(chat), target_author=author, timestamp=sent_at, reaction=emoji
        )
        try:
            with as_outcome(is_group=chat.is_group):
                async with asyncio.timeout(self._call_seconds):
                    if removed:
                        gone = reaction.model_dump(exclude_none=True, by_alias=True)
                        await self._clients.plain.do("delete", f"/v1/reactions/{self._name}", gone)
                    else:
                        await self._clients.reactions.react(reaction)
        except SendUnknown:
            raise
        except TransportError as error:
            _log.info("a reaction failed: %s", error)
        return None

    async def receipt(self, *envelopes: Envelope) -> None:
        """Tells the author that these messages were read; in a group, too, this goes to the author alone."""
        for envelope in envelopes:
            if envelope.author is None or not self._tells_reading(envelope):
                continue
            receipt = Receipt(receipt_type=ReceiptType.READ, recipient=envelope.author, timestamp=envelope.sent_at)
            with as_log("a read receipt"):
                async with asyncio.timeout(self._call_seconds):
                    await self._clients.receipts.send(receipt)

    # Files

    async def attachment(self, chat: ChatId, attachment: Attachment, *, max_bytes: int) -> bytes:  # noqa: ARG002
        """Returns the content of a file, whichever chat it came in; see `Transport.attachment`."""
        check_size(attachment.size_bytes, max_bytes)
        with as_fetched():
            async with asyncio.timeout(self._send_seconds):
                return await self._clients.plain.bytes_at(file_path(attachment.id), max_bytes=max_bytes)

    async def discard(self, attachment: Attachment) -> None:
        """Deletes the bridge's copy of a file; see `Transport.discard`."""
        with as_log("the deletion of a file"):
            async with asyncio.timeout(self._call_seconds):
                await self._clients.plain.do("delete", file_path(attachment.id))

    # The account

    async def is_linked(self) -> bool:
        """Whether the bridge still has the account; see `Transport.is_linked`."""
        accounts = accounts_in(await self._told("/v1/accounts"))
        # An account without a number is listed without a name.
        return any(account.is_called(self._name) or account.name == (self.number or "") for account in accounts)

    async def release(self) -> Release:
        """Returns the bridge's version, not that of the signal-cli in it; see `Transport.release`."""
        return Release(bridge="rest_api", version=text_in(as_object(await self._told("/v1/about")), "version"))

    async def groups(self) -> tuple[Group, ...]:
        """Returns the groups that the account is in; see `Transport.groups`."""
        return groups_in(await self._told(f"/v1/groups/{self._name}?expand=true"), id_field="internal_id")

    async def invitations(self) -> tuple[Group, ...]:
        """Returns the groups that the account is invited to; see `Transport.invitations`."""
        listed = await self._told(f"/v1/groups/{self._name}?expand=true")
        return invitations_in(listed, id_field="internal_id", account=self._account)

    async def former_groups(self) -> frozenset[str]:
        """Returns the groups that the account is in no more; see `Transport.former_groups`."""
        listed = await self._told(f"/v1/groups/{self._name}?expand=true")
        return former_groups_in(listed, id_field="internal_id", account=self._account)

    async def join(self, group: str) -> None:
        """Accepts an invitation; see `Transport.join`."""
        await self._do("post", f"/v1/groups/{self._name}/{recipient_of(ChatId.group(group))}/join", {})

    async def contacts(self) -> tuple[Contact, ...]:
        """Returns the people that the account knows; see `Transport.contacts`."""
        found = await self._told(f"/v1/contacts/{self._name}?all_recipients=true")
        return contacts_in(found, account=self._account)

    async def identities(self) -> tuple[Identity, ...]:
        """Returns the keys of everybody that the bridge knows; see `Transport.identities`."""
        return identities_in(await self._told(f"/v1/identities/{self._name}"))

    async def trust(self, person: PersonId, *, safety_number: str | None = None) -> None:
        """Trusts the key that this person has now; see `Transport.trust`."""
        how = {"trust_all_known_keys": True} if safety_number is None else {"verified_safety_number": safety_number}
        await self._do("put", f"/v1/identities/{self._name}/trust/{person}", how)

    async def submit_challenge(self, captcha: str) -> None:
        """Hands in the solution of a captcha; see `Transport.submit_challenge`."""
        if self.challenge is None:
            raise CallRefused(NO_CHALLENGE)
        solution = {"challenge_token": self.challenge, "captcha": captcha}
        await self._do("post", f"/v1/accounts/{self._name}/rate-limit-challenge", solution)
        self.challenge = None

    async def _do(self, method: Literal["put", "post"], path: str, body: Mapping[str, object]) -> None:
        try:
            await self._clients.do(method, path, body, timeout_seconds=self._send_seconds)
        except ConfigError as error:
            raise Disconnected(str(error)) from error

    async def aclose(self) -> None:
        """Closes the connections; the transport is not used afterwards."""
        if self._closing is not None:
            await asyncio.wait([self._closing])
        await self._clients.sessions.close()
