"""Pure: which command is meant by a name that is not in the table.

    /hilfe, /aide -----> help     (a word for it in another language)
    /hlep, /tool ------> help, tools      (a typo, the beginning of a name)
    /trus -------------> trust or tools: the person has to say which

Left to others: whether it is carried out or asked about (`bot.commands.base`).
"""

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches

_WORDS: Mapping[str, str] = {
    "help": "hilfe aide ayuda start commands befehle commandes comandos",
    "new": "neu nouveau nuevo reset",
    "stop": "stopp halt anhalten abbrechen arret arrete arreter para parar detener cancel",
    "retry": "nochmal wiederhole wiederholen reessayer reintentar repetir again",
    "undo": "rueckgaengig zuruecknehmen annuler deshacer",
    "model": "modell modele modelo",
    "persona": "rolle personnage personaje",
    "tools": "werkzeuge outils herramientas",
    "language": "sprache langue idioma lang",
    "remind": "erinnere erinner erinnern erinnerung erinnerungen reminder reminders rappelle rappel rappels "
    "rappellemoi recuerdame recordar recordatorio recordatorios",
    "timezone": "zeitzone fuseau zona tz",
    "memory": "gedaechtnis memoire memoria",
    "feeds": "nachrichten flux noticias news",
    "usage": "verbrauch kosten cout couts consommation consumo gastos cost costs",
    "verify": "pruefen nachweis verifier verificar attestation",
    "whoami": "werbinich quisuisje quiensoy",
    "export": "exportieren exporter exportar",
    "forget": "vergiss vergessen oublie oublier olvida olvidar delete",
    "pause": "pausieren pausa",
    "resume": "weiter fortsetzen reprendre reanudar",
    "always": "immer toujours siempre",
    "people": "leute personnes personas",
    "groups": "gruppen groupes grupos",
}
"""Names of each command in other languages and in other programs, in plain letters."""
_NAMES: Mapping[str, str] = {word: name for name, words in _WORDS.items() for word in words.split()}
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})

_MIN_PREFIX = 3
_CLOSE = 0.75
"""One letter in four can be wrong, or two swapped."""
_CLOSE_ELSEWHERE = 0.85
"""Other languages have many words, each close to something else: the weather (Wetter) is not `weiter`."""
_MIN_LENGTH = 6
"""Shorter words of other languages must be spelled exactly: `/roll` is no typo of the German `rolle`."""
_MAX_LENGTH = 60
"""Comparing a whole message with names letter by letter would block everybody."""


def command_for(word: str) -> str | None:
    """Returns the command that this is a word for; None if there is none."""
    return next((_NAMES[form] for form in (word, *_forms(word)) if form in _NAMES), None)


def similar(word: str, names: Collection[str]) -> tuple[str, ...]:
    """Returns the names that an unknown word may mean, the likeliest first; empty if there are none."""
    elsewhere = [known for known, name in _NAMES.items() if name in names and len(known) >= _MIN_LENGTH]
    found: list[str] = []
    for form in (form[:_MAX_LENGTH] for form in _forms(word)):
        found += get_close_matches(form, names, cutoff=_CLOSE)
        found += [name for name in names if len(form) >= _MIN_PREFIX and name.startswith(form)]
        found += [_NAMES[known] for known in get_close_matches(form, elsewhere, cutoff=_CLOSE_ELSEWHERE)]
    return tuple(dict.fromkeys(found))


def closest(word: str, choices: Sequence[str]) -> tuple[str, ...]:
    """Returns the texts that the word nearly equals, whole or in part; empty if there are none."""
    plain = fold(word[:_MAX_LENGTH])
    parts = ([fold(choice), *re.split(r"[\W_]+", fold(choice))] for choice in choices)
    near = (bool(get_close_matches(plain, several, n=1, cutoff=_CLOSE)) for several in parts)
    return tuple(choice for choice, is_near in zip(choices, near, strict=True) if is_near)


def fold(word: str) -> str:
    """Returns the word in lower case without accents."""
    parts = unicodedata.normalize("NFKD", word.casefold())
    return "".join(letter for letter in parts if not unicodedata.combining(letter))


def _forms(word: str) -> tuple[str, str]:
    """The word in plain letters: accents dropped, umlauts spelled out or dropped, no dashes or underscores."""
    bare = word.casefold().replace("-", "").replace("_", "")
    return fold(bare.translate(_UMLAUTS)), fold(bare)
