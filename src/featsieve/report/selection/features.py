"""The features of a selection as rows of a table: the selected ones, then the best others."""

from typing import Any

import numpy as np

from featsieve.report.selection.inputs import Selection
from featsieve.report.selection.numbers import plain, plains

# So many features are listed, the best ones; a table of all is the business of ``explain``.
MOST_ROWS = 2000


def feature_rows(selection: Selection, frequency: np.ndarray | None) -> dict[str, Any]:
    """Return columns of facts about the best features, as lists of equal length."""
    facts = selection.facts
    order = np.lexsort((facts["rank"], ~facts["selected"]))[:MOST_ROWS]
    names = selection.feature_names
    # explain names the closest feature as the selector does; the reader's names may be others
    own = facts["feature"]
    position = {str(own[j]): int(j) for j in selection.chosen[::-1]}
    closest = [position.get(str(name)) for name in facts["closest_selected"][order]]
    clustered = np.isfinite(facts["eta_squared"][order]) & ~np.isnan(facts["separation"][order])
    return {
        "total": len(names),
        "name": [names[j] for j in order],
        "index": order.tolist(),
        "selected": facts["selected"][order].tolist(),
        "rank": facts["rank"][order].tolist(),
        "score": plains(facts["score"][order]),
        "frequency": None if frequency is None else plains(frequency[order]),
        "cluster": [
            str(name) if known else None
            for name, known in zip(
                facts["best_cluster"][order].tolist(), clustered.tolist(), strict=True
            )
        ],
        "separation": plains(facts["separation"][order], 4),
        "eta_squared": plains(facts["eta_squared"][order], 4),
        "closest": [None if j is None else names[j] for j in closest],
        "correlation": [
            None if j is None else plain(r, 4)
            for j, r in zip(closest, facts["correlation"][order], strict=True)
        ],
        "status": facts["status"][order].tolist(),
    }
