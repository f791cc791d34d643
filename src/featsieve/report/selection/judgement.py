"""What the true classes say about a selection: which differences count, and what to warn of."""

from collections.abc import Iterator, Mapping
from typing import Any

# Scores that differ by less are equal, however many samples there are.
SMALLEST_DIFFERENCE = 0.05


def too_many_classes(judged: Mapping[str, Any]) -> bool:
    """Say whether there are so many classes that agreement with them means nothing.

    Parameters
    ----------
    judged : mapping
        The part "evaluation" of ``summarize_selection``.

    Returns
    -------
    bool
        True for more classes than half the samples.

    Examples
    --------
    >>> from featsieve.report.selection.judgement import too_many_classes
    >>> too_many_classes({"classes": ["a", "b", "c"], "sizes": [2, 2, 1]})
    True
    >>> too_many_classes({"classes": ["a", "b"], "sizes": [2, 2]})
    False
    """
    return 2 * len(judged["classes"]) > sum(judged["sizes"])


def clear_difference(judged: Mapping[str, Any]) -> float:
    """Return how far apart two scores must be to count as different.

    Parameters
    ----------
    judged : mapping
        The part "evaluation" of ``summarize_selection``.

    Returns
    -------
    float
        One over the root of the number of samples, about two standard errors of a share near one
        half; never below 0.05.

    Examples
    --------
    >>> from featsieve.report.selection.judgement import clear_difference
    >>> clear_difference({"samples": 25}), clear_difference({"samples": 10000})
    (0.2, 0.05)
    """
    return max(SMALLEST_DIFFERENCE, float(judged["samples"]) ** -0.5)


def best_cells(judged: Mapping[str, Any], keys: tuple[str, ...]) -> set[tuple[str, str]]:
    """Return which scores are best in a sense worth marking.

    Parameters
    ----------
    judged : mapping
        The part "evaluation" of ``summarize_selection``.
    keys : tuple of str
        Names of scores.

    Returns
    -------
    set of (kind, key)
        Largest ones that are clearly above the smallest, of clusters that agree with the classes
        clearly better than chance (by the adjusted Rand index).

    Examples
    --------
    >>> from featsieve.report.selection.judgement import best_cells
    >>> rows = [{"kind": "selected", "ari": 0.8}, {"kind": "all", "ari": 0.5}]
    >>> judged = {"classes": ["a", "b"], "sizes": [50, 50], "samples": 100, "rows": rows}
    >>> best_cells(judged, ("ari",))
    {('selected', 'ari')}
    """
    rows = judged["rows"]
    if not rows or too_many_classes(judged):
        return set()
    margin = clear_difference(judged)
    found = set()
    for key in keys:
        values = [row[key] for row in rows]
        for row in rows:
            largest = row[key] == max(values)
            if largest and row[key] - min(values) >= margin and row["ari"] >= margin:
                found.add((row["kind"], key))
    return found


def class_caveats(summary: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Say where the true classes speak against the selection, or mean nothing.

    Parameters
    ----------
    summary : mapping
        The parts of ``summarize_selection``.

    Yields
    ------
    kind, level, text : str
    """
    judged = summary["evaluation"]
    if judged is None:
        return
    if len(judged["classes"]) > 1 and too_many_classes(judged):
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
    margin, chosen, whole = clear_difference(judged), rows["selected"], rows["all"]
    if whole["ari"] >= margin and whole["accuracy"] - chosen["accuracy"] >= margin:
        yield (
            "all-better",
            "warning",
            "k-means on all features agrees better with the true classes than on the selected "
            f"ones: {whole['accuracy']:.0%} against {chosen['accuracy']:.0%}. The selection has "
            "lost some of what tells these classes apart; more features may bring it back.",
        )
