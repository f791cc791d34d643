import itertools
import xml.etree.ElementTree as ElementTree

from featsieve.report.bench.summary import MethodFact
from featsieve.report.figure_style import FAINT, INK, drawing, method_styles, new_figure, to_svg
from tests.report.synthetic_rows import METHODS


def facts():
    return [
        MethodFact(name, about[0], about[1], "JASFS" if "published" in name else None)
        for name, about in METHODS.items()
    ]


def test_no_two_methods_look_alike():
    styles = method_styles(facts())
    looks = [(style.color, style.marker) for style in styles.values()]
    assert len(set(looks)) == len(METHODS)


def test_variants_of_one_class_and_unknown_classes_can_be_told_apart():
    names = [*"abc"]
    variants = [MethodFact(n, "UGFS", False, None) for n in names]
    unknown = [MethodFact(n * 2, "New" + n, False, None) for n in names]
    styles = method_styles(variants + unknown)
    looks = [(style.color, style.marker) for style in styles.values()]
    assert len(set(looks)) == 6


def test_a_method_looks_the_same_whoever_is_there():
    everything = method_styles(facts())
    for fact in facts():
        assert method_styles([fact])[fact.name] == everything[fact.name]


def test_colours_stand_out_from_white_and_from_black():
    def luminance(color):
        parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    def contrast(a, b):
        return (max(a, b) + 0.05) / (min(a, b) + 0.05)

    pages = [luminance("#ffffff"), luminance("#14171c")]
    for style, page in itertools.product(method_styles(facts()).values(), pages):
        assert contrast(luminance(style.color), page) > 2


def test_svg_follows_the_theme_and_is_reproducible():
    def draw():
        with drawing():
            figure = new_figure(2, 1)
            figure.add_subplot().plot([0, 1], [0, 1], color=INK)
            return to_svg(figure)

    svg = draw()
    assert svg == draw()
    assert INK not in svg
    assert FAINT not in svg
    assert "var(--ink)" in svg
    assert "prefers-color-scheme:dark" in svg
    assert ElementTree.fromstring(svg).tag.endswith("svg")
