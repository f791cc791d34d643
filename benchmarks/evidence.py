"""Make every page of results again: plans, benchmarks, and the README's table.

Rows are kept in build/evidence by the state of the code that decides them (for plans what computes
in the package, for scripts also their own file, what it imports or runs, and files that it reads):
a run that was stopped goes on where it stopped, rows of another state are never mixed in, and a
page that was made by this state is not made again. ``--rows`` takes up the build/evidence of other
machines; rows with the same key as one that is here are left out. "About" are minutes of
two cores, as measured when the steps were listed; what a step really took stands in the last line
that it prints. ``--check`` writes the pages into a folder of their own and says which differ from
the committed ones, columns of times apart.

k-means takes another turn where the last digit of a sum differs, and these digits depend on which
instructions the processor has. So everything runs by one thread, with the kernels that all x86
processors with AVX2 have, so that two of them, with the same versions of the packages, should make
the same pages. (Not yet tried on two.)

Usage: FEATSIEVE_DATA=folder [FEATSIEVE_FSEVAL=folder] python benchmarks/evidence.py [--jobs 2]
       [--steps quality ...] [--rows folder ...] [--check] [--list]
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from featsieve.bench.environment import computes, source_hash

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "featsieve"
RESULTS, DOCS = Path("benchmarks/results"), Path("docs/results")
PYTHON = sys.executable
# Minutes, and options beside --jobs, --kept and --output; plans are run by `featsieve bench`.
SCRIPTS: dict[str, tuple[int, list[str]]] = {
    "quality": (3, []),
    "planted": (5, []),
    "planted_methods": (9, []),
    "published": (3, []),
    "fseval": (2, ["--published", os.environ.get("FEATSIEVE_FSEVAL", "")]),
    "constraints": (1, []),
    "genes": (20, []),
    "newcomers": (3, []),
    "calibration": (80, ["--tables", "22"]),
    "hypotheses": (120, []),
    "calibration_clusters": (60, []),
    "calibration_qvalues": (90, ["--tables", "20"]),
    "label_free": (10, []),
    "methods": (1, []),
    "constants": (40, []),
    "honest_tuning": (1, []),  # of the rows of the plan paper
}
INPUTS = {"honest_tuning": [ROOT / DOCS / "paper.parquet"]}  # beside the data sets
PLANS = {"planted": 16, "open_thin": 80, "paper": 120}
MARK = "<!-- numbers: benchmarks/results/quality.md -->\n\n"
IMPORT = re.compile(r"^ *(?:from|import) ([\w.]+)", re.MULTILINE)
TIMES = re.compile(r"second|minute|time|\bcost\b|\bs\b|\bms\b|faster", re.IGNORECASE)
SECONDS = re.compile(r"\d[\d.]* (?:ms|s|minutes?)\b")
# Of machines, dates and versions; what follows it says nothing about methods.
ORIGIN = "## Where this comes from"
ONE_KERNEL = {
    "OPENBLAS_CORETYPE": "Haswell",
    "ATEN_CPU_CAPABILITY": "avx2",
    "MKL_CBWR": "AVX2",
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
}


def one_kernel() -> dict[str, str]:
    """Return the environment in which all x86 processors with AVX2 compute the same digits."""
    found = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    newer = [name for name in found if name.startswith("AVX512") or name == "X86_V4"]
    before = os.environ.get("NPY_DISABLE_CPU_FEATURES", "").split()
    disabled = {"NPY_DISABLE_CPU_FEATURES": " ".join([*before, *newer])}
    return {**os.environ, **ONE_KERNEL, **disabled}


def digest(paths: Iterable[Path]) -> str:
    """Return a hash of what can change a score, and of some files."""
    found = hashlib.sha256(f"{source_hash()} {ONE_KERNEL}".encode())
    for path in sorted(paths):
        found.update(path.read_bytes() if path.exists() else b"")
    return found.hexdigest()[:12]


def imported(script: Path) -> set[Path]:
    """Return a script and what it imports, also by way of others: scripts, parts of the package.

    Of the package only what its own hash leaves out; all of it where the command line is run.
    """
    found: set[Path] = set()
    left = {script}
    while left:
        path = left.pop()
        found |= {path, *path.parent.glob("*.toml")}
        text = path.read_text("utf-8")
        if '"-m", "featsieve"' in text:
            found |= {p for p in PACKAGE.rglob("*.*") if p.is_file() and p.suffix != ".pyc"}
        for name in IMPORT.findall(text):
            named = {script.with_name(f"{name}.py")}
            if name.startswith("featsieve."):
                part = ROOT / "src" / name.replace(".", "/")
                files = {part.with_suffix(".py"), *part.glob("*.py")}
                named = {f for f in files if not computes(f.relative_to(PACKAGE).as_posix())}
            left |= {file for file in named - found if file.exists()}
    return found


def state(step: str) -> tuple[str, str]:
    """Return hashes of what decides the rows of a step, and of what decides its page."""
    if step.startswith("plan "):
        words = [*(PACKAGE / "report").rglob("*.*"), *(PACKAGE / "bench").rglob("*.*")]
        return digest([]), digest(path for path in words if path.suffix in (".py", ".toml", ".j2"))
    rows = digest([*imported(ROOT / "benchmarks" / f"{step}.py"), *INPUTS.get(step, ())])
    return rows, rows


def commands(
    step: str, kept: Path, pages: Path, jobs: int, others: Sequence[Path] = ()
) -> list[list[str]]:
    """Return what makes one page, beside the rows that are kept here or in other folders."""
    if step.startswith("plan "):
        plan = step.removeprefix("plan ")
        cells, page = kept / f"plan_{plan}", pages / DOCS / f"{plan.removesuffix('_thin')}.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        bench = [PYTHON, "-m", "featsieve", "bench"]
        there = [other / kept.name / cells.name for other in others]
        taken = [word for path in there if path.exists() for word in ("--rows", str(path))]
        return [
            [*bench, "run", plan, "--out", str(cells), "--jobs", str(jobs), *taken],
            [*bench, "report", str(cells), "-o", str(page), "--force"],
            [*bench, "export", str(cells), "-o", str(page.with_suffix(".parquet")), "--force"],
        ]
    script = ROOT / "benchmarks" / f"{step}.py"
    folder = DOCS if step in ("label_free", "honest_tuning") else RESULTS
    command = [PYTHON, str(script), *SCRIPTS[step][1]]
    text = script.read_text(encoding="utf-8")
    for needed in (folder, Path("docs/_static")):
        (pages / needed).mkdir(parents=True, exist_ok=True)
    command += ["--figure", str(pages / "docs/_static/gap.svg")] * (step == "quality")
    command += ["--jobs", str(jobs)] * ('"--jobs"' in text)
    command += ["--kept", str(kept / f"{step}.jsonl")] * ('"--kept"' in text)
    return [[*command, "--output", str(pages / folder / f"{step}.md")]]


def take(step: str, kept: Path, others: Sequence[Path]) -> None:
    """Add to the rows of a script those that only other folders have; drop unreadable lines."""
    own, *more = (folder / f"{step}.jsonl" for folder in (kept, *(o / kept.name for o in others)))
    rows = read_rows(own)
    for file in more:
        rows |= {key: line for key, line in read_rows(file).items() if key not in rows}
    content = b"".join(line + b"\n" for line in rows.values())
    if content != (own.read_bytes() if own.exists() else b""):
        whole = own.with_suffix(".tmp")  # which takes the place at once: a kill loses no row
        whole.write_bytes(content)
        os.replace(whole, own)


def read_rows(file: Path) -> dict[str, bytes]:
    """Return the lines of a file of rows by their keys, without those that a kill has cut."""
    found = {}
    for line in file.read_bytes().split(b"\n") if file.exists() else ():
        with suppress(ValueError, TypeError):
            key, _ = json.loads(line)
            found[key] = line
    return found


def without_times(text: str) -> list[str]:
    """Return the lines of a page without times (columns, rows, sentences) and its machine."""
    lines: list[str] = []
    kept = None
    for line in text.split(ORIGIN)[0].splitlines():
        cells = line.split("|")
        if len(cells) < 3:
            kept = None
            lines += [] if TIMES.search(line) else [line]
            continue
        if kept is None:  # the head of a table
            kept = [i for i, cell in enumerate(cells) if not TIMES.search(cell)]
        if not TIMES.search(cells[1]):
            lines.append(SECONDS.sub("", "|".join(cells[i] for i in kept if i < len(cells))))
    return lines


def compare(pages: Path) -> list[str]:
    """Return the pages that differ from the committed ones."""
    made = sorted(path.relative_to(pages) for path in pages.rglob("*.md"))
    return [
        str(page)
        for page in made
        if not (ROOT / page).exists()
        or without_times((ROOT / page).read_text(encoding="utf-8"))
        != without_times((pages / page).read_text(encoding="utf-8"))
    ]


def renew_readme() -> None:
    """Put the short table of quality.md in the place of the README's."""
    page = (ROOT / RESULTS / "quality.md").read_text(encoding="utf-8")
    short = page.split("## In short\n\n")[1].split("\n\n")[0]
    readme = ROOT / "README.md"
    before, after = readme.read_text(encoding="utf-8").split(MARK, 1)
    readme.write_text(before + MARK + short + "\n\n" + after.split("\n\n", 1)[1], encoding="utf-8")


def place(step: str, *, check: bool) -> tuple[Path, Path]:
    """Return where the rows of a step are kept, and the file that says that its page is made."""
    rows, page = state(step)
    kept = ROOT / "build" / "evidence" / rows
    return kept, kept / f"{step}.{page}.{check:d}.done"


def main(argv: Sequence[str] | None = None) -> int:
    every = {f"plan {name}": minutes for name, minutes in PLANS.items()}
    every |= {name: minutes for name, (minutes, _) in SCRIPTS.items()}
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--steps", nargs="+", choices=list(every), metavar="STEP")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--check", action="store_true", help="compare with the committed pages")
    parser.add_argument("--list", action="store_true", help="say what would be done")
    parser.add_argument("--rows", nargs="+", type=Path, default=[], metavar="FOLDER")
    arguments = parser.parse_args(argv)
    check = arguments.check
    pages = ROOT / "build" / "evidence" / f"pages_{source_hash()}" if check else ROOT
    done = {name for name in every if place(name, check=check)[1].exists()}
    steps = [name for name in arguments.steps or every if name not in done]
    left = sum(every[name] for name in steps)
    print(f"{len(steps)} steps, about {left / 60:.1f} hours of two cores; {len(done)} are done.")
    if arguments.list:
        print("\n".join(f"{name}: about {every[name]} minutes" for name in steps))
        return 0
    if not os.environ.get("FEATSIEVE_DATA"):
        print("Set FEATSIEVE_DATA to the folder of the data sets: without it pages lack them.")
        return 2
    failed, kernel = [], one_kernel()
    for name in arguments.steps or every:
        kept, mark = place(name, check=check)  # now: a step before it may have made its input
        if mark.exists():
            continue
        if name == "fseval" and not os.environ.get("FEATSIEVE_FSEVAL"):
            print("fseval: left out; set FEATSIEVE_FSEVAL to the folder of its published tables.")
            continue
        print(f"{name}: about {every[name]} minutes", flush=True)
        kept.mkdir(parents=True, exist_ok=True)
        take(name, kept, arguments.rows)
        begun = time.perf_counter()
        with (kept / f"{name}.log").open("a", encoding="utf-8") as log:
            ended = all(
                subprocess.call(command, cwd=ROOT, stdout=log, stderr=log, env=kernel) == 0
                for command in commands(name, kept, pages, arguments.jobs, arguments.rows)
            )
        if not ended:
            print(f"{name}: failed, see {log.name}; the same command tries it again", flush=True)
            failed.append(name)
            continue
        if name == "quality" and not check:
            renew_readme()
        mark.touch()
        print(f"{name}: {(time.perf_counter() - begun) / 60:.1f} minutes", flush=True)
    if check:
        failed += compare(pages)
        print("\n".join(["Pages that differ:", *failed]) if failed else "All pages agree.")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
