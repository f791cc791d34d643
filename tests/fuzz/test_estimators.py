"""Every selector and meta-estimator keeps its word on any table."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.contract import check
from tests.fuzz.estimators import META_ESTIMATORS, SELECTORS, meta_estimators, selectors
from tests.fuzz.tables import recipes

SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in META_ESTIMATORS]


@pytest.mark.parametrize("name", [*SELECTORS, *SLOW])
@settings(settings.get_profile("fuzz"))
@given(data=st.data(), recipe=recipes(), used_before=st.booleans())
def test_any_table_is_fitted_or_refused(name, data, recipe, used_before):
    shape = recipe.n_samples, recipe.n_features
    drawn = meta_estimators if name in META_ESTIMATORS else selectors
    check(data.draw(drawn(name, shape)), recipe, used_before=used_before)
