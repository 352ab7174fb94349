"""Bounded arithmetic: every operator and function checks the size of its result before computing it.

Numbers are exact integers of at most 14,000 bits, and decimals of 30 digits with exponents up to 9,999, so that
0.1 + 0.2 is 0.3. Use it within `CONTEXT`. The only errors are those that it traps (`decimal.Overflow`,
`InvalidOperation`) and `BadArguments`. `tools.calculator.tool` gives operators and functions to simpleeval.

Source of the bounds: measurements of 2026-11-21 over 108 hostile expressions and 300,000 random ones. Timeouts do not
help, because an operation on large integers holds Python's global lock until it is done.
"""

import ast
import decimal
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import TypeVar

from tools.errors import BadArguments

Number = int | Decimal

_MAX_BITS = 14_000  # 4,215 decimal digits; Python refuses to print integers of more than 4,300
_MAX_FACTORIAL = 1_400
_MAX_PLACES = 30
_NOTHING = 1e-15  # floating-point results below this are meant to be zero, like the sine of pi
CONTEXT = decimal.Context(
    prec=30, Emin=-9_999, Emax=9_999, traps=[decimal.InvalidOperation, decimal.DivisionByZero, decimal.Overflow]
)
"""The context for all arithmetic here; a new copy for each evaluation, as it remembers inexactness."""

CONSTANTS: Mapping[str, Number] = {
    "pi": (_PI := Decimal("3.1415926535897932384626433832795028842")),
    "e": (_E := Decimal("2.7182818284590452353602874713526624978")),
    "tau": Decimal("6.2831853071795864769252867665590057684"),
    "phi": Decimal("1.6180339887498948482045868343656381177"),
}
"""The constants by name."""


@dataclass(frozen=True, slots=True)
class Percentage:
    """A number written as a percentage, such as 15% or -(5% + 5%); `+` makes it a plain number."""

    share: Number

    def __pos__(self) -> Number:
        return +self.share

    def __neg__(self) -> "Percentage":
        return Percentage(-self.share)


Value = Number | Percentage
_Of = TypeVar("_Of", Number, Value)


def _bounded(function: Callable[..., _Of], name: str, least: int = 2, most: int = 2) -> Callable[..., _Of]:
    """Wraps a function to check the count of its numbers (any if `most` is 0, given as one list) and its result."""

    def call(*arguments: Value) -> _Of:
        if len(arguments) < least or (most and len(arguments) > most):
            count = f"{least}" if least == most else f"{least} to {most}" if most else f"at least {least}"
            raise BadArguments(f"{name} takes {count} number{'s' * (max(least, most) > 1)}, not {len(arguments)}.")
        # Rounded first: constants have more digits than the precision, which would show in pi - tau/2.
        numbers = [+number for number in arguments]
        result = function(*numbers) if most else function(numbers)
        _check_bits(result.bit_length() if isinstance(result, int) else 0)
        return result

    return call


def _check_bits(bits: int) -> None:
    if bits > _MAX_BITS:
        raise BadArguments("A number becomes too large: integers have at most 4,200 digits.")


def _floor(number: Number) -> int:
    if isinstance(number, int):
        return number
    _check_bits(int(number.adjusted() * math.log2(10)))
    return int(number.to_integral_value(decimal.ROUND_FLOOR))


def _whole(number: Number, what: str) -> int:
    """Returns the number as an integer; `what` names what takes whole numbers only."""
    if (whole := _floor(number)) != number:
        raise BadArguments(f"{what} takes whole numbers only.")
    return whole


def _approximate(number: Number) -> Decimal:
    """Rounds the number to 30 digits: an exact root of an integer of 4,000 digits takes more than a second."""
    return +Decimal(number)


def _multiply(left: Number, right: Number) -> Number:
    if isinstance(left, int) and isinstance(right, int):
        _check_bits(left.bit_length() + right.bit_length() - 1)
    return left * right


def _divide(left: Number, right: Number) -> Number:
    _check_divisor(right)
    if isinstance(left, int) and isinstance(right, int) and left % right == 0:
        return left // right
    return Decimal(left) / Decimal(right)


def _divide_down(left: Number, right: Number) -> Number:
    """Returns the quotient rounded towards minus infinity, as in mathematics; decimals would round towards zero."""
    return (left - _modulo(left, right)) // right


def _modulo(left: Number, right: Number) -> Number:
    """Returns the remainder, with the sign of the divisor."""
    _check_divisor(right)
    remainder = left % right
    return remainder + right if remainder and (remainder < 0) != (right < 0) else remainder


def _check_divisor(divisor: Number) -> None:
    if divisor == 0:
        raise BadArguments("Division by zero.")


def _power(base: Number, exponent: Number) -> Number:
    if isinstance(base, int) and isinstance(exponent, int) and exponent >= 0:
        # The fewest bits that the result can have: exact for 2**n, up to a bit per factor too few for other bases.
        _check_bits((base.bit_length() - 1) * exponent)
        return base**exponent
    if base == 0 and exponent < 0:
        raise BadArguments("Division by zero.")
    if base < 0 and exponent != Decimal(exponent).to_integral_value():
        raise BadArguments("A negative number has no real power with a fraction; its cube root is cbrt(x).")
    return _approximate(base) ** _approximate(exponent)


def _square_root(number: Number) -> Number:
    if number < 0:
        raise BadArguments("A negative number has no real square root.")
    if isinstance(number, int) and (root := math.isqrt(number)) ** 2 == number:
        return root
    return _approximate(number).sqrt()


def _logarithm(number: Number, base: Number = _E) -> Number:
    if number <= 0 or base <= 0:
        raise BadArguments("A logarithm takes positive numbers only.")
    if base == _E:
        return _approximate(number).ln()
    _check_divisor(base - 1)
    return _approximate(number).ln() / _approximate(base).ln()


def _round(number: Number, places: Number = 0) -> Number:
    """Rounds halves away from zero, as taught in school; negative places round to tens, hundreds, ..."""
    count = _whole(places, "round, for its places,")
    if abs(count) > _MAX_PLACES:
        raise BadArguments(f"round takes at most {_MAX_PLACES} places.")
    if isinstance(number, int):
        unit = 10 ** max(-count, 0)
        size = (abs(number) + unit // 2) // unit * unit
        return size if number >= 0 else -size
    # In a context of its own: a number rounded on purpose is not inexact.
    with decimal.localcontext():
        exponent = number.as_tuple().exponent
        if isinstance(exponent, int) and exponent >= -count:
            return number
        return number.quantize(Decimal(1).scaleb(-count), decimal.ROUND_HALF_UP)


def _mean(numbers: Sequence[Number]) -> Number:
    return _divide(sum(numbers), len(numbers))


def _median(numbers: Sequence[Number]) -> Number:
    ranked = sorted(numbers)
    return _mean(ranked[(len(ranked) - 1) // 2 : len(ranked) // 2 + 1])


def _least_common_multiple(numbers: Sequence[Number]) -> Number:
    multiple = 1
    for item in numbers:
        multiple = math.lcm(multiple, _whole(item, "lcm"))
        _check_bits(multiple.bit_length())
    return multiple


def _factorial(number: Number) -> Number:
    if not 0 <= number <= _MAX_FACTORIAL:
        raise BadArguments(f"factorial takes numbers from 0 up to {_MAX_FACTORIAL}.")
    return math.factorial(_whole(number, "factorial"))


def _count_of_ways(function: Callable[[int, int], int], items: Number, chosen: Number) -> Number:
    """Returns what `comb` or `perm` of Python's `math` comes to."""
    count, taken = _whole(items, function.__name__), _whole(chosen, function.__name__)
    if count < 0 or taken < 0:
        raise BadArguments(f"{function.__name__} takes no negative numbers.")
    _check_bits(min(taken, count if function is math.perm else max(count - taken, 0)) * count.bit_length())
    return function(count, taken)


def _in_floating_point(function: Callable[..., float], name: str) -> Callable[..., Number]:
    """Wraps a function of Python's `math`; its last one or two digits are noise, which is cut later."""

    def call(*numbers: Number) -> Number:
        try:
            result = function(*map(float, numbers))
        except (ValueError, OverflowError):
            result = math.inf
        # The tangent of a right angle is no large number.
        if not math.isfinite(result) or (name == "tan" and abs(result) > 1 / _NOTHING):
            raise BadArguments(f"{name} is not defined or too large there.")
        decimal.getcontext().flags[decimal.Inexact] = True
        is_noise = abs(result) < _NOTHING <= max(abs(float(number)) for number in numbers)
        return Decimal(0) if is_noise else Decimal(repr(result))

    return call


ANGLES = frozenset({"sin", "cos", "tan"})
"""The functions whose argument is an angle."""

_FLOATING = (*sorted(ANGLES), "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh")

_OF_ONE: Mapping[str, Callable[[Number], Value]] = {
    "sqrt": _square_root,
    "cbrt": lambda number: (_approximate(abs(number)) ** (1 / Decimal(3))).copy_sign(Decimal(number)),
    "exp": lambda number: _approximate(number).exp(),
    "ln": _logarithm,
    "log2": lambda number: _logarithm(number, 2),
    "log10": lambda number: _logarithm(number, 10),
    "degrees": lambda radians: radians * 180 / _PI,
    "radians": lambda degrees: degrees * _PI / 180,
    "floor": _floor,
    "ceil": lambda number: -_floor(-number),
    "trunc": lambda number: _floor(number) if number >= 0 else -_floor(-number),
    "abs": lambda number: -number if number < 0 else number,
    "factorial": _factorial,
    "percentage": lambda number: Percentage(_divide(number, 100)),
    **{name: _in_floating_point(getattr(math, name), name) for name in _FLOATING},
}
_OF_TWO: Mapping[str, Callable[[Number, Number], Number]] = {
    "mod": _modulo,
    "pow": _power,
    "comb": partial(_count_of_ways, math.comb),
    "perm": partial(_count_of_ways, math.perm),
    "atan2": _in_floating_point(math.atan2, "atan2"),
}
_OF_ANY: Mapping[str, Callable[[Sequence[Number]], Number]] = {
    "min": min,
    "max": max,
    "sum": sum,
    "mean": _mean,
    "median": _median,
    "hypot": lambda sides: _square_root(sum(_multiply(side, side) for side in sides)),
    "gcd": lambda numbers: math.gcd(*(_whole(number, "gcd") for number in numbers)),
    "lcm": _least_common_multiple,
}

FUNCTIONS: Mapping[str, Callable[..., Value]] = {
    **{name: _bounded(function, name, 1, 1) for name, function in _OF_ONE.items()},
    **{name: _bounded(function, name) for name, function in _OF_TWO.items()},
    **{name: _bounded(function, name, 1, 0) for name, function in _OF_ANY.items()},
    "log": _bounded(_logarithm, "log", 1, 2),
    "round": _bounded(_round, "round", 1, 2),
}
"""The functions by name. Angles are in radians; `log` is the natural logarithm unless given a base."""

_OPERATORS: Mapping[type[ast.AST], Callable[..., Number]] = {
    ast.Add: _bounded(operator.add, "+"),
    ast.Mult: _bounded(_multiply, "*"),
    ast.Div: _bounded(_divide, "/"),
    ast.FloorDiv: _bounded(_divide_down, "//"),
    ast.Mod: _bounded(_modulo, "%"),
    ast.Pow: _bounded(_power, "^"),
}


def operators(shares: list[Number]) -> Mapping[type[ast.AST], Callable[..., Value]]:
    """Returns the operators by their nodes in Python's trees; adds each share of a number before it to the list."""

    def add(left: Value, right: Value) -> Value:
        if not isinstance(right, Percentage):
            return _OPERATORS[ast.Add](left, right)
        if isinstance(left, Percentage):
            return Percentage(_OPERATORS[ast.Add](left, right))
        shares.append(_OPERATORS[ast.Mult](left, right))
        return _OPERATORS[ast.Add](left, shares[-1])

    def subtract(left: Value, right: Value) -> Value:
        return add(left, -right)

    signs: Mapping[type[ast.AST], Callable[[Value], Value]] = {ast.UAdd: lambda a: a, ast.USub: lambda a: -a}
    return {**_OPERATORS, **signs, ast.Add: add, ast.Sub: subtract}
