"""The words for the weather, which the tool gives in English, in the language that is spoken.

Left to others: the codes behind them (`tools.weather.forecast`).
"""

from collections.abc import Mapping

from bot.i18n.language import current_language

_SKIES: Mapping[str, tuple[str, str, str]] = {
    "clear sky": ("klar", "ciel dégagé", "despejado"),
    "mainly clear": ("meist klar", "plutôt dégagé", "mayormente despejado"),
    "partly cloudy": ("teils bewölkt", "partiellement nuageux", "parcialmente nublado"),
    "overcast": ("bedeckt", "couvert", "cubierto"),
    "fog": ("Nebel", "brouillard", "niebla"),
    "depositing rime fog": ("Nebel mit Reif", "brouillard givrant", "niebla con escarcha"),
    "light drizzle": ("leichter Nieselregen", "bruine légère", "llovizna ligera"),
    "moderate drizzle": ("Nieselregen", "bruine", "llovizna"),
    "dense drizzle": ("dichter Nieselregen", "bruine dense", "llovizna densa"),
    "light freezing drizzle": ("leichter gefrierender Niesel", "bruine verglaçante légère", "llovizna helada ligera"),
    "dense freezing drizzle": ("gefrierender Niesel", "bruine verglaçante", "llovizna helada"),
    "slight rain": ("leichter Regen", "pluie faible", "lluvia ligera"),
    "moderate rain": ("Regen", "pluie", "lluvia"),
    "heavy rain": ("starker Regen", "forte pluie", "lluvia fuerte"),
    "light freezing rain": ("leichter Eisregen", "pluie verglaçante légère", "lluvia helada ligera"),
    "heavy freezing rain": ("starker Eisregen", "forte pluie verglaçante", "lluvia helada fuerte"),
    "slight snowfall": ("leichter Schneefall", "neige faible", "nevada ligera"),
    "moderate snowfall": ("Schneefall", "neige", "nevada"),
    "heavy snowfall": ("starker Schneefall", "forte neige", "nevada fuerte"),
    "snow grains": ("Schneegriesel", "neige en grains", "cinarra"),
    "slight rain showers": ("leichte Regenschauer", "faibles averses", "chubascos ligeros"),
    "moderate rain showers": ("Regenschauer", "averses", "chubascos"),
    "violent rain showers": ("heftige Regenschauer", "violentes averses", "chubascos violentos"),
    "slight snow showers": ("leichte Schneeschauer", "faibles averses de neige", "chubascos ligeros de nieve"),
    "heavy snow showers": ("starke Schneeschauer", "fortes averses de neige", "chubascos fuertes de nieve"),
    "thunderstorm": ("Gewitter", "orage", "tormenta"),
    "thunderstorm with slight hail": (
        "Gewitter mit leichtem Hagel",
        "orage avec faible grêle",
        "tormenta con algo de granizo",
    ),
    "thunderstorm with heavy hail": (
        "Gewitter mit starkem Hagel",
        "orage avec forte grêle",
        "tormenta con mucho granizo",
    ),
    "unknown": ("unbekannt", "inconnu", "desconocido"),
}
_PLACES = {"de": 0, "fr": 1, "es": 2}


def sky(english: str) -> str:
    """The words for the weather; as they are where they are not known."""
    place = _PLACES.get(current_language())
    known = _SKIES.get(english)
    return english if place is None or known is None else known[place]
