import base64
from dataclasses import replace

import numpy as np
import pytest

from featsieve.criteria.structure import untested
from featsieve.datasets import Dataset, make_planted
from featsieve.workflow import save_panel, select_features
from featsieve.workflow.panel import FIGURES, PAGES, TABLES, panel_tables

PLANTED = make_planted(60, 24, n_informative=6, n_clusters=3, signal=4.0, random_state=0)
X = np.maximum(PLANTED.X, 0.0)
TABLE = Dataset(
    "cells", X, y=PLANTED.labels, class_names=["a$b", "<i>", "c"],
    feature_names=[f"g{j}" for j in range(24)],
)  # fmt: skip
FEW = {"n_features": 6, "n_clusters": 3, "n_subsamples": 0}

FILES = {*PAGES, *TABLES, *FIGURES}


pytestmark = pytest.mark.usefixtures("untested_fits")


@pytest.fixture(scope="module")
def run():
    with untested():
        return select_features(
            TABLE, n_clusters=3, keep=["g3"], exclude=["g1?", "MT-*"], n_subsamples=0, what="gene",
            groups={"pair": ["g20", "g21"]}, costs={"pair": 3.0}, budget=6.0,
        )  # fmt: skip


def test_a_row_says_what_a_gene_tells(run):
    genes = panel_tables(run)[0]
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


def test_the_curve_is_the_path(run):
    genes, curve, _ = panel_tables(run)
    assert curve["gene"][: genes.n_rows].tolist() == genes["gene"].tolist()
    assert (np.diff(curve["explained"]) >= -1e-12).all()
    assert curve["explained"][-1] == pytest.approx(1.0)


def test_the_folder(run, tmp_path):
    files = save_panel(run, tmp_path / "panel", source="cells.h5ad")
    assert set(files) == FILES
    assert {path.name for path in (tmp_path / "panel").iterdir()} == FILES
    page = files["index.html"].read_text(encoding="utf-8")
    assert "the first k genes are a good panel of k" in page
    assert "<i>" not in page
    methods = files["methods.md"].read_text(encoding="utf-8")
    assert "No gene is like &#39;MT-*&#39;" in page
    assert "subsamples on" not in page
    assert f">A panel of {len(run.selected)} genes from cells.h5ad<" in page
    for words in ("No gene is like 'MT-*'", "1 gene to be kept in any case: g3", "of a budget of 6",
                  "NMI 1.00", "Seed 0", "scikit-learn", "JASFS("):  # fmt: skip
        assert words in methods, words
    for name in ("dots.svg", "matrix.svg"):
        drawn = files[name].read_bytes()
        assert drawn.startswith(b"<?xml")
        assert b"var(--" not in drawn.split(b"</style>")[1]
        assert base64.b64encode(drawn).decode() in page
    save_panel(run, tmp_path / "panel", overwrite=True)


def test_values_below_zero_have_no_shares(tmp_path):
    made = select_features(PLANTED.X, **FEW)
    genes, _, by_cluster = panel_tables(made)
    assert by_cluster["share"] is None
    assert "share_inside" not in genes
    assert set(save_panel(made, tmp_path / "panel")) == FILES - {"dots.svg"}


def test_means_are_those_of_the_bench_also_with_batches(tmp_path):
    batch = np.arange(60) % 2
    shifted = X + 5.0 * np.outer(batch, np.arange(24) % 3 == 0)
    table = replace(TABLE, X=shifted, batch=[f"plate {b}" for b in batch], batch_name="plate")
    made = select_features(table, **FEW)
    genes = panel_tables(made)[0]
    inside = made.labels == int(genes["tells_cluster"][0])
    column = shifted[:, int(genes["gene"][0][1:])]
    np.testing.assert_allclose(genes["mean_inside"][0], column[inside].mean())
    text = save_panel(made, tmp_path / "panel")["methods.md"].read_text(encoding="utf-8")
    assert "Batches are those of the column 'plate'." in text


@pytest.mark.parametrize(("follows", "said"), [(True, True), (False, False)])
def test_a_column_that_the_clusters_follow_is_named(tmp_path, follows, said):
    y = PLANTED.labels % 2 if follows else np.arange(60) % 2  # the first nested in the clusters
    table = replace(TABLE, y=y, class_names=["p", "q"], label_name="the plate")
    made = select_features(table, **FEW)
    page = save_panel(made, tmp_path / "panel")["index.html"].read_text(encoding="utf-8")
    assert ("The clusters go with the classes of &#39;the plate&#39; (adjusted" in page) == said
    assert ("--batch-column &#39;the plate&#39;" in page) == said
