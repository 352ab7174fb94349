"""Pure: which command is meant by a name that is not in the table.

    /hilfe, /aide -----> help     (a word for it in another language)
    /hlep, /tool ------> help, tools      (a typo, the beginning of a name)
    /trus -------------> trust or tools: the person has to say which

Left to others: whether it is carried out or asked about (`bot.commands.base`).
"""

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from difflib import SequenceMatcher

_WORDS: Mapping[str, str] = {
    "help": "hilfe aide ayuda start commands befehle commandes comandos",
    "new": "neu nouveau nuevo reset",
    "stop": "stopp halt anhalten abbrechen arret arrete arreter para parar detener cancel",
    "retry": "nochmal wiederhole wiederholen reessayer reintentar repetir again",
    "undo": "rueckgaengig zuruecknehmen annuler deshacer",
    "transcript": "transkript abschrift transcription transcripcion",
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
    "status": "stand etat estado",
    "verify": "pruefen nachweis verifier verificar attestation",
    "whoami": "werbinich quisuisje quiensoy",
    "export": "exportieren exporter exportar",
    "forget": "vergiss vergessen oublie oublier olvida olvidar delete",
    "pause": "pausieren pausa",
    "resume": "weiter fortsetzen reprendre reanudar",
    "always": "immer toujours siempre",
    "people": "leute personnes personas",
    "groups": "gruppen groupes grupos",
    "budget": "presupuesto",
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
_BEHIND = 0.1
"""A score this close behind the best one may be meant as well."""


def command_for(word: str) -> str | None:
    """Returns the command that this is a word for; None if there is none."""
    return next((_NAMES[form] for form in (word, *_forms(word)) if form in _NAMES), None)


def similar(word: str, names: Collection[str]) -> tuple[str, ...]:
    """Returns the names that an unknown word may mean, the likeliest first; empty if there are none."""
    forms = _forms(word)
    scores = {name: max(_score(form, name) for form in forms) for name in names}
    best = max(scores.values(), default=0.0)
    near = [name for name, score in scores.items() if score >= max(_CLOSE, best - _BEHIND)]
    return tuple(sorted(near, key=lambda name: -scores[name]))


def closest(word: str, choices: Sequence[str]) -> tuple[str, ...]:
    """Returns the texts that the word nearly equals, whole or in part; empty if there are none."""
    plain = fold(word)
    scores = {choice: max(_likeness(plain, part) for part in _parts(fold(choice))) for choice in choices}
    best = max(scores.values(), default=0.0)
    return tuple(choice for choice in choices if scores[choice] >= max(_CLOSE, best - _BEHIND))


def fold(word: str) -> str:
    """Returns the word in lower case without accents."""
    parts = unicodedata.normalize("NFKD", word.casefold())
    return "".join(letter for letter in parts if not unicodedata.combining(letter))


def _forms(word: str) -> tuple[str, str]:
    """The word in plain letters: accents dropped, umlauts spelled out or dropped, no dashes or underscores."""
    bare = word.casefold().replace("-", "").replace("_", "")
    return fold(bare.translate(_UMLAUTS)), fold(bare)


def _score(word: str, name: str) -> float:
    """How likely the word means the command, by its name or another word for it, from 0 to 1."""
    words = (known for known in _WORDS.get(name, "").split() if len(known) >= _MIN_LENGTH)
    elsewhere = (_likeness(word, known) for known in words)
    begins = len(word) >= _MIN_PREFIX and name.startswith(word)
    return max(float(begins), _likeness(word, name), *(score for score in elsewhere if score >= _CLOSE_ELSEWHERE))


def _likeness(word: str, known: str) -> float:
    matcher = SequenceMatcher(None, word, known, autojunk=False)
    # Comparing a whole message with a name letter by letter would block everybody for seconds.
    return matcher.ratio() if matcher.real_quick_ratio() >= _CLOSE else 0.0


def _parts(text: str) -> Sequence[str]:
    """The text, and the words in it."""
    apart = "".join(letter if letter.isalnum() else " " for letter in text)
    return (text, *apart.split())


def model_name(model: str) -> str:
    """Returns a model's name as people say it: `Claude Haiku 4.5` for `anthropic/claude-haiku-4-5-20251001`.

    What no known vendor names so stays as it is, without the server.
    """
    bare = re.sub(r"-(?:\d{8}|latest)$", "", model.rpartition("/")[2])
    if not bare.startswith(("claude-", "gpt-")):
        return bare
    vendor, *words = bare.split("-")
    version = ".".join(word for word in words if word.isdigit())
    names = " ".join(word.capitalize() for word in words if not word.isdigit())
    return (
        f"GPT-{' '.join(words)}" if vendor == "gpt" else " ".join(filter(None, (vendor.capitalize(), names, version)))
    )
