"""Descriptions of zarr arrays."""

import json

import numpy as np
import pytest
import zarr

from featsieve.datasets.readers.guard import TableError
from featsieve.datasets.readers.zarr_metadata import check_zarr


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("packed", [True, False])
def test_what_zarr_writes_by_itself_passes(tmp_path, version, packed):
    how = {} if packed else {"compressors": None}
    zarr.create_array(
        tmp_path / "a.zarr", data=np.eye(4), chunks=(2, 4), zarr_format=version, **how
    )
    check_zarr(tmp_path / "a.zarr")


def test_shards_pass(tmp_path):
    zarr.create_array(tmp_path / "a.zarr", data=np.eye(4), chunks=(2, 2), shards=(4, 4))
    check_zarr(tmp_path / "a.zarr")


@pytest.mark.parametrize(
    "codecs",
    [
        ["pickle"],
        [{"name": "numcodecs.pickle"}],
        [{"name": "bytes"}, {"id": "json2"}],
        [{"name": "sharding_indexed", "configuration": {"index_codecs": [{"name": "pickle"}]}}],
        [{}],
    ],
)
def test_other_programs_are_refused_by_name(tmp_path, codecs):
    (tmp_path / "zarr.json").write_text(json.dumps({"codecs": codecs}))
    with pytest.raises(TableError, match=r"packed with '(pickle|json2|None)'"):
        check_zarr(tmp_path)


def test_descriptions_are_small_files(tmp_path):
    with pytest.raises(TableError, match="a zarr array is a folder"):
        check_zarr(tmp_path / "gone")
    (tmp_path / ".zarray").mkdir()
    with pytest.raises(TableError, match=r"description \.zarray is no file"):
        check_zarr(tmp_path)
    (tmp_path / "zarr.json").write_text(" " * (2**20 + 1))
    with pytest.raises(TableError, match=r"description zarr\.json is no file"):
        check_zarr(tmp_path)
