"""The code for NVIDIA GPUs gets no worse: thirty programs, counted, and assembled where ptxas is."""

from __future__ import annotations

import pytest

from adze.runtime.measure.ptxas import ABSENT, ptxas

from .programs import PROGRAMS, QUICK
from .table import ARCHITECTURES, assembled_row, counts_of, module_of, read_table, worse_code, worse_counts

pytestmark = pytest.mark.gpu

HINT = "python -m tests.gpu.refresh writes the table again"


def test_the_table_has_every_program() -> None:
    assert list(read_table()) == list(PROGRAMS), HINT


def test_no_program_spills() -> None:
    rows = read_table().items()
    assert [name for name, row in rows for a in ARCHITECTURES if row[a]["spilled_bytes"]] == []


@pytest.mark.parametrize("name", QUICK)
def test_the_ptx_of_a_program_is_no_worse(name: str) -> None:
    assert not worse_counts(read_table()[name], counts_of(module_of(PROGRAMS[name]))), HINT


@pytest.mark.thorough
@pytest.mark.skipif(ptxas() is None, reason=ABSENT)
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_code_of_a_program_is_no_worse(name: str) -> None:
    row, module = read_table()[name], module_of(PROGRAMS[name])
    worse = [*worse_counts(row, counts_of(module)), *worse_code(row, assembled_row(module))]
    assert not worse, f"{worse}; {HINT}"


def test_worse_code_is_noticed() -> None:
    row = read_table()["product_f16"]
    counts = {name: value for name, value in row.items() if isinstance(value, int)}
    assert not worse_counts(row, counts)
    assert worse_counts(row, {**counts, "matrix_products": 0}) == ["matrix_products: 0, at least 64"]
    assert worse_counts(row, {**counts, "kernels": 2}) == ["kernels: 2, at most 1"]
    spilled = {"sm_90": {"registers": 10, "spilled_bytes": 8}}
    assert worse_code(row, spilled) == [f"sm_90: {spilled['sm_90']}, at most {row['sm_90']}"]
