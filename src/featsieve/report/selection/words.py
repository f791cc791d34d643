"""A selection in plain words: what was done, what was found, how certain it is."""

from collections.abc import Mapping
from typing import Any

from featsieve import defaults
from featsieve.report.selection.values import counted, listed, readable

# What the methods look for.
LOOKS_FOR = {
    "JASFS": "clusters of the samples together with the features that tell them apart",
    "LaplacianScore": "features that change little between neighbouring samples",
    "SPEC": "features that vary slowly over the graph of neighbouring samples",
    "MCFS": "features from which the spectral coordinates of the samples can be computed",
    "UDFS": "features that tell samples from their neighbourhoods",
    "NDFS": "features that predict clusters of a neighbour graph",
    "RSFS": "features that predict clusters in spite of outlying samples",
    "RUFS": "features that predict clusters in spite of outlying samples",
    "SOGFS": "features whose projection shows clusters in a learned neighbour graph",
    "AUFS": "features that predict clusters, with an adaptive loss",
    "URAFS": "features that predict clusters without correlated weights",
    "USFS": "features that predict soft clusters",
    "UGFS": "features that predict clusters of a neighbour graph",
    "MaxVariance": "the features of largest variance",
    "RandomSelector": "nothing: it draws features at random, as a control",
}
CRITERIA = {
    "modularity": "the modularity of the clusters in the neighbour graph of all features",
    "agreement": "the agreement of k-means clusters with the pseudo-labels of the whole table",
    "centroid_accuracy": "how well cluster centres in the selected columns predict the "
    "pseudo-labels",
    "full_silhouette": "the silhouette in all columns of clusters found in the selected ones",
}


def summary_sentences(summary: Mapping[str, Any]) -> list[str]:
    """Return the sentences that tell a selection to somebody who knows no method."""
    sentences = [
        _what(summary),
        _method(summary),
        _how_many(summary),
        _clusters(summary),
        _structure(summary),
        _stability(summary),
        _best(summary),
    ]
    return [sentence for sentence in sentences if sentence]


def _what(summary: Mapping[str, Any]) -> str:
    """Say what went in and what came out."""
    table, method = summary["table"], summary["method"]
    name = method["name"] + (f" with {method['inner']}" if method["inner"] else "")
    source = f" in {table['file']}" if table["file"] else ""
    return (
        f"Of {counted(table['features'], 'feature')} of {counted(table['samples'], 'sample')}"
        f"{source}, {name} selected {summary['number']['selected']:,}, without using any labels."
    )


def _method(summary: Mapping[str, Any]) -> str:
    """Say what the method looks for."""
    method = summary["method"]
    looked = LOOKS_FOR.get(method["inner"] or method["name"])
    return f"The method looks for {looked}." if looked else ""


def _how_many(summary: Mapping[str, Any]) -> str:
    """Say how the number of features was chosen."""
    number, curve = summary["number"], summary["curve"]
    asked, how = number["asked"], number["how"]
    if how == "criterion":
        measure = CRITERIA.get(curve["criterion"], f"the criterion {curve['criterion']}")
        return f"The number was chosen without labels, by {measure}. {_choice(summary)}"
    if how == "frequency":
        return f"Those were kept that were selected in at least {asked:.0%} of the subsamples."
    if how == "count":
        return f"The number, {asked}, was asked for."
    if how == "share":
        return f"The number was asked for, as {asked:.3g} of all features."
    if asked:
        return f"Features were kept while each lowered the objective by at least {readable(asked)}."
    return "The number follows from the sparsity of the method."


def _choice(summary: Mapping[str, Any]) -> str:
    """Say why this number was chosen, and why others are nearly as good."""
    curve, chosen = summary["curve"], summary["number"]["selected"]
    low, high = summary["number"]["equivalent"]
    margin = readable(curve["tolerance"])
    if curve["sparsest"]:
        rule = f"{chosen} is the smallest number that cannot be told from the best"
    elif curve["tolerance"]:
        rule = f"{chosen} is the smallest number whose value is within {margin} of the best"
    else:
        rule = f"{chosen} has the best value"
    if low == high:
        return f"{rule}; no other number does as well."
    if low == chosen:
        return f"{rule}; {low} to {high} do nearly as well."
    return (
        f"{rule}. Smaller ones, from {low} on, lose more than that, but no more than the value "
        f"varies by chance from run to run: {low} to {high} do nearly as well."
    )


def _clusters(summary: Mapping[str, Any]) -> str:
    """Say where the clusters come from, and how well they can be predicted."""
    clusters = summary["clusters"]
    if clusters is None:
        return "No clusters were found."
    count = len(clusters["names"])
    if clusters["source"] == "k-means":
        return (
            f"k-means on the selected columns gives the {counted(count, 'cluster')} shown here, as "
            "the method finds none itself."
        )
    if clusters["number"] == "found":
        low, high = clusters["plausible"]
        number = (
            "a number found in the neighbour graph and right within a factor of about two "
            f"(anything from {low} to {high} is plausible)"
        )
    else:
        number = "as many as were asked for"
    text = f"The samples fall into {counted(count, 'cluster')}, {number}"
    accuracy = clusters["accuracy"]
    if accuracy is None:
        return text + "."
    judged = (
        "clear" if accuracy >= defaults.REPORT_CLEAR_ACCURACY
        else "doubtful" if accuracy < defaults.REPORT_DOUBTFUL_ACCURACY
        else "fairly clear"
    )  # fmt: skip
    return (
        f"{text}; they are {judged}: the other samples predict a sample's cluster with a balanced "
        f"accuracy of {accuracy:.0%}."
    )


def _structure(summary: Mapping[str, Any]) -> str:
    """Say whether there is anything beyond chance."""
    structure = summary["structure"]
    if structure is None:
        return ""
    score, noise = structure["score"], structure["noise"]
    beyond = "clearer" if score >= noise else "no clearer"
    return (
        f"The clusters are {beyond} than those of the same table with every column shuffled: "
        f"structure score {score:.2f}, where noise stays below {noise:.2f}."
    )


def _stability(summary: Mapping[str, Any]) -> str:
    """Say how far other samples would select the same."""
    stability = summary["stability"]
    if stability is None or stability["value"] is None:
        return ""
    value, (low, high) = stability["value"], stability["interval"]
    judged = (
        "stable"
        if value >= defaults.REPORT_STABLE
        else "unstable"
        if value < defaults.REPORT_UNSTABLE
        else "fairly stable"
    )
    interval = "" if low is None else f", 95% interval {low:.2f} to {high:.2f}"
    return (
        f"The selection is {judged}: on {stability['n_selections']} subsamples of the rows the "
        f"selections agree by {value:.2f} beyond chance (1 is perfect, 0 is chance{interval})."
    )


def _best(summary: Mapping[str, Any]) -> str:
    """Name the best features."""
    names = summary["selected"][:3]
    if len(names) < 2:
        return f"The selected feature is {names[0]}." if names else ""
    return f"The best features are {listed(names)}."
