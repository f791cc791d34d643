"""Parts of HDF5 files that lie elsewhere, or are too large, are refused."""

import h5py
import numpy as np
import pytest

from featsieve.datasets import Dataset, read_table, write_table
from featsieve.io.readers import h5_heaps
from featsieve.io.readers.guard import TableError
from featsieve.io.readers.h5_parts import DEEPEST, check_whole, has_part, part_of, read_part


@pytest.fixture
def file(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["x"] = np.arange(3)
        file["g/inner"] = np.arange(4)
        file["soft"] = h5py.SoftLink("/x")
        file["out"] = h5py.ExternalLink("other.h5", "x")
        file["none"] = h5py.Empty("f8")
        yield file


def test_parts(file):
    assert has_part(h5py, file, "out")
    assert not has_part(h5py, file, "gone")
    assert not has_part(h5py, file["x"], "a")
    assert read_part(part_of(h5py, file, "g/inner")).tolist() == [0, 1, 2, 3]
    assert read_part(file["x"], rows=slice(1, 3)).tolist() == [1, 2]
    for name in ("soft", "out"):
        with pytest.raises(TableError, match=f"its part '{name}' is a link"):
            part_of(h5py, file, name)
    for name in ("gone", "x/deeper", "g/gone"):
        with pytest.raises(TableError, match=f"no part '{name}'"):
            part_of(h5py, file, name)
    with pytest.raises(TableError, match="its part 'none' is empty"):
        read_part(file["none"])


def test_a_whole_file(tmp_path):
    with h5py.File(tmp_path / "b.h5", "w") as file:
        group = file
        for _ in range(DEEPEST):
            group = group.create_group("g")
        group["again"] = file["g"]  # a circle
        check_whole(h5py, file)
        group.create_group("g").create_group("g")
        with pytest.raises(TableError, match="groups inside of groups"):
            check_whole(h5py, file)


def test_links_are_not_copied_into_a_reduced_file(tmp_path):
    source = tmp_path / "source.h5ad"
    write_table(source, Dataset("toy", np.eye(4)))
    table = read_table(source)
    write_table(tmp_path / "good.h5ad", table, like=source)
    with h5py.File(source, "r+") as file:
        file["uns/secret"] = h5py.ExternalLink("secret.h5", "x")
    with pytest.raises(ValueError, match=r"source\.h5ad cannot be read: its part 'secret' is a li"):
        write_table(tmp_path / "bad.h5ad", table, like=source)
    assert not (tmp_path / "bad.h5ad").exists()


def same_words(path, n_words, length):
    """Write a list of words that are one and the same in the file."""
    with h5py.File(path, "w") as file:
        file.create_dataset("X", (2, n_words), "f4", compression="gzip", chunks=True)
        words = file.create_dataset("var/_index", (n_words,), h5py.string_dtype())
        words[0] = "a" * length
    content = bytearray(path.read_bytes())
    with h5py.File(path) as file:
        first = file["var/_index"].id.get_offset()
    content[first : first + 16 * n_words] = content[first : first + 16] * n_words
    path.write_bytes(content)
    return path


def test_words_that_are_one_in_the_file(tmp_path, monkeypatch):
    path = same_words(tmp_path / "a.h5ad", 20_000, 4000)
    with h5py.File(path) as file:
        assert read_part(file["var/_index"])[-1] == b"a" * 4000
    monkeypatch.setenv("FEATSIEVE_MAX_MEMORY", "8M")  # of 80
    with pytest.raises(ValueError, match=r"a\.h5ad .*'var/_index' would take .* and 8 MiB are all"):
        read_table(path)


def test_words_of_a_large_file_are_read_few_at_a_time(tmp_path, monkeypatch):
    path = same_words(tmp_path / "a.h5ad", 20_000, 4000)
    monkeypatch.setattr(h5_heaps, "LARGEST_FILE", 0)  # of which no heap is looked at
    with h5py.File(path) as file:
        assert read_part(file["var/_index"]).tolist() == [b"a" * 4000] * 20_000
    monkeypatch.setenv("FEATSIEVE_MAX_MEMORY", "20M")
    # told after the second 4,096 words, of 80 MB in all
    with pytest.raises(
        ValueError, match=r"'var/_index' would take 31\.\d MiB .* and 20 MiB are al"
    ):
        read_table(path)


def test_words_are_read_in_blocks(tmp_path, monkeypatch):
    words = [f"gene {j}" for j in range(1000)] + ["long" * 1000]
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("words", data=words, dtype=h5py.string_dtype())
        square = np.array([words[:2]] * 2, dtype=object)
        file.create_dataset("square", data=square, dtype=h5py.string_dtype())
    monkeypatch.setenv("FEATSIEVE_MAX_MEMORY", "200K")
    with h5py.File(tmp_path / "a.h5") as file:
        assert [word.decode() for word in read_part(file["words"])] == words
        assert read_part(file["square"]).shape == (2, 2)
