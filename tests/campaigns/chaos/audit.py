"""The audit: the properties that must hold after a round, each with its count and its violations.

Left to others: the properties of what was sent (`sends`) and of what was asked (`calls`).
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

from bot.messages import AssistantMessage, UserMessage
from tests.campaigns.chaos import calls, sends
from tests.campaigns.chaos.crowd import Letter, labels_in
from tests.campaigns.chaos.evidence import Finding
from tests.campaigns.chaos.world import World
from tests.invariants import is_sendable


def findings(here: World) -> tuple[Finding, ...]:
    return (
        _lives(here),
        _stops(here),
        _rest(here),
        _ends(here),
        _losses(here),
        _reads(here),
        sends.delivered(here),
        sends.confirmed(here),
        sends.answered_once(here),
        sends.ordered(here),
        calls.paid_once(here),
        calls.in_the_ledger(here),
        calls.looked_up_once(here),
        _strangers(here),
        _canaries(here),
        _order(here),
        _history(here),
        _rules(here),
        _files(here),
    )


def _lives(here: World) -> Finding:
    """Every life ended as it was meant to, and said nothing that it must not say."""
    kinds = Counter(life.how for life in here.lives if life.status == -9)
    broken = [
        f"life {life.number} ({life.how}) ended with {life.status}: {life.log[-4000:]}"
        for life in here.lives
        if life.status != life.meant or "Traceback" in life.log
    ]
    words = {life.number: here.pen.told_in(life.log) for life in here.lives}
    broken += [f"the log of life {number} tells {sorted(said)}" for number, said in words.items() if said]
    ways = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    return Finding("lives ended by SIGKILL", kinds.total(), ways, tuple(broken))


def _stops(here: World) -> Finding:
    """An orderly end loses nothing, whatever comes meanwhile; what was handed over is the matter of `_losses`."""
    broken = [f"{here.lost_in_order} envelopes were fetched and handed to no one"] if here.lost_in_order else []
    told = f"restarted {here.restarts} times before" if here.restarts else ""
    return Finding(
        "lives ended in order while people wrote, all that was fetched handed over", here.stops, told, tuple(broken)
    )


def _rest(here: World) -> Finding:
    left = here.store
    states = Counter(f"inbox {row.state}" for row in left.inbox if row.state not in {"done", "dead"})
    states += Counter(f"outbox {row.state}" for row in left.outbox if row.state not in {"sent", "dead"})
    states += Counter(f"turn {state}" for state in left.turns.values() if state == "running")
    broken = [f"{count} rows are left: {state}" for state, count in states.items()]
    broken += [f"{left.journaled} steps are left in the journal"] if left.journaled else []
    broken += [] if here.rested else ["it did not come to rest in time"]
    count = len(left.inbox) + len(left.outbox) + len(left.turns)
    return Finding("rows of queues and turns, none claimed, sending or running", count, "", tuple(broken))


def _ends(here: World) -> Finding:
    ends: Counter[str] = Counter()
    broken: list[str] = []
    notices = {row.turn for row in here.store.outbox}
    for row in here.store.inbox:
        letter = here.pen.letters.get(row.sent_at)
        if letter is None:
            broken.append(f"the inbox has an envelope {row.sent_at} that nobody wrote")
            continue
        end = _end(letter, row.state, here.store.turns.get(row.turn or 0), has_notice=row.turn in notices)
        ends[end] += 1
        if end not in _GOOD_ENDS:
            broken.append(f"{letter.sort} {letter.label} of {letter.chat.canary}: {end}")
    twice = Counter(row.sent_at for row in here.store.inbox)
    broken += [f"envelope {sent_at} stands {count} times in the inbox" for sent_at, count in twice.items() if count > 1]
    told = ", ".join(f"{count} {end}" for end, count in ends.most_common())
    return Finding("envelopes committed, each with one end", len(here.store.inbox), told, tuple(broken))


_GOOD_ENDS = {"answered", "failed with notice", "nothing to answer", "given up, and nobody waits for it"}


def _end(letter: Letter, state: str, turn: str | None, *, has_notice: bool) -> str:
    if state not in {"done", "dead"}:
        return f"left {state}"
    if letter.sort != "question":
        # What was taken up together with a question shares its end, although nobody waits for a word about it.
        if letter.sort == "reaction" and state == "dead" and turn is None:
            return "given up, and nobody waits for it"  # several lives were killed over it
        shares = turn == "failed" and has_notice
        return "nothing to answer" if state == "done" or shares else "dead"
    if turn == "kept":
        return "answered"
    if turn == "failed" and has_notice:
        return "failed with notice"
    return f"{state} in a turn that is {turn}, notice: {has_notice}"


def _losses(here: World) -> Finding:
    """What was handed to a life and not committed is the tail of what a killed life was handed, and nothing else."""
    committed = {row.sent_at for row in here.store.inbox}
    streams: dict[int, list[int]] = defaultdict(list)
    for frame in here.phones.handed:
        letter = here.pen.letters.get(frame.sent_at or 0)
        if letter is not None and letter.chat.is_listed:
            streams[frame.stream].append(letter.sent_at)
    once = {sent_at for sent_at, count in here.deliveries.items() if count == 1}
    broken = [
        f"letter {here.pen.letters[at].label or at} was lost by stream {stream} without a kill"
        for stream, at in gaps(streams, committed, once=once, calm=here.phones.calm_streams)
    ]
    handed = {sent_at for stream in streams.values() for sent_at in stream}
    return Finding(
        "envelopes lost with the life that held them, by signal-cli's protocol",
        len(handed - committed),
        f"of {len(handed)} handed over",
        tuple(broken),
    )


def gaps(
    streams: Mapping[int, Sequence[int]], committed: Collection[int], *, once: Collection[int], calm: Collection[int]
) -> Iterator[tuple[int, int]]:
    """The losses that no kill explains, by stream; people wrote `once`, and `calm` streams ended in order."""
    on = Counter(at for handed in streams.values() for at in set(handed))
    for stream, handed in streams.items():
        # What another stream had too may be of the other's life: signal-cli still writes to one whose life is over.
        sure = (place for place, at in enumerate(handed) if at in committed and at in once and on[at] == 1)
        last = len(handed) if stream in calm else max(sure, default=0)
        yield from ((stream, at) for at in handed[:last] if at not in committed)


def _reads(here: World) -> Finding:
    committed = {row.sent_at for row in here.store.inbox}
    broken = [f"{at} is shown as read and was not committed" for _, at in here.phones.read if at not in committed]
    broken += [
        f"{at} was shown as read to somebody else"
        for reader, at in here.phones.read
        if at in here.pen.letters and here.pen.letters[at].author.uuid != reader
    ]
    return Finding("envelopes shown as read, each with its end", len(here.phones.read), "", tuple(broken))


def _strangers(here: World) -> Finding:
    closed = {chat.id for chat in here.pen.crowd.chats if not chat.is_listed}
    from_closed = {at for at, letter in here.pen.letters.items() if letter.chat.id in closed}
    broken = [
        f"a stranger's letter {row.sent_at} is in the inbox" for row in here.store.inbox if row.sent_at in from_closed
    ]
    broken += [f"a message went out to {sent.chat}" for sent in here.phones.sent if sent.chat in closed]
    broken += [f"{chat} was shown that Aldis writes" for chat, _ in here.phones.typing if chat in closed]
    broken += [f"a stranger's letter {at} was shown as read" for _, at in here.phones.read if at in from_closed]
    broken += [
        f"a model was asked about {label}"
        for asked in here.asked
        for label in asked.labels
        if here.pen.chats[label].id in closed
    ]
    broken += [f"{chat} has a history" for chat in here.store.history if chat in closed]
    if here.store.unknown_conversations:
        broken.append(f"{here.store.unknown_conversations} conversations belong to no one of the crowd")
    return Finding("letters of strangers, without a call, a send or a row", len(from_closed), "", tuple(broken))


def _canaries(here: World) -> Finding:
    """The words of one conversation are in no prompt and no answer of another, and nowhere readable on the disk."""
    chats = {chat.id: chat for chat in here.pen.crowd.chats}
    broken = [f"the prompt for {asked.labels} holds {asked.foreign}" for asked in here.asked if asked.foreign]
    for sent in here.phones.sent:
        foreign = here.pen.foreign(sent.text, chats[sent.chat])
        broken += [f"an answer in {chats[sent.chat].canary} holds {foreign}"] if foreign else []
    broken += [f"{canary} stands readable on the disk" for canary in here.store.readable_canaries]
    count = len(here.asked) + len(here.phones.sent)
    return Finding("prompts and answers with the words of their own conversation only", count, "", tuple(broken))


def _order(here: World) -> Finding:
    broken: list[str] = []
    rows = [row for row in here.store.inbox if row.sent_at in here.pen.letters]
    for chat in here.pen.crowd.listed:
        own = [row for row in rows if row.chat == chat.id]
        once = [row.sent_at for row in own if here.deliveries[row.sent_at] == 1]
        broken += [f"letters of {chat.canary} are out of order"] if once != sorted(once) else []
        # What was said among others is settled without a turn.
        taken = [row for row in own if here.pen.letters[row.sent_at].sort != "reaction"]
        asked = [row.turn for row in taken if row.turn is not None]
        broken += [f"turns of {chat.canary} are out of order: {asked}"] if asked != sorted(asked) else []
    return Finding("envelopes taken in the order in which they came", len(rows), "", tuple(broken))


def _history(here: World) -> Finding:
    """Every history can be sent to any provider, and holds each kept turn once, with its questions and its answer."""
    broken: list[str] = []
    questions = here.questions_by_turn()
    turns = 0
    for chat, history in here.store.history.items():
        if history and not is_sendable([message for _, messages in history for message in messages]):
            broken.append(f"the history of {chat} cannot be sent")
        for turn, messages in history:
            turns += 1
            first, last = messages[0], messages[-1]
            if not isinstance(first, UserMessage) or labels_in(first.text) != questions[turn]:
                broken.append(f"turn {turn} does not begin with {questions[turn]}")
            if not isinstance(last, AssistantMessage) or labels_in(last.text) != questions[turn]:
                broken.append(f"turn {turn} does not end with the answer to {questions[turn]}")
    kept = [turn for turn, state in here.store.turns.items() if state == "kept"]
    if turns != len(kept):
        broken.append(f"{len(kept)} turns were kept and {turns} are in the histories")
    return Finding("turns in histories that any provider accepts", turns, "", tuple(broken))


def _rules(here: World) -> Finding:
    vendors = Counter(asked.vendor for asked in here.asked)
    told = ", ".join(f"{count} {vendor}" for vendor, count in vendors.items())
    return Finding(
        "requests within the rules of their vendor",
        vendors.total(),
        told,
        (*here.models["chat"].refused, *here.models["anthropic"].refused),
    )


def _files(here: World) -> Finding:
    said = here.store.integrity
    return Finding("files that pass SQLite's integrity check", 2, "", () if said == "ok ok" else (said,))
