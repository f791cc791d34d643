import json

from featsieve.report.bench.facts import datasets_of, failures_of, methods_of, versions_of
from tests.report.synthetic_rows import METHODS, frame, row


def test_methods_in_order_controls_first_then_the_papers():
    rows = frame(
        [row(method=name, selector=about[0], control=about[1],
             params='{"solver": "paper"}' if "published" in name else "{}")
         for name, about in sorted(METHODS.items())]
    )  # fmt: skip
    facts = methods_of(rows)
    names = [fact.name for fact in facts]
    assert names[:3] == ["Baseline", "MaxVariance", "Random"]
    assert names[3:6] == ["L-score", "MCFS", "UDFS"]
    assert names[-2:] == ["JASFS (published)", "JASFS"]
    published = {fact.name: fact.published for fact in facts}
    assert published["JASFS (published)"] == "JASFS"
    assert published["JASFS"] is None
    assert published["Baseline"] == "Baseline"


def test_datasets_in_the_papers_order_with_its_shapes():
    rows = frame([row(dataset=name) for name in ("zebra", "palm", "brain", "apple")])
    facts = datasets_of(rows)
    assert [fact.name for fact in facts] == ["brain", "palm", "apple", "zebra"]
    assert [fact.differs for fact in facts] == [False, True, False, False]


def test_notes_of_the_registry_make_published_numbers_doubtful():
    facts = datasets_of(frame([row(dataset=name) for name in ("brain", "lung", "palm", "my.csv")]))
    assert [fact.comparable for fact in facts] == [True, False, False, False]
    assert [bool(fact.note) for fact in facts] == [False, True, True, False]
    assert facts[1].note.startswith("Lung: from another source")


def test_failures_are_counted_by_reason():
    rows = frame(
        [row(status="failed", reason="singular", params=f'{{"alpha": {i}}}') for i in range(3)]
        + [row(status="timeout", reason="300 s"), row()]
    )
    assert {(f.status, f.reason, f.n_cells) for f in failures_of(rows)} == {
        ("failed", "singular", 3),
        ("timeout", "300 s", 1),
    }


def test_versions_are_merged():
    rows = frame([row(versions=json.dumps({"numpy": v})) for v in ("2.0", "2.1", "2.0")])
    assert versions_of(rows["versions"]) == {"numpy": ("2.0", "2.1")}
