"""Pure: rewrites requests in German, French and Spanish as the same requests in English.

    Wie spät ist es in Tokio?  -> what time is it in Tokio      Suche nach Lampen -> search for Lampen
    Quel temps fait-il à Lyon ? -> weather in Lyon              Erinnere mich um 9 ...   -> remind me um 9 ...
    5 km in Meilen             -> 5 km in miles                 ¿Cuánto es el 15% de 80? -> 15% of 80

Only the form of a request changes, not the names in it; anything without a known form stays as it is.
Left to others: what a request in English asks for (`intents`), times in all four languages (`bot.i18n.time_grammar`).
"""

import re
from collections.abc import Callable, Mapping, Sequence

_PLEASE = r"(?:(?:bitte|por favor|s'il te plaît),? )?"
_DAYS = (
    (r"\b(?:morgen|demain|mañana)\b", "tomorrow"),
    (r"\b(?:heute|aujourd'hui|hoy)\b", "today"),
    (r"\b(?:diese woche|cette semaine|esta semana)\b", "this week"),
)
_AT = r"(?:in|à|a|en|au|aux|für|pour|para)"
_DAY = r"(?P<day> (?:morgen|heute|demain|aujourd'hui|hoy|mañana|diese woche|cette semaine|esta semana))?"
_ONE_DAY = r"(?:morgen|heute|demain|aujourd'hui|hoy|mañana)"
_WEATHER = (
    r"(?:wie (?:ist|wird) (?:heute |morgen )?das wetter|wie (?:warm|kalt|heiß) (?:ist|wird) es|(?:das )?wetter"
    r"|(?:il fait )?quel temps(?: fait-il| fera-t-il| il fait)?|(?:la )?météo|qué tiempo (?:hace|hará)|(?:el )?tiempo)"
    rf"(?P<more> {_ONE_DAY}(?: (?:und|et|y) {_ONE_DAY})?)?(?:(?: {_AT})? (?P<text>.+))?"
)
_WEATHER_AT_ITS_END = rf"wie (?:das wetter|warm es|kalt es)(?P<more> {_ONE_DAY})?(?: {_AT} (?P<text>.+))? (?:ist|wird)"
_RAIN = (
    r"(?:regnet es|schneit es|wird es(?= .*\b(?:regnen|schneien)\b)|(?:va a )?ll(?:over|overá|ueve)"
    r"|(?:est-ce qu'il )?(?:va-t-il |il va |va )?pleu(?:t|voir)(?:-il)?)"
    rf"{_DAY}(?: {_AT} (?P<text>.+?))?{_DAY.replace('day', 'more')}(?: (?:regnen|schneien))?"
)
_REMIND = (
    rf"{_PLEASE}(?:erinner(?:e|n|t)? mich(?: bitte)?|(?:peux-tu|tu peux|pourrais-tu) me rappeler|rappelle[sz]?[- ]moi"
    r"|(?:(?:me )?(?:puedes|podrías) )?(?:recu[eé]rdame|recordar(?:me)?|av[ií]same)),? (?P<text>.+)"
)
_REMIND_AT_ITS_END = r"(?:kannst|könntest|würdest) du mich(?: bitte)? (?P<text>.+?)(?: zu)? erinnern"
_WAKE = (
    rf"{_PLEASE}(?:wecke? mich|réveille[- ]moi|desp(?:ie|ié)rtame|(?:mets|règle)(?:-moi)?(?: (?:un|le|mon))? réveil"
    r"|(?:pon|programa)(?:me)?(?: (?:una|la))? alarma)(?: bitte)?,? (?P<text>.+)"
)
_TIMER = (
    r"(?:(?:stell|stelle|mach)(?: (?:mir|bitte))* (?:einen )?(?:timer|wecker) (?:auf|für|von|in)"
    r"|(?:mets|lance|règle)(?: (?:un|le))? (?:minuteur|timer|minuterie) (?:de|sur|pour|à)"
    r"|(?:pon|programa)(?:me)?(?: (?:un|el))? (?:temporizador|timer|cronómetro) (?:de|en|para|a)) (?P<text>.+)"
)
_REMINDERS = (
    r"(?:(?:zeig(?:e|st)?(?: mir)?|welche|was sind|montre(?:-moi)?|quels sont|muéstrame|cuáles son) )?"
    r"(?:alle )?(?:meine erinnerungen|(?:tous )?mes rappels|(?:todos )?mis recordatorios)"
    r"|(?:welche erinnerungen (?:habe? ich|gibt es)|was habe? ich für erinnerungen|habe? ich erinnerungen"
    r"|quels rappels (?:ai-je|est-ce que j'ai|j'ai)"
    r"|(?:j'ai|ai-je) (?:quels|des) rappels|(?:qué recordatorios )?tengo(?: recordatorios)?)"
)
_CANCEL = (
    rf"{_PLEASE}(?:(?:lösche?|streiche?)(?: bitte)? (?:die )?erinnerung|(?:annule|supprime|efface) (?:le )?rappel"
    r"|(?:cancela|borra|elimina|anula) (?:el )?recordatorio) (?:nr\. ?|nummer |numéro |número |n° ?)?(?P<text>\d+)"
)
_CLOCK = (
    r"(?:wie spät ist es|wie ?viel uhr ist es|(?:(?:was|wie) ist )?(?:die )?uhrzeit|quelle heure (?:est-il|il est)"
    r"|il est quelle heure|(?:quelle est )?l'heure|qué hora es|(?:cuál es )?la hora)"
    rf"(?: (?:gerade|jetzt|maintenant|ahora))?(?: {_AT} (?P<text>.+))?"
)
_CLOCK_AT_ITS_END = rf"wie (?:spät|viel uhr) es(?: (?:gerade|jetzt))?(?: {_AT} (?P<text>.+))? ist"
_DATE = (
    r"(?:welche[rsn]? (?:wochen)?(?:tag|datum)(?: (?:ist|haben wir))? ?(?:heute)?|der wievielte ist heute"
    r"|quel jour (?:sommes-nous|est-on|on est)(?: aujourd'hui)?|on est quel jour(?: aujourd'hui)?"
    r"|quelle est la date(?: d'aujourd'hui| du jour)?|(?:qué|a qué) (?:día|fecha) (?:es|estamos)(?: hoy)?)"
)
_UNITS: Mapping[str, str] = {
    word: unit
    for unit, words in {
        "miles": "meile meilen milla millas mille milles miles mile",
        "km": "kilometer kilometern kilomètre kilomètres kilómetro kilómetros kilometros km",
        "m": "meter metern mètre mètres metro metros m",
        "cm": "zentimeter zentimetern centimètre centimètres centímetro centímetros cm",
        "mm": "millimeter millimètres milímetros mm",
        "kg": "kilo kilos kilogramm kilogrammes kilogramos kg",
        "grams": "gramm gramme grammes gramo gramos g",
        "pounds": "pfund livre livres libra libras",
        "ounces": "unze unzen once onces onza onzas",
        "inches": "zoll pouce pouces pulgada pulgadas",
        "feet": "fuß pied pieds pie pies",
        "liters": "liter litern litre litres litro litros l",
        "ml": "milliliter millilitres mililitros ml",
        "hours": "stunde stunden heure heures hora horas",
        "minutes": "minute minuten minuto minutos",
        "days": "tag tage tagen jour jours día días",
        "km/h": "km/h kmh",
        "celsius": "celsius °c grad degré degrés grado grados",
        "fahrenheit": "fahrenheit °f",
        "euros": "euro euros €",
        "dollars": "dollar dollars dólar dólares $",
        "francs": "franken francs francos",
        "pounds sterling": "£",
        "yen": "yen yens yenes",
    }.items()
    for word in words.split()
}
_UNIT = (
    rf"(?:(?:grad|degrés?|grados?) )?(?:{'|'.join(map(re.escape, sorted(_UNITS, key=len, reverse=True)))}|[A-Z]{{3}})"
)
_AMOUNT = r"(?P<amount>[-−]?\d[\d.,]*)"
_HOW_MANY = r"(?:wie ?viele?|combien de|combien d'|cuántos|cuántas|cuantos|cuantas)"
_ASKED = (
    r"(?:(?:was|wie ?viel) (?:ist|sind|macht)|combien (?:font|fait|valent|vaut)|cuánto (?:es|son|vale|valen)|rechne"
    r"|convertis|convertir|convierte)"
)
_MAKE = r"(?:sind|ist|hat|haben|font|fait|y a-t-il dans|dans|son|hay en|tiene|tienen)"
_CONVERSIONS = (
    rf"{_HOW_MANY} (?P<to>{_UNIT}) {_MAKE} (?:in )?{_AMOUNT} ?(?P<from>{_UNIT})",
    rf"(?:{_ASKED} )?{_AMOUNT} ?(?P<from>{_UNIT}) (?:in|en|a) (?P<to>{_UNIT})(?: um)?",
)
_SUM_WORDS: Sequence[tuple[str, str]] = (
    (r"\s*(?:prozent|pour ?cent|por ciento)\b", "%"),
    (r"(?<=%) (?:von|vom|de|del)(?= \d)", " of"),
    (r"(?<=\d) ?(?:€|\$|£|euros?|dollars?|franken|francs?)(?!\w)", ""),
    (r"\b(?:mal|fois|por)\b(?= ?-?[\d(])", "*"),
    (r"\b(?:geteilt durch|durch|divisé par|dividido (?:por|entre)|entre)\b", "/"),
    (r"\b(?:plus|más|mas)\b", "+"),
    (r"\b(?:minus|moins|menos)\b", "-"),
    (
        r"\b(?:(?:die )?(?:quadrat)?wurzel (?:aus|von)|(?:la )?racine(?: carrée)? de|(?:la )?raíz(?: cuadrada)? de)\b",
        "square root of",
    ),
    (r"\b(?:die hälfte von|la moitié de|la mitad de)\b", "half of"),
    (r"\b(?:hoch|puissance|elevado a)\b", "^"),
    (r"^(?:el|les|la) (?=\d)", ""),
    (r"(?<=\d),(?!\d{3}(?!\d))(?=\d)", "."),
)
_SUM_LEFT = re.compile(r"(?:square root of|half of|of|[-+*/^%().\d\s×÷])+")
_PERSONAL = re.compile(
    r"\b(?:ich|du|dir|dich|dein\w*|mein\w*|mir|mich|uns|wir|kannst|bist|weißt|machst|je|j'\w+|peux|sais|fais|tu|te|toi|ton|ta|tes|mon|ma|mes|moi|nous|yo|tú|ti|mi|mis|me|"
    r"puedes|sabes|haces|estás|eres|es-tu|vas-tu|ça)\b",
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"(?:wer|wo|wann|wie|warum|wieso|weshalb|welche[rsmn]?|wessen|wem|was|qui|où|quand|comment|pourquoi|quels?|quelles?"
    r"|combien|qu'est-ce|c'est quoi|quién|quiénes|dónde|cuándo|cómo|por qué|cuál(?:es)?|cuánto|qué|en qué) \S+ \S.*",
    re.IGNORECASE,
)
_Made = Callable[[re.Match[str]], str]


def _conversion(found: re.Match[str]) -> str:
    source, target = (_unit(found[which]) for which in ("from", "to"))
    return f"{_amount(found['amount'])} {source} in {target}"


def _unit(written: str) -> str:
    bare = re.sub(r"^(?:grad|degrés?|grados?) ", "", written, flags=re.IGNORECASE)
    return _UNITS.get(bare.lower(), bare)


def _amount(written: str) -> str:
    """The number in English notation: "1.500,5" is 1500.5, "2,5" is 2.5."""
    if "," in written:
        return written.replace(".", "").replace(",", ".")
    return re.sub(r"\.(?=\d{3}\b)", "", written)


def _weather(found: re.Match[str]) -> str:
    place = f" in {found['text']}" if found["text"] else ""
    return _with_days(f"weather{place}{found['more'] or ''}")


def _rain(found: re.Match[str]) -> str:
    place = f" in {found['text']}" if found["text"] else ""
    return _with_days(f"weather{place}{found['day'] or ''}{found['more'] or ''}")


def _time(found: re.Match[str]) -> str:
    return f"what time is it in {found['text']}" if found["text"] else "what time is it"


def _template(english: str) -> _Made:
    return lambda found: found.expand(english)


_FORMS: Sequence[tuple[re.Pattern[str], _Made]] = tuple(
    (re.compile(form, re.IGNORECASE), made if callable(made) else _template(made))
    for form, made in (
        *((form, _conversion) for form in _CONVERSIONS),
        (_REMIND, r"remind me \g<text>"),
        (_REMIND_AT_ITS_END, r"remind me \g<text>"),
        (_WAKE, r"wake me \g<text>"),
        (_TIMER, r"set a timer for \g<text>"),
        (r"(?:merk|merke) dir[,:]? (?:bitte,? )?(?:dass )?(?P<text>.+)", r"remember that \g<text>"),
        (r"(?:retiens|souviens-toi)(?: que | qu'| ?: )(?P<text>.+)", r"remember that \g<text>"),
        (r"recuerda(?: que |: )(?P<text>.+)", r"remember that \g<text>"),
        (_REMINDERS, "my reminders"),
        (_CANCEL, r"cancel reminder \g<text>"),
        (_CLOCK, _time),
        (_CLOCK_AT_ITS_END, _time),
        (_DATE, "what date is it"),
        (_WEATHER, _weather),
        (_WEATHER_AT_ITS_END, _weather),
        (_RAIN, _rain),
        (
            r"(?:(?:such|suche|google)(?: (?:bitte|mal))?(?: nach)?|cherche|recherche|busca)\s+(?P<text>.+)",
            r"search for \g<text>",
        ),
        (r"(?:wer|was) (?:ist|war|sind) (?P<text>.+)", r"who is \g<text>"),
        (r"(?:qui|qu'est-ce que c'est que) (?:est|était|sont) (?P<text>.+)", r"who is \g<text>"),
        (r"(?:quién|qué) (?:es|fue|son) (?P<text>.+)", r"who is \g<text>"),
    )
)
_SUM_LEAD = re.compile(rf"(?:{_ASKED}|calcule|calcula|berechne)\s+", re.IGNORECASE)


def in_english(clause: str) -> str:
    """The request in English if its form is known; else unchanged."""
    bare = clause.strip(" ¿?¡!.")
    if english := _sum(bare):
        return english
    for form, made in _FORMS:
        if found := form.fullmatch(bare):
            return made(found)
    if _QUESTION.fullmatch(bare) and not _PERSONAL.search(bare):
        return f"search for {bare}"
    return clause


def _sum(bare: str) -> str:
    """The sum that is asked for, in English; empty if there is none."""
    sum_of = _SUM_LEAD.sub("", bare, count=1).lower()
    if not any(letter.isdigit() for letter in sum_of):
        return ""
    for words, sign in _SUM_WORDS:
        sum_of = re.sub(words, sign, sum_of)
    # Unchanged, it may be the rest of what has signs around it: "5!".
    return sum_of if _SUM_LEFT.fullmatch(sum_of) and sum_of != bare.lower() else ""


def _with_days(text: str) -> str:
    for day, english in _DAYS:
        text = re.sub(day, english, text, flags=re.IGNORECASE)
    return text
