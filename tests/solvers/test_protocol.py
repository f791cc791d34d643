"""The driver loop, on a solver that walks along a list of objective values."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.solvers import Status, run

fast = settings(max_examples=30, deadline=None)
values = st.lists(st.floats(-10, 10), min_size=1, max_size=12)


class Walk:
    """The state is a position in the list; the walk is done at its end."""

    def init(self, problem):
        return 0

    def step(self, problem, state):
        return state + 1

    def objective(self, problem, state):
        return problem[state]

    def terminate(self, problem, state, history):
        return Status.CONVERGED if state == len(problem) - 1 else None


@fast
@given(values)
def test_history_holds_the_start_and_every_step(walk):
    solution = run(Walk(), walk, max_iter=100)
    assert solution.objective == tuple(walk)
    assert solution.n_iter == solution.state == len(walk) - 1
    assert solution.status is Status.CONVERGED


@pytest.mark.parametrize("max_iter", [0, 1, 3])
def test_max_iter_limits_the_number_of_steps(max_iter):
    solution = run(Walk(), [5.0, 4.0, 3.0, 2.0, 1.0], max_iter=max_iter)
    assert solution.n_iter == solution.state == max_iter
    assert len(solution.objective) == max_iter + 1
    assert solution.status is Status.ITERATION_LIMIT


def test_the_callback_sees_every_step_and_none_where_the_start_meets_the_stopping_rule():
    calls = []
    solution = run(Walk(), [7.0], max_iter=5, callback=lambda *call: calls.append(call))
    assert (solution.state, solution.objective, solution.n_iter) == (0, (7.0,), 0)
    assert calls == []
    run(Walk(), [3.0, 2.0, 1.0], max_iter=5, callback=lambda *call: calls.append(call))
    assert calls == [(1, 2.0, 1), (2, 1.0, 2)]


def test_true_value_of_the_callback_stops_the_run():
    solution = run(Walk(), [4.0, 3.0, 2.0, 1.0], max_iter=9, callback=lambda i, *_: i == 2)
    assert solution.status is Status.STOPPED
    assert (solution.state, solution.objective) == (2, (4.0, 3.0, 2.0))


def test_callback_that_stops_a_run_that_has_just_converged_does_not_hide_it():
    solution = run(Walk(), [2.0, 1.0], max_iter=9, callback=lambda *_: True)
    assert solution.status is Status.CONVERGED


@fast
@given(values, st.integers(0, 12))
def test_run_resumed_from_a_state_equals_one_run(walk, cut):
    whole = run(Walk(), walk, max_iter=100)
    first = run(Walk(), walk, max_iter=cut)
    second = run(Walk(), walk, max_iter=100, state=first.state)
    assert first.objective + second.objective[1:] == whole.objective
    assert first.n_iter + second.n_iter == whole.n_iter
    assert second.state == whole.state


@pytest.mark.parametrize("max_iter", [1, 2, 10])
def test_a_start_that_counts_is_the_first_iteration(max_iter):
    seen = []
    walk = [5.0, 4.0, 3.0, 2.0]
    solution = run(
        Walk(),
        walk,
        max_iter=max_iter,
        count_start=True,
        callback=lambda *call: seen.append(call),
    )
    n_iter = min(max_iter, 4)
    assert seen == [(i + 1, walk[i], i) for i in range(n_iter)]
    assert solution.n_iter == n_iter
    assert solution.objective == tuple(walk[:n_iter])
    done = Status.CONVERGED if max_iter >= 4 else Status.ITERATION_LIMIT
    assert solution.status is done


def test_the_callback_may_stop_at_a_start_that_counts():
    def stop(*call):
        return True

    solution = run(Walk(), [2.0, 1.0], max_iter=9, count_start=True, callback=stop)
    assert (solution.status, solution.n_iter, solution.state) == (Status.STOPPED, 1, 0)
    # but what has ended by itself has not been stopped
    solution = run(Walk(), [2.0], max_iter=9, count_start=True, callback=stop)
    assert solution.status is Status.CONVERGED


@pytest.mark.parametrize("status", Status)
def test_a_status_is_stored_as_a_call_that_gives_it_back(status):
    function, arguments = status.__reduce__()
    assert function(*arguments) is status
