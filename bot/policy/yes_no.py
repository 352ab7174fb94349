"""Pure: what people say when they mean yes, no or always, and nothing else, in the languages that Aldis speaks."""

import re
from typing import Literal

Word = Literal["yes", "no", "always"]

SKIN_TONES = dict.fromkeys(range(0x1F3FB, 0x1F400))
"""For `str.translate`: a thumb of any colour is a thumb."""

_MAX_WORDS = 6
_BETWEEN = re.compile(r"[\s,.!;…\ufe0f]+")
_THUMBS = re.compile("[👍👎✅]")
"""Nobody puts a space before one."""


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


def parse_word(text: str) -> Word | None:
    """What words mean that mean nothing else; None where they may mean more, or anything else."""
    plain = _THUMBS.sub(r" \g<0> ", text.lower().translate(SKIN_TONES).replace("’", "'"))
    words = {word for word in _BETWEEN.split(plain)[: _MAX_WORDS + 2] if word}
    if len(words) > _MAX_WORDS:
        return None
    if words & _YES and words <= _YES | _BESIDE_YES:
        return "yes"
    if words & _NO and words <= _NO | _BESIDE_NO:
        return "no"
    return "always" if words & _ALWAYS and words <= _ALWAYS | _BESIDE_ALWAYS else None
