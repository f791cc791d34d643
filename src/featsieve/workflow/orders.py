"""Words that are obviously ordered: well-known scales, and numbers inside of words."""

import re
from collections.abc import Sequence
from itertools import pairwise

from featsieve.tables import is_answer

# From low to high; words for one step are separated by "/".
SCALES = [
    [step.split("/") for step in line.split(", ")]
    for line in (
        "very low, low, medium/moderate/mid/middle/average/intermediate/normal, high, very high",
        "never, rarely/seldom, sometimes/occasionally, often/frequently, very often, always",
        "xxs, xs, s, m, l, xl, xxl, xxxl",
        "tiny/very small, small, medium/mid/middle, large/big, huge/very large",
        "none/absent, minimal, mild/slight, moderate, severe, very severe/critical",
        "strongly disagree/completely disagree/totally disagree, disagree, somewhat disagree/"
        "slightly disagree, neutral/undecided/neither/neither agree nor disagree/neither agree or "
        "disagree, somewhat agree/slightly agree, agree, "
        "strongly agree/completely agree/totally agree",
        "very poor/very bad, poor/bad, fair/average, good, very good, excellent",
        "very dissatisfied, dissatisfied, neutral/neither/neither satisfied nor dissatisfied, "
        "satisfied, very satisfied",
        "very unlikely, unlikely, neutral/neither/neither likely nor unlikely, likely, very likely",
        "not at all/not, a little/slightly, somewhat/moderately/fairly, quite/quite a bit, "
        "very/very much, extremely",
        "not at all important/not important/unimportant, slightly important/of little importance, "
        "somewhat important/moderately important/important, very important, extremely important",
        "beginner, intermediate, advanced, expert",
        "cold, cool, warm, hot",
        "niedrig/gering, mittel, hoch",
        "klein, mittel, groß/gross",
        "nie, selten, manchmal, oft/häufig, immer",
        "trifft gar nicht zu/trifft überhaupt nicht zu, trifft nicht zu, trifft eher nicht zu, "
        "teils teils/teils-teils/teils/weder noch, trifft eher zu, trifft zu, "
        "trifft voll zu/trifft voll und ganz zu",
        "sehr unzufrieden, unzufrieden, teils teils/teils-teils/neutral, zufrieden, sehr zufrieden",
        "sehr schlecht, schlecht, mittel/mittelmäßig, gut, sehr gut",
    )
]
# Beside numbers: words that count up or measure ("site 2", "type 2" and "H3N2" are names), signs of
# ranges that are open below or above, and what else may stand there.
COUNTING, BELOW, ABOVE, BESIDE = (
    set(line.split())
    for line in (
        "grade stage level score degree tier rank step visit quartile year years yrs months weeks "
        "days hours minutes km m cm mm kg g mg k grad jahre",
        "< ≤ under below less unter",
        "> ≥ + over above more über",
        "- \u2013 to bis and than or st nd rd th $ € £ %",
    )
)
NUMERALS = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x")
NUMBER = re.compile(r"\d+(?:\.\d+)?")


def find_order(words: Sequence[str]) -> list[str] | None:
    """Return words from low to high, without "don't know"; None unless their order is obvious."""
    words = [word for word in words if is_answer(word)]
    small = [" ".join(word.lower().split()) for word in words]
    places: list[tuple[float, float]] = []
    for steps in SCALES:
        found = [k for word in small for k, step in enumerate(steps) if word in step]
        places = [(k, k) for k in found] if len(found) == len(words) else places
    places = places or _intervals(small)
    # "5-10" and "10-15" follow one another, "2-1" and "1-2" do not
    if not places or any(a[1] > b[0] or a == b for a, b in pairwise(sorted(places))):
        return None
    return [word for _, word in sorted(zip(places, words, strict=True))]


def join_orders(orders: Sequence[list[str]]) -> list[list[str]]:
    """Return orders without those that are parts of others, or of what several make together."""
    joined: list[list[str]] = []
    for order in orders:
        for k, other in enumerate(joined):
            both = find_order(list(dict.fromkeys([*other, *order])))
            if both is not None:
                joined[k] = both
                break
        else:
            joined.append(order)
    return joined


def _intervals(words: list[str]) -> list[tuple[float, float]]:
    """Return the numbers or ranges ("<18", "18-29", "65+") in words that are otherwise alike."""
    parts = [re.findall(r"\d+(?:\.\d+)?|[^\W\d_]+|\S", word) for word in words]
    if any("ii" in own for own in parts):  # "v" and "x" alone are letters
        parts = [[str(NUMERALS.index(p) + 1) if p in NUMERALS else p for p in own] for own in parts]
    numbers = [[float(part) for part in own if NUMBER.fullmatch(part)] for own in parts]
    beside = [{part for part in own if not NUMBER.fullmatch(part)} for own in parts]
    named = {frozenset(own - BELOW - ABOVE - BESIDE) for own in beside}
    if len(named) > 1 or not {*named.pop()} <= COUNTING or not {*map(len, numbers)} <= {1, 2}:
        return []
    infinite = float("inf")
    return [
        (-infinite if own & BELOW else min(n), infinite if own & ABOVE else max(n))
        for n, own in zip(numbers, beside, strict=True)
    ]
