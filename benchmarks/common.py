"""What the benchmark scripts share: options, pages of results, selectors, processes, memory."""

import argparse
import csv
import ctypes
import inspect
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed, parallel_config

import featsieve
from featsieve.datasets.registry import development_note
from featsieve.evaluation import compare_with_reference


def options(doc: str) -> argparse.ArgumentParser:
    """Return a parser with the option ``--output``; ``doc`` is the docstring of the script."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument(
        "--output", type=Path, help="write the page (.md) and its rows (.csv) there"
    )
    return parser


def table(head: Sequence[str], rows: Iterable[Iterable[Any]]) -> list[str]:
    """Return a Markdown table as lines."""
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    return lines + [line(row) for row in rows]


def line(cells: Iterable[Any]) -> str:
    """Return a line of a Markdown table."""
    return "| " + " | ".join(map(str, cells)) + " |"


def difference_table(
    scores: Mapping[str, Sequence[float]],
    reference: str,
    *,
    ceiling: str | None = None,
    families: Sequence[str] | None = None,
) -> list[str]:
    """Return what `compare_with_reference` finds: scores in [0, 1] of each method per data set.

    With families a second interval, over these, stands behind each that is over data sets.
    """
    ways = [None] if families is None else [None, families]
    found = [
        compare_with_reference(
            list(zip(*scores.values(), strict=True)),
            reference,
            names=list(scores),
            ceiling=ceiling,
            families=way,
        )
        for way in ways
    ]
    head = ["method", "points, 95 % interval", "wins/ties/losses"]
    head += [f"% of the gap to {ceiling}"] * (ceiling is not None)
    rows = []
    for name, own in found[0].items():
        points, closed = f"{100.0 * own.points[0]:+.1f}", f"{100.0 * own.closed[0]:.0f}"
        for way in found:
            points += " [{:+.1f}, {:+.1f}]".format(*(100.0 * x for x in way[name].points[1:]))
            closed += " [{:.0f}, {:.0f}]".format(*(100.0 * x for x in way[name].closed[1:]))
        record = f"{own.wins}/{own.ties}/{own.losses}"
        rows.append([name, points, record, closed][: len(head)])
    return table(head, rows)


def finish(
    output: Path | None,
    title: str,
    doc: str,
    lines: Sequence[str],
    rows: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Print the page, title and docstring included, and write it and the rows if that is asked.

    Pages about real data say which of these were looked at during development.
    """
    note = ["", development_note()] if "real_data" in sys.modules else []
    body = "\n".join([f"# {title}", "", doc.split("\n\nUsage")[0], "", *lines]).rstrip()
    text = "\n".join([body, *note]) + "\n"
    print(text)
    if output is None:
        return
    output.parent.mkdir(parents=True, exist_ok=True)
    output.with_suffix(".md").write_text(text, encoding="utf-8")
    if rows:
        write_csv(output.with_suffix(".csv"), rows)


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows with the same keys."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def selector(name: str, n_clusters: int, n_features: float) -> Any:
    """Return a selector at its defaults, with those of the settings that it has."""
    kind = getattr(featsieve, name)
    wanted = {"n_clusters": n_clusters, "n_features_to_select": n_features, "random_state": 0}
    known = inspect.signature(kind).parameters
    return kind(**{key: value for key, value in wanted.items() if key in known})


def in_own_process(*command: str, variables: Mapping[str, str] | None = None) -> Any:
    """Run a script of ours with some arguments; return the JSON of the last line that it prints."""
    done = subprocess.run(
        [sys.executable, *command],
        env={**os.environ, **(variables or {})},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.strip().splitlines()[-1])


def in_parallel(
    function: Callable[..., Any], cases: Iterable[tuple], *, jobs: int, kept: Path | None = None
) -> list[Any]:
    """Return the results of a function, each from one core: processes with one thread each.

    ``kept`` is a file of results as JSON, a line each: those in it are not computed again, and new
    ones are added as they come, so that a long run can be stopped and taken up.
    """
    cases = list(cases)
    known = {}
    if kept is not None and kept.exists():
        known = dict(json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines())
    missing = [case for case in cases if repr(case) not in known]
    with parallel_config(backend="loky", inner_max_num_threads=1):
        # the key is made here: a function among the arguments has another name over there
        tasks = (delayed(_with_key)(repr(case), function, case) for case in missing)
        for key, result in Parallel(jobs, return_as="generator_unordered", verbose=5)(tasks):
            known[key] = result
            if kept is not None:
                with kept.open("a", encoding="utf-8") as file:
                    file.write(json.dumps([key, result]) + "\n")
    return [known[repr(case)] for case in cases]


def _with_key(key: str, function: Callable[..., Any], case: tuple) -> tuple[str, Any]:
    """Return the result of a case behind its key."""
    return key, function(*case)


class PeakMemory:
    """Growth of the resident set from the start of a ``with`` block to its largest, in MiB.

    Everything counts, also what compiled code allocates. Only Linux forgets earlier peaks on
    request: elsewhere ``mib`` is NaN.
    """

    mib = math.nan

    def __enter__(self) -> "PeakMemory":
        """Give free memory back and forget earlier peaks."""
        self._before = math.nan
        with suppress(OSError, AttributeError):  # another C library
            ctypes.CDLL(None).malloc_trim(0)
        with suppress(OSError):  # not Linux, or refused
            Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
            self._before = resident("VmRSS")
        return self

    def __exit__(self, *about: object) -> None:
        """Look at the peak."""
        if not math.isnan(self._before):
            self.mib = max(0.0, resident("VmHWM") - self._before)


def resident(key: str) -> float:
    """Return the resident set of this process in MiB: now (VmRSS) or its peak (VmHWM); on Linux."""
    lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    return next(float(line.split()[1]) / 1024.0 for line in lines if line.startswith(key))
