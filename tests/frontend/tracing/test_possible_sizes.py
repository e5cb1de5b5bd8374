"""Arrays that no machine can hold are refused where they are made, traced and eagerly, at the user's line."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze.dialects.errors import OutOfMemoryError, SizeError
from adze.dialects.types import MAX_BYTES
from adze.passes.analysis.verify import verify
from adze.passes.ir.parsing import parse_module

HUGE = 2**62
X = np.ones(3, np.float32)

IMPOSSIBLE: dict[str, Callable[[Any], Any]] = {
    "zeros": lambda x: anp.zeros((HUGE, 3)),
    "zeros of 2^64 bytes": lambda x: anp.zeros(HUGE),
    "zeros of 2^70": lambda x: anp.zeros(2**70),
    "zeros of NumPy's integer": lambda x: anp.zeros(np.uint64(2**63)),
    "zeros, one axis empty": lambda x: anp.zeros((HUGE, 0)),
    "ones of 65 axes": lambda x: anp.ones((1,) * 65),
    "full": lambda x: anp.full((HUGE, HUGE), 1.0),
    "empty": lambda x: anp.empty((HUGE, 3)),
    "broadcast_to": lambda x: anp.broadcast_to(x, (HUGE, 3)),
    "tile": lambda x: anp.tile(x, (HUGE, HUGE)),
    "repeat": lambda x: anp.repeat(x, HUGE),
    "arange": lambda x: anp.arange(HUGE),
    "arange in steps": lambda x: anp.arange(1, HUGE, 2),
    "linspace": lambda x: anp.linspace(0, 1, HUGE),
    "eye": lambda x: anp.eye(HUGE),
    "tri": lambda x: anp.tri(2**40, 2**40),
    "vander": lambda x: anp.vander(x, HUGE),
    "indices": lambda x: anp.indices((HUGE, 3)),
    "pad": lambda x: anp.pad(x, (HUGE, HUGE)),
    "pad by 2^70": lambda x: anp.pad(x, (2**70, 0)),
    "histogram": lambda x: anp.histogram(x, HUGE),
    "bincount": lambda x: anp.bincount(x.astype(int), length=HUGE),
    "nonzero": lambda x: anp.nonzero(x, size=HUGE),
    "one_hot": lambda x: adze.nn.one_hot(x.astype(int), HUGE),
    "fft": lambda x: anp.fft.fft(x, HUGE),
    "random": lambda x: adze.random.normal(adze.random.key(0), (HUGE, 3)),
    "iota": lambda x: adze.lax.iota(np.int32, HUGE),
    "top_k": lambda x: adze.lax.top_k(x, 2**70),
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
@pytest.mark.parametrize("traced", [True, False], ids=["traced", "eager"])
def test_array_that_no_machine_holds_is_refused(name: str, traced: bool) -> None:
    function = IMPOSSIBLE[name]
    with pytest.raises(SizeError) as caught:
        adze.trace(function, adze.ShapeDtype((3,))) if traced else function(anp.asarray(X))
    assert isinstance(caught.value, ValueError)
    assert caught.value.where is not None and __file__ in caught.value.where


def test_error_says_how_large_it_would_be() -> None:
    with pytest.raises(SizeError) as caught:
        anp.zeros((HUGE, 3))
    assert caught.value.message == (
        "broadcast_in_dim: f32[4611686018427387904,3] is not possible: it would have 48.00 EiB, "
        "and an array has at most 64 PiB"
    )


def test_specs_are_bounded() -> None:
    for shape in ((HUGE, 3), (2**70,), (MAX_BYTES // 4 + 1,), (1,) * 65):
        with pytest.raises(SizeError):
            adze.ShapeDtype(shape, "float32")
    assert adze.ShapeDtype((MAX_BYTES // 4,), "float32").shape == (MAX_BYTES // 4,)


def test_batches_and_stacks_are_bounded() -> None:
    with pytest.raises(SizeError):
        adze.trace(adze.vmap(lambda x: x + anp.ones(2**30)), adze.ShapeDtype((2**30,)))
    with pytest.raises(SizeError, match=r"^scan: f32\[4611686018427387904,3\] is not possible"):
        adze.trace(lambda x: adze.scan(lambda c, _: (c, c), x, None, length=HUGE), adze.ShapeDtype((3,)))


def test_text_is_bounded() -> None:
    made = (
        '%0 = "adze.iota"() {shape = array<i64: 4611686018427387904>, axis = 0 : i64, dtype = f32} '
        ": () -> tensor<4611686018427387904xf32>"
    )
    for text in (
        "func.func @f(%x: tensor<4611686018427387904x3xf32>) { return }",
        f"func.func @f() {{ {made} return }}",
    ):
        with pytest.raises(adze.AdzeError, match=r"is not possible: it would have"):
            verify(parse_module(text))


def test_largest_array_compiles() -> None:
    """IREE computes with the bytes of all arrays together: sums of a few of the largest still fit."""
    spec = adze.ShapeDtype((MAX_BYTES // 8,), "float64")
    with pytest.raises(SizeError, match=r"^concatenate: "):
        adze.trace(lambda x, y: anp.concatenate([x, y]).sum(), spec, spec)
    adze.trace(lambda x, y: (x + 1, x.sum(), x * y, anp.cumsum(y)), spec, spec).lower().compile(cache=False)


def test_lack_of_memory_is_an_error_of_adze(monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking(*_: Any, **__: Any) -> Any:
        raise MemoryError("Unable to allocate 4.00 TiB")

    from adze.dialects.dialect import BY_NAME

    monkeypatch.setattr(BY_NAME["exp"], "evaluate", lacking)
    with pytest.raises(OutOfMemoryError) as caught:
        anp.exp(X)
    assert isinstance(caught.value, MemoryError)
    assert caught.value.message == "exp: there is not enough memory: Unable to allocate 4.00 TiB"
    assert caught.value.where is not None and __file__ in caught.value.where
