"""The sentences about attestation."""

from bot.i18n.catalogues import Sentence, say

ABOUT_VERIFY = Sentence("ABOUT_VERIFY", "shows what proves which Aldis runs here.")
NOTHING_PROVED = Sentence(
    "NOTHING_PROVED",
    "I can't prove what runs here: this machine has no hardware for that. The digest of my source is `{source}`.",
)
VERIFY_HOW = Sentence(
    "VERIFY_HOW",
    "Send `/verify` and a word of your own that nobody could have foreseen: 8 to 100 letters without accents, "
    "digits, dots, `-` or `_`.",
)
VERIFY_FAILED = Sentence(
    "VERIFY_FAILED",
    "Nothing is proved: the hardware that should vouch for me gave no quote. Try again later, or tell the person who"
    " runs me.",
)
_QUOTED = Sentence(
    "QUOTED", "The file holds an Intel TDX quote for your word `{word}` and for the digest of my source, `{source}`."
)
_COMPOSE_HERE = Sentence(
    "COMPOSE_HERE", "It measures the compose file, which is in it, too; its SHA-256 is `{digest}`."
)
_COMPOSE_ELSEWHERE = Sentence(
    "COMPOSE_ELSEWHERE",
    "It measures the compose file, which the person who runs me can show you; its SHA-256 is `{digest}`.",
)
_TO_BE_CHECKED = Sentence(
    "TO_BE_CHECKED",
    "It proves nothing until you have checked it, and nothing about the model's vendor, Signal's servers or my "
    "settings: docs/attestation.md in my source says how, and what.",
)


def quote_lines(word: str, source: str, compose_digest: str, *, has_compose: bool) -> str:
    """Describes the file with a quote, in three lines."""
    compose = _COMPOSE_HERE if has_compose else _COMPOSE_ELSEWHERE
    return "\n".join([say(_QUOTED, word=word, source=source), say(compose, digest=compose_digest), say(_TO_BE_CHECKED)])
