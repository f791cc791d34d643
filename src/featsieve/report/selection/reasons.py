"""Why a feature was selected or not, in a few words for the table of a report."""

from collections.abc import Mapping
from typing import Any

from featsieve.report.selection.redundancy import NEAR_DUPLICATE

# A feature of which the clusters explain less tells them little.
LITTLE = 0.1


def reasons(summary: Mapping[str, Any]) -> list[str]:
    """Return why each listed feature was selected or not."""
    rows, clusters = summary["features"], summary["clusters"]
    own = clusters is not None and clusters["source"] == "method"
    low = "adds too little" if summary["path"]["kind"] == "gains" else "its score is too low"
    found = []
    for i, status in enumerate(rows["status"]):
        tells = _tells(rows, i) if own else None
        closest, r = rows["closest"][i], rows["correlation"][i]
        close = closest is not None and r is not None and abs(r) >= NEAR_DUPLICATE
        little = own and _share(rows, i) < LITTLE
        if status == "selected":
            text = "among the best scores" if tells is None or little else tells
            found.append(f"{text}; nearly a copy of {closest} (r = {r:.2f})" if close else text)
        elif status == "redundant":
            found.append(f"repeats {closest} (r = {r:.2f})" if close else "repeats a selected one")
        elif status == "constant":
            found.append("does not vary")
        elif status != "low score":
            found.append(status)
        elif tells is None:
            found.append("score too low")
        elif little:
            found.append(f"tells the clusters little: explains {_share(rows, i):.0%}")
        else:
            found.append(f"{tells}, but {low}")
    return found


def _tells(rows: Mapping[str, Any], i: int) -> str | None:
    """Return what a feature tells about the clusters; None if nothing is known."""
    cluster, separation = rows["cluster"][i], rows["separation"][i]
    if cluster is None or separation is None:
        return None
    return f"{'high' if float(separation) > 0 else 'low'} in cluster {cluster}"


def _share(rows: Mapping[str, Any], i: int) -> float:
    """Return the share of a feature's variance between clusters; 1 if it is not known."""
    share = rows["eta_squared"][i]
    return 1.0 if share is None else float(share)
