"""Embedded data sets: known truth, the same on every machine and in every call."""

import numpy as np
import pytest
from sklearn.feature_selection import f_classif

from featsieve.datasets import dataset_info, dataset_names, load_dataset
from featsieve.datasets.embedded import BUNDLED, PLANTED


def test_every_embedded_name_is_registered_and_the_other_way_round():
    assert dataset_names("embedded") == [*BUNDLED, *PLANTED]


@pytest.mark.parametrize("name", [*BUNDLED, *PLANTED])
def test_shape_and_classes_are_those_registered(name, monkeypatch):
    monkeypatch.delenv("FEATSIEVE_DATA", raising=False)
    dataset, info = load_dataset(name), dataset_info(name)
    assert dataset.name == name
    assert dataset.X.shape == (info.n_samples, info.n_features)
    assert dataset.X.dtype == np.float64
    np.testing.assert_array_equal(np.unique(dataset.y), np.arange(info.n_classes))
    assert dataset.checksum is None
    again = load_dataset(name.upper())
    np.testing.assert_array_equal(again.X, dataset.X)
    np.testing.assert_array_equal(again.y, dataset.y)


@pytest.mark.parametrize(
    ("name", "informative", "redundant"),
    [
        ("planted_small", 5, 3),
        ("planted_wide", 20, 0),
        ("planted_tall", 20, 0),
        ("planted_redundant", 20, 60),
        ("planted_weak", 20, 0),
        ("planted_many", 40, 0),
    ],
)
def test_planted_truth(name, informative, redundant):
    dataset = load_dataset(name)
    assert dataset.informative.sum() == informative
    assert dataset.redundant.sum() == redundant
    # Labels tell informative features from noise, so that there is something to be found.
    statistic = f_classif(dataset.X, dataset.y)[0]
    noise = ~(dataset.informative | dataset.redundant)
    assert np.median(statistic[dataset.informative]) > np.quantile(statistic[noise], 0.999)


def test_the_seeds_do_not_change():
    # Committed results depend on these tables.
    sums = {name: round(float(np.abs(load_dataset(name).X).sum()), 3) for name in PLANTED}
    assert sums == {
        "planted_small": 2490.44,
        "planted_wide": 123398.705,
        "planted_tall": 356348.455,
        "planted_redundant": 132591.76,
        "planted_weak": 120951.678,
        "planted_many": 87313.385,
    }
