"""The audit of what went out: every message once, to whom it belongs, in order.

Every row of the outbox names the message that went out for it by that message's time, unless receipts have proved that
it went out without telling which of several it was. What went out, still stands in the chat, and is named by no row is
a repetition: a send of unknown outcome was sent again. That is allowed only where Aldis had not read a receipt of the
first copy when it began the second: where two sends could be meant, both are sent again, and what may be a copy is
taken out of the chat. A revision that is sent again is none: people see one message, whichever of the two they get.
A receipt was surely read when a letter after it in the same stream stands in the inbox, for intake takes one frame
after the other; that letter's `received_at` is then later than the reading.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter

from tests.campaigns.chaos.crowd import labels_in
from tests.campaigns.chaos.evidence import Finding, OutboxRow
from tests.campaigns.chaos.phones import GRACE_SECONDS
from tests.campaigns.chaos.world import World
from tests.servers.signal_server import Sent


def delivered(here: World) -> Finding:
    went_out = {sent.timestamp: sent for sent in here.phones.sent}
    questions = here.questions_by_turn()
    broken: list[str] = []
    unnamed = _seen_unnamed(here)
    removed = {removed.timestamp: removed for removed in here.phones.removed}
    names = {row.sent_at for row in here.store.outbox if row.removes}
    spare: Counter[str | None] = Counter(one.chat for stamp, one in removed.items() if stamp not in names)
    for row in here.store.outbox:
        if row.removes and row.sent_at is None and row.state == "sent" and spare[row.chat]:
            spare[row.chat] -= 1  # receipts proved it with a reaction: which of two names is whose, nobody can tell
            continue
        sent = (removed if row.removes else went_out).get(row.sent_at or 0)
        if row.sent_at is None and row.turn in unnamed:
            continue  # it was given up, for nothing proved any of its copies, or proved with others
        if row.position < 0 and row.state == "dead":
            continue  # a status in doubt: nothing is lost with it, so it is never sent again
        if row.state != "sent" or sent is None:
            broken.append(
                f"message {row.id} of turn {row.turn} {questions[row.turn]} is {row.state} and did not go out"
            )
        elif sent.chat != row.chat:
            broken.append(
                f"message {row.id} of turn {row.turn} {questions[row.turn]} counts as sent by another's receipt"
            )
    broken += _unanswered(here, went_out)
    return Finding("messages sent, each of them seen by people", len(here.store.outbox), "", tuple(broken))


def _unanswered(here: World, went_out: dict[int, Sent]) -> Iterator[str]:
    """Kept turns whose answer was not seen by people, or names other questions than those that were asked."""
    firsts = {row.turn: went_out.get(row.sent_at or 0) for row in here.store.outbox if row.position == 0}
    firsts |= _seen_unnamed(here)
    for turn, labels in here.questions_by_turn().items():
        sent = firsts.get(turn)
        if here.store.turns[turn] == "kept" and (sent is None or labels_in(sent.text) != labels):
            yield f"the answer of turn {turn} to {labels} was not seen by people"


def _seen_unnamed(here: World) -> dict[int, Sent | None]:
    """By turn: what people saw of messages of which Aldis knows no name, so that it has given them up."""
    nameless = {row.turn: row.chat for row in here.store.outbox if row.sent_at is None and not row.removes}
    questions, turns = here.questions_by_turn(), here.store.turns
    copies = [copy for copy, row in _copies(here) if row is None]
    return {
        turn: copy
        for turn, chat in nameless.items()
        for copy in copies
        if copy.chat == chat and labels_in(copy.text) == (() if turns[turn] == "failed" else questions[turn])
    }


def confirmed(here: World) -> Finding:
    """Most messages were confirmed by a phone: else nothing is shown about what receipts prove."""
    handed = {target for frame in here.phones.handed for target in frame.confirms}
    count = sum(sent.timestamp in handed for sent in here.phones.sent)
    broken = () if count >= len(here.phones.sent) / 2 else (f"only {count} of {len(here.phones.sent)} were",)
    return Finding("messages whose receipt was handed to a life", count, "", broken)


def answered_once(here: World) -> Finding:
    """Nobody saw an answer twice whom a receipt could have spared it."""
    receipts = Receipts.of(here)
    reasons: Counter[str] = Counter()
    unmarked = 0
    broken: list[str] = []
    given_up = {(copy.chat, copy.text) for copy in _seen_unnamed(here).values() if copy is not None}
    items = {row.id: row for row in here.store.outbox}
    statuses = {one.sent_at for one in here.store.attempts if items[one.item].position < 0}
    for copy, row in _copies(here):
        if row is None and copy.timestamp in statuses:
            reasons[_STATUS] += 1
            continue
        if row is None and (copy.chat, copy.text) in given_up:
            reasons[_GIVEN_UP] += 1
            continue
        if row is None:
            broken.append(f"a message went out to {copy.chat} that no turn has written: {labels_in(copy.text)}")
            continue
        own = [one.begun_at for one in here.store.attempts if one.item == row.id]
        others = [one.begun_at for one in here.store.attempts if one.item != row.id]
        others += here.store.reactions
        reason = receipts.reason(copy, row, own, others)
        reasons[reason] += 1
        unmarked += not here.store.resent[row.turn]
        if reason not in _ALLOWED:
            place = copy.chat.partition(":")[0]
            broken.append(f"the answer of turn {row.turn} {labels_in(copy.text)} ({place}) was seen twice: {reason}")
    told = ", ".join(f"{number} {reason}" for reason, number in reasons.items() if reason in _ALLOWED)
    told = f"{reasons.total()} others seen twice: {told}; {unmarked} of them not marked in the ledger" if told else ""
    return Finding("messages seen once", len(here.phones.sent) - 2 * reasons.total(), told, tuple(broken))


NEVER = "no phone confirmed the first"
LATE = "its receipt came after the grace period"
LOST = "its receipt was lost with a life or was not read yet"
_GIVEN_UP = "nothing proved any of its copies"
_STATUS = "a status that was in doubt, beside the answer"
UNCLEAR = "its receipt may have meant another send of that time"
_ALLOWED = {NEVER, LATE, LOST, UNCLEAR, _GIVEN_UP, _STATUS}

_ROUNDING_MS = 5


def ordered(here: World) -> Finding:
    rows = {row.sent_at: row for row in here.store.outbox if not row.removes}
    broken: list[str] = []
    for chat in here.pen.crowd.listed:
        seen = [rows[sent.timestamp].id for sent in here.phones.sent if sent.chat == chat.id and sent.timestamp in rows]
        broken += [f"messages of {chat.canary} went out in the order {seen}"] if seen != sorted(seen) else []
        written = [row.id for row in sorted(rows.values(), key=_written) if row.chat == chat.id]
        broken += [f"turns of {chat.canary} were answered in another order"] if written != sorted(written) else []
    return Finding("messages seen in their order", len(rows), "", tuple(broken))


def _written(row: OutboxRow) -> tuple[int, bool, int]:
    """Statuses come before the answer; their positions count down."""
    return row.turn, row.position >= 0, abs(row.position)


def _copies(here: World) -> Iterator[tuple[Sent, OutboxRow | None]]:
    """What went out, stands there, and is named by no row, with the row of its other copy in the same conversation."""
    rows = {row.sent_at: row for row in here.store.outbox}
    others: dict[tuple[str, str], list[Sent]] = defaultdict(list)
    for sent in here.phones.sent:
        if sent.timestamp in rows:
            others[sent.chat, sent.text].append(sent)
    for sent in here.standing:
        if sent.timestamp not in rows:
            named = others[sent.chat, sent.text]
            # The next of the same words: notices have the same words again and again.
            place = min(bisect_right(named, sent.timestamp, key=attrgetter("timestamp")), len(named) - 1)
            if not named or not are_one_message(sent, named[place]):
                yield sent, rows[named[place].timestamp] if named else None


def are_one_message(first: Sent, second: Sent) -> bool:
    """Whether two sends of the same words revise the same message: phones take the first and drop the second."""
    return first.edits is not None and first.edits == second.edits


@dataclass(frozen=True, kw_only=True)
class Receipts:
    """The receipts that were handed to Aldis, by the message they confirm; times are in milliseconds since 1970."""

    handed_at: dict[int, int]
    read_at: dict[int, int]
    """Until when at the latest a receipt of a message was surely read; only those of which one can tell."""

    @classmethod
    def of(cls, here: World) -> "Receipts":
        once = {row.sent_at: row for row in here.store.inbox if here.deliveries[row.sent_at] == 1}
        handed: dict[int, int] = {}
        read: dict[int, int] = {}
        unread: dict[int, list[int]] = defaultdict(list)
        for frame in here.phones.handed:
            for target in frame.confirms:
                handed.setdefault(target, frame.at)
            unread[frame.stream] += frame.confirms
            if frame.sent_at in once:
                for target in unread.pop(frame.stream, ()):
                    read.setdefault(target, once[frame.sent_at].received_at)
        return cls(handed_at=handed, read_at=read)

    def reason(self, copy: Sent, row: OutboxRow, attempts: Sequence[int], others: Sequence[int] = ()) -> str:
        """Why it went out beside the one that its row names; `attempts` are when its sends began, `others` all else."""
        assert row.sent_at is not None
        first = min(copy.timestamp, row.sent_at)
        begun_at = row.attempted_at or 0
        # A slow bridge takes it, and gives it its time, long after it was sent and given up as unknown, even after the
        # second was begun.
        waited_ms = begun_at - max((at for at in attempts if at <= first and at < begun_at), default=first)
        if waited_ms < 1000 * GRACE_SECONDS - _ROUNDING_MS:
            return f"it was sent again {waited_ms} ms after the first, before the grace period was over"
        if first not in self.handed_at:
            return NEVER
        if self.handed_at[first] >= begun_at:
            return LATE
        read_at = self.read_at.get(first)
        if read_at is None or read_at >= begun_at:
            return LOST
        if any(abs(at - first) < 1000 * GRACE_SECONDS for at in others):
            return UNCLEAR
        return f"its receipt was read {begun_at - read_at} ms before it was sent again"
