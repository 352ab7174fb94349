"""The answers of a transport that carries messages and nothing else of Signal's.

A transport derived from this class adds `account`, `is_open`, `envelopes`, `stop_receiving`, `event` and `send`, and
overrides whatever else it can do. CONTRIBUTING.md shows one.
"""

from collections import deque

from bot.errors import CallRefused, Undeliverable, Unfetchable
from bot.events import Attachment, ChatId, Envelope, PersonId, Removal, SentId
from bot.signal.bridge_versions import Release
from bot.signal.protocol import Contact, Group, Identity, MissedRecipient, Progress


class PlainTransport:
    """Has no number, receipts, groups, files or safety numbers, and answers accordingly."""

    number: str | None = None
    has_receipts: bool = False
    keeps_messages: bool = True
    """What is not read yet waits in the input."""
    max_pause_seconds: float = 5.0
    """A broken stream is opened again; the cost of that is unknown."""
    unreadable_frames: int = 0
    has_next: bool = False
    challenge: str | None = None
    heard_at: float | None = None
    """Its messages are its only sign of life."""

    @property
    def missed(self) -> deque[MissedRecipient]:
        """Nobody."""
        return deque()

    async def check_receiving(self) -> None:
        """Nothing can get in the way."""

    def stop_receiving(self) -> None:
        """To be overridden; see `Transport`."""
        raise NotImplementedError

    async def remove(self, removal: Removal) -> SentId:  # noqa: ARG002
        """Nothing can be deleted."""
        raise Undeliverable("nothing can be deleted here")

    async def typing(self, chat: ChatId, *, started: bool) -> None:
        """Not shown."""

    async def react(
        self,
        chat: ChatId,  # noqa: ARG002
        author: PersonId,  # noqa: ARG002
        sent_at: SentId,  # noqa: ARG002
        emoji: str,  # noqa: ARG002
        *,
        removed: bool,  # noqa: ARG002
    ) -> SentId | None:
        """Nothing: messages cannot be marked, and other signs show that Aldis is at work."""
        return None

    async def attachment(self, chat: ChatId, attachment: Attachment, *, max_bytes: int) -> bytes:  # noqa: ARG002
        """There is none."""
        raise Unfetchable("no file comes this way")

    async def discard(self, attachment: Attachment) -> None:
        """Nothing is kept."""

    async def receipt(self, *envelopes: Envelope) -> None:
        """Not shown."""

    async def progress(self, chat: ChatId, progress: Progress) -> None:
        """Not shown."""

    async def is_linked(self) -> bool:
        """True: there is no account that could be lost."""
        return True

    async def release(self) -> Release | None:
        """None: there is no bridge."""
        return None

    async def groups(self) -> tuple[Group, ...]:
        """None."""
        return ()

    async def invitations(self) -> tuple[Group, ...]:
        """None."""
        return ()

    async def former_groups(self) -> frozenset[str]:
        """None."""
        return frozenset()

    async def join(self, group: str) -> None:  # noqa: ARG002
        """There is none."""
        raise CallRefused("there are no groups here")

    async def contacts(self) -> tuple[Contact, ...]:
        """None."""
        return ()

    async def identities(self) -> tuple[Identity, ...]:
        """None: nobody has a key here."""
        return ()

    async def trust(self, person: PersonId, *, safety_number: str | None = None) -> None:  # noqa: ARG002
        """Nobody has a safety number."""
        raise CallRefused("there are no safety numbers here")

    async def submit_challenge(self, captcha: str) -> None:  # noqa: ARG002
        """No captcha is wanted."""
        raise CallRefused("no captcha is wanted here")

    async def note_to_self(self, text: str) -> SentId:  # noqa: ARG002
        """There is no account to send it to."""
        raise Undeliverable("there is nobody to send it to")

    async def aclose(self) -> None:
        """Stops taking messages."""
        self.stop_receiving()
