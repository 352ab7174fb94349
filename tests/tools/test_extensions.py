"""Tools of other distributions: what counts as one, what is left out and why, and that nothing of it stops a start."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.tools.conftest import USER_AGENT
from tests.tools.distributions import TIDES, found, put
from tools import (
    Extensions,
    ExtensionTools,
    Fetcher,
    Http,
    Options,
    build_extensions,
    find_entry_points,
    import_extensions,
)

SPEC = """
from tools import Arguments, Fetcher, Http, Options, Result, ToolSpec
class Nothing(Arguments):
    pass
class Base:
    spec = ToolSpec(name="knots", description="Ties knots.", arguments=Nothing)
    async def run(self, arguments, context):
        return Result(data={})
"""


def read(folder: Path, points: Mapping[str, str], module: str, *, off: frozenset[str] = frozenset()) -> Extensions:
    """What is imported of a distribution with this module, which is called `theirs`."""
    put(folder, "aldis-theirs", points, {"theirs": module})
    with found(folder):
        return import_extensions(find_entry_points(), off=off, taken={"weather", "max_tool_calls"})


def built(extensions: Extensions, taken: frozenset[str] = frozenset(), **options: Options) -> ExtensionTools:
    return build_extensions(extensions, options, http=Http(USER_AGENT), fetcher=Fetcher(USER_AGENT), taken=taken)


def why(extensions: Extensions, taken: frozenset[str] = frozenset()) -> str:
    """Why the only one of them is left out."""
    [failure] = built(extensions, taken).failures
    assert failure.distribution == "aldis-theirs 1.2"
    return failure.why


async def test_a_tool_of_another_distribution(tmp_path: Path) -> None:
    """It is found by its entry point, has options of its own, and is handed what its constructor asks for."""
    extensions = read(tmp_path, {"tides": "theirs:Tides"}, TIDES)
    [extension] = extensions.found
    assert (extension.name, extension.distribution) == ("tides", "aldis-theirs 1.2")
    assert set(extension.options.model_fields) == {"enabled", "harbour", "most"}
    [tides] = built(extensions).by_name["tides"]
    result = await tides.run(tides.spec.arguments(), None)  # pyright: ignore[reportArgumentType]  (it reads no context)
    assert result.data == {"harbour": "Cuxhaven", "most": 2}
    [tides] = built(extensions, tides=extension.options.model_validate({"most": "3"})).by_name["tides"]
    assert (await tides.run(tides.spec.arguments(), None)).data["most"] == 3  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    "shape",
    [
        "class Made(Base): pass",
        "def Made(): return Base()",
        "def Made(http: Http, fetcher: Fetcher, patience: int = 3, **more): return Base(), ",
        "class Made(Base):\n    def __init__(self, *, options: 'Options'): assert options.enabled",
    ],
    ids=["a class alone", "a function", "several parameters, a tuple", "a quoted annotation"],
)
def test_the_shapes_of_a_factory(shape: str, tmp_path: Path) -> None:
    """A class or a function; with what it asks for by name, with nothing, and with defaults of its own."""
    made = built(read(tmp_path, {"knots": "theirs:Made"}, SPEC + shape))
    assert made.failures == ()
    assert [tool.spec.name for tool in made.by_name["knots"]] == ["knots"]


@pytest.mark.parametrize(
    ("module", "told"),
    [
        ("1 / 0", "cannot be imported: ZeroDivisionError"),
        ("import not_there_at_all", "cannot be imported: ModuleNotFoundError (not_there_at_all)"),
        ("raise SystemExit('secret')", "cannot be imported: SystemExit"),
        ("Made = 3", "cannot be imported: TypeError"),
        ("def Made(store): pass", "cannot be built: TypeError"),
        ("def Made(options: dict): pass", "must annotate its parameter options"),
        ("class Mine(Options):\n    key: str\ndef Made(options: Mine): pass", "has options without a default"),
        ("def Made(): raise ValueError('secret')", "cannot be built: ValueError"),
        ("def Made(): return None", "gives no tool"),
        ("def Made(): return Base(), object()", "gives no tool"),
        ("class Made(Base):\n    def run(self): pass", "gives no tool"),
        (
            "class Made(Base):\n    spec = ToolSpec(name='Knots!', description='', arguments=Nothing)",
            "whose name is none",
        ),
        ("class Made(Base):\n    spec = ToolSpec(name='knots', description='', arguments=3)", "cannot be built: Attri"),
        ("def Made(): return Base(), Base()", "gives a tool knots, and there is one already"),
        (
            "class It(Options):\n    def missing_settings(self): raise OSError('secret')\ndef Made(options: It): pass",
            "has options that cannot be used: OSError",
        ),
    ],
)
def test_what_is_no_tool_is_left_out_and_told(module: str, told: str, tmp_path: Path) -> None:
    """Whatever somebody's code does when it is imported or built; nothing that it says in its errors is repeated."""
    reason = why(read(tmp_path, {"knots": "theirs:Made"}, SPEC + module))
    assert told in reason
    assert "secret" not in reason


@pytest.mark.parametrize(
    "name", ["Knots", "1knots", "my-knots", "a__b", "knots_", "model_knots", "weather", "max_tool_calls"]
)
def test_a_name_that_cannot_be_a_group_of_settings(name: str, tmp_path: Path) -> None:
    """It could not be set, or is set already; the module is not even imported."""
    assert why(read(tmp_path, {name: "theirs:Made"}, "raise AssertionError")).startswith(
        ("it cannot be called", "it is c")
    )


def test_a_name_that_a_tool_has_already(tmp_path: Path) -> None:
    """A tool of Aldis cannot be put out of its place by another distribution, nor one of those by the next."""
    extensions = read(tmp_path, {"knots": "theirs:Made", "ropes": "theirs:Made"}, SPEC + "class Made(Base): pass")
    made = built(extensions)
    assert set(made.by_name) == {"knots"}
    assert [failure.name for failure in made.failures] == ["ropes"]
    taken = built(extensions, frozenset({"knots"}))
    assert taken.by_name == {}
    assert {failure.why for failure in taken.failures} == {"it gives a tool knots, and there is one already"}


def test_what_is_switched_off_is_not_imported(tmp_path: Path) -> None:
    """Alone, or with all others."""
    extensions = read(tmp_path, {"knots": "theirs:Made"}, "raise AssertionError", off=frozenset({"knots"}))
    assert extensions == Extensions(switched_off=("knots",))
    with found(tmp_path):
        assert import_extensions(find_entry_points(), off=None, taken=()) == extensions
