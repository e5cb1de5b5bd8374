"""Programs here are compiled: a kernel factors a matrix sooner than the evaluator walks the steps."""

import pytest


@pytest.fixture(autouse=True)
def jitted_functions_are_evaluated() -> None:
    """Not here."""
