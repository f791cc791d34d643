"""Versions: the lock keeps within the promised bounds, the oldest set is exactly these bounds."""

import importlib.util
import re
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "requirements" / "dev.txt"
PYTHONS = ("3.11", "3.12", "3.13")

spec = importlib.util.spec_from_file_location("oldest", ROOT / "tools" / "oldest.py")
oldest = importlib.util.module_from_spec(spec)
spec.loader.exec_module(oldest)


def pins():
    """Return the requirements of the lock, each with the number of its hashes."""
    text = LOCK.read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.lstrip().startswith("#")]
    return [
        (Requirement(re.sub(r"\s--hash=\S+", "", line)), line.count("--hash=sha256:"))
        for line in lines
    ]


def locked(python):
    """Return name -> version for one version of Python on Linux."""
    environment = {
        "python_version": python,
        "python_full_version": f"{python}.7",
        "sys_platform": "linux",
        "os_name": "posix",
        "platform_python_implementation": "CPython",
        "implementation_name": "cpython",
    }
    found = {}
    for pin, _ in pins():
        if pin.marker is None or pin.marker.evaluate(environment):
            (version,) = pin.specifier
            assert version.operator == "=="
            assert found.setdefault(canonicalize_name(pin.name), version.version) == version.version
    return found


@pytest.mark.parametrize("python", PYTHONS)
def test_the_lock_has_every_direct_dependency_within_its_bounds(python):
    versions = locked(python)
    needed = oldest.direct_dependencies(("dev",))
    assert len(needed) > 30
    for requirement in needed:
        version = versions[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version), f"{requirement}: locked at {version}"


def test_every_locked_release_has_hashes_and_no_address():
    assert all(n_hashes > 0 for _, n_hashes in pins())
    assert not any(pin.url for pin, _ in pins())
    text = LOCK.read_text(encoding="utf-8")
    assert "://" not in text
    assert not re.search(r"^\s*-", re.sub(r"--hash=\S+", "", text), re.MULTILINE)  # no options


def test_the_oldest_set_is_the_lower_bounds(tmp_path):
    project = tmp_path / "pyproject.toml"
    project.write_text(
        '[project]\nname = "featsieve"\ndependencies = ["numpy>=2.0"]\n'
        "[project.optional-dependencies]\n"
        'a = ["Dask[array]>=2024.8,<2030", "featsieve[b]"]\nb = ["h5py>=3.11", "featsieve[a]"]\n'
        'two = ["numpy>=2.1"]\nnone = ["rich"]\n'
    )
    assert oldest.oldest((), project=project) == ["numpy==2.0"]
    expected = ["dask==2024.8", "h5py==3.11", "numpy==2.0"]
    assert oldest.oldest(("a",), project=project) == expected
    with pytest.raises(ValueError, match=r"numpy has two lower bounds, 2\.0 and 2\.1"):
        oldest.oldest(("two",), project=project)
    with pytest.raises(ValueError, match="rich needs one lower bound, as in 'rich>="):
        oldest.oldest(("none",), project=project)


def test_every_dependency_of_every_extra_has_one_lower_bound():
    lines = oldest.oldest(("dev", "torch"))
    assert {"numpy", "torch", "pytest", "ruff"} <= {line.split("==")[0] for line in lines}
    assert all(re.fullmatch(r"[a-z0-9-]+==[0-9.]+", line) for line in lines)
