"""The tool `calculate`: the value of an expression, exact where possible.

`value` does all of the work and is pure. It reads the expression as people and models write it, refuses whatever is too
long, too deep or no arithmetic, and lets simpleeval evaluate the rest with the operators and functions of
`tools.calculator.arithmetic`, which bound every step. It can therefore run on the event loop: the worst expression
found takes a few milliseconds. With simpleeval 1.0.8 alone, a few characters can run for minutes or take gigabytes.
Only this module uses simpleeval.
"""

import ast
import decimal
import difflib
import re
import unicodedata
import warnings
from collections.abc import Callable, Collection, Iterator
from decimal import Decimal
from typing import Any, Final

import simpleeval  # pyright: ignore[reportMissingTypeStubs] - it has no types at all, see _SimpleEval
from pydantic import Field

from tools.base import Arguments, Intent, Result, ToolContext, ToolSpec
from tools.calculator.arithmetic import (
    CONSTANTS,
    EXACT_DIGITS,
    EXPONENTS,
    FUNCTIONS,
    OPERATORS,
    SIGNS,
    Number,
    bounded_context,
)
from tools.errors import BadArguments
from tools.text import clean_text

MAX_EXPRESSION_CHARS: Final = 500
_MAX_NAME_CHARS = 40
_MAX_NODES = 200
_MAX_DEPTH = 100  # reached by a sum of a hundred amounts

_SIGNS_AND_NAMES = str.maketrans(
    dict.fromkeys("×⋅·∙∗", "*")
    | dict.fromkeys("÷∕⁄", "/")
    | dict.fromkeys("−–—‒‐", "-")
    | {"^": "**", "π": "pi", "τ": "tau", "φ": "phi", "ϕ": "phi", "√": "sqrt", "∛": "cbrt"}
)
_SUPERSCRIPT = re.compile("[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_SUPERSCRIPT_DIGITS = str.maketrans("⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "+-0123456789")
_TIMES = re.compile(r"(?<=[0-9)]) +x +(?=[0-9(])")
_PERCENTAGE = re.compile(r"%\s*($|[a-z*/)+-])")

_READABLE_DIGITS = 15
_READABLE_ZEROS = 7  # after the point; with more, an exponent is easier to read
_READABLE = decimal.Context(
    prec=_READABLE_DIGITS, rounding=decimal.ROUND_HALF_EVEN, Emin=EXPONENTS[0], Emax=EXPONENTS[-1]
)

# simpleeval has no types of its own.
_SimpleEval: Any = simpleeval.SimpleEval

_KEPT_NODES = (ast.BinOp, ast.UnaryOp, ast.Call, ast.Name)
_ALLOWED_NODES = (*_KEPT_NODES, ast.Constant, ast.List, ast.Tuple)
_OPERATORS: dict[type[ast.AST], Callable[..., Number]] = {
    ast.Add: OPERATORS["+"],
    ast.Sub: OPERATORS["-"],
    ast.Mult: OPERATORS["*"],
    ast.Div: OPERATORS["/"],
    ast.FloorDiv: OPERATORS["//"],
    ast.Mod: OPERATORS["%"],
    ast.Pow: OPERATORS["**"],
    ast.UAdd: SIGNS["+"],
    ast.USub: SIGNS["-"],
}

_COMMA = "Commas only separate the arguments of functions: write 1234.5, not 1,234.5 or 1234,5."
_UNREADABLE = "The expression cannot be read. Write it like 2*(3+4)^2 or sqrt(2)/3."
_ARITHMETIC_ONLY = "Only numbers, the operators + - * / // % ^, brackets and functions such as sqrt(2) are allowed."


class CalculatorArguments(Arguments):
    """The expression to calculate."""

    expression: str = Field(
        min_length=1,
        max_length=MAX_EXPRESSION_CHARS,
        description="Arithmetic such as (17*23 - 4)^2 / 3, sqrt(2), round(2/3, 2), mean(3, 4, 8) or 0.15 * 80.",
    )


class Calculator:
    """Calculates an expression."""

    spec = ToolSpec(
        name="calculate",
        description=(
            "Calculates an arithmetic expression exactly. Use it for every nontrivial calculation. Supports + - * / //"
            " % (remainder) ^ (power), brackets, pi, e and the usual functions, from sqrt, log(x, base), sin (in"
            " radians) and round to mean, gcd, comb and factorial. No variables, units, commas within numbers or"
            " percent signs: 15% of 80 is 0.15 * 80."
        ),
        arguments=CalculatorArguments,
        intent=lambda given: Intent("calculate", {"expression": given.expression}),
        computes_only=True,
    )

    async def run(self, arguments: CalculatorArguments, context: ToolContext) -> Result:
        """Returns the expression and its result, both as text.

        Raises:
            BadArguments: the expression is unreadable or undefined, or its value too large; the message says which.
        """
        del context
        result = _spell(value(arguments.expression))
        return Result(data={"expression": clean_text(arguments.expression), "result": result})


def value(expression: str) -> Number:
    """Returns the value of an expression: an exact integer of at most 4,215 digits, or a finite decimal.

    A decimal is exact if it fits in 30 digits (0.1 + 0.2 is 0.3), otherwise rounded to 15 digits; a result without a
    fraction is an integer. Written forms are understood: `^` and superscript digits are powers; ×, ÷, −, π and √,
    full-width characters and digits of other scripts work as expected; an equals sign at the end is ignored. `%` is
    always the remainder. Commas within numbers are refused, as 1,234 means two things in two countries.

    Raises:
        BadArguments: the only error, for everything else.
    """
    text = _normal(expression)
    tree = _parse(text)
    _check_shape(tree)
    with bounded_context():
        try:
            return _readable(_evaluate(text, tree))
        except (simpleeval.InvalidExpression, ArithmeticError) as error:
            raise BadArguments(_reason(error)) from error


def _evaluate(text: str, tree: ast.expr) -> Number:
    """Evaluates the tree of the text by simpleeval, reduced to arithmetic."""
    evaluator = _SimpleEval(operators=_OPERATORS, functions=FUNCTIONS, names=CONSTANTS)

    def literal(node: ast.Constant) -> Number:
        return _literal(node, text)

    def items(node: ast.List | ast.Tuple) -> tuple[Any, ...]:
        return tuple(evaluator.eval(text, previously_parsed=item) for item in node.elts)

    kept = {kind: handler for kind, handler in evaluator.nodes.items() if kind in _KEPT_NODES}
    evaluator.nodes = kept | {ast.Constant: literal, ast.List: items, ast.Tuple: items}
    found = evaluator.eval(text, previously_parsed=tree)
    if not isinstance(found, int | Decimal):
        raise BadArguments("The expression is a function or a list, not a number.")
    return found


def _literal(node: ast.Constant, text: str) -> Number:
    if isinstance(node.value, bool) or not isinstance(node.value, int | float):
        raise BadArguments(_ARITHMETIC_ONLY)
    if isinstance(node.value, int):
        return node.value
    # The digits as written: a float has lost those after the seventeenth.
    return +Decimal(ast.get_source_segment(text, node) or "")


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


def _normal(expression: str) -> str:
    """Rewrites the expression in Python's arithmetic, on one line."""
    if len(expression) > MAX_EXPRESSION_CHARS:
        raise BadArguments(f"The expression is too long: at most {MAX_EXPRESSION_CHARS} characters.")
    powers = _SUPERSCRIPT.sub(lambda power: f"**({power[0].translate(_SUPERSCRIPT_DIGITS)})", clean_text(expression))
    plain = unicodedata.normalize("NFKC", "".join(map(_digit, powers))).lower().translate(_SIGNS_AND_NAMES)
    text = _TIMES.sub("*", " ".join(plain.split())).strip("= ")
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


def _parse(text: str) -> ast.expr:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # Python only warns about "2if 3else 4" and about calling a number
            return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise BadArguments(_reading_hint(text)) from error


def _reading_hint(text: str) -> str:
    if _PERCENTAGE.search(text):
        return "% is the remainder of a division; write a percentage as a number: 15% of 80 is 0.15 * 80."
    if "!" in text:
        return "Write factorial(5), not 5!."
    if "," in text:
        return _COMMA
    return _UNREADABLE


def _check_shape(tree: ast.expr) -> None:
    """Refuses expressions that are too large or no arithmetic, before anything is calculated."""
    if isinstance(tree, ast.Tuple):
        raise BadArguments(_COMMA)
    for count, (node, depth) in enumerate(_nodes(tree)):
        if count >= _MAX_NODES or depth > _MAX_DEPTH:
            raise BadArguments("The expression is too long or too deep: calculate it in steps.")
        _check_node(node)


def _nodes(tree: ast.expr) -> Iterator[tuple[ast.expr, int]]:
    """Yields every expression within the tree with its depth, in no particular order."""
    waiting = [(tree, 0)]
    while waiting:
        node, depth = waiting.pop()
        yield node, depth
        waiting += [(child, depth + 1) for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]


def _check_node(node: ast.expr) -> None:
    is_arithmetic = isinstance(node, _ALLOWED_NODES)
    if isinstance(node, ast.BinOp | ast.UnaryOp):
        is_arithmetic = type(node.op) in _OPERATORS
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Constant | ast.BinOp):
            raise BadArguments("Write the multiplication sign: 2*(3+4), not 2(3+4).")
        is_arithmetic = isinstance(node.func, ast.Name) and not node.keywords
    if not is_arithmetic:
        raise BadArguments(_ARITHMETIC_ONLY)


def _reason(error: Exception) -> str:
    """Explains a foreign error in a sentence."""
    if isinstance(error, simpleeval.FunctionNotDefined):
        return _unknown("function", error, FUNCTIONS)
    if isinstance(error, simpleeval.NameNotDefined):
        return _unknown("constant", error, CONSTANTS)
    if isinstance(error, decimal.Overflow):
        return "The result is too large."
    return "The result is not defined, or has too many digits."


def _unknown(what: str, error: Any, known: Collection[str]) -> str:
    name = str(getattr(error, "func_name", None) or error.name)[:_MAX_NAME_CHARS]
    near = difflib.get_close_matches(name, known, n=2)
    meant = f"Did you mean {' or '.join(near)}?" if near else f"Available: {', '.join(known)}."
    return f"There is no {what} named {name}. {meant}"
