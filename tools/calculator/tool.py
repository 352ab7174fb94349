"""The tool `calculate`: the value of an expression, exact where possible, and the time between two dates.

`value` does all of the work and is pure. It rewrites what people and models write in Python's arithmetic, refuses what
is too long or too deep, and lets simpleeval evaluate the rest with the operators and functions of
`tools.calculator.arithmetic`, which bound every step. It can therefore run on the event loop: the worst expression
found takes a few milliseconds. With simpleeval 1.0.8 alone, a few characters can run for minutes or take gigabytes.
"""

import ast
import decimal
import difflib
import re
import unicodedata
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any, Final
from zoneinfo import ZoneInfo

import simpleeval  # pyright: ignore[reportMissingTypeStubs] - it has no types at all, see _SimpleEval
from dateutil.relativedelta import relativedelta
from pydantic import Field

from tools.base import Arguments, Intent, Result, ToolContext, ToolSpec
from tools.calculator.arithmetic import ANGLES, CONSTANTS, CONTEXT, FUNCTIONS, Number, operators
from tools.errors import BadArguments
from tools.text import clean_text

MAX_EXPRESSION_CHARS: Final = 500
_MAX_PIECES = 300
_MAX_DEPTH = 120  # reached by a sum of as many amounts

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
    r"0x[0-9a-f_]+|0b[01_]+|0o[0-7_]+|(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:e[+-]?[0-9]+)?"
    r"|[a-z_][a-z_0-9]*(?: ?\()?|\{[+-]?[0-9]+\}|!(?! ?!)|\*\*|//|<%>|[-+*/%°√∛(),]"
)
_BEGINS_VALUE = re.compile(r"[0-9a-z_.(√∛]")
_ROOTS = {"√": "sqrt(", "∛": "cbrt("}
_BEHIND = {"!": "factorial", "°": "radians", "%": "percentage"}
_LOOKS_LIKE_DATE = re.compile(
    r"(?<![\d.])(?:\d{1,2}([/.-])\d{1,2}\1(?:19|20)\d\d|(?:19|20)\d\d([/-])\d{1,2}\2\d{1,2})(?![\d.])"
)
_UNIT = re.compile(r"[$€£¥₹]|[0-9] *[a-z]+.*\b(?:in|to|into|as)\b|[0-9] *(?:[a-z]{1,3}|[a-z]+s)\b")
_NAME = re.compile(r"(?<![0-9a-z_.])([a-z_][a-z_0-9]*)( ?\()?")
_SIDE_BY_SIDE = re.compile(rf"[0-9)] ?(?:[a-z]* ?\(|[√∛]|(?:{'|'.join(CONSTANTS)})\b)")

_READABLE_DIGITS = 15
_READABLE_ZEROS = 7  # after the point; with more, an exponent is easier to read
_SimpleEval: Any = simpleeval.SimpleEval
_NODES = (ast.BinOp, ast.UnaryOp, ast.Call, ast.Name)

_COMMA = "Commas only separate the arguments of functions: write 1234.5, not 1,234.5 or 1234,5."
_UNREADABLE = "The expression cannot be read. Write it like 2*(3+4)^2 or sqrt(2)/3."
_TIMES_SIGN = "Write the multiplication sign: 2*(3+4), not 2(3+4)."
_TOO_LONG = "The expression is too long or too deep: calculate it in steps."
_DEGREES_ALONE = "Degrees stand within sin, cos or tan, such as sin(30°); add them without °."
_SHARE = "A percentage behind + or - is one of the number before it."
_UNITS = "Calculate with numbers alone; units and currencies are converted by the tool `convert`."
_DATE = (
    "Write dates as 2026-12-24: one minus another, or plus or minus days. For arithmetic put spaces around the signs."
)


_DAY = r"(today|\d{4}-\d{1,2}-\d{1,2})"
_BETWEEN = re.compile(rf"{_DAY} ?- ?{_DAY}")
_LATER = re.compile(rf"{_DAY} ?([+-]) ?(\d{{1,5}}) ?(day|week|month|year|working day)?s?")
_STEPS = {
    "day": relativedelta(days=1),
    "week": relativedelta(weeks=1),
    "month": relativedelta(months=1),
    "year": relativedelta(years=1),
}
_WEEK_DAYS, _WORKING_DAYS = 7, 5
_WORKING_NOTE = (
    "Working days are Mondays to Fridays without holidays; the earlier day is not counted, the later one is."
)


class CalculatorArguments(Arguments):
    """The expression to calculate."""

    expression: str = Field(
        min_length=1, max_length=MAX_EXPRESSION_CHARS, description="Such as (17*23 - 4)^2 / 3, 15% of 80."
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
        """Returns the expression and its result as text; with dates also months and working days."""
        expression = clean_text(arguments.expression)
        between = date_expression(_plain(expression), context.now, context.timezone)
        if between:
            return Result(data={"expression": expression, **between})
        number, has_share = value(expression)
        note = {"note": _SHARE} if has_share else {}
        return Result(data={"expression": expression, "result": _spell(number), **note})


def value(expression: str) -> tuple[Number, bool]:
    """Returns the value of an expression, and whether it adds or subtracts a percentage of a number.

    The value is an exact integer of at most 4,215 digits, or a finite decimal: exact if it fits in 30 digits (0.1 + 0.2
    is 0.3), otherwise rounded to 15. `%` is the remainder before a number, a name or a bracket, and a percentage before
    everything else. Commas within numbers are refused, as 1,234 means two things in two countries.

    Raises:
        BadArguments: the only error, for everything else.
    """
    text = _plain(expression)
    if _LOOKS_LIKE_DATE.search(text):
        raise BadArguments(_DATE)
    with decimal.localcontext(CONTEXT):
        try:
            number, has_share = _evaluate(_in_python(text))
            return _readable(number), has_share
        except (SyntaxError, MemoryError, RecursionError, simpleeval.InvalidExpression) as error:
            raise BadArguments(_hint(text)) from error
        except ArithmeticError as error:
            is_large = isinstance(error, decimal.Overflow)
            reason = "The result is too large." if is_large else "The result is not defined, or has too many digits."
            raise BadArguments(reason) from error


def _evaluate(text: str) -> tuple[Number, bool]:
    """Evaluates Python's arithmetic by simpleeval, reduced to numbers, signs, constants and functions."""
    tree = ast.parse(text, mode="eval").body
    level, depth = [tree], 0
    while level := [child for node in level for child in ast.iter_child_nodes(node)]:
        depth += 1
        if depth == _MAX_DEPTH:
            raise BadArguments(_TOO_LONG)
    shares: list[Number] = []
    evaluator = _SimpleEval(operators=operators(shares), functions=FUNCTIONS, names=CONSTANTS)

    def literal(node: ast.Constant) -> Number:
        # The digits as written: a float has lost those after the seventeenth.
        return node.value if isinstance(node.value, int) else +Decimal(text[node.col_offset : node.end_col_offset])

    evaluator.nodes = {kind: evaluator.nodes[kind] for kind in _NODES} | {ast.Constant: literal}
    return +evaluator.eval(text, previously_parsed=tree), bool(shares)


def _plain(expression: str) -> str:
    """Returns the expression with plain signs and digits, in lower case and on one line."""
    if len(expression) > MAX_EXPRESSION_CHARS:
        raise BadArguments(f"The expression is too long: at most {MAX_EXPRESSION_CHARS} characters.")
    raised = _SUPERSCRIPT.sub(lambda power: f"{{{power[0].translate(_SUPERSCRIPT_DIGITS)}}}", clean_text(expression))
    signs = "".join(map(_digit, raised.translate(_SIGNS)))
    text = " ".join(unicodedata.normalize("NFKC", signs).lower().translate(_SIGNS).split()).strip("= ")
    for pattern, plain in _WORDS:
        while pattern.search(text):
            text = pattern.sub(plain, text)
    if not text:
        raise BadArguments("The expression is empty.")
    return text


def _digit(character: str) -> str:
    """Returns a decimal digit of any script as 0 to 9, and every other character unchanged, but refuses ½ and ①."""
    category = unicodedata.category(character)
    if category == "Nd":
        return str(unicodedata.decimal(character))
    if category == "No":
        raise BadArguments(f"{character} cannot be read: write it in plain digits, such as 1/2.")
    return character


def _pieces(text: str) -> list[str]:
    pieces = _PIECE.findall(text)
    if "".join(pieces).replace(" ", "") != text.replace(" ", ""):
        raise SyntaxError
    if len(pieces) > _MAX_PIECES:
        raise BadArguments(_TOO_LONG)
    return pieces


def _in_python(text: str) -> str:
    """Rewrites an expression in Python's arithmetic; much that makes no sense is left to Python and simpleeval."""
    levels: list[tuple[str, list[str]]] = [("", [])]  # the open brackets and roots, and what is written in each
    has_value = False
    for piece, following in pairwise([*_pieces(text), ""]):
        if piece[0] in "!°{" or (piece == "%" and not _BEGINS_VALUE.match(following)):
            if not has_value:
                raise SyntaxError
            levels[-1][1].append(_behind(levels, piece))
            continue
        while has_value and levels[-1][0] in _ROOTS:
            _close(levels)
        begins_value = bool(_BEGINS_VALUE.match(piece))
        if begins_value and (has_value or piece in FUNCTIONS):
            raise SyntaxError
        has_value = piece == ")" or (begins_value and piece[-1] not in "(√∛")
        if piece == ")":
            _close(levels)
        elif begins_value and not has_value:
            levels.append((piece, []))
        else:
            levels[-1][1].append(str(int(piece)) if piece.isdigit() else piece.strip("<>"))
    while levels[-1][0] in _ROOTS:
        _close(levels)
    return " ".join(levels.pop()[1]) if len(levels) == 1 else "("


def _behind(levels: list[tuple[str, list[str]]], piece: str) -> str:
    """Returns the last value with the sign behind it: a factorial, a percentage, degrees or a power."""
    value = levels[-1][1].pop()
    if piece == "%" and value.startswith("percentage("):
        raise SyntaxError
    if piece == "°" and not any(opened.rstrip(" (") in ANGLES for opened, _ in levels):
        raise BadArguments(_DEGREES_ALONE)
    return f"({value} ** {piece[1:-1]})" if piece[0] == "{" else f"{_BEHIND[piece]}({value})"


def _close(levels: list[tuple[str, list[str]]]) -> None:
    opened, inner = levels.pop()
    if not levels:
        raise SyntaxError
    levels[-1][1].append(f"{_ROOTS.get(opened, opened)}{' '.join(inner)})")


def _hint(text: str) -> str:
    """Says what to write instead of an expression that cannot be read."""
    if _SIDE_BY_SIDE.search(text):
        return _TIMES_SIGN
    if _UNIT.search(text):
        return _UNITS
    for name, bracket in _NAME.findall(text):
        what, known = ("function", FUNCTIONS) if bracket else ("constant", CONSTANTS)
        if not bracket and name in FUNCTIONS:
            return f"{name} is a function, not a number: write {name}(2)."
        if name not in known:
            near = difflib.get_close_matches(name, {*known, *FUNCTIONS}, n=2)
            meant = f"Did you mean {' or '.join(near)}?" if near else f"Available: {', '.join(known)}."
            return f"There is no {what} named {name[:40]}. {meant}"
    return _COMMA if "," in text else _UNREADABLE


def _readable(number: Number) -> Number:
    """Returns the number as people want it: rounded to 15 digits unless exact, whole numbers as integers."""
    if isinstance(number, int):
        return number
    digits = _READABLE_DIGITS if decimal.getcontext().flags[decimal.Inexact] else CONTEXT.prec
    number = decimal.Context(prec=digits).plus(number)
    is_whole = number == number.to_integral_value() and number.adjusted() < digits
    return int(number) if is_whole else number.normalize()


def _spell(number: Number) -> str:
    """Returns the digits of a readable number, with an exponent if it is very large or very small."""
    if isinstance(number, int):
        return str(number)
    exponent = number.as_tuple().exponent
    is_plain = number.adjusted() >= -_READABLE_ZEROS and isinstance(exponent, int) and exponent <= 0
    return format(number, "f" if is_plain else "e")


def date_expression(text: str, now: datetime, timezone: str) -> Mapping[str, str | int] | None:
    """Returns what the text says of dates, such as `2026-12-24 - today` or `2026-11-27 + 30`; None if it has no such
    form. The text is in lower case with single spaces.

    Raises:
        BadArguments: there is no such date.
    """
    today = now.astimezone(ZoneInfo(timezone)).date()
    if found := _BETWEEN.fullmatch(text):
        return _between(_date(found[2], today), _date(found[1], today))
    if found := _LATER.fullmatch(text):
        count = int(found[3]) * (-1 if found[2] == "-" else 1)
        try:
            return {"result": _spell_day(_later(_date(found[1], today), count, found[4] or "day"))}
        except (ValueError, OverflowError) as error:
            raise BadArguments("That date is too far away.") from error
    return None


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


def _later(day: date, count: int, unit: str) -> date:
    """Returns the date so many units later; the last of a month that is too short."""
    if unit in _STEPS:
        return day + count * _STEPS[unit]
    left = abs(count)
    while left:
        day += timedelta(1 if count >= 0 else -1)
        left -= day.weekday() < _WORKING_DAYS
    return day


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if abs(number) == 1 else 's'}"


def _spell_day(day: date) -> str:
    return f"{day:%A} {day.isoformat()}"
