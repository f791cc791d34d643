"""Make every page of results again: plans, benchmarks, and the README's table.

Rows are kept in build/evidence by the state of the code that decides them (for plans what computes
in the package, for scripts also their own file and what it imports): a run that was stopped goes on
where it stopped, rows of another state are never mixed in, and a page that was made by this state
is not made again. ``--rows`` takes up the build/evidence of other machines. "About" are minutes of
two cores, as measured when the steps were listed; what a step really took stands in the last line
that it prints. ``--check`` writes the pages into a folder of their own and says which differ from
the committed ones, columns of times apart.

Usage: FEATSIEVE_DATA=folder [FEATSIEVE_FSEVAL=folder] python benchmarks/evidence.py [--jobs 2]
       [--steps quality ...] [--rows folder ...] [--check] [--list]
"""

import argparse
import hashlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from featsieve.bench.environment import source_hash

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "featsieve"
RESULTS, DOCS = Path("benchmarks/results"), Path("docs/results")
PYTHON = sys.executable
# Minutes, and options beside --jobs, --kept and --output; plans are run by `featsieve bench`.
SCRIPTS: dict[str, tuple[int, list[str]]] = {
    "quality": (20, []),
    "planted": (30, []),
    "planted_methods": (40, []),
    "published": (15, []),
    "fseval": (15, ["--published", os.environ.get("FEATSIEVE_FSEVAL", "")]),
    "constraints": (5, []),
    "genes": (60, []),
    "newcomers": (5, []),
    "calibration": (180, []),
    "calibration_clusters": (60, []),
    "calibration_qvalues": (90, ["--tables", "20"]),
    "label_free": (20, []),
    "methods": (5, []),
    "honest_tuning": (1, []),  # of the rows of the plan paper_thin
}
PLANS = {"planted": 60, "open_thin": 80, "paper_thin": 80}
MARK = "<!-- numbers: benchmarks/results/quality.md -->\n\n"
IMPORT = re.compile(r"^ *(?:from|import) ([\w.]+)", re.MULTILINE)
TIMES = re.compile(r"second|minute|time|\bs\b|\bms\b|faster", re.IGNORECASE)


def digest(paths: Iterable[Path]) -> str:
    """Return a hash of what can change a score, and of some files."""
    found = hashlib.sha256(source_hash().encode())
    for path in sorted(paths):
        found.update(path.read_bytes())
    return found.hexdigest()[:12]


def imported(script: Path) -> set[Path]:
    """Return a script, the scripts that it imports, and the parts of the package that they name."""
    found, left = set(), {script}
    while left:
        path = left.pop()
        found.add(path)
        for name in IMPORT.findall(path.read_text("utf-8")):
            beside, part = script.with_name(f"{name}.py"), ROOT / "src" / name.replace(".", "/")
            left |= {beside} - found if beside.exists() else set()
            if "." in name:
                found |= {*part.glob("*.py"), *part.parent.glob(f"{part.name}.py")}
    return found


def state(step: str) -> tuple[str, str]:
    """Return hashes of what decides the rows of a step, and of what decides its page."""
    if step.startswith("plan "):
        words = [*(PACKAGE / "report").rglob("*.*"), *(PACKAGE / "bench").rglob("*.*")]
        return digest([]), digest(path for path in words if path.suffix in (".py", ".toml", ".j2"))
    rows = digest(imported(ROOT / "benchmarks" / f"{step}.py"))
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
    """Add to the rows of a script those that other folders have."""
    files = [folder / f"{step}.jsonl" for folder in (kept, *(o / kept.name for o in others))]
    texts = [file.read_text("utf-8") if file.exists() else "" for file in files]
    if any(texts[1:]):
        lines = dict.fromkeys(line for text in texts for line in text.splitlines())
        files[0].write_text("".join(f"{line}\n" for line in lines), "utf-8")


def without_times(text: str) -> list[str]:
    """Return the lines of a page without the columns and sentences that tell times."""
    lines, kept = [], None
    for line in text.splitlines():
        cells = line.split("|")
        if len(cells) < 3:
            kept = None
            lines += [] if TIMES.search(line) else [line]
            continue
        if kept is None:  # the head of a table
            kept = [i for i, cell in enumerate(cells) if not TIMES.search(cell)]
        lines.append("|".join(cells[i] for i in kept if i < len(cells)))
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
    evidence = ROOT / "build" / "evidence"
    pages = evidence / f"pages_{source_hash()}" if arguments.check else ROOT
    states = {name: state(name) for name in every}
    folders = {name: evidence / rows for name, (rows, _) in states.items()}
    marks = {
        name: folders[name] / f"{name}.{page}.{arguments.check:d}.done"
        for name, (_, page) in states.items()
    }
    done = {name for name, mark in marks.items() if mark.exists()}
    steps = [name for name in arguments.steps or every if name not in done]
    left = sum(every[name] for name in steps)
    print(f"{len(steps)} steps, about {left / 60:.1f} hours of two cores; {len(done)} are done.")
    if arguments.list:
        print("\n".join(f"{name}: about {every[name]} minutes" for name in steps))
        return 0
    if not os.environ.get("FEATSIEVE_DATA"):
        print("Set FEATSIEVE_DATA to the folder of the data sets: without it pages lack them.")
        return 2
    failed = []
    for name in steps:
        if name == "fseval" and not os.environ.get("FEATSIEVE_FSEVAL"):
            print("fseval: left out; set FEATSIEVE_FSEVAL to the folder of its published tables.")
            continue
        print(f"{name}: about {every[name]} minutes", flush=True)
        kept = folders[name]
        kept.mkdir(parents=True, exist_ok=True)
        take(name, kept, arguments.rows)
        begun = time.perf_counter()
        with (kept / f"{name}.log").open("a", encoding="utf-8") as log:
            ended = all(
                subprocess.run(command, cwd=ROOT, stdout=log, stderr=log).returncode == 0
                for command in commands(name, kept, pages, arguments.jobs, arguments.rows)
            )
        if not ended:
            print(f"{name}: failed, see {log.name}; the same command tries it again", flush=True)
            failed.append(name)
            continue
        if name == "quality" and not arguments.check:
            renew_readme()
        marks[name].touch()
        print(f"{name}: {(time.perf_counter() - begun) / 60:.1f} minutes", flush=True)
    if arguments.check:
        failed += compare(pages)
        print("\n".join(["Pages that differ:", *failed]) if failed else "All pages agree.")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
