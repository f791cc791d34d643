"""Steps of a job."""

from featsieve.workflow.progress import Steps


def test_steps_are_counted():
    told = []
    steps = Steps(5, lambda *step: told.append(step))
    steps.next("one")
    steps.next("two")
    steps.skip(2)
    steps.next("five")
    steps.end()
    assert told == [("one", 0, 5), ("two", 1, 5), ("five", 4, 5), ("done", 5, 5)]


def test_nobody_needs_to_listen():
    steps = Steps(1, None)
    steps.next("one")
    steps.end()
