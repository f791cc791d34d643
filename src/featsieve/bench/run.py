"""Run a plan: everything that is not there yet, in parallel, cell by cell.

Cells of one data set are run next to each other, because the workers keep what they share; the
largest data sets come first, so that no worker is left alone with one at the end. Cells that are
made from finished ones (label-free, curve) form a second wave.
"""

import os
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path

from featsieve.bench.cells import Cell
from featsieve.bench.plan import Plan, load_plan
from featsieve.bench.progress import Progress
from featsieve.bench.rows import failed_rows
from featsieve.bench.store import Store
from featsieve.bench.task import Outcome, Task, is_settled
from featsieve.datasets import load_dataset


@dataclass(frozen=True)
class RunSummary:
    """What a run did.

    Attributes
    ----------
    plan : str
    folder : Path
    statuses : dict of str to int
        How many cells of the plan are "done", "failed", ..., earlier runs included.
    computed : int
        Cells that were run this time.
    failures : tuple of str
        One line for each cell of this run without a result: which, and why.
    left_out : dict of str to str
        Data sets that could not be loaded, and why. Their cells are run when they can be.
    unreadable : dict of str to str
        Files among the parts that are none, and why.
    seconds : float
    """

    plan: str
    folder: Path
    statuses: dict[str, int]
    computed: int
    failures: tuple[str, ...]
    left_out: dict[str, str]
    unreadable: dict[str, str]
    seconds: float

    @property
    def total(self) -> int:
        """Number of finished cells of the plan."""
        return sum(self.statuses.values())


def run_plan(
    plan: str | os.PathLike[str] | Plan,
    out: str | os.PathLike[str],
    *,
    data: str | os.PathLike[str] | None = None,
    jobs: int = 1,
    retry: bool = False,
    progress: Progress | None = None,
) -> RunSummary:
    """Run the cells of a plan that are not there yet.

    Parameters
    ----------
    plan : str, path or Plan
        Name of a shipped plan, or a TOML file.
    out : path
        Folder of the results. What is there is not computed again, whichever plan it was for.
    data : path, optional
        Folder of the data sets; ``FEATSIEVE_DATA`` if not given.
    jobs : int, default=1
        Cells run at the same time, each with cores / jobs threads; -1: one per core.
    retry : bool, default=False
        Run cells again that failed or took too long (for example after raising the time limit).
    progress : Progress, optional
        Silent if not given.

    Returns
    -------
    RunSummary

    Raises
    ------
    FileNotFoundError
        If none of the data sets can be loaded.
    KeyboardInterrupt
        After Ctrl-C, with how far the run came. Finished cells are kept.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from featsieve.bench.run import run_plan
    >>> text = '''
    ... datasets = ["iris"]
    ... experiments = ["default"]
    ... counts = [2]
    ... methods = [{name = "variance", selector = "MaxVariance"}]
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     plan = pathlib.Path(folder) / "mine.toml"
    ...     _ = plan.write_text(text)
    ...     [run_plan(plan, f"{folder}/results").computed for _ in range(2)]
    [1, 0]
    """
    plan = plan if isinstance(plan, Plan) else load_plan(os.fspath(plan))
    if data is not None and not Path(data).is_dir():
        raise ValueError(f"{os.fspath(data)!r} is not a folder: name the one with the data sets.")
    progress = progress or Progress()
    try:
        return _Run(plan, Store(out), data, _n_jobs(jobs), retry, progress).whole()
    except KeyboardInterrupt:
        Store(out).clean()
        raise KeyboardInterrupt(
            f"{progress.done} of {progress.total} cells done; run the same command again to go on"
        ) from None
    finally:
        progress.end()


@dataclass
class _Run:
    """One run of a plan, in the order in which things happen."""

    plan: Plan
    store: Store
    data: str | os.PathLike[str] | None
    jobs: int
    retry: bool
    progress: Progress
    failures: list[str] = field(default_factory=list)
    computed: int = 0

    def whole(self) -> RunSummary:
        """Run both waves and say what came of them."""
        start = time.perf_counter()
        self.store.clean()
        unreadable = self.store.unreadable()
        for name, reason in unreadable.items():
            self.progress.say(f"cells/{name} is left alone and not counted: {reason}.")
        shapes, left_out = self.tables()
        sizes = {name: shape[0] * shape[1] for name, shape in shapes.items()}
        self.progress.begin(sizes, jobs=self.jobs)

        first = self.plan.cells(shapes)
        self.adopt(first, keep=self.plan.datasets)
        self.wave(first, sizes)
        follow = self.plan.dependent_cells(self.store.read())
        second = [cell for cell in follow if cell.dataset in shapes]
        self.adopt([*first, *second], keep=left_out)
        self.wave(second, sizes)
        self.store.clean()

        known = self.store.statuses()
        return RunSummary(
            plan=self.plan.name,
            folder=self.store.folder,
            statuses=dict(
                Counter(known[cell.id] for cell in [*first, *second] if cell.id in known)
            ),
            computed=self.computed,
            failures=tuple(self.failures),
            left_out=left_out,
            unreadable=unreadable,
            seconds=time.perf_counter() - start,
        )

    def tables(self) -> tuple[dict[str, tuple[int, int, int]], dict[str, str]]:
        """Return (samples, columns, classes) of each data set, and why the others are left out."""
        shapes, left_out = {}, {}
        for name in self.plan.datasets:
            try:
                table = load_dataset(name, data=self.data)
            except (OSError, ValueError, ImportError) as error:
                left_out[name] = str(error)
                continue
            if table.n_classes is None:
                left_out[name] = "It has no classes to compare with."
            else:
                shapes[name] = (*table.X.shape, table.n_classes)
        for name, reason in left_out.items():
            self.progress.say(f"The data set {name} is left out. {reason}")
        if not shapes:
            reasons = " ".join(dict.fromkeys(left_out.values()))
            raise FileNotFoundError(f"None of the data sets can be loaded. {reasons}")
        return shapes, left_out

    def adopt(self, cells: Sequence[Cell], *, keep: Collection[str]) -> None:
        """Make the folder that of this plan."""
        about = {"plan": self.plan.name, "title": self.plan.title, "text": self.plan.text}
        self.store.adopt(cells, keep=keep, **about)

    def wave(self, cells: Sequence[Cell], sizes: Mapping[str, int]) -> None:
        """Run those of the cells that are not there yet."""
        known = self.store.statuses()
        there = [cell for cell in cells if is_settled(known.get(cell.id), retry=self.retry)]
        failed = sum(known[cell.id] != "done" for cell in there)
        waiting = {
            cell.id: cell
            for cell in sorted(cells, key=lambda cell: (-sizes[cell.dataset], cell.dataset))
            if not is_settled(known.get(cell.id), retry=self.retry)
        }
        self.progress.expect(waiting.values(), done=len(there), failed=failed)
        while waiting:
            try:
                for outcome in self.outcomes(waiting.values(), jobs=self.jobs):
                    del waiting[outcome.cell.id]
                    self.hear(outcome)
            except BrokenProcessPool as error:
                self.after_a_crash(waiting, error)

    def outcomes(self, cells: Iterable[Cell], *, jobs: int) -> Iterator[Outcome]:
        """Run cells in worker processes, and give each outcome as it comes."""
        from joblib import Parallel, delayed, parallel_config

        task = Task(
            out=os.fspath(self.store.folder),
            data=None if self.data is None else os.fspath(self.data),
            plan=self.plan.name,
            retry=self.retry,
            parent=os.getpid(),
        )
        with parallel_config(backend="loky", inner_max_num_threads=_threads(self.jobs)):
            parallel = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
        return parallel([delayed(task)(cell) for cell in cells])

    def hear(self, outcome: Outcome) -> None:
        """Count an outcome and show it."""
        cell = outcome.cell
        self.computed += 1
        if outcome.status != "done":
            what = f"{cell.method} on {cell.dataset} ({cell.experiment}, {cell.params_json})"
            self.failures.append(f"{outcome.status}: {what}: {outcome.reason}")
        self.progress.advance(cell, status=outcome.status, seconds=outcome.seconds)

    def after_a_crash(self, waiting: dict[str, Cell], error: BrokenProcessPool) -> None:
        """Find out which cell killed its process, and record that.

        Each cell that was being worked on is run again with no other beside it.
        """
        known = self.store.statuses()
        for name in [name for name in waiting if is_settled(known.get(name), retry=self.retry)]:
            cell = waiting.pop(name)  # written, but its process died before it could tell
            self.hear(Outcome(cell, known[name], "", 0.0))
        suspects = [waiting[name] for name in sorted(self.store.begun()) if name in waiting]
        self.store.clean()
        if not suspects:
            raise error
        for cell in suspects:
            try:
                (outcome,) = self.outcomes([cell], jobs=2)
            except BrokenProcessPool:
                reason = "its process died: out of memory, or a fault in compiled code"
                self.store.clean()
                self.store.write(cell, failed_rows(cell, reason, plan=self.plan.name))
                outcome = Outcome(cell, "failed", reason, 0.0)
            del waiting[cell.id]
            self.hear(outcome)


def _n_jobs(jobs: int) -> int:
    """Return the number of cells to run at the same time."""
    from joblib import effective_n_jobs

    if jobs == 0 or jobs < -1:
        raise ValueError(f"jobs must be a positive number, or -1 for one per core; got {jobs}.")
    return int(effective_n_jobs(jobs))


def _threads(jobs: int) -> int:
    """Return the threads of each job: together no more than cores, nor than the user wants."""
    from joblib import cpu_count

    wanted = os.environ.get("OMP_NUM_THREADS", "")
    share = max(1, cpu_count() // jobs)
    return min(share, int(wanted)) if wanted.isdigit() and int(wanted) > 0 else share
