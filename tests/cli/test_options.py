"""Words of options."""

import pytest

from featsieve.cli.options import (
    FORMATS,
    METHODS,
    read_clusters,
    read_features,
    read_format,
    read_image,
    read_methods,
)
from featsieve.io.formats import FORMATS as ENDINGS
from featsieve.workflow import method_names


def test_the_help_knows_all_methods_and_formats():
    assert METHODS.split(", ") == [name.lower() for name in method_names()]
    assert {f".{name}" for name in FORMATS} == {name for name in ENDINGS if ".gz" not in name}


def test_what_words_mean():
    assert read_clusters(" Auto ") == "auto"
    assert [read_features(word) for word in ("auto", "1", "1.0", "5e-2")] == ["auto", 1, 1.0, 0.05]
    assert isinstance(read_features("1"), int)
    assert read_image("2X3") == (2, 3)
    assert read_format(None) is None
    assert read_methods("ALL") == METHODS.split(", ")
    assert read_methods("a,,b ,") == ["a", "b"]


@pytest.mark.parametrize("word", ["0x4", "3", "x", "3x", "-1x4", "3x4x5"])
def test_images_that_are_none(word):
    with pytest.raises(ValueError, match="--image takes height x width"):
        read_image(word)
