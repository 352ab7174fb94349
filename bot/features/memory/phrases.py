"""The sentences about what is remembered."""

from bot.i18n.catalogues import Sentence

ABOUT_MEMORY = Sentence("ABOUT_MEMORY", "shows what I remember about you, or deletes it.")
FACT = Sentence("FACT", "{number}. {fact}")
NOTHING_REMEMBERED = Sentence(
    "NOTHING_REMEMBERED", "I don't remember anything about you yet. Just ask me to remember something."
)
FACT_FROM = Sentence("FACT_FROM", "{number}. {fact} ({origin})")
NO_SUCH_FACT = Sentence("NO_SUCH_FACT", "There's nothing with that number; `/memory` alone shows what I remember.")
FACTS_FORGOTTEN = Sentence(
    "FACTS_FORGOTTEN",
    "I've forgotten that. What was said about it in this chat stays until you send `/forget`.",
    "I've forgotten {count} things. What was said about them in this chat stays until you send `/forget`.",
)
