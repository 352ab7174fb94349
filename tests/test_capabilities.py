"""The table behind docs/coverage.md: complete, with a reason for what is otherwise, and tests that there are."""

import ast

from tests.capabilities import documents
from tests.test_size import ROOT

ROWS = [row for document in documents() for row in document.rows]


def _tests_in(path: str) -> set[str]:
    """Names of the test functions of a file; one in a class has the name of the class before it."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    found: set[str] = set()
    for node in tree.body:
        inside = node.body if isinstance(node, ast.ClassDef) else [node]
        before = f"{node.name}::" if isinstance(node, ast.ClassDef) else ""
        found |= {before + each.name for each in inside if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)}
    return found


def test_no_row_is_missing() -> None:
    """A hundred, each once, in the order of the documents."""
    numbers = {"A": 28, "B": 12, "C": 24, "D": 11, "E": 25}
    assert [row.id for row in ROWS] == [f"{one}{number + 1}" for one, most in numbers.items() for number in range(most)]
    assert [document.title[0] for document in documents()] == [*numbers]


def test_each_row_is_shown_by_a_test_or_left_out_for_a_reason() -> None:
    """No test can ask the vendors' real services; what differs says how; a named test is there."""
    assert [row.id for row in ROWS if not row.tests] == [row.id for row in ROWS if row.state == "left out"] == ["A22"]
    assert [row.id for row in ROWS if row.state != "works" and not row.why] == []
    named = sorted({test for row in ROWS for test in row.tests})
    paths = {test.partition("::")[0] for test in named}
    there = {f"{path}::{name}" for path in paths for name in _tests_in(path)}
    assert [test for test in named if test not in there] == []
