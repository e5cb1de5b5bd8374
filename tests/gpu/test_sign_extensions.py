"""Products of narrow signed integers on Vulkan devices: each element counts with its sign."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
from adze import ShapeDtype, lax
from adze.passes.lower.iree.sign_extensions import SignExtensions

from .drivers import needs_vulkan

pytestmark = pytest.mark.gpu

SIZES: dict[str, tuple[tuple[Any, Any], tuple[Any, Any]]] = {
    "known": ((64, 64), (64, 64)),
    "rows": (("m", 64), (64, 64)),
    "none known": (("m", "k"), ("k", "n")),
}


def product(a: Any, b: Any) -> Any:
    return lax.dot_general(a, b, (((1,), (0,)), ((), ())), preferred_element_type=np.int32)


def matrices(dtype: type) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    return rng.integers(-99, 99, (64, 64)).astype(dtype), rng.integers(-99, 99, (64, 64)).astype(dtype)


def products(dtype: type, *names: str) -> list[np.ndarray]:
    """Those of matrices whose sizes are known as `names` say, in one program."""
    a, b = matrices(dtype)
    specs = [[ShapeDtype(sizes, np.dtype(dtype)) for sizes in SIZES[name]] for name in names]
    lowered = adze.trace(lambda pairs: [product(*pair) for pair in pairs], specs).lower("vulkan:lavapipe")
    return [np.asarray(result) for result in lowered.compile(cache=False)([[a, b]] * len(names))]


@pytest.mark.vulkan
@needs_vulkan
@pytest.mark.parametrize(("dtype", "names"), [(np.int8, list(SIZES)), (np.int16, ["known"])])
def test_elements_count_with_their_sign(dtype: type, names: list[str]) -> None:
    a, b = matrices(dtype)
    expected = a.astype(np.int32) @ b.astype(np.int32)
    for name, result in zip(names, products(dtype, *names), strict=True):
        np.testing.assert_array_equal(result, expected, err_msg=name)


@pytest.mark.vulkan
@needs_vulkan
def test_iree_still_loses_the_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SignExtensions, "run", lambda self, module: False)
    a, b = matrices(np.int8)
    (result,) = products(np.int8, "known")
    assert (result != a.astype(np.int32) @ b.astype(np.int32)).any()
    np.testing.assert_array_equal(result.astype(np.int8), (a.astype(np.int32) @ b).astype(np.int8))
