"""Pure: recognises words that mean yes, no or always and nothing else, in Aldis's languages, and sentences that ask for
them.
"""

import re
import unicodedata
from typing import Literal

Word = Literal["yes", "no", "always"]

SKIN_TONES = dict.fromkeys(range(0x1F3FB, 0x1F400))
"""For `str.translate`: a thumb is a thumb in any colour."""

_MAX_WORDS = 6
"""Counts each word once: "yes yes yes" is one."""
_MAX_SAID = 30
_BETWEEN = re.compile(r"[\s,.!¡;…\ufe0f]+")
_THUMBS = re.compile("[👍👎✅]")
"""People write these without a space before them."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_YES = _words("""
    yes y yeah yep yup sure course okay ok k go approved 👍
    ja jawohl jep jo klar gerne gern passt einverstanden natürlich
    oui ouais accord daccord d'accord vas-y allez sûr
    sí si claro vale dale adelante hazlo supuesto
""")
_NO = _words("""
    no n nope nah not don't dont never 👎
    nein ne nee nö nicht nie
    non pas jamais
    nunca
""")
_BESIDE_YES = _words("""
    please do it ahead that this thanks thank you right of fine good alright
    bitte mach machs mach's das es mal danke los doch in ordnung alles gut sicher
    s'il te plaît plait vous fais fais-le le bien merci
    por favor gracias bueno de que está esta
""")
_BESIDE_NO = _words("""
    please do it that this thanks thank you better
    bitte mach das es danke lieber lass sein
    merci fais le surtout mieux
    gracias por favor lo hagas mejor
""")


_ALWAYS = _words("always immer toujours siempre ✅")
_BESIDE_ALWAYS = _words("""
    yes yeah ok okay please do that this 👍 ja bitte das oui d'accord s'il te plaît sí si vale por favor esto
""")

_NODS = _words("""
    ok okay k right fine good alright thanks thank you 👍
    klar gut alles in ordnung passt gern gerne danke
    bien d'accord daccord merci
    vale bueno bien claro está esta de gracias
""")
_ASKED_FOR = _words("yes ja oui sí 👍 ✅")


def parse_word(text: str) -> Word | None:
    """The meaning of words that mean nothing else; None if they may mean more, or anything else."""
    words = _said(text)
    if len(words) > _MAX_WORDS:
        return None
    if words & _YES and words <= _YES | _BESIDE_YES:
        return "yes"
    if words & _NO and words <= _NO | _BESIDE_NO:
        return "no"
    return "always" if words & _ALWAYS and words <= _ALWAYS | _BESIDE_ALWAYS else None


def is_nod(text: str) -> bool:
    """Whether a word for yes may only acknowledge what was just said: "ok, thanks"."""
    return _said(text) <= _NODS


def invites_yes(text: str) -> bool:
    """Whether Aldis's own words may ask for a yes: by a question mark of any script, by containing a yes, or in a
    script whose questions need no mark.
    """
    return any(map(_is_sign_of_question, text)) or not _ASKED_FOR.isdisjoint(re.findall(r"\w+|[👍✅]", text.lower()))


def _is_sign_of_question(sign: str) -> bool:
    name = unicodedata.name(sign, "")
    return "QUESTION" in name or "INTERROBANG" in name or (sign.isalpha() and not name.startswith("LATIN "))


def _said(text: str) -> frozenset[str]:
    """The words in a text; everything after the first `_MAX_SAID` is one piece, which matches none of our words."""
    plain = unicodedata.normalize("NFC", text).lower().translate(SKIN_TONES).replace("’", "'")
    words = _BETWEEN.split(_THUMBS.sub(r" \g<0> ", plain).strip(), maxsplit=_MAX_SAID)
    return frozenset(word for word in words if word)
