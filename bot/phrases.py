"""Every sentence that people hear from Aldis itself, in one place. Plain words that say what to do."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal

from bot.errors import BadKey, ContextTooLong, Overloaded, ProviderError, Rejected, Unavailable

OVERLOADED = "The language model has too much to do right now. Please ask again in a minute."
UNAVAILABLE = "I can't reach the language model right now. Please ask again in a few minutes."
BAD_KEY = (
    "The language model refused my access. Whoever runs me needs to check the key or the account; nothing else helps."
)
REJECTED = "The language model refused this request. Please put it differently, or ask something shorter."
TOO_LONG = "That is more text than the language model can take at once. Please send a shorter message."
REFUSED = "The language model declined to answer that."
NOTHING_SAID = "I found nothing to say to that. Please put it differently."
NO_WORDS_LEFT = (
    "The answer did not fit the length I am allowed. Please ask for something shorter, or for one part of it."
)
CUT_OFF = "… (cut off here: the answer reached the length I am allowed)"
CUT_PARTS = "… (cut: the answer was too long for a chat; ask for the rest)"
TOOK_TOO_LONG = "That took too long, so I stopped. Please try again, or ask for a smaller step."
STOPPED = "Stopped."
FAILED = "Something went wrong on my side and I could not answer. It has been noted; please ask again."
GAVE_UP = "I tried several times to answer your last message and failed each time. It has been noted; please ask again."
MESSAGE_EXPIRED = "Your message disappeared before I could answer it: its timer ran out. Please ask again."
ANSWER_EXPIRED = "My answer disappeared before it could be sent: the timer of your message ran out. Please ask again."
TOO_OLD = "I was away when you wrote, and your message is too old by now to answer it as if it were new. \
Please send it again if it still matters."
TOO_MANY = (
    "That is more messages in a minute than I can take from you. I leave the next ones out; please wait a minute."
)
QUEUE_FULL = "Too many messages are waiting here already. I leave the next ones out until I have caught up."

BUDGET_PERSON_DAY = "My budget for you is used up for today. It renews tomorrow."
BUDGET_PERSON_MONTH = "My budget for you is used up for this month. It renews on the first of the next one."
BUDGET_PERSON_NONE = "I have no budget for you, so I cannot ask the language model. Whoever runs me can change that."
BUDGET_GROUP_DAY = "My budget for this group is used up for today. It renews tomorrow."
BUDGET_GROUP_MONTH = "My budget for this group is used up for this month. It renews on the first of the next one."
BUDGET_GROUP_NONE = (
    "I have no budget for this group, so I cannot ask the language model. Whoever runs me can change that."
)
BUDGET_ALL_DAY = "My budget is used up for today. It renews tomorrow."
BUDGET_ALL_MONTH = "My budget is used up for this month. It renews on the first of the next one."
BUDGET_ALL_NONE = "I have no budget, so I cannot ask the language model. Whoever runs me can change that."
HELP = "Write to me as you would to a person. These commands I know as well."
LEFT_UNDONE = "I have left undone what I asked you about, because you asked something else."
NOTHING_TO_STOP = "Nothing is under way here."
UNKNOWN_CODE = "I know no such code; it may be more than an hour old. Whoever wants to be let in can write to me again."
UNKNOWN_PERSON = "Nobody with this label was let in; `/people` shows who was."
NOBODY_LET_IN = "Nobody was let in by a code."

_BY_ERROR: tuple[tuple[type[ProviderError], str], ...] = (
    (Overloaded, OVERLOADED),
    (Unavailable, UNAVAILABLE),
    (ContextTooLong, TOO_LONG),
    (BadKey, BAD_KEY),
    (Rejected, REJECTED),
)


def for_error(error: ProviderError) -> str:
    """What a person hears when no model answered."""
    return next((phrase for kind, phrase in _BY_ERROR if isinstance(error, kind)), FAILED)


_BUDGETS: Mapping[tuple[str, str], str] = {
    ("person", "day"): BUDGET_PERSON_DAY,
    ("person", "month"): BUDGET_PERSON_MONTH,
    ("person", "none"): BUDGET_PERSON_NONE,
    ("group", "day"): BUDGET_GROUP_DAY,
    ("group", "month"): BUDGET_GROUP_MONTH,
    ("group", "none"): BUDGET_GROUP_NONE,
    ("all", "day"): BUDGET_ALL_DAY,
    ("all", "month"): BUDGET_ALL_MONTH,
    ("all", "none"): BUDGET_ALL_NONE,
}
_WHOSE: Mapping[str, str] = {"person": " for you", "group": " for this group", "all": ""}


def budget_used_up(scope: str, span: str, *, renews: bool) -> str:
    """What a person hears when the budget of a `person`, a `group` or `all` is used up for the `day` or `month`.

    `renews` is whether there is more afterwards.
    """
    return _BUDGETS[scope, span if renews else "none"]


def budget_nearly_used_up(scope: str, span: str, percent: int) -> str:
    """The remark below an answer that so much of a budget is used; above 100 percent it says 100."""
    when = "today" if span == "day" else "this month"
    return f"({min(percent, 100)} % of {when}'s budget{_WHOSE[scope]} is used.)"


def may_i(calls: Sequence[tuple[str, str]], cost_usd: Decimal) -> str:
    """The question whether these calls of tools may run: each a name and the JSON of exactly what would be done."""
    lines = [f"- {name}: `{arguments}`" for name, arguments in calls]
    cost = f"\n\nThat costs {cost_usd:f} USD." if cost_usd else ""
    return (
        "\n".join(["May I do this?", "", *lines])
        + f"{cost}\n\nAnswer this message with 👍 or 👎, or quote it with yes or no."
    )


def wrong_form(form: str) -> str:
    """What a person hears whose command was not in the right form."""
    return f"Please write it like this: `{form}`"


def unknown_command(name: str) -> str:
    """What a person hears who gave a command that there is not, or not for them."""
    return f"I don't know the command `/{name}`. `/help` shows those that I know."


def forgot(turns: int) -> str:
    """What a person hears after `/forget`."""
    return (
        f"Forgotten: {_answers(turns)} of this conversation, with the key that sealed them. Nobody can read them again."
    )


def forgot_everything(turns: int) -> str:
    """What a person hears after `/forget everything`."""
    what = (
        f"{_answers(turns)}, everything that you asked here and elsewhere" if turns else "nothing, for nothing was kept"
    )
    return f"Forgotten: {what}. What it cost stays in my books, without words."


def kept_about_you(turns: int) -> str:
    """The first line of an export."""
    if not turns:
        return "I keep nothing of what you have asked."
    return f"I keep {_answers(turns)} of yours, sealed. The newest come first:"


def spent(scope: str, is_day: bool, cost_usd: Decimal) -> str:  # noqa: FBT001  (a row of a table: whose, when, how much)
    """A line of `/usage`."""
    whose = {"person": "You", "group": "This group", "all": "Everybody"}[scope]
    return f"{whose}, {'today' if is_day else 'this month'}: {cost_usd.quantize(Decimal('0.0001'))} USD"


def unpriced(calls: int) -> str:
    """The line of `/usage` about costs that nobody knows."""
    return f"{calls} calls this month have no known price and are not in these sums."


def let_in(label: str) -> str:
    """What an admin hears after `/allow`."""
    return f"Let in, as {label}. `/deny {label}` takes it back."


def shut_out(label: str) -> str:
    """What an admin hears after `/deny`."""
    return f"{label} may not write to me any more."


def guest(label: str, at: datetime, by: str) -> str:
    """A line of `/people`."""
    return f"{label}: since {at:%Y-%m-%d}, by {by}"


def _answers(turns: int) -> str:
    return "1 question with its answer" if turns == 1 else f"{turns} questions with their answers"
