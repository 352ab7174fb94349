"""Pure: detects which of Aldis's languages a message is written in, if that is certain.

A message is judged by common words, by words of requests, and by letters that only one of the languages has. One in a
fifth language shares a word with each of the four, so there is a result only if one language is well ahead of the rest
and enough of the message speaks for it.
"""

import re
from collections.abc import Mapping

from bot.i18n.language import LANGUAGES, Language

_COMMON: Mapping[str, str] = {
    "en": """the and is are was were you your my how when where why who which this that these with for from not
        don't doesn't can can't could would should will won't have has had do does did it's i'm i'd i've please
        there they them their about into than then some any much many of to in on at be been make show hello set
        list we our he she his her it or but if because today tomorrow let's me remember thanks weather news joke
        send""",
    "de": """der die das und ich du er sie es wir ihr mein meine dein deine nicht kein keine ein eine einen einem
        einer mit für von zu zum zur auf aus bei nach wie was wann wo warum wer welche welcher welches kann können
        könnte könntest bitte danke hallo heute morgen gestern mir mich dir dich uns auch noch schon nur aber oder
        wenn weil dass dann mehr gib mach sag habe hast hat haben wird werden wurde war im am den dem des wieder gut
        gibt ja nein doch mal über daten moin servus guten wetter nachrichten witz uhrzeit""",
    "fr": """le la les un une des du et est sont suis je tu il elle nous vous ils elles mon ma mes ton ta tes ce
        cette ces ne pas plus que qui quoi quel quelle quels quelles quand où comment pourquoi avec pour dans sur
        sous font chez être avoir ai as avez peux peut peux-tu pouvez merci bonjour salut demain hier aujourd'hui
        c'est j'ai qu'est-ce est-ce d'un d'une l'on s'il te plaît moi toi lui leur aussi encore mais ou donc car si
        fait faire fais donne dis au aux très bien oui non y-a-t-il quelque données sais-tu peut-on bonsoir coucou
        météo rappel""",
    "es": """el la los las un una unos unas y es son soy estoy está están yo tú él ella nosotros ustedes mi mis tu
        tus su no que quién cuál cuáles cuándo cuando dónde donde cómo como por para con sin sobre de del al en lo
        se me te le nos hay tiene tengo puede puedes puedo quiero favor gracias hola hoy mañana ayer también más muy
        pero o porque si sí este esta esto ese esa eso hacer haz dame escribe hace buenos buenas días datos tiempo
        noticias chiste recordatorio""",
    # Languages that share many words with the four: a message in one of them must not be taken for one of those.
    "nl": """de het een en van is in ik je jij hij zij we wij niet geen wat hoe wanneer waar wie welke kan kun met
        voor op te naar bij als maar ook nog om dat die deze dit mijn er zijn was heeft heb morgen gisteren vandaag
        weer""",
    "it": """il lo la gli le un uno una di del della dei e è sono sei ho hai ha io tu lui lei noi mi ti ci si non
        che chi come dove quando quale quanto con per da su tra nel nella puoi può oggi domani ieri più ma se questo
        fare fa""",
    "pt": """o a os as um uma de do da dos das e é são eu você tu ele ela nós não que quem como onde quando porque
        qual quanto com por para em no na nos me te se meu minha seu sua pode hoje amanhã mais mas ou isso este esta
        fazer""",
}
_REQUESTS: Mapping[str, str] = {
    "en": """help what what's convert calculate cancel remind search write tell draw wake""",
    "de": """hilfe hilf kannst ist sind viel viele spät erinnere erinner weck suche rechne zeige zeig lösche zeichne
        erzähl schreib""",
    "fr": """aide aide-moi combien heure rappelle rappelle-moi convertis cherche montre annule dessine raconte-moi
        écris-moi écris dis-moi""",
    "es": """ayuda ayúdame qué cuánto cuánta cuántos recuérdame convierte muestra dibuja cuéntame escríbeme dime""",
}
"""Words of questions and requests that exist in one language only, and count twice: a short message needs no other."""
_KNOWN, _STRONG = (
    {language: frozenset(words.split()) for language, words in table.items()} for table in (_COMMON, _REQUESTS)
)
_LETTERS: Mapping[str, str] = {"de": "äöüß", "fr": "çœèêâîôûàùë", "es": "ñ¿¡", "pt": "ãõ", "it": "ìò"}
"""What a language alone has counts for two words, however much of it there is."""
_ENOUGH, _AHEAD, _SHARE = 1.8, 1.5, 0.2
"""What the best language must score, how many times the next one, and for which share of the words."""
_READ_CHARS, _MAX_GUESSED_WORDS = 2000, 5
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_NO_WORDS = re.compile(r"```.*?```|`[^`]*`|https?://\S+|@\S+|(?<!\S)/\w+", re.DOTALL)
"""Code, addresses, names and commands, which are in no language."""


def detect_language(text: str) -> Language | None:
    """Returns the language of a message; None if it is uncertain, too short, or in another language."""
    scores, count = _scores(text)
    second = sorted(scores.values())[-2]
    least = max(_ENOUGH, _AHEAD * second, second + 1, _SHARE * count)
    return next((language for language in LANGUAGES if scores[language] >= least), None)


def guess_language(text: str) -> Language | None:
    """Returns the likely language of a greeting or a few words, if nothing else is known; None without any clue."""
    scores, count = _scores(text)
    best: list[Language] = [language for language in LANGUAGES if scores[language] == max(1, *scores.values())]
    return best[0] if len(best) == 1 and count <= _MAX_GUESSED_WORDS else None


def _scores(text: str) -> tuple[dict[str, float], int]:
    """The evidence for each language, and the number of words; one that several share counts partly for each."""
    plain = _NO_WORDS.sub(" ", text[:_READ_CHARS]).lower().replace("’", "'")
    words = _WORD.findall(plain)
    scores = {language: 2.0 * (not set(_LETTERS.get(language, "")).isdisjoint(plain)) for language in _KNOWN}
    for word in words:
        owners = [language for language, known in _KNOWN.items() if word in known]
        for language in owners:
            scores[language] += 1 / len(owners)
        for language, known in _STRONG.items():
            scores[language] += 2 * (word in known)
    return scores, len(words)
