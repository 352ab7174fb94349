"""The context of a turn's messages: settings, facts and summary, the answers they quote, and open questions.

Left to others: the earlier turns (`past_turns`), what goes into a request (`bot.chat.agent`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from bot import messages
from bot.access.chat_settings import ChatSettings
from bot.chat import chats
from bot.chat.citations import as_kept
from bot.chat.context_note import RecalledContext, recall
from bot.chat.journal import Allowance, OpenQuestion, journaled_steps, open_question
from bot.chat.past_turns import StoredTurn
from bot.events import ChatId, Incoming, SentId
from bot.labels import UNKNOWN, Labels, join_labels
from bot.messages import AssistantMessage
from store import Claim, ConversationId, Repositories, TurnId


@dataclass(frozen=True, kw_only=True, slots=True)
class QuotedAnswer:
    """An answer of Aldis that is quoted."""

    turn: TurnId
    message: AssistantMessage


@dataclass(frozen=True, kw_only=True, slots=True)
class Surroundings:
    """The context of a question, read in one go: each round trip to the store costs a fiftieth of a turn."""

    settings: ChatSettings
    zone: str | None
    """The asker's time zone, if they told it."""
    recalled: RecalledContext
    quoted: Labels
    """The labels of the quoted answers."""
    answers: Mapping[SentId, QuotedAnswer]
    """The quoted answers, by the messages that quote them."""
    open_questions: tuple[OpenQuestion, ...]
    allowed: frozenset[Allowance]
    """The tools the asker has allowed permanently."""


def read_surroundings(
    repos: Repositories, claim: Claim, incoming: tuple[Incoming, ...], settings: ChatSettings | None, *, now: datetime
) -> Surroundings:
    """The context of a claim's messages, within a transaction; `settings` None: the present ones."""
    conversation = claim.conversation
    open_questions = _open_questions(repos, claim, incoming)
    if settings is None:
        settings = chats.settings_of(repos, conversation, now)
    answers = {message.sent_at: _quoted_answer(repos, conversation, message) for message in incoming}
    return Surroundings(
        settings=settings,
        answers={sent_at: answer for sent_at, answer in answers.items() if answer is not None},
        zone=repos.reminders.zone(ChatId.direct(incoming[-1].author)),
        allowed=_allowed(repos, conversation, incoming),
        open_questions=open_questions,
        quoted=join_labels(_of_quoted(repos, conversation, message, open_questions) for message in incoming),
        recalled=recall(repos, conversation, now=now, starts_after=TurnId(settings.starts_after)),
    )


def with_kept_quote(message: Incoming, answer: QuotedAnswer | None, past: Iterable[StoredTurn]) -> Incoming:
    """The message with the page numbers in its quote as the model knows them, not as people see them."""
    if answer is None or message.quote is None:
        return message
    is_known = any(turn.turn == answer.turn for turn in past)
    text = as_kept(message.quote.text, answer.message, is_known=is_known)
    return replace(message, quote=replace(message.quote, text=text))


def _open_questions(repos: Repositories, claim: Claim, incoming: tuple[Incoming, ...]) -> tuple[OpenQuestion, ...]:
    """Earlier questions to the last asker, within a transaction; none for a reminder, which answers nobody."""
    if incoming[-1].scheduled is not None:
        return ()
    quoted = {
        repos.sent_messages.turn_of(claim.conversation, message.quote.sent_at)
        for message in incoming
        if message.quote is not None and message.quotes_me
    }
    found = (
        open_question(
            turn,
            journaled_steps(repos, claim.conversation, turn) or (),
            incoming[-1].author,
            is_quoted=turn in quoted,
        )
        for turn in claim.put_off
        if turn < claim.turn
    )
    return tuple(question for question in found if question is not None)


def _of_quoted(
    repos: Repositories, conversation: ConversationId, message: Incoming, open_questions: Iterable[OpenQuestion]
) -> Labels:
    """The labels of a quoted answer, within a transaction; it may have left the history long ago."""
    if message.quote is None or not message.quotes_me:
        return Labels()
    turn = repos.sent_messages.turn_of(conversation, message.quote.sent_at)
    asked = next((question for question in open_questions if question.turn == turn), None)
    if asked is not None:
        return asked.labels
    answer = _quoted_answer(repos, conversation, message)
    return UNKNOWN if answer is None else answer.message.labels or UNKNOWN


def _quoted_answer(repos: Repositories, conversation: ConversationId, message: Incoming) -> QuotedAnswer | None:
    """The answer of Aldis that the message quotes, within a transaction."""
    if message.quote is None or not message.quotes_me:
        return None
    turn = repos.sent_messages.turn_of(conversation, message.quote.sent_at)
    line = None if turn is None else repos.history.answer(conversation, turn)
    found = () if line is None else messages.load_messages(line)
    said = next((answer for answer in found if isinstance(answer, AssistantMessage)), None)
    return None if turn is None or said is None else QuotedAnswer(turn=turn, message=said)


def _allowed(repos: Repositories, conversation: ConversationId, incoming: tuple[Incoming, ...]) -> frozenset[Allowance]:
    """The tools that the asker has allowed permanently there, within a transaction."""
    grants = repos.grants.of(conversation, incoming[-1].author)
    return frozenset(Allowance(tool=grant.tool, shape=grant.shape) for grant in grants)
