"""What comes besides words, and what goes out besides them: whole stories, from the frame to the reply."""

from typing import Any

from bot.clock import SetClock
from bot.i18n import phrases
from bot.messages import Document, Picture, UserMessage
from store import Store
from tests.bot.loops.app_harness import Harness, app_harness
from tests.bot.media.samples import noise, pdf, picture, slow_pdf
from tests.servers.envelopes import BOB, GROUP, Frame, attachment, delete, message, quote_of


def file(aldis: Harness, data: bytes, **more: Any) -> Frame:
    frame = attachment(size_bytes=len(data)) | more
    aldis.transport.files[frame["id"]] = data
    return frame


def last(aldis: Harness) -> UserMessage:
    return next(said for said in reversed(aldis.model.requests[-1].messages) if isinstance(said, UserMessage))


async def test_somebody_s_slow_files_keep_nobody_else_waiting(aldis: Harness) -> None:
    """However many one person sends, in however many conversations, another's file is opened at once."""
    for group in (None, GROUP):
        slow = [file(aldis, slow_pdf()) for _ in range(4)]
        await aldis.deliver(message("Aldis, well?", group=group, attachments=slow))
    await aldis.until(lambda: aldis.transport.fetched == 8)
    await aldis.deliver(message("And mine?", author=BOB, attachments=[file(aldis, pdf("Rent 900"))]))
    [answer] = await aldis.answered(1)
    assert answer.chat == BOB.chat
    assert "Rent 900" in str(last(aldis))


async def test_several_files_come_in_their_order(aldis: Harness) -> None:
    """However long each takes to open; too many are named."""
    files = [
        file(aldis, noise(900, 900), filename="a.jpg"),
        file(aldis, b"name;age\nAnna;7", filename="b.csv"),
        file(aldis, pdf("Rent 900"), filename="c.pdf"),
        *(file(aldis, b"hello", filename=f"{letter}.txt") for letter in "defghi"),
    ]
    await aldis.deliver(message("Well?", attachments=files))
    await aldis.answered(1)
    lines = [line for line in last(aldis).text.splitlines() if line[0] == "📎"]
    assert [line.partition("named ")[2][1] for line in lines] == list("abcdefghi")
    assert lines[-1] == "📎 a file named 'i.txt', which was not opened: the limit is 8 per message"
    first, second = last(aldis).media
    assert isinstance(first, Picture)
    assert isinstance(second, Document)
    assert second.text == "Page 1:\nRent 900"


async def test_a_file_does_not_outlive_the_timer_of_its_message(store: Store, clock: SetClock) -> None:
    """One that waited too long is never opened; the bridge has the file no more, and the store not its name."""
    async with app_harness(store, clock, conversations_at_once=1) as aldis:
        await aldis.held("slow", message("slow", author=BOB))
        await aldis.deliver(message("Read it.", attachments=[file(aldis, picture())], expires_in_seconds=5))
        clock.move(6)
        aldis.model.gates["slow"].set()
        await aldis.quiet()
        await aldis.until(lambda: not aldis.transport.files)
        assert aldis.transport.sent[-1].content.text == phrases.MESSAGE_EXPIRED.text
        assert await aldis.count("SELECT count(*) FROM inbox WHERE envelope IS NOT NULL") == 0


async def test_talk_of_others_is_never_opened(aldis: Harness) -> None:
    """Only what is to be answered is fetched; the bridge throws away the rest."""
    await aldis.process(message("Look at this", group=GROUP, attachments=[file(aldis, picture())]))
    await aldis.until(lambda: not aldis.transport.files)
    assert aldis.model.requests == []
    assert len(aldis.transport.discarded) == 1


async def test_a_quoted_picture_is_seen_in_small(aldis: Harness) -> None:
    """Somebody showed it to the group, and another asks Aldis about it: that phone sends a small one along."""
    thumbnail = file(aldis, picture(), filename=None)
    shown = {"contentType": "image/png", "filename": "bed.png", "thumbnail": thumbnail}
    quoted = {"attachments": [shown, {"contentType": "text/plain", "filename": "e.txt"}]}
    quote = quote_of(BOB, 12345, "My bed") | quoted
    await aldis.process(message("What is this?", group=GROUP, mention=True, quote=quote))
    [seen] = last(aldis).media
    assert isinstance(seen, Picture)
    assert "in small: a picture named 'bed.png', which is attached" in last(aldis).text
    assert "with a file that you are not shown)" in last(aldis).text
    await aldis.until(lambda: not aldis.transport.files)


async def test_a_deleted_message_takes_its_picture_with_it(aldis: Harness) -> None:
    """Also out of the memory of the process."""
    sent_at = await aldis.process(message("Look", attachments=[file(aldis, picture())]))
    await aldis.process(delete(sent_at))
    await aldis.deliver(message("What was it?"))
    await aldis.answered(2)
    assert [said for said in aldis.model.requests[-1].messages if isinstance(said, UserMessage)] == [last(aldis)]
