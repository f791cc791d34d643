"""``featsieve doctor``: what an installation has."""

import json
import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

from featsieve import __version__
from featsieve.cli import doctor


@pytest.fixture
def few_parts(monkeypatch):
    """Look at two optional libraries only: to import all of them takes seconds."""
    names = ("pandas", "jinja2")
    monkeypatch.setattr(doctor, "PARTS", {name: doctor.PARTS[name] for name in names})


def test_for_people(call, monkeypatch, few_parts):
    monkeypatch.setenv("FEATSIEVE_DATA", "gone")
    code, shown, told = call("doctor")
    assert (code, told) == (0, "")
    lines = {line.split()[0]: line for line in shown.splitlines() if line.strip()}
    assert __version__ in lines["featsieve"]
    assert np.__version__ in lines["numpy"]
    assert "for HTML reports" in lines["jinja2"]
    assert "there is no such folder" in lines["FEATSIEVE_DATA"]


def test_for_machines(call, monkeypatch, tmp_path, few_parts):
    monkeypatch.setenv("FEATSIEVE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("FEATSIEVE_DATA", str(tmp_path))
    code, shown, told = call("doctor", "--json")
    assert (code, told) == (0, "")
    found = json.loads(shown)
    assert found["numpy"] == np.__version__
    pandas, jinja2 = found["parts"]
    assert (pandas["status"], pandas["version"]) == ("found", version("pandas"))
    assert jinja2["install"] == "pip install 'featsieve[report]'"
    assert " core" in found["machine"]
    assert "thread" in found["linear algebra"]
    assert found["downloads"] == str(tmp_path / "cache")
    assert found["FEATSIEVE_DATA"] == str(tmp_path)


def test_missing_and_broken_parts_are_told_apart(call, monkeypatch, tmp_path):
    (tmp_path / "brokenpart.py").write_text("import gone_for_good")
    monkeypatch.syspath_prepend(str(tmp_path))
    parts = {"brokenpart": ("data", "tests"), "missingpart": (None, "tests")}
    monkeypatch.setattr(doctor, "PARTS", parts)
    broken, missing = json.loads(call("doctor", "--json")[1])["parts"]
    assert broken["status"] == "broken"
    assert "gone_for_good" in broken["reason"]
    assert (missing["status"], missing["version"]) == ("missing", None)
    shown = " ".join(call("doctor")[1].split())
    assert "install it again: pip install 'featsieve[data]'" in shown
    assert "to get it: pip install missingpart" in shown


def test_every_extra_is_one_of_the_package():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"]
    for module, (extra, _) in doctor.PARTS.items():
        assert extra is None or any(
            need.startswith(module.replace("_", "-")) for need in extras[extra]
        )
    needs = {re.split(r"[^\w-]", need)[0] for need in extras["cli"]}
    assert needs - {"featsieve"} <= set(doctor.PARTS)
