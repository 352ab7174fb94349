"""The words of the code: names that a newcomer of the field knows, and each of them for one thing."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
MODULES = sorted(path for room in ("bot", "store", "tools") for path in (ROOT / room).rglob("*.py"))
TREES = {str(path.relative_to(ROOT)): ast.parse(path.read_text(encoding="utf-8")) for path in MODULES}

Function = ast.FunctionDef | ast.AsyncFunctionDef

IRREGULAR = (
    "asked|bound|built|chosen|drawn|felt|fed|forgot|forgotten|found|given|gone|got|heard|held|kept|known|led|left|"
    "lost|made|meant|met|paid|said|seen|sent|shown|spent|spoken|taken|thrown|told|worn|written|unread|unsent|untold"
)
PARTICIPLE = re.compile(rf"(?:[a-z]*[^e]ed|{IRREGULAR})")
OTHER_BOUND = re.compile(
    r"_?(?:MOST|LEAST|LONGEST|SHORTEST|FEWEST|LARGEST|SMALLEST|HIGHEST|LOWEST|DEEPEST|FARTHEST|LATEST|EARLIEST)(?:_[A-Z]|\Z)"
)
NO_PARTICIPLES = {"feed", "read", "need", "speed", "seed", "embed", "shed"}

SHARED = {
    "Reminders": "a feature's service, its port for tools and its table",
    "Quotas": "a service and its port for tools",
    "Journal": "a turn's journal and its table",
    "Notices": "a service and its table",
    "Summaries": "a feature's service and its table",
    "Turns": "a service and its table",
    "Unavailable": "an error of two trees",
}
"""Names of two classes, which are the same thing at another height."""


def public_functions(tree: ast.Module) -> Iterator[Function]:
    """Those of the module and of its classes, without what stands inside of functions."""
    for node in tree.body:
        if isinstance(node, Function):
            yield node
        elif isinstance(node, ast.ClassDef):
            yield from (inner for inner in node.body if isinstance(inner, Function))


def is_a_value(function: Function) -> bool:
    """Whether it is read like a field: properties may say what something is."""
    return any("property" in ast.unparse(decorator) for decorator in function.decorator_list)


def test_a_function_is_a_verb_or_what_it_returns() -> None:
    """Never a bare participle, of which nobody knows what it gives."""
    named = [(path, one) for path, tree in TREES.items() for one in public_functions(tree) if not is_a_value(one)]
    bare = [(path, one.name) for path, one in named if PARTICIPLE.fullmatch(one.name)]
    assert [(path, name) for path, name in bare if name not in NO_PARTICIPLES] == []


def test_a_bound_has_one_prefix() -> None:
    """`MAX_` and `MIN_`."""
    names = [(path, node.id) for path, tree in TREES.items() for node in ast.walk(tree) if isinstance(node, ast.Name)]
    assert [(path, name) for path, name in names if OTHER_BOUND.match(name)] == []


def test_one_name_is_one_class() -> None:
    """But where a feature, its port and its table are the same thing."""
    places: defaultdict[str, list[str]] = defaultdict(list)
    for path, tree in TREES.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(path)
    assert {name: where for name, where in places.items() if len(where) > 1 and name not in SHARED} == {}
    assert [name for name in SHARED if len(places[name]) < 2] == []


REFERENCE = re.compile(r"`((?:bot|store|tools)(?:\.\w+)+)`")


def test_what_is_pointed_at_is_there() -> None:
    """A module, or what its text names: a pointer that outlived a move sends people astray."""
    places: defaultdict[str, list[str]] = defaultdict(list)
    for path in TREES:
        for name in REFERENCE.findall((ROOT / path).read_text(encoding="utf-8")):
            places[name].append(path)
    assert {name: paths for name, paths in places.items() if not is_there(name.split("."))} == {}


LEFT = re.compile(r"Left to others:(.*?)(?:\n\n|\Z)", re.DOTALL)


def test_whom_something_is_left_to_is_there() -> None:
    """A name without its folder is that of a neighbour, or of a room above."""
    gone: list[tuple[str, str]] = []
    for path, tree in TREES.items():
        here = (ROOT / path).parent
        named = [name for text in LEFT.findall(ast.get_docstring(tree) or "") for name in re.findall(r"`(\w+)`", text)]
        for name in named:
            places = [folder / name for folder in (here, here.parent, ROOT)]
            if not any(place.is_dir() or place.with_suffix(".py").is_file() for place in places):
                gone.append((path, name))
    assert gone == []


def is_there(names: list[str]) -> bool:
    for end in range(len(names), 0, -1):
        folder = ROOT.joinpath(*names[:end])
        found = [file for file in (folder.with_suffix(".py"), *folder.glob("__init__.py*")) if file.is_file()]
        if found:
            texts = "".join(file.read_text(encoding="utf-8") for file in found)
            return all(re.search(rf"\b{name}\b", texts) for name in names[end:])
    return False
