"""A selection in plain words: what was done and found, and what to know before relying on it."""

import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from featsieve import defaults
from featsieve.criteria.structure import WHAT_TO_DO
from featsieve.evaluation.judging import clear_difference, too_many_classes
from featsieve.names import counted, listed
from featsieve.report.selection.values import readable

CRITERIA = {
    "modularity": "how clearly the clusters show (modularity in the neighbour graph)",
    "agreement": "how well k-means on so many features finds the clusters of the whole table",
}
VERDICTS = {
    "clusters": "The samples form clusters (p = {p:.2g}{least}).",
    "gradient": "The samples form a gradient, not clusters (p = {p:.2g} for clusters).",
    "nothing": "The table shows nothing that chance would not give (p = {p:.2g}).",
}
CAVEATS = {
    "no-structure": "{sentence} " + WHAT_TO_DO,
    "one-cluster": "All samples are in one cluster: there is no structure that features could "
    "carry. Ask for at least two clusters.",
    "doubtful-clusters": "The clusters are doubtful: clustered in other ways, a sample stays with "
    "only {certainty:.0%} of its cluster. Features that carry doubtful clusters are "
    "doubtful, too. Try fewer clusters, or more samples.",
    "lone-features": "The clusters were found without {names}: columns of few values make groups "
    "of their own, and no other column goes along with these.",
    "tiny-clusters": "Fewer than {few} samples are in each of these clusters: {names}. Perhaps "
    "they are outliers, and features may have been selected for their sake.",
    "k-means-clusters": "{method} finds no clusters of its own. Those on this page come from "
    "k-means on the selected columns (their number was {number}), so they cannot speak for the "
    "selection.",
    "stability-unknown": "Whether other samples would lead to the same features was not looked at: "
    "StabilitySelection does that (on the command line featsieve select --subsamples).",
    "unstable": "The selection is unstable: on {n_selections} subsamples of the rows the "
    "selections agree only by {value:.2f} beyond chance (1: always the same, 0: as random ones). "
    "Either there is little to find, or many features can stand for each other; look at the "
    "selection frequencies.",
    "near-duplicates": "Near duplicates: {count} of the {of} selected features correlate with "
    "another selected one with |r| of at least 0.9, above all {first} and {second} (r = {r:.2f}). "
    "One of each such pair would tell nearly as much.",
    "largest-number": "The chosen number of features, {chosen}, is the largest that was looked at: "
    "more may be better. Ask for a larger number, or look at more sizes with "
    "AutoSelector(sizes=...).",
    "everything": "All {chosen:,} features were selected, so that nothing was: no smaller number "
    "shows the clusters as well. Look at the ranks, or ask for a number.",
    "unfinished": "The solver stopped early: {status}. More iterations (max_iter) may change the "
    "selection a little.",
    "many-classes": "There are {n_classes:,} classes for {n_samples:,} samples. With so few "
    "samples of each, the agreement with them means nothing: is the label column one of names or "
    "measurements?",
    "all-better": "k-means on all features agrees better with the true classes than on the "
    "selected ones: {whole:.0%} against {selected:.0%}. The selection has lost some of what tells "
    "these classes apart; more features may bring it back.",
    "follows": "The clusters {follow} (adjusted mutual information {ami:.2f}, 0 by chance, "
    "p = {p:.2g}). {fix}.",
    "few-samples": "There are only {samples} samples: clusters and correlations among so few are "
    "easily chance.",
    "unnamed": "The columns came without names: {example}, and so on.",
    "constant": "{columns} not vary and cannot carry anything.",
    "dropped": "{columns} left out before the selection: {names}.",
    "units": "The columns have very different units (their standard deviations differ by a factor "
    "of {spread:g}), and the method takes them as they are: columns of large numbers win. "
    "Standardise them first.",
    "constant-selected": "Columns that do not vary are among the selected ones: fewer features "
    "were worth selecting than were asked for.",
}
# How the number of the clusters of k-means was found.
NUMBERS = {
    "suggested": "suggested by the same columns and is right within a factor of about two",
    "found": "found in the whole table and is right within a factor of about two",
    "asked": "given",
}
# How the number of features was chosen, if not by a criterion.
HOW = {
    "frequency": "Those were kept that were selected in at least {asked:.0%} of the subsamples.",
    "significant": "All were kept that go with the clusters by their q-values.",
    "count": "The number, {asked}, was asked for.",
    "budget": "The number is what a budget of {asked:g} buys.",
    "share": "The number was asked for, as {asked:.3g} of all features.",
    "price": "Features were kept while each lowered the objective by at least {asked:.3g}.",
}
# What is compared with known classes.
JUDGED = {
    "selected": "k-means on the {n:,} selected feature{s}",
    "all": "k-means on all {n:,} features",
    "clusters": "the clusters of the method",
}
NO_GROUPS = "A q-value does not tell groups from gradients."
Caveat = tuple[str, bool, dict[str, Any]]  # kind, whether it is a warning, what the text names


def answer(summary: Mapping[str, Any]) -> list[str]:
    """Return the answer in short sentences: verdict, selection, other features that go along."""
    table, names, clusters = summary["table"], summary["selected"], summary["clusters"]
    structure = summary["structure"]
    verdict = "The table is too small to tell whether there are clusters."
    if structure is not None:
        kind = "permuted" if structure["p_rotated"] is None else "rotated"
        p, copies = structure[f"p_{kind}"], len(structure[f"null_{kind}"])
        least = f", the least that {copies} copies can show" if p * (copies + 1) < 1.5 else ""
        verdict = VERDICTS[structure["verdict"]].format(p=p, least=least)
    told, there = f" of {counted(table['samples'], 'sample')}", form_clusters(summary)
    if clusters is not None and clusters["source"] == "method":
        parts = counted(len(clusters["names"]), "cluster")
        told = f" for {parts}{told}" if there else f"{told}, which were put into {parts} anyway"
    features = counted(table["features"], "feature")
    best = f": {listed(names)}" if names else ""
    selected = f"{_method(summary)} selected {len(names):,} of {features}{told}{best}."
    return [verdict, selected, *([_go_with(summary)] if there and _beside(summary) else ())]


def form_clusters(summary: Mapping[str, Any]) -> bool:
    """Say whether samples form clusters, as far as is known."""
    return summary["structure"] is None or summary["structure"]["verdict"] == "clusters"


def _beside(summary: Mapping[str, Any]) -> list[str]:
    """Return the features that go with the clusters and are not selected."""
    return [name for name, goes, selected in _tested(summary) if goes and not selected]


def _tested(summary: Mapping[str, Any]) -> Iterator[tuple[str, bool, bool]]:
    """Yield the features with q-values, whether they go with the clusters, and are selected."""
    rows = summary["features"]
    columns = zip(rows["name"], rows["q_value"] or (), rows["selected"], strict=False)
    for name, q, selected in columns:
        if q is not None:
            yield name, q <= defaults.QVALUE_LEVEL, selected


def _go_with(summary: Mapping[str, Any]) -> str:
    """Say how many features go with the clusters, and which where not all are selected."""
    count, names = summary["number"]["significant"], _beside(summary)
    go = counted(count, "feature goes", "features go")
    said = f"{go} with {_them(summary)} at q ≤ {defaults.QVALUE_LEVEL:g}"
    are = "is" if len(names) == 1 else "are"
    return f"{said}; {listed(names)} {are} not selected." if names else f"{said}."


def _them(summary: Mapping[str, Any]) -> str:
    """Return what the samples were put into."""
    return "the clusters" if form_clusters(summary) else "these parts"


def _method(summary: Mapping[str, Any]) -> str:
    """Return the name of the method, with that of the selector inside it."""
    method = summary["method"]
    return method["name"] + (f" with {method['inner']}" if method["inner"] else "")


def summary_sentences(summary: Mapping[str, Any]) -> list[str]:
    """Return the sentences that tell a selection to somebody who knows no method."""
    table = summary["table"]
    structure = summary["structure"]  # where there are no clusters, a warning says so
    source = f" in {table['file']}" if table["file"] else ""
    sentences = [
        f"Of {counted(table['features'], 'feature')} of {counted(table['samples'], 'sample')}"
        f"{source}, {_method(summary)} selected {summary['number']['selected']:,}, without using "
        "any labels.",
        _how_many(summary),
        _significant(summary),
        _clusters(summary["clusters"], structure),
        _untold(summary["clusters"]),
        structure["sentence"] if structure and structure["verdict"] == "clusters" else "",
        _stability(summary["stability"]),
        _judged(summary["evaluation"]),
    ]
    return [sentence for sentence in sentences if sentence]


def _how_many(summary: Mapping[str, Any]) -> str:
    """Say how the number of features was chosen."""
    number, curve = summary["number"], summary["curve"]
    asked, how, chosen = number["asked"], number["how"], number["selected"]
    if how == "price" and not asked:
        return "The number follows from the sparsity of the method."
    if how != "criterion":
        return HOW[how].format(asked=asked)
    measure = CRITERIA.get(curve["criterion"], f"the criterion {curve['criterion']}")
    margin = readable(curve["tolerance"])
    within = f"is the smallest number whose value is within {margin} of the best"
    rule = within if curve["tolerance"] else "has the best value"
    rule = f"The number was chosen without labels, by {measure}. {chosen} {rule}"
    low, high = number["equivalent"]
    others = f"by the noise of these values, {low} to {high} may do as well"
    return f"{rule}; {'no other number does as well' if low == high else others}."


def _significant(summary: Mapping[str, Any]) -> str:
    """Say how many features go with the clusters, beside the fewest that show them."""
    number, curve = summary["number"], summary["curve"]
    count = number.get("significant")
    if count is None and number["how"] == "criterion":
        return (
            "More may go with the clusters than it takes to show them: q-values tell which "
            "(--qvalues on the command line, or --features significant)."
        )
    if count is None:
        return ""
    if not count:
        level = f"q ≤ {defaults.QVALUE_LEVEL:g}"
        return f"No feature by itself goes with {_them(summary)} at {level}."
    if not form_clusters(summary):
        return f"{_go_with(summary)} {NO_GROUPS}"
    fewest = ""
    chance = [name for name, goes, selected in _tested(summary) if selected and not goes]
    if curve and chance:
        fewest = f" Selected, but not told from chance one by one: {listed(chance)}."
    elif curve:
        suffice = f"suffice{'s'[: curve['chosen'] == 1]}"
        fewest = f" {curve['chosen']} {suffice} to show {_them(summary)}."
    if _beside(summary):
        fewest += f" --features significant selects {'it' if count == 1 else 'them'}."
    return (
        f"{_go_with(summary)}{fewest} Of features called so, about {defaults.QVALUE_LEVEL:.0%} may "
        f"be false. {NO_GROUPS}"
    )


def _clusters(clusters: Mapping[str, Any] | None, structure: Mapping[str, Any] | None) -> str:
    """Say where the clusters come from, and how well they can be predicted."""
    if clusters is None:
        return "No clusters were found."
    count = counted(len(clusters["names"]), "cluster")
    if clusters["source"] == "k-means":
        return (
            f"k-means on the selected columns gives the {count} shown here, as the method finds "
            "none itself."
        )
    number = "as many as were asked for"
    if clusters["number"] == "found":
        low, high = clusters["plausible"]
        after = f"; {after} comes next" if (after := clusters["runner_up"]) else ""
        number = (
            "a number found automatically, right within a factor of about two (anything from "
            f"{low} to {high} is plausible{after})"
        )
        if not clusters["agreed"]:
            number = "for want of a better number: clusterings agree on none"
    if structure is not None and structure["verdict"] != "clusters":
        asked = "" if clusters["number"] == "found" else f", {number}"
        return f"The samples were put into {count}{asked}; nothing says that these are there."
    text = f"The samples fall into {count}, {number}"
    if clusters["certainty"] is None:
        return f"{text}."
    return (
        f"{text}. Clustered in other ways, a sample stays with {clusters['certainty']:.0%} of its "
        "cluster."
    )


def _untold(clusters: Mapping[str, Any] | None) -> str:
    """Describe the clusters that no feature tells better than another cluster."""
    rows = [row for row in (clusters or {}).get("rows", ()) if row.get("differs")]
    told = [f"cluster {row['name']} differs most in {', '.join(row['differs'])}" for row in rows]
    return f"{'; '.join(told)}.".replace("cluster", "Cluster", 1) if told else ""


def _stability(stability: Mapping[str, Any] | None) -> str:
    """Say how far other samples would select the same."""
    if stability is None or stability["value"] is None:
        return ""
    low, high = stability["interval"]
    interval = "" if low is None else f", 95% interval {low:.2f} to {high:.2f}"
    return (
        f"On {stability['n_selections']} subsamples of the rows the selections agree by "
        f"{stability['value']:.2f} beyond chance (1 is perfect, 0 is chance{interval})."
    )


def _judged(evaluation: Mapping[str, Any] | None) -> str:
    """Say how far clusters agree with known classes: those of k-means, and of the method."""
    scores = [
        f"{JUDGED[row['kind']].format(n=row['n_features'], s='s'[: row['n_features'] != 1])}: "
        f"accuracy {row['accuracy']:.2f}, NMI {row['nmi']:.2f}, ARI {row['ari']:.2f}"
        for row in (evaluation or {}).get("rows", ())
    ]
    return f"Known classes, used to judge only: {'; '.join(scores)}." if scores else ""


def caveats(summary: Mapping[str, Any], notes: Iterable[str] = ()) -> list[dict[str, str]]:
    """Return what a reader must know before relying on a selection, warnings first."""
    checks = (_about_clusters, _about_features, _about_classes, _about_table)
    found = [
        (kind, warns, CAVEATS[kind].format(**values))
        for check in checks
        for kind, warns, values in check(summary)
    ]
    for note in notes:
        kind = str(getattr(note, "kind", "told"))
        found.append((kind, kind.endswith("Warning"), str(note)))
    found.sort(key=lambda caveat: not caveat[1])
    return [
        {"kind": kind, "level": "warning" if warns else "note", "text": text}
        for kind, warns, text in found
    ]


def _about_clusters(summary: Mapping[str, Any]) -> Iterator[Caveat]:
    """Say where there is nothing to select for, or clusters cannot be trusted."""
    structure, clusters = summary["structure"], summary["clusters"]
    if structure is not None and structure["verdict"] != "clusters":
        yield "no-structure", True, structure
    if clusters is None:
        return
    certainty, rows, few = clusters["certainty"], clusters["rows"], defaults.REPORT_FEW_IN_CLUSTER
    if len(clusters["names"]) < 2:
        yield "one-cluster", True, {}
    if certainty is not None and certainty < defaults.REPORT_DOUBTFUL_CERTAINTY:
        yield "doubtful-clusters", True, {"certainty": certainty}
    if followed := clusters.get("follows"):
        column, levels, words = (followed[key] for key in ("column", "levels", "words"))
        name = shlex.quote(column)
        what = repr(column) if words is None else f"a part of the sample names ({listed(words, 5)})"
        of_it = f"the {levels} values of {column!r}" if words is None else what
        follow = f"are nearly {of_it}" if levels == len(clusters["names"]) else f"follow {what}"
        fix = f"If that is a batch, add --batch-column {name}. If it is something else that you do "
        fix += "not look for, leave out the columns that go along with it as well (--drop)"
        if words is not None:
            fix = "If that is a batch, make it a column of its own, and name it with --batch-column"
        yield from _follows(True, followed["agreement"], follow, fix)
    if clusters.get("lone"):
        yield "lone-features", False, {"names": listed(clusters["lone"])}
    tiny = [row["name"] for row in rows if row["size"] < few]
    if tiny and len(rows) > 1:
        yield "tiny-clusters", 2 * len(tiny) > len(rows), {"few": few, "names": listed(tiny)}
    if clusters["source"] == "k-means":
        values = {"method": summary["method"]["name"], "number": NUMBERS[clusters["number"]]}
        yield "k-means-clusters", False, values


def _follows(warns: bool, agreement: Any, follow: str, fix: str) -> Iterator[Caveat]:
    """Say so if the clusters follow a column beyond chance, by more than half of what they tell."""
    ami, p = agreement or (0.0, 1.0)
    if p <= defaults.STRUCTURE_LEVEL and ami > defaults.FOLLOWED_AGREEMENT:
        yield "follows", warns, {"ami": ami, "p": p, "follow": follow, "fix": fix}


def _about_features(summary: Mapping[str, Any]) -> Iterator[Caveat]:
    """Say where other features could have been selected, or another number of them."""
    stability, pairs, curve = summary["stability"], summary["redundancy"], summary["curve"]
    if stability is None:
        yield "stability-unknown", False, {}
    elif stability["value"] is not None and stability["value"] < defaults.REPORT_UNSTABLE:
        yield "unstable", True, stability
    if pairs is not None and (count := pairs["n_in_duplicates"]):
        values = dict(zip(("first", "second", "r"), pairs["pairs"][0], strict=True))
        values |= {"count": count, "of": pairs["of"]}
        yield "near-duplicates", 2 * count >= pairs["of"], values
    several = curve is not None and len(curve["sizes"]) > 1
    if several and curve["chosen"] == curve["sizes"][-1]:
        all_of_them = curve["chosen"] == summary["table"]["features"]
        yield "everything" if all_of_them else "largest-number", True, curve
    if summary["method"]["stopped"]:
        yield "unfinished", False, {"status": summary["method"]["stopped"]}


def _about_classes(summary: Mapping[str, Any]) -> Iterator[Caveat]:
    """Say where the true classes speak against the selection, or mean nothing."""
    judged = summary["evaluation"]
    if judged is None:
        return
    n_classes, n_samples = len(judged["classes"]), sum(judged["sizes"])
    if n_classes > 1 and too_many_classes(n_classes, n_samples):
        yield "many-classes", True, {"n_classes": n_classes, "n_samples": n_samples}
    elif judged["rows"]:
        selected, whole = judged["rows"][:2]
        margin = clear_difference(judged["samples"])
        column = judged.get("column")
        follow, fix = "go with the known classes", "fit again with batch="
        if column is not None:
            follow = f"go with the classes of {column!r}"
            fix = f"select again with --batch-column {shlex.quote(column)}"
        fix = f"They were found without these. If that is a batch, not what you look for, {fix}"
        yield from _follows(False, judged.get("agreement"), follow, fix)
        if whole["ari"] >= margin and whole["accuracy"] - selected["accuracy"] >= margin:
            values = {"whole": whole["accuracy"], "selected": selected["accuracy"]}
            yield "all-better", True, values


def _about_table(summary: Mapping[str, Any]) -> Iterator[Caveat]:
    """Say what is unusual about the table."""
    table, spread = summary["table"], summary["table"]["spread"] or 1.0
    if table["samples"] < defaults.REPORT_FEW_SAMPLES:
        yield "few-samples", True, table
    if not table["named"]:
        pixel = "r1c2 is the pixel in the first row and the second column"
        example = pixel if summary["image"] else "x0 is the first, x1 the second"
        yield "unnamed", False, {"example": example}
    if table["constant"]:
        columns = counted(table["constant"], "column does", "columns do")
        yield "constant", False, {"columns": columns}
    if table["dropped"]:
        columns = counted(len(table["dropped"]), "column was", "columns were")
        yield "dropped", False, {"columns": columns, "names": listed(table["dropped"])}
    if summary["method"]["unscaled"] and spread >= defaults.REPORT_DIFFERENT_UNITS:
        yield "units", True, table
    if table["constant_selected"]:
        yield "constant-selected", True, {}
