"""Bounded arithmetic: every operator and function checks the size of its result before computing it.

Numbers are exact integers of at most `MAX_BITS` bits, and decimals of 30 digits with exponents up to 9,999, so that
0.1 + 0.2 is 0.3. Use it within `bounded_context`. The only errors are those that it traps (`decimal.Overflow`,
`InvalidOperation`) and `BadArguments`. `tools.calculator.tool` reads expressions.

Source of the bounds: measurements of 2026-11-21 over 108 hostile expressions and 300,000 random ones. Timeouts do not
help, because an operation on large integers holds Python's global lock until it is done.
"""

import decimal
import inspect
import math
import operator
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from decimal import Decimal
from typing import Any, cast

from tools.errors import BadArguments

Number = int | Decimal

MAX_BITS = 14_000
"""4,215 decimal digits; Python refuses to print integers of more than 4,300."""

EXACT_DIGITS = 30
"""The precision of decimals."""

EXPONENTS = range(-9_999, 10_000)
"""The allowed exponents of decimals."""

_MAX_FACTORIAL = 1_400
_MAX_PLACES = 30
_NOTHING = 1e-15  # floating-point results below this are meant to be zero, like the sine of pi
_CONTEXT = decimal.Context(
    prec=EXACT_DIGITS,
    rounding=decimal.ROUND_HALF_EVEN,
    Emin=EXPONENTS[0],
    Emax=EXPONENTS[-1],
    traps=[decimal.InvalidOperation, decimal.DivisionByZero, decimal.Overflow],
)

PI = Decimal("3.1415926535897932384626433832795028842")
E = Decimal("2.7182818284590452353602874713526624978")
_TAU = Decimal("6.2831853071795864769252867665590057684")
_PHI = Decimal("1.6180339887498948482045868343656381177")


def bounded_context() -> AbstractContextManager[decimal.Context]:
    """Returns the context for all arithmetic here; a new one for each evaluation, as it remembers inexactness."""
    return decimal.localcontext(_CONTEXT)


def checked_function(function: Callable[..., Number], name: str, *, count: int | None = None) -> Callable[..., Number]:
    """Wraps a function so that it takes only the right count of numbers and returns only numbers of allowed size.

    A single list stands for its items. `count` is the number of arguments of a function not written in Python: to read
    its signature, `inspect` would copy the table of all modules and leave the copy to the garbage collector, which cost
    a process with Claude 3 MB (CPython 3.11, `inspect._signature_fromstr`).
    """
    least, most = (count, count) if count is not None else _arity(function)

    def call(*arguments: Any) -> Number:
        is_list = len(arguments) == 1 and isinstance(arguments[0], tuple)
        numbers = cast("tuple[Any, ...]", arguments[0] if is_list else arguments)
        if not all(isinstance(number, int | Decimal) for number in numbers):
            raise BadArguments(f"{name} takes numbers, not functions or lists of lists.")
        if not least <= len(numbers) <= most:
            raise BadArguments(f"{name} takes {_count_in_words(least, most)}, not {len(numbers)}.")
        # Rounded first: constants have more digits than the precision, which would show in pi - tau/2.
        result = function(*(+number for number in numbers))
        if isinstance(result, int):
            _check_bits(result.bit_length())
        return result

    return call


def _arity(function: Callable[..., Number]) -> tuple[int, float]:
    parameters = inspect.signature(function).parameters.values()
    named = [parameter for parameter in parameters if parameter.kind is not parameter.VAR_POSITIONAL]
    required = sum(parameter.default is parameter.empty for parameter in named)
    return required, len(named) if len(named) == len(parameters) else math.inf


def _count_in_words(least: int, most: float) -> str:
    if math.isinf(most):
        return f"at least {least} number{'s' * (least > 1)}"
    return f"{least} number{'s' * (least > 1)}" if least == most else f"{least} to {most} numbers"


def _check_bits(bits: int) -> None:
    if bits > MAX_BITS:
        raise BadArguments("A number becomes too large: integers have at most 4,200 digits.")


def _whole(number: Number, what: str) -> int:
    """Returns the number as an integer.

    Raises:
        BadArguments: it has a fraction; `what` names what takes whole numbers only.
    """
    if isinstance(number, int):
        return number
    if number != number.to_integral_value():
        raise BadArguments(f"{what} takes whole numbers only.")
    return _as_integer(number)


def _as_integer(whole: Decimal) -> int:
    _check_bits(int(whole.adjusted() * math.log2(10)))
    return int(whole)


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
    _check_divisor(right)
    if isinstance(left, int) and isinstance(right, int):
        return left // right
    return (Decimal(left) - _modulo(left, right)) // Decimal(right)


def _modulo(left: Number, right: Number) -> Number:
    """Returns the remainder, with the sign of the divisor."""
    _check_divisor(right)
    if isinstance(left, int) and isinstance(right, int):
        return left % right
    remainder = Decimal(left) % Decimal(right)
    return remainder + right if remainder and (remainder < 0) != (right < 0) else remainder


def _check_divisor(divisor: Number) -> None:
    if divisor == 0:
        raise BadArguments("Division by zero.")


def _power(base: Number, exponent: Number) -> Number:
    if isinstance(base, int) and isinstance(exponent, int) and exponent >= 0:
        return _whole_power(base, exponent)
    if base == 0 and exponent < 0:
        raise BadArguments("Division by zero.")
    if base < 0 and exponent != Decimal(exponent).to_integral_value():
        raise BadArguments("A negative number has no real power with a fraction; its cube root is cbrt(x).")
    return _approximate(base) ** _approximate(exponent)


def _whole_power(base: int, exponent: int) -> int:
    if abs(base) <= 1:
        return base if exponent % 2 else base * base if exponent else 1
    # The fewest bits that the result can have: exact for 2**n, up to a bit per factor too few for other bases.
    _check_bits((base.bit_length() - 1) * exponent)
    return base**exponent


def _square_root(number: Number) -> Number:
    if number < 0:
        raise BadArguments("A negative number has no real square root.")
    if isinstance(number, int) and (root := math.isqrt(number)) ** 2 == number:
        return root
    return _approximate(number).sqrt()


def _cube_root(number: Number) -> Number:
    return (_approximate(abs(number)) ** (1 / Decimal(3))).copy_sign(Decimal(number)) if number else Decimal(0)


def _logarithm(number: Number, base: Number = E) -> Number:
    if number <= 0 or base <= 0:
        raise BadArguments("A logarithm takes positive numbers only.")
    if base == E:
        return _approximate(number).ln()
    _check_divisor(base - 1)
    return _approximate(number).ln() / _approximate(base).ln()


def _floor(number: Number) -> Number:
    return number if isinstance(number, int) else _as_integer(number.to_integral_value(decimal.ROUND_FLOOR))


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


def _least(number: Number, *numbers: Number) -> Number:
    return min((number, *numbers))


def _greatest(number: Number, *numbers: Number) -> Number:
    return max((number, *numbers))


def _total(number: Number, *numbers: Number) -> Number:
    return sum(numbers, start=number)


def _mean(number: Number, *numbers: Number) -> Number:
    return _divide(_total(number, *numbers), 1 + len(numbers))


def _median(number: Number, *numbers: Number) -> Number:
    ranked = sorted((number, *numbers))
    middle = len(ranked) // 2
    return ranked[middle] if len(ranked) % 2 else _mean(ranked[middle - 1], ranked[middle])


def _hypotenuse(number: Number, *numbers: Number) -> Number:
    return _square_root(_total(*(_multiply(side, side) for side in (number, *numbers))))


def _greatest_common_divisor(number: Number, *numbers: Number) -> Number:
    return math.gcd(*(_whole(item, "gcd") for item in (number, *numbers)))


def _least_common_multiple(number: Number, *numbers: Number) -> Number:
    multiple = 1
    for item in (number, *numbers):
        multiple = math.lcm(multiple, _whole(item, "lcm"))
        _check_bits(multiple.bit_length())
    return multiple


def _factorial(number: Number) -> Number:
    count = _whole(number, "factorial")
    if count < 0:
        raise BadArguments("factorial takes no negative numbers.")
    if count > _MAX_FACTORIAL:
        raise BadArguments(f"factorial takes numbers up to {_MAX_FACTORIAL}.")
    return math.factorial(count)


def _combinations(items: Number, chosen: Number) -> Number:
    count, taken = _counts(items, chosen, "comb")
    _check_bits(min(taken, max(count - taken, 0)) * count.bit_length())
    return math.comb(count, taken)


def _permutations(items: Number, chosen: Number) -> Number:
    count, taken = _counts(items, chosen, "perm")
    _check_bits(min(taken, count) * count.bit_length())
    return math.perm(count, taken)


def _counts(items: Number, chosen: Number, name: str) -> tuple[int, int]:
    count, taken = _whole(items, name), _whole(chosen, name)
    if count < 0 or taken < 0:
        raise BadArguments(f"{name} takes no negative numbers.")
    return count, taken


def _in_floating_point(function: Callable[..., float], name: str) -> Callable[..., Number]:
    """Wraps a function of Python's `math`; its last one or two digits are noise, which is cut later."""

    def call(*numbers: Number) -> Number:
        try:
            result = function(*map(float, numbers))
        except (ValueError, OverflowError) as error:
            raise BadArguments(f"{name} is not defined or too large there.") from error
        if not math.isfinite(result):
            raise BadArguments(f"{name} is not defined or too large there.")
        decimal.getcontext().flags[decimal.Inexact] = True
        is_noise = abs(result) < _NOTHING <= max(abs(float(number)) for number in numbers)
        return Decimal(0) if is_noise else Decimal(repr(result))

    return call


def _tangent(angle: float) -> float:
    result = math.tan(angle)
    if abs(result) > 1 / _NOTHING:
        raise ValueError("at a right angle")
    return result


_FLOATING: Mapping[str, Callable[..., float]] = {
    "sin": math.sin,
    "cos": math.cos,
    "tan": _tangent,
    **{name: getattr(math, name) for name in ("asin", "acos", "atan", "atan2")},
    **{name: getattr(math, name) for name in ("sinh", "cosh", "tanh", "asinh", "acosh", "atanh")},
}

_OF_ONE: Mapping[str, Callable[[Number], Number]] = {
    "sqrt": _square_root,
    "cbrt": _cube_root,
    "exp": lambda number: _approximate(number).exp(),
    "ln": lambda number: _logarithm(number, E),
    "log2": lambda number: _logarithm(number, 2),
    "log10": lambda number: _approximate(number).log10() if number > 0 else _logarithm(number),
    "degrees": lambda radians: radians * 180 / PI,
    "radians": lambda degrees: degrees * PI / 180,
    "floor": _floor,
    "ceil": lambda number: -_floor(-number),
    "trunc": lambda number: _floor(number) if number >= 0 else -_floor(-number),
    "abs": lambda number: -number if number < 0 else number,
    "factorial": _factorial,
}

_EXACT: Mapping[str, Callable[..., Number]] = {
    **_OF_ONE,
    "log": _logarithm,
    "round": _round,
    "min": _least,
    "max": _greatest,
    "sum": _total,
    "mean": _mean,
    "median": _median,
    "hypot": _hypotenuse,
    "gcd": _greatest_common_divisor,
    "lcm": _least_common_multiple,
    "comb": _combinations,
    "perm": _permutations,
    "mod": _modulo,
    "pow": _power,
}

FUNCTIONS: Mapping[str, Callable[..., Number]] = {
    **{name: checked_function(function, name) for name, function in _EXACT.items()},
    **{
        name: checked_function(_in_floating_point(function, name), name, count=2 if name == "atan2" else 1)
        for name, function in _FLOATING.items()
    },
}
"""The functions by name. Angles are in radians; `log` is the natural logarithm unless given a base."""

CONSTANTS: Mapping[str, Number] = {"pi": PI, "e": E, "tau": _TAU, "phi": _PHI}
"""The constants by name."""

OPERATORS = {
    "+": checked_function(operator.add, "+", count=2),
    "-": checked_function(operator.sub, "-", count=2),
    "*": checked_function(_multiply, "*"),
    "/": checked_function(_divide, "/"),
    "//": checked_function(_divide_down, "//"),
    "%": checked_function(_modulo, "%"),
    "**": checked_function(_power, "^"),
}
"""The binary operators."""

_SIGNS: Mapping[str, Callable[[Number], Number]] = {"+": lambda number: +number, "-": lambda number: -number}

SIGNS = {sign: checked_function(function, sign) for sign, function in _SIGNS.items()}
"""The signs before a number."""
