"""Files whose names do not say what they are."""

import gzip
import io

import h5py
import numpy as np
import pandas as pd
import pytest
from scipy.io import savemat

from featsieve.datasets import read_table
from featsieve.io.readers.signature import check_text, kind_of


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Return real files of every kind, as bytes."""
    folder = tmp_path_factory.mktemp("files")
    frame = pd.DataFrame(np.eye(3), columns=list("abc"))
    frame.to_csv(folder / "csv", index=False)
    frame.to_parquet(folder / "parquet")
    with h5py.File(folder / "h5ad", "w") as file:
        file["X"] = np.eye(3)
    with (folder / "npz").open("wb") as file:
        np.savez(file, X=np.eye(3))
    savemat(folder / "mat", {"fea": np.eye(3)}, appendmat=False)
    drawn = io.BytesIO()
    import matplotlib.image

    matplotlib.image.imsave(drawn, np.eye(4), format="png")
    (folder / "png").write_bytes(drawn.getvalue())
    (folder / "gz").write_bytes(gzip.compress((folder / "csv").read_bytes()))
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(
    ("kind", "ending", "message"),
    [
        ("png", ".csv", "it is not a text table but an image: does its name end as it should?"),
        ("h5ad", ".csv", "it is not a text table but HDF5"),
        ("npz", ".tsv", "it is not a text table but a zip archive"),
        ("parquet", ".csv", "it is not a text table but Parquet"),
        ("mat", ".csv", "it is not a text table but a MATLAB file"),
        ("gz", ".csv", "it is not a text table but compressed"),
        ("csv", ".h5ad", "it is not an HDF5 file: does its name end as it should?"),
        ("csv", ".parquet", "it is not a Parquet file: does its name end"),
        ("npz", ".parquet", "it is not a Parquet file but a zip archive"),
        ("csv", ".npz", "it is not an archive of NumPy: does its name end"),
        ("csv", ".mat", "it is not a MATLAB file: does its name end"),
        ("npz", ".mat", "it is not a MATLAB file but a zip archive"),
    ],
)
def test_a_wrong_ending_is_told(files, tmp_path, kind, ending, message):
    path = tmp_path / f"table{ending}"
    path.write_bytes(files[kind])
    with pytest.raises(ValueError, match="cannot be read as") as told:
        read_table(path)
    assert message in str(told.value)
    assert not str(told.value).endswith("?.")


@pytest.mark.parametrize("kind", ["csv", "parquet", "npz", "mat", "h5ad"])
def test_the_right_ending_is_read(files, tmp_path, kind):
    path = tmp_path / f"table.{kind}"
    path.write_bytes(files[kind])
    np.testing.assert_array_equal(read_table(path).X, np.eye(3))


@pytest.mark.parametrize("word", ["PAR1", "PKM2", "MATLAB", "%PDF", "Größe"])
def test_names_of_columns_are_no_signatures(tmp_path, word):
    path = tmp_path / "table.csv"
    path.write_text(f"{word},b\n1,2\n3,4\n", encoding="utf-8")
    assert read_table(path).feature_names == [word, "b"]


def test_other_encodings_are_text():
    check_text("größe,b".encode("utf-16"))
    assert kind_of("größe".encode()) is None
    with pytest.raises(ValueError, match="not a text table: does its name"):
        check_text("a,b".encode("utf-16-le"))
