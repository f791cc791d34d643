import pytest

from featsieve.report.bench.progress import progress_of
from tests.report.synthetic_rows import frame, row


def rows():
    return frame(
        [
            row(cell="a", method="NDFS", acc_mean=0.5),
            row(cell="b", method="UDFS", acc_mean=0.5),
            row(cell="c", method="UDFS", status="failed"),
            row(cell="d", method="UDFS", experiment="label-free", acc_mean=0.5),
        ]
    )


def test_without_a_plan_nothing_is_known_to_be_missing():
    found = progress_of(rows())
    assert (found.planned, found.ended, found.done, found.complete) == (None, 4, 3, True)
    assert found.unfinished == ()


def test_failed_cells_have_ended():
    found = progress_of(rows(), planned=["a", "b", "c", "d"])
    assert (found.planned, found.ended, found.done, found.complete) == (4, 4, 3, True)
    assert found.unfinished == ()


def test_only_what_follows_from_a_grid_proves_it_complete():
    found = progress_of(rows(), planned=["a", "b", "c", "d", "e"])
    assert not found.complete
    assert (found.planned, found.ended) == (5, 4)
    assert found.unfinished == (("breast3", "NDFS"),)


@pytest.mark.parametrize(
    ("experiment", "unfinished"), [("grid", (("breast3", "UDFS"),)), ("time", ())]
)
def test_cells_that_are_described_are_attributed(experiment, unfinished):
    about = {"dataset": "breast3", "method": "UDFS", "experiment": experiment}
    found = progress_of(rows(), planned=dict.fromkeys("abcde", about))
    assert not found.complete
    assert found.unfinished == unfinished


def test_a_description_that_does_not_name_the_method_is_as_good_as_none():
    found = progress_of(rows(), planned={key: {"dataset": "breast3"} for key in "abcde"})
    assert found.unfinished == (("breast3", "NDFS"),)
