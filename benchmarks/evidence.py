"""Make every page of results again: plans, benchmarks, and the README's table.

Rows are kept by the state of the code (a hash of the package and the benchmarks): a run that was
stopped goes on where it stopped, rows of another state are never mixed in, and a page that was made
by this state is not made again. "About" are minutes of two cores, as measured when the steps were
listed; what a step really took stands in the last line that it prints. ``--check`` writes the pages
into a folder of their own and says which differ from the committed ones, columns of times apart.

Usage: FEATSIEVE_DATA=folder [FEATSIEVE_FSEVAL=folder] python benchmarks/evidence.py [--jobs 2]
       [--steps quality ...] [--check] [--list]
"""

import argparse
import hashlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
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
PLANS = {"planted": 90, "open": 240, "paper_thin": 240}
MARK = "<!-- numbers: benchmarks/results/quality.md -->\n\n"
TIMES = re.compile(r"second|minute|time|\bs\b|\bms\b|faster", re.IGNORECASE)


def state() -> str:
    """Return a hash of the package and the benchmarks."""
    found = hashlib.sha256()
    for folder, pattern in (("src/featsieve", "*.py"), ("src/featsieve", "*.toml")):
        for path in sorted((ROOT / folder).rglob(pattern)):
            found.update(path.read_bytes())
    for path in sorted((ROOT / "benchmarks").glob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()[:12]


def commands(step: str, kept: Path, pages: Path, jobs: int) -> list[list[str]]:
    """Return what makes one page, beside the rows that are kept."""
    if step.startswith("plan "):
        plan = step.removeprefix("plan ")
        cells, page = kept / f"plan_{plan}", pages / DOCS / f"{plan.removesuffix('_thin')}.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        bench = [PYTHON, "-m", "featsieve", "bench"]
        return [
            [*bench, "run", plan, "--out", str(cells), "--jobs", str(jobs)],
            [*bench, "report", str(cells), "--markdown", str(page), "--force"],
            [*bench, "export", str(cells), "-o", str(page.with_suffix(".csv")), "--force"],
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
    arguments = parser.parse_args(argv)
    kept = ROOT / "build" / "evidence" / state()
    pages = kept / "pages" if arguments.check else ROOT
    done = {name for name in every if (kept / f"{name}.{arguments.check:d}.done").exists()}
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
        kept.mkdir(parents=True, exist_ok=True)
        begun = time.perf_counter()
        with (kept / f"{name}.log").open("a", encoding="utf-8") as log:
            ended = all(
                subprocess.run(command, cwd=ROOT, stdout=log, stderr=log).returncode == 0
                for command in commands(name, kept, pages, arguments.jobs)
            )
        if not ended:
            print(f"{name}: failed, see {log.name}; the same command tries it again", flush=True)
            failed.append(name)
            continue
        if name == "quality" and not arguments.check:
            renew_readme()
        (kept / f"{name}.{arguments.check:d}.done").touch()
        print(f"{name}: {(time.perf_counter() - begun) / 60:.1f} minutes", flush=True)
    if arguments.check:
        failed += compare(pages)
        print("\n".join(["Pages that differ:", *failed]) if failed else "All pages agree.")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
