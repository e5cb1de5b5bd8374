"""The committed polynomial tables are the ones that the fitting script computes."""

import numpy as np

from adze.passes.lower.scalars import coefficients

from .fit_coefficients import tables


def test_tables_are_what_the_fit_gives() -> None:
    fitted = tables()
    for name, _, single, double in fitted:
        table = getattr(coefficients, name)
        np.testing.assert_allclose(table[32], [float(c) for c in single], rtol=1e-9, err_msg=name)
        # The fit solves with LAPACK, whose last digits differ between processors (2e-13 seen).
        np.testing.assert_allclose(table.get(64, ()), [float(c) for c in double], rtol=1e-11, err_msg=name)
    assert {name for name, *_ in fitted} == {name for name in vars(coefficients) if name.isupper()}
