"""Each rule that `tests/mutation.py` breaks is noticed by a selected test."""

from __future__ import annotations

import pytest

from .mutation import mutations, noticed_by

NAMES = [each.name for each in mutations()]


def test_twenty_rules_of_all_kinds_are_broken() -> None:
    assert len(NAMES) == len(set(NAMES)) >= 20
    rules = {name.rpartition(".")[2] for name in NAMES}
    assert rules >= {"infer", "evaluate", "jvp", "transpose", "batch", "lower", "simplify"}


@pytest.mark.thorough
@pytest.mark.parametrize("name", NAMES)
def test_a_broken_rule_is_noticed(name: str) -> None:
    assert noticed_by(name) is not None
