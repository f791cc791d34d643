import numpy as np
import pytest

from featsieve.datasets import Dataset, make_planted
from featsieve.workflow import make_panel, save_panel
from featsieve.workflow.panel import FIGURES, PAGES, TABLES

PLANTED = make_planted(60, 24, n_informative=6, n_clusters=3, signal=4.0, random_state=0)
X = np.maximum(PLANTED.X, 0.0)
TABLE = Dataset(
    "cells", X, y=PLANTED.labels, class_names=["a$b", "<i>", "c"],
    feature_names=[f"g{j}" for j in range(24)],
)  # fmt: skip
FEW = {"n_genes": 6, "n_clusters": 3}

FILES = {*PAGES, *TABLES, *FIGURES}


@pytest.fixture(scope="module")
def panel():
    return make_panel(
        TABLE, n_clusters=3, keep=["g3"], exclude=["g1?"], groups={"pair": ["g20", "g21"]},
        costs={"pair": 3.0}, budget=6.0,
    )  # fmt: skip


def test_a_row_says_what_a_gene_tells(panel):
    genes, run = panel.genes, panel.run
    assert genes["rank"].tolist() == list(range(1, genes.n_rows + 1))
    assert genes["gene"][0] == "g3"
    assert genes["kept"].tolist() == [name == "g3" for name in genes["gene"]]
    assert not any(len(name) == 3 and name.startswith("g1") for name in genes["gene"])
    for i, name in enumerate(genes["gene"]):
        inside = run.labels == int(genes["tells_cluster"][i])
        column = X[:, int(name[1:])]
        np.testing.assert_allclose(genes["mean_inside"][i], column[inside].mean())
        np.testing.assert_allclose(genes["mean_outside"][i], column[~inside].mean())
        np.testing.assert_allclose(genes["share_inside"][i], (column[inside] > 0).mean())
        np.testing.assert_allclose(genes["share_outside"][i], (column[~inside] > 0).mean())
        assert (genes["side"][i] == "high") == (column[inside].mean() > column[~inside].mean())
    assert {"certainty", "closest_in_panel", "correlation", "price", "group"} <= set(genes)


def test_the_curve_is_the_path(panel):
    curve = panel.curve
    assert curve["gene"][: panel.genes.n_rows].tolist() == panel.genes["gene"].tolist()
    assert (np.diff(curve["explained"]) >= -1e-12).all()
    assert curve["explained"][-1] == pytest.approx(1.0)


def test_the_folder(panel, tmp_path):
    files = save_panel(panel, tmp_path / "panel", source="cells.h5ad")
    assert set(files) == FILES
    assert {path.name for path in (tmp_path / "panel").iterdir()} == FILES
    page = files["index.html"].read_text(encoding="utf-8")
    assert "the first k genes are a good panel of k" in page
    assert "<i>" not in page
    methods = files["methods.md"].read_text(encoding="utf-8")
    for words in ("1 gene to be kept in any case: g3", "of a budget of 6", "NMI of", "Seed 0",
                  "scikit-learn", "JASFS("):  # fmt: skip
        assert words in methods, words
    assert files["dots.svg"].read_text(encoding="utf-8").startswith("<?xml")
    assert "var(--" not in files["curve.svg"].read_text(encoding="utf-8").split("</style>")[1]
    with pytest.raises(FileExistsError, match="add --force to replace"):
        save_panel(panel, tmp_path / "panel")
    save_panel(panel, tmp_path / "panel", overwrite=True)
    (tmp_path / "panel" / "mine.txt").write_text("mine")
    with pytest.raises(FileExistsError, match=r"holds mine\.txt"):
        save_panel(panel, tmp_path / "panel", overwrite=True)


def test_values_below_zero_have_no_shares(tmp_path):
    made = make_panel(PLANTED.X, **FEW)
    assert made.share is None
    assert "share_inside" not in made.genes
    assert set(save_panel(made, tmp_path / "panel")) == FILES - {"dots.svg"}
