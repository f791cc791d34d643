"""A fit that is done as a whole or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def whole_fit(estimator: Any) -> Iterator[Any]:
    """Forget an earlier fit, and lend a copy of the estimator on which the new one is made.

    What the copy was given becomes the estimator's when the block ends, in one step. So whatever
    ends the block before (an error, Ctrl-C at any moment, lack of memory) leaves the estimator
    unfitted, without a mixture of two fits: there is nothing to clean up, which could be
    interrupted as well.
    """
    # A new dict in one step, too: attributes deleted one by one could be interrupted in between.
    estimator.__dict__ = {
        name: value for name, value in vars(estimator).items() if not name.endswith("_")
    }
    fresh = object.__new__(type(estimator))  # a copy could be changed by __getstate__
    fresh.__dict__ = dict(vars(estimator))
    yield fresh
    vars(estimator).update(vars(fresh))
