"""What a reader must know before believing a selection."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from featsieve import defaults
from featsieve.criteria.structure import no_structure
from featsieve.evaluation.judging import clear_difference
from featsieve.report.selection.evaluation import is_meaningless
from featsieve.report.selection.values import counted, listed, readable

Caveat = tuple[str, str, str]  # kind, level ("warning" or "note"), text


def caveats(summary: Mapping[str, Any], notes: Iterable[str] = ()) -> list[dict[str, str]]:
    """Return what a reader must know before believing a selection."""
    checks = (_structure, _clusters, _stability, _duplicates, _number, _classes, _table, _solver)
    found = [caveat for check in checks for caveat in check(summary)]
    for note in notes:
        kind = str(getattr(note, "kind", "told"))
        found.append((kind, "warning" if kind.endswith("Warning") else "note", str(note)))
    found.sort(key=lambda caveat: caveat[1] != "warning")
    return [{"kind": kind, "level": level, "text": text} for kind, level, text in found]


def _structure(summary: Mapping[str, Any]) -> Iterator[Caveat]:
    """Say where there is nothing to select for."""
    structure, clusters = summary["structure"], summary["clusters"]
    if structure is not None and structure["score"] < structure["noise"]:
        level, text = "warning", no_structure(structure["score"], summary["table"]["samples"])
        if structure["certain"]:
            level, text = (
                "note",
                (
                    "The clusters are hardly clearer than after permuting every column (structure "
                    f"score {readable(structure['score'], 2)}), but nearly all neighbours agree on "
                    "them: a few columns with wide gaps, or discrete values, look like this."
                ),
            )
        yield "no-structure", level, text
    if clusters is not None and len(clusters["names"]) < 2:
        text = (
            "All samples are in one cluster: there is no structure that features could carry. "
            "Ask for at least two clusters."
        )
        yield "one-cluster", "warning", text


def _clusters(summary: Mapping[str, Any]) -> Iterator[Caveat]:
    """Say where clusters cannot be trusted."""
    clusters = summary["clusters"]
    if clusters is None:
        return
    accuracy = clusters["accuracy"]
    if accuracy is not None and accuracy < defaults.REPORT_DOUBTFUL_ACCURACY:
        text = (
            f"The clusters are doubtful: only {accuracy:.0%} of them (balanced) can be predicted "
            "from the other samples. Features that carry doubtful clusters are doubtful, too. Try "
            "fewer clusters, or more samples."
        )
        yield "doubtful-clusters", "warning", text
    tiny = [row["name"] for row in clusters["rows"] if row["size"] < defaults.REPORT_FEW_IN_CLUSTER]
    if tiny and len(clusters["rows"]) > 1:
        names = f"Cluster {tiny[0]} holds" if len(tiny) == 1 else f"Clusters {listed(tiny)} hold"
        text = (
            f"{names} fewer than {defaults.REPORT_FEW_IN_CLUSTER} samples: perhaps outliers, and "
            "features may have been selected for their sake."
        )
        yield "tiny-clusters", "warning" if 2 * len(tiny) > len(clusters["rows"]) else "note", text
    if clusters["source"] == "k-means":
        number = {
            "suggested": "their number was suggested by the same columns and is right within a "
            "factor of about two",
            "found": "their number was found in the whole table and is right within a factor of "
            "about two",
            "asked": "their number was given",
        }[clusters["number"]]
        text = (
            f"{summary['method']['name']} finds no clusters of its own. Those on this page come "
            f"from k-means on the selected columns ({number}), so they cannot speak for the "
            "selection."
        )
        yield "k-means-clusters", "note", text


def _stability(summary: Mapping[str, Any]) -> Iterator[Caveat]:
    """Say where other samples would lead to another selection, or nobody looked."""
    stability = summary["stability"]
    if stability is None:
        text = (
            "Whether other samples would lead to the same features was not looked at: "
            "StabilitySelection does that (--subsamples on the command line)."
        )
        yield "stability-unknown", "note", text
    elif stability["value"] is not None and stability["value"] < defaults.REPORT_UNSTABLE:
        text = (
            f"The selection is unstable: on {stability['n_selections']} subsamples of the rows the "
            f"selections agree only by {stability['value']:.2f} beyond chance (1: always the same, "
            "0: as random ones). Either there is little to find, or many features can stand for "
            "each other; look at the selection frequencies."
        )
        yield "unstable", "warning", text


def _duplicates(summary: Mapping[str, Any]) -> Iterator[Caveat]:
    """Say where selected features repeat each other."""
    graph = summary["redundancy"]
    if graph is None or graph["n_duplicates"] == 0:
        return
    first, second, r = graph["duplicates"][0]
    text = (
        f"Near duplicates: {graph['n_in_duplicates']} of the {graph['of']} selected features "
        f"correlate with another selected one with |r| of at least 0.9, above all {first} and "
        f"{second} (r = {r:.2f}). One of each such pair would tell nearly as much."
    )
    many = 2 * graph["n_in_duplicates"] >= graph["of"]
    yield "near-duplicates", "warning" if many else "note", text


def _number(summary: Mapping[str, Any]) -> Iterator[Caveat]:
    """Say where the number of features is not well determined."""
    curve, n_features = summary["curve"], summary["table"]["features"]
    if curve is not None and len(curve["sizes"]) > 1:
        low, high = curve["equivalent"]
        chosen, smallest, largest = curve["chosen"], curve["sizes"][0], curve["sizes"][-1]
        start = f"The chosen number of features, {chosen}, is the"
        if chosen == largest < n_features:
            text = (
                f"{start} largest that was looked at: more may be better. Ask for a larger number, "
                "or look at more sizes with AutoSelector(sizes=...)."
            )
            yield "edge", "warning", text
        elif chosen == smallest > 1 and chosen != largest:
            text = (
                f"{start} smallest that was looked at: fewer may do as well. It is the smallest "
                "group that shows the clusters, not all features that carry them."
            )
            yield "edge", "note", text
        if high >= defaults.REPORT_WIDE_RANGE * low:
            text = (
                f"The number of features is not sharply determined: anything from {low} to {high} "
                "shows the clusters nearly as well."
            )
            yield "wide-range", "note", text
    if summary["number"]["selected"] == 1 and n_features > 1:
        yield "single", "note", "Only one feature is selected, so clusters are cuts along one line."


def _classes(summary: Mapping[str, Any]) -> Iterator[Caveat]:
    """Say where the true classes speak against the selection, or mean nothing."""
    judged = summary["evaluation"]
    if judged is None:
        return
    if len(judged["classes"]) > 1 and is_meaningless(judged):
        text = (
            f"There are {len(judged['classes']):,} classes for {sum(judged['sizes']):,} samples. "
            "With so few samples of each, the agreement with them means nothing: is the label "
            "column one of names or measurements?"
        )
        yield "many-classes", "warning", text
        return
    rows = {row["kind"]: row for row in judged["rows"]}
    if "selected" not in rows or "all" not in rows:
        return
    margin, chosen, whole = clear_difference(judged["samples"]), rows["selected"], rows["all"]
    if whole["ari"] >= margin and whole["accuracy"] - chosen["accuracy"] >= margin:
        text = (
            "k-means on all features agrees better with the true classes than on the selected "
            f"ones: {whole['accuracy']:.0%} against {chosen['accuracy']:.0%}. The selection has "
            "lost some of what tells these classes apart; more features may bring it back."
        )
        yield "all-better", "warning", text


def _table(summary: Mapping[str, Any]) -> Iterator[Caveat]:
    """Say what is unusual about the table."""
    table, method = summary["table"], summary["method"]
    if table["samples"] < defaults.REPORT_FEW_SAMPLES:
        text = (
            f"There are only {table['samples']} samples: clusters and correlations among so few "
            "are easily chance."
        )
        yield "few-samples", "warning", text
    if not table["named"]:
        example = (
            "x0 is the first, x1 the second, and so on"
            if summary["image"] is None
            else "r1c2 is the pixel in the first row and the second column, and so on"
        )
        yield "unnamed", "note", f"The columns came without names: {example}."
    if table["constant"]:
        columns = counted(table["constant"], "column")
        verb = "does" if table["constant"] == 1 else "do"
        text = f"{columns} of {table['features']:,} {verb} not vary and cannot carry anything."
        yield "constant", "note", text
    if table["dropped"]:
        columns = counted(len(table["dropped"]), "column was", "columns were")
        text = f"{columns} left out before the selection: {listed(table['dropped'])}."
        yield "dropped", "note", text
    if table["filled"]:
        yield "filled", "note", _filled(table["filled"])
    unscaled = method["name"] == "MaxVariance" or method["scale"] == "none"
    if (
        unscaled
        and table["spread"] is not None
        and table["spread"] >= defaults.REPORT_DIFFERENT_UNITS
    ):
        text = (
            "The columns have very different units (their standard deviations differ by a factor "
            f"of {table['spread']:g}), and the method takes them as they are: columns of large "
            "numbers win. Standardise them first."
        )
        yield "units", "warning", text
    if table["constant_selected"]:
        text = (
            "Columns that do not vary are among the selected ones: fewer features were worth "
            "selecting than were asked for."
        )
        yield "constant-selected", "warning", text


def _filled(filled: Any) -> str:
    """Say what was done about missing values."""
    if isinstance(filled, str):
        return filled
    if isinstance(filled, Mapping):
        total = sum(int(count) for count in filled.values())
        where = f", in {counted(len(filled), 'column')} ({listed(filled)})"
    else:
        total, where = int(filled), ""
    return f"{counted(total, 'missing value was', 'missing values were')} filled in{where}."


def _solver(summary: Mapping[str, Any]) -> Iterator[Caveat]:
    """Say where the iterations were too few."""
    objective = summary["objective"]
    if objective is not None and not objective["success"]:
        text = (
            f"The solver stopped early: {objective['status']}. More iterations (max_iter) may "
            "change the selection a little."
        )
        yield "unfinished", "note", text
