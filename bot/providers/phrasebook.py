"""Pure: requests in German, French and Spanish, as they would be in English.

    Wie spät ist es in Tokio?  -> what time is it in Tokio      Suche nach Lampen -> search for Lampen
    Quel temps fait-il à Lyon ? -> weather in Lyon              Erinnere mich in 10 Minuten an den Tee

Only the forms of requests, with the names in them as they are: what fits none is left as it was.
Left to others: what a request in English asks for (`intents`).
"""

import re
from collections.abc import Sequence

_UNIT = "(?P<unit>min|stund|heure|hora|std|h)[a-z]*"
_SOON = rf"(?:in|dans|en|dentro de) (?P<number>\d{{1,4}}|ein|eine|einer|une?|una) ?{_UNIT}"
_DAYS = (
    (r"\b(?:morgen|demain|mañana)\b", "tomorrow"),
    (r"\b(?:heute|aujourd'hui|hoy)\b", "today"),
    (r"\b(?:diese woche|cette semaine|esta semana)\b", "this week"),
)
_AT = r"(?:in|à|a|en|au|aux|für|pour|para)"
_WEATHER = (
    r"(?:wie (?:ist|wird) (?:heute |morgen )?das wetter|wetter|quel temps (?:fait-il|fera-t-il)|météo"
    r"|qué tiempo (?:hace|hará)|el tiempo|tiempo)(?P<more> (?:morgen|heute|demain|hoy|mañana))?"
    rf"(?: {_AT})? (?P<text>.+)"
)
_UNITS = {
    **dict.fromkeys(("meile", "meilen", "milla", "millas", "mille", "milles"), "miles"),
    **dict.fromkeys(("kilometer", "kilometern", "kilomètres", "kilómetros"), "km"),
    **dict.fromkeys(("meter", "metern", "mètres", "metros"), "m"),
    **dict.fromkeys(("pfund", "livres", "libras"), "pounds"),
    **dict.fromkeys(("zoll", "pouces", "pulgadas"), "inches"),
    **dict.fromkeys(("fuß", "pieds", "pies"), "feet"),
    **dict.fromkeys(("unzen", "onces", "onzas"), "ounces"),
    **dict.fromkeys(("litern", "litres", "litros"), "liters"),
    **dict.fromkeys(("gramm", "grammes", "gramos"), "grams"),
    **dict.fromkeys(("dollars", "dólares"), "dollars"),
}
_CONVERSION = (
    r"(?:wie ?viele?|combien de|combien d'|cuántos|cuántas) (?P<to>\w+) (?:sind|ist|font|fait|son)"
    r" (?P<amount>[\d.,]+) ?(?P<from>\w+)"
)
_SUM = r"(?:was ist|wie ?viel (?:ist|sind)|combien (?:font|fait)|cuánto (?:es|son)) (?P<text>[-\d( ].*)"
_FORMS: Sequence[tuple[re.Pattern[str], str]] = tuple(
    (re.compile(form, re.IGNORECASE), english)
    for form, english in (
        (_CONVERSION, "<conversion>"),
        (rf"(?:erinner[en]?|weck) mich (?:bitte )?{_SOON}(?: (?:an|daran,?|dass|zu))? (?P<text>.+)", "<remind>"),
        (rf"rappelle?[- ]moi {_SOON}(?: (?:de|d'|que))? ?(?P<text>.+)", "<remind>"),
        (rf"recu[eé]rdame {_SOON}(?: (?:de|que))? (?P<text>.+)", "<remind>"),
        (r"(?:merk|merke) dir,? (?:bitte,? )?(?:dass )?(?P<text>.+)", r"remember that \g<text>"),
        (r"(?:retiens|souviens-toi) (?:que |qu')(?P<text>.+)", r"remember that \g<text>"),
        (r"recuerda que (?P<text>.+)", r"remember that \g<text>"),
        (r"(?:meine erinnerungen|mes rappels|mis recordatorios)", "my reminders"),
        (rf"(?:wie spät ist es|wie viel uhr ist es|quelle heure est-il|qué hora es)(?: {_AT} (?P<text>.+))?", "<time>"),
        (
            _WEATHER,
            "<weather>",
        ),
        (
            r"(?:(?:such|suche|google)(?: (?:bitte|mal))?(?: nach)?|cherche|recherche|busca)\s+(?P<text>.+)",
            r"search for \g<text>",
        ),
        (
            r"(?:was ist|wie ?viel (?:ist|sind)|combien (?:font|fait)|cuánto (?:es|son)) (?P<text>[-\d( ].*)",
            r"\g<text>",
        ),
        (r"(?:wer|was) (?:ist|war|sind) (?P<text>.+)", r"who is \g<text>"),
        (r"(?:qui|qu'est-ce que c'est que) (?:est|était|sont) (?P<text>.+)", r"who is \g<text>"),
        (r"(?:quién|qué) (?:es|fue|son) (?P<text>.+)", r"who is \g<text>"),
    )
)


def in_english(clause: str) -> str:
    """The request in English, where its form is known; else as it is."""
    bare = clause.strip(" ¿?¡!.")
    for form, english in _FORMS:
        found = form.fullmatch(bare)
        if found is None:
            continue
        if english == "<remind>":
            return f"remind me in {_number(found['number'])} {_unit(found['unit'])} to {found['text']}"
        if english == "<conversion>":
            source, target = (_UNITS.get(found[unit].lower(), found[unit]) for unit in ("from", "to"))
            return f"how many {target} are {found['amount']} {source}"
        text = found["text"] if "text" in found.groupdict() else None
        if english == "<time>":
            return f"what time is it in {text}" if text else "what time is it"
        if english == "<weather>":
            place = _with_days(f"{text}{found['more'] or ''}")
            return f"weather in {place}"
        return found.expand(english)
    return clause


def _with_days(text: str) -> str:
    for day, english in _DAYS:
        text = re.sub(day, english, text, flags=re.IGNORECASE)
    return text


def _number(written: str) -> str:
    return written if written.isdigit() else "1"


def _unit(written: str) -> str:
    return "minutes" if written.lower().startswith("min") else "hours"
