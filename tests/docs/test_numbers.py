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


def cells(table):
    """Return the cells of a Markdown table by row and column, without emphasis."""
    rows = [
        [cell.strip().strip("*") for cell in line.strip().strip("|").split("|")]
        for line in table.strip().splitlines()
    ]
    head, _, *body = rows
    assert len({row[0] for row in body}) == len(body)
    return {(row[0], name): cell for row in body for name, cell in zip(head, row, strict=True)}


def headline(text):
    """Return the table of the README, or that of the page of results, as cells."""
    start = text.index("| data sets | JASFS (default) |")
    return cells(text[start:].split("\n\n")[0])


def test_the_headline_is_that_of_the_results_cell_by_cell():
    shown = headline((ROOT / "README.md").read_text(encoding="utf-8"))
    page = (ROOT / "benchmarks/results/quality.md").read_text(encoding="utf-8")
    computed = headline(page[page.index("## In short") :])
    assert len(shown) == 21
    assert shown == computed


def test_the_sentence_below_the_headline_is_that_of_the_results():
    """Points, intervals and records of JASFS against all features, in the README's own words."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.search(
        r"JASFS gains (\S+) points of ACC over all features \(95 % bootstrap interval (\[[^]]*\]) "
        r"over the sets, (\[[^]]*\]) over their (\w+) families; (\d+) wins, (\d+) ties, "
        r"(\d+) losses\), which is (\d+) % (\[[^]]*\]) of",
        text,
    )
    assert found is not None
    points, sets, families, _, *record, closed, interval = found.groups()
    page = (ROOT / "benchmarks/results/quality.md").read_text(encoding="utf-8")
    row = page[page.index("## Differences in ACC") :].split("| JASFS | ")[1].split(" |\n")[0]
    points_cell, records, closed_cell = row.split(" | ")
    assert points_cell == f"{points} {sets} {families}"
    assert records == "/".join(record)
    assert closed_cell.startswith(f"{closed} {interval}")


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
