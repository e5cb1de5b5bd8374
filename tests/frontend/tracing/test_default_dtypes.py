"""float64 that NumPy makes: where it yields, where it is named; and fifty probes of dtypes against JAX."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

import adze
import adze.compat.jax as shim
import adze.debug
import adze.lax as lax
import adze.numpy as anp
from adze.frontend.errors import ArgumentError, OutOfRangeError

X = np.ones(2, np.float32)
CONSTANT = np.array([0.5, 0.25])


def network(x: Any) -> Any:
    return anp.tanh(x * np.sqrt(2 / 3) + CONSTANT) @ np.eye(2)


def test_constants_of_numpy_yield() -> None:
    assert adze.jit(network)(X).dtype == np.float64
    with adze.default_dtypes("float32"):
        for function in (network, adze.jit(network), adze.grad(lambda x: network(x).sum())):
            inside = adze.eval_shape(function, X)
            assert inside.dtype == np.float32
        assert (anp.asarray(X) * np.float64(2)).dtype == np.float32
        assert (anp.ones(2, np.float16) * np.float64(2)).dtype == np.float16
        assert adze.vmap(lambda x: x * np.pi * CONSTANT)(X).dtype == np.float32
        assert lax.scan(lambda c, x: (c * np.float64(2) + x, None), np.float32(0), X)[0].dtype == np.float32


def test_arguments_and_dtypes_that_are_said_stay() -> None:
    wide = X.astype(np.float64)
    with adze.default_dtypes("float32"):
        assert adze.jit(network)(wide).dtype == np.float64
        assert anp.exp(wide).dtype == np.float64
        assert adze.jit(lambda x: x * anp.asarray(CONSTANT, dtype=np.float64))(X).dtype == np.float64
        exact = adze.jit(lambda x: x * np.float64(1 / 3))(wide)
        with adze.default_dtypes("numpy"):
            assert adze.jit(network)(X).dtype == np.float64
    assert exact[0] == 1 / 3  # the constant keeps its 64 bits until it meets something


def test_numbers_of_numpy_are_counted_and_checked_as_those_of_python() -> None:
    assert anp.arange(np.float64(3)).dtype == np.float64
    with adze.default_dtypes("float32"):
        assert anp.arange(np.float64(3)).dtype == np.float32
        assert anp.arange(0, 1, np.float64(0.5)).dtype == np.float32
        assert anp.arange(np.float64(3), dtype=np.float64).dtype == np.float64
        assert anp.arange(np.int64(3)).dtype == np.int64
        for function in (lambda x: x * np.float64(1e300), adze.jit(lambda x: x * np.float64(1e300))):
            with pytest.raises(OutOfRangeError, match=r"1e\+300 is out of range for float32"):
                function(anp.asarray(X))
        assert (anp.asarray(X) * np.float64(np.inf)).tolist() == [np.inf] * 2
        assert (anp.asarray(X) * np.complex128(1j)).dtype == np.complex64


def test_ways_to_say_it_to_compiled_functions() -> None:
    in_context = adze.default_dtypes("float32")(network)
    assert in_context(anp.asarray(X)).dtype == np.float64  # outside a trace NumPy's arrays are arguments
    assert adze.jit(in_context)(X).dtype == np.float32
    assert adze.jit(network, default_dtypes="float32")(X).dtype == np.float32
    assert adze.jit(default_dtypes="float32")(network)(X).dtype == np.float32
    compiled = adze.jit(network)
    kinds = []
    for _ in range(2):
        kinds.append(compiled(X).dtype)
        with adze.default_dtypes("float32"):
            kinds.append(compiled(X).dtype)
    assert kinds == [np.float64, np.float32] * 2
    assert "default_dtypes became float32" in adze.explain_retrace(compiled)
    for call in (
        lambda: adze.default_dtypes("half").__enter__(),
        lambda: adze.jit(network, default_dtypes="half"),
    ):
        with pytest.raises(ArgumentError, match="default_dtypes is 'half': expected 'float32' or 'numpy'"):
            call()


def widened(function: Callable[..., Any], *args: Any) -> str:
    with adze.debug.widening(), pytest.raises(adze.debug.WideningError) as caught:
        function(*args)
    return str(caught.value)


def test_widening_names_the_first_line() -> None:
    def step(x: Any) -> Any:
        y = anp.sin(x)
        y = y * np.sqrt(2 / 3)  # here
        return y + CONSTANT

    for run in (lambda x: adze.trace(step, x), step, adze.grad(lambda x: step(x).sum())):
        message = widened(run, X)
        assert re.search(r"float32\[2\] meets float64\[\].* and becomes float64", message)
        line = step.__code__.co_firstlineno + 2
        assert f"{__file__.split('/')[-1]}:{line}" in message
    assert "float64[2]" in widened(lambda x: adze.trace(lambda x: anp.concatenate([x, CONSTANT]), x), X)
    assert "float64[2]" in widened(lambda x: anp.interp(x, CONSTANT[::-1], CONSTANT), X)


def test_what_is_float64_on_purpose_is_no_widening() -> None:
    wide = X.astype(np.float64)
    with adze.debug.widening():
        anp.sin(wide) * np.float64(2) + 1.0
        anp.asarray(X) * 2.0 + anp.arange(2)
        anp.asarray(X).astype(np.float64) * wide
        adze.jit(lambda x: x * 2 + anp.pi)(X)
        with adze.default_dtypes("float32"):
            adze.trace(network, X)
        with adze.debug.widening(False):
            adze.trace(network, X)


PROBES: Final = (
    """
f32 + i64; f32 * i32; bf16 + i32; f16 + i64; f16 + f32
bf16 + f32; bf16 + f16; f32 + f64; i8 + u8; i32 + u32
i64 + u64; u8 + i32; b + i32; b + f32; c64 + f32
c64 + f64; i32 + c64; f32 + 1; f32 + 1.0; f16 * 2.5
bf16 + 1; i32 + 1; i8 * 2; u8 + 1; b + 1
f32 + 1j; f32 ** i32; f32 ** 2; i32 ** i32; i32 // i32
i8 / i8; f16 / i32; jnp.sum(i8); jnp.sum(i32); jnp.sum(u8)
jnp.sum(b); jnp.prod(i16); jnp.cumsum(i8); jnp.mean(f16); jnp.mean(bf16)
jnp.max(i8); jnp.argmax(f32); jnp.where(b, f32, 0); jnp.where(b, i32, f32); jnp.concatenate([i32, f32])
jnp.exp(f16); jnp.sqrt(c64); jnp.abs(c64); jnp.arange(3); jnp.mean(i32)
""".replace("\n", ";")
    .strip(";")
    .split(";")
)
DIFFERENT = {"i64 + u64": "float32"}
"""int64 with uint64 is float32 in adze, float64 in JAX: docs/dtypes.md."""

_WORDS: Final = "float16 bfloat16 float32 float64 complex64 bool int8 int16 int32 int64 uint8 uint32 uint64"
SHORT = {n: n.replace("float", "f").replace("uint", "u").replace("int", "i") for n in _WORDS.split(" ")}
SHORT |= {"complex64": "c64", "bool": "b"}


def probed(library: Any) -> dict[str, str]:
    """The dtype of each probe with that library."""
    jnp = library.numpy
    known = {short: jnp.ones(2, dtype=name) for name, short in SHORT.items()}
    return {p.strip(): np.dtype(eval(p.strip(), {"jnp": jnp, **known}).dtype).name for p in PROBES}


@pytest.mark.thorough
@pytest.mark.oracle
def test_fifty_probes_agree_with_jax() -> None:
    import jax

    with jax.enable_x64(True):
        expected = probed(jax)
    actual = probed(shim)
    assert len(actual) == 50
    assert {p: dtype for p, dtype in actual.items() if dtype != expected[p]} == DIFFERENT


def test_widening_is_named_in_a_function_that_was_compiled_before() -> None:
    wide = np.float64([2, 3])
    inner = adze.jit(lambda x: x * wide)
    outer = adze.jit(lambda x: inner(x) + 1)
    x = np.float32([1, 2])
    for function in (inner, outer):
        assert function(x).dtype == function(x).dtype == np.float64  # the second call takes the short way
        with adze.debug.widening():
            for _ in range(2):
                with pytest.raises(adze.debug.WideningError, match=r"float32\[2\] meets float64\[2\]"):
                    function(x)
            with adze.debug.widening(enabled=False), adze.default_dtypes("float32"):
                assert function(x).dtype == np.float32
            with adze.default_dtypes("float32"):
                assert function(x).dtype == np.float32
        assert function(x).dtype == np.float64
    assert "default_dtypes became float32" in adze.explain_retrace(inner)
