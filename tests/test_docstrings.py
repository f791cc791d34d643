"""Entries of docstrings that estimators share."""

import inspect

import pytest

import featsieve
from featsieve.docstrings import fill_doc


def test_entries_are_indented_and_show_the_default_of_the_signature():
    @fill_doc
    def fitted(X, *, tol=1e-5, scale="none"):
        """Fit.

        Parameters
        ----------
        %(scale, tol)s
            (Published: 0.1.)
        """

    lines = inspect.getdoc(fitted).splitlines()
    assert lines[4] == 'scale : {"unit", "none", "raw", "sqrt"}, default="none"'
    assert lines[7] == "tol : float, default=1e-5"
    assert lines[8] == "    Relative change of the objective that ends them."
    assert lines[9] == "    (Published: 0.1.)"


def test_an_unknown_entry_is_an_error():
    def fit():
        """%(nothing)s"""

    with pytest.raises(KeyError, match="nothing"):
        fill_doc(fit)


@pytest.mark.parametrize("name", featsieve.__all__)
def test_no_placeholder_is_left(name):
    assert ")s\n" not in (inspect.getdoc(getattr(featsieve, name)) or "")
