"""Jitted functions that are evaluated: for tests whose subject is the traced program, not its lowering.

A compile costs half a second, the evaluator a millisecond. `conftest.py` of a folder imports the fixture;
`make test-all` compiles there too, and `make test` what a test with `compiled` in its name, or in that of
its file, jits.
"""

from __future__ import annotations

import pytest

from adze.frontend.staging.first_call import Pending


@pytest.fixture(autouse=True)
def jitted_functions_are_evaluated(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, thorough: bool
) -> None:
    """Calls of jitted functions are evaluated, as first calls are with ADZE_FIRST_CALL=evaluate."""
    if not thorough and "compiled" not in request.node.nodeid:
        evaluate_jitted(monkeypatch)


def evaluate_jitted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Evaluate the calls of jitted functions as long as the patch lasts."""

    def only_wait(self: Pending, lock: object, pending: dict, entries: dict, signature: object) -> None:  # type: ignore[type-arg]
        pending[signature] = self

    monkeypatch.setenv("ADZE_FIRST_CALL", "evaluate")
    monkeypatch.setattr(Pending, "start", only_wait)
