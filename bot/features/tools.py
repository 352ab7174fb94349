"""The tools of all features, which `tools` lists in its catalogue and knows nothing else about."""

from typing import Any

from bot.features.feeds.service import Feeds, news_tools
from bot.features.memory import Memory, Remember
from bot.features.predictions import Predictions, prediction_tools
from bot.features.reminders.service import Reminders
from bot.features.reminders.tool import Remind
from tools import Tool


def feature_tools(
    reminders: Reminders, memory: Memory, predictions: Predictions, feeds: Feeds
) -> dict[str, tuple[Tool, ...]]:
    """The tools of the features, by the names of their lines in the catalogue."""
    return {
        "remind": (Remind(reminders),),
        "remember": (Remember(memory),),
        "predictions": prediction_tools(predictions),
        "news": news_tools(feeds),
    }


def idle_features() -> dict[str, tuple[Tool, ...]]:
    """The same without a store behind them, to be listed and not called."""
    nothing: Any = None
    return feature_tools(nothing, nothing, nothing, nothing)
