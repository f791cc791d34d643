import re

from featsieve.report.bench.rank_figures import margin_figure, rank_figure
from featsieve.report.bench.summary import summarise_bench
from featsieve.report.figure_style import method_styles
from tests.report.synthetic_rows import frame, row

NAMES = ("UDFS", "NDFS", "RUFS", "AUFS")


def summary():
    rows = [
        row(experiment="grid", method=m, dataset=d, acc_mean=0.5 + 0.1 * i, nmi_mean=0.5)
        for i, m in enumerate(NAMES)
        for d in ("brain", "lung", "nci")
    ]
    rows += [
        row(experiment="grid", method="Random", selector="RandomSelector", control=True, dataset=d,
            acc_mean=0.65, nmi_mean=0.4)
        for d in ("brain", "lung", "nci")
    ]  # fmt: skip
    return summarise_bench(frame(rows))


def test_ranks_are_listed_best_first_with_the_critical_difference():
    found = summary()
    figure = rank_figure(found.tracks[0], "acc", styles=method_styles(found.methods))
    assert figure.caption.startswith("Best first: AUFS 1.00, RUFS 2.00, Random 3.00, NDFS 4.00")
    critical = found.tracks[0].ranks["acc"].critical_difference
    assert f"critical difference {critical:.2f}" in figure.svg
    assert all(re.search(f">{name}<", figure.svg) for name in (*NAMES, "Random"))


def test_margins_count_what_is_not_above_chance():
    found = summary()
    figure = margin_figure(found, styles=method_styles(found.methods))
    assert figure.caption.startswith("6 of 12 results")
