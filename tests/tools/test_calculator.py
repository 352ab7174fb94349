"""The calculator: what it comes to, and that no expression makes it hang, grow or crash."""

import re

import pytest

from tests.tools.conftest import Asked, memory_below
from tools import BadArguments, ToolContext
from tools.calculator import Calculator, calculate

MAX_MEMORY_BYTES = 8_000_000
BIG = "9**4000"

RESULTS = [
    ("0.1 + 0.2", "0.3"),
    ("2^3^2", "512"),
    ("6 × 7 ÷ 2 − 1", "20"),
    ("0x10", "16"),
    ("١٢+٣", "15"),
    ("2*π", "6.28318530717959"),
    ("Sqrt(2)", "1.4142135623731"),
    ("0.1234567890123456789*10", "1.234567890123456789"),
    ("-7.5 // 2", "-4"),
    ("mod(7, 3)", "1"),
    ("0**0", "1"),
    ("(-1)**99999", "-1"),
    ("log(8, 2) + log2(1024) + log10(1000)", "16"),
    ("sin(pi) + cos(0) + tan(0)", "1"),
    ("degrees(asin(1)) + degrees(acos(1)) + degrees(atan(1))", "135"),
    ("cosh(0) + sinh(0) + tanh(0) + asinh(0) + acosh(1) + atanh(0)", "1"),
    ("1.5^90", "7.05039282284307e+15"),
    ("9^4000", "9.33335440888346e+3816"),
    ("round(-2.5)", "-3"),
    ("trunc(-2.7) + floor(phi) + ceil(e)", "2"),
    ("min(3, 1.5) + max(2, 3) + mean(3, 4, 8) + sum([1, 2, 3])", "15.5"),
    ("median(4, 1, 3, 2)", "2.5"),
    ("median(5, 1, 3)", "3"),
    ("gcd(12, 18) + lcm(4, 6)", "18"),
    ("factorial(20) + comb(52, 5)", "2432902008179238960"),
    # Percent signs. Reports: biati-digital/alfred-calculate-anything#163, IIsi50MHz/chromey-calculator#46.
    ("20% + 5", "5.2"),
    ("15% of 80", "12"),
    ("200 + 15%", "230"),
    ("200 - 15 %", "170"),
    ("2 * 100 + (5% + 5%)", "220"),
    ("５０％ × 3", "1.5"),
    ("17 mod -5", "-3"),
    # Signs behind and before a number. Reports: IIsi50MHz/chromey-calculator#156.
    ("-3!", "-6"),
    ("√16", "4"),
    ("∛-8", "-2"),
    ("√(1 + 2)²! / 2", "301.197609552267"),
    ("007 + 1.50", "8.5"),
    # Angles.
    ("sin(30°)", "0.5"),
    ("cos( 60 degrees )", "0.5"),
    # Dates. The kind of report: "a date is subtracted like numbers", numbat and SpeedCrunch answer so, too.
    ("2026-12-24 - 2026-11-27", "27 days"),
    ("2026-11-22 - today", "1 day"),
    ("2026-11-27 + 30", "Sunday 2026-12-27"),
    ("2026-01-31 + 1 month", "Saturday 2026-02-28"),
    ("2026-11-27 + 3 working days", "Wednesday 2026-12-02"),
    ("2026-11-30 - 1 working day", "Friday 2026-11-27"),
    ("12 / 24 / 2026", "0.000246791707798618"),
]


async def test_an_expression_comes_to_its_result(context: ToolContext) -> None:
    """Exact, readable, in people's ways of writing; a failure is a sentence that says what to write instead."""
    ask = Asked(Calculator(), context)
    for expression, result in RESULTS:
        assert (await ask(expression))["result"] == result, expression
    for expression, sentence in (
        ("1/0", "Division by zero."),
        ("0/0", "Division by zero."),
        ("7 mod 0", "Division by zero."),
        ("5%%", "cannot be read"),
        ("1,234 * 2", "1234.5"),
        ("2(3+4)", "multiplication sign"),
        ("½ + 1", "plain digits"),
        ("sine(3)", "sinh"),
        ("sqrt(-1)", "real number"),
        ("(-8)^(1/3)", "real number"),
        ("ln(0)", "real number"),
        ("factorial(2.5)", "whole numbers"),
        ("factorial(10001)", "up to 10,000"),
        ("round(2.5, 99)", "at most 30 places"),
        ("=", "empty"),
        ("90° + 45°", "within sin"),
        ("0**-1", "Division by zero."),
        # Units and money.
        ("5 km in miles", "`convert`"),
        ("20 € * 3", "`convert`"),
        # What looks like a date and is read as a division or a subtraction by others.
        ("24.12.2026 - 27.11.2026", "2026-12-24"),
        ("2026-12-24", "2026-12-24"),
        ("2026-02-30 - 2026-02-01", "no date 2026-02-30"),
        ("2026-12-24 + 99999 years", "too far"),
    ):
        with pytest.raises(BadArguments) as caught:
            await ask(expression)
        assert sentence in str(caught.value), expression


async def test_the_time_between_two_dates_is_counted_in_all_units(context: ToolContext) -> None:
    """In days, weeks, months and working days, whichever date comes first; how a percentage was read is said, too."""
    ask = Asked(Calculator(), context)
    data = await ask("2027-01-31 - 2026-11-27")
    assert {name: data[name] for name in ("result", "from", "in_weeks", "in_months", "working_days")} == {
        "result": "65 days",
        "from": "Friday 2026-11-27",
        "in_weeks": "9 weeks and 2 days",
        "in_months": "2 months and 4 days",
        "working_days": 45,
    }
    assert (await ask("2028-02-01 - 2026-11-27"))["in_months"] == "14 months and 5 days"
    assert "of the number before it" in (await ask("200 + 15%"))["note"]


ATTACKS = [
    "9**9**9",
    "(9**4000000)*(9**4000000)*(9**4000000)*(9**4000000)",
    "(1 + 1e-999)**(10**900)",
    "1<<10**9",
    "[a for a in range(10**4) for b in range(10**4) for c in range(10**4)]",
    "factorial(factorial(9))",
    "lcm(9**1400, 7**1600, 5**1900, 11**1300)",
    "exp(exp(exp(9)))",
    "1e99999999999999999999",
    "().__class__.__base__.__subclasses__()",
    "lambda: 1",
    "__import__('os').system('true')",
    "True + 1",
    "nan",
    "＿＿class＿＿",
    "\ud800",
    "\ufdfa" * 500,
    "(" * 200 + "1" + ")" * 200,
    *(f"{before * 149}1{after * 149}" for before, after in (("-", ""), ("not ", ""), ("[", "]"), ("1 or ", ""))),
    "max(" * 120 + "1" + ")" * 120,
    "abs(" * 90 + BIG + ")" * 90,
    "+".join(["factorial(3200)"] * 30),
    "+".join([f"cbrt({BIG})"] * 30),
    "*".join(["sqrt(7)"] * 60),
]


def test_an_attack_ends_in_a_small_result_or_a_sentence() -> None:
    """Nothing but `BadArguments` is raised, and no more memory is taken than a page of text is worth."""
    for expression in ATTACKS:
        result, sentence = "", "Calculated."
        with memory_below(MAX_MEMORY_BYTES):
            try:
                result = calculate(expression)
            except BadArguments as error:
                sentence = str(error)
        assert sentence.endswith((".", "?"))
        assert len(sentence) < 600  # with all names that are known
        assert len(result) <= 1_010
        assert re.fullmatch(r"(-?[0-9]+(\.[0-9]+)?(e[+-][0-9]+)?)?", result)
