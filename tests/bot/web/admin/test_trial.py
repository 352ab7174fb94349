"""Trial calls: which tools a page may call, and a form out of what each of them takes."""

from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from bot.app import doctor_deps
from bot.chat.journal import ToolRun
from bot.doctor.tools import inventory
from bot.messages import CallId, ToolAnswer
from bot.web.admin.trial import _answer, _arguments, fields_of, may_be_tried
from tests.bot.web.admin.browsers import settings_of
from tools import Arguments, ToolSpec
from tools.mcp.formats import arguments_of


def spec_of(arguments: type[Arguments], **more: Any) -> ToolSpec:
    return ToolSpec(name="look", description="Looks.", arguments=arguments, **more)


class Plain(Arguments):
    words: str = Field(description="What to look for.")
    count: int = 3
    share: float | None = None
    kind: Literal["a", "b"] = "a"
    sites: tuple[str, ...] = ()
    deep: bool = True
    wide: bool = False


class Nested(BaseModel):
    inner: str


class Deep(Arguments):
    things: list[Nested]


class Mixed(Arguments):
    words: str
    things: tuple[Nested, ...] = ()
    either: str | int = 0


def test_what_a_server_leaves_open_is_no_field() -> None:
    """A schema may be nothing but true or false, anywhere: one such tool must not take the page of all tools away."""
    properties = {
        "any": True,
        "none": False,
        "items": {"type": "array", "items": True},
        "either": {"anyOf": [True, {"type": "null"}]},
        "words": {"type": "string"},
    }
    fields = fields_of(spec_of(arguments_of({"properties": properties})))
    assert fields is not None
    assert [field.name for field in fields] == ["words"]
    assert not may_be_tried(spec_of(arguments_of({"properties": properties, "required": ["any"]})))


def test_a_form_holds_what_a_tool_takes() -> None:
    """Each argument by its kind; what was left empty is left out, what is no number is left for the tool to refuse."""
    fields = fields_of(spec_of(Plain))
    assert fields is not None
    kinds = ["text", "integer", "number", "choice", "lines", "check", "check"]
    assert [field.kind for field in fields] == kinds
    assert [field.is_required for field in fields] == [True] + [False] * 6
    given = {0: " x ", 1: "7", 2: "0,5", 4: "one\r\n\r\n two", 6: "yes"}
    found = _arguments(fields, {f"argument-{at}": value for at, value in given.items()})
    assert list(found.values()) == ["x", 7, 0.5, ["one", "two"], False, True]
    wrong = {"argument-1": "many", "argument-5": "yes", "argument-9": "x", "words": "y"}
    assert _arguments(fields, wrong) == {"count": "many"}


def test_what_no_form_can_hold() -> None:
    """Where it is needed there is no form; where it is not, the rest has one."""
    assert fields_of(spec_of(Deep)) is None
    assert not may_be_tried(spec_of(Deep))
    fields = fields_of(spec_of(Mixed))
    assert fields is not None
    assert [field.name for field in fields] == ["words"]


@pytest.mark.parametrize(
    "more",
    [
        {"effects": "once"},
        {"effects": "repeatable"},
        {"label": "private"},
        {"label": "kept"},
        {"approval": "always"},
        {"approval": "unless_named"},
    ],
)
def test_what_acts_or_is_private_is_not_tried(more: dict[str, Any]) -> None:
    """Nor what its author wants a person to agree to."""
    assert may_be_tried(spec_of(Plain))
    assert not may_be_tried(spec_of(Plain, **more))


def test_which_of_our_tools_may_be_tried(tmp_path: Path) -> None:
    """Those that look at the world; none that remembers, reminds, reads databases or what people predicted."""
    settings = settings_of(tmp_path)
    groups = inventory(settings, doctor_deps(settings).tool_deps)
    tried = {tool.spec.name for group in groups for tool in group.tools if may_be_tried(tool.spec)}
    assert {"calculate", "get_weather", "web_search", "web_fetch"} <= tried
    assert not {"remind", "remember", "predict", "list_predictions", "db_query"} & tried


def test_an_answer_is_cut() -> None:
    """However much a tool says."""
    content = '{"ok":true,"untrusted_data":{"text":"' + "x" * 100_000 + '"}}'
    answer = ToolAnswer(call_id=CallId("1"), name="look", content=content, ok=True)
    run = ToolRun(answer=answer, arguments={}, outcome="ok", latency_seconds=0.1, cost_usd=Decimal(0), tool="look")
    shown = _answer(run)
    assert (len(shown.text), shown.is_cut, shown.is_ok, shown.why) == (20_000, True, True, "")


def test_why_it_failed_is_said_for_people() -> None:
    """Above the answer as a model gets it."""
    content = '{"ok":false,"error":"rate_limited","message":"look was called too often"}'
    answer = ToolAnswer(call_id=CallId("1"), name="look", content=content, ok=False)
    run = ToolRun(
        answer=answer, arguments={}, outcome="rate_limited", latency_seconds=0.1, cost_usd=Decimal(0), tool="look"
    )
    assert _answer(run).why == "That's enough for the moment; please try again later."
