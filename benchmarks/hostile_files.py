"""Hostile files and the command line: what is said, what it costs, and that nothing is left behind.

Every file is made in an empty folder, and the real command is run on it in a process of its own
that may have 4 GiB of memory (address space) and 5 minutes. Peak memory is the highest resident
memory of that process, Python and its libraries included; seconds are those of the processor, of
which starting Python and importing the libraries takes most. A file is refused with exit code 2 and
one sentence, or read with exit code 0; no other file may appear, and no code of the file may run.

Usage: python benchmarks/hostile_files.py [--only WORD] [--output benchmarks/results/hostile_files]
"""

import argparse
import contextlib
import os
import re
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import hostile_models
import hostile_tables
from hostile_cases import CASES, MARK, Case

MODULES = (hostile_models, hostile_tables)  # each adds its cases to the list
MEMORY = 2**32
SECONDS = 300
REFUSED = 2
TABLE = "a,b,c,d\n1,2,3,4\n4,3,2,1\n"


@dataclass(frozen=True)
class Outcome:
    """What became of a case.

    Attributes
    ----------
    code : int
        Of the process; negative where a signal ended it.
    said : str
        The sentence, or what was printed.
    peak : float
        Resident memory in MiB.
    seconds : float
    problems : tuple of str
        What is not as it should be.
    """

    code: int
    said: str
    peak: float
    seconds: float
    problems: tuple[str, ...]


def run(case: Case, folder: Path) -> Outcome:
    """Build the file of a case and run the command on it."""
    place = folder / case.file
    case.build(place)
    (folder / "new.csv").write_text(TABLE)
    words = {"FILE": str(place), "OUT": str(folder / "out"), "TABLE": str(folder / "new.csv")}
    arguments = [word.replace("OUT", words["OUT"]) for word in case.command]
    arguments = [words.get(word, word) for word in arguments]
    command = [sys.executable, "-m", "featsieve", *arguments]
    before = contents(folder)
    process = subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        preexec_fn=lambda: limit_process(),
    )
    with process.stderr or contextlib.nullcontext() as stream:
        said = stream.read() if stream is not None else ""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return Outcome(
        code=process.returncode,
        said=said.strip(),
        peak=usage.ru_maxrss / 1024,
        seconds=usage.ru_utime + usage.ru_stime,
        problems=tuple(problems(case, process.returncode, said.strip(), before, contents(folder))),
    )


def limit_process() -> None:
    """Limit memory and time of the process that is about to begin."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def contents(folder: Path) -> set[str]:
    """Return all names in a folder, without entering what is linked to."""
    walked = os.walk(folder)
    return {os.path.join(place, name) for place, *both in walked for some in both for name in some}


def problems(case: Case, code: int, said: str, before: set[str], after: set[str]) -> list[str]:
    """Return what of an outcome is not as it should be."""
    found = []
    expected = REFUSED if case.says else 0
    if code != expected:
        found.append(f"exit code {code}, not {expected}")
    if case.says and not re.search(case.says, said):
        found.append("it does not give the reason")
    if case.says and Path(case.file).stem not in said:
        found.append("it does not name the file")
    if "Traceback" in said or len(said.splitlines()) > 1:
        found.append("it is more than a sentence")
    if not said.isprintable():
        found.append("it holds commands to the terminal")
    made = {Path(name).name for name in after - before}
    if MARK in made or (made and case.says):
        found.append(f"it made {sorted(made)}")
    return found


def row(case: Case, outcome: Outcome, folder: Path) -> str:
    """Return the line of a table."""
    said = outcome.said.replace(f"{folder}{os.sep}", "").removeprefix("featsieve: ")
    said = " ".join(said.split()).replace("|", "\\|")
    said = said if len(said) <= 250 else f"{said[:250]}..."
    told = f"exit {outcome.code}: {said}" if said or outcome.code else "read"
    bad = f" **{'; '.join(outcome.problems)}**" if outcome.problems else ""
    return (
        f"| {case.group}: {case.what} | {told}{bad} | {outcome.peak:.0f} | {outcome.seconds:.1f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="cases with this word only")
    parser.add_argument("--output", type=Path, default=None, help="write .md there")
    arguments = parser.parse_args()
    rows, n_bad = [], 0
    for case in CASES:
        if arguments.only not in f"{case.group}: {case.what}":
            continue
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name).resolve()
            outcome = run(case, folder)
            rows.append(row(case, outcome, folder))
        n_bad += bool(outcome.problems)
        print(rows[-1], flush=True)
    text = ["# Hostile files", "", *__doc__.split("\n\nUsage")[0].splitlines(), ""]
    text += [f"{len(rows)} files; {n_bad} with an outcome that is not as it should be.", ""]
    text += ["| input | outcome | peak, MiB | seconds |", "|---|---|---|---|", *rows]
    if arguments.output is not None:
        arguments.output.with_suffix(".md").write_text("\n".join(text) + "\n")
    print(f"{len(rows)} files, {n_bad} not as they should be")
    sys.exit(1 if n_bad else 0)


if __name__ == "__main__":
    main()
