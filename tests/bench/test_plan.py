import pytest

from featsieve.bench import Plan, load_plan, plan_names
from featsieve.bench.plan import Method


def test_shipped_plans():
    assert plan_names() == ["open", "paper", "paper_thin", "planted", "smoke"]
    for name in plan_names():
        plan = load_plan(name)
        assert plan.name == name
        if "extends" not in plan.text:
            assert plan.text.count("[[methods]]") == len(plan.methods)
        assert {method.selector for method in plan.methods if method.control} == {
            "AllFeatures", "MaxVariance", "RandomSelector",
        }  # fmt: skip


def test_the_paper_has_its_ten_methods_and_its_grid():
    plan = load_plan("paper")
    assert len(plan.datasets) == 8
    published = {"Baseline", "L-score", "MCFS", "UDFS", "NDFS", "RUFS", "AUFS", "URAFS", "USFS",
                 "UGFS", "JASFS (published)"}  # fmt: skip
    assert published < {method.name for method in plan.methods}
    assert len(plan.method("JASFS (published)").points()) == 294
    assert plan.method("JASFS (published)").own_count
    assert plan.curve_counts == (30, 60, 90, 120, 150, 180, 210, 240)


def test_a_file(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(load_plan("smoke").text)
    plan = load_plan(path)
    assert plan.name == "mine"
    assert plan.methods == load_plan("smoke").methods


def test_a_plan_that_is_not_there(tmp_path):
    with pytest.raises(ValueError, match=r"no plan 'papr'.*open, paper, paper_thin"):
        load_plan("papr")


def test_points_of_a_grid():
    method = Method("m", "NDFS", params={"scale": "none"}, grid={"alpha": (1, 2), "beta": (3, 4)})
    assert method.points() == [
        {"scale": "none", "alpha": 1, "beta": 3},
        {"scale": "none", "alpha": 1, "beta": 4},
        {"scale": "none", "alpha": 2, "beta": 3},
        {"scale": "none", "alpha": 2, "beta": 4},
    ]
    assert Method("m", "NDFS").points() == [{}]


def test_a_plan_can_be_made_by_hand():
    plan = Plan("p", "P", ("iris",), ("default",), (Method("M", "MaxVariance"),), counts=(2,))
    (cell,) = plan.cells({"iris": (150, 4)})
    assert (cell.experiment, cell.dataset, cell.selector) == ("default", "iris", "MaxVariance")
