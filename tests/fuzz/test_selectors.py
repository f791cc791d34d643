"""Every selector keeps its word on any table."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.contract import check
from tests.fuzz.estimators import SELECTORS, selectors
from tests.fuzz.tables import recipes


@pytest.mark.parametrize("name", SELECTORS)
@settings(settings.get_profile("fuzz"))
@given(data=st.data(), recipe=recipes(), used_before=st.booleans())
def test_any_table_is_fitted_or_refused(name, data, recipe, used_before):
    estimator = data.draw(selectors(name, (recipe.n_samples, recipe.n_features)))
    check(estimator, recipe, used_before=used_before)
