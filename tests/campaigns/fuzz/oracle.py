"""What may come out of a frame: only who and what stands literally in it.

It is told in another way than the code under test tells it: all values that a name has anywhere it may stand are
gathered, the same name twice included, and whatever the reader says must be among them. So a frame that contradicts
itself may be read in several ways, but never as somebody's who is not in it.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from bot.events import Deleted, Edited, Envelope, Event, Incoming, Reacted, Receipt
from tests.servers.envelopes import ACCOUNT, ALDIS

_UUID = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_LAST_TIME = 2**53
"""Larger whole numbers do not fit everywhere: a database, JavaScript, the next bridge."""
_CONTENT = {"message", "attachments", "sticker", "contacts", "previews", "textStyles"}
"""The parts of a message that carry what somebody made."""


class _Object(list[tuple[str, Any]]):
    """A JSON object as its pairs, so that none hides another; told apart from an array."""


def judge(raw: str, envelope: Envelope | None, event: Event | None) -> None:
    """Fail where the envelope or the event says what the frame does not."""
    if envelope is None:
        assert event is None
        return
    frame = _parsed(raw)
    sources = list(_under(frame, "envelope"))
    assert envelope.account == ALDIS.uuid
    _judge_kept(raw, envelope.raw, frame)
    _judge_author(envelope, sources)
    _judge_chat(envelope, sources)
    _judge_own(envelope, event, frame)
    if event is not None:
        _judge_event(envelope, event, frame)


def _judge_author(envelope: Envelope, sources: list[Any]) -> None:
    """Who wrote it, with which device and when: all as it is said, and of a size that can be kept."""
    assert envelope.sent_at in _values(sources, "timestamp")
    assert 0 <= envelope.sent_at <= _LAST_TIME
    assert 0 <= envelope.device <= _LAST_TIME
    assert envelope.number is None or envelope.number in _all_texts(sources, "sourceNumber")
    if envelope.author is not None:
        people = {person.lower() for person in _all_texts(sources, "sourceUuid")}
        assert envelope.author in people, "the author is not in the frame"
        assert _UUID.fullmatch(envelope.author), "who is no uuid is nobody"


def _judge_kept(raw: str, kept: str, frame: Any) -> None:
    """A frame is kept as it came, but for the content of what may be seen only once: of that nothing is."""
    messages = list(_messages(frame))
    if not any(_last(message, "viewOnce") is True for message in messages):
        assert kept == raw, "the frame is not kept as it came"
    for message in _messages(_parsed(kept)):
        if _last(message, "viewOnce") is True:
            assert not {name for name, _ in message} & _CONTENT, "what may be seen only once is kept"


def _judge_chat(envelope: Envelope, sources: list[Any]) -> None:
    assert (envelope.chat is None) == (envelope.author is None), "a conversation with nobody"
    if envelope.chat is None:
        return
    kind, _, place = envelope.chat.partition(":")
    groups = set(_groups(sources))
    assert kind in {"direct", "group"}
    if kind == "group":
        assert place in groups, "the group is not in the frame"
    else:
        assert place == envelope.author, "a direct conversation with another"


def _judge_own(envelope: Envelope, event: Event | None, frame: Any) -> None:
    """What the account did itself, here or on another device, is never anybody's message."""
    is_synced = _last(_last(frame, "envelope"), "syncMessage") is not None
    is_own = is_synced or not {envelope.number, envelope.author}.isdisjoint({ACCOUNT, ALDIS.uuid})
    assert envelope.from_self == is_own, "who wrote it is told wrong"
    assert event is None or isinstance(event, Receipt) or not is_own


def _judge_event(envelope: Envelope, event: Event, frame: Any) -> None:
    message = event.message if isinstance(event, Edited) else event
    if isinstance(message, Incoming | Reacted | Deleted):
        assert message.chat == envelope.chat, "another conversation"
        source = _last(frame, "envelope")
        data = _last(_last(source, "editMessage") if isinstance(event, Edited) else source, "dataMessage")
        assert envelope.chat is not None
        if envelope.chat.startswith("direct:"):
            assert _last(data, "groupInfo") is None, "a group's message became a direct one"
    if isinstance(message, Incoming | Reacted | Receipt):
        assert message.author == envelope.author, "another author"
    if isinstance(message, Incoming):
        assert message.sent_at == envelope.sent_at
        _judge_words(message, frame)
    if isinstance(event, Deleted):
        named = {person.lower() for person in _all_texts(list(_all(frame)), "targetAuthorUuid")}
        assert event.author == envelope.author or event.author in named, "it deletes what nobody named"


def _judge_words(message: Incoming, frame: Any) -> None:
    """Every word of it stands in this frame: no state of the reader lends words from another."""
    strings = "\x00".join(_clean(text) for text in _all(frame) if isinstance(text, str))
    quoted = message.quote.text if message.quote else ""
    for said in (message.text, quoted):
        for word in said.split("@")[0].split("\ufffc"):
            assert word.strip() in strings, "words from elsewhere"
    assert all(attachment.id in strings for attachment in message.attachments)
    names = (message.name, *(attachment.name for attachment in message.attachments))
    assert all(name.split() for name in names if name is not None)
    "".join((message.text, quoted, *(name or "" for name in names))).encode()


# JSON without losing anything


def _parsed(raw: str) -> Any:
    return json.loads(raw, object_pairs_hook=_Object)


def _is_object(value: Any) -> bool:
    return isinstance(value, _Object)


def _under(value: Any, name: str) -> Iterator[Any]:
    if _is_object(value):
        yield from (held for key, held in value if key == name)


def _last(value: Any, name: str) -> Any:
    """What a reader of JSON takes where a name stands twice; None where it does not stand."""
    return next(reversed(list(_under(value, name))), None)


def _values(objects: list[Any], name: str) -> list[Any]:
    return [value for item in objects for value in _under(item, name)]


def _all_texts(objects: list[Any], name: str) -> set[str]:
    return {_clean(text) for item in objects for text in _under(item, name) if isinstance(text, str)}


def _groups(sources: list[Any]) -> Iterator[str]:
    edited = _values(sources, "editMessage")
    data = _values([*sources, *edited], "dataMessage")
    places = [*_values(data, "groupInfo"), *_values(sources, "typingMessage"), *_values(sources, "storyMessage")]
    yield from _all_texts(places, "groupId")


def _messages(frame: Any) -> Iterator[Any]:
    """The messages of a frame, at every place that they have, as a reader of JSON finds them."""
    source = _last(frame, "envelope")
    sent = _last(_last(source, "syncMessage"), "sentMessage")
    for place in (source, _last(source, "editMessage"), _last(sent, "editMessage")):
        if _is_object(message := _last(place, "dataMessage")):
            yield message
    if _is_object(sent):
        yield sent


def _all(value: Any) -> Iterator[Any]:
    waiting = [value]
    while waiting:
        item = waiting.pop()
        yield item
        if _is_object(item):
            waiting.extend(held for _, held in item)
        elif isinstance(item, list):
            waiting.extend(item)


def _clean(text: str) -> str:
    """Half surrogate pairs are no text anywhere."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
