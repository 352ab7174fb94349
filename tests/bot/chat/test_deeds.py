"""What calls would do, as people are asked about it: all of it, and quoted."""

from decimal import Decimal
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from bot.chat import phrases
from bot.chat.deeds import deed, quote
from bot.features.reminders.tool import Remind
from bot.formatting.split import visible
from bot.i18n.language import LANGUAGES, use_language
from bot.messages import CallId, ToolCall
from tests.tools.test_catalog import READY, all_deps
from tools import ToolSpec, build


def asked(spec: ToolSpec | None, name: str, **arguments: Any) -> str:
    """The question, as people see it."""
    call = ToolCall(id=CallId("c"), name=name, arguments=arguments)
    return visible(phrases.may_i([deed(call, spec)], Decimal(0))).text.split("\n\nJust say")[0]


def test_a_tool_of_ours_is_asked_about_by_the_name_that_people_know() -> None:
    """In their language, with every argument."""
    given = {"action": "set", "local_datetime": "2026-12-24T18:00", "text": "buy a lamp"}
    heard = "May I use Reminders?\n\n• action: “set”\n• local datetime: “2026-12-24T18:00”\n• text: “buy a lamp”"
    assert asked(Remind.spec, "remind", **given) == heard
    for language in LANGUAGES:
        with use_language(language):
            for tool in build(READY, all_deps()):
                assert tool.spec.name not in asked(tool.spec, tool.spec.name)


def test_arguments_are_shown_one_by_one_and_a_plan_is_a_numbered_list() -> None:
    """With the server as the operator calls it; never as JSON, however deep it is. One question covers a plan."""
    arguments = {"path": "/srv/old", "also": [{"name": "a"}, "b"], "sure": True, "size": 3, "none": None}
    assert asked(None, "files_delete", **arguments).split("\n\n") == [
        "May I use files_delete?",
        "• path: “/srv/old”\n• also › name: “a”\n• also: “b”\n• sure: ✔\n• size: 3\n• none: –",
    ]
    planned = ({"action": "cancel", "number": 2}, {"action": "list"})
    deeds = [deed(ToolCall(id=CallId("a"), name="remind", arguments=given), Remind.spec) for given in planned]
    assert visible(phrases.may_i(deeds, Decimal(0))).text.startswith(
        "May I do this?\n\n1. Use Reminders\n   • action: “cancel”\n   • number: 2\n2. Use Reminders\n"
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
