import copy
import re
from xml.etree import ElementTree as ET

from featsieve import MaxVariance
from featsieve.report import summarize_selection
from featsieve.report.selection.pictures import graph_picture, pixel_pictures, sample_views
from tests.report.selection.cases import automatic, planted, stable


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


def test_the_graph_has_a_node_for_every_feature_and_a_line_for_every_pair():
    summary = stable()[1]
    graph = summary["redundancy"]
    root = ET.fromstring(graph_picture(summary)["svg"])
    lines = list(root.iter("line"))
    assert len(lines) == len(graph["edges"]) > 0
    strengths = [float(line.get("data-r")) for line in lines]
    assert strengths == sorted(strengths)  # the strongest on top
    widths = [float(line.get("stroke-width")) for line in lines]
    assert widths == sorted(widths)
    negative = sum(r < 0 for *_, r in graph["edges"])
    assert sum(line.get("class") == "minus" for line in lines) == negative
    assert len(list(root.iter("path"))) == len(graph["name"])
    assert graph_picture(summary | {"redundancy": None}) is None


def test_labels_do_not_meet():
    summary = copy.deepcopy(stable()[1])
    graph = summary["redundancy"]
    graph["x"] = [500] * len(graph["x"])
    graph["y"] = [500] * len(graph["y"])
    root = ET.fromstring(graph_picture(summary)["svg"])
    assert len(list(root.iter("text"))) <= 2


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
