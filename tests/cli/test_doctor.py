"""``featsieve doctor``."""

import json

import numpy as np

from featsieve import __version__


def test_for_people(call, monkeypatch):
    monkeypatch.setenv("FEATSIEVE_DATA", "gone")
    code, shown, told = call("doctor")
    assert (code, told) == (0, "")
    lines = {line.split()[0]: line for line in shown.splitlines() if line.strip()}
    assert __version__ in lines["featsieve"]
    assert np.__version__ in lines["numpy"]
    assert "for HTML reports" in lines["jinja2"]
    assert "there is no such folder" in lines["FEATSIEVE_DATA"]


def test_for_machines(call):
    code, shown, told = call("doctor", "--json")
    assert (code, told) == (0, "")
    assert json.loads(shown)["featsieve"] == __version__
