import json

import numpy as np
import pytest

from featsieve.report.bench import figure_sections
from featsieve.report.bench.summary import summarise_bench
from featsieve.report.figure_style import method_styles
from tests.report.synthetic_rows import frame, row


def make(name, rows):
    summary = summarise_bench(frame(rows))
    return getattr(figure_sections, name)(summary, method_styles(summary.methods))


def timed(jobs=1, **given):
    return row(experiment="time", jobs=jobs, **({"fit_seconds": 0.5, "n_iter": 3} | given))


def tables(section):
    inner = [b for block in section.blocks if block.kind == "details" for b in block.blocks]
    return {b.caption: b for b in (*section.blocks, *inner) if b.kind == "table"}


@pytest.mark.parametrize(
    "name",
    ["curve_section", "time_section", "objective_section", "sensitivity_section",
     "scatter_section"],
)  # fmt: skip
def test_sections_without_content_are_none(name):
    assert make(name, [row(experiment="default", acc_mean=0.5, n_features=5)]) is None


@pytest.mark.parametrize(
    ("jobs", "words"),
    [
        ((1, 1), "Every cell of this section ran alone."),
        ((2, 2), "Beside each cell up to 1 other cell ran"),
        ((4, 2), "Beside each cell up to 3 other cells ran"),
        ((1, 2), "Some cells ran alone, others beside up to 1 other cell: do not compare"),
        ((0, 1), "is not recorded"),
    ],
)
def test_times_say_what_ran_beside_them(jobs, words):
    rows = [timed(n, method=m) for n, m in zip(jobs, ("NDFS", "UDFS"), strict=True)]
    assert words in make("time_section", rows).paragraphs[0]


def test_memory_that_did_not_grow_is_shown_and_nothing_is_bold():
    rows = [timed(method="NDFS", peak_mib=0.0), timed(method="UDFS", peak_mib=12.34),
            timed(method="RUFS")]  # fmt: skip
    found = tables(make("time_section", rows))
    memory = found["Growth of memory during a fit, at its peak (MiB)"]
    entries = {line.header: line.entries[0] for line in memory.rows}
    assert {name: e.text for name, e in entries.items()} == {"NDFS": "< 0.1", "UDFS": "12.3"}
    assert not any(e.best for e in entries.values())


def test_methods_without_iterations_have_none():
    found = tables(make("time_section", [timed(method="NDFS"), timed(method="MCFS", n_iter=0)]))
    assert [line.header for line in found["Iterations"].rows] == ["NDFS"]
    assert len(found["Seconds of one whole fit. Fastest in bold."].rows) == 2


def test_curves_come_with_their_numbers():
    rows = [
        row(experiment="curve", method=m, n_features=n, acc_mean=v, nmi_mean=v / 2)
        for m, v in (("NDFS", 0.5), ("UDFS", 0.6))
        for n in (30, 60)
    ]
    section = make("curve_section", rows)
    assert [block.kind for block in section.blocks] == ["gallery", "gallery", "details"]
    acc = tables(section)["ACC (%) on breast3 by number of features"]
    assert acc.head == ("Method", "30", "60")
    assert [[e.text for e in line.entries] for line in acc.rows] == [["60.00"] * 2, ["50.00"] * 2]


def test_inert_weights_are_said_to_be_so_for_this_stopping_rule_only():
    inert = json.dumps({"alpha": [0.1, 10.0]})
    rows = [
        row(method="JASFS", params=json.dumps({"solver": "paper", "tol": 0.0, "sparsity": s}),
            acc_mean=0.5, nmi_mean=0.5, n_features=5, stands_for=2, inert=inert)
        for s in (1e-3, 1e-2)
    ]  # fmt: skip
    (gallery,) = make("sensitivity_section", rows).blocks
    assert "no effect in these fits: with tol = 0" in gallery.caption
    assert "in this solver" not in gallery.caption


def test_data_sets_of_the_papers_figure_are_open_and_others_folded():
    rows = [
        row(experiment="time", method="JASFS", dataset=d, objective=np.arange(3.0), n_iter=3)
        for d in ("brain", "breast3", "lung", "nci")
    ]
    blocks = make("objective_section", rows).blocks
    assert [(b.kind, getattr(b, "title", "") or b.summary) for b in blocks] == [
        ("gallery", "breast3"), ("gallery", "lung"), ("details", "brain"), ("details", "nci"),
    ]  # fmt: skip


def test_scatter_shows_every_cloud():
    rows = [
        row(experiment="scatter", method=m, points=np.arange(12.0), classes=[0, 0, 1, 1])
        for m in ("NDFS", "UDFS")
    ]
    (gallery,) = make("scatter_section", rows).blocks
    assert len(gallery.figures) == 2
