"""Prints what happened around a message that went wrong, line by line, to help find the reason.

Shows what went out to its chat, to its people and to other groups that they are in, as their receipts may have been
taken for any of these; the sends as finally stored; what Aldis logged about them; and the receipts that came meanwhile.
Times are in seconds from the first send; names are shown by their last digits.
"""

from collections.abc import Iterator

from tests.campaigns.chaos.evidence import Evidence
from tests.campaigns.chaos.store_contents import OutboxRow

_BEFORE_MS, _AFTER_MS = 3000, 2000

_Line = tuple[int, str]


def timeline(evidence: Evidence, row: OutboxRow) -> str:
    """All around the sends of a row of the outbox."""
    if row.chat is None:
        return "a message to nobody of the crowd"
    chats = _related(evidence, row.chat)
    lines = [*_lives(evidence), *_told(evidence, row), *_attempts(evidence, chats), *_reactions(evidence, chats)]
    own = [at for at, _ in [*_told(evidence, row), *_attempts(evidence, {row.chat: 0}, item=row.id)]]
    first, last = min(own, default=row.attempted_at or 0), max([*own, row.attempted_at or 0, row.sent_at or 0])
    lines += [*_went_out(evidence, chats), *_receipts(evidence, row.chat)]
    shown = sorted(line for line in lines if first - _BEFORE_MS <= line[0] <= last + _AFTER_MS)
    head = f"{_kind(row)} {row.id} to chat {chats[row.chat]}, {row.state} after {row.attempts} sends"
    head += "" if row.sent_at is None else f" as {_short(row.sent_at)}"
    return "\n".join(
        [f"{head}; 0 is {_short(first)}", *(f"{(at - first) / 1000:+8.3f} s  {said}" for at, said in shown)]
    )


def _short(name: int) -> str:
    return f"{name % 10**7:07}"


def _kind(row: OutboxRow) -> str:
    return "removal" if row.removes else "status" if row.position < 0 else "message"


def _related(evidence: Evidence, chat: str) -> dict[str, int]:
    """The conversations in which anybody of this one can receive something, each with a short name."""
    chats = {one.id: (number, one) for number, one in enumerate(evidence.pen.crowd.chats)}
    people = set(chats[chat][1].members)
    return {name: number for name, (number, one) in chats.items() if one.is_listed and people & set(one.members)}


def _lives(evidence: Evidence) -> Iterator[_Line]:
    for life in evidence.lives:
        yield life.born_at, f"life {life.number} begins"
        yield life.ended_at, f"life {life.number} ends: {life.how}"


def _told(evidence: Evidence, row: OutboxRow) -> Iterator[_Line]:
    for life in evidence.lives:
        yield from ((at, f"life {life.number} says: {words}") for at, item, words in life.told if item == row.id)


def _attempts(evidence: Evidence, chats: dict[str, int], *, item: int | None = None) -> Iterator[_Line]:
    """The sends as the store has them; one that surely did not go out is not there any more."""
    rows = {row.id: row for row in evidence.store.outbox}
    for attempt in evidence.store.attempts:
        row = rows[attempt.item]
        if row.chat in chats and item in {None, row.id}:
            name = "without a name" if attempt.sent_at is None else f"known as {_short(attempt.sent_at)}"
            until = "" if attempt.open_until is None else f", open until {_short(attempt.open_until)}"
            yield (
                attempt.begun_at,
                f"send {attempt.id} of {_kind(row)} {row.id} to chat {chats[row.chat]}, {name}{until}",
            )


def _reactions(evidence: Evidence, chats: dict[str, int]) -> Iterator[_Line]:
    for reaction in evidence.store.reactions:
        if reaction.chat in chats:
            name = "without a name" if reaction.name is None else f"known as {_short(reaction.name)}"
            until = "" if reaction.ended_at is None else f", until {_short(reaction.ended_at)}"
            yield reaction.begun_at, f"reaction {reaction.id} to chat {chats[reaction.chat]}, {name}{until}"


def _went_out(evidence: Evidence, chats: dict[str, int]) -> Iterator[_Line]:
    for sent in evidence.sent:
        if sent.chat in chats:
            labels = " ".join(evidence.labels(sent)) or "a notice"
            yield sent.timestamp, f"chat {chats[sent.chat]} gets {_short(sent.timestamp)}: {labels}"
    for removed in evidence.removed:
        if removed.chat in chats:
            names = f"{_short(removed.timestamp)}: the removal of {_short(removed.target)}"
            yield removed.timestamp, f"chat {chats[removed.chat]} gets {names}"


def _receipts(evidence: Evidence, chat: str) -> Iterator[_Line]:
    """What the people of the chat confirmed, and when what came after it on its stream was written down."""
    people = {one.uuid: one for one in next(one for one in evidence.pen.crowd.chats if one.id == chat).members}
    once = {row.sent_at: row for row in evidence.store.inbox if evidence.deliveries[row.sent_at] == 1}
    for place, frame in enumerate(evidence.handed):
        if frame.author in people and frame.confirms:
            later = (one.sent_at for one in evidence.handed[place:] if one.stream == frame.stream)
            read_at = next((once[at].received_at for at in later if at in once), None)
            names = ", ".join(map(_short, frame.confirms))
            read = "perhaps never read" if read_at is None else f"read by {_short(read_at)}"
            yield frame.at, f"{people[frame.author].name} confirms {names} on stream {frame.stream}, {read}"
