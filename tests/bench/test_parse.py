import pytest

from featsieve.bench.parse import load_plan, parse_plan, plan_names, shipped_text

HEAD = """
datasets = ["iris"]
experiments = ["default", "grid"]
counts = [2, 3]
"""
NDFS = """
[[methods]]
name = "NDFS"
"""


def parse(text):
    return parse_plan(text, name="mine")


def method_of(plan, name):
    return next(method for method in plan.methods if method.name == name)


def test_the_smallest_plan():
    plan = parse(HEAD + NDFS)
    (method,) = plan.methods
    assert (method.name, method.selector) == ("NDFS", "NDFS")
    assert (method.params, method.grid, method.control) == ({}, {}, False)
    assert not method.own_count
    assert not method.per_count
    assert (plan.title, plan.seeds, plan.kmeans_seeds, plan.cell_seconds) == ("mine", (0,), 10, 600)
    assert plan.counts == (2, 3)


def test_files_with_a_column_of_classes():
    text = HEAD.replace('["iris"]', '["IRIS", "iris", "b.mat", "c.tsv.gz#type"]')
    assert parse(text + NDFS).datasets == ("iris", "b.mat", "c.tsv.gz#type")


def test_who_is_fitted_for_every_count():
    plan = parse(
        HEAD
        + '[[methods]]\nname = "MCFS"\n'
        + '[[methods]]\nname = "one ranking"\nselector = "MCFS"\nper_count = false\n'
        + '[[methods]]\nname = "own"\nselector = "JASFS"\ncounts = "own"\n'
        + '[[methods]]\nname = "AllFeatures"\n'
        + '[[methods]]\nname = "RandomSelector"\n'
    )
    assert [method.per_count for method in plan.methods] == [True, False, False, False, False]
    assert [method.own_count for method in plan.methods] == [False, False, True, True, False]


def method(line, name="NDFS"):
    return f'{HEAD}[[methods]]\nname = "{name}"\n{line}\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD.replace("counts", "count") + NDFS, r"unknown key 'count'.*counts"),
        ('datasets = ["iris"]\nexperiments = ["grid"]\n' + NDFS, r"'counts' is missing"),
        (HEAD.replace("iris", "irish") + NDFS, r"datasets: .*'irish'.*'iris'"),
        (HEAD.replace('"grid"', '"grit"') + NDFS, r"experiments must be one of .*'grid'.*'grit'"),
        (
            HEAD.replace('"default", "grid"', '"label-free"') + NDFS,
            r"'label-free' is chosen from 'grid'",
        ),
        (HEAD.replace("[2, 3]", "[0]") + NDFS, r"counts: each must be an integer of at least 1.*0"),
        (HEAD.replace("[2, 3]", "2") + NDFS, r"counts must be a list"),
        ("seeds = [true]" + HEAD + NDFS, r"seeds: each must be an integer.*True"),
        ("cell_seconds = 0" + HEAD + NDFS, r"cell_seconds must be a number above 0"),
        ("title = 3" + HEAD + NDFS, r"title must be a text"),
        (HEAD + NDFS + NDFS, r"'NDFS' comes twice"),
        (method("", name="NDSF"), r"no selector 'NDSF'.*NDFS"),
        (method("gird = {}"), r"'NDFS': unknown key 'gird'.*grid"),
        (method("params = { alfa = 1.0 }"), r"params: unknown key 'alfa'.*alpha, beta"),
        (method("params = { random_state = 1 }"), r"unknown key 'random_state'"),
        (method('grid = { alpha = "weight" }'), r"grid.alpha: there is no list 'weight'"),
        (method("grid = { alpha = [1.0, 1.0] }"), r"grid.alpha: a value comes twice"),
        (method('counts = "all"'), r"counts must be 'own'"),
        (method('control = "yes"'), r"control must be true or false"),
        ("title = ", r"not TOML"),
        (method("params = { foo = 1 }", name="MaxVariance"), r"'foo'; there is nothing to set"),
        (HEAD.replace('"iris"', '{ file = "a.csv" }') + NDFS, r"datasets must be a text"),
        ('extends = "smoke"\n[[methods]]\nname = []', r"methods: name must be a text"),
        (HEAD.replace("iris", "iris#kind") + NDFS, r"no data set called 'iris#kind'"),
    ],
)
def test_what_is_wrong_is_named(text, message):
    with pytest.raises(ValueError, match=r"The plan 'mine'.*" + message):
        parse(text)


EXTENSION = """
extends = "smoke"
datasets = ["iris"]

[grids]
weights = [1.0]

[[methods]]
name = "NDFS"
grid = { alpha = "weights" }

[[methods]]
name = "SPEC"
selector = "SPEC"
"""


def test_a_plan_may_extend_a_shipped_one():
    base, plan = load_plan("smoke"), parse_plan(EXTENSION, name="mine")
    assert plan.datasets == ("iris",)
    assert (plan.counts, plan.seeds, plan.experiments) == (
        base.counts,
        base.seeds,
        base.experiments,
    )
    assert [method.name for method in plan.methods] == [m.name for m in base.methods] + ["SPEC"]
    assert method_of(plan, "NDFS").grid == {"alpha": (1.0,)}  # its list was replaced
    # lambdas were not
    assert (
        method_of(plan, "JASFS (published)").grid["sparsity"]
        == (method_of(base, "JASFS (published)").grid["sparsity"])
    )


# Shipped plans, and those in files ---------------------------------------------------------------


def test_shipped_plans_have_the_three_controls_and_the_ceiling():
    for name in plan_names():
        controls = [method.selector for method in load_plan(name).methods if method.control]
        known = ["AllFeatures", "MaxVariance", "RandomSelector", "TrueLabels"]
        assert sorted(controls) == known


def test_the_paper_has_its_ten_methods_and_its_grid():
    plan = load_plan("paper")
    assert len(plan.datasets) == 8
    published = {"Baseline", "L-score", "MCFS", "UDFS", "NDFS", "RUFS", "AUFS", "URAFS", "USFS",
                 "UGFS", "JASFS (published)"}  # fmt: skip
    assert published < {method.name for method in plan.methods}
    assert len(method_of(plan, "JASFS (published)").points()) == 294
    assert method_of(plan, "JASFS (published)").own_count


def test_a_plan_comes_from_a_file_or_its_name_is_wrong(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(shipped_text("smoke"))
    assert load_plan(path).name == "mine"
    assert load_plan(path).methods == load_plan("smoke").methods
    with pytest.raises(ValueError, match=r"no plan 'papr'.*open, open_thin, paper"):
        load_plan("papr")


def test_a_method_from_outside(tmp_path, monkeypatch):
    code = (
        "from featsieve import MaxVariance\nfrom featsieve.base import UnsupervisedSelector\n\n"
        "class Mine(MaxVariance):\n    pass\n\nfew = 3\n\n"
        "class Bare(UnsupervisedSelector):\n    n_features_to_select: float = 0.1\n"
    )
    (tmp_path / "outside_method.py").write_text(code)
    text = HEAD + '[[methods]]\nname = "M"\nselector = "outside_method:{}"\n'
    with pytest.raises(ValueError, match=r"PYTHONPATH must name the folder of outside_method\.py"):
        parse(text.format("Mine"))
    monkeypatch.syspath_prepend(tmp_path)
    assert parse(text.format("Mine")).methods[0].selector == "outside_method:Mine"
    with pytest.raises(ValueError, match=r"no class 'Other'; its selectors: .*Mine, Bare"):
        parse(text.format("Other"))
    with pytest.raises(ValueError, match=r"Bare of outside_method\.py needs @estimator"):
        parse(text.format("Bare"))
    with pytest.raises(ValueError, match="must be a subclass of UnsupervisedSelector"):
        parse(text.format("few"))
