"""What an installation has."""

import json
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

from featsieve.workflow import doctor
from featsieve.workflow.doctor import examine

FAKE_TORCH = """
__version__ = "9.9"
class cuda:
    is_available = staticmethod(lambda: True)
    device_count = staticmethod(lambda: 2)
    get_device_name = staticmethod(lambda i: f"Fast {i}")
    class properties:
        total_memory = 80 * 2**30
    get_device_properties = staticmethod(lambda i: cuda.properties)
class backends:
    pass
"""


def test_versions_are_those_that_are_installed():
    found = examine()
    assert found["core"]["numpy"] == np.__version__
    parts = {part["module"]: part for part in found["parts"]}
    assert parts["pandas"]["version"] == version("pandas")
    assert parts["pandas"]["status"] == "found"
    assert parts["jinja2"]["install"] == "pip install 'featsieve[report]'"
    assert found["cores"] >= 1
    assert any("thread" in library for library in found["blas"])
    json.dumps(found, allow_nan=False)


def test_missing_and_broken_parts_are_told_apart(monkeypatch, tmp_path):
    (tmp_path / "brokenpart.py").write_text("import gone_for_good")
    monkeypatch.syspath_prepend(str(tmp_path))
    parts = {"brokenpart": ("data", "tests"), "missingpart": (None, "tests")}
    monkeypatch.setattr(doctor, "PARTS", parts)
    broken, missing = examine()["parts"]
    assert broken["status"] == "broken"
    assert "gone_for_good" in broken["reason"]
    assert missing["status"] == "missing"
    assert missing["version"] is None


def test_every_extra_is_one_of_the_package():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"]
    for module, (extra, _) in doctor.PARTS.items():
        assert extra is None or any(need.startswith(module) for need in extras[extra])


def test_folders_of_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("FEATSIEVE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("FEATSIEVE_DATA", str(tmp_path))
    found = examine()
    assert found["cache"] == str(tmp_path / "cache")
    assert found["data"] == {"variable": "FEATSIEVE_DATA", "folder": str(tmp_path), "exists": True}
    monkeypatch.setenv("FEATSIEVE_DATA", str(tmp_path / "gone"))
    assert not examine()["data"]["exists"]
    monkeypatch.delenv("FEATSIEVE_DATA")
    assert examine()["data"]["folder"] is None


@pytest.mark.slow
def test_accelerators_are_those_that_torch_sees(tmp_path):
    """With a stand-in for torch, in a process of its own: the machine may have none."""
    (tmp_path / "torch.py").write_text(FAKE_TORCH)
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from featsieve.workflow import doctor\n"
        "doctor.PARTS = {'torch': doctor.PARTS['torch']}\n"
        "print(*doctor.examine()['devices'], sep='\\n')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["cuda:0: Fast 0, 80 GiB", "cuda:1: Fast 1, 80 GiB"]
