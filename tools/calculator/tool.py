"""The tool `calculate`: the value of an expression, exact where possible, and the time between two dates.

    sum     = product { ("+" | "-") product }
    product = signed { ("*" | "/" | "//" | "%" | "of") signed }
    signed  = ("+" | "-") signed | power
    power   = value [ "**" signed ]
    value   = ( number | constant | function "(" sums ")" | "(" sum ")" | "√" value ) { "!" | "%" | "°" | superscript }

`value` does all of the work and is pure. It computes while it reads, with the operators and functions of
`tools.calculator.arithmetic`, which bound every step. It can therefore run on the event loop: the worst expression
found takes a few milliseconds.
"""

import decimal
import difflib
import re
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from pydantic import Field

from tools.base import Arguments, Intent, Result, ToolContext, ToolSpec
from tools.calculator.arithmetic import (
    ANGLES,
    CONSTANTS,
    EXACT_DIGITS,
    EXPONENTS,
    FUNCTIONS,
    OPERATORS,
    PI,
    Number,
    apply_function,
    bounded_context,
)
from tools.calculator.dates import date_expression
from tools.errors import BadArguments
from tools.text import clean_text

MAX_EXPRESSION_CHARS: Final = 500
_MAX_NAME_CHARS = 40
_MAX_TOKENS = 300
_MAX_DEPTH = 60

_SIGNS = str.maketrans(
    dict.fromkeys("×⋅·∙∗", "*")
    | dict.fromkeys("÷∕⁄", "/")
    | dict.fromkeys("−–—‒‐", "-")
    | {"º": "°", "˚": "°", "٪": "%", "π": "pi", "τ": "tau", "φ": "phi", "ϕ": "phi"}
)
_SUPERSCRIPT = re.compile("[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_SUPERSCRIPT_DIGITS = str.maketrans("⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "+-0123456789")
_TIMES = re.compile(r"(?<=[0-9)]) +x +(?=[0-9(])")
_DEGREES = re.compile(r"(?<=[0-9)]) *deg(?:rees?)?\b(?! *\()")
_TOKEN = re.compile(
    r"\s*(?:(?P<integer>0x[0-9a-f_]+|0b[01_]+|0o[0-7_]+)"
    r"|(?P<number>(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:e[+-]?[0-9]+)?)"
    r"|(?P<name>[a-z_][a-z_0-9]*)|\{(?P<raised>[+-]?[0-9]+)\}|(?P<sign>\*\*|//|[-+*/%^!°√∛(),\[\]]))"
)
_ROOTS = {"√": "sqrt", "∛": "cbrt"}
_LOOKS_LIKE_DATE = re.compile(
    r"(?<![\d.])(?:\d{1,2}([/.-])\d{1,2}\1(?:19|20)\d\d|(?:19|20)\d\d([/-])\d{1,2}\2\d{1,2})(?![\d.])"
)
_UNIT = re.compile(r"[$€£¥₹]|[0-9] *[a-z]+.*\b(?:in|to|into|as)\b|[0-9] *(?:[a-z]{1,3}|[a-z]+s)\b")

_READABLE_DIGITS = 15
_READABLE_ZEROS = 7  # after the point; with more, an exponent is easier to read
_READABLE = decimal.Context(
    prec=_READABLE_DIGITS, rounding=decimal.ROUND_HALF_EVEN, Emin=EXPONENTS[0], Emax=EXPONENTS[-1]
)

_COMMA = "Commas only separate the arguments of functions: write 1234.5, not 1,234.5 or 1234,5."
_UNREADABLE = "The expression cannot be read. Write it like 2*(3+4)^2 or sqrt(2)/3."
_TIMES_SIGN = "Write the multiplication sign: 2*(3+4), not 2(3+4)."
_TOO_LONG = "The expression is too long or too deep: calculate it in steps."
_SHARE = "A percentage behind + or - is one of the number before it."
_UNITS = "Calculate with numbers alone; units and currencies are converted by the tool `convert`."
_DATE = (
    "Write dates as 2026-12-24: one minus another, or plus or minus days, weeks, months or years. For arithmetic put"
    " spaces around the signs."
)


class CalculatorArguments(Arguments):
    """The expression to calculate."""

    expression: str = Field(
        min_length=1,
        max_length=MAX_EXPRESSION_CHARS,
        description="Such as (17*23 - 4)^2 / 3, 15% of 80.",
    )


class Calculator:
    """Calculates an expression, or the time between two dates."""

    spec = ToolSpec(
        name="calculate",
        description=(
            "Calculates an expression exactly; use it for every nontrivial calculation: + - * / // ^ ! and the usual"
            " functions, such as sqrt, log(x, base), sin(30°), round, mean. 200 + 15% adds 15% of 200; % before a"
            " number is the remainder. Subtract dates (2026-12-24 - today) for days, months and working days, or add"
            " days to one. No variables, units or commas in numbers."
        ),
        arguments=CalculatorArguments,
        intent=lambda given: Intent("calculate", {"expression": given.expression}),
        label="computed",
    )

    async def run(self, arguments: CalculatorArguments, context: ToolContext) -> Result:
        """Returns the expression and its result as text; with dates also months and working days.

        Raises:
            BadArguments: the expression is unreadable or undefined, or its value too large; the message says which.
        """
        expression = clean_text(arguments.expression)
        between = date_expression(_plain(expression), context.now, context.timezone)
        return Result(data={"expression": expression, **(between or _result(expression))})


def value(expression: str) -> Number:
    """Returns the value of an expression: an exact integer of at most 4,215 digits, or a finite decimal.

    A decimal is exact if it fits in 30 digits (0.1 + 0.2 is 0.3), otherwise rounded to 15 digits; a result without a
    fraction is an integer. Written forms are understood: `^` and superscript digits are powers; ×, ÷, −, π and √,
    full-width characters and digits of other scripts work as expected; an equals sign at the end is ignored. `%` is the
    remainder before a number, a name or a bracket, and a percentage before everything else; a percentage that is added
    to a number or subtracted from it is one of that number. Commas within numbers are refused, as 1,234 means two
    things in two countries.

    Raises:
        BadArguments: the only error, for everything else.
    """
    return _calculate(expression)[0]


def _result(expression: str) -> Mapping[str, str]:
    number, has_share = _calculate(expression)
    return {"result": _spell(number)} | ({"note": _SHARE} if has_share else {})


def _calculate(expression: str) -> tuple[Number, bool]:
    """Returns the value of an expression, and whether it adds or subtracts a percentage of a number."""
    text = _plain(expression)
    if _LOOKS_LIKE_DATE.search(text):
        raise BadArguments(_DATE)
    with bounded_context():
        try:
            reader = _Reader(text)
            return _readable(reader.whole()), reader.has_share
        except ArithmeticError as error:
            is_large = isinstance(error, decimal.Overflow)
            reason = "The result is too large." if is_large else "The result is not defined, or has too many digits."
            raise BadArguments(reason) from error


def _plain(expression: str) -> str:
    """Returns the expression with plain signs and digits, in lower case and on one line."""
    if len(expression) > MAX_EXPRESSION_CHARS:
        raise BadArguments(f"The expression is too long: at most {MAX_EXPRESSION_CHARS} characters.")
    raised = _SUPERSCRIPT.sub(lambda power: f"{{{power[0].translate(_SUPERSCRIPT_DIGITS)}}}", clean_text(expression))
    signs = "".join(map(_digit, raised.translate(_SIGNS)))
    text = " ".join(unicodedata.normalize("NFKC", signs).lower().translate(_SIGNS).split())
    text = _DEGREES.sub("°", _TIMES.sub("*", text)).strip("= ")
    if not text:
        raise BadArguments("The expression is empty.")
    return text


def _digit(character: str) -> str:
    """Returns a decimal digit of any script as 0 to 9, and every other character unchanged.

    Raises:
        BadArguments: a number such as ½ or ①, which normalization would turn into something else.
    """
    category = unicodedata.category(character)
    if category == "Nd":
        return str(unicodedata.decimal(character))
    if category == "No":
        raise BadArguments(f"{character} cannot be read: write it in plain digits, such as 1/2.")
    return character


@dataclass(frozen=True, slots=True)
class _Term:
    """A value while it is read."""

    number: Number
    is_percent: bool = False
    """Whether it is written as a percentage, such as 15% or -(5% + 5%)."""


class _Reader:
    """Computes an expression while reading it from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._pieces: list[tuple[str, str]] = []
        """Each by its kind, the name of a group of `_TOKEN`, and its text."""
        self._at = 0
        self._depth = 0
        self._angles = 0
        """In how many functions of angles the reading is."""
        self.has_share = False
        """Whether a percentage was added to a number or subtracted from it, as one of that number."""
        end = 0
        while end < len(text):
            found = _TOKEN.match(text, end)
            if found is None:
                raise self._unreadable()
            self._pieces.append((str(found.lastgroup), found[str(found.lastgroup)]))
            end = found.end()
        if len(self._pieces) > _MAX_TOKENS:
            raise BadArguments(_TOO_LONG)

    def whole(self) -> Number:
        """Returns the value of all of the text."""
        term = self._sum()
        if self._at == len(self._pieces):
            return term.number
        if self._sign(","):
            raise BadArguments(_COMMA)
        raise self._unreadable() if self._sign(")", "]") else self._juxtaposed()

    def _sign(self, *signs: str) -> str:
        """Returns the next piece if it is one of these signs, and goes on behind it; empty if not."""
        if self._at < len(self._pieces) and self._pieces[self._at][1] in signs:
            self._at += 1
            return self._pieces[self._at - 1][1]
        return ""

    def _begins_value(self) -> bool:
        kind, piece = self._pieces[self._at] if self._at < len(self._pieces) else ("", "")
        return (
            kind in {"integer", "number"}
            or piece in {"(", "[", *_ROOTS}
            or (kind == "name" and piece not in {"of", "mod"})
        )

    def _sum(self) -> _Term:
        left = self._product()
        while sign := self._sign("+", "-"):
            right = self._product()
            share = right.number
            if right.is_percent and not left.is_percent:
                share = OPERATORS["*"](left.number, share)
                self.has_share = True
            left = _Term(OPERATORS[sign](left.number, share), left.is_percent and right.is_percent)
        return left

    def _product(self) -> _Term:
        left = self._signed()
        while sign := self._sign("*", "/", "//", "%", "mod", "of"):
            if sign == "of" and not left.is_percent:
                raise self._unreadable()
            right = self._signed()
            left = _Term(OPERATORS["*" if sign == "of" else sign](left.number, right.number))
        return left

    def _signed(self) -> _Term:
        """Reads what may begin with a sign. Everything nested passes here, so it bounds the depth."""
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise BadArguments(_TOO_LONG)
        if sign := self._sign("+", "-"):
            term = self._signed()
            term = replace(term, number=OPERATORS[sign](0, term.number)) if sign == "-" else term
        else:
            term = self._value()
            if self._sign("**", "^"):
                term = _Term(OPERATORS["**"](term.number, self._signed().number))
        self._depth -= 1
        return term

    def _value(self) -> _Term:
        """Reads a value and the signs behind it."""
        term = self._bare_value()
        while self._at < len(self._pieces):
            kind, piece = self._pieces[self._at]
            self._at += 1
            if kind == "raised":
                term = _Term(OPERATORS["**"](term.number, int(piece)))
            elif piece == "!":
                if self._sign("!"):
                    raise self._unreadable()
                term = _Term(apply_function("factorial", (term.number,)))
            elif piece == "°":
                if not self._angles:
                    raise BadArguments("Degrees stand within sin, cos or tan, such as sin(30°); add them without °.")
                term = _Term(OPERATORS["/"](OPERATORS["*"](term.number, PI), 180))
            elif piece == "%" and not self._begins_value():
                if term.is_percent:
                    raise self._unreadable()
                term = _Term(OPERATORS["/"](term.number, 100), is_percent=True)
            else:
                self._at -= 1
                break
        return term

    def _bare_value(self) -> _Term:
        kind, piece = self._pieces[self._at] if self._at < len(self._pieces) else ("", "")
        self._at += 1
        if kind in {"integer", "number"}:
            return _Term(self._number(kind, piece))
        if kind == "name":
            return _Term(self._named(piece))
        if piece in _ROOTS:
            self._depth += 1
            if self._depth > _MAX_DEPTH:
                raise BadArguments(_TOO_LONG)
            root = _Term(apply_function(_ROOTS[piece], (self._value().number,)))
            self._depth -= 1
            return root
        if piece != "(":
            raise self._unreadable()
        term = self._sum()
        if self._sign(","):
            raise BadArguments(_COMMA)
        if not self._sign(")"):
            raise self._unreadable() if self._at >= len(self._pieces) else self._juxtaposed()
        return term

    def _number(self, kind: str, piece: str) -> Number:
        if piece.endswith("_") or "__" in piece:
            raise self._unreadable()
        if kind == "integer" or piece.replace("_", "").isdigit():
            return int(piece.replace("_", ""), 0 if kind == "integer" else 10)
        return +Decimal(piece)

    def _named(self, name: str) -> Number:
        if name in CONSTANTS and not self._sign("("):
            return CONSTANTS[name]
        if not self._sign("("):
            if name in FUNCTIONS:
                raise BadArguments(f"{name} is a function, not a number: write {name}(2).")
            raise self._unknown("constant", name, CONSTANTS)
        if name not in FUNCTIONS:
            raise self._unknown("function", name, FUNCTIONS)
        self._angles += name in ANGLES
        arguments = self._arguments(")")
        self._angles -= name in ANGLES
        return apply_function(name, arguments)

    def _arguments(self, end: str) -> tuple[Number, ...]:
        """Returns the values up to the bracket that ends them; a single list stands for its items."""
        if self._sign(end):
            return ()
        if end == ")" and self._sign("["):
            items = self._arguments("]")
            if not self._sign(")"):
                raise BadArguments("A list stands alone in its function, such as sum([1, 2, 3]).")
            return items
        values = [self._sum().number]
        while self._sign(","):
            values.append(self._sum().number)
        if not self._sign(end):
            raise self._unreadable() if self._at >= len(self._pieces) else self._juxtaposed()
        return tuple(values)

    def _juxtaposed(self) -> BadArguments:
        """Returns the error for two values side by side."""
        kind, piece = self._pieces[self._at]
        if piece in {"(", *_ROOTS} or (kind == "name" and piece in {*FUNCTIONS, *CONSTANTS}):
            return BadArguments(_TIMES_SIGN)
        return self._unreadable()

    def _unreadable(self) -> BadArguments:
        return BadArguments(_UNITS if _UNIT.search(self._text) else _COMMA if "," in self._text else _UNREADABLE)

    def _unknown(self, what: str, name: str, known: Collection[str]) -> BadArguments:
        if _UNIT.search(self._text):
            return BadArguments(_UNITS)
        near = difflib.get_close_matches(name, {*known, *FUNCTIONS}, n=2)
        meant = f"Did you mean {' or '.join(near)}?" if near else f"Available: {', '.join(known)}."
        return BadArguments(f"There is no {what} named {name[:_MAX_NAME_CHARS]}. {meant}")


def _readable(number: Number) -> Number:
    """Returns the number as people want it: rounded to 15 digits unless exact, whole numbers as integers."""
    if isinstance(number, int):
        return number
    settled = +number
    is_inexact = decimal.getcontext().flags[decimal.Inexact]
    if is_inexact:
        settled = _READABLE.plus(settled)
    is_whole = settled == settled.to_integral_value()
    if is_whole and settled.adjusted() < (_READABLE_DIGITS if is_inexact else EXACT_DIGITS):
        return int(settled)
    return settled.normalize()


def _spell(number: Number) -> str:
    """Returns the digits of a readable number, with an exponent if it is very large or very small."""
    if isinstance(number, int):
        return str(number)
    exponent = number.as_tuple().exponent
    is_plain = number.adjusted() >= -_READABLE_ZEROS and isinstance(exponent, int) and exponent <= 0
    return format(number, "f" if is_plain else "e")
