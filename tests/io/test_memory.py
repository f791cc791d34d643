"""How much memory is left, by what the system says."""

import os

import pytest

from featsieve.datasets import read_table
from featsieve.io import guard as memory
from featsieve.io.guard import TooLargeError, check_memory, free_memory, memory_limit


@pytest.mark.parametrize("text", ["x", "-1", "1.5.2G", "G", "8 GB or so"])
def test_sizes_that_are_none(text, monkeypatch):
    monkeypatch.setenv("FEATSIEVE_MAX_MEMORY", text)
    with pytest.raises(ValueError, match=r"FEATSIEVE_MAX_MEMORY must be a size such as 8G"):
        memory_limit()


@pytest.mark.parametrize("text", ["1.5K", "1536", "1.5 KiB"])
def test_sizes(text, monkeypatch):
    monkeypatch.setenv("FEATSIEVE_MAX_MEMORY", text)
    assert memory_limit() == 1536


def test_the_variable_is_the_limit(monkeypatch):
    monkeypatch.setenv("FEATSIEVE_MAX_MEMORY", "50K")
    assert memory_limit() == 51200
    with pytest.raises(TooLargeError, match=r"it would take 50 .*the 50 KiB that are allowed .FEA"):
        check_memory(51201, what="it")


def test_a_wrong_limit_is_not_the_fault_of_the_file(tmp_path, monkeypatch):
    path = tmp_path / "fine.csv"
    path.write_text("a,b\n1,2\n3,4\n")
    monkeypatch.setenv("FEATSIEVE_MAX_MEMORY", "lots")
    with pytest.raises(ValueError, match=r"^FEATSIEVE_MAX_MEMORY must be a size such as 8G"):
        read_table(path)


def test_free_memory_is_that_of_the_machine(monkeypatch):
    monkeypatch.delenv("FEATSIEVE_MAX_MEMORY", raising=False)
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert 0 < memory_limit() <= total
    with pytest.raises(TooLargeError, match="are free"):
        check_memory(100 * total)


@pytest.fixture
def system(tmp_path, monkeypatch):
    """Return a function that writes what a made-up system says about itself."""
    monkeypatch.setattr(memory, "SYSTEM", tmp_path)

    def write(**files):
        for name, content in files.items():
            place = tmp_path / name.replace("__", "/").replace("DOT", ".")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(f"{content}\n")
        return free_memory()

    return write


def test_the_machine(system):
    assert system(proc__meminfo="MemTotal: 7 kB\nMemAvailable:   5 kB") == 5 * 1024
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert system(proc__meminfo="MemTotal: 7 kB") == total


def test_the_container(system):
    group = "sys__fs__cgroup__memoryDOT"
    system(proc__meminfo="MemAvailable: 99999 kB")
    assert system(**{f"{group}max": "max", f"{group}current": 1}) == 99999 * 1024
    assert system(**{f"{group}max": 9000, f"{group}current": 100}) == 8900
    # copies of files are given up
    assert system(**{f"{group}current": 8500, f"{group}stat": "a 1\ninactive_file 100"}) == 600
    assert system(**{f"{group}current": 9500}) == 0
