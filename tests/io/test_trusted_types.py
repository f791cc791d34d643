"""The list of types is what it says, and no part of a description escapes it."""

import importlib
import io
import json
import zipfile
from itertools import product

import numpy as np
import skops.io
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

import featsieve
from featsieve import JASFS, AutoSelector, LabelFreeSearchCV, StabilitySelection, selectors
from featsieve.datasets import make_planted
from featsieve.io.trusted_types import (
    ALLOWED,
    PARTS,
    SCIKIT_LEARN,
    SELECTORS,
    untrusted_parts,
)


def test_all_selectors_are_listed():
    kinds = [getattr(selectors, name) for name in selectors.__all__]
    kinds += [AutoSelector, LabelFreeSearchCV, StabilitySelection]
    assert {f"{kind.__module__}.{kind.__qualname__}" for kind in kinds} == SELECTORS


def test_every_type_is_there():
    for name in SELECTORS | PARTS | SCIKIT_LEARN:
        module, _, kind = name.rpartition(".")
        found = getattr(importlib.import_module(module), kind)
        assert isinstance(found, type)
        assert f"{found.__module__}.{found.__qualname__}" == name


def schema_of(model):
    with zipfile.ZipFile(io.BytesIO(skops.io.dumps(model))) as archive:
        return json.loads(archive.read("schema.json"))


def nodes(part):
    """Yield every node of a description."""
    if isinstance(part, dict):
        if "__loader__" in part:
            yield part
        for value in part.values():
            yield from nodes(value)
    elif isinstance(part, list):
        for value in part:
            yield from nodes(value)


def test_a_change_to_any_node_is_found():
    X = make_planted(n_samples=40, n_features=12, n_informative=4, random_state=0).X
    jasfs = JASFS(3, n_features_to_select=3, random_state=np.random.RandomState(0))
    search = LabelFreeSearchCV(jasfs, {"alpha": [0.5]}).fit(X)
    schema = schema_of(make_pipeline(SimpleImputer().fit(X), search))
    every = list(nodes(schema))
    assert {node["__loader__"] for node in every} == set(ALLOWED)
    assert list(untrusted_parts(schema)) == []
    changes = (("__class__", "system"), ("__module__", "os"), ("__loader__", "FunctionNode"))
    for node, (key, evil) in product(every, changes):
        good, node[key] = node[key], evil
        assert len(list(untrusted_parts(schema))) == 1
        node[key] = good


def test_the_place_is_a_chain_of_attributes():
    model = StabilitySelection(featsieve.MaxVariance(n_features_to_select=print))
    assert list(untrusted_parts(schema_of(model))) == [
        ("selector.n_features_to_select", "the class or function builtins.print")
    ]
