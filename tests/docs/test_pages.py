"""Every block of code of the documentation runs, and prints what the page says it prints."""

import contextlib
import re

import pandas as pd
import pytest

from featsieve.datasets import make_planted
from tests.docs.pages import (
    DOCS,
    ROOT,
    Block,
    blocks_of,
    check_printed,
    pages,
    run_command,
    run_python,
)

# What a block may be: code that is run, or words that are not code.
RUN = {"python", "sh"}
WORDS = {"text", "toml", "bibtex"}
# Commands that install, or that take minutes: their options are checked by test_commands.
LONG = re.compile(r"^(pip|make|python benchmarks/)|\bbench (run|paper|report|export|compare)\b")
# Short pages are run by every commit, the README and all others by `make test-all`.
QUICK = ("docs/choose.md", "docs/evaluation.md", "docs/policy.md")
PAGES = {str(page.relative_to(ROOT)): page for page in pages()}
RUNS = [
    name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in sorted(PAGES)
]


@pytest.mark.parametrize("name", PAGES)
def test_every_block_is_of_a_kind_that_is_checked(name):
    page = PAGES[name]
    indented = re.findall(r"^[ \t]+```.*", page.read_text(encoding="utf-8"), re.M)
    assert indented == []  # they would not be found
    for block in blocks_of(page):
        directive = block.language.startswith("{")
        assert directive or block.language in RUN | WORDS, (block.line, block.language)
        if block.language == "python":
            code = [line for line in block.text.splitlines() if line.strip()]
            assert code[0].startswith(">>> "), f"{page}:{block.line} is not run"


def write_tables(folder):
    """Write the tables that the README talks about: some rows, and others in another order."""
    planted = make_planted(n_samples=80, n_features=30, n_informative=6, random_state=0)
    table = pd.DataFrame(planted.X, columns=[f"gene{j}" for j in range(30)])
    table[:60].to_csv(folder / "table.csv", index=False)
    table[60:].iloc[:, ::-1].to_csv(folder / "new.csv", index=False)


@pytest.mark.whole_structure_test
@pytest.mark.parametrize("name", RUNS)
def test_a_page_does_what_it_says(name, tmp_path, monkeypatch):
    page = PAGES[name]
    if page.name == "README.md":
        write_tables(tmp_path)
    monkeypatch.syspath_prepend(DOCS)  # the worked example of extend.md
    monkeypatch.setenv("COLUMNS", "100")  # the terminal of the reader
    names, printed, last = {"__name__": "__main__"}, None, ""
    with contextlib.chdir(tmp_path):
        for block in blocks_of(page):
            if block.language == "text" and printed is not None:
                check_printed(block.text, printed, last)
            printed = None
            if not block.runs:
                continue
            if block.language == "python":
                run_python(block, names, page=page)
            elif block.language == "sh":
                said = []
                for last in block.commands:
                    if not LONG.search(last):
                        said.append(run_command(last, tmp_path, exit_code=block.exit_code))
                printed = "".join(said) if said else None


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "docs/architecture.md"])
def test_files_and_folders_that_a_page_names_are_there(name):
    named = re.findall(
        r"`((?:\w+/)*(?:\w+/|\w+\.(?:py|toml)))`", (ROOT / name).read_text(encoding="utf-8")
    )
    assert len(set(named)) > 1
    missing = [
        path
        for path in named
        if not (ROOT / path).exists() and not (ROOT / "src" / "featsieve" / path).exists()
    ]
    assert missing == []


def test_a_page_that_lies_is_noticed(tmp_path):
    with pytest.raises(AssertionError, match="Got:"):
        run_python(Block("python", ">>> 1 + 1\n3\n", 1), {}, page=tmp_path)
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        run_python(Block("python", ">>> 1 / 0\n", 1), {}, page=tmp_path)
    with pytest.raises(AssertionError, match="the page says"):
        check_printed("two\n", "one\n", "echo one")
    with pytest.raises(AssertionError, match="ended with 3"):
        run_command("exit 3", tmp_path)
    with pytest.raises(AssertionError, match="ended with 2"):
        run_command("featsieve no-such-command", tmp_path)
