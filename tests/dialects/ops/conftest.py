"""What several tests of derivatives compare with."""

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture
def jax() -> Iterator[Any]:
    """JAX with 64-bit types, in this test only: other tests of the process compare in 32 bits."""
    module = pytest.importorskip("jax")
    with module.enable_x64(True):
        yield module
