"""How much memory is left, by what the system says."""

import subprocess
import sys

import pytest

from featsieve.io.readers import free_memory

NO_LIMIT_1 = 9223372036854771712  # what version 1 says where there is none


def group(folder, *, version, limit, used, active=0, inactive=0, **more):
    """Write the files of a control group."""
    folder.mkdir(parents=True, exist_ok=True)
    names = {
        1: ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_"),
        2: ("memory.max", "memory.current", ""),
    }
    limits, current, prefix = names[version]
    (folder / limits).write_text(f"{limit}\n")
    (folder / current).write_text(f"{used}\n")
    stat = f"anon 7\n{prefix}inactive_file {inactive}\n{prefix}active_file {active}\nfile 9999\n"
    # version 1 also says the numbers of the group alone, without those inside of it
    (folder / "memory.stat").write_text(stat if version == 2 else "active_file 5\n" + stat)
    for name, content in more.items():
        (folder / name.replace("_", ".")).write_text(f"{content}\n")


def left(tmp_path, text):
    """Return what the groups of a process have left that says to be in some."""
    (tmp_path / "cgroup").write_text(text)
    return free_memory._of_groups(tmp_path, tmp_path / "groups")


def test_a_container_of_version_2(tmp_path):
    root = tmp_path / "groups"
    assert free_memory._of_groups(tmp_path / "gone", tmp_path / "gone") is None
    group(root, version=2, limit="max", used=600)
    assert left(tmp_path, "0::/\n") is None
    group(root, version=2, limit=1000, used=600, active=50, inactive=250)
    assert left(tmp_path, "0::/\n") == 1000 - 600 + 50 + 250
    (root / "memory.stat").unlink()
    assert left(tmp_path, "0::/\n") == 400
    # without a list of groups: that of the container is the root
    (tmp_path / "cgroup").unlink()
    assert free_memory._of_groups(tmp_path, root) == 400


def test_the_limit_of_a_group_around_counts(tmp_path):
    root = tmp_path / "groups"
    group(root / "user" / "job", version=2, limit=9000, used=100)
    group(root / "user", version=2, limit=2000, used=1500, inactive=100)
    assert left(tmp_path, "0::/user/job\n") == 600
    group(root / "user" / "job", version=2, limit=500, used=100)
    assert left(tmp_path, "0::/user/job\n") == 400
    group(root / "user" / "job", version=2, limit=500, used=100, memory_high=300)
    assert left(tmp_path, "0::/user/job\n") == 200
    # a process outside of the root of its container
    assert left(tmp_path, "0::/../../user\n") == 600


def test_version_1(tmp_path):
    root = tmp_path / "groups"
    place = "12:cpu,cpuacct:/docker/x\n4:hugetlb,memory:/docker/x\n0::/docker/x\n"
    group(root / "memory" / "docker" / "x", version=1, limit=NO_LIMIT_1, used=700)
    assert left(tmp_path, place) > 2**60
    group(root / "memory" / "docker", version=1, limit=1000, used=800, active=200, inactive=300)
    assert left(tmp_path, place) == 1000 - 800 + 200 + 300
    # seen from inside, the group of the container is the root
    group(root / "memory", version=1, limit=5000, used=4900)
    assert left(tmp_path, "4:memory:/machine/long/name\n") == 100


def test_odd_files_of_groups(tmp_path):
    root = tmp_path / "groups"
    group(root, version=2, limit="a lot", used=1)
    assert left(tmp_path, "0::/\nnonsense\n") is None
    group(root, version=2, limit=1000, used="?")
    assert left(tmp_path, "0::/\n") is None
    group(root, version=2, limit=1000, used=100, active=10**9)  # more than is in use
    assert left(tmp_path, "0::/\n") == 1000


def test_where_nobody_knows_there_is_a_default(monkeypatch):
    for name in ("_of_machine", "_of_groups", "_of_process"):
        monkeypatch.setattr(free_memory, name, lambda: None)
    assert free_memory.free_memory() == free_memory.UNKNOWN_MEMORY
    monkeypatch.setattr(free_memory, "_of_groups", lambda: -5)
    assert free_memory.free_memory() == 0


@pytest.mark.skipif(sys.platform != "linux", reason="limits of processes are asked there")
def test_the_limit_of_a_process_counts():
    program = (
        "import resource, runpy, sys\n"
        "resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))\n"
        "print(runpy.run_path(sys.argv[1])['free_memory']())"  # the file alone: quick
    )
    command = [sys.executable, "-c", program, free_memory.__file__]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert 0 < int(done.stdout) < 2**31


@pytest.mark.skipif(sys.platform != "linux", reason="asks for the memory of a Linux machine")
def test_a_machine_that_does_not_say_what_is_left(tmp_path):
    total = free_memory._of_machine(tmp_path / "gone")
    assert 0 < free_memory._of_machine() < total
    (tmp_path / "meminfo").write_text("MemTotal: 7 kB\n")
    assert free_memory._of_machine(tmp_path / "meminfo") == total
    (tmp_path / "meminfo").write_text("MemTotal: 7 kB\nMemAvailable:   5 kB\n")
    assert free_memory._of_machine(tmp_path / "meminfo") == 5 * 1024
