"""Words of messages."""

import shlex

import numpy as np
import pytest

from featsieve.workflow.words import count_of, in_words, missing_facts, shell_word


def test_counts():
    assert [count_of(n, "row") for n in (0, 1, 2, 1000)] == [
        "0 rows",
        "1 row",
        "2 rows",
        "1,000 rows",
    ]


def test_long_lists_are_cut():
    assert in_words(list("abcde"), "column") == "5 columns ('a', 'b', 'c', 'd', 'e')"
    assert in_words(list("abcdef"), "column").endswith("'e', ...)")
    told = missing_facts(np.arange(7), list("abcdefg"))
    assert told.startswith("The table has 21 missing values, in 6 columns: 'g' (6), 'f' (5)")
    assert told.endswith(" and 1 more")


@pytest.mark.parametrize("name", ["age", "body mass", "it's", "$HOME", 'say "hi"'])
def test_names_survive_the_shell(name):
    assert shlex.split(shell_word(name)) == [name]
