"""What the true classes say about a selection: which differences count, and what to warn of."""

from collections.abc import Iterator, Mapping
from typing import Any

from featsieve.evaluation.judging import clear_difference, too_many_classes


def is_meaningless(judged: Mapping[str, Any]) -> bool:
    """Say whether there are so many classes that agreement with them means nothing."""
    return too_many_classes(len(judged["classes"]), sum(judged["sizes"]))


def best_cells(judged: Mapping[str, Any], keys: tuple[str, ...]) -> set[tuple[str, str]]:
    """Return which scores are best in a sense worth marking."""
    rows = judged["rows"]
    if not rows or is_meaningless(judged):
        return set()
    margin = clear_difference(judged["samples"])
    found = set()
    for key in keys:
        values = [row[key] for row in rows]
        for row in rows:
            largest = row[key] == max(values)
            if largest and row[key] - min(values) >= margin and row["ari"] >= margin:
                found.add((row["kind"], key))
    return found


def class_caveats(summary: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Say where the true classes speak against the selection, or mean nothing."""
    judged = summary["evaluation"]
    if judged is None:
        return
    if len(judged["classes"]) > 1 and is_meaningless(judged):
        yield (
            "many-classes",
            "warning",
            f"There are {len(judged['classes']):,} classes for {sum(judged['sizes']):,} samples. "
            "With so few samples of each, the agreement with them means nothing: is the label "
            "column one of names or measurements?",
        )
        return
    rows = {row["kind"]: row for row in judged["rows"]}
    if "selected" not in rows or "all" not in rows:
        return
    margin, chosen, whole = clear_difference(judged["samples"]), rows["selected"], rows["all"]
    if whole["ari"] >= margin and whole["accuracy"] - chosen["accuracy"] >= margin:
        yield (
            "all-better",
            "warning",
            "k-means on all features agrees better with the true classes than on the selected "
            f"ones: {whole['accuracy']:.0%} against {chosen['accuracy']:.0%}. The selection has "
            "lost some of what tells these classes apart; more features may bring it back.",
        )
