"""Numbers of benchmarks in the README and the pages stand in a committed file of results.

A comment `<!-- numbers: path -->` above a table or paragraph names that file (or several).
"""

import re

import pytest

from featsieve.datasets.registry import development_note
from tests.docs.pages import ROOT, pages

MARK = re.compile(r"<!-- numbers: (?P<files>[^>]*?) -->\n+(?P<block>.+?)(?=\n\s*\n|\Z)", re.S)
NUMBER = re.compile(r"(?<![\w.])\d+\.\d+|(?<![\w.])\d{2,}(?![\w.]*\d)")
# What only a benchmark can say: accuracy and information side by side, and how much faster.
CLAIM = re.compile(r"\d+\.\d+ ?/ ?\d+\.\d+|\d+\.\d+ times (?:faster|slower)")
MARKED = [
    pytest.param(found["block"], found["files"], id=f"{page.name}: {found['files']}")
    for page in pages()
    for found in MARK.finditer(page.read_text(encoding="utf-8"))
]


def numbers(text):
    """Return the numbers of a text but for those in code and in the targets of links."""
    return set(NUMBER.findall(re.sub(r"`[^`]*`|\]\([^)]*\)", " ", text)))


@pytest.mark.parametrize(("block", "files"), MARKED)
def test_a_number_is_in_the_results(block, files):
    known = set()
    for name in files.split(", "):
        known |= numbers((ROOT / name).read_text(encoding="utf-8"))
    assert numbers(block)
    assert numbers(block) - known == set()


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_a_claim_names_its_results(page):
    text = MARK.sub("", page.read_text(encoding="utf-8"))
    assert CLAIM.findall(re.sub(r"```.*?```", "", text, flags=re.S)) == []


def test_the_headline_is_checked():
    assert any("quality.md" in param.id and "README" in param.id for param in MARKED)


def test_pages_of_results_say_which_sets_were_looked_at():
    note = development_note()
    lists = re.findall(r"(eight|twelve|21 others|two)[^(]*\(([^)]*)\)", note)
    assert [len(names.split(", ")) for _, names in lists] == [8, 12, 21, 2]
    results = ROOT / "benchmarks" / "results"
    pages = [
        ROOT / "README.md",
        ROOT / "docs/results/paper.md",
        ROOT / "docs/results/label_free.md",
    ]
    for page in (*pages, results / "quality.md", results / "fseval.md", results / "genes.md"):
        assert note in page.read_text(encoding="utf-8"), page
