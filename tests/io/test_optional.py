"""A library that is missing is named with the extra that brings it."""

import sys

import pytest

from featsieve.io.optional import load_optional


def test_a_library_that_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)  # as if it were not
    monkeypatch.delitem(sys.modules, "pyarrow.parquet", raising=False)
    expected = (
        r"^Reading needs pyarrow: python -m pip install 'featsieve\[data\]' \(or pyarrow alone\)\.$"
    )
    with pytest.raises(ImportError, match=expected) as info:
        load_optional("pyarrow.parquet", "Reading")
    assert isinstance(info.value.__cause__, ImportError)


def test_another_way_is_offered(monkeypatch):
    monkeypatch.setitem(sys.modules, "anndata", None)
    with pytest.raises(ImportError, match=r"\(or anndata alone\); or write a \.csv file\.$"):
        load_optional("anndata", "Writing", extra="anndata", instead="write a .csv file")
