"""What UDFS and SOGFS share: the settings of their row-sparse projection, and what can go wrong."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from featsieve.arrays import DataOperator
from featsieve.arrays.namespace import Array, to_numpy
from featsieve.terms.row_sparsity import row_norms
from featsieve.validation import check_number, warn

# A row of W of less than this squared length has been dropped by the penalty.
DROPPED = 1e-8
# Below this relative eigengap the projection is not unique.
SMALLEST_GAP = 1e-10


def check_positive_or_auto(name: str, value: Any) -> None:
    """Raise unless value is "auto" or a number above 0."""
    if isinstance(value, str):
        if value != "auto":
            raise ValueError(f"{name} must be 'auto' or a number above 0; got {value!r}.")
        return
    check_number(name, value, low=0.0, strict=True)


def count_varying(operator: DataOperator) -> int:
    """Return the number of columns that vary."""
    return int(np.count_nonzero(to_numpy(operator.varies)))


def mean_roughness(rough: np.ndarray, operator: DataOperator) -> float:
    """Return the mean of z_j'Lz_j over the columns that vary; 1 if all are zero."""
    return float(rough[to_numpy(operator.varies)].mean()) or 1.0


def warn_of_projection(
    operator: DataOperator,
    L: sp.csr_array,
    W: Array,
    *,
    gamma: float,
    gap: float,
    n_selected: int,
) -> None:
    """Warn where W says less about the ranking than it seems to."""
    m = W.shape[1]
    alive = to_numpy(row_norms(W)) > DROPPED
    ranked = n_selected != m and n_selected < count_varying(operator)  # the order matters
    if ranked and np.count_nonzero(alive) <= m:
        # A dropped row comes back where 2 ||(MW)_j|| > gamma.
        slopes = operator.rmatmul(
            operator.xp.asarray(L @ to_numpy(operator.matmul(W)), device=operator.device)
        )
        largest = 2.0 * float(np.sqrt(to_numpy(row_norms(slopes))[~alive].max(initial=0.0)))
        warn(
            f"gamma={gamma:.3g} is so large that only {m} features have weights, as many as W has "
            f"columns: the order within them and beyond them says little. Choose gamma below "
            f"{largest:.3g}, or select {m} features.",
            UserWarning,
        )
    if gap < SMALLEST_GAP:
        warn(
            "The projection is not unique: an eigenvalue that it should leave out equals one that "
            "it takes in, so the ranking depends on the order of the columns. Repeated columns "
            "cause this, or init='identity' with more features than samples: drop the copies, or "
            "use init='roughness'.",
            UserWarning,
        )
