"""How far a long job is: told to whoever wants to show it."""

from collections.abc import Callable

# Called with what is done now, the number of steps that are finished, and of all steps.
Progress = Callable[[str, int, int], None]


class Steps:
    """Steps of a job, counted."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self.total = total
        self._progress = progress
        self._begun = 0

    def next(self, text: str) -> None:
        """Begin the next step: the one before is finished."""
        if self._progress is not None:
            self._progress(text, self._begun, self.total)
        self._begun += 1

    def skip(self, count: int) -> None:
        """Leave out steps that will not be needed."""
        self._begun += count

    def end(self) -> None:
        """Say that all is done."""
        if self._progress is not None:
            self._progress("done", self.total, self.total)
