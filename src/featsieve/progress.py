"""What a long fit says while it runs: the one place of the estimators that prints."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from numbers import Integral
from typing import Any, TypeVar

import numpy as np

from featsieve.solvers.alternate import relative_change

T = TypeVar("T")

# At verbose=1, lines that come again and again are at least this many seconds apart.
SECONDS_APART = 1.0


class FitProgress:
    """Lines on the standard output about one fit; silent unless ``verbose`` is above 0.

    Somebody else's ``say`` takes them instead.
    """

    def __init__(
        self, name: str, verbose: Any = 0, say: Callable[[str], object] | None = None
    ) -> None:
        self.name = name
        self.say = say
        if not isinstance(verbose, (Integral, np.bool_)) or verbose < 0:
            raise ValueError(f"verbose must be 0 (silent), 1 or 2 (every step); got {verbose!r}.")
        self.verbose = int(verbose)
        self._began = self._printed = time.perf_counter()

    def step(self, text: str) -> None:
        """Print what begins now, at once, also into a pipe."""
        if self.verbose:
            if self.say is None:
                print(f"[{self.name}] {text}", flush=True)
            else:
                self.say(text)
            self._printed = time.perf_counter()

    def tick(self, text: str, *, first: bool = False) -> None:
        """Print one of many lines, with the time since the fit began."""
        now = time.perf_counter()
        if first or self.verbose > 1 or now - self._printed >= SECONDS_APART:
            self.step(f"{text} ({format_seconds(now - self._began)})")

    def watch(self, callback: Any = None, *, runs: Iterable[str] = ()) -> Any:
        """Return a callback for a solver that reports every iteration, then calls the user's.

        ``runs`` names the runs of the solver that it will see, one after the other.
        """
        if not self.verbose:
            return callback
        names, run, previous = iter(runs), "", np.nan

        def report(iteration: int, objective: float, state: Any) -> object:
            nonlocal previous, run
            first = iteration == 1
            if first:
                run = next(names, "")
            text = f"{run}{', ' if run else ''}iteration {iteration}: objective {objective:.8g}"
            if not first:
                text += f", relative change {relative_change((previous, objective)):.1e}"
            self.tick(text, first=first)
            previous = objective
            return None if callback is None else callback(iteration, objective, state)

        return report

    def counted(self, items: Iterable[T], total: int, *, what: str) -> Iterator[T]:
        """Yield the items as they come, with a count of them."""
        for done, item in enumerate(items, start=1):
            self.tick(f"{done} of {total} {what}", first=done == 1)
            yield item

    def finish(self, estimator: Any) -> None:
        """Print what a fitted estimator came to."""
        if not self.verbose:
            return
        n_selected, n_features = int(estimator.get_support().sum()), estimator.n_features_in_
        spent = format_seconds(time.perf_counter() - self._began)
        text = f"selected {n_selected} of {n_features} features in {spent}"
        if hasattr(estimator, "status_"):
            count = f"{estimator.n_iter_} iteration{'s'[: estimator.n_iter_ != 1]}"
            text += f", after {count}: {estimator.status_.value}"
        self.step(text)


@contextmanager
def reporting(estimator: Any) -> Iterator[FitProgress]:
    """Let an estimator report on its fit, as its ``verbose`` says, while the block runs.

    The estimator holds the object as ``_progress`` while the block runs; it is no part of the fit.
    """
    if not hasattr(estimator, "verbose"):
        yield SILENT
        return
    progress = estimator._progress = FitProgress(type(estimator).__name__, estimator.verbose)
    try:
        yield progress
        progress.finish(estimator)
    finally:
        del estimator._progress


def format_seconds(seconds: float) -> str:
    """Return a time in words that fit its size."""
    if seconds < 9.95:
        return f"{seconds:.2f} s" if seconds < 0.995 else f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


SILENT = FitProgress("")
