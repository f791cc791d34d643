import pytest

from featsieve.datasets import Dataset


@pytest.fixture(scope="package")
def table(small_planted):
    return Dataset(
        "planted",
        small_planted.X,
        small_planted.labels,
        feature_names=[f"g{j}" for j in range(60)],
        sample_names=[f"s{i}" for i in range(80)],
        class_names=["a", "b", "c"],
        id_name="who",
        label_name="kind",
    )
