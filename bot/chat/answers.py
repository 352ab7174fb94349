"""Pure: what people read of a completion, both while it is written and at its end.

    words --> citations become numbers --> addresses that were not given become plain words

Left to others: what a citation is (`bot.chat.citations`), which addresses were given (`bot.trust.links`), what else is
said below an answer (`bot.chat.agent`).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from bot.chat import phrases
from bot.chat.citations import CitedPages, cite, visible_words
from bot.chat.journal import ToolRun
from bot.i18n.catalogues import say
from bot.messages import AssistantMessage, Message, Text
from bot.models.base import Completion, Stop
from bot.models.offline import describe_answer
from tools import clean_text

Shield = Callable[[str], str]
"""Removes addresses from words that a model may have written on a stranger's behalf, or to leak something."""

_CUTS = {
    Stop.LENGTH: (phrases.CUT_OFF, phrases.NO_WORDS_LEFT),
    Stop.UNFINISHED: (phrases.CUT_BY_TIME, phrases.TOO_SLOW),
}
"""What is said below an answer that was cut off, and in place of one without words."""


def words_of(
    completion: Completion, pages: CitedPages, read: Sequence[Message], runs: Iterable[ToolRun], shielded: Shield
) -> tuple[str, AssistantMessage | None]:
    """Returns what people read of a completion that runs no tools, and the message that is kept of it.

    `read` is everything the model has read. The message is None if there is no answer: the text then says why.
    """
    if completion.stop is Stop.REFUSAL:
        return say(phrases.REFUSED), None
    cut, mute = _CUTS.get(completion.stop, (None, phrases.NOTHING_SAID))
    message = completion.message
    # Words before a call announce it, and are no answer.
    answer = None if message is None or message.calls else _cited(message.text, pages, read, shielded)
    if answer is not None:
        text = shielded(visible_words(answer))
        return text if cut is None else f"{text}\n\n{say(cut)}", answer
    if found := [describe_answer(run.answer) for run in runs if run.answer.ok]:
        # The tools' findings, for a model that found no words for them.
        text = shielded("\n\n".join([say(phrases.FOUND_ALONE), *found]))
        return text, AssistantMessage(parts=(Text(text=text),))
    return say(mute), None


def _cited(text: str, pages: CitedPages, read: Sequence[Message], shielded: Shield) -> AssistantMessage | None:
    """The answer as it is kept; None if it has no visible words."""
    answer = cite(text, pages, read, shows=lambda url: shielded(url) == url)
    words = "" if answer is None else shielded(answer.text)
    return None if answer is None or not clean_text(words).strip() else replace(answer, parts=(Text(text=words),))
