"""Data sets by name: from a folder, from the cache, from the internet, or an error that helps."""

import io
import sys
from pathlib import Path

import numpy as np
import pytest

from featsieve.datasets import load_dataset
from featsieve.datasets.registry import registry
from tests.datasets.internet import internet, toy_entry

X = np.arange(12.0).reshape(6, 2)
Y = np.array([3, 1, 2, 3, 1, 2])


def archive(table=X, labels=Y):
    buffer = io.BytesIO()
    np.savez(buffer, X=table, y=labels)
    return buffer.getvalue()


CONTENT = archive()


@pytest.fixture(autouse=True)
def nowhere(tmp_path, monkeypatch):
    """No folder of data, an empty cache."""
    monkeypatch.delenv("FEATSIEVE_DATA", raising=False)
    monkeypatch.setenv("FEATSIEVE_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def register(monkeypatch):
    """Add the toy data set to the registry."""

    def add(**changes):
        entry = toy_entry(CONTENT, **changes)
        monkeypatch.setitem(registry(), entry.name, entry)
        return entry

    return add


@pytest.mark.parametrize("place", ["paper/toy.npz", "toy.npz", "paper/TOY.npz"])
@pytest.mark.parametrize("given", ["argument", "variable"])
def test_from_a_folder(tmp_path, monkeypatch, register, place, given):
    entry = register(note="Toy: small")
    path = tmp_path / "data" / place
    path.parent.mkdir(parents=True)
    path.write_bytes(CONTENT)
    if given == "variable":
        monkeypatch.setenv("FEATSIEVE_DATA", str(tmp_path / "data"))
        dataset = load_dataset("Toy")
    else:
        dataset = load_dataset("Toy", data=tmp_path / "data")
    np.testing.assert_array_equal(dataset.X, X)
    np.testing.assert_array_equal(dataset.y, Y - 1)
    assert (dataset.name, dataset.note, dataset.checksum) == ("toy", "Toy: small", entry.sha256)


def test_the_argument_comes_before_the_variable(tmp_path, monkeypatch, register):
    register()
    (tmp_path / "toy.npz").write_bytes(CONTENT)
    monkeypatch.setenv("FEATSIEVE_DATA", str(tmp_path / "missing"))
    assert load_dataset("toy", data=tmp_path).X.shape == (6, 2)
    with pytest.raises(
        ValueError, match=r"variable FEATSIEVE_DATA names .*missing'.* not a folder"
    ):
        load_dataset("toy")
    with pytest.raises(ValueError, match=r"data names .*other'.* not a folder"):
        load_dataset("toy", data=tmp_path / "other")


def test_another_file_is_refused_with_both_checksums(tmp_path, register):
    entry = register()
    (tmp_path / "toy.npz").write_bytes(archive(X + 1))
    with pytest.raises(
        ValueError, match=rf"SHA-256 is [0-9a-f]{{64}}, expected {entry.sha256}"
    ) as e:
        load_dataset("toy", data=tmp_path)
    assert "the toy shop" in str(e.value)
    assert str(tmp_path / "toy.npz") in str(e.value)


def test_without_a_checksum_the_shape_is_compared(tmp_path, register):
    register(sha256=None)
    (tmp_path / "toy.npz").write_bytes(archive(X + 1))
    assert load_dataset("toy", data=tmp_path).checksum is not None
    for table, labels in ((X[:, :1], Y), (X[:5], Y[:5]), (X, Y % 2)):
        (tmp_path / "toy.npz").write_bytes(archive(table, labels))
        with pytest.raises(ValueError, match=r"toy has \(6, 2, 3\): it is another data set"):
            load_dataset("toy", data=tmp_path)


def test_nowhere_and_no_download(tmp_path, register):
    register()
    with pytest.raises(
        FileNotFoundError, match=rf"is not in {tmp_path}\. Get it from: the toy shop"
    ):
        load_dataset("toy", data=tmp_path)
    with pytest.raises(ValueError, match="no direct download"):
        load_dataset("toy", data=tmp_path, download=True)


def test_every_registered_file_that_is_missing_says_where_to_get_it():
    with_file = [entry for entry in registry().values() if entry.file is not None]
    assert len(with_file) == 56
    for entry in with_file:
        with pytest.raises(FileNotFoundError, match="FEATSIEVE_DATA") as info:
            load_dataset(entry.name)
        assert entry.source in str(info.value)
        assert ("download=True" in str(info.value)) == (entry.url is not None)


def test_a_download_is_made_when_asked_and_found_again(tmp_path, register):
    with internet() as net:
        register(url=f"{net.url}/toy.npz")
        net.pages["/toy.npz"] = CONTENT
        with pytest.raises(FileNotFoundError):
            load_dataset("toy")
        first = load_dataset("toy", download=True)
        again = load_dataset("toy", download=True)
        assert net.requests == ["/toy.npz"]
    without_network = load_dataset("toy")
    for dataset in (first, again, without_network):
        np.testing.assert_array_equal(dataset.X, X)


def test_a_damaged_file_in_the_cache_is_fetched_again_when_asked(tmp_path, register):
    damaged = tmp_path / "cache" / "paper" / "toy.npz"
    damaged.parent.mkdir(parents=True)
    damaged.write_bytes(archive(X + 1))
    with internet() as net:
        register(url=f"{net.url}/toy.npz")
        net.pages["/toy.npz"] = CONTENT
        with pytest.raises(ValueError, match="SHA-256"):
            load_dataset("toy")
        np.testing.assert_array_equal(load_dataset("toy", download=True).X, X)


def test_without_pooch_a_missing_file_is_still_explained(monkeypatch, register):
    register()
    monkeypatch.delenv("FEATSIEVE_CACHE")
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(FileNotFoundError, match="the toy shop"):
        load_dataset("toy")


@pytest.mark.parametrize("kind", [str, Path])
def test_a_path_is_read_as_it_is(tmp_path, kind):
    (tmp_path / "mine.npz").write_bytes(CONTENT)
    dataset = load_dataset(kind(tmp_path / "mine.npz"))
    assert dataset.name == "mine"
    np.testing.assert_array_equal(dataset.X, X)


@pytest.mark.parametrize("given", ["path", "folder"])
def test_a_table_with_the_column_of_its_classes(tmp_path, given):
    path = tmp_path / "mine.csv"
    path.write_text("length,kind\n1.5,rose\n2.5,tulip\n2.0,rose\n")
    if given == "path":
        dataset = load_dataset(f"{path}#kind")
    else:
        dataset = load_dataset("mine.csv#kind", data=tmp_path)
    assert dataset.y.tolist() == [0, 1, 0]
    assert dataset.feature_names == ["length"]
    with pytest.raises(ValueError, match="no column 'type'"):
        load_dataset("mine.csv#type", data=tmp_path)
    with pytest.raises(ValueError, match="not numbers: 'kind'"):
        load_dataset("mine.csv", data=tmp_path)
