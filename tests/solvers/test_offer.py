"""Constrained forward selection against brute force on tiny tables."""

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.arrays import as_operator
from featsieve.constraints import make_offer
from featsieve.solvers import ForwardSelection, RowSparseRegression, certify, run

N, D, C = 14, 7, 2


def problem_of(seed: int, *, k=None, sparsity=0.0, sparse=False, **constraints):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, D))
    Y = X[:, :3] @ rng.standard_normal((3, C)) + 0.5 * rng.standard_normal((N, C))
    table = sp.csr_array(X) if sparse else X
    return RowSparseRegression(
        as_operator(table, scale="unit"),
        Y - Y.mean(axis=0),
        ridge=0.3,
        sparsity=sparsity,
        n_features=k,
        offer=make_offer(D, [f"c{j}" for j in range(D)], **constraints),
    )


def loss(problem, columns) -> float:
    """Return the loss by an ordinary ridge regression, without any of our solvers."""
    Z = problem.operator.columns(np.array(sorted(columns), dtype=np.intp))
    W = np.linalg.solve(Z.T @ Z + problem.ridge * np.eye(Z.shape[1]), Z.T @ problem.target)
    residual = problem.target - Z @ W
    return 0.5 * float((residual**2).sum() + problem.ridge * (W**2).sum())


def all_selections(offer, k):
    """Yield every selection that the offer allows."""
    free = [u for u in range(offer.n_units) if u not in offer.kept]
    for size in range(len(free) + 1):
        for extra in combinations(free, size):
            units = [*offer.kept, *extra]
            if k is not None and len(units) > k:
                continue
            if offer.budget is not None and offer.price[units].sum() > offer.budget + 1e-9:
                continue
            yield np.concatenate([offer.members[u] for u in units]) if units else np.zeros(0, int)


CASES = {
    "kept": {"keep": ["c6", "c5"], "k": 4},
    "left out": {"exclude": [0, 1], "k": 3},
    "groups": {"groups": {"a": ["c0", "c4"], "b": ["c1", "c5", "c6"]}, "k": 3},
    "budget": {"costs": [3.0, 1.0, 2.5, 1.0, 0.5, 0.7, 1.0], "budget": 4.0},
    "all": {
        "keep": ["c6"],
        "exclude": ["c2"],
        "groups": [None, "a", None, "a", None, None, None],
        "costs": {"a": 1.7, "c0": 2.0},
        "budget": 4.0,
    },
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("seed", range(4))
def test_every_step_is_the_best_one(name, seed):
    problem = problem_of(seed, **CASES[name])
    offer, solver = problem.offer, ForwardSelection()
    state = solver.init(problem)
    assert sorted(state.order) == sorted(offer.kept_columns)
    while solver.terminate(problem, state, []) is None:
        have, spent = list(state.order), offer.cost(np.array(state.order, dtype=int))
        bought = set(offer.unit[have].tolist())
        left = np.inf if offer.budget is None else offer.budget - spent
        gains = {
            unit: (loss(problem, have) if have else 0.5 * problem.energy())
            - loss(problem, [*have, *offer.members[unit]])
            for unit in range(offer.n_units)
            if unit not in bought and offer.price[unit] <= left + 1e-9
        }
        best = max(gains, key=lambda unit: gains[unit] / offer.price[unit])
        state = solver.step(problem, state)
        assert set(state.order) - set(have) == set(offer.members[best].tolist())
        assert state.half_gains[-1] == pytest.approx(gains[best] / offer.price[best])
        assert state.loss[-1] == pytest.approx(loss(problem, state.order))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("seed", range(4))
def test_certificate_bounds_every_selection(name, seed):
    problem = problem_of(seed, **CASES[name])
    state = run(ForwardSelection(), problem, max_iter=problem.limit).state
    found = certify(problem, np.array(state.order))
    values = [
        loss(problem, one) if len(one) else 0.5 * problem.energy()
        for one in all_selections(problem.offer, problem.n_features)
    ]
    assert found.value == pytest.approx(loss(problem, state.order))
    assert found.lower_bound <= min(values) + 1e-9
    assert min(values) <= found.value + 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_prices_and_sparsity(seed):
    costs = [3.0, 1.0, 2.5, 1.0, 0.5, 0.7, 1.0]
    problem = problem_of(seed, sparsity=0.2, costs=costs)
    state = run(ForwardSelection(), problem, max_iter=problem.limit).state
    support = np.array(state.order)
    assert min(state.half_gains) >= 0.2
    assert problem.value(support) == pytest.approx(
        loss(problem, support) + 0.2 * sum(costs[j] for j in support)
    )


def test_sparse_tables_and_torch_agree():
    torch = pytest.importorskip("torch")
    expected = run(ForwardSelection(), problem := problem_of(0, **CASES["all"]), max_iter=9).state
    some = run(ForwardSelection(), problem_of(0, sparse=True, **CASES["all"]), max_iter=9).state
    assert some.order == expected.order
    X = problem.operator.columns(np.arange(D))
    moved = RowSparseRegression(
        as_operator(torch.asarray(X), scale="none"),
        torch.asarray(problem.target),
        ridge=problem.ridge,
        offer=problem.offer,
    )
    assert run(ForwardSelection(), moved, max_iter=9).state.order == expected.order


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_arranged_orders_respect_the_offer(data):
    d = data.draw(st.integers(1, 9))
    labels = data.draw(st.lists(st.sampled_from([None, "a", "b"]), min_size=d, max_size=d))
    keep = data.draw(st.lists(st.booleans(), min_size=d, max_size=d))
    price = data.draw(st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=d, max_size=d))
    whole = make_offer(d, keep=np.array(keep), groups=labels, costs=price)
    budget = whole.cost(whole.kept_columns) + data.draw(st.sampled_from([3.0, 9.0]))
    budget = max(budget, float(whole.price.min()))
    offer = make_offer(d, keep=np.array(keep), groups=labels, costs=price, budget=budget)
    order = np.array(data.draw(st.permutations(range(d))))
    arranged, n = offer.arranged(order, None)
    assert sorted(arranged) == list(range(d))
    bought = arranged[:n]
    assert offer.cost(bought) <= budget + 1e-6
    assert set(offer.kept_columns) <= set(bought)
    assert all(set(m) <= set(bought) or not set(m) & set(bought) for m in offer.members)
    rest = budget - offer.cost(bought)
    others = set(range(offer.n_units)) - set(offer.unit[bought].tolist())
    assert all(offer.price[u] > rest - 1e-6 for u in others)  # nothing more could be paid
    again, m = offer.arranged(arranged, offer.count(bought))
    assert np.array_equal(again, arranged)
    assert m == n
