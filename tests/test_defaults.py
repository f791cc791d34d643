"""Every constant that can change an answer says why it has its value, and on which data."""

import ast
import inspect
from pathlib import Path

import pytest

from featsieve import defaults

SOURCE = inspect.getsource(defaults)
LINES = SOURCE.splitlines()
CONSTANTS = {
    ast.unparse(node.target if isinstance(node, ast.AnnAssign) else node.targets[0]): node.lineno
    for node in ast.parse(SOURCE).body
    if isinstance(node, (ast.Assign, ast.AnnAssign))
}


def comment_above(line):
    """Return the comment above a constant, or above the group of constants that it ends."""
    i = line - 2
    while i >= 0 and LINES[i].strip() and not LINES[i].startswith("#"):
        i -= 1  # other constants of the group
    words = []
    while i >= 0 and LINES[i].startswith("#") and not LINES[i].endswith("---"):
        words.insert(0, LINES[i].removeprefix("#").strip())
        i -= 1
    return words


def test_there_are_constants():
    assert len(CONSTANTS) >= 10
    assert all(name.isupper() for name in CONSTANTS)


@pytest.mark.parametrize("name", CONSTANTS)
def test_a_constant_has_a_reason_and_the_data_it_was_chosen_on(name):
    words = comment_above(CONSTANTS[name])
    starts = [i for i, line in enumerate(words) if line.startswith("Chosen on: ")]
    assert len(starts) == 1, f"{name} needs one line '# Chosen on: ...'"
    assert starts[0] >= 1, f"{name} needs the reason above '# Chosen on: ...'"
    assert len(" ".join(words[: starts[0]])) >= 40, f"{name}: what it is, and why this value"


def test_the_documentation_shows_all_of_them():
    page = Path(__file__).parents[1] / "docs" / "defaults.md"
    text = page.read_text(encoding="utf-8")
    assert "literalinclude} ../src/featsieve/defaults.py" in text
    start = text.split('start-at: "')[1].split('"')[0]
    assert all(
        CONSTANTS[name] > 1 + SOURCE[: SOURCE.index(start)].count("\n") for name in CONSTANTS
    )
