"""The conversations of a round: which message answers which letters, and how long they waited beyond the model's time.

An answer names the letters that it answers. A notice (the turn took too long) names none: the turns of a conversation
come one after the other and each asks the model once, so the notice in place k belongs to the turn that asked k-th. Of
a status and the edits that it became only the last counts: that is what people see in the end.
"""

import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from tests.campaigns.chaos.crowd import CANARY, Chat
from tests.campaigns.soak.letters import Letter, Phase, numbers_in
from tests.campaigns.soak.model import Thought
from tests.campaigns.soak.phones import Out
from tests.campaigns.soak.record import Record


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """All that happened in one chat, each in its order."""

    chat: Chat
    letters: tuple[Letter, ...]
    outs: tuple[Out, ...]
    thoughts: tuple[Thought, ...]

    def answers(self) -> list[tuple[Out, tuple[int, ...]]]:
        """What went out, with the numbers of the letters that it answers; none where nobody can tell."""
        return [(out, self._answered(place, out)) for place, out in enumerate(self.outs)]

    def _answered(self, place: int, out: Out) -> tuple[int, ...]:
        if CANARY.findall(out.sent.text) == [self.chat.canary]:
            return numbers_in(out.sent.text)
        thought = self.thoughts[place] if place < len(self.thoughts) else None
        return thought.numbers if thought is not None and thought.was_left else ()

    def excesses(self, phase: Phase) -> list[tuple[Letter, float]]:
        """The letters of a phase that were answered, with the seconds that they waited beyond the model's."""
        answered = {number: out.at_seconds for out, numbers in reversed(self.answers()) for number in numbers}
        return [
            (letter, excess_seconds(letter.delivered_seconds, answered[letter.number], self._thoughts_until(letter)))
            for letter in self.letters
            if letter.phase == phase and letter.number in answered
        ]

    def _thoughts_until(self, letter: Letter) -> tuple[Thought, ...]:
        """Those up to the one about this letter: what is thought about later ones is no reason for its wait."""
        places = [place for place, thought in enumerate(self.thoughts) if letter.number in thought.numbers]
        return self.thoughts[: places[-1] + 1] if places else self.thoughts


def of(record: Record) -> list[Conversation]:
    """The conversations of a round."""
    letters: dict[str, list[Letter]] = defaultdict(list)
    outs: dict[str, list[Out]] = defaultdict(list)
    thoughts: dict[str, list[Thought]] = defaultdict(list)
    for letter in record.letters:
        letters[letter.chat].append(letter)
    edited = {(out.sent.chat, out.sent.edits) for out in record.outs}
    for out in record.outs:
        if (out.sent.chat, out.sent.timestamp) not in edited:  # a status goes where its edit stands
            outs[out.sent.chat].append(out)
    for thought in sorted(record.thoughts, key=lambda thought: thought.began_seconds):
        thoughts[thought.canary].append(thought)
    return [
        Conversation(
            chat=chat,
            letters=tuple(letters[chat.id]),
            outs=tuple(outs[chat.id]),
            thoughts=tuple(thoughts[chat.canary]),
        )
        for chat in record.chats
    ]


def excess_seconds(delivered_seconds: float, answered_seconds: float, thoughts: Sequence[Thought]) -> float:
    """What of the wait for an answer passed while the model was not at work for the conversation.

    It was at work for the turn itself, and before for the turn during which the letter came.
    """
    thinking = sum(
        max(0.0, min(answered_seconds, thought.ended_seconds) - max(delivered_seconds, thought.began_seconds))
        for thought in thoughts
    )
    return answered_seconds - delivered_seconds - thinking


def excesses(record: Record, phase: Phase) -> list[tuple[Letter, float]]:
    """The letters of all conversations but the stubborn one, by the time of their delivery, with their excess."""
    others = [conversation for conversation in of(record) if conversation.chat.id != record.stubborn]
    found = [pair for conversation in others for pair in conversation.excesses(phase)]
    return sorted(found, key=lambda pair: pair[0].delivered_seconds)


def median(seconds: Sequence[float]) -> float:
    """The median; 0 of nothing."""
    return statistics.median(seconds) if seconds else 0.0


def quantile(seconds: Sequence[float], share: float) -> float:
    """The value below which this share of the values lies; 0 of nothing."""
    return sorted(seconds)[min(len(seconds) - 1, int(share * len(seconds)))] if seconds else 0.0
