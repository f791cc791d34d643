"""Kill -9 in the middle of `featsieve select` and `featsieve bench run`, and what is left then.

Commands are started as users start them, and killed with all their processes (or, where it says so,
one worker of a benchmark alone): at moments drawn evenly over the length of an undisturbed run, and
just before chosen file operations in the folder of the results, since the risky moments are short.

After every kill: visible files must be whole (else they count as corrupt); whoever opens the folder
must find the earlier selection or the new one, never some files of each (a mixture) and never less
(a loss); cells of a benchmark that were reported as done must be there (else a loss). Then the same
command is run again: it must leave every finished cell as it is, give exactly what an undisturbed
run gives, times aside (else it is not exact), and leave no temporary file (else a leftover).

Usage: python benchmarks/kills.py [--output benchmarks/results/kills.md]
"""

import csv
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import kill_hook
from common import finish, options, table
from featsieve.bench.store import Store
from featsieve.datasets import Dataset, make_planted, write_table
from featsieve.io.models import load_model
from featsieve.io.results import recover
from featsieve.report import render_selection

# What `Runner.run` takes.
Moment = dict[str, Any]

OLD = ("--clusters", "2", "--features", "6", "--subsamples", "0")
NEW = ("--clusters", "3", "--features", "4", "--subsamples", "0")
PLAN = """
datasets = ["iris", "planted_small"]
experiments = ["default", "grid", "label-free"]
counts = [2, 4]
kmeans_seeds = 3

[[methods]]
name = "MaxVariance"
selector = "MaxVariance"

[[methods]]
name = "NDFS"
selector = "NDFS"
grid = { alpha = [0.01, 1.0, 100.0] }
"""
# Columns of a benchmark that differ from run to run without being wrong.
VARYING = [
    "fit_seconds", "evaluate_seconds", "started", "jobs", "versions",
]  # fmt: skip
FIELDS = ("kills", "resumes", "losses", "mixtures", "corrupt", "leftovers", "not exact")


class Runner:
    """Start commands, and kill them."""

    def __init__(self, home: Path) -> None:
        self.home, self.log = home, home / "operations.log"
        hooks = home / "hooks"
        hooks.mkdir(parents=True)
        shutil.copy(kill_hook.__file__, hooks / "sitecustomize.py")
        paths = [str(hooks), os.environ.get("PYTHONPATH", "")]
        self.variables = os.environ | {
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        }

    def run(
        self,
        command: list[str],
        *,
        watch: Path | None = None,
        at: int = 0,
        who: str = "main",
        whom: str = "group",
        after: float | None = None,
        worker_after: float | None = None,
    ) -> tuple[int, str]:
        """Run a command to its end or to its kill; return its status and what it told."""
        self.log.unlink(missing_ok=True)
        settings = {"folder": str(watch), "at": at, "who": who, "whom": whom, "log": str(self.log)}
        settings["after"] = worker_after
        about = {} if watch is None else {kill_hook.VARIABLE: json.dumps(settings)}
        told = self.home / "told.txt"
        with told.open("w") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "featsieve", *command],
                env=self.variables | about,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
            status = _wait(process, after)
        return status, told.read_text()

    def operations(self, kind: str) -> int:
        """Count the file operations of one kind of process in the last run."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return sum(line.startswith(kind) for line in lines)


def _wait(process: "subprocess.Popen[bytes]", after: float | None) -> int:
    """Wait for the end of a process, which is killed with its group after some seconds."""
    try:
        return process.wait(timeout=after)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.wait()
    finally:
        _wait_for_group(process.pid)


def _wait_for_group(number: int) -> None:
    """Wait until all processes of a group have gone, killed or by themselves."""
    limit = time.monotonic() + 60.0
    while time.monotonic() < limit:
        try:
            os.killpg(number, 0)
        except (ProcessLookupError, PermissionError):
            return
        time.sleep(0.01)
    raise RuntimeError("a process that was killed lives on")


def corrupt_files(folder: Path) -> list[str]:
    """Return the visible files below a folder that cannot be read to their end."""
    bad = []
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if path.is_file() and not any(part.startswith(".") for part in parts):
            try:
                _read(path)
            except Exception as error:  # whatever a reader says: the file is not whole
                bad.append(f"{path.name}: {error}")
    return bad


def _read(path: Path) -> None:
    """Read a file as its ending says; raise if it is not whole."""
    if path.suffix in (".csv", ".tsv"):
        text = path.read_text(encoding="utf-8")
        rows = list(csv.reader(text.splitlines(), delimiter="," if path.suffix == ".csv" else "\t"))
        if not text.endswith("\n") or len({len(row) for row in rows}) != 1:
            raise ValueError("not all rows are whole")
    elif path.suffix == ".json":
        json.loads(path.read_text(encoding="utf-8"))
    elif path.suffix == ".skops":
        with ZipFile(path) as archive:
            if archive.testzip() is not None:
                raise ValueError("a part is damaged")
    elif path.suffix == ".html":
        if not path.read_text(encoding="utf-8").rstrip().endswith("</html>"):
            raise ValueError("the page has no end")
    elif path.suffix == ".jsonl":
        for line in path.read_bytes().split(b"\n")[:-1]:  # what has no end is not read
            json.loads(line)


def hidden_files(folder: Path) -> list[str]:
    """Return what is hidden below a folder."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob(".*"))


def selection_content(folder: Path) -> dict[str, Any] | None:
    """Return what the files of a selection say, times aside; None if there is no folder.

    The page is compared with the one that its summary makes, times included: two that do not belong
    together give another content than either.
    """
    if not folder.is_dir():
        return None
    content: dict[str, Any] = {}
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        if path.name == "summary.json":
            summary = json.loads(path.read_text(encoding="utf-8"))
            page = folder / "report.html"
            same = page.exists() and page.read_text(encoding="utf-8") == render_selection(summary)
            content["report.html belongs to summary.json"] = same
            content[path.name] = _without_times(summary)
        elif path.name == "model.skops":
            model = load_model(path)
            scores = getattr(model.selector, "scores_", None)
            content[path.name] = (list(model.selected), None if scores is None else scores.tolist())
        elif path.name != "report.html":
            content[path.name] = path.read_bytes()
    return content


def _without_times(value: Any) -> Any:
    """Return JSON values without durations."""
    if isinstance(value, dict):
        return {key: _without_times(entry) for key, entry in value.items() if key != "seconds"}
    return [_without_times(entry) for entry in value] if isinstance(value, list) else value


def benchmark_rows(folder: Path) -> Any:
    """Return the rows of a benchmark, times aside."""
    return Store(folder).read().drop(columns=VARYING)


def finished_cells(folder: Path) -> list[bytes]:
    """Return the lines of the finished cells; the last one may have no end."""
    path = folder / "cells.jsonl"
    lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
    return [line for line in lines if line.endswith(b"\n")]


def kill_select(
    runner: Runner, *, force: bool, times: int, operations: int | None, seed: int
) -> Counter:
    """Kill `select`: into a folder that is not there, or over an earlier result."""
    count: Counter = Counter()
    table, trial = runner.home / "table.csv", runner.home / "trial"
    planted = make_planted(60, 20, n_informative=6, n_clusters=3, signal=3.0, random_state=3)
    write_table(table, Dataset("table", planted.X, feature_names=[f"g{j}" for j in range(20)]))
    out, kept = trial / "deep" / "out", runner.home / "old"
    command = ["select", str(table), "-o", str(out)]

    def prepare() -> None:
        _empty(trial)
        if kept.exists():
            shutil.copytree(kept, out)

    if force:
        prepare()
        _expect_success(runner.run([*command, *OLD]))
        shutil.copytree(out, kept)
    prepare()
    old = selection_content(out)
    command += [*NEW, "--force"] if force else NEW
    begun = time.monotonic()
    _expect_success(runner.run(command, watch=trial))
    length, n = time.monotonic() - begun, runner.operations("main")
    new = selection_content(out)
    rng = random.Random(seed)
    chosen = range(1, n + 1) if operations is None else rng.sample(range(1, n + 1), operations)
    moments: list[Moment] = [{"at": k, "watch": trial} for k in chosen]
    moments += [{"after": rng.uniform(0.0, length)} for _ in range(times)]
    for moment in moments:
        _kill(runner, command, moment, prepare)
        count["kills"] += 1
        count["corrupt"] += len(corrupt_files(trial))
        recover(out)
        found = selection_content(out)
        if found not in (old, new):
            some_of_each = found is not None and {"summary.json", "model.skops"} <= set(found)
            count["mixtures" if some_of_each else "losses"] += 1
        status, told = runner.run(command)
        there = found == new and not force and "holds results already" in told
        count["resumes"] += status == (2 if there else 0)
        count["not exact"] += selection_content(out) != new
        count["leftovers"] += len(hidden_files(trial))
    return count


def kill_bench(runner: Runner, *, whom: str, times: int, operations: int, seed: int) -> Counter:
    """Kill `bench run`: all processes of it ("group"), or one worker alone ("self")."""
    count: Counter = Counter()
    if times + operations == 0:
        return count
    plan, trial = runner.home / "tiny.toml", runner.home / "trial"
    plan.write_text(PLAN)
    out = trial / "out"
    command = ["bench", "run", str(plan), "--out", str(out), "--jobs", "2"]
    _empty(trial)
    begun = time.monotonic()
    _expect_success(runner.run(command, watch=trial))
    length = time.monotonic() - begun
    most = runner.operations("main")
    expected = benchmark_rows(out)
    rng = random.Random(seed)
    moments: list[Moment] = [{"after": rng.uniform(0.0, length)} for _ in range(times)]
    for _ in range(operations):
        moment: Moment = {"whom": whom, "watch": trial}
        if whom == "group":
            moment["at"] = rng.randint(1, most)
        else:  # workers write nothing themselves: one of them dies some time after its start
            moment |= {"who": "worker", "worker_after": rng.uniform(0.0, 0.5 * length)}
        moments.append(moment)
    for moment in moments:
        status, told = _kill(runner, command, moment, lambda: _empty(trial))
        count["kills"] += 1
        count["corrupt"] += len(corrupt_files(trial))
        before = finished_cells(out)
        told_done = max(map(int, re.findall(r"^(\d+) of \d+ cells", told, re.M)), default=0)
        count["losses"] += max(0, told_done - len(before))
        if status != 0:  # a run that only lost a worker goes on by itself
            status = runner.run(command)[0]
        count["resumes"] += status == 0
        count["losses"] += finished_cells(out)[: len(before)] != before
        count["not exact"] += not benchmark_rows(out).equals(expected)
        count["leftovers"] += len(hidden_files(trial))
    return count


def _kill(
    runner: Runner, command: list[str], moment: Moment, prepare: Callable[[], None]
) -> tuple[int, str]:
    """Run a command and kill it; earlier if it ended before the moment came."""
    while True:
        prepare()
        ended = runner.run(command, **moment)
        if ended[0] == -signal.SIGKILL or runner.operations(kill_hook.KILLED):
            return ended
        moment = {**moment, "at": moment.get("at", 0) * 3 // 4}
        for name in ("after", "worker_after"):
            if name in moment:
                moment[name] *= 0.75


def _empty(folder: Path) -> None:
    """Make an empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()


def _expect_success(ended: tuple[int, str]) -> None:
    """Raise if an undisturbed run did not end well: then there is nothing to compare with."""
    if ended[0] != 0:
        raise RuntimeError(f"an undisturbed run ended with {ended[0]}: {ended[1]}")


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--select-times", type=int, default=12, help="random moments, twice")
    parser.add_argument("--select-operations", type=int, help="twice [default: all]")
    parser.add_argument("--bench-times", type=int, default=20, help="random moments")
    parser.add_argument("--bench-operations", type=int, default=20)
    parser.add_argument("--bench-workers", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2, help="commands at the same time")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    of_select = {"times": arguments.select_times, "operations": arguments.select_operations}
    of_bench = {"times": arguments.bench_times, "operations": arguments.bench_operations}
    of_workers = {"times": 0, "operations": arguments.bench_workers}
    work: dict[str, Callable[..., Counter]] = {
        "select": partial(kill_select, force=False, **of_select),
        "select --force": partial(kill_select, force=True, **of_select),
        "bench run": partial(kill_bench, whom="group", **of_bench),
        "bench run, one worker": partial(kill_bench, whom="self", **of_workers),
    }
    with (
        tempfile.TemporaryDirectory() as home,
        ThreadPoolExecutor(arguments.jobs) as pool,
    ):
        begun = {
            case: pool.submit(kill, Runner(Path(home).resolve() / str(i)), seed=arguments.seed)
            for i, (case, kill) in enumerate(work.items())
        }
        cases = {case: future.result() for case, future in begun.items()}
    cases["all"] = sum(cases.values(), Counter())
    rows = [[name, *(count[field] for field in FIELDS)] for name, count in cases.items()]
    finish(arguments.output, "Kills", __doc__, table(["killed", *FIELDS], rows))
    faults = sum(cases["all"][name] for name in FIELDS[2:])
    if faults or cases["all"]["resumes"] != cases["all"]["kills"]:
        sys.exit("something was lost, mixed up, corrupt, left over or not exact")


if __name__ == "__main__":
    main()
