"""Notes, steps and words of messages."""

import numpy as np
import pytest

from featsieve.workflow.messages import (
    by_column,
    columns_sentence,
    count_of,
    list_counts,
    structure_verdict,
)


def test_counts_and_lists():
    assert [count_of(n, "row") for n in (0, 1, 1000)] == ["0 rows", "1 row", "1,000 rows"]
    assert columns_sentence(["a"], "is", "are", "odd.") == "Column 'a' is odd."
    assert columns_sentence(list("abcde"), "is", "are", "odd.") == (
        "5 columns ('a', 'b', 'c', 'd', 'e') are odd."
    )
    assert "'e', ...)" in columns_sentence(list("abcdef"), "is", "are", "odd.")
    found = list_counts(by_column(np.arange(7), list("abcdefg")), "missing value")
    assert found.startswith("21 missing values, in 6 columns: 'g' (6), 'f' (5)")
    assert found.endswith(" and 1 more")


@pytest.mark.parametrize(
    ("score", "certain", "words"),
    [
        (0.05, False, "no clearer than noise: a selection means little"),
        (0.15, False, "hardly clearer than noise"),
        (0.25, True, "there are clusters"),
        (
            0.05,
            True,
            "no more than after shuffling, yet nearly all neighbours agree on the clusters",
        ),
    ],
)
def test_what_a_structure_score_means(score, certain, words):
    assert structure_verdict(score, 0.1, certain=certain) == words
