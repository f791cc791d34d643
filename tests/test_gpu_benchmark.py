"""The benchmark of devices ends where the tests that it runs fail."""

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "gpu.py"


@pytest.fixture(scope="module")
def gpu():
    pytest.importorskip("torch")
    spec = importlib.util.spec_from_file_location("gpu", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_failing_tests_are_shown_and_end_the_benchmark(gpu, tmp_path, capsys):
    tests = tmp_path / "test_of_device.py"
    tests.write_text("def test_good():\n    pass\n\n\ndef test_bad():\n    raise OSError('lost')\n")
    with pytest.raises(SystemExit, match="1 failed, 1 passed") as ended:
        gpu.run_tests(tests)
    assert ended.value.code  # text: the status of the process is 1
    assert "OSError: lost" in capsys.readouterr().out


def test_passing_tests_are_summed_up(gpu, tmp_path):
    tests = tmp_path / "test_of_device.py"
    tests.write_text("def test_good():\n    pass\n")
    assert "1 passed" in gpu.run_tests(tests)
