"""The reader is chosen by the name of the file."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy.io import savemat

from featsieve.datasets import Dataset, read_table, write_table
from featsieve.io.dataset import subset
from featsieve.io.formats import Request
from featsieve.io.table import split_labels, table_format
from tests.io.tables import WRITTEN


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.mat", ".mat"),
        ("a.CSV", ".csv"),
        ("a.csv.gz", ".csv.gz"),
        ("folder/a.b.tsv", ".tsv"),
        ("a.h5ad", ".h5ad"),
        ("a.gz", None),
        ("mat", None),
        ("a.mat/b", None),
    ],
)
def test_the_ending_says_how(name, expected):
    assert table_format(name) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.csv", ("a.csv", None)),
        ("my/a.TSV.gz#kind", ("my/a.TSV.gz", "kind")),
        ("a.csv#number # 1", ("a.csv", "number # 1")),
        ("a.csv#b.csv", ("a.csv", "b.csv")),
        ("no#1.csv", ("no#1.csv", None)),
        ("no#1.csv#kind", ("no#1.csv", "kind")),
        ("a.csv#", ("a.csv#", None)),
        ("iris#kind", ("iris#kind", None)),
    ],
)
def test_a_name_may_hold_the_column_of_the_classes(name, expected):
    assert split_labels(name) == expected


@pytest.mark.parametrize("ending", WRITTEN)
def test_some_features_of_every_format(tmp_path, ending):
    X = np.random.default_rng(0).standard_normal((6, 4))
    samples = [f"s{i}" for i in range(6)]
    table = Dataset("toy", X, feature_names=list("abcd"), sample_names=samples, id_name="who")
    path = tmp_path / f"toy{ending}"
    write_table(path, table)
    who = "sample_names" if ending in (".mat", ".npz") else "who"
    some = read_table(path, columns=["d", "b"], id_column=who)
    np.testing.assert_array_equal(some.X, X[:, [3, 1]])
    assert some.feature_names == ["d", "b"]
    assert some.sample_names == samples
    others = read_table(path, drop=["d", "b"], id_column=who)
    np.testing.assert_array_equal(others.X, X[:, [0, 2]])
    assert others.feature_names == ["a", "c"]
    assert others.dropped == ("d", "b")
    for asked in ({"columns": ["b", "B"]}, {"drop": ["B"]}):
        with pytest.raises(
            ValueError, match=rf"toy{ending}: there is no \w+ 'B' \(did you mean 'b'"
        ):
            read_table(path, id_column=who, **asked)
    with pytest.raises(ValueError, match=r"empty"):
        read_table(path, id_column=who, drop=list("abcd"))
    with pytest.raises(ValueError, match=rf"no \w+ '{who.title()}' \(did you mean '{who}'\?\)"):
        read_table(path, id_column=who.title())


@pytest.mark.parametrize("ending", sorted(set(WRITTEN) - {".h5ad"}))
def test_features_without_names_are_called_by_their_places(tmp_path, ending):
    X = np.random.default_rng(0).standard_normal((6, 4))
    path = tmp_path / f"toy{ending}"
    write_table(path, Dataset("toy", X))
    if ".csv" in ending or ".tsv" in ending:
        separator = "," if ".csv" in ending else "\t"
        pd.DataFrame(X).to_csv(path, header=False, index=False, sep=separator)
    np.testing.assert_array_equal(read_table(path, columns=["x3", "x1"]).X, X[:, [3, 1]])
    rest = read_table(path, drop=["x0"])
    np.testing.assert_array_equal(rest.X, X[:, 1:])
    assert rest.names == ["x1", "x2", "x3"]
    assert read_table(path, drop=["x3"]).names == ["x0", "x1", "x2"]


def test_a_subset():
    X = np.arange(8.0).reshape(2, 4)
    table = Dataset(
        "toy",
        X,
        y=np.array([0, 1]),
        feature_names=list("abcd"),
        informative=np.array([True, False, False, False]),
        sample_names=["s", "t"],
    )
    part = subset(table, [3, 0])
    np.testing.assert_array_equal(part.X, X[:, [3, 0]])
    assert part.feature_names == ["d", "a"]
    assert part.informative.tolist() == [False, True]
    assert part.redundant is None
    assert part.sample_names == ["s", "t"]
    assert part.y is table.y


@pytest.mark.slow
def test_the_library_needs_no_optional_library(tmp_path):
    savemat(tmp_path / "toy.mat", {"fea": np.eye(3), "gnd": np.arange(3)})
    np.savez(tmp_path / "toy.npz", X=np.eye(3), y=np.arange(3))
    program = (
        "import sys\n"
        "for name in ('pandas', 'pyarrow', 'h5py', 'pooch', 'requests', 'typer', 'jinja2',\n"
        "             'rich', 'skops', 'anndata', 'polars', 'matplotlib'):\n"
        "    sys.modules[name] = None\n"  # as if it were not installed
        "import featsieve\n"
        "from featsieve.datasets import load_dataset\n"
        "for name in ('toy.mat', 'toy.npz', 'iris', 'planted_small'):\n"
        "    print(*load_dataset(name).X.shape)"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["3 3", "3 3", "150 4", "80 30"]


def test_names_in_any_container():
    request = Request(drop=["a", "b", "a"], label_column="c")
    assert request.drop == ("a", "b")
    assert request.roles == ("c",)
    assert Request(drop="age").drop == ("age",)
    assert Request(columns=np.array(["a", "b"])).columns == ("a", "b")


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        ({"label_column": 3}, TypeError, "label_column must be the name of a column; got 3"),
        ({"drop": [1]}, TypeError, "drop must list names of columns; got .1"),
        ({"columns": []}, ValueError, "columns is empty"),
        ({"columns": ["a"], "drop": ["b"]}, ValueError, "do not pass drop"),
        (
            {"label_column": "a", "id_column": "a"},
            ValueError,
            "must be different columns; got 'a', 'a'",
        ),
    ],
)
def test_contradictions(asked, error, message):
    with pytest.raises(error, match=message):
        Request(**asked)
