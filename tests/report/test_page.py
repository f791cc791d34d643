import dataclasses
from typing import get_args

import pytest

from featsieve.report.page import Block, Entry, Row, Table
from featsieve.report.render import render_html, render_markdown
from tests.report.test_render import page


def test_every_kind_of_block_has_a_name_of_its_own():
    kinds = [block.kind for block in get_args(Block)]
    assert len(set(kinds)) == len(kinds) == 6


def test_parts_cannot_be_changed_behind_a_page():
    table = Table("caption", ("a", "b"), (Row("r", (Entry("1"),)),))
    with pytest.raises(dataclasses.FrozenInstanceError):
        table.caption = "other"


def test_equal_parts_make_equal_pages():
    assert page("plain") == page("plain")
    assert page("plain") != page("other")
    assert render_html(page("plain")) == render_html(page("plain"))
    assert render_markdown(page("plain")) == render_markdown(page("plain"))
