"""What a reader must know before believing a selection."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from featsieve.criteria.structure import no_structure
from featsieve.report.selection.judgement import class_caveats
from featsieve.report.selection.numbers import counted, listed, readable

# Below these, clusters are doubtful and selections are unstable.
DOUBTFUL_ACCURACY = 0.6
UNSTABLE = 0.4
# Fewer samples than this in the table, or in a cluster, say little.
FEW_SAMPLES = 30
FEW_IN_CLUSTER = 3
# Nearly equal numbers of features that are so many times apart: the number means little.
WIDE_RANGE = 8.0
# Standard deviations that are so many times apart are different units.
DIFFERENT_UNITS = 100.0

Caveat = tuple[str, str, str]  # kind, level, text


def caveats(summary: Mapping[str, Any], notes: Iterable[str] = ()) -> list[dict[str, str]]:
    """Return what a reader must know before believing a selection."""
    found = [caveat for look in LOOKS for caveat in look(summary)]
    for note in notes:
        kind = str(getattr(note, "kind", "told"))
        found.append((kind, "warning" if kind.endswith("Warning") else "note", str(note)))
    found.sort(key=lambda caveat: caveat[1] != "warning")
    return [{"kind": kind, "level": level, "text": text} for kind, level, text in found]


def _structure(summary: Mapping[str, Any]) -> Iterator[Caveat]:
    """Say where there is nothing to select for."""
    structure, clusters = summary["structure"], summary["clusters"]
    if structure is not None and structure["score"] < structure["noise"]:
        if structure["certain"]:
            yield (
                "no-structure",
                "note",
                f"The clusters are hardly clearer than after permuting every column (structure "
                f"score {readable(structure['score'], 2)}), but nearly all neighbours agree on "
                "them: a few columns with wide gaps, or discrete values, look like this.",
            )
        else:
            text = no_structure(structure["score"], summary["table"]["samples"])
            yield "no-structure", "warning", text
    if clusters is not None and len(clusters["names"]) < 2:
        yield (
            "one-cluster",
            "warning",
            "All samples are in one cluster: there is no structure that features could carry. "
            "Ask for at least two clusters.",
        )


def _doubtful(summary: Mapping[str, Any]) -> Iterator[Caveat]:
    """Say where clusters cannot be trusted."""
    clusters = summary["clusters"]
    if clusters is None:
        return
    accuracy = clusters["accuracy"]
    if accuracy is not None and accuracy < DOUBTFUL_ACCURACY:
        yield (
            "doubtful-clusters",
            "warning",
            f"The clusters are doubtful: only {accuracy:.0%} of them (balanced) can be predicted "
            "from the other samples. Features that carry doubtful clusters are doubtful, too. Try "
            "fewer clusters, or more samples.",
        )
    sizes = {row["name"]: row["size"] for row in clusters["rows"]}
    tiny = [name for name, size in sizes.items() if size < FEW_IN_CLUSTER]
    if tiny and len(sizes) > 1:
        verb = "holds" if len(tiny) == 1 else "hold"
        yield (
            "tiny-clusters",
            "warning" if 2 * len(tiny) > len(sizes) else "note",
            f"Cluster{'s'[: len(tiny) != 1]} {listed(tiny)} {verb} fewer than {FEW_IN_CLUSTER} "
            "samples: perhaps outliers, and features may have been selected for their sake.",
        )
    if clusters["source"] == "k-means":
        number = {
            "suggested": "their number was suggested by the same columns and is right within a "
            "factor of about two",
            "found": "their number was found in the whole table and is right within a factor of "
            "about two",
            "asked": "their number was given",
        }[clusters["number"]]
        yield (
            "k-means-clusters",
            "note",
            f"{summary['method']['name']} finds no clusters of its own. Those on this page come "
            f"from k-means on the selected columns ({number}), so they cannot speak for the "
            "selection.",
        )


def _stability(summary: Mapping[str, Any]) -> Iterator[Caveat]:
    """Say where other samples would lead to another selection, or nobody looked."""
    stability = summary["stability"]
    if stability is None:
        yield (
            "stability-unknown",
            "note",
            "Whether other samples would lead to the same features was not looked at: "
            "StabilitySelection does that (--subsamples on the command line).",
        )
    elif stability["value"] is not None and stability["value"] < UNSTABLE:
        yield (
            "unstable",
            "warning",
            f"The selection is unstable: on {stability['n_selections']} subsamples of the rows the "
            f"selections agree only by {stability['value']:.2f} beyond chance (1: always the same, "
            "0: as random ones). Either there is little to find, or many features can stand for "
            "each other; look at the selection frequencies.",
        )


def _duplicates(summary: Mapping[str, Any]) -> Iterator[Caveat]:
    """Say where selected features repeat each other."""
    graph = summary["redundancy"]
    if graph is None or graph["n_duplicates"] == 0:
        return
    first, second, r = graph["duplicates"][0]
    yield (
        "near-duplicates",
        "warning" if 2 * graph["n_in_duplicates"] >= graph["of"] else "note",
        f"Near duplicates: {graph['n_in_duplicates']} of the {graph['of']} selected features "
        f"correlate with another selected one with |r| of at least 0.9, above all {first} and "
        f"{second} (r = {r:.2f}). One of each such pair would tell nearly as much.",
    )


def _number(summary: Mapping[str, Any]) -> Iterator[Caveat]:
    """Say where the number of features is not well determined."""
    curve = summary["curve"]
    if curve is not None and len(curve["sizes"]) > 1:
        low, high = curve["equivalent"]
        all_of_them = curve["sizes"][-1] == summary["table"]["features"]
        if curve["chosen"] == curve["sizes"][-1] and not all_of_them:
            yield (
                "edge",
                "warning",
                f"The chosen number of features, {curve['chosen']}, is the largest that was "
                "looked at: more may be better. Ask for a larger number, or look at more sizes "
                "with AutoSelector(sizes=...).",
            )
        elif curve["chosen"] == curve["sizes"][0] and curve["chosen"] > 1:
            yield (
                "edge",
                "note",
                f"The chosen number of features, {curve['chosen']}, is the smallest that was "
                "looked at: fewer may do as well. It is the smallest group that shows the "
                "clusters, not all features that carry them.",
            )
        if high >= WIDE_RANGE * low:
            yield (
                "wide-range",
                "note",
                f"The number of features is not sharply determined: anything from {low} to {high} "
                "shows the clusters nearly as well.",
            )
    if summary["number"]["selected"] == 1 and summary["table"]["features"] > 1:
        yield "single", "note", "Only one feature is selected, so clusters are cuts along one line."


def _table(summary: Mapping[str, Any]) -> Iterator[Caveat]:
    """Say what is unusual about the table."""
    table = summary["table"]
    if table["samples"] < FEW_SAMPLES:
        yield (
            "few-samples",
            "warning",
            f"There are only {table['samples']} samples: clusters and correlations among so few "
            "are easily chance.",
        )
    if not table["named"]:
        yield (
            "unnamed",
            "note",
            "The columns came without names: "
            + (
                "x0 is the first, x1 the second, and so on."
                if summary["image"] is None
                else "r1c2 is the pixel in the first row and the second column, and so on."
            ),
        )
    if table["constant"]:
        yield (
            "constant",
            "note",
            f"{counted(table['constant'], 'column')} of {table['features']:,} "
            f"{'does' if table['constant'] == 1 else 'do'} not vary and cannot carry anything.",
        )
    if table["dropped"]:
        yield (
            "dropped",
            "note",
            f"{counted(len(table['dropped']), 'column was', 'columns were')} left out before the "
            f"selection: {listed(table['dropped'])}.",
        )
    if table["filled"]:
        yield "filled", "note", _filled(table["filled"])
    unscaled = summary["method"]["name"] == "MaxVariance" or summary["method"]["scale"] == "none"
    if unscaled and table["spread"] is not None and table["spread"] >= DIFFERENT_UNITS:
        yield (
            "units",
            "warning",
            "The columns have very different units (their standard deviations differ by a factor "
            f"of {table['spread']:g}), and the method takes them as they are: columns of large "
            "numbers win. Standardise them first.",
        )


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
        yield (
            "unfinished",
            "note",
            f"The solver stopped early: {objective['status']}. More iterations (max_iter) may "
            "change the selection a little.",
        )
    if summary["table"]["constant_selected"]:
        yield (
            "constant-selected",
            "warning",
            "Columns that do not vary are among the selected ones: fewer features were worth "
            "selecting than were asked for.",
        )


LOOKS: tuple[Callable[[Mapping[str, Any]], Iterator[Caveat]], ...] = (
    _structure,
    _doubtful,
    _stability,
    _duplicates,
    _number,
    class_caveats,
    _table,
    _solver,
)
