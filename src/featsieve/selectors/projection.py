"""What UDFS and SOGFS share: the settings of their row-sparse projection, and what can go wrong."""

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from featsieve.arrays import DataOperator
from featsieve.arrays.namespace import to_numpy
from featsieve.base import estimator
from featsieve.selectors.common import IterativeSelector
from featsieve.solvers.sparse_projection import INITS, roughness
from featsieve.terms.norms import row_norms
from featsieve.validation import one_of, positive_or_auto, warn

# A row of W of less than this squared length has been dropped by the penalty.
DROPPED = 1e-8
# Below this relative eigengap the projection is not unique.
SMALLEST_GAP = 1e-10


@estimator
class ProjectionSelector(IterativeSelector):
    """A selector that scores features by the rows of a sparse orthonormal projection."""

    gamma: float | str = "auto"
    init: str = "roughness"

    _checks: ClassVar[dict[str, Any]] = {"gamma": positive_or_auto, "init": one_of(*INITS)}
    _centres = True  # L1 = 0: an origin would only cost digits

    def _resolve_gamma(self, share: float, L: sp.csr_array, operator: DataOperator) -> float:
        """Set and return gamma; "auto" is a share of the mean roughness of columns that vary."""
        mean = float(roughness(operator, L)[to_numpy(operator.varies)].mean()) or 1.0
        self.gamma_ = share * mean if isinstance(self.gamma, str) else float(self.gamma)
        return self.gamma_

    def _n_columns(self, name: str, wanted: int, operator: DataOperator) -> int:
        """Return the number of columns of W, fewer than wanted where few features vary.

        With as many columns as features W is a rotation, and all rows are equally long.
        """
        largest = max(count_varying(operator) - 1, 1)
        if wanted > largest:
            warn(
                f"{name}={wanted} needs more than as many features that vary; there are only "
                f"{count_varying(operator)}. W gets {largest} columns. Choose a smaller {name}."
            )
        return min(wanted, largest)

    def _set_projection(
        self, operator: DataOperator, L: sp.csr_array, state: Any, n_selected: int
    ) -> None:
        """Set what W says about the features; warn where that is less than it seems."""
        W, m = state.W, state.W.shape[1]
        self.eigengap_ = state.gap
        alive = to_numpy(row_norms(W)) > DROPPED
        ranked = n_selected != m and n_selected < count_varying(operator)  # the order matters
        if ranked and np.count_nonzero(alive) <= m:
            # A dropped row comes back where 2 ||(MW)_j|| > gamma.
            slopes = operator.rmatmul(operator.place(L @ to_numpy(operator.matmul(W))))
            largest = 2.0 * float(np.sqrt(to_numpy(row_norms(slopes))[~alive].max(initial=0.0)))
            warn(
                f"gamma={self.gamma_:.3g} is so large that only {m} features have weights, as many "
                "as W has columns: the order within them and beyond them says little. Choose gamma "
                f"below {largest:.3g}, or select {m} features."
            )
        if state.gap < SMALLEST_GAP:
            warn(
                "The projection is not unique: an eigenvalue that it should leave out equals one "
                "that it takes in, so the ranking depends on the order of the columns. Repeated "
                "columns cause this, or init='identity' with more features than samples: drop the "
                "copies, or use init='roughness'."
            )
        self._set_weights(operator, W, n_selected)


def count_varying(operator: DataOperator) -> int:
    """Return the number of columns that vary."""
    return int(np.count_nonzero(to_numpy(operator.varies)))
