"""Signal by signal-cli's own daemon: what it receives comes in as it arrives, JSON-RPC calls go out.

Over a socket (`--socket` or `--tcp`, in receive mode manual) it fetches messages from Signal only while Aldis is
subscribed, so nothing is lost while Aldis is down (`subscription`). Left to others: what frames mean (`envelope`), when
to connect again (intake), what to do about a send of unknown outcome (sender), how a call travels (`rpc`).

Source: signal-cli 0.14.6, `org.asamk.signal.jsonrpc` (2026-11-22).
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, suppress
from pathlib import Path

from bot.errors import CallRefused, Disconnected, NotSent, SendUnknown, TransportError, Undeliverable, Unfetchable
from bot.events import Account, Attachment, ChatId, Envelope, PersonId, QuoteTarget, Removal, Reply, SentId
from bot.signal.bridge_versions import Release
from bot.signal.contents import stickers_in
from bot.signal.directory import (
    contacts_in,
    entries,
    former_groups_in,
    groups_in,
    identities_in,
    invitations_in,
)
from bot.signal.files import Folder, check_size, data_uri
from bot.signal.json import as_object, parse_frame, text_in, whole_in
from bot.signal.protocol import Contact, Group, Identity
from bot.signal.send_errors import NO_CHALLENGE, is_unauthorized
from bot.signal.signal_bridge import SignalBridge
from bot.signal.signal_cli.rpc import CONNECT_SECONDS, Rpc
from bot.signal.signal_cli.send_results import RpcError, challenge_in, outcome, parse_sent_id
from bot.signal.signal_cli.subscription import HOLD_SECONDS, RENEW_SECONDS, Subscription

_log = logging.getLogger(__name__)

_STICKERS_SECONDS = 10.0


class SignalCli(SignalBridge):
    """A `Transport` over the daemon at `url` for an account.

    `attachments` is the folder in which the daemon keeps received files, if Aldis can delete there. The deadlines are
    in seconds: `silence` for a stream without a sign of life, `send` for a message or a file, `call` for the rest;
    `hold` is how long an orderly end holds signal-cli up, `renew` how long a subscription can be silent before it is
    renewed. For `name` and `notes_of` see `SignalBridge`.
    """

    keeps_messages = True
    max_pause_seconds = 5.0
    """Signal's server keeps what arrives in the meantime; but people are waiting for their answers."""

    def __init__(
        self,
        url: str,
        account: Account,
        *,
        name: str = "Aldis",
        attachments: Path | None = None,
        notes_of: str | None = None,
        silence_seconds: float = 45,
        send_seconds: float = 60,
        call_seconds: float = 10,
        connect_seconds: float = CONNECT_SECONDS,
        hold_seconds: float = HOLD_SECONDS,
        renew_seconds: float = RENEW_SECONDS,
    ) -> None:
        super().__init__(account, name=name, notes_of=notes_of, is_exclusive=True)
        self._send_seconds = send_seconds
        self._call_seconds = call_seconds
        self._folder = Folder(attachments)
        self._stickers_at = 0.0
        """When stickers can be asked for again, on `time.monotonic`'s clock: strangers send stickers too."""
        self._rpc = Rpc(url, connect_seconds=connect_seconds)
        self._stream = Subscription(
            url,
            account.name,
            self._rpc,
            connect_seconds=connect_seconds,
            call_seconds=call_seconds,
            silence_seconds=silence_seconds,
            hold_seconds=hold_seconds,
            renew_seconds=renew_seconds,
        )

    @property
    def is_open(self) -> bool:
        """See `Transport.is_open`."""
        return self._stream.is_open

    @property
    def heard_at(self) -> float | None:
        """See `Transport.heard_at`."""
        return self._stream.heard_at

    # Incoming

    async def envelopes(self) -> AsyncGenerator[Envelope]:
        """Yields the frames of one connection; see `Transport.envelopes`."""
        if self._notes_of is not None:
            await self._learn_own_device(self._ask("listDevices", {}))
        await asyncio.to_thread(self._folder.sweep)
        async with aclosing(self._stream.frames()) as stream:
            async for frames in stream:
                envelopes = [envelope for frame in frames if (envelope := await self._read(frame)) is not None]
                for left, envelope in zip(range(len(envelopes) - 1, -1, -1), envelopes, strict=True):
                    self.has_next = left > 0
                    yield envelope

    async def check_receiving(self) -> None:
        """Checks that messages would come; see `Transport.check_receiving`."""
        await self._stream.check()

    def stop_receiving(self) -> None:
        """Ends `envelopes` in order; see `Transport.stop_receiving`."""
        self._stream.stop()

    async def _read(self, frame: str | None) -> Envelope | None:
        """A frame as an envelope; None if it is none."""
        if frame is None:
            self._reader.passed_over(1)
            return None
        named = text_in(parse_frame(frame), "account")
        if named and not self._account.is_called(named) and await self._is_of_another(named):
            return None
        envelope = self._reader.envelope(frame)
        if envelope is not None:
            await self._heard(frame, envelope)
            await self._learn_stickers(envelope)
        return envelope

    async def _is_of_another(self, named: str) -> bool:
        """Whether a frame is for another account, and not for ours under a new number; if so, subscribes anew.

        An account that is added to the daemon joins every subscription that is open, and what comes for it would be
        fetched for no one. Source: signal-cli 0.14.6, `SignalJsonRpcDispatcherHandler` (2026-11-27).
        """
        try:
            is_ours = not await self.is_linked() or self._account.is_called(named)
            accounts = await self._rpc.accounts(timeout_seconds=self._call_seconds)
        except Disconnected:
            return False
        if is_ours or not any(one.is_called(named) for one in accounts):
            return False
        _log.warning("signal-cli has another account now, which should have a daemon of its own; subscribing anew")
        self._stream.renew()
        return True

    async def _learn_stickers(self, envelope: Envelope) -> None:
        """Asks for the emoji of stickers, once in a while: the daemon fetches the pack of each sticker that arrives."""
        if time.monotonic() < self._stickers_at or not self._reader.lacks_emoji(envelope):
            return
        self._stickers_at = time.monotonic() + _STICKERS_SECONDS
        with suppress(Disconnected):
            self._reader.stickers = stickers_in(entries(await self._ask("listStickerPacks", {})))

    # Outgoing

    async def send(self, reply: Reply) -> SentId:
        """Sends one message; see `Transport.send`."""
        ready = await self._ready(reply)
        # In one's own chat a phone makes a notification only of what comes as a message of its own; an edit never does.
        loud = {"notifySelf": True} if self._reader.is_own_chat(ready.chat) and reply.edits is None else {}
        return await self._send("send", {**self._addressed_to(ready.chat), **_content(ready), **loud})

    async def remove(self, removal: Removal) -> SentId:
        """Deletes one of our own messages for everybody; see `Transport.remove`."""
        self._check_target(removal.chat, removal.target)
        return await self._send("remoteDelete", {**self._addressed_to(removal.chat), "targetTimestamp": removal.target})

    async def note_to_self(self, text: str) -> SentId:
        """Sends a message to the account itself; see `Transport.note_to_self`."""
        return await self._send("send", {"noteToSelf": True, "message": text})

    async def _send(self, method: str, params: Mapping[str, object]) -> SentId:
        """Makes a call that sends something; returns the id of what was sent."""
        given = {"account": self._account.name, **params}
        try:
            result = await self._rpc.call(method, given, timeout_seconds=self._send_seconds)
        except RpcError as error:
            self.challenge = challenge_in(error.response.get("response")) or self.challenge
            raise outcome(error, is_group="groupId" in params) from error
        except Unfetchable as error:
            raise SendUnknown("signal-cli's answer to a send is absurdly long") from error
        self.challenge = challenge_in(result)
        sent_id = parse_sent_id(result, self.missed)
        self._reader.remember(sent_id)
        return sent_id

    def _addressed_to(self, chat: ChatId) -> dict[str, object]:
        if chat.is_group:
            return {"groupId": [chat.id]}
        return {"noteToSelf": True} if self._reader.is_own_chat(chat) else {"recipient": [chat.id]}

    async def typing(self, chat: ChatId, *, started: bool) -> None:
        """Shows or hides that Aldis is typing; see `Transport.typing`."""
        stop = {} if started else {"stop": True}
        if self._shows_typing(chat):
            revision = self._sessions.revision(chat)
            if await self._tell("sendTyping", {**self._addressed_to(chat), **stop}) is not None:
                self._sessions.complete(chat, revision)

    async def react(
        self, chat: ChatId, author: PersonId, sent_at: SentId, emoji: str, *, removed: bool
    ) -> SentId | None:
        """Puts an emoji on a message, or removes it; see `Transport.react`."""
        if not self._may_mark(chat, sent_at):
            return None
        target = {"emoji": emoji, "targetAuthor": author, "targetTimestamp": sent_at}
        params = {"account": self._account.name, **self._addressed_to(chat), **target}
        try:
            told = await self._rpc.call(
                "sendReaction", params | ({"remove": True} if removed else {}), timeout_seconds=self._call_seconds
            )
        except SendUnknown:
            raise
        except TransportError as error:
            _log.info("a reaction failed: %s", error)
            return None
        name = whole_in(as_object(told), "timestamp")
        return None if name is None else SentId(name)

    # Files

    async def attachment(self, chat: ChatId, attachment: Attachment, *, max_bytes: int) -> bytes:
        """Returns the content of a file; see `Transport.attachment`."""
        check_size(attachment.size_bytes, max_bytes)
        place = {"groupId" if chat.is_group else "recipient": chat.id}
        params = {"account": self._account.name, "id": attachment.id, **place}
        try:
            return await self._rpc.file(
                "getAttachment", params, timeout_seconds=self._send_seconds, max_bytes=max_bytes
            )
        except RpcError as error:
            raise Unfetchable(f"signal-cli does not give the file: code {error.code}") from error
        except (NotSent, SendUnknown, Undeliverable) as error:
            raise Disconnected(f"the file was not fetched: {error}") from error

    async def discard(self, attachment: Attachment) -> None:
        """Deletes the daemon's copy of a file, if Aldis can reach it: the daemon itself deletes none."""
        await asyncio.to_thread(self._folder.delete, attachment.id)

    async def receipt(self, *envelopes: Envelope) -> None:
        """Tells the author that these messages were read; in a group, too, this goes to the author alone."""
        if read := [envelope.sent_at for envelope in envelopes if self._tells_reading(envelope)]:
            params = {"recipient": envelopes[0].author, "targetTimestamp": read, "type": "read"}
            await self._tell("sendReceipt", params)

    # The account

    async def is_linked(self) -> bool:
        """Whether the daemon still has the account, and Signal's server still lets it in; see `Transport.is_linked`.

        signal-cli lists an account whose device was removed until the server refuses its connection, and some servers
        close it without a word. Listing its devices needs the server's word.
        """
        accounts = await self._rpc.accounts(timeout_seconds=self._call_seconds)
        found = next((account for account in accounts if account.is_same(self._account)), None)
        if found is not None and found.id is not None and found.number != self._account.number:
            _log.warning("the account has a different phone number now, or none; it is still the same account")
            self._account = self._account.with_number(found.number)
            self.number = self._reader.number = self._account.number
            self._stream.account = self._account.name
        return found is not None and not await self._is_refused()

    async def _is_refused(self) -> bool:
        params = {"account": self._account.name}
        try:
            await self._rpc.call("listDevices", params, timeout_seconds=self._call_seconds)
        except RpcError as error:
            return is_unauthorized(error.words)
        except TransportError:
            return False
        return False

    async def release(self) -> Release:
        """Returns the daemon's version; see `Transport.release`."""
        version = await self._rpc.version(timeout_seconds=self._call_seconds)
        return Release(bridge="signal_cli", version=version)

    async def groups(self) -> tuple[Group, ...]:
        """Returns the groups that the account is in; see `Transport.groups`."""
        return groups_in(await self._ask("listGroups", {}), id_field="id")

    async def invitations(self) -> tuple[Group, ...]:
        """Returns the groups that the account is invited to; see `Transport.invitations`."""
        return invitations_in(await self._ask("listGroups", {}), id_field="id", account=self._account)

    async def former_groups(self) -> frozenset[str]:
        """Returns the groups that the account is in no more; see `Transport.former_groups`."""
        return former_groups_in(await self._ask("listGroups", {}), id_field="id", account=self._account)

    async def join(self, group: str) -> None:
        """Accepts an invitation, by changing a group without a change; see `Transport.join`.

        Source: signal-cli 0.13.14 and 0.14.6, `GroupHelper.updateGroupV2`, read.
        """
        await self._do("updateGroup", {"groupId": group})

    async def contacts(self) -> tuple[Contact, ...]:
        """Returns the people that the account knows; see `Transport.contacts`."""
        return contacts_in(await self._ask("listContacts", {"allRecipients": True}), account=self._account)

    async def identities(self) -> tuple[Identity, ...]:
        """Returns the keys of everybody that the daemon knows; see `Transport.identities`."""
        return identities_in(await self._ask("listIdentities", {}))

    async def trust(self, person: PersonId, *, safety_number: str | None = None) -> None:
        """Trusts the key that this person has now; see `Transport.trust`."""
        how = {"trustAllKnownKeys": True} if safety_number is None else {"verifiedSafetyNumber": safety_number}
        await self._do("trust", {"recipient": person, **how})

    async def submit_challenge(self, captcha: str) -> None:
        """Hands in the solution of a captcha; see `Transport.submit_challenge`."""
        if self.challenge is None:
            raise CallRefused(NO_CHALLENGE)
        await self._do("submitRateLimitChallenge", {"challenge": self.challenge, "captcha": captcha})
        self.challenge = None

    async def _do(self, method: str, params: Mapping[str, object]) -> None:
        given = {"account": self._account.name, **params}
        await self._rpc.do(method, given, timeout_seconds=self._send_seconds)

    async def _ask(self, method: str, params: Mapping[str, object]) -> object:
        return await self._rpc.ask(
            method, {"account": self._account.name, **params}, timeout_seconds=self._call_seconds
        )

    async def aclose(self) -> None:
        """Closes the connections; the transport is not used afterwards."""
        # Each call and each stream has a connection of its own, which ends with it.

    async def _tell(self, method: str, params: Mapping[str, object]) -> object:
        try:
            given = {"account": self._account.name, **params}
            return await self._rpc.call(method, given, timeout_seconds=self._call_seconds)
        except TransportError as error:
            # signal-cli 0.13.14 cannot show typing to people without a profile key, with each of their messages.
            _log.log(logging.DEBUG if method == "sendTyping" else logging.INFO, "%s failed: %s", method, error)
            return None


# What a reply looks like


def _content(reply: Reply) -> dict[str, object]:
    """The content of a message. An edit has no files, and must repeat the quote, or it is gone."""
    styles = [f"{style.start}:{style.length}:{style.style}" for style in reply.content.styles]
    mentions = [f"{mention.start}:{mention.length}:{mention.person}" for mention in reply.mentions]
    files = [data_uri(file) for file in reply.files]
    return {
        "message": reply.content.text,
        **({"textStyle": styles} if styles else {}),
        **({"mention": mentions} if mentions else {}),
        **({"attachments": files} if files else {}),
        **({"voiceNote": True} if files and reply.is_voice_note else {}),
        **(_quoting(reply.quote) if reply.quote else {}),
        **({"editTimestamp": reply.edits} if reply.edits is not None and not files else {}),
    }


def _quoting(quote: QuoteTarget) -> dict[str, object]:
    return {"quoteTimestamp": quote.sent_at, "quoteAuthor": quote.author, "quoteMessage": quote.text}
