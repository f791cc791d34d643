"""Data sets of a plan: what is there, and one line for what is not."""

import hashlib

import numpy as np
import pytest

from featsieve.bench.tables import load_tables
from featsieve.datasets import dataset_names


@pytest.fixture(autouse=True)
def nowhere(tmp_path, monkeypatch):
    """Have no data but those that a test writes."""
    monkeypatch.setenv("FEATSIEVE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("FEATSIEVE_DATA", raising=False)
    monkeypatch.chdir(tmp_path)


def test_what_is_there_is_described_and_the_rest_told_in_one_line_each():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 6)), np.arange(40) % 3
    np.savez("mine.npz", X=X, y=y)
    np.savez("bare.npz", X=X)
    with open("mine.npz", "rb") as file:
        checksum = hashlib.sha256(file.read()).hexdigest()
    heard = []
    tables = load_tables(["iris", "mine.npz", "bare.npz", "ORL", "gone.npz"], say=heard.append)
    assert tables.shapes == {"iris": (150, 4, 3), "mine.npz": (40, 6, 3)}
    assert tables.checksums == {"iris": None, "mine.npz": checksum}
    assert tables.sizes == {"iris": 600.0, "mine.npz": 240.0}
    assert list(tables.left_out) == ["bare.npz", "ORL", "gone.npz"]
    assert len(heard) == 3
    assert not any("\n" in line for line in heard)
    assert 'labels = "COLUMN"' in heard[0]
    assert "github.com" in heard[1]
    assert heard[2].startswith("gone.npz is left out: ")


def test_if_none_is_there_one_sentence_says_what_to_do():
    names = dataset_names("paper")
    heard = []
    with pytest.raises(FileNotFoundError) as error:
        load_tables(names, say=heard.append)
    assert len(heard) == len(names) > 1
    told = str(error.value)
    assert told.startswith(f"None of the {len(names)} data sets could be loaded (")
    assert "--data" in told
    assert "--download" in told
    assert "github.com" not in told  # once is enough


def test_if_the_only_one_is_not_there_the_reason_is_part_of_the_sentence():
    with pytest.raises(FileNotFoundError, match=r"The data set gone.npz could not be loaded: gone"):
        load_tables(["gone.npz"])
