"""HDF5 files on a full disk: the error of the system, no noise, no crash."""

import os
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

from featsieve.io.writers.hdf5 import _Sink, new_hdf5

pytestmark = pytest.mark.skipif(os.name != "posix", reason="limits of Unix")

# A process of its own: it used to crash at its end.
FULL = """
import resource, sys
from pathlib import Path
import h5py, numpy as np
from featsieve.io.writers.hdf5 import new_hdf5
X = np.random.default_rng(0).normal(size=(200, 30))
for limit in (0, 100, 5000, 20000):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        with new_hdf5(h5py, Path(sys.argv[1])) as file:
            for name in "abc":
                file.create_dataset(name, data=X, compression="gzip")
                file[name].attrs["kind"] = "numbers"
    except OSError as error:
        print(limit, error.strerror)
resource.setrlimit(resource.RLIMIT_FSIZE, 2 * (resource.RLIM_INFINITY,))  # for who writes at exit
"""


def test_a_full_disk(tmp_path):
    command = [sys.executable, "-c", FULL, str(tmp_path / "a.h5")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    told = [f"{limit} File too large" for limit in (0, 100, 5000, 20000)]
    assert done.stdout.splitlines() == told


def test_what_was_written_is_what_h5py_reads(tmp_path):
    rng = np.random.default_rng(0)
    parts = {name: rng.normal(size=(500, 40)) for name in ("a", "b", "c")}
    with new_hdf5(h5py, tmp_path / "a.h5") as file:
        for name, values in parts.items():
            file.create_dataset(name, data=values, chunks=(7, 9), compression="gzip")
        file["a"][3:9] = parts["b"][3:9]  # reads, changes and writes what is there
        del file["c"]
        file.create_group("group").attrs["words"] = ["one", "two"]
    with h5py.File(tmp_path / "a.h5") as file:
        np.testing.assert_array_equal(file["a"][3:9], parts["b"][3:9])
        np.testing.assert_array_equal(file["a"][9:], parts["a"][9:])
        np.testing.assert_array_equal(file["b"], parts["b"])
        assert sorted(file) == ["a", "b", "group"]
        assert list(file["group"].attrs["words"]) == ["one", "two"]


def test_other_errors_are_raised_as_they_are(tmp_path):
    with pytest.raises(KeyError, match="mine"), new_hdf5(h5py, tmp_path / "a.h5"):
        raise KeyError("mine")
    with pytest.raises(FileNotFoundError), new_hdf5(h5py, tmp_path / "gone" / "a.h5"):
        pytest.fail("there is no such folder")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
def test_a_device_that_is_always_full():
    sink = _Sink(Path("/dev/full"))
    assert sink.write(b"abc") == 3  # HDF5 must not see it
    assert "No space left" in sink.error.strerror
    assert sink.truncate(5) == 5
    sink.close()
    with pytest.raises(OSError, match="No space left"), new_hdf5(h5py, Path("/dev/full")) as file:
        file["a"] = np.arange(5)


def test_behind_the_end_there_are_zeros(tmp_path):
    sink = _Sink(tmp_path / "a.h5")
    sink.write(b"abc")
    sink.seek(1)
    assert sink.read(5) == b"bc\0\0\0"
    assert sink.truncate(2) == 2
    sink.close()
    assert (tmp_path / "a.h5").read_bytes() == b"ab"
