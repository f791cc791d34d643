"""Data to try selectors on: by name, from files, or made up with known truth."""

from featsieve.datasets.catalogue import make_catalogue_table, make_cells, planted_kinds
from featsieve.datasets.load import load_dataset
from featsieve.datasets.registry import DatasetInfo, dataset_info, dataset_names
from featsieve.datasets.synthetic import Planted, make_planted
from featsieve.io.dataset import Dataset
from featsieve.io.table import read_table, write_table

__all__ = [
    "Dataset",
    "DatasetInfo",
    "Planted",
    "dataset_info",
    "dataset_names",
    "load_dataset",
    "make_catalogue_table",
    "make_cells",
    "make_planted",
    "planted_kinds",
    "read_table",
    "write_table",
]
