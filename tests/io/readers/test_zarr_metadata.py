"""Descriptions of zarr arrays."""

import json

import numpy as np
import pytest
import zarr

from featsieve.datasets import open_table
from featsieve.io.readers.guard import TableError
from featsieve.io.readers.zarr_metadata import check_zarr


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
        # numcodecs takes the "id", zarr 3 the "name"
        [{"name": "zstd", "id": "pickle"}],
        [{"name": "pickle", "id": "zstd"}],
    ],
)
def test_other_programs_are_refused_by_name(tmp_path, codecs):
    (tmp_path / "zarr.json").write_text(json.dumps({"codecs": codecs}))
    with pytest.raises(TableError, match=r"packed with '(pickle|json2|None)'"):
        check_zarr(tmp_path)


@pytest.mark.parametrize("key", ["compressor", "filters"])
def test_version_2_names_programs_by_their_id(tmp_path, key):
    (tmp_path / ".zarray").write_text(json.dumps({key: {"id": "json2", "name": "zstd"}}))
    with pytest.raises(TableError, match="packed with 'json2'"):
        check_zarr(tmp_path)


@pytest.mark.parametrize("what", ["chunk", "folder", "description"])
def test_links_that_lead_outside(tmp_path, what):
    folder, outside = tmp_path / "a.zarr", tmp_path / "a.zarr-other"
    zarr.create_array(folder, data=np.eye(4), chunks=(2, 4), zarr_format=3)
    outside.mkdir()
    name = {"chunk": "c/0/0", "folder": "c/1", "description": "zarr.json"}[what]
    (folder / name).rename(outside / "part")
    (folder / name).symlink_to(outside / "part")
    told = rf"its part '{name.rpartition('/')[2]}' is a link out of its folder"
    with pytest.raises(ValueError, match=rf"a\.zarr cannot be read: {told}"):
        open_table(folder)


def test_links_inside_are_followed(tmp_path):
    folder = tmp_path / "a.zarr"
    zarr.create_array(folder, data=np.ones((4, 4)), chunks=(2, 4), zarr_format=3)
    (folder / "c/1/0").unlink()
    (folder / "c/1/0").symlink_to(folder / "c/0/0")
    (folder / "link.zarr").symlink_to(folder / "c")
    (tmp_path / "b.zarr").symlink_to(folder)  # the array itself may be a link
    for name in ("a.zarr", "b.zarr"):
        assert (open_table(tmp_path / name).compute(scheduler="sync") == 1).all()
    (folder / "c/1/0").unlink()
    (folder / "c/1/0").symlink_to("0")  # to itself
    with pytest.raises(ValueError, match="holds '0', which is not a file"):
        open_table(folder)


def test_descriptions_are_small_files(tmp_path):
    with pytest.raises(TableError, match="a zarr array is a folder"):
        check_zarr(tmp_path / "gone")
    (tmp_path / ".zarray").mkdir()
    with pytest.raises(TableError, match=r"description \.zarray is no file"):
        check_zarr(tmp_path)
    (tmp_path / "zarr.json").write_text(" " * (2**20 + 1))
    with pytest.raises(TableError, match=r"description zarr\.json is no file"):
        check_zarr(tmp_path)
