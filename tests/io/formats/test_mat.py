"""MATLAB files of every version, written by SciPy or to the layout of version 7.3."""

import h5py
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.io import savemat

from featsieve.datasets import read_table

RNG = np.random.default_rng(0)
X = RNG.standard_normal((7, 4))
CODES = np.array([0, 2, 1, 1, 0, 2, 2])


def write_73(path, variables):
    """Write variables as MATLAB 7.3 does: HDF5 behind a header, axes in reverse order."""
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, values in variables.items():
            if sp.issparse(values):
                columns = sp.csc_array(values)
                group = file.create_group(name)
                group.attrs["MATLAB_sparse"] = np.uint64(values.shape[0])
                group.attrs["MATLAB_class"] = np.bytes_("double")
                if columns.nnz:
                    group["data"] = columns.data
                    group["ir"] = columns.indices.astype(np.uint64)
                group["jc"] = columns.indptr.astype(np.uint64)
                continue
            file[name] = np.ascontiguousarray(np.atleast_2d(values).T)
            file[name].attrs["MATLAB_class"] = np.bytes_("double")
    with path.open("r+b") as file:
        header = b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM"
        file.write(header.ljust(512, b"\x00"))


WRITERS = {"5": savemat, "7.3": write_73}


@pytest.mark.parametrize("version", WRITERS)
@pytest.mark.parametrize("names", [("fea", "gnd"), ("X", "Y"), ("FEA", "y")])
def test_both_conventions_in_any_case(tmp_path, version, names):
    path = tmp_path / "toy.mat"
    WRITERS[version](path, {names[0]: X, names[1]: CODES[:, None] + 1.0})
    table = read_table(path)
    assert table.name == "toy"
    np.testing.assert_array_equal(table.X, X)
    np.testing.assert_array_equal(table.y, CODES)
    assert table.n_classes == 3
    assert table.feature_names is None


@pytest.mark.parametrize("version", WRITERS)
@pytest.mark.parametrize(
    "labels",
    [CODES - 5, CODES.astype(np.uint8) + 1, np.array([-1.0, 3, 0])[CODES] / 2],
    ids=["negative", "uint8", "fractions"],
)
@pytest.mark.parametrize("orientation", ["row", "column"])
def test_labels_become_0_1_and_so_on_in_their_order(tmp_path, version, labels, orientation):
    path = tmp_path / "toy.mat"
    stored = labels[:, None] if orientation == "column" else labels[None, :]
    WRITERS[version](path, {"X": X, "Y": stored})
    table = read_table(path)
    np.testing.assert_array_equal(table.y, np.searchsorted(np.unique(labels), labels))
    assert table.y.dtype.kind == "i"


@pytest.mark.parametrize(
    "names",
    [["a", "größe", "two words", "d "], ["aa", "bb", "cc", "dd"]],
    ids=["cells", "characters"],
)
def test_names_of_features_and_samples(tmp_path, names):
    path = tmp_path / "toy.mat"
    same = len({len(name) for name in names}) == 1
    stored = np.array(names) if same else np.array(names, dtype=object)
    savemat(path, {"X": X, "feature_names": stored, "day": np.arange(7) + 2000.0})
    assert read_table(path).feature_names == names
    assert read_table(path).sample_names is None
    table = read_table(path, id_column="day", columns=names[::-2])
    assert table.sample_names == [str(2000 + i) for i in range(7)]
    np.testing.assert_array_equal(table.X, X[:, ::-2])
    with pytest.raises(ValueError, match=r"there is no variable 'days' \(did you mean 'day'"):
        read_table(path, id_column="days")


def test_words_in_version_73_are_refused(tmp_path):
    path = tmp_path / "toy.mat"
    write_73(path, {"X": X})
    with h5py.File(path, "r+") as file:
        file["Y"] = np.full((1, 7), file["X"].ref, dtype=h5py.ref_dtype)
    with pytest.raises(ValueError, match=r"'Y' is not an array of numbers.*: save it with -v7"):
        read_table(path)


@pytest.mark.parametrize("version", WRITERS)
@pytest.mark.parametrize("dtype", [np.uint8, np.float32, bool])
def test_whole_numbers_become_float64_and_float32_stays(tmp_path, version, dtype):
    path = tmp_path / "toy.mat"
    values = np.abs(10 * X).astype(dtype)
    WRITERS[version](path, {"X": values, "Y": CODES})
    table = read_table(path)
    assert table.X.dtype == (np.float32 if dtype == np.float32 else np.float64)
    np.testing.assert_array_equal(table.X, values)


@pytest.mark.parametrize("version", WRITERS)
def test_sparse_stays_sparse(tmp_path, version):
    path = tmp_path / "toy.mat"
    values = np.where(X > 0, X, 0.0)
    WRITERS[version](path, {"fea": sp.csc_matrix(values), "gnd": CODES[:, None]})
    table = read_table(path)
    assert isinstance(table.X, sp.csr_array)
    assert table.X.nnz == np.sum(X > 0)
    np.testing.assert_array_equal(table.X.toarray(), values)


def test_sparse_zeros_of_version_73(tmp_path):
    path = tmp_path / "toy.mat"
    write_73(path, {"X": sp.csc_array((7, 4)), "Y": CODES})
    assert read_table(path).X.shape == (7, 4)
    assert read_table(path).X.nnz == 0


def test_parts_of_version_73_that_are_not_read_do_no_harm(tmp_path):
    path = tmp_path / "toy.mat"
    with h5py.File(path, "w") as file:
        file["X"] = X.T
        file.create_dataset("huge", (10**9, 10**6), "f8", chunks=(10**5, 10**6))
    np.testing.assert_array_equal(read_table(path).X, X)
    with h5py.File(path, "a") as file:
        file["elsewhere"] = h5py.ExternalLink("other.h5", "X")
    with pytest.raises(ValueError, match=r"toy\.mat .*its part 'elsewhere' lies in another file"):
        read_table(path)
