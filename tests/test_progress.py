import inspect
import re
import warnings

import numpy as np
import pytest

import featsieve
from featsieve.progress import SILENT, FitProgress, format_seconds


def takes(name, parameter):
    return parameter in inspect.signature(getattr(featsieve, name)).parameters


ITERATING = ("JASFS", "NDFS", "SOGFS", "UGFS", "URAFS")
ITERATION = re.compile(r"\[\w+\] (?:orthogonality=\d+, )?iteration (\d+): objective (\S+?),? .*s\)")


class Clock:
    """Seconds that pass when the test says so."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def make(name, **settings):
    quick = {"n_clusters": 3, "n_features_to_select": 8, "max_iter": 6, "random_state": 0}
    quick |= settings
    return getattr(featsieve, name)(**{k: v for k, v in quick.items() if takes(name, k)})


def quiet_fit(selector, X):
    """Fit without warnings of the few iterations, which are not what is tested here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return selector.fit(X)


# The object ---------------------------------------------------------------------------------------


def test_lines_that_repeat_are_a_second_apart_and_the_last_is_printed(capsys):
    clock = Clock()
    progress = FitProgress("Sieve", 1, max_iter=100, clock=clock)
    report = progress.watch()
    for iteration in range(1, 12):
        clock.now += 0.25
        report(iteration, 1.0 / iteration, None)
    progress.step("ranking")
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == [
        "[Sieve] iteration 1",
        "[Sieve] iteration 5",
        "[Sieve] iteration 9",
        "[Sieve] iteration 11",
        "[Sieve] ranking",
    ]
    assert lines[0].endswith("objective 1 (0.25 s)")
    # 95 iterations are left after the fifth, at 0.25 s each
    assert lines[1].endswith("objective 0.2, relative change 2.0e-01 (1.2 s, at most 24 s more)")


def test_silence_is_silent_and_hands_the_callback_on(capsys):
    def callback(iteration, objective, state):
        return True

    assert SILENT.watch(callback) is callback
    assert SILENT.watch() is None
    SILENT.step("a step")
    SILENT.tick("a line", first=True)
    assert list(SILENT.counted("abc", 3, what="letters")) == ["a", "b", "c"]
    assert capsys.readouterr() == ("", "")


def test_counting_says_about_how_long(capsys):
    clock = Clock()

    def slow():
        for item in range(5):
            clock.now += 2.0
            yield item

    progress = FitProgress("Sieve", 1, clock=clock)
    assert list(progress.counted(slow(), 5, what="fits")) == [0, 1, 2, 3, 4]
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "[Sieve] 1 of 5 fits (2.0 s, about 8.0 s more)"
    assert lines[-1] == "[Sieve] 5 of 5 fits (10 s)"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0.00 s"), (0.994, "0.99 s"), (0.996, "1.0 s"), (9.94, "9.9 s"), (9.96, "10 s"),
        (59.4, "59 s"), (59.6, "1 min 0 s"), (3599.4, "59 min 59 s"), (3599.6, "1 h 0 min"),
    ],
)  # fmt: skip
def test_times_never_read_as_sixty_of_something(seconds, text):
    assert format_seconds(seconds) == text


# The estimators -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ITERATING)
def test_every_iteration_is_printed_and_nothing_else_changes(name, small_planted, capsys):
    X = small_planted.X
    silent = quiet_fit(make(name), X)
    assert capsys.readouterr() == ("", "")
    seen = []
    selector = make(name, verbose=2, callback=lambda *given: seen.append(given[:2]))
    loud = quiet_fit(selector, X)
    out, err = capsys.readouterr()
    assert err == ""
    lines = out.splitlines()
    assert all(line.startswith(f"[{name}] ") for line in lines)
    found = [match.groups() for line in lines if (match := ITERATION.fullmatch(line))]
    last_run = found[-loud.n_iter_ :]
    assert [int(iteration) for iteration, _ in last_run] == list(range(1, loud.n_iter_ + 1))
    np.testing.assert_allclose([float(value) for _, value in last_run], loud.objective_, rtol=1e-6)
    assert [iteration for iteration, _ in seen] == list(range(1, loud.n_iter_ + 1))
    assert not ITERATION.fullmatch(lines[0])  # what comes before the iterations is announced
    assert lines[-1].startswith(f"[{name}] selected 8 of 60 features in ")
    assert lines[-1].endswith(f"{loud.n_iter_} iterations: {loud.status_.value}")
    np.testing.assert_array_equal(loud.scores_, silent.scores_)
    assert vars(loud).keys() == vars(silent).keys()


def test_bad_verbose_is_refused(small_planted):
    with pytest.raises(TypeError, match="verbose must be 0"):
        make("NDFS", verbose="yes").fit(small_planted.X)
    with pytest.raises(ValueError, match="verbose must be 0"):
        make("NDFS", verbose=-1).fit(small_planted.X)


# Estimators around them ---------------------------------------------------------------------------
