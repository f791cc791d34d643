import base64
import copy
import hashlib
import html
import json
import re
import sys
from importlib import resources

import numpy as np
import pytest

from featsieve import JASFS, MaxVariance
from featsieve.criteria.structure import WHAT_TO_DO
from featsieve.report import render_selection, summarize_selection, write_selection_report
from tests.report.selection.cases import CLEAR, EVIL, GRADIENT, automatic, planted, stable
from tests.report.tags import Tags


def hostile():
    """Return a summary in which every text is an attack."""
    X = np.column_stack([planted().X[:, planted().informative], planted().X[:, :8]])
    sieve = JASFS(3, n_features_to_select=6, random_state=0).fit(X)
    about = {
        "title": EVIL, "file": EVIL, "command": EVIL, "dropped": [EVIL], "notes": [EVIL],
        "seed": EVIL, EVIL: EVIL, "files": {EVIL: EVIL},
    }  # fmt: skip
    return summarize_selection(
        sieve,
        X,
        feature_names=[f"{EVIL}{j}" for j in range(16)],
        sample_names=[f"{EVIL}{i}" for i in range(60)],
        y=[f"{EVIL}{k}" for k in planted().labels],
        image_shape=(2, 8),
        about=about,
    )


def test_names_never_become_markup():
    page = render_selection(hostile())
    tags = Tags(page)
    names = [name for name, _ in tags.tags]
    assert names.count("script") == 2
    assert "<script>alert" not in page
    assert not any(key.startswith("on") for _, attributes in tags.tags for key in attributes)
    shown = "".join(text for where, text in tags.texts if "main" in where)
    assert f"{EVIL}0" in shown  # as text it is all there
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S).group(1))
    assert data["map"]["names"][0] == f"{EVIL}0"


def test_only_the_script_of_the_page_may_run():
    page = render_selection(automatic()[1])
    tags = Tags(page)
    policy = next(a["content"] for n, a in tags.tags if a.get("http-equiv"))
    script = re.search(r"<script>(.*?)</script>", page, re.S).group(1)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy


def test_nothing_is_loaded_from_elsewhere():
    page = render_selection(hostile())
    for _, attributes in Tags(page).tags:
        for name in ("src", "href"):
            assert attributes.get(name, "#").startswith(("#", "data:"))
    assert not re.search(r"url\(|@import|fetch\(|XMLHttpRequest|import\(", page)
    assert set(re.findall(r"https?://[^\s\"'<]+", page)) <= {"http://www.w3.org/2000/svg"}


def test_the_page_is_made_for_all_readers():
    tags = Tags(render_selection(stable()[1])).tags
    names = [name for name, _ in tags]
    assert names.count("h1") == 1
    assert dict(tags)["html"] == {"lang": "en"}
    assert tags[names.index("a")] == ("a", {"class": "skip", "href": "#features"})
    identities = [attributes["id"] for _, attributes in tags if "id" in attributes]
    assert len(identities) == len(set(identities))
    for name, attributes in tags:
        if name == "a":
            assert attributes["href"].removeprefix("#") in identities
        if "aria-labelledby" in attributes:
            assert attributes["aria-labelledby"] in identities
        if name == "th":
            assert attributes["scope"] in ("row", "col")
        if name == "svg":
            assert attributes.get("aria-hidden") == "true" or (
                attributes["role"] == "img" and attributes["aria-label"]
            )
        if name == "button":
            assert attributes["type"] == "button"


def test_tables_and_pictures_are_there_without_script():
    page = render_selection(automatic()[1])
    static = page[: page.index('<script type="application/json"')]
    for name in automatic()[1]["selected"]:
        assert f'<th scope="row">{name}</th>' in static
    n_selected = len(automatic()[1]["selected"])
    assert n_selected == 2  # too few for a matrix of correlations
    assert static.count('role="img"') == 1 + 2 + 2 + 1 + n_selected
    assert static.count('class="spark"') == n_selected
    assert "<noscript>" in static


def test_selected_pixels_are_marked():
    sieve = MaxVariance(3).fit(planted().X)
    summary = summarize_selection(sieve, planted().X, image_shape=(4, 10), structure=CLEAR)
    page = render_selection(summary)
    masks = re.findall(r'class="mask" d="([^"]*)"', page)
    assert len(masks) == 1 + len(summary["clusters"]["names"])
    corners = re.findall(r"M(\d+) (\d+)h1v1h-1z", masks[0])
    found = sorted(10 * int(y) + int(x) for x, y in corners)
    assert found == sieve.support_.nonzero()[0].tolist()


def test_the_verdict_is_a_tile_a_section_and_a_warning():
    sieve = MaxVariance(5).fit(planted().X)
    for found in (CLEAR, GRADIENT):
        summary = summarize_selection(sieve, planted().X, structure=found)
        assert summary["structure"] == found.summary()
        page = render_selection(summary)
        ps = f"p = 0.05 and {found.p_rotated:.2g}"
        ps += ", the least that 19 copies can show" if found is CLEAR else ""
        size = "" if found is CLEAR else ' class="long"'  # long words are smaller
        tile = f'<dt>structure</dt><dd{size}>{found.answer}</dd><dd class="note">{ps}</dd>'
        assert tile in page
        assert '<section id="structure"' in page
        assert f"<p>{found.sentence}</p>" in page
        warned = [c["text"] for c in summary["caveats"] if c["kind"] == "no-structure"]
        assert warned == ([f"{found.sentence} {WHAT_TO_DO}"] if found is GRADIENT else [])
        assert (found.sentence in summary["words"]) == (found is CLEAR)


def test_the_answer_leads_and_the_solver_is_last():
    summary = stable()[1]
    page = render_selection(summary)
    head = page[page.index("<h1>") : page.index("<nav")]
    lead = re.search(r'<p class="lead">(.*?)</p>', head, re.S).group(1)
    assert lead == html.escape(" ".join(summary["answer"]))
    opened = re.sub(r"<details.*?</details>", "", head, flags=re.S)
    for sentence in summary["words"][1:]:
        assert html.escape(sentence) in head  # all of it is there,
        assert html.escape(sentence) not in opened  # but folded
    sections = re.findall(r'<section id="(\w+)"', page)
    assert sections == [
        "features", "heat", "samples", "evaluation", "structure", "redundancy", "number",
        "reproduce",
    ]  # fmt: skip
    assert re.findall(r'<a href="#(\w+)"', page) == sections


def test_notes_are_folded_and_warnings_are_not():
    summary = copy.deepcopy(automatic()[1])
    summary["caveats"] = [
        {"kind": "told", "level": level, "text": f"This is a {level}."}
        for level in ("warning", "note")
    ]
    page = render_selection(summary)
    opened = re.sub(r"<details.*?</details>", "", page, flags=re.S)
    assert "This is a warning." in opened
    assert "This is a note." in page
    assert "This is a note." not in opened


def test_the_best_of_every_score_is_marked_and_equals_are_equal():
    summary = copy.deepcopy(stable()[1])
    rows = summary["evaluation"]["rows"]
    for row, values in zip(rows, [(0.9001, 0.5, -0.2), (0.9003, 0.7, -0.1)], strict=False):
        row |= dict(zip(("accuracy", "nmi", "ari"), values, strict=True))
    summary["evaluation"]["rows"] = rows[:2]
    page = render_selection(summary)
    part = page[page.index('<table class="scores">') :].split("</table>")[0]
    assert re.findall(r"<strong>(.*?)</strong>", part) == ["90.0", "90.0", "70.0", "-10.0"]


def test_parts_that_do_not_exist_are_left_out():
    summary = copy.deepcopy(automatic()[1])
    for part in (
        "clusters", "structure", "curve", "map", "heatmap", "distribution", "redundancy"
    ):  # fmt: skip
        summary[part] = None
    summary["features"]["mean"] = []
    page = render_selection(summary)
    found = {a["id"] for n, a in Tags(page).tags if n == "section" and "id" in a}
    assert found == {"features", "number", "reproduce"}


def test_the_file_is_the_page(tmp_path):
    sieve = automatic()[0]
    write_selection_report(sieve, planted().X, tmp_path / "new" / "report.html", about={"seed": 3})
    text = (tmp_path / "new" / "report.html").read_text(encoding="utf-8")
    expected = summarize_selection(sieve, planted().X, about={"seed": 3})
    assert text == render_selection(expected)
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["report.html"]


@pytest.mark.parametrize("summary", [{"format": 99}, {}, [], None])
def test_other_formats_are_refused(summary):
    with pytest.raises(ValueError, match="summaries of format 8"):
        render_selection(summary)


def luminance(colour):
    parts = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255.0
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(a, b):
    light, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def themes():
    css = resources.files("featsieve.report").joinpath("templates/selection.css").read_text("utf-8")
    blocks = re.findall(r":root[^{]*\{([^}]*--page[^}]*)\}", css)
    found = [dict(re.findall(r"(--[\w-]+): (#[0-9a-f]{6})", block)) for block in blocks]
    return [theme for theme in found if "--c0" in theme]


@pytest.mark.parametrize("which", [0, 1])
def test_colours_can_be_seen(which):
    theme = themes()[which]
    for ground in ("--page", "--card", "--soft", "--bar", "--hot"):
        assert contrast(theme["--ink"], theme[ground]) >= 4.5, ground
    for ground in ("--page", "--card", "--soft"):
        assert contrast(theme["--quiet"], theme[ground]) >= 4.5, ground
        assert contrast(theme["--accent"], theme[ground]) >= 4.5, ground
    assert contrast(theme["--warn"], theme["--warn-soft"]) >= 4.5
    assert contrast(theme["--c1"], theme["--card"]) >= 4.0  # also a label of charts
    for k in range(8):
        assert contrast(theme[f"--c{k}"], theme["--card"]) >= 3.0, k


def test_the_summary_needs_no_template_engine(monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    sieve = MaxVariance(5).fit(planted().X)
    summary = summarize_selection(sieve, planted().X, structure=CLEAR, about={"n_clusters": 2})
    with pytest.raises(ImportError, match=r"pip install 'featsieve\[report\]'"):
        render_selection(summary)
