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


def read(name, start=""):
    """Return a file of the repository from some words on."""
    text = (ROOT / name).read_text(encoding="utf-8")
    return text[text.index(start) :]


def table_at(text, head):
    """Return the table whose first line begins so, as cells."""
    return cells(text[text.index(head) :].split("\n\n")[0])


def test_the_headline_is_that_of_the_results_cell_by_cell():
    head = "| data sets | JASFS (default) |"
    shown = table_at(read("README.md"), head)
    assert len(shown) == 21
    assert shown == table_at(read("benchmarks/results/quality.md", "## In short"), head)


def test_the_sentence_below_the_headline_is_that_of_the_results():
    """Points, intervals and records of JASFS against all features, in the README's own words."""
    found = re.search(
        r"JASFS gains (\S+) points of ACC over all features \(95 % bootstrap interval (\[[^]]*\]) "
        r"over the sets, (\[[^]]*\]) over their (\w+) families; (\d+) wins, (\d+) ties, "
        r"(\d+) losses\), which is (\d+) % (\[[^]]*\]) \(over families (\[[^]]*\])\) of",
        read("README.md"),
    )
    points, sets, families, _, *record, closed, interval, wide = found.groups()
    table = table_at(read("benchmarks/results/quality.md", "## Differences in ACC"), "| method |")
    assert table["JASFS", "points, 95 % interval"] == f"{points} {sets} {families}"
    assert table["JASFS", "wins/ties/losses"] == "/".join(record)
    assert table["JASFS", "% of the gap to true labels"] == f"{closed} {interval} {wide}"


def test_the_families_left_out_are_those_of_the_results():
    shown = table_at(read("README.md"), "| | genes |")
    table = table_at(read("benchmarks/results/hypotheses.md", "## One family"), "| family |")
    rows = {"chosen without the family": "its score", "as it is": "as it is"}
    other = {"speech, handwriting": "speech and handwriting"}
    for (row, family), cell in shown.items():
        if family:
            assert cell == table[other.get(family, family).strip("*"), rows[row]], (row, family)
    assert len(shown) == 18


def test_the_third_party_is_that_of_the_results():
    found = re.search(
        r"JASFS has a mean NMI of (\S+), our NDFS (\S+) and MCFS (\S+), the best published row "
        r"\((\w+)\) (\S+); its Laplacian score is reproduced \((\S+), here (\S+)\)\..* the "
        r"difference of (\S+) points to NDFS has the interval \[(\S+), (\S+)\] and comes from two "
        r"sets, (\w+) \((\S+) against (\S+)\) and (\w+) \((\S+) against (\S+)\); that of (\S+) "
        r"points to MCFS has \[(\S+), (\S+)\]; and NDFS has the better average rank "
        r"\((\S+) against (\S+)\)",
        read("README.md"),
    )
    jasfs, ndfs, mcfs, best, score, theirs, ours, *others = found.groups()
    to_ndfs, sets, to_mcfs, ranks = others[:3], others[3:9], others[9:12], others[12:]
    page = read("benchmarks/results/fseval.md", "## NMI on")
    table = table_at(page, "| method |")
    means = {row: cell for (row, name), cell in table.items() if name == "mean"}
    named = {"JASFS": jasfs, "NDFS": ndfs, "MCFS": mcfs, "LaplacianScore": ours}
    assert all(means[f"{name} (ours)"] == mean for name, mean in named.items())
    assert means["Laplacian (published)"] == theirs
    published = {name: float(mean) for name, mean in means.items() if "published" in name}
    assert max(published, key=published.get) == f"{best} (published)"
    assert means[f"{best} (published)"] == score
    gaps = table_at(page[page.index("Differences") :], "| method |")
    for name, said in {"NDFS": to_ndfs, "MCFS": to_mcfs}.items():
        points, low, high = re.findall(
            r"[+-]\d+\.\d", gaps[f"{name} (ours)", "points, 95 % interval"]
        )
        assert [float(one) for one in said] == [-float(points), -float(high), -float(low)]
    for name, own, other in (sets[:3], sets[3:]):
        assert (table["JASFS (ours)", name], table["NDFS (ours)", name]) == (own, other)
    for name, rank in zip(("NDFS", "JASFS"), ranks, strict=True):
        assert f"{name} (ours) {rank}," in page


def test_the_families_are_those_of_the_results():
    """Differences by family that the README names, and their mean."""
    found = re.search(
        r"By family: (.*?) \(95 % t interval (\S+) to (\S+): that another", read("README.md")
    )
    sentence, *interval = found.groups()
    page = read("benchmarks/results/quality.md", "## By family")
    assert "95 % t interval {} to {}.".format(*interval) in page
    table = table_at(page, "| family |")
    said = re.findall(r"([a-z][a-z ]+) ([+-]\d+\.\d/[+-]\d+\.\d)", sentence)
    assert len(said) == 9
    for family, cell in said:
        name = "mean of the families" if "mean" in family else family.removeprefix("and ")
        assert table[name, "difference"] == cell


def test_ranks_among_the_methods_are_those_of_the_results():
    found = re.search(
        r"have (\w+) and (\w+) nearly level \(\[average ranks\]\S+ (\S+) and (\S+) of",
        read("README.md"),
    )
    one, other, first, second = found.groups()
    table = table_at(read("docs/results/open.md"), "| Method | ALLAML")
    assert (table[one, "average rank"], table[other, "average rank"]) == (first, second)


def test_pages_of_results_say_which_sets_were_looked_at():
    note = development_note()
    lists = re.findall(r"(eight|twelve|21 others|two)[^(]*\(([^)]*)\)", note)
    assert [len(names.split(", ")) for _, names in lists] == [8, 12, 21, 2]
    results = ROOT / "benchmarks" / "results"
    pages = [
        ROOT / "README.md",
        ROOT / "docs/results/paper.md",
        ROOT / "docs/results/open.md",
        ROOT / "docs/results/planted.md",
        ROOT / "docs/results/label_free.md",
    ]
    for page in (*pages, results / "quality.md", results / "fseval.md", results / "genes.md"):
        text = page.read_text(encoding="utf-8").replace("\\_", "_")  # as Markdown escapes it
        assert note in text, page
