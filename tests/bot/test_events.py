"""Events: envelopes and replies come back from their JSON as they went in, or are refused by one error."""

from dataclasses import replace

import pytest

from bot.access.chat_settings import parse_settings
from bot.events import (
    JSON_VERSION,
    ChatId,
    Envelope,
    Kind,
    PersonId,
    Removal,
    Reply,
    SentId,
    Style,
    Styled,
    StyleRange,
    UnreadableJson,
    dump_value,
    load_envelope,
    load_outgoing,
)
from bot.messages import load_messages

ENVELOPE = Envelope(
    account="+15550000000",
    author=PersonId("uuid"),
    number=None,
    device=1,
    sent_at=SentId(1),
    kind=Kind.MESSAGE,
    chat=ChatId("direct:uuid"),
    raw='{"envelope": "é😀\u2028\\u0000\x00"}',
)
REPLY = Reply(
    chat=ChatId("direct:uuid"),
    content=Styled(text="bold", styles=(StyleRange(start=0, length=4, style=Style.BOLD),)),
    answers=(SentId(1),),
)
STORED_ENVELOPE = (
    b'1:{"account":"+15550000000","author":"uuid","number":null,"device":1,"sent_at":1,"kind":"message",'
    b'"chat":"direct:uuid","raw":"{\\"envelope\\": \\"\xc3\xa9\xf0\x9f\x98\x80\xe2\x80\xa8\\\\u0000\\u0000\\"}",'
    b'"from_self":false,"server_at":null,"expires_in_seconds":0,"waited_ms":null,"is_command":false,'
    b'"group_revision":null}'
)
STORED_REPLY = (
    b'1:{"chat":"direct:uuid","content":{"text":"bold","styles":[{"start":0,"length":4,"style":"BOLD"}]},'
    b'"quote":null,"mentions":[],"files":[],"is_voice_note":false,"ok":true,"notice_of":null,"last":true,"answers":[1],'
    b'"edits":null}'
)
MESSAGES = b'1:[{"text":"secret","role":"user"}]'
NAMES: dict[object, str] = {
    load_envelope: "envelope",
    load_outgoing: "outgoing message",
    load_messages: "message",
    parse_settings: "setting",
}
REMOVAL = Removal(chat=ChatId("direct:uuid"), target=SentId(1))


def test_the_stored_forms_are_what_they_are() -> None:
    """What an older Aldis wrote is read by this one, to the letter; the forms change only with their version."""
    assert dump_value(ENVELOPE) == STORED_ENVELOPE
    assert dump_value(REPLY) == STORED_REPLY
    assert load_envelope(STORED_ENVELOPE) == ENVELOPE
    assert load_outgoing(STORED_REPLY) == REPLY


def test_a_reply_and_a_removal_are_told_apart() -> None:
    """Both stand in the outbox; what is neither is refused."""
    assert load_outgoing(dump_value(REMOVAL)) == REMOVAL
    for stored in (b"2:{}", b"1:{}", STORED_ENVELOPE):
        with pytest.raises(UnreadableJson):
            load_outgoing(stored)


def test_what_is_about_other_messages_is_urgent() -> None:
    """It may be about the turn that runs; so may a command."""
    for kind in Kind:
        envelope = replace(ENVELOPE, kind=kind)
        assert envelope.is_urgent == (kind in {Kind.EDIT, Kind.DELETE, Kind.REACTION})
        assert replace(envelope, is_command=True).is_urgent


def test_an_unknown_version_is_refused() -> None:
    """The error names what it is and the version that this Aldis reads."""
    for load, stored in (
        (load_envelope, STORED_ENVELOPE),
        (load_outgoing, STORED_REPLY),
        (load_messages, MESSAGES),
        (parse_settings, b"1:{}"),
    ):
        for version in (b"", b"0", b"11", b"x" * 1000):
            with pytest.raises(UnreadableJson, match=rf"{NAMES[load]} .*reads {JSON_VERSION}") as caught:
                load(version + stored.removeprefix(b"1"))
            assert len(str(caught.value)) < 90


def test_what_does_not_fit_its_version_is_refused() -> None:
    """Damaged JSON, or that of the other kind, is one error, without a word of it."""
    for load, stored in (
        (load_envelope, STORED_REPLY),
        (load_outgoing, STORED_ENVELOPE),
        (load_envelope, b"1:null"),
        (load_envelope, STORED_ENVELOPE.replace(b'"device":1', b'"device":"secret"')),
        (load_outgoing, STORED_REPLY.replace(b'"bold"', b'"\xff"')),
        (load_outgoing, b'1:{"chat": "secret"}'),
        (load_messages, MESSAGES.replace(b"user", b"system")),
        (load_messages, MESSAGES.replace(b"secret", b"\xff")),
        (load_messages, b'1:[{"parts":[{"kind":"picture","text":"secret"}],"role":"assistant"}]'),
        (parse_settings, b'1:{"language":"secret"}'),
    ):
        with pytest.raises(UnreadableJson, match=rf"{NAMES[load]} does not fit") as caught:
            load(stored)
        assert "secret" not in str(caught.value).lower()
