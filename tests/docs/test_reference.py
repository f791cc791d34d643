"""The reference lists every public name, and none that is not there."""

import importlib
import pkgutil
import re
from pathlib import Path

import featsieve

PAGE = Path(__file__).parents[2] / "docs" / "api.rst"
# Modules without __all__ whose names are public, because the guide imports them from there.
PUBLIC = {
    "featsieve.anndata": ["select_genes"],
    "featsieve.arrays.batches": ["Batches"],
    "featsieve.criteria.batches": ["BatchReport"],
    "featsieve.io.models": ["ModelError", "load_model", "save_model"],
    "featsieve.io.selection_model": ["SelectionModel"],
    "featsieve.tables": ["Table", "encode"],
}


def listed():
    """Return (module, name) for every entry of the reference."""
    module, found = "", []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        named = re.fullmatch(r"\.\. currentmodule:: (\S+)", line)
        if named:
            module = named[1]
        elif re.fullmatch(r"   \w+", line):
            found.append((module, line.strip()))
    return found


def exported():
    """Return (module, name) for every name that featsieve or a package of it exports."""
    parts = [part.name for part in pkgutil.iter_modules(featsieve.__path__)]
    packages = [f"featsieve.{part}" for part in parts if part != "__main__"]
    modules = [importlib.import_module(name) for name in ("featsieve", *packages)]
    found = {
        (module.__name__, name)
        for module in modules
        for name in getattr(module, "__all__", [])
        if name != "__version__"
    }
    return found | {(module, name) for module, names in PUBLIC.items() for name in names}


def thing(entry):
    """Return what a (module, name) stands for."""
    return getattr(importlib.import_module(entry[0]), entry[1])


def test_every_public_name_is_listed():
    known = {id(thing(entry)) for entry in listed()}
    missing = sorted(entry for entry in exported() if id(thing(entry)) not in known)
    assert missing == []


def test_every_entry_exists_and_stands_once():
    entries = listed()
    assert len(entries) > 80
    assert len(entries) == len(set(entries))
    for entry in entries:
        assert thing(entry).__doc__, entry
    assert set(entries) <= exported()
