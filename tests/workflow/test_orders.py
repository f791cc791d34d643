"""Words whose order is obvious, and words that only look like it."""

import random

import pytest

from featsieve.workflow.orders import find_order, join_orders


@pytest.mark.parametrize(
    "order",
    [
        ["low", "medium", "high"],
        ["Very low", "Low", "Normal", "High"],
        ["never", "rarely", "sometimes", "often"],
        ["S", "M", "L", "XL"],
        ["none", "mild", "moderate", "severe"],
        ["strongly disagree", "disagree", "neutral", "agree", "strongly agree"],
        ["Strongly disagree", "Disagree", "Neither agree nor disagree", "Agree"],
        ["Not at all important", "Slightly important", "Very important", "Extremely important"],
        ["not at all", "slightly", "moderately", "very", "extremely"],
        ["trifft nicht zu", "trifft eher nicht zu", "trifft eher zu", "trifft zu"],
        ["niedrig", "mittel", "hoch"],
        ["1-5", "6-10", "11-15"],
        ["0-10", "10-20", "20-30"],
        ["<18", "18-29", "30-64", "65+"],
        ["under 18", "18 to 64", "65 and over"],
        ["$10k-$20k", "$20k-$50k", ">$50k"],
        ["grade 1", "grade 2", "grade 3", "grade 10"],
        ["1st year", "2nd year", "3rd year"],
        ["I", "II", "III", "IV"],
        ["Stage I", "Stage II", "Stage IV"],
    ],
)
def test_obvious_orders(order):
    mixed = random.Random(0).sample(order, len(order))
    assert find_order(mixed) == order


@pytest.mark.parametrize(
    "words",
    [
        ["red", "green", "blue"],
        ["A", "B", "C"],
        ["S", "M", "D", "W"],  # single, married, divorced, widowed
        ["low", "medium", "blue"],
        ["medium", "moderate", "high"],  # two words for one step
        ["low", "Low", "high"],
        ["Mon", "Tue", "Wed"],  # Sunday is next to Monday
        ["site 1", "site 2", "site 3"],
        ["type 1", "type 2", "type 3"],
        ["batch_1", "batch_2", "batch_3"],
        ["grade 1", "grade 2", "site 3"],
        ["chr1", "chr2", "chr3"],
        ["H1N1", "H3N2", "H5N1"],
        ["2-1", "1-1", "0-3"],  # results of games
        ["1/2", "3/4", "5/6"],
        ["1.2.3", "1.2.4", "1.3.0"],
        ["I", "V", "X"],  # letters
        ["type I", "type II", "type III"],
        ["5-10", "8-12", "20-30"],  # they overlap
        ["north", "south", "1"],
        ["?", "-", "+"],
    ],
)
def test_no_order_is_made_up(words):
    assert find_order(words) is None
    assert find_order(words[::-1]) is None


def test_no_answers_have_no_place_in_an_order():
    assert find_order(["Don't know", "high", "low", "prefer not to say"]) == ["low", "high"]
    assert find_order(["yes", "no", "don't know"]) is None


def test_parts_of_one_scale_are_one_order():
    orders = [["never", "often"], ["low", "high"], ["rarely", "always"], ["low", "medium"]]
    assert join_orders(orders) == [
        ["never", "rarely", "often", "always"],
        ["low", "medium", "high"],
    ]
