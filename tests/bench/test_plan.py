from collections import Counter

import pytest

from featsieve.bench import Plan, load_plan
from featsieve.bench.plan import Method
from featsieve.datasets import dataset_info


def shapes(plan):
    found = map(dataset_info, plan.datasets)
    return {info.name: (info.n_samples, info.n_features, info.n_classes) for info in found}


def experiments(cells):
    return Counter(cell.experiment for cell in cells)


def one_method(method, **more):
    settings = {"counts": (2, 4, 8), "seeds": (0,), **more}
    return Plan("p", "P", ("wine",), ("grid",), (method,), **settings)


def grid_of(plan, n_columns=13):
    return plan.cells({"wine": (178, n_columns, 3)})


# The shipped plans, counted by hand -----------------------------------------------------------


def test_cells_of_the_plan_paper():
    plan = load_plan("paper")
    cells = plan.cells(shapes(plan))

    def grid(counts, rankings):
        whole_rankings = 4 + rankings + 7 + 4 * 49  # controls and L-score; UDFS; four of 7 x 7
        whole_rankings += 9  # AUFS, thinned
        each_count = 1 + 7 + 1  # MCFS, UGFS, JASFS
        return whole_rankings + each_count * counts + 6 * 7 * 7  # JASFS as published: every point

    # Palm has 256 columns: 5 of the 8 counts; its random control needs 294 / 5 rankings.
    expected = {
        "default": (14 + 10) * 8,  # ten draws of the random control
        "grid": 7 * grid(8, 49) + grid(5, 59),
    }
    assert experiments(cells) == expected
    assert len({cell.id for cell in cells}) == len(cells)
    palm = [cell for cell in cells if cell.dataset == "palm"]
    assert max(max(cell.counts) for cell in palm if cell.counts) == 250


# The rules one by one --------------------------------------------------------------------------


def test_a_ranking_is_fitted_once_for_all_counts_unless_selections_are_not_nested():
    (cell,) = grid_of(one_method(Method("L", "LaplacianScore")))
    assert cell.counts == (2, 4, 8)
    cells = grid_of(one_method(Method("M", "MCFS", per_count=True)))
    assert [cell.counts for cell in cells] == [(2,), (4,), (8,)]


def test_counts_beyond_the_columns_are_dropped():
    plan = one_method(Method("L", "LaplacianScore"))
    assert grid_of(plan, 5)[0].counts == (2, 4)


def test_seeds_of_methods_that_draw_nothing_are_not_repeated():
    seeds = {"seeds": (3, 4)}
    assert [c.seed for c in grid_of(one_method(Method("L", "LaplacianScore"), **seeds))] == [3]
    assert [c.seed for c in grid_of(one_method(Method("N", "NDFS"), **seeds))] == [3, 4]


@pytest.mark.parametrize(
    ("seeds", "expected"),
    [
        ((0,), (0, 1, 2, 3, 4, 5, 6, 7, 8, 9)),
        ((3, 20), (3, 20, 0, 1, 2, 4, 5, 6, 7, 8)),
        (tuple(range(12)), tuple(range(12))),
    ],
)
def test_the_random_control_is_drawn_ten_times_at_least(seeds, expected):
    methods = (Method("R", "RandomSelector"), Method("N", "NDFS"))
    plan = Plan("p", "P", ("wine",), ("default", "time"), methods, counts=(2,), seeds=seeds)
    cells = plan.cells({"wine": (178, 13, 3)})
    found = {}
    for cell in cells:
        found.setdefault((cell.method, cell.experiment), []).append(cell.seed)
    assert tuple(found["R", "default"]) == expected
    assert tuple(found["N", "default"]) == seeds
    assert tuple(found["R", "time"]) == seeds[:1]


def test_running_times_have_the_stopping_rule_of_the_paper():
    plan = load_plan("smoke")
    cells = {c.method: c for c in plan.cells({"wine": (178, 13, 3)}) if c.experiment == "time"}
    assert cells["NDFS"].params == {"max_iter": 20}  # tol = 1e-5 is the default
    assert cells["NDFS"].counts == (4,)
    published = cells["JASFS (published)"]
    assert published.params == {"solver": "paper"}  # 20 and 1e-5 are its defaults
    assert published.counts == (4,)  # what it takes to find its own is not what is timed
    assert cells["LaplacianScore"].params == {}
    assert "AllFeatures" not in cells


def test_another_file_is_other_work():
    method = Method("M", "MaxVariance")
    plan = Plan("p", "P", ("mine.csv#kind", "iris"), ("default",), (method,), counts=(2,))
    shape = {"mine.csv#kind": (9, 4, 2), "iris": (150, 4, 3)}
    first, iris = plan.cells(shape, {"mine.csv#kind": "aaa", "iris": None})
    second, again = plan.cells(shape, {"mine.csv#kind": "bbb"})
    assert (first.data_checksum, second.data_checksum) == ("aaa", "bbb")
    assert first.id != second.id
    assert iris == again
    assert iris.data_checksum == ""
