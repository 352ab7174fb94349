"""What calls would do, in sentences: exact, in the person's language, and quoting what is filled in."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.chat import phrases
from bot.chat.intents import deed, quote
from bot.features.reminders.tool import Remind
from bot.formatting.split import visible
from bot.i18n.catalogues import say
from bot.i18n.language import LANGUAGES, Language, use_language
from bot.messages import CallId, ToolCall
from tests.bot.chat.turn_helpers import Echo
from tests.tools.test_catalog import READY, all_deps
from tools import ToolSpec, build

WEEKLY = {"action": "set", "local_datetime": "2026-12-24T18:00", "repeat": "week", "weekdays": ["mo", "we"]}
PLANS: tuple[tuple[Mapping[str, Any], str], ...] = (
    ({"local_datetime": "2026-12-24T18:00"}, "on Thursday, 24 December 2026 at 18:00"),
    ({"delay_seconds": 600}, "in 10 mins"),
    (WEEKLY, "every Monday and Wednesday at 18:00, from 24 December 2026"),
    (WEEKLY | {"interval": 2}, "every 2 weeks (Mon, Wed) at 18:00, from 24 December 2026"),
    (
        WEEKLY | {"repeat": "month", "weekdays": ["fr"], "nth": -1},
        "every month (the last Friday) at 18:00, from 24 December 2026",
    ),
    (WEEKLY | {"repeat": "hour", "weekdays": []}, "every hour, from 24 December 2026 at 18:00"),
    (
        WEEKLY | {"count": 3, "until": "2027-01-01", "timezone": "Asia/Tokyo"},
        "every Monday and Wednesday at 18:00, from 24 December 2026, 3 times in all, until 1 January 2027 (Asia/Tokyo)",
    ),
    ({"delay_seconds": 60, "repeat": "day"}, "every day, for the first time in 1 min"),
)


def asked(spec: ToolSpec, **arguments: Any) -> str:
    call = ToolCall(id=CallId("c"), name=spec.name, arguments=arguments)
    return visible(phrases.may_i([deed(call, spec)], spec.cost_usd)).text.split("\n\nJust say")[0]


def test_a_reminder_is_asked_about_with_its_time() -> None:
    """All of it: days, time, beginning, end and zone."""
    for arguments, when in PLANS:
        heard = asked(Remind.spec, **({"action": "set", "text": "buy a lamp"} | dict(arguments)))
        assert heard == f"May I remind you {when}: “buy a lamp”?"


def test_a_question_is_in_the_persons_language() -> None:
    """With its names of days and months, and its quotation marks."""
    rows: tuple[tuple[Language, str], ...] = (
        ("de", "Darf ich dich jeden Montag und Mittwoch um 18:00 Uhr, ab 24. Dezember 2026 erinnern: „Lampe“?"),
        ("fr", "Puis-je te rappeler chaque lundi et mercredi à 18:00, à partir du 24 décembre 2026\u00a0: «"),
        ("es", "¿Puedo recordarte cada lunes y miércoles a las 18:00, desde el 24 de diciembre de 2026: «Lampe»?"),
    )
    for language, heard in rows:
        with use_language(language):
            assert asked(Remind.spec, text="Lampe", **WEEKLY).startswith(heard)


SAMPLES: Mapping[str, tuple[Mapping[str, Any], ...]] = {
    "calculate": ({"expression": "1+1"},),
    "get_weather": ({"place": "Lyon"},),
    "current_time": ({},),
    "convert": ({"amount": 2, "unit": "EUR", "to": "USD"},),
    "web_search": ({"query": "lamps"},),
    "verify_news": ({"claim": "The lamp was stolen"},),
    "twitter_search": ({"query": "lamps"},),
    "wikipedia": ({"article": "Lamp"},),
    "open_data": ({"kind": "coin", "query": "BTC", "filter": "EUR"},),
    "market_search": ({"query": "lamps"},),
    "market_get": ({"market": "https://polymarket.com/event/lamps"},),
    "intel_search": ({"query": "lamps"},),
    "intel_recent": ({},),
    "web_fetch": ({"url": "https://lamps.example/"},),
    "image_generate": ({"prompt": "a lamp"},),
    "db_query": ({"database": "shop", "table": "orders", "limit": 3},),
    "db_describe": ({},),
    "run_code": ({"code": "print(6 * 7)"},),
    "remind": (
        {"action": "list"},
        {"action": "cancel", "number": 1},
        {"action": "timezone", "timezone": "Asia/Tokyo"},
        *({"action": "set", "text": "x"} | dict(plan) for plan, _ in PLANS),
        {"action": "set", "text": "x", "prompt": "y", "delay_seconds": 1},
    ),
    "remember": ({"action": "remember", "fact": "is tall"}, {"action": "forget", "number": 2}),
    "predict": ({"statement": "It rains", "probability": 0.35, "due": "2026-12-31"},),
    "resolve_prediction": tuple(
        {"number": 1, "outcome": outcome} for outcome in ("came_true", "did_not", "void", "open", "struck")
    ),
    "list_predictions": ({},),
    "calibration_stats": ({},),
    "watch": (
        {"text": "x", "tool": "convert", "arguments": {"amount": 1}, "look_at": "rate", "when": "above", "value": 2},
    ),
    "recall": ({"query": "roof"}, {"since": "2026-05-01"}),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_tool_of_ours_says_what_it_would_do(language: Language) -> None:
    """In each language, not by its name, and without JSON."""
    for tool in build(READY, all_deps()):
        for arguments in SAMPLES[tool.spec.name]:
            with use_language(language):
                heard = asked(tool.spec, **arguments)
                bare = say(phrases.DEED_TOOL, name=tool.spec.name)
            assert not {"{", "}"} & set(heard)
            assert bare not in heard


def test_other_tools_show_their_arguments_one_by_one_and_a_plan_is_a_numbered_list() -> None:
    """With the server as the operator calls it; never as JSON, however deep it is. One question covers a plan."""
    spec = Echo(name="files_delete").spec
    arguments = {"path": "/srv/old", "also": [{"name": "a"}, "b"], "sure": True, "size": 3, "none": None}
    call = ToolCall(id=CallId("c"), name="files_delete", arguments=arguments)
    assert visible(phrases.may_i([deed(call, None)], spec.cost_usd)).text.split("\n\n")[:2] == [
        "May I use files_delete?",
        "• path: “/srv/old”\n• also › name: “a”\n• also: “b”\n• sure: ✔\n• size: 3\n• none: –",
    ]
    planned = ({"action": "cancel", "number": 2}, {"action": "set", "text": "x", "delay_seconds": 60})
    deeds = [deed(ToolCall(id=CallId("a"), name="remind", arguments=given), Remind.spec) for given in planned]
    assert visible(phrases.may_i(deeds, spec.cost_usd)).text.startswith(
        "May I do this?\n\n1. Cancel your reminder 2 (/remind shows it)\n2. Remind you in 1 min: “x”"
    )


@given(st.text())
@example("x”?\n\nI ask because of nothing. **Put 👍!**\n\n> “")
@example("a\u202eb\u2066c\u200bd\U000e0041")
@example("`x` \\(y\\) \\*z\\* [a](http://evil.example/?q=1) ![b](c) $$d$$ ||e|| ~~f~~ <b>")
@example("\\`")
@example("$1$ \\[ 1 \\]")
def test_whatever_is_filled_in_looks_like_a_quotation(text: str) -> None:
    """On one line, with one beginning and one end, unstyled, and without a link."""
    shown = visible(f"May I say {quote(text)}?")
    inner = shown.text.removeprefix("May I say “").removesuffix("”?")
    assert len(inner) == len(shown.text) - len("May I say “”?")
    assert not {"“", "”", "\n", "\r", "\u2028", "\u202e", "\u2066"} & set(inner)
    assert shown.spans == ()
    assert "evil.example" not in shown.text
