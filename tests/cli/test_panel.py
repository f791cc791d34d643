"""``featsieve panel`` and the constraints of ``featsieve select``, as users type them."""

from importlib.metadata import version

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import anndata

pytestmark = pytest.mark.usefixtures("untested_fits")  # but for what is spawned

RNG = np.random.default_rng(2)
TYPES = np.repeat([0, 1, 2], 30)
MEANS = np.full((3, 30), 1.0)
for k in range(3):
    MEANS[k, 5 * k : 5 * k + 5] = 7.0
COUNTS = RNG.negative_binomial(4, 4 / (4 + MEANS[TYPES])).astype(np.float32)
COUNTS[:, 29] = 0.0
SMALL = ("--clusters", "3")
LAYER = ("--layer", "counts")


@pytest.fixture
def cells(tmp_path):
    adata = anndata.AnnData(sp.csr_matrix(COUNTS))
    adata.var_names = [*(f"g{j}" for j in range(28)), "MT-1", "none"]
    adata.obs_names = [f"c{i}" for i in range(90)]
    adata.obs["type"] = pd.Categorical([f"t{k}" for k in TYPES])
    adata.obs["donor"] = ["a", "b", "c"] * 30
    adata.var["mito"] = adata.var_names.str.startswith("MT-")
    adata.layers["counts"] = adata.X
    adata.X = sp.csr_matrix(np.ones_like(COUNTS))
    adata.write_h5ad(tmp_path / "cells.h5ad")
    return tmp_path / "cells.h5ad"


def test_from_counts_to_a_panel(spawn, call, cells, tmp_path):
    out = tmp_path / "panel"
    arguments = ("panel", cells, "--genes", "8", "-o", out, *SMALL, "--label-column", "type")
    (tmp_path / "bought.txt").write_text("g20\ng21\n")
    done = spawn(*arguments, *LAYER, "--keep", f"@{tmp_path}/bought.txt", "--exclude", "mito")
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert "raw counts" in said
    assert "The clusters go with the classes of 'type' (adjusted mutual information" in said
    assert "If that is a batch, not what you look for, select again with --batch-column" in said
    assert str(out / "index.html") in done.stdout
    genes = pd.read_csv(out / "panel.csv")
    assert genes["gene"].tolist()[:2] == ["g20", "g21"]
    assert len(genes) == 8
    assert "MT-1" not in set(genes["gene"])
    assert genes["share_inside"].between(0, 1).all()
    methods = (out / "methods.md").read_text()
    assert "Known classes, used to judge only" in methods
    assert f"anndata {version('anndata')}" in methods
    code, _, told = call(*arguments)
    assert code == 2
    assert "holds results already" in told
    assert pd.read_csv(out / "panel.csv").equals(genes)


def test_any_table_and_a_budget(call, people, tmp_path):
    people.to_csv(tmp_path / "people.csv", index=False)
    marker = next(name for name in people if name.startswith("marker"))
    (tmp_path / "costs.csv").write_text(f"feature,price\n{marker},2.5\n")
    (tmp_path / "groups.csv").write_text("feature,group\nnoise_0,pair\nnoise_2,pair\n")
    code, _, told = call(
        "panel", tmp_path / "people.csv", "-o", tmp_path / "out", "--drop-text", *SMALL,
        "--costs", tmp_path / "costs.csv", "--groups", tmp_path / "groups.csv", "--budget", 6,
        "--keep", marker,
    )  # fmt: skip
    assert code == 0, told
    genes = pd.read_csv(tmp_path / "out" / "panel.csv")
    assert genes["gene"][0] == marker
    assert genes["price"].sum() <= 6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--keep", "g1", "--exclude", "g1"), "keep and exclude both name 'g1'"),
        (("--keep", "gg1"), "there is no column 'gg1' (did you mean"),
        (("--keep", "g1,g2", "--budget", "1"), "more than the budget of 1"),
        (("--genes", "5", "--budget", "9"), "leave one of the two out"),
        (("--batch-column", "doner"), "no column 'doner' (did you mean 'donor'?)"),
        (("--costs", "prices.csv"), "prices.csv"),
        (("--keep", "@genes.txt"), "genes.txt"),
        (("--genes", "31"), "n_genes must be an integer between 1 and 30"),
        (("--layer", "count"), "no layer 'count' (did you mean 'counts'?); layers are: 'counts'"),
    ],
)
def test_mistakes(call, cells, tmp_path, arguments, message):
    code, _, told = call("panel", cells, "-o", tmp_path / "out", *SMALL, *LAYER, *arguments)
    assert code == 2
    assert message in " ".join(told.split())
    assert not (tmp_path / "out").exists()


def test_select_knows_the_same_and_new_rows_are_normalised_alike(call, cells, tmp_path):
    out = tmp_path / "out"
    code, said, told = call(
        "select", cells, "-o", out, *SMALL, *LAYER, "--features", "6", "--subsamples", "0",
        "--keep", "g20", "--exclude", "MT-*,g0",
    )  # fmt: skip
    assert code == 0, told
    assert "raw counts" in said
    features = pd.read_csv(out / "features.csv", index_col="feature")
    assert features["selected"]["g20"]
    assert features["status"]["MT-1"] == "excluded"
    selected = anndata.read_h5ad(out / "selected.h5ad")  # the file keeps what it has
    np.testing.assert_array_equal(selected.X.toarray(), 1.0)
    picked = [int(name[1:]) for name in selected.var_names]
    np.testing.assert_array_equal(selected.layers["counts"].toarray(), COUNTS[:, picked])
    code, _, told = call("apply", out, cells, "-o", tmp_path / "new.h5ad", "--clusters",
                         tmp_path / "new.csv")  # fmt: skip
    assert code == 0, told
    found = pd.read_csv(tmp_path / "new.csv")["cluster"]
    assert (found == pd.read_csv(out / "samples.csv")["cluster"]).mean() > 0.9
    anndata.read_h5ad(cells)[:, :20].copy().write_h5ad(tmp_path / "part.h5ad")
    code, _, told = call("apply", out, tmp_path / "part.h5ad", "-o", tmp_path / "x.h5ad",
                         "--clusters", tmp_path / "x.csv")  # fmt: skip
    assert code == 2
    assert "for totals or means of rows" in " ".join(told.split())


def test_batches_are_no_features_and_reach_the_fit(call, people, tmp_path, monkeypatch):
    from featsieve import JASFS

    seen, fit = [], JASFS.fit

    def recorded(self, X, y=None, *, batch=None):
        seen.append((X.shape[1], batch))
        return fit(self, X, batch=batch)

    monkeypatch.setattr(JASFS, "fit", recorded)
    people = people.assign(plate=["x", "y", "z"] * 30)
    people.to_csv(tmp_path / "people.csv", index=False)
    arguments = ("select", tmp_path / "people.csv", *SMALL, "--features", "6", "--subsamples", "2",
                 "--drop", "who", "--drop", "kind", "--batch-column", "plate")  # fmt: skip
    code, said, told = call(*arguments, "-o", tmp_path / "out")
    assert code == 0, told
    assert "of the column 'plate'. Columns were" in (said := " ".join(said.split()))
    assert "with the 3 batches" in said
    assert [columns for columns, _ in seen] == [50, 50, 50]
    assert seen[0][1].tolist() == ["x", "y", "z"] * 30
    assert {len(batch) for _, batch in seen[1:]} == {72}
    assert pd.read_csv(tmp_path / "out" / "selected.csv")["plate"].tolist() == ["x", "y", "z"] * 30
    people.loc[4, "plate"] = None
    people.to_csv(tmp_path / "people.csv", index=False)
    code, _, told = call(*arguments, "-o", tmp_path / "other")
    assert code == 2
    assert "batch of 1 of 90 samples is missing" in " ".join(told.split())
