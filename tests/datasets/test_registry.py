"""The registry is complete, consistent, and forgiving about names."""

import os
import re
from pathlib import Path

import numpy as np
import pytest

from featsieve.datasets import dataset_info, dataset_names, load_dataset
from featsieve.datasets.load import file_checksum
from featsieve.datasets.registry import GROUPS, name_key, registry

DATA = os.environ.get("FEATSIEVE_DATA")
CHECKED = [name for name, entry in registry().items() if entry.sha256 is not None]


def test_every_group():
    assert [name for group in GROUPS for name in dataset_names(group)] == dataset_names()
    assert [len(dataset_names(group)) for group in GROUPS] == [8, 25, 21, 2, 10]
    with pytest.raises(ValueError, match="group must be one of paper, skfeature"):
        dataset_names("papers")


def test_every_entry_says_what_is_needed():
    for entry in registry().values():
        check_entry(entry)


def check_entry(entry):
    assert entry.group in GROUPS
    assert entry.n_samples > 1
    assert entry.n_features > 1
    assert 2 <= entry.n_classes <= entry.n_samples
    assert entry.licence
    assert entry.source
    assert "{" not in entry.source
    assert (entry.file is None) == (entry.group == "embedded")
    assert entry.sha256 is None or re.fullmatch("[0-9a-f]{64}", entry.sha256)
    if entry.url is not None:
        assert entry.sha256 is not None, "what is downloaded is checked"
        assert entry.url.startswith("https://")
        assert entry.url.endswith(f"/{entry.file}")


def test_no_two_names_are_the_same():
    names = [*registry(), *(alias for entry in registry().values() for alias in entry.aliases)]
    assert len({name_key(name) for name in names}) == len(names)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("orl", "ORL"),
        ("BRAIN", "brain"),
        ("prostate_ge", "Prostate-GE"),
        ("tox-171", "TOX_171"),
        ("lung_discrete", "lung_small"),
    ],
)
def test_spelling_does_not_matter(given, meant):
    assert dataset_info(given).name == meant


@pytest.mark.parametrize(("given", "meant"), [("brian", "brain"), ("WarpAR", "warpar10p")])
def test_did_you_mean(given, meant):
    with pytest.raises(ValueError, match=rf"'{given}' \(did you mean .*'{meant}'"):
        load_dataset(given)


@pytest.mark.slow
@pytest.mark.skipif(DATA is None, reason="needs the data sets (FEATSIEVE_DATA)")
@pytest.mark.parametrize("name", CHECKED)
def test_a_file_is_the_one_registered(name):
    entry = dataset_info(name)
    path = Path(DATA) / entry.group / entry.file
    if not path.is_file():
        pytest.skip(f"{entry.file} is not in FEATSIEVE_DATA")
    assert file_checksum(path) == entry.sha256
    dataset = load_dataset(name)
    assert dataset.checksum == entry.sha256
    assert dataset.X.shape == (entry.n_samples, entry.n_features)
    assert dataset.X.dtype in (np.float32, np.float64)
    np.testing.assert_array_equal(np.unique(dataset.y), np.arange(entry.n_classes))
    assert dataset.y.shape == (entry.n_samples,)
    assert dataset.note == entry.note
    values = dataset.X if isinstance(dataset.X, np.ndarray) else dataset.X.data
    assert np.all(np.isfinite(values))
