"""Expressions: arithmetic as people write it, arithmetic that wants to be too large, and what is no arithmetic at all.

Whatever comes, the tool gives a number of bounded size or says in a sentence what is wrong, and takes no memory for it.
"""

import re
from pathlib import Path
from random import Random

from pydantic import ValidationError

from tests.campaigns.fuzz.rounds import Round
from tests.conftest import NOON
from tests.tools.test_calculator import ATTACKS
from tools import BadArguments, ToolContext
from tools.calculator import CONSTANTS, FUNCTIONS, MAX_EXPRESSION_CHARS, Calculator, CalculatorArguments

COUNT = 50_000
MAX_GROWTH_BYTES = 32 * 2**20
"""Twice the size that the allocator keeps for later; one number that got away is a hundred times as large."""

_MAX_DIGITS = 1_010
_MAX_SENTENCE_CHARACTERS = 600
_RESULT = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[+-][0-9]+)?")

_CONTEXT = ToolContext(now=NOON, timezone="UTC")

_NUMBERS = (
    *("0", "1", "2", "3", "7", "10", "12.50", "0.1", ".5", "5.", "1e9", "1e-9", "1_000", "0xff", "0b101", "0o17"),
    *("99", "1400", "9999", "10**6", "9**999", "9**4000", "2**13999", "1e9998", "1e-9998", "1e9999", "1e308"),
    *("999999999999999999999999999999", "0.1234567890123456789", "1.5e3000", "٣", "１２", "1e99999999999"),
)
_OPERATORS = (*("+", "-", "*", "/"), *("//", "%", "**", "^", " x ", "×", "÷", "−", "**-", "*-", "<<", "|", "==", "and"))
_NAMES = (*FUNCTIONS, *CONSTANTS)
_HOSTILE_NAMES = ("pow", "isqrt", "rand", "int", "float", "range", "sum", "__import__", "eval", "open", "type")
_SCRIBBLES = "0123456789.eE+-*/%^(), \tpisqrtx²½×−√π#'\"[]{}:=!_;\\<>|&~@\n\x00\u202e\ufdfa\u0661ｅ\ud800"
_ATTACKS = [attack for attack in ATTACKS if len(attack) <= 2 * MAX_EXPRESSION_CHARS]
_STRINGS = ("'a'", "'%1000000000d'", "f'{1:99999999}'", "b'x'", "'a'.ljust(10**9)", "(1).__class__", "[1]*10**9")


async def check(round_: Round, _: Path) -> None:
    calculator = Calculator()
    for random in round_.randoms():
        expression = expression_of(random)
        with round_.trying(expression):
            round_.outcomes[await outcome_of(calculator, expression)] += 1
    with round_.trying("all of them", is_example=False):
        assert round_.growth_bytes < MAX_GROWTH_BYTES, f"{round_.growth_bytes} bytes more at the end"


async def outcome_of(calculator: Calculator, expression: str) -> str:
    """Calculate as the toolbox does; what came of it in a word."""
    try:
        result = await calculator.run(CalculatorArguments(expression=expression), _CONTEXT)
    except ValidationError:
        # The schema takes any text but an empty one and one that is too long.
        is_text = expression == expression.encode("utf-8", "replace").decode()
        assert not expression.strip() or len(expression) > MAX_EXPRESSION_CHARS or not is_text
        return "no arguments"
    except BadArguments as error:
        sentence = str(error)
        assert sentence.endswith((".", "?")), sentence
        assert len(sentence) <= _MAX_SENTENCE_CHARACTERS, sentence
        return "refused with a sentence"
    written = result.data["result"]
    assert _RESULT.fullmatch(written), written
    assert len(written) <= _MAX_DIGITS, f"{len(written)} digits"
    assert str(result.data).encode()
    return "calculated"


def expression_of(random: Random) -> str:
    kind = random.choices(("valid", "large", "nested", "mutated", "scribbled"), (30, 20, 10, 25, 15))[0]
    if kind == "valid":
        return _grown(random, random.randint(0, 6))
    if kind == "large":
        piece, sign = _grown(random, random.randint(0, 2)), random.choice(_OPERATORS[:8])
        most = max(1, (MAX_EXPRESSION_CHARS + random.choice((-20, 0, 20))) // (len(piece) + len(sign)))
        return sign.join([piece] * most)
    if kind == "nested":
        depth = random.choice((5, 50, 99, 120, 240, 2_000, 20_000))
        before, after = random.choice(
            (("(", ")"), ("-", ""), ("abs(", ")"), ("not ", ""), ("1 if 1 else ", ""), ("[", "]"))
        )
        return before * depth + random.choice(_NUMBERS) + after * depth
    if kind == "scribbled":
        return "".join(random.choice(_SCRIBBLES) for _ in range(random.randint(0, 80)))
    return _mutated(random)


def _grown(random: Random, depth: int) -> str:
    if depth == 0 or random.random() < 0.15:
        return random.choice(_STRINGS if random.random() < 0.01 else _NUMBERS)
    if random.random() < 0.3:
        return _called(random, depth)
    if random.random() < 0.1:
        return random.choice("+-√~") + _grown(random, depth - 1)
    sides = (_grown(random, depth - 1), _grown(random, random.randint(0, depth - 1)))
    written = random.choice(_OPERATORS[: random.choice((4, 10, 18))]).join(sides)
    return f"({written})" if random.random() < 0.7 else written


def _called(random: Random, depth: int) -> str:
    name = random.choice(_HOSTILE_NAMES if random.random() < 0.05 else _NAMES)
    arguments = ", ".join(_grown(random, depth - 1) for _ in range(random.choice((0, 1, 1, 1, 2, 2, 3))))
    return f"{name}([{arguments}])" if random.random() < 0.1 else f"{name}({arguments})"


def _mutated(random: Random) -> str:
    """A hostile or a valid expression with a few characters changed, cut, doubled or swapped with another's."""
    text = random.choice(_ATTACKS) if random.random() < 0.5 else _grown(random, 4)
    for _ in range(random.randint(1, 4)):
        at, end = sorted((random.randint(0, len(text)), random.randint(0, len(text))))
        end = min(end, at + 20)
        middle = random.choice((random.choice(_SCRIBBLES), text[at:end] * 2, random.choice(_NUMBERS), "", "(", ")"))
        text = text[:at] + middle + text[end:]
    return text
