"""A library that is missing is named with the extra that brings it."""

import json
import sys

import pytest

from featsieve.datasets.optional import load_optional


def test_a_module_that_is_there():
    assert load_optional("json", "Testing") is json


def test_a_library_that_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)  # as if it were not
    monkeypatch.delitem(sys.modules, "pyarrow.parquet", raising=False)
    expected = r"^Reading needs pyarrow: pip install 'featsieve\[data\]' \(or pyarrow alone\)\.$"
    with pytest.raises(ImportError, match=expected) as info:
        load_optional("pyarrow.parquet", "Reading")
    assert isinstance(info.value.__cause__, ImportError)
