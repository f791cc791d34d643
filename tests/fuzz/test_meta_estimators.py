"""Every meta-estimator keeps its word on any table."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.contract import check
from tests.fuzz.estimators import META_ESTIMATORS, meta_estimators
from tests.fuzz.tables import recipes


@pytest.mark.parametrize("name", META_ESTIMATORS)
@settings(settings.get_profile("fuzz"))
@given(data=st.data(), recipe=recipes(), used_before=st.booleans())
def test_any_table_is_fitted_or_refused(name, data, recipe, used_before):
    estimator = data.draw(meta_estimators(name, (recipe.n_samples, recipe.n_features)))
    check(estimator, recipe, used_before=used_before)
