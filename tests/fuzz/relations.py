"""What an answer must not depend on: tables that say the same in another way.

Every fit of the fuzzing is made again on relatives of its table, where there are such:

- the table times a power of two, if the columns are standardised: means, deviations and distances
  change by that power exactly, so the answer is the same to the last bit;
- the same numbers as a plain array of NumPy, where the table has another layout or byte order, or
  is a data frame, a list, a sparse matrix, or an array of another library. Sums are added up in
  another order then, so the selection is compared, not every digit, and only where it does not
  hang on rounding: with one cluster nothing is left to predict (there is a warning for that), and
  with two samples for each many partitions are about as good, of which k-means finds one.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from tests.fuzz.tables import Recipe

POWER = 17
# Larger tables are refused, and smaller columns count as zero.
SMALLEST, LARGEST = 2.0**-150, 2.0**180
# These begin with labels, which k-means finds.
SEEK_LABELS = ("AUFS", "JASFS", "NDFS", "RSFS", "RUFS", "UGFS", "URAFS", "USFS")
UNITS = ("support_", "ranking_", "scores_", "labels_", "n_clusters_", "n_features_selected_")


def check_relatives(
    estimator: Any, recipe: Recipe, fit: Callable[..., Exception | None]
) -> Iterator[str]:
    """Fit the relatives of a table; raise AssertionError where the answer is another one.

    Yields which were compared.
    """
    selector = getattr(estimator, "best_estimator_", estimator)

    def refit(**changes: Any) -> Any:
        other = clone(estimator)
        refused = fit(other, replace(recipe, **changes).build())
        assert refused is None, f"refused with {changes}: {refused}"
        return getattr(other, "best_estimator_", other)

    if standardises(estimator) and scales_exactly(recipe):
        found = refit(power=POWER)
        for name in UNITS:
            if hasattr(selector, name):
                one, two = getattr(selector, name), getattr(found, name)
                assert np.array_equal(one, two), f"{name} in other units: {one!r} then {two!r}"
        yield "other units"
    if recipe.layout != "C" and recipe.is_well_posed and not is_ambiguous(selector, recipe):
        found = refit(layout="C")
        one, two = selector.support_, found.support_
        assert np.array_equal(one, two), (
            f"selected {np.flatnonzero(one)}, and {np.flatnonzero(two)} of a plain array: "
            f"{selector.scores_!r}, {found.scores_!r}"
        )
        yield "other layout"


def is_ambiguous(estimator: Any, recipe: Recipe) -> bool:
    """Say whether labels of one cluster are sought, or with few samples for each."""
    parts = (estimator, *estimator.get_params(deep=True).values())
    counts = [part.n_clusters for part in parts if type(part).__name__ in SEEK_LABELS]
    return any(count != "auto" and not 1 < count <= recipe.n_samples / 3 for count in counts)


def standardises(estimator: Any) -> bool:
    """Say whether the units of the columns are of no matter to an estimator."""
    inner = getattr(estimator, "selector", getattr(estimator, "estimator", None))
    if inner is not None:
        return standardises(inner)
    if type(estimator).__name__ == "JASFS":
        return estimator._column_scale == "unit"
    return (
        type(estimator).__name__ != "MaxVariance" and getattr(estimator, "scale", "unit") == "unit"
    )


def scales_exactly(recipe: Recipe) -> bool:
    """Say whether a table times the power of two has the same digits."""
    if recipe.dtype != "float64":
        return False
    X = recipe.values()
    largest = np.abs(X).max(axis=0)
    with np.errstate(over="ignore"):
        larger = np.ldexp(X, POWER)
    inside = ((largest == 0.0) | ((largest > SMALLEST) & (largest < LARGEST))).all()
    return bool(inside and (np.ldexp(larger, -POWER) == X).all())
