"""What must hold at the end of every story: each promise is counted, each break of one is told.

Left to others: playing the story (`world`), which stories there are (`schedules`).
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, pairwise

from bot.loops.sender import MAX_RESENDS
from tests.campaigns.simulation.app import GRACE_SECONDS
from tests.campaigns.simulation.record import Attempt, Confirmation, Inheritance, Utterance, Visible
from tests.campaigns.simulation.scenario import WORD, Said, may_enter, words_in
from tests.campaigns.simulation.tools import SPECS
from tests.campaigns.simulation.world import Played
from tests.invariants import is_sendable

_MARGIN_SECONDS = 0.1
"""More than the store takes to write down what has come."""
_MAX_DEAFNESS_SECONDS = 65.0
"""More than the longest pause between two connections."""
_WORD_BYTES = re.compile(WORD.pattern.encode())
_ONCE = {spec.name for spec in SPECS if spec.effects == "once"}


@dataclass
class Findings:
    checked: Counter[str] = field(default_factory=Counter[str])
    broken: list[str] = field(default_factory=list[str])

    def check(self, promise: str, holds: bool, details: object) -> None:
        self.checked[promise] += 1
        if not holds:
            self.broken.append(f"{promise}: {details}")


def audited(played: Played) -> Findings:
    audit = _Audit(played)
    for promise in _PROMISES:
        promise(audit)
    return audit.findings


class _Audit:
    """One story, its findings so far, and its facts in the shape in which the promises need them."""

    def __init__(self, played: Played) -> None:
        self.findings = Findings()
        self.check = self.findings.check
        self.scenario = played.scenario
        self.record = played.record
        self.store = played.store
        numbers = self.record.numbers
        self.inbox = {numbers[sent_at]: (state, turn) for sent_at, state, turn in self.store.inbox}
        taken = [self.record.said[number] for number in dict.fromkeys(self.record.taken)]
        self.taken = [said for said in taken if may_enter(said)]
        """What the intake has taken of what it may take, in order."""
        self.deleted = {said.deletes for said in self.taken if said.deletes is not None}
        """The messages of which Aldis has heard that they are deleted."""
        together = [call.question for call in self.record.completions]
        together += [attempt.said.answers for attempt in self.record.attempts]  # where no model answered
        shared = [numbers for numbers in together if not self.deleted.isdisjoint(numbers)]
        self.disturbed = set(chain.from_iterable(shared)) | self.deleted
        """Those, and what was asked together with one of them."""
        self.copies: dict[Utterance, list[Visible]] = defaultdict(list)
        for visible in self.record.visible:
            self.copies[visible.said].append(visible)

    def seen_in(self, chat: int) -> list[Utterance]:
        """What people saw there, in the order in which it first came; notices come behind what went out meanwhile."""
        return [said for said in self.copies if said.chat == chat and said.role != "notice"]

    def answers_to(self, number: int) -> list[Utterance]:
        """What was said in the end in answer to a message: one thing, if all is well."""
        return [said for said in self.copies if number in said.answers and said.last and said.role == "answer"]

    def attempts(self) -> dict[Utterance, list[Attempt]]:
        found: dict[Utterance, list[Attempt]] = defaultdict(list)
        for attempt in self.record.attempts:
            found[attempt.said].append(attempt)
        return found

    def turns_of(self, said: Utterance) -> set[int]:
        """The turn in which it was said; where its name is not known, those of its chat in which something has none."""
        stamps = {visible.stamp for visible in self.copies[said]}
        chat = self.store.conversations[said.chat]
        found = {turn for _, turn, _, stamp, _ in self.store.outbox if stamp in stamps}
        return found or {turn for of, turn, _, stamp, _ in self.store.outbox if of == chat and stamp is None}


def _nothing_lost(audit: _Audit) -> None:
    for said in audit.taken:
        state, turn = audit.inbox.get(said.number, ("missing", None))
        end = _end(audit, said, turn)
        reached = state in {"done", "dead"} and end != "lost"
        audit.check("every message that was taken in reaches an end", reached, (said.number, state, end))


def _end(audit: _Audit, said: Said, turn: int | None) -> str:
    answers = audit.answers_to(said.number)
    if not said.is_question:
        return "lost" if answers else "not for Aldis"
    if answers:
        return "answered" if answers[0].ok else "answered with a failure"
    if said.number in audit.deleted:
        return "taken back"
    return "whose answer was given up" if _is_given_up(audit, said.number, turn) else "lost"


def _is_given_up(audit: _Audit, number: int, turn: int | None) -> bool:
    """Whether Signal refused a part of the answer, or it was tried often enough without anybody knowing the outcome."""
    tried = [attempts for said, attempts in audit.attempts().items() if number in said.answers]
    is_refused = any(attempts[-1].fate == "undeliverable" for attempts in tried)
    dead = [times for _, of, state, _, times in audit.store.outbox if of == turn and state == "dead"]
    return any(is_refused or times > MAX_RESENDS for times in dead)


def _nothing_answered_twice(audit: _Audit) -> None:
    for said in audit.taken:
        ends = audit.answers_to(said.number)
        if said.number in audit.disturbed and len(ends) == 2:
            # The first was in doubt when a message that it answers, too, was deleted.
            ends = [one for one in ends if audit.deleted.isdisjoint(one.answers)]
        audit.check("no message gets two answers", len(ends) <= 1, (said.number, ends))


def _no_status_left(audit: _Audit) -> None:
    for visible in audit.record.visible:
        said = visible.said
        if said.role != "status":
            continue
        ends = [other for other in audit.copies if other.answers == said.answers and other.role != "status"]
        refused = any(one.fate == "undeliverable" and one.said.answers == said.answers for one in audit.record.attempts)
        is_sure = all(_is_sure(audit, one) for one in audit.record.attempts if one.said.answers == said.answers)
        # Of a deleted message's status whose newest edit is in doubt only the former name can be removed.
        is_unnamed = not is_sure and not audit.disturbed.isdisjoint(said.answers)
        is_excused = refused or is_unnamed or _is_doubted_to_the_end(audit, said)
        audit.check("no status stays without an answer", visible.is_gone or bool(ends) or is_excused, said)
        # One whose answer was refused, both as its edit and as a new message, stands beside nothing but a question.
        stands_alone = refused and not any(one.role == "answer" for one in ends)
        audit.check(
            "no status stays beside its answer, unless a send was in doubt",
            visible.is_gone or stands_alone or not is_sure,
            said,
        )


def _is_doubted_to_the_end(audit: _Audit, status: Utterance) -> bool:
    """Whether the answer was given up while it was unknown whether the status had become it."""
    ends = [one for one in audit.record.attempts if one.said.answers == status.answers]
    tried = [one for one in ends if one.said.role != "status"]
    return len(tried) > MAX_RESENDS and tried[-1].fate.startswith("unknown")


def _is_sure(audit: _Audit, attempt: Attempt) -> bool:
    """Whether Aldis was told what became of a send, and lived to write it down."""
    told = attempt.ended_at_seconds is not None and not attempt.fate.startswith("unknown")
    return told and not _died_soon_after(audit, attempt)


def _died_soon_after(audit: _Audit, attempt: Attempt) -> bool:
    """Whether the life that sent it may have ended before it could write down what became of it."""
    ends = audit.record.lives[attempt.life] if attempt.life < len(audit.record.lives) else float("inf")
    return ends - (attempt.ended_at_seconds or 0) < _MAX_DEAFNESS_SECONDS * 3


def _no_needless_repetition(audit: _Audit) -> None:
    for attempts in audit.attempts().values():
        for first, again in zip(attempts, [*attempts[1:], None], strict=True):
            doubt_at = _doubt_at(audit, first, again)
            if doubt_at is None:
                continue
            grace_over_at = doubt_at + GRACE_SECONDS - _MARGIN_SECONDS
            waited = again is None or again.began_at_seconds >= grace_over_at
            audit.check("a send in doubt is not repeated within the grace period", waited, first)
            # What was begun before the clock was set and named after it is not known by its time any more.
            is_named = first.visible is not None and not any(
                first.began_at_seconds <= at <= first.visible.at_seconds for at in audit.record.clock_steps
            )
            for one in first.visible.confirmations if first.visible and is_named else ():
                _unproved(audit, one, again, grace_over_at)


def _unproved(audit: _Audit, confirmation: Confirmation, again: Attempt | None, grace_over_at: float) -> None:
    """When a send was repeated, this receipt had not come, or was not clear; and it was not waiting at Signal."""
    at = float("inf") if again is None else again.began_at_seconds
    read_at = confirmation.read_at_seconds
    proved = confirmation.is_clear and read_at is not None and read_at < grace_over_at
    holds = again is None or not (proved and read_at is not None and read_at < at)
    audit.check("a send is not repeated that a receipt has proved", holds, again)
    waited = (read_at is None or read_at > at) and confirmation.sent_at_seconds < at - _MAX_DEAFNESS_SECONDS
    audit.check("a send is not repeated whose receipt waits at Signal", again is None or not waited, again)


def _doubt_at(audit: _Audit, first: Attempt, again: Attempt | None) -> float | None:
    """Since when nobody can know what became of the first of two attempts; None where Aldis knew it."""
    is_answered = first.ended_at_seconds is not None
    if first.ended_at_seconds is not None and first.fate.startswith("unknown"):
        return first.ended_at_seconds
    # What was refused surely did not go out; it may be sent without its form, or as a new message.
    if is_answered and (first.fate in {"not sent", "undeliverable"} or again is None):
        return None
    # The life that sent it ended before it could write down what became of it; in one life this must not happen.
    went_on = first.life < len(audit.record.lives)
    return audit.record.lives[first.life] if went_on and (again is None or first.life < again.life) else float("inf")


def _nothing_seen_twice(audit: _Audit) -> None:
    for said, copies in audit.copies.items():
        standing = sorted((copy for copy in copies if not copy.is_gone), key=lambda copy: copy.at_seconds)
        for first, again in pairwise(standing):
            [attempt] = [one for one in audit.record.attempts if one.visible is again]
            if attempt.edits is not None:
                continue  # phones drop an edit of what was edited before: nobody sees the same one twice
            begun_at = attempt.began_at_seconds
            told = [
                one.read_at_seconds
                for one in first.confirmations
                if one.is_clear and one.read_at_seconds is not None and one.read_at_seconds < begun_at - _MARGIN_SECONDS
            ]
            audit.check("nothing is seen twice that a phone has confirmed in time", not told, (said, told, begun_at))


def _repetitions_noted(audit: _Audit) -> None:
    for said, copies in audit.copies.items():
        if len(copies) > 1:
            noted = not audit.turns_of(said).isdisjoint(audit.store.resent)
            audit.check("a repetition is noted in the ledger", noted, (said, len(copies)))


def _sent_is_sent(audit: _Audit) -> None:
    by_stamp = {visible.stamp: visible.said for visible in audit.record.visible}
    chats = {conversation: chat for chat, conversation in audit.store.conversations.items()}
    sent = [
        (chats[conversation], by_stamp.get(at))
        for conversation, _, state, at, _ in audit.store.outbox
        if state == "sent" and at is not None and at not in audit.record.removals
    ]
    unnamed = Counter(chats[row[0]] for row in audit.store.outbox if row[2] == "sent" and row[3] is None)
    for chat, count in unnamed.items():
        named = {said for of, said in sent if of == chat}
        others = [said for said in audit.copies if said.chat == chat and said not in named]
        audit.check("what counts as sent went out, in its chat", count <= len(others), (chat, count, others))
    for chat, said in sent:
        went_out = said is not None and said.chat == chat
        audit.check("what counts as sent went out, in its chat", went_out, (chat, said))
    for chat in chats.values():
        in_order = [said for of, said in sent if of == chat and said is not None and said.role != "notice"]
        seen = [said for said in audit.seen_in(chat) if said in in_order]
        audit.check("what counts as sent went out in its order, each for itself", seen == in_order, (chat, seen))


def _nothing_paid_twice(audit: _Audit) -> None:
    paid: set[tuple[int, tuple[int, ...], int]] = set()
    for call in audit.record.completions:
        finished = any(call.position_in_question in found.completions for found in _found(audit, call.life))
        settled = not (_settled(audit, call.life) - audit.disturbed).isdisjoint(call.question)
        key = (call.life, *call.position_in_question)
        holds = not (finished or settled or key in paid)
        audit.check("no finished model call is paid again", holds, (call, finished, settled))
        paid.add(key)


def _found(audit: _Audit, life: int) -> Iterator[Inheritance]:
    """What was on the disk at the beginning of this life and of those before it."""
    return (found for number, found in audit.record.inheritances.items() if number <= life)


def _settled(audit: _Audit, life: int) -> set[int]:
    stamps = chain.from_iterable(found.settled for found in _found(audit, life))
    return {audit.record.numbers[stamp] for stamp in stamps}


def _no_effect_twice(audit: _Audit) -> None:
    runs = Counter(effect.note for effect in audit.record.effects)
    for effect in audit.record.effects:
        if effect.tool in _ONCE:
            audit.check("no tool runs twice whose effect must not repeat", runs[effect.note] == 1, effect)
        again = any(effect.note in found.notes for found in _found(audit, effect.life))
        if audit.disturbed.isdisjoint(number for _, number in words_in(effect.note)):
            audit.check("no tool runs again whose end is journaled", not again, effect)


def _only_after_a_yes(audit: _Audit) -> None:
    """What was asked together with a deleted message is asked about again, or needs no yes alone: either yes counts."""
    questions = [said for said in audit.copies if said.role == "question"]
    for effect in audit.record.effects:
        asked = [question for question in questions if effect.note in question.text]
        if any(audit.disturbed.isdisjoint(question.answers) for question in asked):
            agreed_at = min((at for question in asked for at in _yeses(audit, question)), default=float("inf"))
            audit.check("what a person has to agree to is done after a yes only", effect.at_seconds > agreed_at, effect)


def _yeses(audit: _Audit, question: Utterance) -> Iterator[float]:
    stamps = {visible.stamp for visible in audit.copies[question]}
    askers = {audit.record.said[number].author for number in question.answers}
    for said, at in audit.record.agreed:
        if said.reaction is not None and said.reaction.target in stamps and said.author in askers:
            yield at


def _strangers_cost_nothing(audit: _Audit) -> None:
    strange = {chat.number for chat in audit.scenario.chats if not chat.is_allowed}
    for prompt in audit.record.prompts:
        audit.check("no model reads a word of a stranger", strange.isdisjoint(chat for chat, _ in prompt), prompt)
    for attempt in audit.record.attempts:
        audit.check("nothing is sent to a stranger", attempt.said.chat not in strange, attempt.said)
    entered = {said.chat.number for said in audit.taken}
    kept = set(audit.store.conversations)
    audit.check("no conversation of a stranger is kept", kept == entered, (kept, entered))
    numbers = {said.number for said in audit.taken}
    audit.check("what is kept is what may come in, once each", numbers == set(audit.inbox), (numbers, set(audit.inbox)))
    audit.check("what is kept is what may come in, once each", len(audit.inbox) == len(audit.store.inbox), numbers)


def _nothing_misdirected(audit: _Audit) -> None:
    for prompt in audit.record.prompts:
        audit.check("no prompt mixes conversations", len({chat for chat, _ in prompt}) == 1, prompt)
    for said in audit.copies:
        chats = {chat for chat, _ in words_in(said.text)}
        audit.check("no answer holds words of another conversation", chats <= {said.chat}, said)
    for chat, turns in audit.store.history.items():
        chats = {of for turn in turns for message in turn for of, _ in words_in(repr(message))}
        audit.check("no history holds words of another conversation", chats <= {chat}, (chat, chats))


def _order_kept(audit: _Audit) -> None:
    rank = {said.number: place for place, said in enumerate(audit.taken)}
    # What had to be agreed to, or was asked in vain, is answered later, and others meanwhile; a turn's later questions
    # stand behind those of others, also where its first was never delivered.
    questions = [attempt.said for attempt in audit.record.attempts if attempt.said.role == "question"]
    agreed_to = {number for said in questions for number in said.answers}
    firsts = {said.answers: said for said in reversed(questions)}
    for chat in audit.scenario.chats:
        # What was asked together with a deleted message is asked again, behind others.
        undisturbed = [said for said in audit.seen_in(chat.number) if audit.disturbed.isdisjoint(said.answers)]
        seen = [said for said in undisturbed if said is firsts.get(said.answers) or agreed_to.isdisjoint(said.answers)]
        for earlier, later in pairwise(seen):
            if earlier.answers != later.answers:
                before, after = ([rank.get(number, -1) for number in said.answers] for said in (earlier, later))
                audit.check("answers come in the order of the questions", max(before) < min(after), (earlier, later))


def _history_sendable(audit: _Audit) -> None:
    for chat, turns in audit.store.history.items():
        whole = tuple(chain.from_iterable(turns))
        holds = not whole or (is_sendable(whole) and all(map(is_sendable, turns)))
        audit.check("every history can be sent to any provider", holds, chat)


def _kept_whole(audit: _Audit) -> None:
    calls: dict[int | None, set[tuple[tuple[int, ...], int]]] = defaultdict(set)
    for call in audit.record.completions:
        calls[audit.inbox[call.question[0]][1]].add(call.position_in_question)
    for _, turn, state in audit.store.turns:
        is_kept = state == "kept"
        remembered = turn in audit.store.remembered_turns
        audit.check("what was answered is in the history, and nothing else", remembered == is_kept, (turn, state))
        if any(not audit.disturbed.isdisjoint(numbers) for numbers, _ in calls[turn]) or (
            audit.disturbed and not is_kept
        ):
            continue  # the same message in another turn
        paid = audit.store.paid_calls[turn]
        holds = paid == len(calls[turn]) if is_kept else paid <= len(calls[turn])
        audit.check("what an answer has cost is in the ledger once", holds, (turn, state, paid, calls[turn]))


def _nothing_left_open(audit: _Audit) -> None:
    store = audit.store
    states = [
        *(("inbox", state) for _, state, _ in store.inbox),
        *(("outbox", state) for _, _, state, _, _ in store.outbox),
        *(("turn", state) for _, _, state in store.turns),
        *(("journal of turn", turn) for turn in store.journaled_turns),
    ]
    ends = {("inbox", "done"), ("inbox", "dead"), ("outbox", "sent"), ("outbox", "dead")}
    ends |= {("turn", "kept"), ("turn", "failed"), ("turn", "ignored")}
    for state in states:
        audit.check("nothing is left claimed, running or being sent", state in ends, state)


def _database_sound(audit: _Audit) -> None:
    audit.check("the database passes its integrity check", audit.store.complaints == (), audit.store.complaints)
    audit.check("no word lies open in the files", _WORD_BYTES.search(audit.store.files) is None, "")


def _read_is_kept(audit: _Audit) -> None:
    for number, is_kept in audit.record.read:
        audit.check("what is told to be read is kept by then", is_kept and number in audit.inbox, number)
        said = audit.record.said[number]
        if is_kept and said.is_question:
            end = _end(audit, said, audit.inbox[number][1])
            audit.check("what was marked as read has an answer or a word", end != "lost", (number, end))


def _no_trouble(audit: _Audit) -> None:
    audit.check("no loop meets an error of its own", not audit.record.troubles, audit.record.troubles)


_PROMISES = (
    _nothing_lost,
    _nothing_answered_twice,
    _no_status_left,
    _no_needless_repetition,
    _nothing_seen_twice,
    _repetitions_noted,
    _sent_is_sent,
    _nothing_paid_twice,
    _no_effect_twice,
    _only_after_a_yes,
    _strangers_cost_nothing,
    _nothing_misdirected,
    _order_kept,
    _history_sendable,
    _kept_whole,
    _nothing_left_open,
    _database_sound,
    _read_is_kept,
    _no_trouble,
)
