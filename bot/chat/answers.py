"""Answers: what people are told of a completion, both while it is written and at its end.

    words --> citations become numbers --> addresses nobody gave become plain words --> remarks are added: what the
    answer rests on, what was left undone because nobody could agree to it, what is allowed from now on, a budget that
    is nearly used up

Left to others: what a citation is (`bot.chat.citations`), which addresses were given (`bot.trust.links`).
"""

import time
from collections.abc import Callable
from dataclasses import replace

from bot.chat import phrases
from bot.chat.budget import Budget
from bot.chat.calls import NOBODY_HERE, Calls
from bot.chat.citations import cite, visible_beginning, visible_words
from bot.chat.journal import Outcome
from bot.chat.state import SETTLED, TurnState
from bot.chat.steps import ToolRun
from bot.chat.toolbox import Toolbox
from bot.chat.work import work_out
from bot.i18n.catalogues import say
from bot.labels import Labels, join_labels
from bot.messages import AssistantMessage, Text, ToolCall
from bot.models.base import Completion, OnText, Stop
from bot.models.offline import describe_answer
from bot.trust.links import GivenAddresses, defang, given_in
from bot.trust.rules import may_carry_out
from bot.trust.secrets import Secrets
from tools import clean_text

_TOLD_EVERY_SECONDS = 0.5
"""How often words that may contain addresses are checked while they are written; people see updates less often."""
_TOLD_CHARS = 4_000
"""The part of an unfinished answer that is looked at: more than a status shows."""
_OF_THE_WEB = frozenset({"page", "search"})
_TOLD = _OF_THE_WEB | {"file", "voice", "person", "talk"}
"""The kinds of sources named below an answer that rests on them."""
_CUTS = {
    Stop.LENGTH: (phrases.CUT_OFF, phrases.NO_WORDS_LEFT),
    Stop.UNFINISHED: (phrases.CUT_BY_TIME, phrases.TOO_SLOW),
}
"""What is said below an answer that was cut off, and in place of one without words."""


class Answers:
    """Turns what models say into the answers of turns."""

    def __init__(
        self, toolbox: Toolbox, calls: Calls, *, budget: Budget, secrets: Secrets, shows_sources: bool
    ) -> None:
        """`shows_sources`: a line below an answer names its sources."""
        self._toolbox = toolbox
        self._calls = calls
        self._budget = budget
        self._secrets = secrets
        self._shows_sources = shows_sources

    async def outcome(self, state: TurnState, completion: Completion) -> Outcome:
        """The outcome of a turn whose completion runs no tools."""
        text = "" if completion.message is None else completion.message.text
        ended = await work_out(text, self._ended, state, completion, self._shield(state))
        outcome = self._with_sources(state, ended)
        return self._with_remark(state, self._with_undone(state, outcome))

    def listener(self, state: TurnState) -> OnText | None:
        """A callback for the words of an unfinished completion, made as safe to see as the answer itself."""
        on_text = state.on_text
        if on_text is None:
            return None
        if not may_carry_out(state.labels):
            return lambda text: on_text(self._beginning(state, text))
        given = self._given(state)
        next_at = 0.0

        def tell(text: str) -> None:
            nonlocal next_at
            if time.monotonic() >= next_at:
                on_text(defang(self._beginning(state, text), given))
                next_at = time.monotonic() + _TOLD_EVERY_SECONDS

        return tell

    def _beginning(self, state: TurnState, text: str) -> str:
        return visible_beginning(self._secrets.cut(text[:_TOLD_CHARS]), state.pages)

    def _ended(self, state: TurnState, completion: Completion, shielded: Callable[[str], str]) -> Outcome:
        """The outcome of a completion that runs no tools, without remarks."""
        if completion.stop is Stop.REFUSAL:
            return state.outcome(say(phrases.REFUSED), ok=False)
        cut, mute = _CUTS.get(completion.stop, (None, phrases.NOTHING_SAID))
        message = completion.message
        # Words before a call announce it, and are no answer.
        answer = None if message is None or message.calls else self._cited(state, message.text, shielded)
        if answer is None:
            return self._found(state, shielded) or state.outcome(say(mute), ok=False)
        text = shielded(visible_words(answer))
        return state.outcome(text if cut is None else f"{text}\n\n{say(cut)}", ok=True, keeps=answer)

    @staticmethod
    def _cited(state: TurnState, text: str, shielded: Callable[[str], str]) -> AssistantMessage | None:
        """The answer as it is kept; None if it has no words that anybody could see."""
        answer = cite(text, state.pages, (*state.history, *state.said), shows=lambda url: shielded(url) == url)
        words = "" if answer is None else shielded(answer.text)
        return None if answer is None or not clean_text(words).strip() else replace(answer, parts=_words(words).parts)

    @staticmethod
    def _found(state: TurnState, shielded: Callable[[str], str]) -> Outcome | None:
        """The tools' findings, for a model that found no words for them; None if they found nothing."""
        found = [run for run in state.runs if run.answer.ok]
        if not found:
            return None
        words = [describe_answer(run.answer, run.arguments) for run in found]
        text = shielded("\n\n".join([say(phrases.FOUND_ALONE), *words]))
        return state.outcome(text, ok=True, keeps=_words(text))

    def _shield(self, state: TurnState) -> Callable[[str], str]:
        """A function that removes addresses from words that the model may have written on a stranger's behalf, or to
        leak something.
        """
        if not may_carry_out(state.labels):
            return lambda text: text
        given = self._given(state)
        return lambda text: defang(text, given)

    def _given(self, state: TurnState) -> GivenAddresses:
        return GivenAddresses(given_in((*state.history, *state.said), self._toolbox.returning))

    def _with_sources(self, state: TurnState, outcome: Outcome) -> Outcome:
        """The outcome, with a line below its answer that names its sources: what came with the question, what tools
        read.

        Pages it cites are already named; calculations and answers of services need no such line.
        """
        if not (self._shows_sources and outcome.ok):
            return outcome
        read = join_labels(
            [state.turn.question.labels or Labels(), *(run.answer.labels or Labels() for run in state.runs)]
        )
        is_cited = any(isinstance(message, AssistantMessage) and message.pages for message in outcome.messages[-1:])
        told = [one for one in read.sources if one.kind in _TOLD and not (is_cited and one.kind in _OF_THE_WEB)]
        return replace(outcome, text=f"{outcome.text}\n\n{phrases.rests_on(told)}") if told else outcome

    def _with_undone(self, state: TurnState, outcome: Outcome) -> Outcome:
        """The outcome of a scheduled run, which tells what was not done because nobody was there to agree."""
        refused = [run for run in state.runs if run.outcome == "denied" and NOBODY_HERE in run.answer.content]
        if not refused or not outcome.ok:
            return outcome
        calls = list(map(_call_of, refused))
        causes = dict.fromkeys(cause for call in calls for cause in self._calls.causes(state, call) or ())
        undone = phrases.left_undone(list(map(self._toolbox.deed, calls)), tuple(causes))
        return replace(outcome, text=f"{outcome.text}\n\n{undone}")

    def _with_remark(self, state: TurnState, outcome: Outcome) -> Outcome:
        """The outcome, which tells once what was allowed for good and which budget is nearly used up."""
        ended = [run for run in state.runs if run.outcome in SETTLED and self._toolbox.changes(run)]
        done = tuple(map(_call_of, ended))
        if any(question.is_replaced_by(done) for question in state.turn.open_questions):
            outcome = replace(outcome, text=f"{outcome.text}\n\n{say(phrases.TAKES_PLACE)}", done=done)
        if state.journal.allowed and outcome.ok:
            told = "\n".join(say(phrases.ALWAYS_ALLOWED, tool=tool) for tool in state.journal.allowed)
            outcome = replace(outcome, text=f"{outcome.text}\n\n{told}")
        near = self._budget.nearly_used_up(state.turn) if outcome.ok else None
        if near is None:
            return outcome
        remark = phrases.budget_nearly_used_up(near.scope, near.span, near.percent)
        return replace(outcome, text=f"{outcome.text}\n\n{remark}", warned=((near.scope, near.period),))


def _call_of(run: ToolRun) -> ToolCall:
    return ToolCall(id=run.answer.call_id, name=run.answer.name, arguments=run.arguments)


def _words(text: str) -> AssistantMessage:
    return AssistantMessage(parts=(Text(text=text),))
