"""The tool `calculate`: the value of an expression, exact where possible, and the time between two dates.

`calculate` is pure. It rewrites what people and models write in Python's arithmetic, and lets simpleeval evaluate that
with the operators and functions below. A sign behind a number becomes an attribute, which binds as tightly (`10!` is
`10 .factorial`); a root is a power whose base is the root (`R2 ** 16`).

All numbers are decimals of at most 1,000 digits with exponents up to 9,999 (`_CONTEXT`), so that 0.1 + 0.2 is 0.3 and
nothing grows. The worst expression found takes a tenth of a second: it can run on the event loop. With simpleeval 1.0.8
alone, a few characters can run for minutes or take gigabytes (measured 2026-11-21).
"""

import ast
import decimal
import math
import re
import statistics
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

import simpleeval  # pyright: ignore[reportMissingTypeStubs] - it has no types at all, see _SimpleEval
from dateutil.relativedelta import relativedelta
from pydantic import Field

from tools.base import Arguments, Intent, Result, ToolContext, ToolSpec
from tools.errors import BadArguments
from tools.text import clean_text

MAX_EXPRESSION_CHARS = 500
_MAX_DIGITS = 1_000
_MAX_INTEGER = 10_000
_MAX_EXACT_EXPONENT = 100_000
_MAX_PLACES = 30
_READABLE_DIGITS = 15
_SHORT_DIGITS = 12
_MAX_FRACTION_DIGITS = 30  # of a number that is not whole; with more, 15 are easier to read
_READABLE_ZEROS = 7  # after the point; with more, an exponent is easier to read
_MAX_ENDING_ZEROS = 250
_NOTHING = 1e-15  # floating-point results below this are meant to be zero, like the sine of pi

_SIGNS = str.maketrans(
    dict.fromkeys("×⋅·∙∗", "*")
    | dict.fromkeys("÷∕⁄", "/")
    | dict.fromkeys("−–—‒‐", "-")
    | {"^": "**", "º": "°", "˚": "°", "٪": "%", "π": "pi", "τ": "tau", "φ": "phi", "ϕ": "phi"}
)
_SUPERSCRIPT = re.compile("[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_SUPERSCRIPT_DIGITS = str.maketrans("⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "+-0123456789")
_WORDS = [
    (re.compile(r"(?<=[0-9)]) +x +(?=[0-9(])"), "*"),
    (re.compile(r"(?<=[0-9)]) *deg(?:rees?)?\b(?! *\()"), "°"),
    (re.compile(r"(% ?\)*) ?of\b"), r"\1*"),
    (re.compile(r"(?<=[0-9a-z)!%°}]) ?\bmod\b"), "<%>"),
    (re.compile(r"([a-z0-9] ?\() ?\[([^\[\]]*)\](?= ?\))"), r"\1\2"),  # a list that a function takes for its numbers
]
_PIECE = re.compile(
    r"(?P<number>0x[0-9a-f_]+|0b[01_]+|0o[0-7_]+|(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:e[+-]?[0-9]+)?)"
    r"|\{(?P<power>[+-]?[0-9]+)\}|(?P<share>%(?! ?[0-9a-z_.(√∛%]))"
    r"|[a-z_][a-z_0-9]*|!(?! ?!)|<%>|\*\*|//|[-+*/%°√∛(),]"
)
_SPELLED = {"!": ".factorial", "°": ".radians", "√": "R2 **", "∛": "R3 **", "<%>": "%"}
_ANGLE = re.compile(r"\b(?:sin|cos|tan)\b")
_LOOKS_LIKE_DATE = re.compile(
    r"(?<![\d.])(?:\d{1,2}([/.-])\d{1,2}\1(?:19|20)\d\d|(?:19|20)\d\d([/-])\d{1,2}\2\d{1,2})(?![\d.])"
)
_UNREADABLE = (
    "The expression cannot be read. Write it like 2*(3+4)^2 or sqrt(2)/3, with the multiplication sign, and numbers"
    " like 1234.5, without commas; units and currencies are converted by the tool `convert`. Available: {names}."
)
_TOO_LONG = "The expression is too long or too deep: calculate it in steps."
_DEGREES_ALONE = "Degrees stand within sin, cos or tan, such as sin(30°); add them without °."
_UNDEFINED = "The result is not a real number, or too large."
_SHARE = "A percentage behind + or - is one of the number before it."
_DATE = (
    "Write dates as 2026-12-24: one minus another, or plus or minus days. For arithmetic put spaces around the signs."
)

_CONTEXT = decimal.Context(prec=_MAX_DIGITS, Emin=-9_999, Emax=9_999)
_SimpleEval: Any = simpleeval.SimpleEval
_NODES = (ast.BinOp, ast.UnaryOp, ast.Call, ast.Name)

_DAY = r"(today|\d{4}-\d{1,2}-\d{1,2})"
_BETWEEN = re.compile(rf"{_DAY} ?- ?{_DAY}")
_LATER = re.compile(rf"{_DAY} ?([+-]) ?(\d{{1,5}}) ?(day|week|month|year|working day)?s?")
_WEEK_DAYS, _WORKING_DAYS = 7, 5
_WORKING_NOTE = (
    "Working days are Mondays to Fridays without holidays; the earlier day is not counted, the later one is."
)


class CalculatorArguments(Arguments):
    """The expression to calculate."""

    expression: str = Field(min_length=1, max_length=MAX_EXPRESSION_CHARS, description="Such as (17*23 - 4)^2 / 3.")


class Calculator:
    """Calculates an expression, or the time between two dates."""

    spec = ToolSpec(
        name="calculate",
        description=(
            "Calculates exactly, also between dates; use it for every nontrivial calculation: + - * / // ^ ! and the"
            " usual functions, such as sqrt, log(x, base), sin(30°), round, mean. 200 + 15% adds 15% of 200; % before a"
            " number is the remainder. Subtract dates (2026-12-24 - today) for days, months and working days, or add"
            " days to one. No variables, units or commas in numbers."
        ),
        arguments=CalculatorArguments,
        intent=lambda given: Intent("calculate", {"expression": given.expression}),
        label="computed",
    )

    async def run(self, arguments: CalculatorArguments, context: ToolContext) -> Result:
        """Returns the expression and its result as text; with dates also months and working days."""
        text = _plain(arguments.expression)
        found = _of_dates(text, context.now.astimezone(ZoneInfo(context.timezone)).date()) or {"result": _value(text)}
        note = {"note": _SHARE} if re.search(r"[+-].*%", text) else {}
        return Result(data={"expression": clean_text(arguments.expression), **note, **found})


def calculate(expression: str) -> str:
    """Returns the digits: exact up to 1,000, or 30 if not whole, else rounded to 15; raises only `BadArguments`."""
    return _value(_plain(expression))


def _value(text: str) -> str:
    if _LOOKS_LIKE_DATE.search(text):
        raise BadArguments(_DATE)
    if "°" in text and not _ANGLE.search(text):
        raise BadArguments(_DEGREES_ALONE)
    pieces = list(_PIECE.finditer(text))
    if "".join(piece[0] for piece in pieces).replace(" ", "") != text.replace(" ", ""):
        raise _unreadable()
    with decimal.localcontext(_CONTEXT) as context:
        try:
            number = _evaluate(" ".join(map(_spelled, pieces)))
        except (RecursionError, MemoryError) as error:
            raise BadArguments(_TOO_LONG) from error
        except (SyntaxError, TypeError, simpleeval.InvalidExpression) as error:
            raise _unreadable() from error
        except ZeroDivisionError as error:
            raise BadArguments("Division by zero.") from error
        except (ArithmeticError, ValueError) as error:
            raise BadArguments(_UNDEFINED) from error
        return _spell(number, is_exact=not context.flags[decimal.Inexact])


def _plain(expression: str) -> str:
    """Returns the expression with plain signs and digits, in lower case and on one line."""
    raised = _SUPERSCRIPT.sub(lambda power: f"{{{power[0].translate(_SUPERSCRIPT_DIGITS)}}}", clean_text(expression))
    if odd := next((sign for sign in raised if unicodedata.category(sign) == "No"), ""):
        raise BadArguments(f"{odd} cannot be read: write it in plain digits, such as 1/2.")
    signs = re.sub(r"\d", lambda digit: str(unicodedata.decimal(digit[0])), raised.translate(_SIGNS))
    text = " ".join(unicodedata.normalize("NFKC", signs).lower().translate(_SIGNS).split()).strip("= ")
    for pattern, plain in _WORDS:
        while pattern.search(text):
            text = pattern.sub(plain, text)
    if not text:
        raise BadArguments("The expression is empty.")
    return text


def _spelled(piece: re.Match[str]) -> str:
    """Returns a piece as Python reads it; what stands behind a number becomes an attribute, see `_Behind`."""
    if piece["power"]:
        return f".power_{piece['power'].replace('-', 'minus').removeprefix('+')}"
    if piece["share"]:
        return ".percentage"
    return str(int(piece[0])) if piece[0].isdigit() else _SPELLED.get(piece[0], piece[0])


class _Behind(ast.NodeTransformer):
    """Turns the attributes for signs behind a number into calls."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        name, _, power = node.attr.partition("_")
        number: ast.expr = self.visit(node.value)
        if not power:
            return ast.Call(ast.Name(name), [number], [])
        return ast.Call(ast.Name("pow"), [number, ast.Constant(int(power.replace("minus", "-")))], [])


def _evaluate(text: str) -> Decimal:
    """Evaluates Python's arithmetic by simpleeval, reduced to numbers, signs, constants and functions."""
    tree = _Behind().visit(ast.parse(text, mode="eval").body)
    if any(isinstance(node, ast.Name) and node.id in CONSTANTS for node in ast.walk(tree)):
        decimal.getcontext().flags[decimal.Inexact] = True

    def literal(node: ast.Constant) -> Decimal:
        # A float has lost the digits after the seventeenth.
        return Decimal(node.value if isinstance(node.value, int) else text[node.col_offset : node.end_col_offset])

    names = {**CONSTANTS, "R2": FUNCTIONS["sqrt"], "R3": FUNCTIONS["cbrt"]}
    evaluator = _SimpleEval(operators={**_UNARY, **_BINARY}, functions=FUNCTIONS, names=names)
    evaluator.nodes = {kind: evaluator.nodes[kind] for kind in _NODES} | {ast.Constant: literal}
    return +evaluator.eval(text, previously_parsed=tree)


def _unreadable() -> BadArguments:
    return BadArguments(_UNREADABLE.format(names=", ".join([*CONSTANTS, *FUNCTIONS])))


def _spell(number: Decimal, *, is_exact: bool) -> str:
    """Returns the digits as people want them, with an exponent if the number is very large or very small."""
    is_short = number == number.to_integral_value() or len(number.as_tuple().digits) <= _MAX_FRACTION_DIGITS
    digits = _MAX_DIGITS if is_exact and is_short else _READABLE_DIGITS
    number = decimal.Context(prec=digits).plus(number).normalize()
    ending_zeros = number.adjusted() - len(number.as_tuple().digits)
    is_plain = -_READABLE_ZEROS <= number.adjusted() < digits and ending_zeros < _MAX_ENDING_ZEROS
    return format(number, "f" if is_plain else "e")


@dataclass(frozen=True, slots=True)
class Percentage:
    """A number written as a percentage, such as 15% or -(5% + 5%); `+` makes it a plain number."""

    share: Decimal

    def __pos__(self) -> Decimal:
        return +self.share

    def __neg__(self) -> "Percentage":
        return Percentage(-self.share)


Value = Decimal | Percentage


def _add(left: Value, right: Value) -> Value:
    """Adds; a percentage is one of the number before it, unless that is a percentage as well."""
    if not isinstance(right, Percentage):
        return +left + right
    return Percentage(+left + right.share) if isinstance(left, Percentage) else left + left * right.share


def _divide(left: Decimal, right: Decimal) -> Decimal:
    if not right:  # decimals call 0/0 and 7 mod 0 something else
        raise ZeroDivisionError
    return left / right


def _modulo(left: Decimal, right: Decimal) -> Decimal:
    """Returns the remainder, with the sign of the divisor."""
    remainder = left % right if right else _divide(left, right)
    return remainder + right if remainder and (remainder < 0) != (right < 0) else remainder


def _power(base: Decimal, exponent: Decimal) -> Decimal:
    is_whole = exponent == exponent.to_integral_value()
    if exponent == 0:
        return Decimal(1)
    if base == 0 and exponent < 0:
        raise ZeroDivisionError
    if base < 0 and not is_whole:
        raise ValueError
    is_exact = is_whole and abs(exponent) <= _MAX_EXACT_EXPONENT
    return base**exponent if is_exact else _floating(math.pow, base, exponent)


def _round(number: Decimal, places: Decimal = Decimal(0)) -> Decimal:
    """Rounds halves away from zero, as taught in school; negative places round to tens, hundreds, ..."""
    if places != int(places) or abs(places) > _MAX_PLACES:
        raise BadArguments(f"round takes whole numbers of places, at most {_MAX_PLACES} places.")
    with decimal.localcontext():  # a number rounded on purpose is not inexact
        return number.quantize(Decimal(1).scaleb(-int(places)), decimal.ROUND_HALF_UP)


def _percentage(number: Decimal) -> Value:
    return Percentage(number / 100)


def _of_integers(function: Callable[..., int], *numbers: Decimal) -> Decimal:
    if any(number != number.to_integral_value() or abs(number) > _MAX_INTEGER for number in numbers):
        raise BadArguments(f"{function.__name__} takes whole numbers only, up to {_MAX_INTEGER:,}.")
    return Decimal(function(*map(int, numbers)))


def _floating(function: Callable[..., float], *numbers: Decimal) -> Decimal:
    """Computes in floating point, whose last one or two digits are noise, which is cut later."""
    result = function(*map(float, numbers))
    # The tangent of a right angle is no large number.
    if not math.isfinite(result) or (function is math.tan and abs(result) > 1 / _NOTHING):
        raise ValueError
    decimal.getcontext().flags[decimal.Inexact] = True
    is_noise = abs(result) < _NOTHING <= max(abs(float(number)) for number in numbers)
    # What is 0.5 or 3 but for the noise is meant to be that.
    near = Decimal(0 if is_noise else f"{result:.{_READABLE_DIGITS}g}").normalize()
    return near if len(near.as_tuple().digits) <= _SHORT_DIGITS else Decimal(repr(result))


CONSTANTS: Mapping[str, Decimal] = {
    "pi": Decimal("3.1415926535897932384626433832795028842"),
    "e": Decimal("2.7182818284590452353602874713526624978"),
    "tau": Decimal("6.2831853071795864769252867665590057684"),
    "phi": Decimal("1.6180339887498948482045868343656381177"),
}

_FLOATING = (
    *("cbrt", "exp", "log", "log2", "log10", "degrees", "radians", "sin", "cos", "tan", "asin", "acos", "atan"),
    *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "atan2", "hypot"),
)
_FUNCTIONS: Mapping[str, Callable[..., Value]] = {
    "sqrt": Decimal.sqrt,
    "ln": partial(_floating, math.log),
    "round": _round,
    "mod": _modulo,
    "pow": _power,
    "min": lambda *numbers: min(numbers),
    "max": lambda *numbers: max(numbers),
    "sum": lambda *numbers: sum(numbers, Decimal(0)),
    "mean": lambda *numbers: sum(numbers, Decimal(0)) / len(numbers),
    "median": lambda *numbers: statistics.median(numbers),
    **{name: partial(_floating, getattr(math, name)) for name in _FLOATING},
    **{name: partial(_of_integers, getattr(math, name)) for name in ("factorial", "comb", "perm", "gcd", "lcm")},
    "floor": partial(Decimal.to_integral_value, rounding=decimal.ROUND_FLOOR),
    "ceil": partial(Decimal.to_integral_value, rounding=decimal.ROUND_CEILING),
    "trunc": partial(Decimal.to_integral_value, rounding=decimal.ROUND_DOWN),
    "abs": Decimal.copy_abs,
    "percentage": _percentage,
}


def _of_plain_numbers(function: Callable[..., Value]) -> Callable[..., Value]:
    return lambda *values: function(*(+value for value in values))


FUNCTIONS: Mapping[str, Callable[..., Value]] = {name: _of_plain_numbers(each) for name, each in _FUNCTIONS.items()}
"""The functions by name. Angles are in radians; `log` is the natural logarithm unless given a base."""

_UNARY: Mapping[type[ast.AST], Callable[[Value], Value]] = {
    ast.UAdd: lambda value: value,
    ast.USub: lambda value: -value,
}
_BINARY: Mapping[type[ast.AST], Callable[[Any, Value], Value]] = {
    ast.Add: _add,
    ast.Sub: lambda left, right: _add(left, -right),
    ast.Mult: lambda left, right: +left * +right,
    ast.Div: lambda left, right: _divide(+left, +right),
    # Rounded towards minus infinity, as in mathematics; decimals would round towards zero.
    ast.FloorDiv: lambda left, right: (+left - _modulo(+left, +right)) // +right,
    ast.Mod: lambda left, right: _modulo(+left, +right),
    ast.Pow: lambda base, exponent: _power(+base, +exponent) if isinstance(base, Value) else base(+exponent),
}


def _of_dates(text: str, today: date) -> Mapping[str, str | int] | None:
    """Returns the time between two dates, or the date so many units later; None if the text has no such form."""
    if found := _BETWEEN.fullmatch(text):
        return _between(_date(found[2], today), _date(found[1], today))
    if not (found := _LATER.fullmatch(text)):
        return None
    day, sign, left, unit = _date(found[1], today), -1 if found[2] == "-" else 1, int(found[3]), found[4] or "day"
    try:
        if unit != "working day":
            step: Any = {f"{unit}s": sign * left}
            return {"result": _spell_day(day + relativedelta(**step))}
        while left:
            day += timedelta(sign)
            left -= day.weekday() < _WORKING_DAYS
    except (ValueError, OverflowError) as error:
        raise BadArguments("That date is too far away.") from error
    return {"result": _spell_day(day)}


def _date(text: str, today: date) -> date:
    try:
        return today if text == "today" else date(*map(int, text.split("-")))
    except ValueError as error:
        raise BadArguments(f"There is no date {text}: write year, month and day, such as 2026-12-24.") from error


def _between(start: date, end: date) -> Mapping[str, str | int]:
    first, last = sorted((start, end))
    days = (last - first).days
    apart = relativedelta(last, first)
    weeks, weekdays = divmod(days, _WEEK_DAYS)
    working = weeks * _WORKING_DAYS
    working += sum((last - timedelta(number)).weekday() < _WORKING_DAYS for number in range(weekdays))
    return {
        "result": _count((end - start).days, "day"),
        "from": _spell_day(start),
        "to": _spell_day(end),
        "in_weeks": f"{_count(weeks, 'week')} and {_count(weekdays, 'day')}",
        "in_months": f"{_count(apart.years * 12 + apart.months, 'month')} and {_count(apart.days, 'day')}",
        "working_days": working,
        "note": _WORKING_NOTE,
    }


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if abs(number) == 1 else 's'}"


def _spell_day(day: date) -> str:
    return f"{day:%A} {day.isoformat()}"
