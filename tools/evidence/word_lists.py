"""Words that do not tell what a claim is about, in English, German, French and Spanish, and names of news agencies.

Words do not tell what a text says about a claim; a model judges that (`tools.ports.Judge`).
"""

import re
import unicodedata

LANGUAGES = ("en", "de", "fr", "es")
"""The languages in which denials and official statements are searched for."""

_WORD = re.compile(r"[^\W_]+(?:[.,][0-9]+)*(?:'t\b)?")
_ACCENTS = re.compile("[\u0300-\u036f]+")
_SPELLINGS = str.maketrans({"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\u00df": "ss", "\u2010": "-", "\u2011": "-"})


def fold(text: str) -> str:
    """Returns the text in lower case, without accents, with plain apostrophes and hyphens, for comparing words."""
    if text.isascii():  # true of most texts, and much faster
        return text.lower()
    return _ACCENTS.sub("", unicodedata.normalize("NFKD", text.translate(_SPELLINGS).casefold()))


def words(text: str) -> tuple[str, ...]:
    """Returns the folded words and numbers in order; `didn't` stays one word, `7.8` one number."""
    return tuple(_WORD.findall(fold(text)))


_AGENCIES = "reuters|dpa|afp|apa|ap|epd|kna|efe|ansa|pa media|associated press|xinhua|tass|bloomberg|keystone-sda|sda"
CREDITS = re.compile(
    rf"[(\[/]\s*({_AGENCIES})\b[^)\]]{{0,20}}[)\]/]|\b(?:source|quelle|fuente|via)\s?:?\s({_AGENCIES})\b"
)
"""Matches the news agency that a text names as its source, in either group."""

FUNCTION_WORDS: dict[str, frozenset[str]] = {
    language: frozenset(fold(listed).split())
    for language, listed in {
        "en": "the of and to in is was were for that with are by from has have had been at on as after its it an this",
        "de": "der die das und ist nicht von mit auf den dem des im ein eine einen wurde wird zu sich hat fur bei als",
        "fr": "le la les du des et est dans une un pour par au aux sur qui que ete apres ont avec ce cette son",
        "es": "el la los las del de y en una un por con que se su al ha fue para tras es son como",
    }.items()
}
"""Small words that tell languages apart."""

_MORE_IDLE_WORDS = """
a i he she they we you his her their our be will would can could should do does did does not no or but if than then
there here what which who when where how about into over also more most said says say new
er sie es wir ihr ich sind waren war haben hatte werden oder aber wenn dass zum zur vom am an aus um uber noch nur auch
schon kein keine man so wie was wer wo wann neu neue nach
je tu il elle nous vous ils elles sont etait ou mais si ne pas plus a de d l c s n en se sa ses leur
yo tu nosotros ellos ellas era o pero si no mas muy sin sobre lo le les a e u ser esta este esto
"""
IDLE = frozenset(_MORE_IDLE_WORDS.split()).union(*(FUNCTION_WORDS[language] for language in LANGUAGES))
"""Words that say nothing of what a claim is about."""
