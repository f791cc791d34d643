import pytest

from featsieve.workflow.constraints import count_or_budget, read_costs, read_groups, split_names


def written(folder, text):
    path = folder / "given.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_files(tmp_path):
    groups = written(tmp_path, "\ufeffgroup,feature\nA,a\nA, b\n\nB,c\n,d\n")
    assert read_groups(groups) == {"A": ["a", "b"], "B": ["c"]}
    prices = {"a": 2.0, "b": 0.5}
    assert read_costs(written(tmp_path, "feature,price\na,2\nb,0.5\n")) == prices
    assert read_costs(written(tmp_path, "feature;price\na;2\nb;0,5\n")) == prices
    assert read_groups(written(tmp_path, "feature;group\na;A\nb;A\n")) == {"A": ["a", "b"]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("feature,prize\na,2\n", "no column 'price' .did you mean 'prize'"),
        ("feature,price\na,cheap\n", "price of 'a' is no number: 'cheap'"),
        ("feature,price\na,1\na,2\n", "'a' has two prices"),
        ("feature,price\na,2\nf0,\n", "line 3: the price of 'f0' is missing"),
        ("feature,price\na,1_2\n", "line 2: the price of 'a' is no number: '1_2'"),
        ('feature,price\na,"1,234"\n', "is no number: '1,234'"),
        ("feature,price\na\n", "the line 'a' has too few cells"),
        ("", "feature,price"),
    ],
)
def test_mistakes_in_files(text, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        read_costs(written(tmp_path, text))


def test_names_and_budgets(tmp_path):
    assert split_names(["a, b", "c,"]) == ["a", "b", "c"]
    assert split_names(None) is None
    (tmp_path / "genes, mine.txt").write_text("\ufeffa\n b c\n\nd,e\n", encoding="utf-8")
    assert split_names([f"@{tmp_path}/genes, mine.txt", "f"]) == ["a", "b c", "d,e", "f"]
    assert count_or_budget(5, None) == 5
    assert count_or_budget("auto", 3.0) is None
    with pytest.raises(ValueError, match=r"out \(n_genes or budget; .* --genes or"):
        count_or_budget(5, 3.0, what="gene")
