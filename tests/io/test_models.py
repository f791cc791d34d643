"""Models come back as they were; files that are anything else are refused before they can act."""

import inspect
import io
import json
import os
import sys
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import featsieve
from featsieve import (
    JASFS,
    AutoSelector,
    LabelFreeSearchCV,
    LaplacianScore,
    MaxVariance,
    StabilitySelection,
    load_model,
    save_model,
    selectors,
)
from featsieve.datasets import make_planted
from featsieve.io.models import HEADER, ModelError, _is_ours
from featsieve.io.selection_model import SelectionModel
from featsieve.tuning import Modularity

PLANTED = make_planted(
    n_samples=60, n_features=24, n_informative=6, n_clusters=3, signal=4.0, random_state=0
)
X = PLANTED.X
JOINT = JASFS(3, n_features_to_select=5, random_state=0)


def make_selector(name, **changes):
    """Return a selector with all that can be left to be found, found."""
    kind = getattr(selectors, name)
    given = {"n_features_to_select": 5, "n_clusters": 3, "random_state": 0} | changes
    known = inspect.signature(kind).parameters
    return kind(**{key: value for key, value in given.items() if key in known})


MODELS = {
    **{name: make_selector(name) for name in selectors.__all__},
    "everything found": JASFS("auto", random_state=0),
    "ranking, number found": LaplacianScore("auto"),
    "random state": JASFS(3, random_state=np.random.RandomState(0), init=PLANTED.labels % 3),
    "paper": JASFS(3, n_features_to_select=5, solver="paper", random_state=0),
    "AutoSelector": AutoSelector(LaplacianScore(), criterion=Modularity(n_runs=2)),
    "StabilitySelection": StabilitySelection(JOINT, n_subsamples=3, random_state=0),
    "LabelFreeSearchCV": LabelFreeSearchCV(JOINT, {"init": [None, "k-means"], "alpha": [0, 1.5]}),
    "folds": LabelFreeSearchCV(LaplacianScore(5), {"n_neighbors": [3, 5]}, cv=2),
    "Pipeline": make_pipeline(SimpleImputer(strategy="median"), StandardScaler(), JOINT),
}


def assert_equal(first, second, place="model"):
    """Compare all that two objects hold, however deep."""
    assert type(first) is type(second), place
    if isinstance(first, np.ndarray) and first.dtype != object:
        assert first.dtype == second.dtype, place
        np.testing.assert_array_equal(first, second, err_msg=place)
    elif sp.issparse(first):
        np.testing.assert_array_equal(first.toarray(), second.toarray(), err_msg=place)
    elif isinstance(first, dict):
        assert set(first) == set(second), place
        for key in first:
            assert_equal(first[key], second[key], f"{place}.{key}")
    elif isinstance(first, (list, tuple, np.ndarray)):
        assert len(first) == len(second), place
        for one, other in zip(first, second, strict=True):
            assert_equal(one, other, place)
    elif isinstance(first, np.random.RandomState):
        assert_equal(first.get_state(legacy=False), second.get_state(legacy=False), place)
    elif hasattr(first, "__dict__") and not isinstance(first, (type, featsieve.base.Status)):
        assert_equal(vars(first), vars(second), place)
    else:
        assert first == second or (first != first and second != second), place


@pytest.mark.filterwarnings("ignore::featsieve.tuning.NoStructureWarning")
@pytest.mark.parametrize("name", MODELS)
def test_models_come_back(tmp_path, name):
    path = tmp_path / "new" / "model.skops"
    model = MODELS[name].fit(X)
    save_model(model, path)
    assert os.listdir(path.parent) == ["model.skops"]
    again = load_model(str(path))
    assert_equal(model, again)
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    np.testing.assert_array_equal(again.get_feature_names_out(), model.get_feature_names_out())
    if hasattr(model, "predict"):
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert str(again).partition(" at 0x")[0] == str(model).partition(" at 0x")[0]


def test_a_model_is_replaced_on_request_only(tmp_path):
    path, first = tmp_path / "model.skops", MODELS["MaxVariance"].fit(X)
    save_model(first, path)
    before = path.read_bytes()
    with pytest.raises(FileExistsError, match=r"is there already: .*overwrite=True"):
        save_model(JASFS(2, n_features_to_select=2, random_state=0).fit(X), path)
    assert path.read_bytes() == before
    save_model(JASFS(2, n_features_to_select=2, random_state=0).fit(X), path, overwrite=True)
    assert isinstance(load_model(path), JASFS)


@pytest.mark.whole_structure_test  # of fewer copies one is like the table
def test_a_model_that_came_back_can_be_fitted_again(tmp_path):
    model = JASFS("auto", random_state=0).fit(X)
    save_model(model, tmp_path / "model.skops")
    again = load_model(tmp_path / "model.skops")
    assert_equal(again.fit(X), model)
    assert again.status_ is model.status_
    assert again.path_.curve.table() == model.path_.curve.table()


def test_a_wide_selection_model_is_small_and_quick(tmp_path):
    d = 20_000
    wide = np.random.default_rng(0).standard_normal((12, d))
    model = SelectionModel.from_selector(
        MaxVariance(50).fit(wide), [f"gene {j}" for j in range(d)], fill=np.zeros(d)
    )
    path = tmp_path / "model.skops"
    save_model(model, path)
    assert path.stat().st_size < 1_000_000
    with zipfile.ZipFile(path) as archive:
        assert archive.getinfo("schema.json").file_size < 1_000_000
    assert load_model(path).selected == model.selected


# What cannot be saved --------------------------------------------------------------------------


def shout(*state):
    return False


def plain(X):
    return X


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            make_selector("JASFS", callback=shout),
            r"JASFS .*: it holds .*\.shout, .* None for a callback",
        ),
        (
            make_selector("JASFS", init=lambda X, c, rng: PLANTED.labels % 3),
            "it holds .*lambda.* Set the parameter that holds it to something else",
        ),
        (
            StabilitySelection(make_selector("JASFS", callback=shout), n_subsamples=2),
            r"StabilitySelection .*: it holds .*\.shout",
        ),
        (
            make_pipeline(FunctionTransformer(plain), MaxVariance(3)),
            r"it holds .*\.plain",
        ),
    ],
)
def test_code_is_not_saved(tmp_path, model, message):
    with pytest.raises(ModelError, match=message):
        save_model(model.fit(np.abs(X)), tmp_path / "model.skops")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("model", [JASFS(3), make_pipeline(StandardScaler(), JASFS(3))])
def test_models_must_be_fitted(tmp_path, model):
    with pytest.raises(ModelError, match=r"is not fitted yet\. Call 'fit'"):
        save_model(model, tmp_path / "model.skops")


@pytest.mark.parametrize("model", [JASFS, X])
def test_other_things_are_no_models(tmp_path, model):
    with pytest.raises(ModelError, match="it is no fitted selector"):
        save_model(model, tmp_path / "model.skops")


@pytest.fixture
def saved(tmp_path):
    """Return the file of a model."""
    save_model(MODELS["MaxVariance"].fit(X), tmp_path / "model.skops")
    return tmp_path / "model.skops"


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("featsieve.jasfs.estimator.JASFS", True),
        ("featsieve.selectors.max_variance.np", False),  # what a module imports is not ours
        ("featsieve.bench.store.Store", False),
        ("os.system", False),
    ],
)
def test_which_classes_are_ours(name, known):
    assert _is_ours(name) == known


# Files of others -------------------------------------------------------------------------------


def rewrite(path, *, header=None, schema=None):
    """Change header or description of a saved model."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    for name, change in ((HEADER, header), ("schema.json", schema)):
        if change is not None:
            parts[name] = json.dumps(change(json.loads(parts[name]))).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def node(name, loader="JsonNode", **more):
    """Return the description of a part as skops writes it."""
    module, _, kind = name.rpartition(".")
    return {"__class__": kind, "__module__": module, "__loader__": loader, **more}


def texts(*words):
    return [node("builtins.str", content=json.dumps(word)) for word in words]


EVAL = node("builtins.list", "ListNode", content=[node("builtins.eval", "TypeNode")])
WORDS = node("builtins.tuple", "TupleNode", content=texts("mark", "w"))
COUNTS = {"open('mark', 'w')": node("builtins.str", content="1")}
BOMBS = {
    # builtins.open("mark", "w") as a constructor
    "constructor": node("builtins.open", "ConstructorFromReduceNode", content=WORDS),
    # eval as the type of a key
    "key type": node("builtins.dict", "DictNode", key_types=EVAL, content=COUNTS),
    # a list that is a process
    "container": node("subprocess.Popen", "ListNode", content=texts("touch", "mark")),
    # the import of a module is enough
    "module": node("bomb.x", "TypeNode"),
    "loader": node("x.JASFS", ["ObjectNode"]),
    "no loader": {"__class__": "dict", "__module__": "builtins"},
}


@pytest.mark.parametrize("kind", BOMBS)
def test_bombs_do_not_go_off(saved, tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "bomb.py").write_text("open('mark', 'w')\n")

    def plant(schema):
        schema["content"]["content"]["n_features_to_select"] = BOMBS[kind]
        return schema

    rewrite(saved, schema=plant)
    with pytest.raises(ModelError, match=r"model\.skops (holds|is not a model)"):
        load_model(saved)
    assert not (tmp_path / "mark").exists()
    assert "bomb" not in sys.modules


def test_damaged_content(tmp_path):
    path = tmp_path / "model.skops"
    save_model(MODELS["JASFS"].fit(X), path)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    for lost in parts:
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in parts.items():
                archive.writestr(name, b"" if name == lost else content)
        with pytest.raises(ModelError, match="damaged"):
            load_model(path)


TOO_LARGE = r"model\.skops would unpack to more than .* FEATSIEVE_MAX_MEMORY"


def test_an_archive_inside_of_an_archive_is_counted(saved, monkeypatch):
    monkeypatch.setenv("FEATSIEVE_MAX_MEMORY", "5M")
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data.npy", bytes(10_000_000))
    with zipfile.ZipFile(saved, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("part.npz", inner.getvalue())
    assert saved.stat().st_size < 100_000
    with pytest.raises(ModelError, match=TOO_LARGE):
        load_model(saved)


# Other versions --------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [2, "1"])
def test_another_format_is_refused(saved, number):
    rewrite(saved, header=lambda header: header | {"format": number})
    with pytest.raises(ModelError, match=rf"format {number!r} of featsieve .*reads format 1"):
        load_model(saved)


@pytest.mark.parametrize("header", [[], {"format": 2}])
def test_headers_that_are_none(saved, header):
    rewrite(saved, header=lambda _: header)
    with pytest.raises(ModelError, match="damaged"):
        load_model(saved)
