import re

import pytest

from featsieve.report.page import (
    Entry,
    Figure,
    Gallery,
    Page,
    PageTable,
    Row,
    Section,
    escape_markdown,
    render_html,
    render_markdown,
)
from tests.report.tags import Tags

EVIL = "</td><script>alert('x')</script>|*b*\n\"q\" & `c`"
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'


def page(text=EVIL):
    table = PageTable(
        text, (text, text), (Row(text, (Entry(text, text, best=True),), text),), text, text
    )
    gallery = Gallery(text, text, (Figure(text, text, SVG),))
    section = Section("anchor", text, (text,), (table, gallery), (text,), text)
    return Page(text, (text,), (section,))


def test_html_escapes_everything():
    text = render_html(page())
    names = [name for name, _ in Tags(text).tags]
    assert "script" not in names
    assert "<script" not in text
    # text never opens a tag: the same page of plain words has the same tags
    assert names == [name for name, _ in Tags(render_html(page("plain"))).tags]


def test_html_asks_for_nothing_from_elsewhere():
    text = render_html(page("plain"))
    for _, attributes in Tags(text).tags:
        for name in ("src", "href"):
            assert attributes.get(name, "#").startswith(("#", "data:"))
    assert not re.search(r"url\(|@import|http-equiv", text)


def test_html_is_made_for_all_readers():
    tags = Tags(render_html(page("plain"))).tags
    names = [name for name, _ in tags]
    assert names.count("h1") == 1
    assert ("a", {"class": "skip", "href": "#content"}) in tags
    assert all("alt" in attributes for name, attributes in tags if name == "img")
    assert names.count("caption") == names.count("table") == 1
    assert {attributes["scope"] for name, attributes in tags if name == "th"} == {"col", "row"}


def test_markdown_keeps_tables_whole_whatever_the_text():
    lines = render_markdown(page()).splitlines()
    tables = [line for line in lines if line.startswith("|")]
    assert len(tables) == 3
    columns = {len(re.findall(r"(?<!\\)\|", line)) for line in tables}
    assert columns == {3}
    outside = [line for line in lines if "alert" in line and not line.startswith("</td>")]
    assert all(re.search(r"\\<script\\>", line) for line in outside)


def test_markdown_leaves_out_figures():
    table = PageTable("shown", ("m",), (Row("A", ()),))
    narrow, wide = (Gallery(f"{w}", "", (Figure("f", "c", SVG),), wide=w) for w in (False, True))
    figures = Section("f", "Figures only", ("Look at these.",), (narrow,))
    both = Section("b", "Both", (), (table, wide))
    text = render_markdown(Page("t", (), (figures, both)))
    assert "HTML page of the same rows has more" in text
    assert "shown" in text
    assert "**True**" in text
    for absent in ("Figures only", "Look at these", "**False**", "<svg"):
        assert absent not in text
    whole = render_markdown(Page("t", (), (Section("b", "Both", (), (table,)),)))
    assert "has more" not in whole


@pytest.mark.parametrize(
    "text", ["costs $1 and $2", "plain", "a|b", "line\nline", "<b>", "# no", "x_y_z"]
)
def test_markdown_escapes_stay_on_one_line(text):
    escaped = escape_markdown(text)
    assert "\n" not in escaped
    assert re.sub(r"\\(.)", r"\1", escaped) == " ".join(text.split())
