"""How much memory is left, by what the system says."""

import subprocess
import sys

import pytest

from featsieve.datasets.readers import free_memory


def test_free_memory_of_a_container(tmp_path):
    assert free_memory._of_group(tmp_path) is None
    (tmp_path / "memory.max").write_text("max\n")
    assert free_memory._of_group(tmp_path) is None
    (tmp_path / "memory.max").write_text("1000\n")
    (tmp_path / "memory.current").write_text("600\n")
    (tmp_path / "memory.stat").write_text("anon 300\ninactive_file 250\n")
    assert free_memory._of_group(tmp_path) == 650


def test_where_nobody_knows_there_is_a_default(monkeypatch):
    for name in ("_of_machine", "_of_group", "_of_process"):
        monkeypatch.setattr(free_memory, name, lambda: None)
    assert free_memory.free_memory() == free_memory.UNKNOWN_MEMORY
    monkeypatch.setattr(free_memory, "_of_group", lambda: -5)
    assert free_memory.free_memory() == 0


@pytest.mark.skipif(sys.platform != "linux", reason="limits of processes are asked there")
def test_the_limit_of_a_process_counts():
    program = (
        "import resource\n"
        "resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))\n"
        "from featsieve.datasets.readers.free_memory import free_memory\n"
        "print(free_memory())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert 0 < int(done.stdout) < 2**31
