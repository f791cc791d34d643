import copy

import pytest

from featsieve.report.selection.words import answer, summary_sentences
from tests.report.selection.cases import CLEAR, GRADIENT, NOTHING, automatic, stable


def words(summary, **parts):
    summary = copy.deepcopy(summary)
    for part, values in parts.items():
        summary[part] |= values
    return " ".join(summary_sentences(summary))


def test_the_answer_is_verdict_numbers_and_names():
    summary = copy.deepcopy(automatic()[1]) | {"selected": ["age", "height"]}
    assert answer(summary) == [
        "The samples form clusters (p = 0.05, the least that 19 copies can show).",
        "JASFS selected 2 of 40 features for 3 clusters of 60 samples: age and height.",
    ]
    for found, verdict in (
        (GRADIENT, "The samples form a gradient, not clusters (p = 0.4 for clusters)."),
        (NOTHING, "The table shows nothing that chance would not give (p = 0.45)."),
    ):
        told = summary | {"structure": found.summary()}
        put = "JASFS selected 2 of 40 features of 60 samples, which were put into 3 clusters anyway"
        assert answer(told) == [verdict, f"{put}: age and height."]
        assert "put into 3 clusters, as many as were asked for; nothing says that" in words(told)
    assert "too small" in answer(summary | {"structure": None})[0]
    summary["clusters"]["source"] = "k-means"
    assert answer(summary)[1] == "JASFS selected 2 of 40 features of 60 samples: age and height."
    names = [f"x{j}" for j in range(9)]
    many = answer(summary | {"selected": names})
    assert many[1].endswith(" of 60 samples: x0, x1, x2, x3, x4 and 4 more.")


def test_features_that_go_with_the_clusters_are_named_where_others_are_selected():
    summary = copy.deepcopy(automatic()[1])
    rows, count = summary["features"], summary["number"]["selected"]
    names, short = rows["name"], " with the clusters at q ≤ 0.05"
    rows["q_value"] = [0.01] * (count + 1) + [0.5] * (len(names) - count - 1)
    summary["number"]["significant"] = count + 1
    said = f"{count + 1} features go{short}; {names[count]} is not selected."
    assert answer(summary)[2:] == [said]
    more = f"{count} suffice to show the clusters. --features significant selects them. Of"
    assert f"{said} {more}" in words(summary)
    rows["q_value"] = [0.01] * len(names)
    summary["number"]["significant"] = len(names)
    first = ", ".join(names[count : count + 5])
    more = f"; {first} and {len(names) - count - 5} more are not selected."
    assert answer(summary)[2].endswith(more)
    rows["q_value"] = [0.01] * count + [0.5] * (len(names) - count)  # exactly the selected ones
    summary["number"]["significant"] = count
    assert len(answer(summary)) == 2
    assert f"{count} features go{short}. {count} suffice" in words(summary)
    rows["q_value"] = [0.5] * (len(names) - 1) + [0.01]  # one, and not selected
    summary["number"]["significant"] = 1
    assert answer(summary)[2] == f"1 feature goes{short}; {names[-1]} is not selected."
    assert "--features significant selects it." in words(summary)


def test_selected_features_that_chance_explains_are_named():
    summary = copy.deepcopy(automatic()[1])
    rows, count = summary["features"], summary["number"]["selected"]
    rows["q_value"] = [0.01] * (count - 1) + [0.5] * (len(rows["name"]) - count + 1)
    summary["number"]["significant"] = count - 1
    last = rows["name"][count - 1]
    assert f"Selected, but not told from chance one by one: {last}. Of features" in words(summary)
    # where there are no groups, nothing is advised
    text = words(summary | {"structure": GRADIENT.summary()})
    assert "with these parts at q ≤ 0.05" in text
    assert "--features" not in text
    assert "one by one" not in text


def test_the_number_of_clusters_that_comes_next():
    summary = copy.deepcopy(automatic()[1])
    found = {"number": "found", "plausible": [2, 6], "runner_up": 4, "agreed": True}
    assert "(anything from 2 to 6 is plausible; 4 comes next)" in words(summary, clusters=found)
    found["runner_up"] = None
    assert "(anything from 2 to 6 is plausible). Clustered" in words(summary, clusters=found)
    found["agreed"] = False
    text = words(summary, clusters=found)
    assert "for want of a better number: clusterings agree on none. Clustered" in text


def test_an_automatic_choice_in_words():
    sieve, summary = automatic()
    text = words(summary)
    low, high = sieve.equivalent_range_
    count = sieve.n_features_selected_
    assert text.startswith(f"Of 40 features of 60 samples, JASFS selected {count}, without using")
    assert "modularity" in text
    assert f"by the noise of these values, {low} to {high} may do as well" in text
    assert f"{count} is the smallest number whose value is within 0.01 of the best" in text
    assert "3 clusters, as many as were asked for. Clustered in other ways, a sample stays" in text
    assert CLEAR.sentence in text
    assert "The samples fall into 3 clusters" in text
    assert "The samples were put into 3 clusters" in words(summary, structure=NOTHING.summary())


def test_stability_in_words():
    sieve, summary = stable()
    text = words(summary, table={"file": "genes.csv"})
    assert "in genes.csv, StabilitySelection with JASFS selected" in text
    assert "at least 60% of the subsamples" in text
    assert f"On 5 subsamples of the rows the selections agree by {sieve.stability_:.2f}" in text


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        ({"how": "count", "asked": 7}, "The number, 7, was asked for."),
        ({"how": "share", "asked": 0.1}, "as 0.1 of all features"),
        (
            {"how": "significant", "significant": 9},
            "All were kept that go with the clusters by their q-values. 9 features go with the "
            "clusters at q ≤ 0.05",
        ),
        ({"how": "count", "asked": 7, "significant": 1}, "1 feature goes with the clusters"),
        ({"how": "price", "asked": 0.002}, "by at least 0.002"),
        ({"how": "criterion", "equivalent": [5, 5]}, "no other number does as well"),
        (
            {"how": "criterion", "selected": 50, "equivalent": [20, 400]},
            "50 is the smallest number whose value is within 0.01 of the best; by the noise of "
            "these values, 20 to 400 may do as well.",
        ),
    ],
)
def test_how_the_number_was_chosen(number, expected):
    assert expected in words(automatic()[1], number=number)
