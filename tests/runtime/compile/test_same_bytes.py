"""Programs that IREE compiled to several forms, or might, have the same bytes in all processes."""

from __future__ import annotations

import pytest

from ... import same_bytes

NAMES = ("cross entropy gradient", "scan, branch", "LSTM gradient")


@pytest.mark.thorough
def test_programs_have_the_same_bytes_in_all_processes() -> None:
    count, found = same_bytes.differences(NAMES, is_tiny=True)
    assert count == len(NAMES)
    assert found == []
