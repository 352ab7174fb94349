"""Sentences for when no language model is set up, and for answers of tools that no model has put into words."""

from collections.abc import Mapping

from bot.i18n.catalogues import Sentence, say

OFFLINE_WORKS = Sentence(
    "OFFLINE_WORKS",
    "No language model is set up. I can do sums (`17*23`), units (`5 km in miles`), time and weather in a place, "
    "reminders and searches, in English. For more, set `ANTHROPIC_API_KEY` or `OPENAI_API_KEY`.",
)
_SKIES = (
    Sentence("SKY_CLEAR_SKY", "clear sky"),
    Sentence("SKY_MAINLY_CLEAR", "mainly clear"),
    Sentence("SKY_PARTLY_CLOUDY", "partly cloudy"),
    Sentence("SKY_OVERCAST", "overcast"),
    Sentence("SKY_FOG", "fog"),
    Sentence("SKY_DEPOSITING_RIME_FOG", "depositing rime fog"),
    Sentence("SKY_LIGHT_DRIZZLE", "light drizzle"),
    Sentence("SKY_MODERATE_DRIZZLE", "moderate drizzle"),
    Sentence("SKY_DENSE_DRIZZLE", "dense drizzle"),
    Sentence("SKY_LIGHT_FREEZING_DRIZZLE", "light freezing drizzle"),
    Sentence("SKY_DENSE_FREEZING_DRIZZLE", "dense freezing drizzle"),
    Sentence("SKY_SLIGHT_RAIN", "slight rain"),
    Sentence("SKY_MODERATE_RAIN", "moderate rain"),
    Sentence("SKY_HEAVY_RAIN", "heavy rain"),
    Sentence("SKY_LIGHT_FREEZING_RAIN", "light freezing rain"),
    Sentence("SKY_HEAVY_FREEZING_RAIN", "heavy freezing rain"),
    Sentence("SKY_SLIGHT_SNOWFALL", "slight snowfall"),
    Sentence("SKY_MODERATE_SNOWFALL", "moderate snowfall"),
    Sentence("SKY_HEAVY_SNOWFALL", "heavy snowfall"),
    Sentence("SKY_SNOW_GRAINS", "snow grains"),
    Sentence("SKY_SLIGHT_RAIN_SHOWERS", "slight rain showers"),
    Sentence("SKY_MODERATE_RAIN_SHOWERS", "moderate rain showers"),
    Sentence("SKY_VIOLENT_RAIN_SHOWERS", "violent rain showers"),
    Sentence("SKY_SLIGHT_SNOW_SHOWERS", "slight snow showers"),
    Sentence("SKY_HEAVY_SNOW_SHOWERS", "heavy snow showers"),
    Sentence("SKY_THUNDERSTORM", "thunderstorm"),
    Sentence("SKY_THUNDERSTORM_WITH_SLIGHT_HAIL", "thunderstorm with slight hail"),
    Sentence("SKY_THUNDERSTORM_WITH_HEAVY_HAIL", "thunderstorm with heavy hail"),
    Sentence("SKY_UNKNOWN", "unknown"),
)
"""The weather tool's own names for them (`tools.weather.forecast`)."""
_SKY_BY_WORDS: Mapping[str, Sentence] = {sentence.text: sentence for sentence in _SKIES}
OFFLINE_TIME = Sentence("OFFLINE_TIME", "It's **{time}** on {day} in {place} ({zone}).")
OFFLINE_TIME_HERE = Sentence("OFFLINE_TIME_HERE", "It's **{time}** on {day} ({zone}).")
OFFLINE_NOW = Sentence("OFFLINE_NOW", "**{place}** now: {conditions}")
OFFLINE_FEELS = Sentence("OFFLINE_FEELS", "{temperature} (feels like {felt})")
OFFLINE_HUMIDITY = Sentence("OFFLINE_HUMIDITY", "humidity {value}")
OFFLINE_WIND = Sentence("OFFLINE_WIND", "wind {value}")
OFFLINE_RANGE = Sentence("OFFLINE_RANGE", "{low} to {high}")
OFFLINE_RAIN = Sentence("OFFLINE_RAIN", "{value} of rain or snow")
OFFLINE_LIKELY = Sentence("OFFLINE_LIKELY", "{value} likely")
OFFLINE_OTHER_PLACES = Sentence("OFFLINE_OTHER_PLACES", "Other places of that name: {places}.")
OFFLINE_SEVERAL = Sentence("OFFLINE_SEVERAL", "There are several places called “{place}”:")
OFFLINE_REGION = Sentence("OFFLINE_REGION", "Ask again with the region or the country behind the name.")
OFFLINE_FOUND = Sentence("OFFLINE_FOUND", "{source} on “{query}”:")
OFFLINE_NO_HITS = Sentence("OFFLINE_NO_HITS", "I found nothing about “{query}”; try other words.")
_OFFLINE_THE_SEARCH = Sentence("OFFLINE_THE_SEARCH", "The search")
OFFLINE_RATE = Sentence("OFFLINE_RATE", "{rate} on {day}. {source}")
OFFLINE_ANSWERS = Sentence("OFFLINE_ANSWERS", "`{name}` answers: {content}")
OFFLINE_FORGOTTEN = Sentence("OFFLINE_FORGOTTEN", "Forgotten.")
OFFLINE_NO_SUM = Sentence("OFFLINE_NO_SUM", "I can't calculate `{value}`.")
OFFLINE_NO_CONVERSION = Sentence("OFFLINE_NO_CONVERSION", "I can't convert {value}.")
OFFLINE_NO_TIME = Sentence("OFFLINE_NO_TIME", "I can't tell the time in {value}.")
OFFLINE_NO_WEATHER = Sentence("OFFLINE_NO_WEATHER", "I have no weather for {value}.")
OFFLINE_NO_SEARCH = Sentence("OFFLINE_NO_SEARCH", "The search for “{value}” failed.")
OFFLINE_FAILED = Sentence("OFFLINE_FAILED", "`{value}` failed.")
OFFLINE_NO_REMINDER = Sentence("OFFLINE_NO_REMINDER", "I couldn't set a reminder for “{value}”.")
OFFLINE_NO_FACT = Sentence("OFFLINE_NO_FACT", "I couldn't keep “{value}” in mind.")
OFFLINE_UNFIT_TIME = Sentence("OFFLINE_UNFIT_TIME", "The time has to lie ahead, within the next five years.")


def the_search() -> str:
    """A name for the search that found something, if it has none of its own."""
    return say(_OFFLINE_THE_SEARCH)


def sky(english: str) -> str:
    """The weather tool's description of the sky in the current language; unchanged if unknown."""
    known = _SKY_BY_WORDS.get(english)
    return english if known is None else say(known)
