import re

import pytest

from featsieve.report.page import (
    Entry,
    Notes,
    Page,
    PageTable,
    Row,
    Section,
    escape_markdown,
    render_markdown,
)

EVIL = "</td><script>alert('x')</script>|*b*\n\"q\" & `c`"


def page(text=EVIL):
    table = PageTable(
        text, (text, text), (Row(text, (Entry(text, text, best=True),), text),), text, text
    )
    section = Section("name", text, (text,), (table, Notes(text, (text,))), (text,), text)
    return Page(text, (text,), (section,))


def test_markdown_keeps_tables_whole_whatever_the_text():
    lines = render_markdown(page()).splitlines()
    tables = [line for line in lines if line.startswith("|")]
    assert len(tables) == 3
    columns = {len(re.findall(r"(?<!\\)\|", line)) for line in tables}
    assert columns == {3}
    outside = [line for line in lines if "alert" in line and not line.startswith("</td>")]
    assert all(re.search(r"\\<script\\>", line) for line in outside)


@pytest.mark.parametrize(
    "text", ["costs $1 and $2", "plain", "a|b", "line\nline", "<b>", "# no", "x_y_z"]
)
def test_markdown_escapes_stay_on_one_line(text):
    escaped = escape_markdown(text)
    assert "\n" not in escaped
    assert re.sub(r"\\(.)", r"\1", escaped) == " ".join(text.split())
