"""What rows say about where they come from: enough to judge timings, nothing private."""

import getpass
import json
import os
import platform
import socket
from pathlib import Path

import joblib
import numpy as np
import scipy
import sklearn
from threadpoolctl import threadpool_info, threadpool_limits

import featsieve
from featsieve.bench.environment import NOT_COMPUTING, machine, source_hash, versions


def test_versions_are_those_that_the_modules_have_themselves():
    found = json.loads(versions())
    assert found["python"] == platform.python_version()
    modules = {"numpy": np, "scipy": scipy, "scikit-learn": sklearn, "joblib": joblib}
    assert {name: found[name] for name in modules} == {
        name: module.__version__ for name, module in modules.items()
    }
    assert found["featsieve"] == featsieve.__version__


def test_the_code_is_told_apart_by_its_content_and_names(tmp_path):
    def hash_of(name, **files):
        folder = tmp_path / name
        for path, text in files.items():
            place = folder / path.replace("__", "/").replace("_dot_", ".")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(text.encode())
        return source_hash(folder)

    first = hash_of("a", a_dot_py="1", sub__b_dot_toml="2")
    assert hash_of("b", sub__b_dot_toml="2", a_dot_py="1", notes_dot_txt="mine") == first
    assert hash_of("c", a_dot_py="1", sub__b_dot_toml="2", cli__c_dot_py="no result") == first
    assert hash_of("d", a_dot_py="1", sub__c_dot_toml="2") != first
    assert hash_of("e", a_dot_py="1", sub__b_dot_toml="3") != first
    assert hash_of("f", a_dot_py="", sub__b_dot_toml="12") != first
    unix, windows = hash_of("g", a_dot_py="1\n2"), hash_of("h", a_dot_py="1\r\n2")
    assert unix == windows


def test_the_hash_among_the_versions_is_that_of_the_package():
    package = Path(featsieve.__file__).parent
    assert json.loads(versions())["source"] == source_hash(package) == source_hash()
    assert all((package / name).exists() for name in NOT_COMPUTING)
    assert all(name.endswith(("/", ".py")) for name in NOT_COMPUTING)  # no other names begin so


def test_the_linear_algebra_library_is_named_with_its_threads():
    names = {library["internal_api"] for library in threadpool_info()}
    with threadpool_limits(limits=1):
        one = json.loads(versions())["blas"]
    assert one.split(" ")[0] in names
    assert one.endswith(", 1 thread")


def test_the_number_of_threads_is_looked_up_every_time():
    with threadpool_limits(limits=3, user_api="blas"):
        # a library may allow fewer than asked for
        threads = {a["num_threads"] for a in threadpool_info() if a["user_api"] == "blas"}
        text = json.loads(versions())["blas"]
    assert all(f", {number} thread" in text for number in threads)


def test_the_machine_is_described():
    text = machine()
    cores = joblib.cpu_count()
    assert f"{cores} core" in text
    assert platform.system() in text
    if platform.system() == "Linux":
        total = next(
            int(line.split()[1])
            for line in Path("/proc/meminfo").read_text().splitlines()
            if line.startswith("MemTotal")
        )
        gib = int(text.split(" GiB")[0].split(" ")[-1])
        assert abs(gib - total / 2**20) <= 1


def test_nothing_private_is_told():
    text = machine() + versions()
    assert os.sep + "home" not in text
    assert str(Path.cwd()) not in text
    assert socket.gethostname() not in text
    assert f" {getpass.getuser()} " not in f" {text} "
