"""The examples of the gallery have the form that its pages need; `make docs` runs them."""

import ast
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))


def test_there_are_enough():
    assert len(EXAMPLES) >= 8
    assert all(example.name.startswith("plot_") for example in EXAMPLES)  # others are not run


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_an_example_has_a_title_a_text_and_a_picture(example):
    source = example.read_text(encoding="utf-8")
    title, line, blank, text, *_ = ast.get_docstring(ast.parse(source)).splitlines()
    assert line == "=" * len(title)
    assert blank == ""
    assert text
    assert source.count("\n# %%\n") >= 2
    assert "plt.show()" in source
    assert len(source.splitlines()) <= 120
