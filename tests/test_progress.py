import re
import warnings

import numpy as np
import pytest

from featsieve.progress import SILENT, FitProgress, format_seconds
from tests.array_library_checks import quick

ITERATING = ("JASFS", "NDFS", "SOGFS", "UGFS", "URAFS")
ITERATION = re.compile(r"\[\w+\] (?:orthogonality=\d+, )?iteration (\d+): objective (\S+?),? .*s\)")


def quiet_fit(selector, X):
    """Fit without warnings of the few iterations, which are not what is tested here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return selector.fit(X)


# The object ---------------------------------------------------------------------------------------


def test_lines_that_repeat_are_a_second_apart(capsys, monkeypatch):
    now = 0.0
    monkeypatch.setattr("featsieve.progress.time.perf_counter", lambda: now)
    report = FitProgress("Sieve", 1).watch()
    for iteration in range(1, 12):
        now += 0.25
        report(iteration, 1.0 / iteration, None)
    assert capsys.readouterr().out.splitlines() == [
        "[Sieve] iteration 1: objective 1 (0.25 s)",
        "[Sieve] iteration 5: objective 0.2, relative change 2.0e-01 (1.2 s)",
        "[Sieve] iteration 9: objective 0.11111111, relative change 1.1e-01 (2.2 s)",
    ]


def test_silence_is_silent_and_hands_the_callback_on(capsys):
    def callback(iteration, objective, state):
        return True

    assert SILENT.watch(callback) is callback
    assert SILENT.watch() is None
    SILENT.step("a step")
    SILENT.tick("a line", first=True)
    assert list(SILENT.counted("abc", 3, what="letters")) == ["a", "b", "c"]
    assert capsys.readouterr() == ("", "")


def test_counting(capsys):
    progress = FitProgress("Sieve", 2)
    assert list(progress.counted("abc", 3, what="fits")) == ["a", "b", "c"]
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" (")[0] for line in lines] == [f"[Sieve] {i} of 3 fits" for i in (1, 2, 3)]


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
    silent = quiet_fit(quick(name, max_iter=6), X)
    assert capsys.readouterr() == ("", "")
    seen = []
    selector = quick(name, max_iter=6, verbose=2, callback=lambda *given: seen.append(given[:2]))
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
    plural = "" if loud.n_iter_ == 1 else "s"  # labels of JASFS do not move
    assert lines[-1].endswith(f"{loud.n_iter_} iteration{plural}: {loud.status_.value}")
    np.testing.assert_array_equal(loud.scores_, silent.scores_)
    assert vars(loud).keys() == vars(silent).keys()


def test_bad_verbose_is_refused(small_planted):
    with pytest.raises(ValueError, match="verbose must be 0"):
        quick("NDFS", verbose="yes").fit(small_planted.X)
    with pytest.raises(ValueError, match="verbose must be 0"):
        quick("NDFS", verbose=-1).fit(small_planted.X)
