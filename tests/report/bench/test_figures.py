import xml.etree.ElementTree as ElementTree

from featsieve.report.bench.figures import FAINT, INK, key_images, method_styles
from featsieve.report.bench.summary import MethodFact
from tests.report.synthetic_rows import METHODS


def styles():
    facts = [
        MethodFact(name, about[0], about[1], "JASFS" if "published" in name else None)
        for name, about in METHODS.items()
    ]
    unknown = [MethodFact(f"New {i}", "New", False, None) for i in range(10)]
    return method_styles(facts + unknown)


def test_no_two_methods_look_alike():
    looks = {(style["color"], style["marker"]) for style in styles().values()}
    assert len(looks) == len(styles())


def test_svg_follows_the_theme_and_is_reproducible():
    ((_, svg),) = key_images(styles(), ["JASFS"])
    assert key_images(styles(), ["JASFS"]) == (("JASFS", svg),)
    assert INK not in svg
    assert FAINT not in svg
    assert "prefers-color-scheme:dark" in svg
    assert ElementTree.fromstring(svg).tag.endswith("svg")
