"""Sentences for when no language model is set up, and for answers of tools that no model has put into words."""

from bot.i18n.catalogues import Sentence

OFFLINE_WORKS = Sentence(
    "OFFLINE_WORKS",
    "No language model is set up. I can do sums (`17*23`), units (`5 km in miles`), time and weather in a place, "
    "reminders and searches, in English. For more, set `ANTHROPIC_API_KEY` or `OPENAI_API_KEY`.",
)
OFFLINE_TIME = Sentence("OFFLINE_TIME", "It's **{time}** on {day} ({zone}).")
OFFLINE_SEVERAL = Sentence("OFFLINE_SEVERAL", "There are several places called “{place}”:")
OFFLINE_NO_HITS = Sentence("OFFLINE_NO_HITS", "I found nothing about “{query}”; try other words.")
OFFLINE_ANSWERS = Sentence("OFFLINE_ANSWERS", "`{name}` answers: {content}")
