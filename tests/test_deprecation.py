"""Old names work, say what to write instead, and go when their time has come."""

import inspect
import re
import warnings
from pathlib import Path

import pytest
from packaging.version import Version
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import featsieve
from featsieve.deprecation import renamed_function, renamed_parameter
from featsieve.table_selector import TableSelector


class Scaler(TableSelector):
    @renamed_parameter("degree", "exponent", removed_in="0.5")
    @renamed_parameter("exponent", "power", removed_in="0.5")
    @renamed_parameter("k", "n_features", removed_in="0.4")
    def __init__(self, n_features=3, *, power=1):
        self.n_features = n_features
        self.power = power


@renamed_parameter("wide", "width", removed_in="0.4")
def area(width, height=1):
    return width * height


def silently(call):
    """Return what a call returns; any warning is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return call()


def test_the_old_parameter_works_and_names_the_new_one_and_the_version():
    with pytest.warns(
        FutureWarning, match=r"area: .*'wide' is now called 'width'.*width=.*0\.4"
    ) as caught:
        assert area(wide=3, height=2) == 6
    assert caught[0].filename == __file__  # the line that needs the change
    with pytest.warns(FutureWarning, match=r"^Scaler: the parameter 'k'"):
        assert Scaler(k=7).n_features == 7


def test_the_new_parameter_is_silent_and_the_only_one_in_the_signature():
    assert silently(lambda: area(3, height=2)) == 6
    assert list(inspect.signature(area).parameters) == ["width", "height"]
    assert silently(lambda: Scaler(5).n_features) == 5


def test_estimators_are_cloned_by_the_new_name():
    with pytest.warns(FutureWarning):
        old = Scaler(k=7, power=2)
    assert old.get_params() == {"n_features": 7, "power": 2}
    assert silently(lambda: clone(old).get_params()) == old.get_params()
    assert silently(lambda: clone(old).set_params(n_features=1).n_features) == 1


def test_old_names_are_set_too():
    scaler = Scaler()
    with pytest.warns(FutureWarning, match=r"^Scaler: the parameter 'k' is now .*0\.4") as caught:
        assert scaler.set_params(k=9).n_features == 9
    assert caught[0].filename == __file__
    with pytest.warns(FutureWarning, match=r"'exponent' is now called 'power'.*0\.5"):
        make_pipeline(scaler).set_params(scaler__exponent=4)
    assert scaler.get_params() == {"n_features": 9, "power": 4}
    with pytest.warns(FutureWarning) as caught:  # renamed twice
        assert scaler.set_params(degree=4).power == Scaler(degree=4).power == 4
    assert len(caught) == 4
    with pytest.raises(TypeError, match="'k' is the old name of 'n_features'"):
        scaler.set_params(k=1, n_features=2)
    with pytest.raises(ValueError, match="Invalid parameter 'b'"):
        scaler.set_params(b=1)
    assert scaler.get_params() == {"n_features": 9, "power": 4}


def test_both_names_are_refused():
    with pytest.raises(TypeError, match=r"'wide' is the old name of 'width'.*Leave 'wide' out"):
        area(width=2, wide=3)
    with pytest.raises(TypeError, match="multiple values for argument 'width'"), pytest.warns():
        area(2, wide=3)


def test_the_old_function_calls_the_new_one():
    surface = renamed_function("surface", area, removed_in="1.0")
    with pytest.warns(FutureWarning, match=r"surface is now called area\..*removed in .* 1\.0"):
        assert surface(2, height=4) == 8
    assert surface.__name__ == "surface"
    assert inspect.signature(surface) == inspect.signature(area)


def outlived(folder, now):
    """Return the files that still know an old name which ``now`` should no longer have."""
    return [
        path.name
        for path in folder.rglob("*.py")
        for version in re.findall(r'removed_in="([^"]+)"', path.read_text(encoding="utf-8"))
        if now.release >= Version(version).release and path.name != "deprecation.py"  # examples
    ]


def test_nothing_outlives_its_removal(tmp_path):
    (tmp_path / "old.py").write_text('f = renamed_function("f", g, removed_in="0.3")')
    assert outlived(tmp_path, Version("0.2.1")) == []
    assert outlived(tmp_path, Version("0.3.0.dev0")) == ["old.py"]
    assert outlived(Path(featsieve.__file__).parent, Version(featsieve.__version__)) == []
