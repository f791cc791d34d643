"""The pages of the documentation, as the blocks of code that a reader would run, in order."""

import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
# A block behind this comment is read, not run; the comment gives the reason.
NOT_RUN = re.compile(r"<!-- not run: .+ -->\s*\Z")
# A block behind this one is run where the library is installed, and in CI, which must have torch.
NEEDS = re.compile(r"<!-- needs: (?P<library>\w+) -->\s*\Z")
# Commands behind this one end with the code, and what they say on stderr is shown.
FAILS = re.compile(r"<!-- exit code (?P<code>\d+) -->\s*\Z")
# One command of the library whose output goes to a file.
TO_FILE = re.compile(r"(?P<command>featsieve [^|<>;&$*]+?)\s*>\s*(?P<file>[\w.-]+)")
FENCE = re.compile(
    r"^(?P<fence>`{3,})(?P<info>[^`\n]*)\n(?P<body>.*?)^(?P=fence)[ \t]*$", re.M | re.S
)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, where it starts, and how it is run."""

    language: str
    text: str
    line: int
    runs: bool = True
    exit_code: int = 0

    @property
    def commands(self) -> list[str]:
        """The command lines of a shell block, without remarks."""
        joined = self.text.replace("\\\n", " ")
        lines = [re.sub(r"\s+#\s.*$", "", line).strip() for line in joined.splitlines()]
        return [line for line in lines if line and not line.startswith("#")]


def blocks_of(page: Path) -> list[Block]:
    """Return the blocks of a page."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in FENCE.finditer(text):
        before = text[: match.start()]
        fails, needs = FAILS.search(before), NEEDS.search(before)
        found.append(
            Block(
                match["info"].strip(),
                match["body"],
                before.count("\n") + 1,
                runs=NOT_RUN.search(before) is None
                and (needs is None or is_there(needs["library"])),
                exit_code=int(fails["code"]) if fails else 0,
            )
        )
    return found


def is_there(library: str) -> bool:
    """Say whether an optional library is installed, or must be."""
    required = os.environ.get(f"FEATSIEVE_REQUIRE_{library.upper()}") == "1"
    return required or find_spec(library) is not None


def pages() -> list[Path]:
    """Return the pages that are written by hand, and the README."""
    written = [
        page
        for page in sorted(DOCS.rglob("*.md"))
        if not {"_build", "results", "auto_examples"} & set(page.relative_to(DOCS).parts)
    ]
    return [ROOT / "README.md", *written]


def run_python(block: Block, names: dict, *, page: Path) -> None:
    """Run the examples of a block; raise where one does not print what the page says."""
    test = doctest.DocTestParser().get_doctest(block.text, names, page.stem, str(page), block.line)
    said = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    failed = runner.run(test, out=said.write, clear_globs=False).failed
    if failed:
        raise AssertionError(said.getvalue())
    names.update(test.globs)


def run_command(line: str, folder: Path, *, exit_code: int = 0) -> str:
    """Run one command line in a folder; return what it printed (stderr, where it shall fail)."""
    to_file = TO_FILE.fullmatch(line)
    if to_file is not None:
        printed = run_command(to_file["command"], folder, exit_code=exit_code)
        folder.joinpath(to_file["file"]).write_text(printed, encoding="utf-8")
        return ""
    words = shlex.split(line)
    ours = words[0] == "featsieve" and not set("|<>;&$*") & set(line)
    code, said, complained = run_featsieve(words[1:], folder) if ours else run_shell(line, folder)
    if code != exit_code:
        raise AssertionError(f"{line}\nended with {code}:\n{said}{complained}")
    return complained if exit_code else said


def run_shell(line: str, folder: Path) -> tuple[int, str, str]:
    """Run a command line with bash, featsieve in its path; return exit code, stdout and stderr."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", line],
        cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def run_featsieve(arguments: list[str], folder: Path) -> tuple[int, str, str]:
    """Run the command line in this process, which has imported what it needs already."""
    from featsieve.cli import main

    said, complained = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(said),
        contextlib.redirect_stderr(complained),
    ):
        try:
            main(arguments)
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
    return code, said.getvalue(), complained.getvalue()


def check_printed(expected: str, printed: str, line: str) -> None:
    """Raise unless a command printed what the page says, up to white space and "..."."""
    if not doctest.OutputChecker().check_output(expected, printed, FLAGS):
        raise AssertionError(f"{line}\nprinted\n{printed}\nthe page says\n{expected}")
