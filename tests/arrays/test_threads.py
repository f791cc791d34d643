"""Tasks: at once, or one after another."""

from threading import current_thread

import pytest

from featsieve.arrays.threads import n_threads, run_all


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_the_tasks_of_a_device_follow_each_other_in_this_thread(n_jobs):
    seen = []

    def task(number):
        seen.append((number, n_threads()))
        return current_thread()

    tasks = [lambda number=number: task(number) for number in range(4)]
    assert set(run_all(tasks, n_jobs=n_jobs, on_host=False)) == {current_thread()}
    assert seen == [(number, 1) for number in range(4)]
    elsewhere = set(run_all(tasks, n_jobs=n_jobs))
    assert (elsewhere == {current_thread()}) is (n_jobs == 1)
