"""Pure: what a message wants converted, as far as patterns can tell: an amount, its unit, and the target unit.

Knows only units and currencies that people name in a chat, so that "2 tickets to Paris" stays a question. Left to
others: the value of the units (`tools.conversion`).
"""

import re
from collections.abc import Mapping

_UNITS = (
    r"km/h|kmh|mph|m/s|knots?|square (?:feet|foot|met(?:er|re)s?|miles?|kilomet(?:er|re)s?)|sq ft|m2|km2"
    r"|kilomet(?:er|re)s?|centimet(?:er|re)s?|millimet(?:er|re)s?|met(?:er|re)s?|km|cm|mm|m|miles?|mi|yards?|yd"
    r"|feet|foot|ft|inch(?:es)?|nautical miles?|acres?|hectares?|ha"
    r"|kilograms?|kilos?|kg|grams?|g|milligrams?|mg|pounds?|lbs?|ounces?|oz|stone|tonn?es?"
    r"|lit(?:er|re)s?|millilit(?:er|re)s?|ml|l|gallons?|pints?|cups?|fluid ounces?"
    r"|(?:degrees? )?(?:celsius|fahrenheit)|°[CF]|kelvin"
    r"|seconds?|minutes?|hours?|days?|weeks?|joules?|kj|kcal|calories|kwh|watts?|kw|hp|horsepower|bar|psi|hpa"
)
_MONEY = (
    ("euros?|€", "EUR"),
    (r"(?:us )?dollars?|bucks?|\$", "USD"),
    ("pounds? sterling|british pounds?|£", "GBP"),
    ("swiss francs?|francs?", "CHF"),
    ("yen|¥", "JPY"),
)
_CODES = (
    r"aud|brl|cad|chf|cny|czk|dkk|eur|gbp|hkd|huf|idr|ils|inr|isk|jpy|krw|mxn|myr|nok|nzd|php|pln|ron|sek|sgd|thb|usd"
    r"|zar"
)
"""Currencies that people also name in small letters; other words of three letters would be taken for currencies."""
_NAME = rf"(?:{_UNITS}|{'|'.join(words for words, _ in _MONEY)}|{_CODES}|(?-i:[A-Z]{{3}}))"
_AMOUNT = r"(?P<amount>[-−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)"
_LEAD = r"(?:convert |how much (?:is|are) |what (?:is|are) |what's )?"
_FORWARD = re.compile(rf"{_LEAD}{_AMOUNT}\s?(?P<unit>{_NAME}) (?:in|into|to|as) (?P<to>{_NAME})", re.IGNORECASE)
_SIGN_FIRST = re.compile(rf"{_LEAD}(?P<unit>[€$£¥]){_AMOUNT} (?:in|into|to|as) (?P<to>{_NAME})", re.IGNORECASE)
_PLEASE = re.compile(",? please$", re.IGNORECASE)
_BACKWARD = re.compile(
    rf"how (?:many|much) (?P<to>{_NAME}) (?:is|are|in|are in|is in|make) {_AMOUNT}\s?(?P<unit>{_NAME})", re.IGNORECASE
)


def conversion(clause: str) -> Mapping[str, object] | None:
    """The arguments of the call that converts it: amount, unit, to; None if there is nothing to convert."""
    bare = _PLEASE.sub("", clause)
    found = next(filter(None, (form.fullmatch(bare) for form in (_FORWARD, _SIGN_FIRST, _BACKWARD))), None)
    if found is None:
        return None
    amount = float(found["amount"].replace(",", "").replace("−", "-"))
    return {"amount": amount, "unit": _named(found["unit"]), "to": _named(found["to"])}


def _named(word: str) -> str:
    """The unit's name in the tool; money by its code."""
    for words, code in _MONEY:
        if re.fullmatch(words, word, re.IGNORECASE):
            return code
    if re.fullmatch(_CODES, word, re.IGNORECASE):
        return word.upper()
    return re.sub(r"^degrees? ", "", word, flags=re.IGNORECASE)
