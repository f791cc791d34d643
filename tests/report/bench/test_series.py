import numpy as np

from featsieve.report.bench.series import clouds, curves, timings
from tests.report.synthetic_rows import frame, row


def test_curves_are_sorted_and_averaged_over_seeds():
    rows = frame(
        [
            row(experiment="curve", n_features=k, seed=s, acc_mean=k / 100 + s / 10, nmi_mean=0.5)
            for k in (60, 30)
            for s in (0, 1)
        ]
        + [row(experiment="curve", n_features=90, status="failed")]
    )
    (curve,) = curves(rows)
    np.testing.assert_array_equal(curve.counts, [30, 60])
    np.testing.assert_allclose(curve.acc, [0.35, 0.65])


def test_timings_take_the_seed_in_the_middle():
    rows = frame(
        [
            row(experiment="time", seed=s, fit_seconds=f, iteration_seconds=[f / 2, f],
                objective=[3.0, 2.0], n_iter=2, peak_mib=1.0)
            for s, f in enumerate((5.0, 1.0, 2.0))
        ]
    )  # fmt: skip
    (timing,) = timings(rows)
    assert timing.fit_seconds == 2.0
    np.testing.assert_array_equal(timing.seconds, [1.0, 2.0])


def test_lists_may_be_missing():
    rows = frame(
        [row(experiment="time", fit_seconds=1.0, iteration_seconds=None, objective=np.nan)]
    )
    (timing,) = timings(rows)
    assert len(timing.seconds) == len(timing.objective) == 0


def test_points_are_read_row_by_row():
    points = np.arange(12.0).reshape(4, 3)
    good = row(experiment="scatter", points=points.ravel(), classes=np.array([0, 1, 1, 0]))
    bad = row(experiment="scatter", method="UDFS", points=[1.0, 2.0], classes=[0, 1])
    (cloud,) = clouds(frame([good, bad]))
    np.testing.assert_array_equal(cloud.points, points)
    assert cloud.method == "NDFS"
