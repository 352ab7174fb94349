"""The words by which a text is read: English, German, French and Spanish; our own lists, folded and short.

Each entry is a phrase; `*` at its end or beginning stands for the rest of a word, `~` for up to five words between.
What a list does not have is not seen: irony, a denial in other words, any other language.
"""

import re
import sys
import unicodedata
from functools import cached_property

LANGUAGES = ("en", "de", "fr", "es")
"""Those whose denials are known; a text in another language is never taken for agreement."""

_WORD = re.compile(r"[^\W_]+(?:[.,][0-9]+)*(?:'t\b)?")
_ACCENTS = re.compile("[\u0300-\u036f]+")
_SPELLINGS = str.maketrans({"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\u00df": "ss", "\u2010": "-", "\u2011": "-"})


def folded(text: str) -> str:
    """The text in small letters without accents, with plain apostrophes and hyphens: as the lists are matched."""
    if text.isascii():  # most texts, and much faster
        return text.lower()
    return _ACCENTS.sub("", unicodedata.normalize("NFKD", text.translate(_SPELLINGS).casefold()))


def words(text: str) -> tuple[str, ...]:
    """The folded words and numbers in their order; `didn't` stays one word, `7.8` one number."""
    return tuple(_WORD.findall(folded(text)))


class WordList:
    """The phrases of one meaning, in all languages; made ready when first asked, for that takes a while."""

    def __init__(self, *listed: str) -> None:
        """Of each language a list with commas."""
        self._listed = listed

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Finds any of the phrases in a folded text, the longest that fits."""
        entries = {folded(" ".join(entry.split())) for listed in self._listed for entry in listed.split(",")}
        longest_first = sorted(entries, key=lambda entry: (-len(entry), entry))
        return re.compile(rf"\b(?:{'|'.join(map(_spelled, longest_first))})\b")

    def found(self, text: str) -> tuple[str, ...]:
        """The phrases that stand in a folded text, in their order."""
        return tuple(self.pattern.findall(text))

    def stands(self, text: str, start: int = 0, end: int = sys.maxsize) -> bool:
        """Whether any of the phrases stands in a folded text between the two places."""
        return self.pattern.search(text, start, end) is not None


def _spelled(entry: str) -> str:
    gaps = re.escape(entry).replace(r"\ \~\ ", r"(?:\W+\w+){0,5}?\W+")
    return gaps.replace(r"\ ", r"[\s-]+").replace(r"\*", r"\w*")


FALSE = WordList(
    """hoax, hoaxes, fake news, is fake, was fake, fake video*, fake image*, fake photo*, fake quote*, fake claim*,
    debunk*, disproved, disproven, false claim*, false rumor*, false rumour*, false report*, is false, was false,
    are false, falsely claim*, falsely state*, not true, untrue, isn't true, misinformation, disinformation,
    no evidence that, no truth, fabricated, baseless, unfounded, misleading, pants on fire, satire, satirical,
    doctored, never happened, didn't happen, did not happen""",
    """Falschmeldung*, Fakenews, Fake-News, widerlegt*, stimmt nicht, stimmen nicht, ist falsch, sei falsch,
    sind falsch, nicht wahr, unwahr*, Falschbehauptung*, falsche Behauptung*, frei erfunden, keine Belege,
    kein Beleg, irreführend*, Desinformation, Falschinformation*, Satire, Zeitungsente, gefälscht*, Fälschung*""",
    """infox, fausse information, fausses informations, fausse rumeur, intox, canular, désinformation, mensonger*,
    trompeur*, trompeuse*, est faux, c'est faux, aucune preuve, sans fondement, inventé de toutes pièces,
    inventée de toutes pièces, n'est pas vrai, truqué*""",
    """bulo, bulos, noticia falsa, noticias falsas, es falso, es falsa, son falsas, falso que, desinformación,
    engañoso*, engañosa*, no es cierto, no es verdad, sin pruebas, sin fundamento, infundad*, es mentira,
    fotomontaje""",
)
"""Says of a claim that it is false."""

DENIED = WordList(
    """deny, denies, denied, denying, denial, refute*, disputes, disputed, contradict*, retract*, rejects claim*,
    rejects report*, rejected claim*, rejected report*, dismisses claim*, dismisses report*, dismissed claim*,
    dismissed report*""",
    """dementiert, dementierte, dementierten, dementieren, Dementi, Dementis, bestreitet, bestreiten,
    bestritt, bestritten, weist ~ zurück, weisen ~ zurück, wies ~ zurück,
    zurückgewiesen, widerspricht, widersprach, widersprochen, richtiggestellt, Richtigstellung""",
    """dément, démentent, démenti, démentie, démentis, démentir, réfute, réfutent, réfuté, conteste, contestent,
    contredit, se rétracte, a nié, ont nié""",
    """desmiente*, desmintió, desmintieron, desmentid*, niega, niegan, negó, negaron, refuta*, contradice*,
    rechaza las acusaciones, rectifica, rectificó""",
)
"""Says that somebody denies something, which may be another thing than the claim."""

NEGATED = WordList(
    "not, no, never, nobody, cannot, *n't",
    "nicht, kein, keine, keinen, keiner, keines, nie, niemals, niemand",
    "ne, pas, jamais, aucun, aucune, personne ne",
    "nunca, jamás, ningún, ninguna, tampoco",
)
"""Turns a sentence round; `no` is English and Spanish."""

HEDGED = WordList(
    """rumor, rumors, rumour, rumours, rumored, rumoured, unconfirmed, unverified, not confirmed, not yet confirmed,
    not been confirmed, reportedly, speculation, speculate*""",
    """Gerücht, Gerüchte*, angeblich*, unbestätigt*, nicht bestätigt, Spekulation*, spekuliert, soll ~ haben,
    sollen ~ haben""",
    "rumeur, rumeurs, non confirmé, non confirmée, pas confirmé, prétendument, spéculation*, aurait, auraient",
    "rumor, rumores, sin confirmar, no confirmado, no confirmada, no ha confirmado, supuestamente, habría, habrían",
)
"""Tells it as something that is not certain."""

CONFIRMED = WordList(
    "confirm, confirms, confirmed, confirming, confirmation, officially, official statement, announces, announced",
    "bestätigt, bestätigte, bestätigten, bestätigen, bestätigung, offiziell*, gab bekannt, gibt bekannt, teilte ~ mit",
    "confirme, confirment, confirmé, confirmée, officiel*, annonce, annoncé, a annoncé, communiqué",
    "confirma, confirman, confirmó, confirmaron, confirmado, oficial*, anunció, anuncia, comunicado",
)
"""Says that something was confirmed or told by those who know."""

AUTHORITIES = WordList(
    """police, ministry, minister, government, spokesperson, spokesman, spokeswoman, prosecutor, prosecutors, court,
    officials, authorities, agency, army, commission, president, mayor, parliament, central bank""",
    """Polizei, *ministerium, *minister, *ministerin, *regierung, *sprecher, *sprecherin, Staatsanwaltschaft, *gericht,
    Behörde, Behörden, *amt, Bundeswehr, Kommission, *präsident, *präsidentin, *bürgermeister, Notenbank""",
    """police, ministère, ministre, gouvernement, porte-parole, procureur, parquet, tribunal, autorités, préfecture,
    armée, commission, président, présidente, maire, Élysée""",
    """policía, ministerio, ministro, ministra, gobierno, portavoz, fiscalía, tribunal, autoridades, ejército, comisión,
    presidente, presidenta, alcalde, alcaldesa""",
)
"""Those whose word is official."""

ALARMING = WordList(
    """shock, shocks, shocking, outrage*, bombshell, you won't believe, explosive, terrifying, horrifying, unbelievable,
    insane, must see, slams, chaos""",
    "Schock*, schockierend*, Skandal*, unfassbar*, Wahnsinn, Horror*, Sensation*, Hammer, irre",
    "choc, choquant*, scandale*, incroyable*, hallucinant*, explosif, explosive, horreur",
    "escándalo*, escandalos*, increíble*, impactante*, brutal, alarmante*, insólit*, bombazo",
)
"""Is meant to stir up rather than to tell."""

_AGENCIES = "reuters|dpa|afp|apa|ap|epd|kna|efe|ansa|pa media|associated press|xinhua|tass|bloomberg|keystone-sda|sda"
CREDITS = re.compile(
    rf"[(\[/]\s*({_AGENCIES})\b[^)\]]{{0,20}}[)\]/]|\b(?:source|quelle|fuente|via)\s?:?\s({_AGENCIES})\b"
)
"""The news agency that a text names as its own source, in either group."""

FUNCTION_WORDS: dict[str, frozenset[str]] = {
    language: frozenset(folded(listed).split())
    for language, listed in {
        "en": "the of and to in is was were for that with are by from has have had been at on as after its it an this",
        "de": "der die das und ist nicht von mit auf den dem des im ein eine einen wurde wird zu sich hat fur bei als",
        "fr": "le la les du des et est dans une un pour par au aux sur qui que ete apres ont avec ce cette son",
        "es": "el la los las del de y en una un por con que se su al ha fue para tras es son como",
        "it": "il lo gli di che una un per del della dei delle non sono nel nella con dopo stato alla e ha",
        "pt": "os as do da dos das nao uma um em no na com sao foi para apos ao pela pelo que o",
        "nl": "het een van en niet op dat zijn met voor de is bij naar uit door heeft wordt ook na te",
        "nordic": "och att det som er pa ikke inte av til en i den og med har for fra efter var ett et",
        "pl": "w i na nie jest z do sie ze po przez od jak za oraz dla byl przy",
        "tr": "ve bir bu ile icin da de olarak olan cok daha gibi sonra oldu",
    }.items()
}
"""Small words that tell languages apart; of those besides `LANGUAGES` only that they are another."""

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
