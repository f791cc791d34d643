from collections import Counter

import pytest

from featsieve.bench import Plan, load_plan
from featsieve.bench.expand import possible_counts
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
        whole_rankings = 3 + rankings + 7 + 4 * 49  # controls and L-score; UDFS; four of 7 x 7
        each_count = 1 + 49 + 7 + 49  # MCFS, AUFS, UGFS, JASFS
        return whole_rankings + each_count * counts + 6 * 7 * 7  # JASFS as published: every point

    # Palm has 256 columns: 5 of the 8 counts; its random control needs 294 / 5 rankings.
    expected = {
        "default": 14 * 8,
        "grid": 7 * grid(8, 49) + grid(5, 59),
        "time": 13 * 8,
        "scatter": 4,
    }
    assert experiments(cells) == expected
    assert len({cell.id for cell in cells}) == len(cells)
    palm = [cell for cell in cells if cell.dataset == "palm"]
    assert max(max(cell.counts) for cell in palm if cell.counts) == 250


def test_cells_of_the_plan_smoke():
    plan = load_plan("smoke")
    cells = plan.cells(shapes(plan))

    def grid(counts):
        # controls with 9 rankings, Laplacian score, NDFS, JASFS as published at 2 x 9 points of
        # which 9 are alike, JASFS
        return 2 + 9 + 1 + 9 + 2 + 3 * counts

    # iris has 4 columns: two of the three counts
    expected = {"default": 7 * 3, "grid": grid(2) + 2 * grid(3), "time": 6 * 3, "scatter": 2}
    assert experiments(cells) == expected


def test_cells_of_the_plan_planted():
    plan = load_plan("planted")
    cells = plan.cells(shapes(plan))
    # Methods that draw nothing have one seed, the others three.
    default = (5 + 2) + 3 * 10
    grid_1 = 4 + 4 * 1 + 3 + 3  # two controls, two filters; MCFS at every count; UDFS; SOGFS
    # Random, NDFS RUFS RSFS, URAFS, USFS, AUFS, UGFS, JASFS as published (27 points), JASFS
    grid_3 = 9 + 9 * 3 + 9 + 9 + 4 * 9 + 4 * 3 + 3 + 4 * 9
    assert experiments(cells) == {"default": 5 * default, "grid": 5 * (grid_1 + 3 * grid_3)}


def test_cells_of_the_plan_open():
    plan = load_plan("open")
    found = shapes(plan)
    cells = plan.cells(found)

    def grid(counts):
        rankings = -(-max(25 * counts, 125) // counts)
        alike = 4 + rankings + 2 * 5 + 5 * 25  # controls, two filters; UDFS, SOGFS; five of 5 x 5
        each_count = 1 + 25 + 5 + 25  # MCFS, AUFS, UGFS, JASFS
        return alike + each_count * counts + 5  # JASFS as published: alpha and beta are inert

    n_counts = [sum(c <= shape[1] for c in plan.counts) for shape in found.values()]
    assert experiments(cells) == {"default": 12 * 17, "grid": sum(map(grid, n_counts))}


@pytest.mark.parametrize("name", ["smoke", "paper", "open", "planted"])
def test_the_random_control_searches_as_much_as_anybody(name):
    plan = load_plan(name)
    for shape in shapes(plan).values():
        budgets = plan.budgets(shape[1])
        others = [number for method, number in budgets.items() if method != "Random"]
        n_counts = len(possible_counts(plan.counts, shape[1]))
        assert max(others) <= budgets["Random"] < max(others) + n_counts


def test_budgets_count_points_without_an_effect():
    assert load_plan("paper").budgets(5000)["JASFS (published)"] == 294
    assert load_plan("paper").budgets(5000)["Random"] == 49 * 8
    assert load_plan("open").budgets(5000)["JASFS (published)"] == 125


# The rules one by one --------------------------------------------------------------------------


def test_a_ranking_is_fitted_once_for_all_counts():
    (cell,) = grid_of(one_method(Method("L", "LaplacianScore")))
    assert cell.counts == (2, 4, 8)
    assert cell.params == {}


def test_each_count_is_a_fit_where_the_selections_are_not_nested():
    cells = grid_of(one_method(Method("M", "MCFS", per_count=True)))
    assert [cell.counts for cell in cells] == [(2,), (4,), (8,)]


def test_counts_beyond_the_columns_are_dropped():
    plan = one_method(Method("L", "LaplacianScore"))
    assert grid_of(plan, 5)[0].counts == (2, 4)
    assert grid_of(plan, 1)[0].counts == (1,)


def test_own_counts():
    (cell,) = grid_of(one_method(Method("J", "JASFS", own_count=True)))
    assert cell.counts is None


def test_points_that_are_alike_are_one_cell():
    params = {"solver": "paper", "tol": 0.0}
    grid = {"sparsity": (0.1, 0.2), "alpha": (1.0, 9.0), "beta": (1.0, 2.0, 3.0)}
    cells = grid_of(one_method(Method("J", "JASFS", params=params, grid=grid, own_count=True)))
    assert [cell.stands_for for cell in cells] == [6, 6]
    assert [cell.params["sparsity"] for cell in cells] == [0.1, 0.2]
    del params["tol"]
    assert len(grid_of(one_method(Method("J", "JASFS", params=params, grid=grid)))) == 12


def test_seeds_of_methods_that_draw_nothing_are_not_repeated():
    seeds = {"seeds": (3, 4)}
    assert [c.seed for c in grid_of(one_method(Method("L", "LaplacianScore"), **seeds))] == [3]
    assert [c.seed for c in grid_of(one_method(Method("N", "NDFS"), **seeds))] == [3, 4]


def test_random_rankings_are_numbered_and_repeated_for_every_seed():
    cells = grid_of(one_method(Method("R", "RandomSelector", rankings=2), seeds=(0, 1)))
    assert [(cell.seed, cell.params) for cell in cells] == [
        (0, {"ranking": 0}),
        (0, {"ranking": 1}),
        (1, {"ranking": 0}),
        (1, {"ranking": 1}),
    ]


def test_running_times_have_the_stopping_rule_of_the_paper():
    plan = load_plan("smoke")
    cells = {c.method: c for c in plan.cells({"wine": (178, 13, 3)}) if c.experiment == "time"}
    assert cells["NDFS"].params == {"max_iter": 20}  # tol = 1e-5 is the default
    assert cells["NDFS"].counts == (4,)
    assert "tol" not in cells["JASFS (published)"].params  # the default, not that of the plan
    assert cells["LaplacianScore"].params == {}
    assert "AllFeatures" not in cells


def test_data_sets_without_a_shape_are_left_out():
    plan = load_plan("smoke")
    assert {cell.dataset for cell in plan.cells({"wine": (178, 13, 3)})} == {"wine"}


def test_practical_numbers_belong_to_the_defaults():
    cells = load_plan("smoke").cells({"wine": (178, 13, 3)})
    assert all(cell.practical == (cell.experiment == "default") for cell in cells)
    assert all(cell.seconds == 60.0 and cell.kmeans_seeds == 5 for cell in cells)
