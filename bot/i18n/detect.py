"""Pure: detects which of Aldis's languages a message is written in, if that is certain.

A message is judged by its words: common ones that every sentence has ("the", "nicht", "c'est", "qué") and that mean
nothing in the others, and letters that only one of the languages has. Chat messages are short, and one in a fifth
language shares a word with each of the four, so there is a result only if one language is well ahead of the rest and
enough of the message speaks for it. No library does this: the good ones bring megabytes of models and an array library
to tell a hundred languages apart, of which Aldis speaks four.
"""

import re
from collections.abc import Mapping

from bot.i18n.language import LANGUAGES, Language

_COMMON: Mapping[str, str] = {
    "en": (
        "the and is are was were you your my what how when where why who which this that these with for from not don't "
        "doesn't can can't could would should will won't have has had do does did it's i'm i'd i've please there they "
        "them their about into than then some any much many of to in on at be been make give show write thanks hello "
        "we our he she his her it or but if because today tomorrow yesterday what's let's me tell hi remind remember"
    ),
    "de": (
        "der die das und ist sind ich du er sie es wir ihr mein meine dein deine nicht kein keine ein eine einen einem "
        "einer mit für von zu zum zur auf aus bei nach wie was wann wo warum wer welche welcher welches kann kannst "
        "können könnte könntest bitte danke hallo heute morgen gestern mir mich dir dich uns auch noch schon nur aber "
        "oder wenn weil dass dann mehr gib mach sag zeig schreib habe hast hat haben wird werden wurde war im am den "
        "dem des wieder viel gut gibt ja nein doch mal über daten erinnere"
    ),
    "fr": (
        "le la les un une des du et est sont suis je tu il elle nous vous ils elles mon ma mes ton ta tes ce cette ces "
        "ne pas plus que qui quoi quel quelle quels quelles quand où comment pourquoi combien avec pour dans sur sous "
        "chez être avoir ai as avez peux peut peux-tu pouvez merci bonjour salut demain hier aujourd'hui c'est j'ai "
        "qu'est-ce est-ce d'un d'une l'on s'il te plaît moi toi lui leur aussi encore mais ou donc car si fait faire "
        "fais donne dis montre écris au aux très bien oui non y-a-t-il quelque données "
        "sais-tu peut-on rappelle rappelle-moi"
    ),
    "es": (
        "el la los las un una unos unas y es son soy estoy está están yo tú él ella nosotros ustedes mi mis tu tus su "
        "no que qué quién cuál cuáles cuándo cuando dónde donde cómo como por para con sin sobre de del al en lo se me "
        "te le nos hay tiene tengo puede puedes puedo quiero favor gracias hola hoy mañana ayer también más muy pero o "
        "porque si sí este esta esto ese esa eso hacer haz dame dime muestra escribe cuánto cuánta cuántos hace "
        "buenos buenas días datos recuérdame"
    ),
}
_NEIGHBOURS: Mapping[str, str] = {
    "nl": "de het een en van is in ik je jij hij zij we wij jullie niet geen wat hoe wanneer waar waarom wie welke kan "
    "kun kunt met voor op te naar bij als maar ook nog om dat die deze dit mijn jouw er zijn was heeft heb hebt morgen "
    "gisteren vandaag alstublieft bedankt hallo weer",
    "it": "il lo la gli le un uno una di del della dei e è sono sei ho hai ha io tu lui lei noi voi mi ti ci si non "
    "che chi come dove quando perché quale quanto quanta con per da su tra nel nella puoi può posso grazie ciao oggi "
    "domani ieri anche molto più ma se questo questa fare dimmi dammi fa qual",
    "pt": "o a os as um uma de do da dos das e é são está eu você tu ele ela nós não que quem como onde quando porque "
    "qual quanto com por para em no na nos nas me te se meu minha seu sua pode posso obrigado olá hoje amanhã ontem "
    "também mais muito mas ou isso este esta fazer dizer",
}
"""Languages that share many words with the four: a message in one of them must not be taken for one of those."""

_WORDS = {language: frozenset(words.split()) for language, words in (_NEIGHBOURS | _COMMON).items()}
_OWNERS: Mapping[str, tuple[str, ...]] = {
    word: tuple(language for language, known in _WORDS.items() if word in known)
    for word in frozenset[str]().union(*_WORDS.values())
}
"""The languages that have each word."""
_LETTERS: Mapping[str, str] = {"de": "äöüß", "fr": "çœèêâîôûàùë", "es": "ñ¿¡", "pt": "ãõ", "it": "ìò"}
_AS_MANY_WORDS = 2
"""How many words the special letters of a language count for, however many there are."""
_ENOUGH = 1.8
_AHEAD = 1.5
"""The factor by which the best language must be ahead of the next."""
_SPEAKS = 0.2
"""The share of the words that must speak for it; with fewer it may be a fifth language."""
_READ_CHARS = 2000

_MAX_OPENED_WORDS = 5
_OPENINGS: Mapping[Language, str] = {
    "en": "help|what is|what's the|how many|how much|remind me|set a|search for|list my|write me|tell me|give me"
    "|show me|send me|draw me|draw a|wake me|convert|calculate|cancel",
    "de": "hilfe|hilf mir|was kannst|was ist|was sind|wie viel|wie viele|wie spät|erinnere mich|weck mich|suche nach"
    "|rechne|zeige|zeig|lösche|zeichne|erzähl|schreib",
    "fr": "aide|aide-moi|combien font|combien de|quelle heure|rappelle-moi dans|rappelle-moi demain|convertis|cherche"
    "|montre|annule|dessine|raconte-moi|écris-moi|dis-moi",
    "es": "ayuda|ayúdame|cuánto es|cuánto son|cuántos son|qué hora|recuérdame en|recuérdame mañana|convierte|muestra"
    "|dibuja|cuéntame|escríbeme|dime",
}
"""Beginnings of short requests that exist in one language only, whatever names and numbers follow."""
_FIRST_WORDS: Mapping[Language, str] = {
    "en": "hello morning thanks weather news joke",
    "de": "hallo guten moin servus danke wetter nachrichten witz uhrzeit",
    "fr": "bonjour bonsoir salut coucou merci météo blague rappel",
    "es": "hola buenos buenas gracias tiempo noticias chiste recordatorio",
}
"""Beginnings of somebody's first message: only a guess, because neighbouring languages share some of them."""
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_NO_WORDS = re.compile(r"```.*?```|`[^`]*`|https?://\S+|@\S+", re.DOTALL)
"""Code, addresses and names, which are in no language."""


def detect_language(text: str) -> Language | None:
    """Returns the language of a message; None if it is uncertain, too short, or in another language."""
    plain = _plain(text)
    words = _WORD.findall(plain)
    if not words:
        return None
    if len(words) <= _MAX_OPENED_WORDS:
        for language, openings in _OPENINGS.items():
            if not {" ".join(words[:2]), words[0]}.isdisjoint(openings.split("|")):
                return language
    scores = _scores(words, plain)
    best, next_best, *_ = sorted(scores, key=lambda language: scores[language], reverse=True)
    score = scores[best]
    is_ahead = score >= _AHEAD * scores[next_best] and score - scores[next_best] >= 1
    is_sure = score >= _ENOUGH and is_ahead and score >= _SPEAKS * len(words)
    return next((language for language in LANGUAGES if is_sure and language == best), None)


def guess_language(text: str) -> Language | None:
    """Returns the likely language of a greeting or a few words, if nothing else is known; None without any clue."""
    words = _WORD.findall(_plain(text))
    first = words[0] if 0 < len(words) <= _MAX_OPENED_WORDS else ""
    return next((language for language, known in _FIRST_WORDS.items() if first in known.split()), None)


def _plain(text: str) -> str:
    """The beginning in lower case, without what is in no language."""
    return _NO_WORDS.sub(" ", text[:_READ_CHARS]).lower().replace("’", "'")


def _scores(words: list[str], plain: str) -> dict[str, float]:
    """The evidence for each language; a word that several share counts partly for each."""
    scores = dict.fromkeys(_WORDS, 0.0)
    for word in words:
        for language in (owners := _OWNERS.get(word, ())):
            scores[language] += 1 / len(owners)
    if not plain.isascii():
        for language, letters in _LETTERS.items():
            scores[language] += _AS_MANY_WORDS * any(letter in plain for letter in letters)
    return scores
