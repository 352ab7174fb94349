"""Pure: arithmetic as people write it, in digits, signs and English words, turned into an expression.

Left to others: the value of the expression (`tools.calculator`), which part of a message it is (`intents`).
"""

import re
from collections.abc import Callable, Mapping, Sequence

_Replacement = str | Callable[[re.Match[str]], str]

_UNITS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS = ("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_VALUES: Mapping[str, int] = {
    **{word: value for value, word in enumerate(("zero", *_UNITS, *_TEENS))},
    **{word: 10 * value for value, word in enumerate(_TENS, start=2)},
}
_LARGE: Mapping[str, int] = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9}

# A search must not restart within a number, which would take quadratic time with many digits.
_NUMBER = r"(?<![\d.])-?\d++(?:\.\d++)?"
_ATOM = rf"({_NUMBER}|\([^()]*\)|pi\b)"
_PERCENT = "(?:%|percent|per cent)"
_AND = r"(?:,? and |, ?)"
_LIST = rf"((?:{_NUMBER}{_AND})+{_NUMBER})"
_NAMES = (
    "sqrt|cbrt|sin|cos|tan|asin|acos|atan|log|ln|log2|log10|exp|abs|round|floor|ceil|factorial|mean|median|min|max|sum"
    "|pi|e|tau"
)

_LEAD = re.compile(
    r"^(?:(?:what's|whats|what (?:is|are)|how (?:much|many) (?:is|are|do)|calculate|compute|evaluate|solve|work out"
    r"|(?:the )?(?:value|result|answer) (?:of|to)|the)\b[ :]*)+"
)
_TAIL = re.compile(r"(?: (?:for me|please|equals?(?: to)?|make|come to|is)|[ =.,:])+$")


def _joined(sign: str) -> Callable[[re.Match[str]], str]:
    return lambda match: sign.join(_items(match[1]))


def _called(name: str) -> Callable[[re.Match[str]], str]:
    return lambda match: f"{name}({', '.join(_items(match[1]))})"


def _items(words: str) -> Sequence[str]:
    return re.split(_AND, words)


# In this order: what binds more tightly comes first.
_SPOKEN: Sequence[tuple[str, _Replacement]] = (
    (rf"\b({'|'.join(_TENS)})[ -]({'|'.join(_UNITS)})\b", lambda m: str(_VALUES[m[1]] + _VALUES[m[2]])),
    (rf"\b({'|'.join(_VALUES)})\b", lambda m: str(_VALUES[m[1]])),
    (rf"\b(?:(\d+)|an?) ({'|'.join(_LARGE)})\b", lambda m: str(int(m[1] or 1) * _LARGE[m[2]])),
    (r"[$€£](?=\d)|(?<=\d) ?(?:[€$£]|(?:euros?|dollars?|pounds?|francs?|eur|usd|gbp|chf)\b)", ""),
    (r"\b(\d+) ?factorial\b|\bfactorial of (\d+)\b|\b(\d+)!", lambda m: f"factorial({m[1] or m[2] or m[3]})"),
    (rf"(?:the )?square root of {_ATOM}", r"sqrt(\1)"),
    (rf"(?:the )?cube root of {_ATOM}", r"cbrt(\1)"),
    (rf"{_ATOM} squared", r"\1^2"),
    (rf"{_ATOM} cubed", r"\1^3"),
    (rf"{_ATOM} (?:(?:raised )?to the power (?:of )?|to the )(\d+)(?:(?:st|nd|rd|th)(?: power)?)?", r"\1^\2"),
    (rf"{_ATOM} ?{_PERCENT} of {_ATOM}", r"\1/100*\2"),
    (rf"{_ATOM} ?{_PERCENT} off {_ATOM}", r"\2*(1-\1/100)"),
    (rf"^{_ATOM} ?(?:\+|plus) ?{_ATOM} ?{_PERCENT}$", r"\1*(1+\2/100)"),
    (rf"^{_ATOM} ?(?:-|minus) ?{_ATOM} ?{_PERCENT}$", r"\1*(1-\2/100)"),
    (rf"(?:the )?sum of {_LIST}", _joined(" + ")),
    (rf"(?:the )?product of {_LIST}", _joined(" * ")),
    (rf"(?:the )?difference (?:between|of) {_LIST}", _joined(" - ")),
    (rf"(?:the )?quotient of {_LIST}", _joined(" / ")),
    (rf"(?:the )?(?:average|mean) of {_LIST}", _called("mean")),
    (rf"^add {_ATOM} (?:and|to) {_ATOM}$", r"\1 + \2"),
    (rf"^subtract {_ATOM} from {_ATOM}$", r"\2 - \1"),
    (rf"^multiply {_ATOM} (?:by|and|with) {_ATOM}$", r"\1 * \2"),
    (rf"^divide {_ATOM} by {_ATOM}$", r"\1 / \2"),
    (rf"half of {_ATOM}", r"\1/2"),
    (rf"(?:twice|double) {_ATOM}", r"2*\1"),
    (r"\b(?:plus|added to)\b", "+"),
    (r"\b(?:minus|less|take away)\b", "-"),
    (r"\b(?:times|multiplied by)\b|(?<=\d) ?x ?(?=\d)", "*"),
    (r"\b(?:divided by|over)\b", "/"),
    (r"\b(?:modulo|mod)\b", "%"),
)
_TRANSLATIONS = [(re.compile(pattern), replacement) for pattern, replacement in _SPOKEN]

_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
# Possessive, so that a long row of digits is not split in every possible way.
_ARITHMETIC = re.compile(rf"(?>(?:\d++(?:\.\d++)?|\.\d++|[-+*/%^×÷−(),√π ]|\b(?:{_NAMES})\b)+)")
_OPERATION = re.compile(r"[\d)πie] ?(?:[-+*/%^×÷−]|//|\*\*) ?[-\d(.√πa-z]|[a-z]\(|√")
_NO_ARITHMETIC = re.compile(r"[\d)] +\d|[-+*/%^×÷−(,√]$|^\d{4}-\d\d-\d\d$|^\d\d?/\d\d?/\d+$")
_EMBEDDED = re.compile(rf"(?<![\d.])[\d(][-\d.()*+/^×÷− ]*+(?!{_PERCENT})")
_DANGLING = "-.(*+/^×÷− "
_SURE_SIGN = re.compile(r"[*+^×÷]")


def expression(clause: str) -> str | None:
    """The expression that the clause consists of, apart from words around it ("What is ... please"), or None."""
    text = _TAIL.sub("", _LEAD.sub("", " ".join(clause.lower().split())))
    if "(" not in text:  # between a function's arguments a comma is not a thousands separator
        text = _THOUSANDS.sub("", text)
    for pattern, replacement in _TRANSLATIONS:
        text = pattern.sub(replacement, text)
    text = text.strip()
    return text if _is_arithmetic(text) else None


def find_expression(clause: str) -> str | None:
    """The longest expression in signs within the clause, or None; ignores dates, fractions and phone numbers."""
    candidates = [match[0].rstrip(_DANGLING) for match in _EMBEDDED.finditer(clause)]
    sure = [text for text in candidates if _SURE_SIGN.search(text) and _is_arithmetic(text)]
    return max(sure, key=len, default=None)


def _is_arithmetic(text: str) -> bool:
    """Whether it looks like an expression with something to calculate."""
    return (
        _ARITHMETIC.fullmatch(text) is not None
        and _OPERATION.search(text) is not None
        and _NO_ARITHMETIC.search(text) is None
        and text.count("(") == text.count(")")
    )
