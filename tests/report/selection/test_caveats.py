import copy

import numpy as np
import pytest
from sklearn.datasets import load_iris

from featsieve import JASFS, LaplacianScore, MaxVariance, StabilitySelection
from featsieve.report import summarize_selection
from featsieve.report.selection.words import caveats
from featsieve.tables import Encoding
from tests.report.selection.cases import (
    CLEAR,
    GRADIENT,
    NOTHING,
    automatic,
    noise,
    planted,
    stable,
)


def kinds(summary):
    return {caveat["kind"]: caveat["level"] for caveat in summary["caveats"]}


def changed(**parts):
    """Return the caveats of a summary of which some parts are changed, {part: {key: value}}."""
    summary = copy.deepcopy(stable()[1])
    for part, values in parts.items():
        summary[part] = values if summary[part] is None else summary[part] | values
    return {caveat["kind"]: caveat for caveat in caveats(summary)}


def test_a_clear_case_has_no_warnings():
    names = [f"gene {j}" for j in range(40)]
    summary = summarize_selection(stable()[0], planted().X, feature_names=names, structure=CLEAR)
    assert "warning" not in kinds(summary).values()
    assert "unnamed" not in kinds(summary)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_noise_is_called_noise():
    sieve = StabilitySelection(JASFS(3, n_features_to_select=4), n_subsamples=5, random_state=0)
    found = kinds(summarize_selection(sieve.fit(noise()), noise()))
    assert found["no-structure"] == "warning"
    assert found["unstable"] == "warning"
    assert list(found.values()) == sorted(found.values(), reverse=True)  # warnings first


def test_copies_are_named():
    X = planted().X[:, planted().informative]
    X = np.column_stack([X, X[:, 0] + 1e-3 * noise(60, 1)[:, 0]])
    summary = summarize_selection(MaxVariance(9).fit(X), X)
    text = next(c["text"] for c in summary["caveats"] if c["kind"] == "near-duplicates")
    assert "x0" in text
    assert "x8" in text
    assert "(r = 1.00)" in text
    assert "2 of the 9 selected features correlate with another selected one" in text


def test_the_clusters_of_k_means_cannot_speak_for_the_selection():
    summary = summarize_selection(LaplacianScore(5).fit(planted().X), planted().X)
    text = next(c["text"] for c in summary["caveats"] if c["kind"] == "k-means-clusters")
    assert "LaplacianScore finds no clusters" in text
    assert "suggested by the same columns and is right within a factor of about two" in text


@pytest.mark.parametrize(("chosen", "kinds"), [(400, {"largest-number"}), (20, set())])
def test_a_number_at_the_edge(chosen, kinds):
    summary = copy.deepcopy(automatic()[1])
    summary["curve"] |= {"sizes": [5, 20, 400], "chosen": chosen, "equivalent": [chosen, chosen]}
    summary["table"]["features"] = 1000
    found = {caveat["kind"] for caveat in caveats(summary)}
    assert found & {"largest-number"} == kinds
    summary["table"]["features"] = 400  # all of them: there are no more to try
    found = {caveat["kind"] for caveat in caveats(summary)}
    assert found & {"largest-number", "everything"} == ({"everything"} if kinds else set())


def test_units_matter_to_methods_that_take_columns_as_they_are():
    X = noise(60, 40) * np.logspace(0, 4, 40)
    found = kinds(summarize_selection(MaxVariance(4).fit(X), X, structure=CLEAR))
    assert found["units"] == "warning"
    sieve = JASFS(3, n_features_to_select=4, random_state=0).fit(X)
    assert "units" not in kinds(summarize_selection(sieve, X, structure=CLEAR))


TINY = [{"name": str(k), "size": size, "marks": []} for k, size in enumerate((2, 30, 28))]


@pytest.mark.parametrize(
    ("part", "values", "kind", "level"),
    [
        ("structure", CLEAR.summary(), "no-structure", None),
        ("structure", GRADIENT.summary(), "no-structure", "warning"),
        ("structure", NOTHING.summary(), "no-structure", "warning"),
        ("clusters", {"names": ["0"]}, "one-cluster", "warning"),
        ("clusters", {"certainty": 0.49}, "doubtful-clusters", "warning"),
        ("clusters", {"certainty": 0.51}, "doubtful-clusters", None),
        ("clusters", {"rows": TINY}, "tiny-clusters", "note"),
        ("table", {"samples": 12}, "few-samples", "warning"),
        ("table", {"constant": 2}, "constant", "note"),
        ("table", {"dropped": ["id"]}, "dropped", "note"),
        ("table", {"constant_selected": 1}, "constant-selected", "warning"),
        ("method", {"stopped": "it was late"}, "unfinished", "note"),
        ("stability", {"value": 0.9}, "stability-unknown", None),
    ],
)
def test_what_each_part_of_a_summary_warns_of(part, values, kind, level):
    found = changed(**{part: values})
    assert found.get(kind, {"level": None})["level"] == level


def scored(*aris, samples=400, classes=2):
    rows = [
        {"kind": kind, "accuracy": 0.5 + ari / 2.0, "nmi": abs(ari), "ari": ari}
        for kind, ari in zip(("selected", "all", "clusters"), aris, strict=False)
    ]
    sizes = [samples // classes] * classes
    names = [str(k) for k in range(classes)]
    return {"rows": rows, "samples": samples, "classes": names, "sizes": sizes, "skipped": None}


def found(evaluation):
    summary = copy.deepcopy(stable()[1]) | {"evaluation": evaluation}
    return {caveat["kind"]: caveat["text"] for caveat in caveats(summary)}


def test_a_column_that_the_clusters_were_found_without_is_named():
    X = load_iris(as_frame=True).data
    X["coin"] = np.random.default_rng(0).permutation(np.arange(len(X)) < 45) * 1.0
    sieve = JASFS(3, n_features_to_select=2, random_state=0).fit(X)
    assert sieve.lone_features_.tolist() == [4]
    summary = summarize_selection(sieve, X, structure=CLEAR)
    (said,) = [c["text"] for c in summary["caveats"] if c["kind"] == "lone-features"]
    assert "found without coin:" in said


def test_the_column_of_a_dask_table_is_not_looked_for():
    da = pytest.importorskip("dask.array")
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal((90, 6)), np.repeat([0.0, 1.0], 45)])
    X[:, :3] += 6.0 * X[:, 6:]
    table = da.from_array(X, chunks=(30, 7))
    sieve = JASFS(2, n_features_to_select=2, random_state=0).fit(table)
    summary = summarize_selection(sieve, table, structure=CLEAR)
    assert summary["clusters"]["follows"] is None


@pytest.mark.parametrize("kind", ["two values", "words", "days"])
def test_a_column_that_takes_part_and_is_the_clusters_is_named(kind):
    """Two values of many numbers; more words, or days, than clusters."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal((90, 6)), np.repeat([0.0, 1.0], 45)])
    X[:, :3] += 6.0 * X[:, 6:]
    known = {}
    if kind != "two values":
        X[:, 6] = np.arange(90) // 15  # three for either cluster
        known = {"day": Encoding("date") if kind == "days" else Encoding("category", "abcdef")}
    names = [*"abcdef", "day"]
    sieve = JASFS(2, n_features_to_select=2, random_state=0).fit(X)
    about = {"encodings": known, "original": X}
    summary = summarize_selection(sieve, X, feature_names=names, structure=CLEAR, about=about)
    (caveat,) = [each for each in summary["caveats"] if each["kind"] == "follows"]
    assert caveat["level"] == "warning"
    verb = "are nearly the 2 values of" if kind == "two values" else "follow"
    assert caveat["text"].startswith(f"The clusters {verb} 'day' (adjusted mutual information 1.00")
    fix = "If that is a batch, add --batch-column day. "
    other = "If it is something else that you do not look for, leave out the columns that go "
    assert caveat["text"].endswith(f"{fix}{other}along with it as well (--drop).")


def test_a_part_of_the_sample_names_that_is_the_clusters_is_named():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 6))
    plate = np.arange(90) % 2
    X[:, :3] += 6.0 * plate[:, None]
    sieve = JASFS(2, n_features_to_select=2, random_state=0).fit(X)
    names = [f"P{i:03}_pl{1 + k}" for i, k in enumerate(plate)]
    summary = summarize_selection(sieve, X, sample_names=names, structure=CLEAR)
    (caveat,) = [each for each in summary["caveats"] if each["kind"] == "follows"]
    part = "The clusters are nearly a part of the sample names (pl1 and pl2) (adjusted mutual"
    assert caveat["text"].startswith(part)
    assert "make it a column of its own, and name it with --batch-column" in caveat["text"]
    for others in ([f"P{i}" for i in range(90)], [f"P_{i % 3}" for i in rng.permutation(90)]):
        summary = summarize_selection(sieve, X, sample_names=others, structure=CLEAR)
        assert "follows" not in kinds(summary)


def test_an_answer_that_goes_with_the_clusters_is_no_batch_and_hides_what_does_less():
    rng = np.random.default_rng(0)
    size = np.repeat([0.0, 1.0, 2.0], 30)
    coat = np.where(rng.random(90) < 0.1, rng.permutation(size), size)
    X = np.column_stack([rng.standard_normal((90, 6)) + 5.0 * size[:, None], size, coat])
    sieve = JASFS(3, n_features_to_select=2, init=size.astype(int), random_state=0).fit(X)
    kinds_of_words = {"coat": Encoding("category", "abc")}
    told = []
    for known in (kinds_of_words, kinds_of_words | {"size": Encoding("order", "smL")}):
        about = {"encodings": known, "original": X}
        names = [*"uvwxyz", "size", "coat"]
        summary = summarize_selection(sieve, X, feature_names=names, structure=CLEAR, about=about)
        told.append([one["text"] for one in summary["caveats"] if one["kind"] == "follows"])
    assert "'coat'" in told[0][0]
    assert told[1] == []


@pytest.mark.parametrize("kind", ["by chance", "many values", "as most columns"])
def test_columns_that_are_not_the_clusters(kind):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal((90, 6)), np.repeat([0.0, 1.0], 45)])
    X[:, :3] += 6.0 * X[:, 6:]
    if kind == "by chance":
        X[:, 6] = rng.integers(0, 2, 90)
    elif kind == "many values":
        X[:, 6] += 0.01 * rng.standard_normal(90)
    else:
        X = (X.mean(axis=0) < X) * 1.0
    sieve = JASFS(2, n_features_to_select=2, random_state=0).fit(X)
    summary = summarize_selection(sieve, X, structure=CLEAR)
    assert "follows" not in kinds(summary)


def test_all_features_that_do_better_are_a_caveat():
    text = found(scored(0.36, 0.68))["all-better"]
    assert "all features agrees better with the true classes" in text
    assert "84% against 68%" in text
    assert "all-better" not in found(scored(0.68, 0.36))
    assert "all-better" not in found(scored(0.62, 0.68))
    assert "all-better" not in found(scored(-0.5, 0.02))  # all are no better than chance
    assert "all-better" not in found(None)
    assert "all-better" not in found(scored() | {"skipped": "why"})


@pytest.mark.parametrize(("n_classes", "told"), [(31, True), (30, False)])
def test_more_classes_than_half_the_samples_mean_nothing(n_classes, told):
    y = [k % n_classes for k in range(60)]
    summary = summarize_selection(stable()[0], planted().X, y=y)
    texts = {caveat["kind"]: caveat["text"] for caveat in summary["caveats"]}
    assert ("many-classes" in texts) == told
    if told:
        assert "31 classes for 60 samples" in texts["many-classes"]
        assert "all-better" not in texts
