"""What every kind of frame that signal-cli writes must become."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from bot.events import (
    Account,
    Attachment,
    ChatId,
    Deleted,
    Edited,
    Envelope,
    Event,
    Incoming,
    Kind,
    PersonId,
    Quote,
    Reacted,
    Receipt,
    SentId,
    Undecryptable,
)
from bot.signal.envelope import MAX_FRAME_CHARS, FrameReader
from tests.servers import envelopes
from tests.servers.envelopes import (
    ACCOUNT,
    ALDIS,
    ALICE,
    BOB,
    CAROL,
    FIXTURES,
    GROUP,
    Frame,
    Person,
    attachment,
    data,
    envelope,
    fixture,
    mention_of,
    message,
    quote_of,
)

ALDIS_ID, ALICE_ID, BOB_ID, CAROL_ID = (PersonId(person.uuid) for person in (ALDIS, ALICE, BOB, CAROL))
DIRECT, IN_GROUP = ChatId(ALICE.chat), ChatId(f"group:{GROUP}")
OWN = Account(number=ACCOUNT, id=ALDIS_ID)

NEVER = SentId(0)
"""Stands for the frame's own time, which the tests compare apart."""


def event(envelope: Envelope, *, own: Account = OWN) -> Event | None:
    return FrameReader(own, "Aldis").event(envelope)


def said(text: str, *, chat: ChatId = DIRECT, **more: Any) -> Incoming:
    known: dict[str, Any] = {"author": ALICE_ID, "name": "Alice", "sent_at": NEVER} | more
    return Incoming(chat=chat, text=text, **known)


def confirmed(more: int = 0, *, author: PersonId = ALICE_ID) -> Receipt:
    targets = tuple(SentId(1789999980000 + 1000 * number) for number in range(more + 1))
    return Receipt(author=author, targets=targets)


PICTURE = Attachment(id="8841230055511.jpg", content_type="image/jpeg", name="tomatoes.jpg", size_bytes=58112)
LONG = "Beans: " + "sow them in May, and water them. " * 70
LONG_FILE = Attachment(id="5512309988772.txt", content_type="text/x-signal-plain", name=None, size_bytes=len(LONG))
VOICE = Attachment(id="Qm90YW5pYw1.aac", content_type="audio/aac", name=None, size_bytes=20480, is_voice_note=True)
HEART = Reacted(
    author=ALICE_ID,
    chat=DIRECT,
    emoji="❤️",
    target_author=ALDIS_ID,
    target=SentId(1789999980000),
    removed=False,
    is_on_mine=True,
)

ROSE = "a contact: Rose Thorne; Seed bank; phone +15550100777; email rose@garden.example"

NOTHING = """
call_offer dm_text_null_source edit_sync group_update group_update_no_name pin_message poll_terminate poll_vote
quote_image_sync story_image story_reply_dm story_text sync_contacts sync_empty sync_note_to_self sync_read
sync_sent_dm sync_sent_group typing_started_dm typing_stopped_group
"""

BECOMES: dict[str, tuple[Kind, Event | None]] = {
    **dict.fromkeys(NOTHING.split(), (Kind.OTHER, None)),
    "admin_delete_group": (Kind.DELETE, Deleted(author=ALICE_ID, chat=IN_GROUP, target=SentId(1789999990000))),
    "attachment_image": (Kind.MESSAGE, said("our first tomatoes", attachments=(PICTURE,))),
    "attachment_image_old_signal_cli": (Kind.MESSAGE, said("our first tomatoes", attachments=(PICTURE,))),
    "attachment_voice_note": (Kind.MESSAGE, said("", attachments=(VOICE,))),
    "contact": (Kind.MESSAGE, said("", extras=(ROSE,))),
    "dm_text": (Kind.MESSAGE, said("when do I sow beans?")),
    "dm_text_uuid_only": (
        Kind.MESSAGE,
        said("hello from Carol", chat=ChatId(CAROL.chat), author=CAROL_ID, name="Carol"),
    ),
    "edit_dm": (Kind.EDIT, Edited(target=SentId(1790000005000), message=said("when do I sow broad beans?"))),
    "edit_with_image": (
        Kind.EDIT,
        Edited(target=SentId(1790000005000), message=said("when do I sow broad beans?", attachments=(PICTURE,))),
    ),
    "exception_untrusted_identity": (Kind.UNDECRYPTABLE, Undecryptable(reason="UntrustedIdentityException")),
    "expiration_update_dm": (Kind.OTHER, None),
    "group_text": (Kind.MESSAGE, said("who waters on Sunday?", chat=IN_GROUP)),
    "link_preview": (Kind.MESSAGE, said("see https://garden.example/beans please")),
    "location": (
        Kind.MESSAGE,
        said(
            "Garden gate\nhttps://maps.google.com/maps?q=52.520008%2C13.404954",
            attachments=(Attachment(id="5512309988771.jpg", content_type="image/jpeg", name=None, size_bytes=20112),),
        ),
    ),
    "long_text": (Kind.MESSAGE, said(LONG, text_files=(LONG_FILE,))),
    "long_text_old_signal_cli": (Kind.MESSAGE, said(LONG[:2000], attachments=(LONG_FILE,))),
    "mention_group": (Kind.MESSAGE, said("what grows in shade?", chat=IN_GROUP, mentions_me=True)),
    "mention_missing_bug": (Kind.MESSAGE, said("\ufffc  what grows in shade?", chat=IN_GROUP)),
    "poll_create": (
        Kind.MESSAGE,
        said("", chat=IN_GROUP, extras=("a poll (several answers allowed): Which day? — 1. Saturday, 2. Sunday",)),
    ),
    "quote_dm": (
        Kind.MESSAGE,
        said(
            "and in pots?",
            quote=Quote(sent_at=SentId(1789999980000), author=ALDIS_ID, text="Sow them in April."),
            quotes_me=True,
        ),
    ),
    "reaction_dm": (Kind.REACTION, HEART),
    "reaction_group_uuid_only": (Kind.REACTION, replace(HEART, author=CAROL_ID, chat=IN_GROUP, emoji="👀")),
    "reaction_remove": (Kind.REACTION, replace(HEART, removed=True)),
    "receipt_delivery": (Kind.RECEIPT, confirmed()),
    "receipt_delivery_uuid_only": (Kind.RECEIPT, confirmed(1, author=CAROL_ID)),
    "receipt_read": (Kind.RECEIPT, confirmed(1)),
    "receipt_viewed": (Kind.RECEIPT, confirmed()),
    "remote_delete": (Kind.DELETE, Deleted(author=ALICE_ID, chat=DIRECT, target=SentId(1790000005000))),
    "sticker": (Kind.MESSAGE, said("", sticker=True)),
    "text_styles": (Kind.MESSAGE, said("sow now, water later")),
    "view_once_image": (Kind.MESSAGE, said("", view_once=True)),
}


def peek(frame: Frame, own_uuid: PersonId | None = ALDIS_ID, *, takes_notes: bool = False) -> Envelope:
    found = FrameReader(replace(OWN, id=own_uuid), "Aldis", takes_notes=takes_notes).envelope(json.dumps(frame))
    assert found is not None
    return found


def read(frame: Frame, own: Account = OWN) -> Event | None:
    return event(peek(frame, own.id), own=own)


def heard(frame: Frame, own: Account = OWN) -> Incoming:
    found = read(frame, own)
    assert isinstance(found, Incoming)
    return found


def timeless(found: Event | None) -> Event | None:
    if isinstance(found, Edited):
        return replace(found, message=replace(found.message, sent_at=NEVER))
    return replace(found, sent_at=NEVER) if isinstance(found, Incoming) else found


@pytest.mark.parametrize("name", sorted({path.stem for path in FIXTURES.glob("*.json")} - {"rest_error_frame"}))
def test_a_frame_becomes_what_the_table_says(name: str) -> None:
    """Kind, event, time and place of every kind of frame; none is in the folder without a row on what it becomes."""
    frame = fixture(name)
    found = peek(frame)
    kind, becomes = BECOMES[name]
    assert found.sent_at == frame["envelope"]["timestamp"]
    assert (found.kind, timeless(event(found))) == (kind, becomes)
    assert found.from_self == name.startswith("sync_") or name in {"edit_sync", "quote_image_sync"}
    if isinstance(becomes, Incoming):
        assert heard(frame).sent_at == found.sent_at


def test_mentions_are_written_out() -> None:
    """A model reads names where Signal has placeholders, at the right place whatever stands before them."""
    for text, mentions, becomes in (
        ("￼￼ go", [mention_of(ALDIS), mention_of(ALDIS, 1)], "go"),
        ("￼ hi", [mention_of(ALDIS)], "hi"),
        ("ask ￼ now", [mention_of(ALDIS, 4)], "ask @Aldis now"),
        ("🪴🪴 ￼!", [mention_of(BOB, 5)], "🪴🪴 @Bob!"),  # characters of two units before
        ("￼ and ￼", [mention_of(BOB, 6), mention_of(ALDIS)], "and @Bob"),
        ("a ￼", [mention_of(BOB, 2), mention_of(ALICE, 2)], "a @Bob"),
        ("￼ b", [mention_of(BOB, 900)], "￼ b"),
        ("￼ b", [mention_of(BOB) | {"length": 10**30}], "￼ b"),
        ("￼ b", [mention_of(BOB) | {"name": BOB.number}], "@member-b0b00000 b"),
        ("￼ b", [{"start": 0, "length": 1}], "@member-unknown b"),
        ("￼ b", [mention_of(BOB) | {"name": " B\no  b "}], "@B o b b"),
        ("￼ b", [mention_of(BOB) | {"name": "https://b.ob/x"}], "@b.ob/x b"),
    ):
        assert heard(message(text, mentions=mentions)).text == becomes


NUMBER_ALONE = replace(OWN, id=None)


def test_a_mention_or_quote_is_mine_by_uuid_or_number() -> None:
    """People who hide their number name the uuid alone, older versions the number alone; no one is not me."""
    for uuid, number, own, mine in (
        (ALDIS.uuid, None, OWN, True),
        (ALDIS.uuid.upper(), None, OWN, True),
        (None, ACCOUNT, NUMBER_ALONE, True),
        (ALDIS.uuid, None, NUMBER_ALONE, False),
        (BOB.uuid, BOB.number, OWN, False),
        (None, None, NUMBER_ALONE, False),
    ):
        mention = {"uuid": uuid, "number": number, "start": 2, "length": 1}
        quote = {"id": 7, "authorUuid": uuid, "authorNumber": number}
        found = heard(message("a ￼", group=GROUP, mentions=[mention], quote=quote), own)
        assert (found.mentions_me, found.quotes_me) == (mine, mine)


def test_the_servers_time_and_the_timer_stand_in_front() -> None:
    """What may be done with a frame is known before it is read: when the server took it, and how long it may stay."""
    frame = message("hi", expires_in_seconds=3600)
    found, edited = peek(frame), peek(envelopes.edit("ho", 5, expiresInSeconds=60))
    assert (found.server_at, found.expires_in_seconds) == (frame["envelope"]["serverReceivedTimestamp"], 3600)
    assert edited.expires_in_seconds == 60
    bare = envelopes.receipt([5])
    del bare["envelope"]["serverReceivedTimestamp"]
    confirmed = peek(bare)
    assert (confirmed.server_at, confirmed.expires_in_seconds) == (None, 0)


COMMANDS = ("/stop", "  \n/stop now", "￼ /stop", "￼, /stop", "Aldis, /stop", "Aldis /stop")
NO_COMMANDS = ("/", "/ stop", "//stop", "please do, /stop", "what is /usr/bin?", "￼￼ /stop")


def test_a_command_is_known_by_its_slash() -> None:
    """First, or behind one mention or name of Aldis; not in edits, quotes, names of files or what is seen once."""
    for text in (*COMMANDS, *NO_COMMANDS):
        found, is_one = peek(message(text)), text in COMMANDS
        assert (found.is_command, found.is_urgent) == (is_one, is_one), text
    for frame in (
        envelopes.edit("/stop", 5),
        message("hi", quote=quote_of(ALDIS, 7, "/stop")),
        message("", attachments=[attachment("/stop")]),
        message("/stop", viewOnce=True),
        message("/stop", author=ALDIS),
    ):
        assert not peek(frame).is_command, frame


SECRET = "sesame"

CONTENT = {
    "attachments": [attachment(f"{SECRET}.jpg") | {"id": f"{SECRET}.jpg", "caption": SECRET}],
    "previews": [{"url": f"https://{SECRET}", "title": SECRET, "image": {"id": SECRET}}],
    "sticker": {"packId": SECRET, "stickerId": 1},
    "contacts": [{"name": {"display": SECRET}}],
    "textStyles": [{"style": SECRET, "start": 0, "length": 1}],
    "somethingNew": {"bytes": SECRET},
}


def test_what_may_be_seen_only_once_is_not_in_what_is_kept() -> None:
    """No word, file or picture is handed on, whatever it is made of; who, when, where and for whom it was is."""
    places: tuple[Callable[[Frame], Frame], ...] = (
        lambda seen_once: {"dataMessage": seen_once},
        lambda seen_once: {"editMessage": {"targetSentTimestamp": 5, "dataMessage": seen_once}},
        lambda seen_once: {"syncMessage": {"sentMessage": {"destinationUuid": ALICE.uuid} | seen_once}},
        lambda seen_once: {"dataMessage": seen_once, "editMessage": {"dataMessage": seen_once}},
    )
    for place in places:
        quote = quote_of(ALDIS, 7, SECRET) | {"attachments": [{"thumbnail": {"id": SECRET}}]}
        frame = envelope(ALICE, **place(data(5, SECRET, group=GROUP, viewOnce=True, quote=quote, **CONTENT)))
        found = peek(frame)
        assert SECRET not in found.raw
        assert SECRET not in repr(event(found))
        assert json.loads(found.raw)["envelope"]["sourceUuid"] == ALICE.uuid
        assert json.loads(found.raw)["account"] == ACCOUNT
    picture = {"attachments": [attachment()], "viewOnce": True, "expiresInSeconds": 60}
    frame = message(SECRET, group=GROUP, mention=True, quote=quote_of(ALDIS, 7, SECRET), **picture)
    found = heard(frame)
    assert (found.author, found.chat, found.view_once, found.text) == (ALICE_ID, IN_GROUP, True, "")
    assert (found.mentions_me, found.quotes_me, found.attachments, found.expires_in_seconds) == (True, True, (), 60)
    bare = heard(message(None, viewOnce=True))
    assert (bare.view_once, bare.text) == (True, "")


def test_another_device_of_the_account_confirms_what_is_our_own() -> None:
    """How a note to self is known to have arrived; it stays the account's own doing, and is no person's receipt."""
    rows: tuple[tuple[Frame, tuple[int, ...]], ...] = (
        ({"receiptMessage": {"isDelivery": True, "timestamps": [5, 6]}}, (5, 6)),
        ({"syncMessage": {"readMessages": [{"senderUuid": ALDIS.uuid, "timestamp": 5}]}}, (5,)),
        ({"syncMessage": {"readMessages": [{"senderNumber": ACCOUNT, "timestamp": 5}]}}, (5,)),
        ({"syncMessage": {"readMessages": [{"senderUuid": ALICE.uuid, "timestamp": 5}]}}, ()),
        ({"receiptMessage": {"isDelivery": True, "timestamps": []}}, ()),
    )
    for content, targets in rows:
        frame = envelope(ALDIS, **content)
        found = peek(frame)
        assert (found.from_self, found.kind) == (True, Kind.OTHER)
        receipt = event(found)
        assert (receipt.targets if isinstance(receipt, Receipt) else ()) == targets


def test_what_is_carried_beside_words_is_told_in_words() -> None:
    """A line for each thing, on one line whatever people wrote into it; what says nothing is left out."""
    rows: tuple[tuple[Frame, tuple[str, ...]], ...] = (
        ({"contacts": [{"name": {"nickname": "Rosie"}}]}, ("a contact: Rosie",)),
        ({"contacts": [{"organization": " Seed\nbank "}, {}]}, ("a contact: Seed bank",)),
        (
            {"contacts": [{"name": "x", "phone": [{"value": "1", "label": "barn"}, {"value": None}, 5]}]},
            ("a contact: phone 1",),
        ),
        ({"contacts": [{"name": {}, "email": "x", "address": [{"type": "HOME"}]}]}, ()),
        (
            {"pollCreate": {"question": "Who?", "options": ["Bob", None, 5]}},
            ("a poll (one answer): Who? — 1. Bob, 2. , 3. ",),
        ),
    )
    for content, extras in rows:
        assert heard(message("look", **content)).extras == extras


# Notes to self


OWN_CHAT = ChatId(ALDIS.chat)


@pytest.mark.parametrize("own_uuid", [ALDIS_ID, None])
def test_a_note_to_self_is_a_message_where_notes_are_answered(own_uuid: PersonId | None) -> None:
    """Only in the account's chat with itself; edits, deletions, reactions and the timer as in any other chat."""
    found = peek(
        envelopes.note("buy seeds", attachments=[attachment()], expiresInSeconds=60), own_uuid, takes_notes=True
    )
    assert (found.kind, found.from_self, found.author, found.chat) == (Kind.MESSAGE, True, ALDIS_ID, OWN_CHAT)
    said_to_self = event(found, own=replace(OWN, id=own_uuid))
    assert isinstance(said_to_self, Incoming)
    assert (said_to_self.text, said_to_self.author, said_to_self.chat) == ("buy seeds", ALDIS_ID, OWN_CHAT)
    assert (len(said_to_self.attachments), said_to_self.expires_in_seconds) == (1, 60)
    thumb = {"emoji": "👍", "targetAuthorUuid": ALDIS.uuid, "targetSentTimestamp": 5}
    for frame, becomes in (
        (envelopes.note_edit("buy bulbs", 5), Edited),
        (envelopes.note(None, remoteDelete={"timestamp": 5}), Deleted),
        (envelopes.note(None, reaction=thumb), Reacted),
    ):
        assert isinstance(event(peek(frame, own_uuid, takes_notes=True)), becomes)


def test_what_the_account_does_elsewhere_is_never_a_message() -> None:
    """Own messages and a person's other chats are told apart however they come, also where notes are answered."""
    for frame in (
        envelopes.sync_sent("I come at six", to=ALICE),
        message("from my other phone", author=ALDIS),
        message("by uuid alone", author=replace(ALDIS, number=None)),
        message("by number alone", author=Person(uuid="", name=None, number=ACCOUNT)),
        envelopes.note("to a group", group=GROUP),
        envelopes.note("elsewhere", destinationUuid=ALICE.uuid),
        envelopes.note("elsewhere", destinationUuid=None, destinationNumber=ALICE.number, destination=ALICE.number),
        envelope(ALICE, syncMessage={"sentMessage": data(5, "?") | {"destinationUuid": ALICE.uuid}}),
        envelope(replace(ALDIS, uuid=""), syncMessage=envelopes.note("?")["envelope"]["syncMessage"]),
        fixture("sync_sent_group"),
    ):
        for takes_notes in (False, True):
            found = peek(frame, takes_notes=takes_notes)
            assert (found.from_self, found.kind, event(found)) == (True, Kind.OTHER, None)


def test_what_is_no_envelope_is_none() -> None:
    """Broken, hostile and absurd frames are passed over; a group that cannot be read never looks like a direct chat."""
    for raw in (
        json.dumps(fixture("rest_error_frame")),
        "null",
        '{"envelope":null}',
        '{"envelope":{"timestamp":NaN}}',
        '{"envelope":{"timestamp":' + "9" * 5000 + "}}",
        '{"envelope":{"timestamp":1},"x":"' + "x" * MAX_FRAME_CHARS + '"}',
        json.dumps(message("hi", group="not a group")),
        json.dumps(message("hi", groupInfo={"groupId": None})),
    ):
        assert FrameReader(OWN, "Aldis").envelope(raw) is None


def test_half_a_message_is_nothing() -> None:
    """It is stored nowhere and not answered; nor is one without a uuid: a phone number is no identity."""
    contents: tuple[Frame, ...] = (
        {"editMessage": {"dataMessage": data(1, "x")}},
        {"editMessage": {"targetSentTimestamp": 1}},
        {"dataMessage": data(1, reaction={"emoji": "", "targetSentTimestamp": 1})},
        {"dataMessage": data(1, remoteDelete={"timestamp": None})},
        {"dataMessage": data(1, group=GROUP, adminDelete={"targetSentTimestamp": 1})},
        {"receiptMessage": {"isDelivery": True, "timestamps": [None, "1", 1.5]}},
        {"dataMessage": data(1, "  \n ")},
        {"dataMessage": data(1, "nice", payment={"note": "x"})},
        {"dataMessage": data(1, "nice", storyContext={"authorUuid": ALDIS.uuid, "sentTimestamp": 1})},
        {"dataMessage": data(1, "nice", group=GROUP, unpinMessage={"targetSentTimestamp": 1})},
        {"syncMessage": {"sentStoryMessage": {"allowsReplies": True, "textAttachment": {"text": "nice"}}}},
    )
    for content in contents:
        assert read(envelope(ALICE, **content)) is None
    found = peek(message("hi", author=Person(uuid="not-a-uuid", name="?", number=ALICE.number)))
    assert (found.author, found.chat, found.number, event(found)) == (None, None, ALICE.number, None)


def test_names_are_one_short_line_and_never_a_number() -> None:
    """They may not break out of the prompt, half a pair not out of UTF-8, a file's id not out of its folder."""
    assert heard(message(author=replace(ALICE, name="A\nl\tice " * 40))).name == ("A l ice " * 40)[:80].rstrip()
    assert heard(message(author=replace(ALICE, name="A\u202elice\u200b \u2066"))).name == "Alice"
    for none in (ALICE.number, ALICE.uuid, None):
        assert heard(message(author=replace(ALICE, name=none))).name is None
    assert heard(message("a\ud800b 🪴")).text == "a�b 🪴"
    good = attachment()
    odd = [good | {"id": id_} for id_ in ("", "../account.db", "/etc/passwd", ".hidden", "a b", "x" * 300, None, 5)]
    assert [one.id for one in heard(message("look", attachments=[*odd, good])).attachments] == [good["id"]]
