"""Archives say what they unpack to."""

import io
import zipfile

import numpy as np
import pytest

from featsieve import MaxVariance, load_model, save_model
from featsieve.datasets import open_table, read_table
from featsieve.io.readers.archive import check_archive, check_npy, npy_header
from featsieve.io.readers.guard import TableError, TooLargeError


def archive(compression=zipfile.ZIP_DEFLATED, **parts):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as file:
        for name, content in parts.items():
            file.writestr(name.replace("_", "."), content)
    return zipfile.ZipFile(buffer)


def saved(value):
    buffer = io.BytesIO()
    np.save(buffer, value)
    return buffer.getvalue()


def test_all_or_some_parts_are_counted():
    both = archive(a_npy=saved(np.zeros(1000)), b_npy=saved(np.zeros(9000)))
    assert check_archive(both, limit=100_000) == 10_000 * 8 + 2 * 128
    assert check_archive(both, names=["a.npy"], limit=9000) == 8128
    with pytest.raises(TooLargeError, match="would take 78"):
        check_archive(both, limit=50_000)


def test_archives_inside_are_counted():
    inner = archive(a_npy=saved(np.zeros(5000))).fp.getvalue()
    outer = archive(m_npz=inner)
    with pytest.raises(TooLargeError):
        check_archive(outer, limit=20_000)
    assert check_archive(outer, limit=50_000) == len(inner) + 40_128


@pytest.mark.parametrize("compression", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_unusual_packing(compression):
    with pytest.raises(TableError, match=r"'a\.npy' is compressed in an unusual way"):
        check_archive(archive(compression, a_npy=saved(np.zeros(3))))


def test_passwords():
    locked = archive(a_npy=saved(np.zeros(3)))
    locked.infolist()[0].flag_bits |= 1
    with pytest.raises(TableError, match="encrypted: save it without a password"):
        check_archive(locked)


@pytest.mark.parametrize(
    "value", [np.zeros((3, 4)), np.array(2.0), np.zeros((0, 3)), np.array("a")]
)
def test_headers(value):
    content = saved(value)
    assert npy_header(io.BytesIO(content)) == (value.shape, value.dtype)
    check_npy(io.BytesIO(content), len(content), what="a.npy")
    assert npy_header(io.BytesIO(b"text")) is None
    if value.size:
        with pytest.raises(TableError, match=r"a\.npy says that it holds"):
            check_npy(io.BytesIO(content), len(content) - 1, what="a.npy")
    with pytest.raises(TableError, match=r"a\.npy has a damaged header"):
        check_npy(io.BytesIO(content[:20]), 20, what="a.npy")


def test_arrays_of_python_2_are_read_without_advice(tmp_path):
    """NumPy warns of them; damage can make any header look so (fuzzing)."""
    X = np.arange(6.0).reshape(2, 3)
    content = saved(X)
    old = content.replace(b"(2, 3), }  ", b"(2L, 3L), }")
    assert old != content
    with pytest.warns(UserWarning, match="created on Python 2"):
        np.load(io.BytesIO(old))
    (tmp_path / "old.npy").write_bytes(old)
    np.testing.assert_array_equal(open_table(tmp_path / "old.npy").compute(), X)
    with zipfile.ZipFile(tmp_path / "old.npz", "w") as file:
        file.writestr("X.npy", old)
    np.testing.assert_array_equal(read_table(tmp_path / "old.npz").X, X)


def test_a_part_of_a_model_that_looks_like_python_2_is_loaded_without_advice(tmp_path):
    path, table = tmp_path / "model.skops", [[1.0, 2.0], [3.0, 5.0]]
    save_model(MaxVariance(1).fit(table), path)
    with zipfile.ZipFile(path) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    changed = {name: part.replace(b"(2,), }  ", b"(2L,), } ") for name, part in parts.items()}
    assert changed != parts
    with zipfile.ZipFile(path, "w") as file:
        for name, part in changed.items():
            file.writestr(name, part)
    assert load_model(path).transform(table).ravel().tolist() == [2.0, 5.0]
