"""The audit: the properties that must hold after a round, each with its count and its violations.

Left to others: the properties of what was sent (`sends`) and of what was asked (`calls`).
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

from bot.messages import AssistantMessage, UserMessage
from tests.campaigns.chaos import calls, sends
from tests.campaigns.chaos.crowd import Letter, labels_in
from tests.campaigns.chaos.evidence import Evidence, Finding
from tests.invariants import is_sendable


def findings(evidence: Evidence) -> tuple[Finding, ...]:
    """All properties, in the order in which one wants to read them."""
    return (
        _lives(evidence),
        _stops(evidence),
        _rest(evidence),
        _ends(evidence),
        _losses(evidence),
        _reads(evidence),
        sends.delivered(evidence),
        sends.confirmed(evidence),
        sends.answered_once(evidence),
        sends.ordered(evidence),
        calls.paid_once(evidence),
        calls.in_the_ledger(evidence),
        calls.looked_up_once(evidence),
        _strangers(evidence),
        _canaries(evidence),
        _order(evidence),
        _history(evidence),
        _rules(evidence),
        _files(evidence),
    )


def _lives(evidence: Evidence) -> Finding:
    """Every life ended as it was meant to, and said nothing that it must not say."""
    how = Counter(life.how.split()[0] if life.status == -9 else "asked to stop" for life in evidence.lives)
    kinds = Counter(life.how for life in evidence.lives if life.status == -9)
    broken = [
        f"life {life.number} ({life.how}) ended with {life.status}: {life.log[-4000:]}"
        for life in evidence.lives
        if not life.was_meant or "Traceback" in life.log
    ]
    broken += [f"the log of life {life.number} tells {life.words}" for life in evidence.lives if life.words]
    told = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items(), key=lambda item: -item[1]))
    return Finding("lives ended by SIGKILL", how.total() - how["asked to stop"], told, tuple(broken))


def _stops(evidence: Evidence) -> Finding:
    """An orderly end loses nothing, whatever comes meanwhile; what was handed over is the matter of `_losses`."""
    broken = [f"{evidence.lost_in_order} envelopes were fetched for nobody"] if evidence.lost_in_order else []
    told = f"restarted {evidence.restarts} times before" if evidence.restarts else ""
    return Finding(
        "lives ended in order while people wrote, nothing fetched for nobody", evidence.stops, told, tuple(broken)
    )


def _rest(evidence: Evidence) -> Finding:
    """Everything came to rest: no message, turn, journal or send is left under way."""
    left = evidence.store
    states = Counter(f"inbox {row.state}" for row in left.inbox if row.state not in {"done", "dead"})
    states += Counter(f"outbox {row.state}" for row in left.outbox if row.state not in {"sent", "dead"})
    states += Counter(f"turn {state}" for state in left.turns.values() if state == "running")
    broken = [f"{count} rows are left: {state}" for state, count in states.items()]
    broken += [f"{left.journaled} steps are left in the journal"] if left.journaled else []
    broken += [] if evidence.rested else ["it did not come to rest in time"]
    count = len(left.inbox) + len(left.outbox) + len(left.turns)
    return Finding("rows of queues and turns, none claimed, sending or running", count, "", tuple(broken))


def _ends(evidence: Evidence) -> Finding:
    """Every envelope that was committed has one end."""
    ends: Counter[str] = Counter()
    broken: list[str] = []
    notices = {row.turn for row in evidence.store.outbox}
    for row in evidence.store.inbox:
        letter = evidence.pen.letters.get(row.sent_at)
        if letter is None:
            broken.append(f"the inbox has an envelope {row.sent_at} that nobody wrote")
            continue
        end = _end(letter, row.state, evidence.store.turns.get(row.turn or 0), has_notice=row.turn in notices)
        ends[end] += 1
        if end not in _GOOD_ENDS:
            broken.append(f"{letter.sort} {letter.label} of {letter.chat.canary}: {end}")
    twice = Counter(row.sent_at for row in evidence.store.inbox)
    broken += [f"envelope {sent_at} stands {count} times in the inbox" for sent_at, count in twice.items() if count > 1]
    told = ", ".join(f"{count} {end}" for end, count in ends.most_common())
    return Finding("envelopes committed, each with one end", len(evidence.store.inbox), told, tuple(broken))


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


def _losses(evidence: Evidence) -> Finding:
    """What was handed to a life and not committed is the tail of what a killed life was handed, and nothing else."""
    committed = {row.sent_at for row in evidence.store.inbox}
    streams: dict[int, list[int]] = defaultdict(list)
    for frame in evidence.handed:
        letter = evidence.pen.letters.get(frame.sent_at or 0)
        if letter is not None and letter.chat.is_listed:
            streams[frame.stream].append(letter.sent_at)
    once = {sent_at for sent_at, count in evidence.deliveries.items() if count == 1}
    broken = [
        f"letter {evidence.pen.letters[at].label or at} was lost by stream {stream} without a kill"
        for stream, at in gaps(streams, committed, once=once, calm=evidence.calm_streams)
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
    """The losses that no kill explains, each with its stream: a later one was committed, or all should have been.

    `streams` are the letters that each was handed, in order; `once` are those that people wrote once, `calm` the
    streams of lives that ended in order.
    """
    on = Counter(at for handed in streams.values() for at in set(handed))
    for stream, handed in streams.items():
        # What another stream had too may be of the other's life: signal-cli still writes to one whose life is over.
        sure = (place for place, at in enumerate(handed) if at in committed and at in once and on[at] == 1)
        last = len(handed) if stream in calm else max(sure, default=0)
        yield from ((stream, at) for at in handed[:last] if at not in committed)


def _reads(evidence: Evidence) -> Finding:
    """What people see as read was committed: "read" means that it has an end."""
    committed = {row.sent_at for row in evidence.store.inbox}
    broken = [f"{at} is shown as read and was not committed" for _, at in evidence.read if at not in committed]
    broken += [
        f"{at} was shown as read to somebody else"
        for reader, at in evidence.read
        if at in evidence.pen.letters and evidence.pen.letters[at].author.uuid != reader
    ]
    return Finding("envelopes shown as read, each with its end", len(evidence.read), "", tuple(broken))


def _strangers(evidence: Evidence) -> Finding:
    """Who is not on the list cost no model call, no send and no stored word."""
    closed = {chat.id for chat in evidence.pen.crowd.chats if not chat.is_listed}
    from_closed = {at for at, letter in evidence.pen.letters.items() if letter.chat.id in closed}
    broken = [
        f"a stranger's letter {row.sent_at} is in the inbox"
        for row in evidence.store.inbox
        if row.sent_at in from_closed
    ]
    broken += [f"a message went out to {sent.chat}" for sent in evidence.sent if sent.chat in closed]
    broken += [f"{chat} was shown that Aldis writes" for chat in evidence.typing_chats & closed]
    broken += [f"a stranger's letter {at} was shown as read" for _, at in evidence.read if at in from_closed]
    broken += [
        f"a model was asked about {label}"
        for asked in evidence.asked
        for label in asked.labels
        if evidence.pen.chats[label].id in closed
    ]
    broken += [f"{chat} has a history" for chat in evidence.store.history if chat in closed]
    if evidence.store.unknown_conversations:
        broken.append(f"{evidence.store.unknown_conversations} conversations belong to nobody of the crowd")
    return Finding("letters of strangers, without a call, a send or a row", len(from_closed), "", tuple(broken))


def _canaries(evidence: Evidence) -> Finding:
    """The words of one conversation are in no prompt and no answer of another, and nowhere readable on the disk."""
    chats = {chat.id: chat for chat in evidence.pen.crowd.chats}
    broken = [f"the prompt for {asked.labels} holds {asked.foreign}" for asked in evidence.asked if asked.foreign]
    for sent in evidence.sent:
        foreign = evidence.pen.foreign(sent.text, chats[sent.chat])
        broken += [f"an answer in {chats[sent.chat].canary} holds {foreign}"] if foreign else []
    broken += [f"{canary} stands readable on the disk" for canary in evidence.store.readable_canaries]
    count = len(evidence.asked) + len(evidence.sent)
    return Finding("prompts and answers with the words of their own conversation only", count, "", tuple(broken))


def _order(evidence: Evidence) -> Finding:
    """Letters stand in the inbox in the order in which they came, and turns take them in that order."""
    broken: list[str] = []
    rows = [row for row in evidence.store.inbox if row.sent_at in evidence.pen.letters]
    for chat in evidence.pen.crowd.listed:
        own = [row for row in rows if row.chat == chat.id]
        once = [row.sent_at for row in own if evidence.deliveries[row.sent_at] == 1]
        broken += [f"letters of {chat.canary} are out of order"] if once != sorted(once) else []
        # What was said among others is settled without a turn.
        taken = [row for row in own if evidence.pen.letters[row.sent_at].sort != "reaction"]
        asked = [row.turn for row in taken if row.turn is not None]
        broken += [f"turns of {chat.canary} are out of order: {asked}"] if asked != sorted(asked) else []
    return Finding("envelopes taken in the order in which they came", len(rows), "", tuple(broken))


def _history(evidence: Evidence) -> Finding:
    """Every history can be sent to any provider, and holds each kept turn once, with its questions and its answer."""
    broken: list[str] = []
    questions = evidence.questions_by_turn()
    turns = 0
    for chat, history in evidence.store.history.items():
        if history and not is_sendable([message for _, messages in history for message in messages]):
            broken.append(f"the history of {chat} cannot be sent")
        for turn, messages in history:
            turns += 1
            first, last = messages[0], messages[-1]
            if not isinstance(first, UserMessage) or labels_in(first.text) != questions[turn]:
                broken.append(f"turn {turn} does not begin with {questions[turn]}")
            if not isinstance(last, AssistantMessage) or labels_in(last.text) != questions[turn]:
                broken.append(f"turn {turn} does not end with the answer to {questions[turn]}")
    kept = [turn for turn, state in evidence.store.turns.items() if state == "kept"]
    if turns != len(kept):
        broken.append(f"{len(kept)} turns were kept and {turns} are in the histories")
    return Finding("turns in histories that any provider accepts", turns, "", tuple(broken))


def _rules(evidence: Evidence) -> Finding:
    """No model's double refused a request as against its vendor's rules."""
    vendors = Counter(asked.vendor for asked in evidence.asked)
    told = ", ".join(f"{count} {vendor}" for vendor, count in vendors.items())
    return Finding("requests within the rules of their vendor", vendors.total(), told, evidence.refusals)


def _files(evidence: Evidence) -> Finding:
    """The files pass SQLite's own check."""
    said = evidence.store.integrity
    return Finding("files that pass SQLite's integrity check", 2, "", () if said == "ok ok" else (said,))
