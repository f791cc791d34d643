"""A library that is missing is named with the extra that brings it; unneeded ones are hidden."""

import importlib
import importlib.util
import json
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from featsieve.io.optional import hidden, load_optional


def test_a_module_that_is_there():
    assert load_optional("json", "Testing") is json


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


@pytest.fixture
def unknown(tmp_path, monkeypatch):
    """Return the name of a module that nobody has imported yet."""
    (tmp_path / "seldom_used.py").write_text("answer = 42\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield "seldom_used"
    sys.modules.pop("seldom_used", None)


def test_what_is_hidden_is_not_found_until_it_is_shown_again(unknown):
    with hidden("another", unknown):
        with pytest.raises(ModuleNotFoundError, match="seldom_used"):
            importlib.import_module(unknown)
        with hidden():
            assert importlib.util.find_spec(unknown) is not None
        with pytest.raises(ModuleNotFoundError, match="seldom_used"):
            importlib.import_module(unknown)
        assert importlib.import_module("json") is json
    assert importlib.import_module(unknown).answer == 42


def test_what_is_imported_already_cannot_be_hidden(unknown):
    module = importlib.import_module(unknown)
    with hidden(unknown):
        assert importlib.import_module(unknown) is module


def test_other_threads_find_what_is_hidden_here(unknown):
    with hidden(unknown), ThreadPoolExecutor(1) as pool:
        assert pool.submit(importlib.import_module, unknown).result().answer == 42


def test_an_error_shows_everything_again(unknown):
    with pytest.raises(KeyError), hidden(unknown):
        raise KeyError
    assert importlib.import_module(unknown).answer == 42


def test_finders_are_never_taken_away(unknown):
    """A thread that is on its way through them would miss the one after the one removed."""
    with hidden(unknown):
        during = list(sys.meta_path)
    with hidden("another"):
        pass
    assert sys.meta_path == during
