"""Mutation testing of the solvers: whether the tests see small wrong changes.

Every mutant is one small change of one module of ``featsieve.solvers``: another operator, a
comparison with or without equality, a constant plus 1, a negated condition, a statement left out,
``min`` for ``max``. It is run, in a process of its own, against those tests of ``tests/solvers``
(and the examples in the docstrings) that execute the changed line. A mutant is killed when a test
fails or when it takes far more time than the code does; the score is the share of killed mutants,
of all. Survivors that change nothing a user could see are listed with the reason.

Usage: python benchmarks/mutation.py [--modules lars ...] [--output benchmarks/results/mutation.md]
"""

import argparse
import hashlib
import json
import os
import shutil
import sys
import tempfile
import tomllib
from collections import Counter, defaultdict
from pathlib import Path

from mutant_tests import KILLED, SOLVERS, SURVIVED, TIMED_OUT, import_libraries, run_all, watch
from mutants import Mutant, mutants

ROOT = Path(__file__).resolve().parents[1]
EQUIVALENT = Path(__file__).with_name("mutation_equivalent.toml")


def key_of(mutant: Mutant) -> str:
    """Return what a record of a mutant is found by."""
    text = f"{mutant.module}:{mutant.line}:{mutant.change}:{mutant.source}"
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def equivalents() -> dict[str, str]:
    """Return why survivors that were looked at do no harm: by their line, or line and change."""
    groups = tomllib.loads(EQUIVALENT.read_text())["group"]
    return {mutant: group["reason"] for group in groups for mutant in group["mutants"]}


def page(outcomes: list[tuple[Mutant, str]]) -> str:
    """Return the tables as Markdown."""
    reasons = equivalents()
    counts: dict[str, Counter] = defaultdict(Counter)
    left, explained = [], []
    for mutant, outcome in outcomes:
        line = f"{mutant.module}: {mutant.text}"
        reason = reasons.get(line, reasons.get(f"{line} | {mutant.change}"))
        counts[mutant.module][outcome] += 1
        if outcome == SURVIVED:
            counts[mutant.module]["equivalent"] += reason is not None
            (left if reason is None else explained).append((mutant, reason))
    text = ["# Mutation testing of the solvers", "", *__doc__.split("\n\nUsage")[0].splitlines()]
    text += [
        "",
        "| module | mutants | killed | timed out | survived | of these explained | score |",
    ]
    text += ["|---|---|---|---|---|---|---|"]
    whole: Counter = sum(counts.values(), Counter())
    for module, count in [*sorted(counts.items()), ("all", whole)]:
        caught = count[KILLED] + count[TIMED_OUT]
        total = caught + count[SURVIVED]
        cells = [module, total, count[KILLED], count[TIMED_OUT], count[SURVIVED]]
        cells += [count["equivalent"], f"{caught / total:.1%}"]
        text.append(f"| {' | '.join(map(str, cells))} |")
    text += ["", "## Survivors", "", "| where | change |", "|---|---|"]
    text += [f"| {m.module}:{m.line} | `{_cell(m.change)}` |" for m, _ in left]
    text += ["", "## Survivors that change nothing to speak of", ""]
    text += ["| where | change | reason |", "|---|---|---|"]
    text += [f"| {m.module}:{m.line} | `{_cell(m.change)}` | {reason} |" for m, reason in explained]
    return "\n".join(text) + "\n"


def _cell(text: str) -> str:
    """Return text for a cell of a table."""
    return text.replace("|", "\\|")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--modules", nargs="+", default=None)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument(
        "--most-seconds", type=float, default=float("inf"), help="tests per mutant, fastest first"
    )
    parser.add_argument("--record", type=Path, help="mutants killed there are not run again")
    parser.add_argument("--output", type=Path, default=None, help="write the page there")
    arguments = parser.parse_args()
    record = arguments.record.resolve() if arguments.record else None
    output = arguments.output.resolve() if arguments.output else None
    known = {}
    if record and record.exists():
        known = dict(json.loads(line) for line in record.read_text().splitlines())
        known = {key: outcome for key, outcome in known.items() if outcome != SURVIVED}
    with tempfile.TemporaryDirectory() as folder:  # a copy: the checkout may change meanwhile
        for part in ("src", "tests"):
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / part, Path(folder) / part, ignore=ignored)
        shutil.copy(ROOT / "pyproject.toml", folder)
        os.chdir(folder)
        sys.path[:0] = [folder, str(Path(folder) / "src")]
        os.environ |= {
            "PYTHONPATH": str(Path(folder) / "src"),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # none is needed, and to look takes time
        }
        import_libraries()
        paths = [path for path in sorted(SOLVERS.glob("*.py")) if path.stem != "__init__"]
        chosen = [p for p in paths if not arguments.modules or p.stem in arguments.modules]
        every = [mutant for path in chosen for mutant in mutants(path)]
        outcomes = [(m, known[key_of(m)]) for m in every if key_of(m) in known]
        todo = sorted((m for m in every if key_of(m) not in known), key=key_of)  # in no order
        watched = watch()
        for mutant, outcome in run_all(
            todo, watched, jobs=arguments.jobs, most=arguments.most_seconds
        ):
            outcomes.append((mutant, outcome))
            if record:
                with record.open("a") as file:
                    file.write(json.dumps([key_of(mutant), outcome]) + "\n")
            if outcome == SURVIVED:
                print(f"{mutant.module}:{mutant.line}  {mutant.change}", flush=True)
        os.chdir(ROOT)
    outcomes.sort(key=lambda one: (one[0].module, one[0].line))
    print(page(outcomes))
    if output:
        output.write_text(page(outcomes))


if __name__ == "__main__":
    main()
