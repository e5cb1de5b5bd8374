"""The table of JAX's public names: what it says adze has is there, and it is what its script writes."""

from __future__ import annotations

import importlib
import re
from typing import Final

import pytest

from ..jax_names import TABLE, ours_of, present_in, table

LEAST: Final = 1520
"""Names that adze has; the number only grows."""


def test_every_name_that_the_table_has_is_in_adze() -> None:
    names = present_in(TABLE.read_text())
    assert len(names) >= LEAST
    missing = [f"{module}.{name}" for module, name in sorted(names) if not hasattr(ours_of(module), name)]
    assert missing == []


def test_every_absence_has_a_reason() -> None:
    absences = [line for line in TABLE.read_text().splitlines() if line.startswith("- ")]
    assert [line for line in absences if not re.fullmatch(r"- \S+: \S.*", line)] == []


@pytest.mark.oracle
@pytest.mark.thorough
def test_the_table_is_what_the_script_writes() -> None:
    importlib.import_module("jax")
    assert TABLE.read_text() == table(), "run python -m tests.jax_names"
