import re
from xml.etree import ElementTree as ET

from featsieve import MaxVariance
from featsieve.report import summarize_selection
from featsieve.report.selection.pictures import pixel_pictures, sample_views
from tests.report.selection.cases import automatic, planted


def test_every_sample_is_drawn_once_in_both_views():
    summary = automatic()[1]
    views = sample_views(summary)
    assert [view["name"] for view in views] == ["selected", "all"]
    for view in views:
        root = ET.fromstring(view["svg"])
        paths = [path for path in root.iter("path") if path.get("data-group") is not None]
        counts = [path.get("d").count("M") for path in paths]
        assert counts == [row["size"] for row in summary["clusters"]["rows"]]
        names = [text.text for text in root.iter("text")]
        assert names == summary["clusters"]["names"]


def test_selected_pixels_are_marked():
    X = planted().X
    sieve = MaxVariance(3).fit(X)
    summary = summarize_selection(sieve, X, image_shape=(4, 10), structure=0.5)
    pictures = pixel_pictures(summary)
    assert sum(picture["large"] for picture in pictures) == 2
    assert len(pictures) == 2 + len(summary["clusters"]["names"])
    root = ET.fromstring(pictures[0]["svg"])
    corners = re.findall(r"M(\d+) (\d+)h1v1h-1z", next(root.iter("path")).get("d"))
    found = sorted(10 * int(y) + int(x) for x, y in corners)
    assert found == sieve.support_.nonzero()[0].tolist()
    assert pixel_pictures(automatic()[1]) == []
