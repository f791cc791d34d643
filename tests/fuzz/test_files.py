"""Every file is read or refused in a sentence, whatever happened to its bytes."""

import os
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings

from featsieve.bench import Plan, load_plan
from featsieve.datasets import Dataset, read_table
from featsieve.io import child
from featsieve.io.models import load_model
from featsieve.io.selection_model import SelectionModel
from featsieve.workflow.outputs import read_summary
from tests.fuzz.contract import OUTCOMES, time_limit
from tests.fuzz.files import MAKERS, damaged_files, valid

SECONDS = 30.0  # reading takes one, in a child process
LONGEST = 3000  # letters of a message


def read(path: Path):
    """Read a file as its name says."""
    readers = {
        ".toml": load_plan,
        ".json": read_summary,
        ".skops": load_model,
    }
    if path.suffix in readers:
        return readers[path.suffix](path)
    labels = "kind" if path.name.startswith("toy.") and path.suffix in (".csv", ".h5ad") else None
    return read_table(path, label_column=labels, drop_text=True)


def check(path: Path) -> str:
    """Read the file; raise AssertionError where that breaks the word that is given."""
    before = path.read_bytes()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with time_limit(SECONDS):
                found = read(path)
        except (ValueError, OSError) as error:
            found = error
    assert os.listdir(path.parent) == [path.name], "something was written"
    assert path.read_bytes() == before, "the file was changed"
    for warning in caught:  # models of other versions are told
        told = f"{warning.category.__name__} of {warning.filename}: {warning.message}"
        assert str(warning.message).startswith(str(path)), told
    if not isinstance(found, Exception):
        check_content(found)
        return "read"
    said = f"{type(found).__name__}: {found}"
    own = type(found).__module__.startswith("featsieve")
    assert own or type(found) in (ValueError, OSError), said
    assert path.name in said or path.stem in said, said
    assert 20 < len(said) < LONGEST, said
    assert said.isprintable(), said
    assert said.endswith((".", "?")), said
    return "refused"


def check_content(found) -> None:
    """What is read can be used."""
    if isinstance(found, Dataset):
        assert found.X.ndim == 2
        assert min(found.X.shape) > 0
        assert found.X.dtype in (np.float32, np.float64)
        assert len(found.names) == found.X.shape[1]
        assert found.y is None or len(found.y) == found.X.shape[0]
        if sp.issparse(found.X):
            found.X.check_format(full_check=True)
            found.X.sum()
    elif isinstance(found, SelectionModel):
        assert len(found.selected) == found.selector.support_.sum()
    else:
        assert isinstance(found, np.ndarray | Plan | dict) or hasattr(found, "transform")


@pytest.mark.slow  # every example starts a process
@pytest.mark.parametrize("name", MAKERS)
def test_a_damaged_file_is_read_or_refused(name, tmp_path, monkeypatch):
    monkeypatch.setattr(child, "isolated", True)
    monkeypatch.setenv("FEATSIEVE_MAX_MEMORY", "256M")
    monkeypatch.setenv("FEATSIEVE_MAX_SECONDS", "20")
    path = tmp_path / name
    path.write_bytes(valid(name))
    assert check(path) == "read"
    profile = settings.get_profile("fuzz")

    @settings(profile, max_examples=max(3, profile.max_examples // 5))
    @given(damaged_files(name))
    def one(content):
        path.write_bytes(content)
        OUTCOMES[f"file {name}", "examples"] += 1
        OUTCOMES[f"file {name}", check(path)] += 1

    one()
