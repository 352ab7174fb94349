"""The sentences about what is kept of a person."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal

from bot.chat.phrases import answers
from bot.i18n.catalogues import Sentence, say
from bot.i18n.locale import day, moment, number
from tools import Prediction

ABOUT_EXPORT = Sentence("ABOUT_EXPORT", "shows what I keep about you.")
_KEPT_IN_FILE = Sentence(
    "KEPT_IN_FILE", "I've kept {answers}, encrypted. The page is for reading; the other file has the same for programs."
)
_KEPT_PARTLY_IN_FILE = Sentence(
    "KEPT_PARTLY_IN_FILE",
    "I've kept {answers}, encrypted. The newest {count} are in the files; ask the person who runs me for all.",
)
_KEPT_REMINDER = Sentence("KEPT_REMINDER", "A reminder, next on {when}: {text}")
_KEPT_PREDICTION = Sentence("KEPT_PREDICTION", "You predicted, {percent} % likely by {day}: {statement}")
KEPT_UNANSWERED = Sentence("KEPT_UNANSWERED", "You asked, and I couldn't answer: {question}")
_KEPT_NOTHING = Sentence("KEPT_NOTHING", "I've kept nothing of what you asked.")
_KEPT_SOME = Sentence("KEPT_SOME", "I've kept {answers}, encrypted. Newest first:")
EXPORT_TITLE = Sentence("EXPORT_TITLE", "What {name} keeps about you")
PICTURE_LEFT_OUT = Sentence("PICTURE_LEFT_OUT", "(a picture, left out because the page would be too large)")
_OUTCOMES: Mapping[str, Sentence] = {
    "came_true": Sentence("PREDICTION_CAME_TRUE", "It came true."),
    "did_not": Sentence("PREDICTION_DID_NOT", "It did not come true."),
    "void": Sentence("PREDICTION_VOID", "Nobody can tell."),
}


def kept_about_you(turns: int) -> str:
    """The first line of an export."""
    return say(_KEPT_SOME, answers=answers(turns)) if turns else say(_KEPT_NOTHING)


def kept_reminder(at: datetime, text: str) -> str:
    """A line of an export: a reminder, by the clock of `at`."""
    return say(_KEPT_REMINDER, when=moment(at), text=text)


def kept_prediction(one: Prediction) -> str:
    """A line of an export: a prediction, and its outcome if there is one."""
    percent = number((Decimal(str(one.forecast.probability)) * 100).normalize())
    told = say(_KEPT_PREDICTION, percent=percent, day=day(one.forecast.due), statement=one.forecast.statement)
    return told if one.verdict is None else f"{told} ({say(_OUTCOMES[one.verdict])})"


def kept_in_file(turns: int, shown: int) -> str:
    """The text beside the file of an export: how many answers are kept, and how many of them it contains."""
    if shown < turns:
        return say(_KEPT_PARTLY_IN_FILE, answers=answers(turns), count=shown)
    return say(_KEPT_IN_FILE, answers=answers(turns))
