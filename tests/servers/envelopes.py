"""Builds frames as signal-cli writes them, for the doubles of both bridges to deliver.

Every builder returns a complete frame, `{"envelope": {...}, "account": ...}`, with a `sent_at` that is unique in the
process. Optional lists are absent when empty and unknown fields are null, as in signal-cli.

Source: signal-cli 0.14.6, `org.asamk.signal.json` (2026-11-21).
"""

import json
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

Frame = dict[str, Any]

FIXTURES = Path(__file__).parent.parent / "bot" / "signal" / "envelopes"

MAX_INLINE_BYTES = 2000
"""What is longer comes as a file, too."""

MENTION_SIGN = "\ufffc"
"""Stands in a text where a native mention is."""


@dataclass(frozen=True, kw_only=True)
class Person:
    """Somebody on Signal; `number` is None for those who do not share theirs."""

    uuid: str
    name: str | None
    number: str | None = None
    device: int = 1

    @property
    def chat(self) -> str:
        return f"direct:{self.uuid}"


ACCOUNT = "+15550100001"

ALDIS = Person(uuid="a1d15000-0000-4000-8000-000000000001", name="Aldis", number=ACCOUNT)
ALICE = Person(uuid="a11ce000-0000-4000-8000-0000000000a1", name="Alice", number="+15550100002")
BOB = Person(uuid="b0b00000-0000-4000-8000-0000000000b0", name="Bob", number="+15550100003", device=2)
CAROL = Person(uuid="ca201000-0000-4000-8000-0000000000c1", name="Carol")
MALLORY = Person(uuid="3a110000-0000-4000-8000-0000000000d1", name="Mallory", number="+15550100666")

GROUP = "R2FyZGVuQ2x1Yi0vKzAxMjM0NTY3ODlhYmNkZWZnaGk="
GROUP_NAME = "Garden club"

_lock = threading.Lock()
_last = 0


def timestamp() -> int:
    """Now in milliseconds since 1970, later than every timestamp given before."""
    global _last  # noqa: PLW0603 - one clock for all frames and all doubles of the process
    with _lock:
        _last = max(_last + 1, time.time_ns() // 1_000_000)
        return _last


def fixture(name: str) -> Frame:
    frame = json.loads((FIXTURES / f"{name}.json").read_text(encoding="utf-8"))
    assert isinstance(frame, dict)
    return frame


def envelope(
    author: Person, sent_at: int | None = None, *, account: str = ACCOUNT, waited_ms: int = 50, **content: Any
) -> Frame:
    """Any frame: who wrote it, when, and the parts (`dataMessage=...`) as they are given.

    `waited_ms` is how long Signal's server had it before somebody fetched it.
    """
    at = timestamp() if sent_at is None else sent_at
    source = {
        "source": author.number or author.uuid,
        "sourceNumber": author.number,
        "sourceUuid": author.uuid,
        "sourceName": author.name,
        "sourceDevice": author.device,
        "timestamp": at,
        "serverReceivedTimestamp": at + 40,
        "serverDeliveredTimestamp": at + 40 + waited_ms,
    }
    return {"envelope": source | content, "account": account}


def data(sent_at: int, text: str | None = None, *, group: str | None = None, **more: Any) -> Frame:
    """A `dataMessage`: the part that messages, reactions, deletions and timers share."""
    message: Frame = {
        "timestamp": sent_at,
        "message": text,
        "expiresInSeconds": 0,
        "isExpirationUpdate": False,
        "viewOnce": False,
    }
    if group is not None:
        message["groupInfo"] = {"groupId": group, "groupName": GROUP_NAME, "revision": 4, "type": "DELIVER"}
    return message | more


def group_change(revision: int, *, author: Person = ALICE, group: str = GROUP) -> Frame:
    """A person has changed a group, as by adding somebody, and tells the others; seen with signal-cli 0.13.14."""
    at = timestamp()
    info = {"groupId": group, "groupName": GROUP_NAME, "revision": revision, "type": "UPDATE"}
    return envelope(author, at, dataMessage=data(at, groupInfo=info))


def mention_of(person: Person, start: int = 0) -> Frame:
    name = person.name or person.number or person.uuid
    return {"name": name, "number": person.number, "uuid": person.uuid, "start": start, "length": 1}


def quote_of(author: Person, sent_at: int, text: str) -> Frame:
    return {
        "id": sent_at,
        "author": author.number or author.uuid,
        "authorNumber": author.number,
        "authorUuid": author.uuid,
        "text": text,
        "attachments": [],
    }


def attachment(name: str | None = "garden.jpg", content_type: str = "image/jpeg", size_bytes: int = 4321) -> Frame:
    return {
        "contentType": content_type,
        "filename": name,
        "id": f"{timestamp()}.jpg",
        "size": size_bytes,
        "width": 640,
        "height": 480,
        "caption": None,
        "uploadTimestamp": timestamp(),
        "isVoiceNote": False,
    }


def message(
    text: str | None = "hi",
    *,
    author: Person = ALICE,
    group: str | None = None,
    mention: bool = False,
    quote: Frame | None = None,
    attachments: Sequence[Frame] = (),
    expires_in_seconds: int = 0,
    sent_at: int | None = None,
    waited_ms: int = 50,
    account: str = ACCOUNT,
    **more: Any,
) -> Frame:
    """A message of a person; `mention` puts a native mention of Aldis in front, `quote` comes from `quote_of`.

    A long text comes twice, as signal-cli 0.14.6 hands it on: whole, and as a file.
    """
    at = timestamp() if sent_at is None else sent_at
    optional: Frame = {"mentions": [mention_of(ALDIS)]} if mention else {}
    optional |= {"quote": quote} if quote else {}
    written = f"{MENTION_SIGN} {text or ''}" if mention else text
    size_bytes = len((written or "").encode("utf-8", "replace"))
    whole = attachment(None, "text/x-signal-plain", size_bytes) | {"id": f"{timestamp()}.txt"}
    files = [*([whole] if size_bytes > MAX_INLINE_BYTES else []), *attachments]
    optional |= {"attachments": files} if files else {}
    body = data(at, written, group=group, **optional) | {"expiresInSeconds": expires_in_seconds} | more
    return envelope(author, at, account=account, waited_ms=waited_ms, dataMessage=body)


def edit(text: str, target: int, *, author: Person = ALICE, group: str | None = None, **more: Any) -> Frame:
    at = timestamp()
    body = data(at, text, group=group, **more)
    return envelope(author, at, editMessage={"targetSentTimestamp": target, "dataMessage": body})


def delete(target: int, *, author: Person = ALICE, group: str | None = None) -> Frame:
    at = timestamp()
    return envelope(author, at, dataMessage=data(at, group=group, remoteDelete={"timestamp": target}))


def admin_delete(target: int, of: Person, *, author: Person = BOB, group: str = GROUP) -> Frame:
    at = timestamp()
    body = {**_target(of), "targetSentTimestamp": target}
    return envelope(author, at, dataMessage=data(at, group=group, adminDelete=body))


def reaction(
    emoji: str,
    target: int,
    *,
    of: Person = ALDIS,
    author: Person = ALICE,
    group: str | None = None,
    removed: bool = False,
) -> Frame:
    """A person puts an emoji on the message of `of` at the time `target`, or takes it off."""
    at = timestamp()
    body = {"emoji": emoji, **_target(of), "targetSentTimestamp": target, "isRemove": removed}
    return envelope(author, at, dataMessage=data(at, group=group, reaction=body))


def _target(person: Person) -> Frame:
    return {
        "targetAuthor": person.number or person.uuid,
        "targetAuthorNumber": person.number,
        "targetAuthorUuid": person.uuid,
    }


def timer(seconds: int, *, author: Person = ALICE, group: str | None = None) -> Frame:
    at = timestamp()
    body = data(at, group=group) | {"expiresInSeconds": seconds, "isExpirationUpdate": True}
    return envelope(author, at, dataMessage=body)


def receipt(targets: Sequence[int], *, author: Person = ALICE, what: str = "delivered") -> Frame:
    """A person's phone confirms our messages: `delivered`, `read` or `viewed`."""
    at = timestamp()
    flags = {"isDelivery": what == "delivered", "isRead": what == "read", "isViewed": what == "viewed"}
    return envelope(author, at, receiptMessage={"when": at, **flags, "timestamps": list(targets)})


def typing(*, started: bool = True, author: Person = ALICE, group: str | None = None) -> Frame:
    at = timestamp()
    body = {"action": "STARTED" if started else "STOPPED", "timestamp": at}
    return envelope(author, at, typingMessage=body | ({"groupId": group} if group else {}))


def sync_sent(text: str, to: Person = ALICE) -> Frame:
    at = timestamp()
    return envelope(ALDIS, at, syncMessage={"sentMessage": _to(to) | data(at, text)})


def note(
    text: str | None, *, device: int = 1, sent_at: int | None = None, account: str = ACCOUNT, **more: Any
) -> Frame:
    at = timestamp() if sent_at is None else sent_at
    author = replace(ALDIS, device=device)
    return envelope(author, at, account=account, syncMessage={"sentMessage": _to(ALDIS) | data(at, text, **more)})


def note_edit(text: str, target: int) -> Frame:
    at = timestamp()
    edited = {"targetSentTimestamp": target, "dataMessage": data(at, text)}
    return envelope(ALDIS, at, syncMessage={"sentMessage": _to(ALDIS) | {"editMessage": edited}})


def _to(person: Person) -> Frame:
    return {"destination": person.number, "destinationNumber": person.number, "destinationUuid": person.uuid}


def sync_read(targets: Sequence[int], *, of: Person = ALDIS) -> Frame:
    """Another device of the account has shown messages of `of` to whoever holds it."""
    of_whom = {"sender": of.number or of.uuid, "senderNumber": of.number, "senderUuid": of.uuid}
    return envelope(ALDIS, syncMessage={"readMessages": [of_whom | {"timestamp": at} for at in targets]})


def undecryptable(author: Person | None = ALICE, reason: str = "UntrustedIdentityException") -> Frame:
    """Something that signal-cli could not decrypt; `author` None is a sealed sender that it cannot name."""
    frame = envelope(author or Person(uuid="", name=None))
    if author is None:
        frame["envelope"] |= dict.fromkeys(("source", "sourceNumber", "sourceUuid", "sourceDevice"))
    return frame | {"exception": {"message": "could not decrypt", "type": reason}}
