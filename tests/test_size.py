"""The size of the house: each room has a number that only falls, until it is at its budget.

Who makes a room smaller lowers its number here, in the same commit. Counted are the lines of Python as the formatter
leaves them, docstrings included; beside them what else a reader has to carry: modules, tests, sentences, settings,
words of documentation, and the members of the two widest seams.
"""

import ast
import re
import statistics
import tomllib
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from tools import ToolSpec

ROOT = Path(__file__).parents[1]

ROOMS = {
    "bot": (1580, 1580),
    "bot/settings": (994, 994),
    "bot/cli": (687, 687),
    "bot/app": (917, 917),
    "bot/i18n": (368, 368),
    "bot/chat": (7151, 7151),
    "bot/commands": (1576, 1576),
    "bot/features": (4882, 4882),
    "bot/loops": (1738, 1738),
    "bot/signal": (2760, 2760),
    "bot/terminal": (359, 359),
    "bot/formatting": (751, 751),
    "bot/media": (1815, 1815),
    "bot/models": (2690, 2690),
    "bot/web": (2087, 2087),
    "bot/doctor": (931, 931),
    "store": (4224, 4224),
    "tools": (7979, 7989),
}
"""Lines of Python: a room's number today, and its budget."""
MAX_LINES = 43_500
"""The sum of the budgets; a room may only have more if another has less."""

PARTS: dict[str, str] = dict.fromkeys(("bot/trust", "bot/money", "bot/access"), "bot/chat")
"""Folders that are counted as a part of another room."""

MODULES = (249, 310)
TEST_LINES = (53938, 54500)
SENTENCES = (383, 630)
DOCS_WORDS = (16728, 19500)
SETTINGS = (128, 135)
PACKAGES = (27, 29)
TRANSPORT_MEMBERS = (14, 14)
TOOL_FIELDS = (14, 14)
OTHER_LINES = (1191, 1425)
"""HTML, JavaScript, CSS and SQL."""
CI_AND_DOCKER_LINES = (2498, 2539)

GENERATED = {"docs/settings.md", "docs/commands.md", "docs/signal.md", "docs/coverage.md"}
RECORDED = ("tests/bot/signal/envelopes/",)
"""What the outside world sent, recorded with its source."""
MAX_FUNCTION_LINES = 60
LONG: set[str] = set()
"""Functions that are longer still; the list only shrinks."""


def files() -> tuple[str, ...]:
    """Returns the paths of all files of the project, without what a run or a build leaves behind."""
    folders = ("bot", "store", "tools", "tests", "docs", "docker", ".ci")
    found = [path for folder in folders for path in (ROOT / folder).rglob("*") if "__pycache__" not in path.parts]
    return tuple(sorted(str(path.relative_to(ROOT)) for path in [*found, *ROOT.glob("*.md")] if path.is_file()))


FILES = files()
PRODUCT = tuple(path for path in FILES if path.endswith(".py") and path.split("/")[0] in {"bot", "store", "tools"})
TREES = {path: ast.parse((ROOT / path).read_text(encoding="utf-8")) for path in PRODUCT}


def lines(path: str) -> int:
    """Returns how many lines a file has."""
    return (ROOT / path).read_bytes().count(b"\n")


def room(path: str) -> str:
    """Returns the room that a module belongs to: the longest folder that is listed, or the folder it stands in."""
    folders = ["/".join(path.split("/")[:depth]) for depth in range(path.count("/"), 0, -1)]
    for folder in folders:
        if folder in PARTS or folder in ROOMS:
            return PARTS.get(folder, folder)
    return folders[-1]


def test_a_room_is_not_above_its_number() -> None:
    """What is added to a room is taken from it first; a folder without a number needs one, and so a reason."""
    sizes: Counter[str] = Counter()
    for path in PRODUCT:
        parts = path.split("/")
        home = "/".join(parts[:2]) if parts[0] == "bot" and len(parts) > 2 else parts[0]
        assert home in ROOMS or home in PARTS, f"{home} has no number in ROOMS"
        sizes[room(path)] += lines(path)
    assert {name: size for name, size in sizes.items() if size > ROOMS[name][0]} == {}
    assert sum(budget for _, budget in ROOMS.values()) <= MAX_LINES


def test_what_else_is_to_be_carried_only_falls() -> None:
    """Modules, tests, sentences, settings, words, packages: each at most its number."""
    tests = [path for path in FILES if path.startswith("tests/") and not path.endswith((".lock", *RECORDED))]
    pages = [path for path in FILES if path.endswith(".md") and path not in GENERATED | {"CHANGELOG.md"}]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = {
        "MODULES": (len(PRODUCT), MODULES),
        "TEST_LINES": (sum(lines(path) for path in tests if not path.startswith(RECORDED)), TEST_LINES),
        "SENTENCES": (sentences(), SENTENCES),
        "DOCS_WORDS": (sum(len((ROOT / path).read_text(encoding="utf-8").split()) for path in pages), DOCS_WORDS),
        "SETTINGS": (settings(), SETTINGS),
        "PACKAGES": (len(project["dependencies"]), PACKAGES),
        "TRANSPORT_MEMBERS": (transport_members(), TRANSPORT_MEMBERS),
        "TOOL_FIELDS": (len(ToolSpec.__dataclass_fields__), TOOL_FIELDS),
        "OTHER_LINES": (of_kind(".html", ".js", ".css", ".sql"), OTHER_LINES),
        "CI_AND_DOCKER_LINES": (
            sum(lines(path) for path in FILES if re.match(r"\.ci/|docker/(?!.*\.lock)", path)),
            CI_AND_DOCKER_LINES,
        ),
    }
    assert {name: size for name, (size, (most, _)) in found.items() if size > most} == {}


def of_kind(*endings: str) -> int:
    """Returns the lines of all files of the product with one of these endings."""
    return sum(
        lines(path) for path in FILES if path.startswith(("bot/", "store/", "tools/")) and path.endswith(endings)
    )


def sentences() -> int:
    """Returns how many sentences the German catalogue holds, its head left out."""
    catalogue = next(path for path in FILES if path.endswith("/de/LC_MESSAGES/aldis.po"))
    return len(re.findall(r"^msgctxt ", (ROOT / catalogue).read_text(encoding="utf-8"), re.MULTILINE))


def settings() -> int:
    """Returns how many variables the page of settings lists; a test elsewhere compares it with the code."""
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    return len(re.findall(r"^\| `[A-Z]", page, re.MULTILINE))


def transport_members() -> int:
    """Returns how many members `Transport` asks of a way to people."""
    classes = (node for tree in TREES.values() for node in tree.body if isinstance(node, ast.ClassDef))
    (found,) = [node for node in classes if node.name == "Transport"]
    return sum(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.AnnAssign) for node in found.body)


def docstring_lines(node: ast.AST) -> int:
    """Returns how many lines the docstring of a module, class or function takes."""
    body = getattr(node, "body", [])
    first = body[0] if isinstance(body, list) and body else None
    is_text = (
        isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    )
    return (first.end_lineno or 0) - first.lineno + 1 if first and is_text else 0


def functions() -> Iterator[tuple[str, int]]:
    """Yields each function of the product with its length in lines, without its docstring."""
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{path}:{node.name}", (node.end_lineno or 0) - node.lineno + 1 - docstring_lines(node)


def test_functions_are_short() -> None:
    """A function takes five to nine lines in the median, 95 in 100 are under 30 lines, and none new is over 60."""
    sizes = dict(functions())
    assert 5 <= statistics.median(sizes.values()) <= 9
    assert statistics.quantiles(sizes.values(), n=20)[-1] < 30
    assert {name for name, size in sizes.items() if size > MAX_FUNCTION_LINES} <= LONG


def test_docstrings_stay() -> None:
    """A room is not made smaller by saying less about it: 14 to 20 lines of a hundred are docstrings."""
    said = sum(docstring_lines(node) for tree in TREES.values() for node in ast.walk(tree))
    said += sum(field_docstring_lines(tree) for tree in TREES.values())
    share = said / sum(map(lines, PRODUCT))
    assert 0.14 <= share <= 0.20


def field_docstring_lines(tree: ast.Module) -> int:
    """Returns how many lines the texts take that follow a field or a constant."""
    found = 0
    for node in ast.walk(tree):
        body = getattr(node, "body", [])
        for before, text in pairwise(body) if isinstance(body, list) else ():
            is_text = isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant)
            if isinstance(before, ast.Assign | ast.AnnAssign) and is_text:
                found += (text.end_lineno or 0) - text.lineno + 1
    return found
