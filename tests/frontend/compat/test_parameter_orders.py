"""Functions take positional arguments in JAX's order, under JAX's names, and compute the same with them.

`BEHIND` lists the parameters that adze lacks: each may only be the first of those that a function is without.
"""

from __future__ import annotations

import importlib
import inspect
from typing import Any, Final

import numpy as np
import pytest

pytest.importorskip("jax", reason="the oracle of signatures")

MODULES: Final = (
    *("jax", "jax.numpy", "jax.numpy.linalg", "jax.numpy.fft", "jax.lax", "jax.nn", "jax.random", "jax.tree"),
    *(
        "jax.scipy.special",
        "jax.scipy.linalg",
        "jax.scipy.signal",
        "jax.scipy.stats.norm",
        "jax.scipy.ndimage",
    ),
    *("jax.nn.initializers", "jax.tree_util", "jax.image", "jax.ops", "jax.test_util", "jax.flatten_util"),
)
BEHIND: Final = {
    "jax.numpy": "asarray.order",
    "jax.lax": "conv_general_dilated.out_sharding full_like.sharding ragged_dot.out_sharding "
    "ragged_dot_general.out_sharding reduce.out_sharding",
    "jax.ops": "segment_max.out_sharding segment_min.out_sharding segment_prod.out_sharding "
    "segment_sum.out_sharding",
}
BOTH: Final = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@pytest.mark.parametrize("module", MODULES)
def test_positional_parameters_are_those_of_jax(module: str) -> None:
    theirs = importlib.import_module(module)
    ours = importlib.import_module(f"adze.compat.{module}")
    found = {}
    for name in dir(theirs):
        wanted, have = _parameters(getattr(theirs, name)), _parameters(getattr(ours, name, None))
        if name.startswith("_") or wanted is None or have is None:
            continue
        first = _first_difference(wanted, have)
        found |= {name: first} if first else {}
    assert found == dict(pair.split(".") for pair in BEHIND.get(module, "").split())


def _parameters(function: Any) -> list[inspect.Parameter] | None:
    """The positional parameters, None for what has no signature or takes any number of them."""
    if not callable(function) or inspect.isclass(function):
        return None
    try:
        parameters = [*inspect.signature(function).parameters.values()]
    except (TypeError, ValueError):
        return None
    if any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in parameters):
        return None
    return [p for p in parameters if p.kind in BOTH]


def _first_difference(wanted: list[inspect.Parameter], have: list[inspect.Parameter]) -> str | None:
    """The first parameter of JAX's function that cannot be passed to adze's as it is to JAX's."""
    for number, parameter in enumerate(wanted):
        is_named = parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
        if number >= len(have) or (is_named and have[number].name != parameter.name):
            return parameter.name
    return None


CALLS: Final = {
    "linspace": lambda xp, x: xp.linspace(0, 1, 3, False),
    "linspace of arrays": lambda xp, x: xp.linspace(x[0], x[1], 4, True, True, None, 1),
    "concatenate": lambda xp, x: xp.concatenate([x, x], 0, xp.int32),
    "histogram": lambda xp, x: xp.histogram(x, 3, (0, 4), x, True),
    "histogram2d": lambda xp, x: xp.histogram2d(x[0], x[1], 2, None, x[0]),
    "quantile": lambda xp, x: xp.quantile(x, 0.3, 1, None, False, "lower", True),
    "nanpercentile": lambda xp, x: xp.nanpercentile(x, 30, 1, None, False, "lower", True),
    "nansum": lambda xp, x: xp.nansum(x, 0, None, None, True, 2.0, x > 1),
    "nanprod": lambda xp, x: xp.nanprod(x, 0, None, None, True, 2.0, x > 1),
    "geomspace": lambda xp, x: xp.geomspace(x[0] + 1, x[1], 4, True, None, 1),
    "geomspace of numbers": lambda xp, x: xp.geomspace(1.0, 8.0, 4),
    "logspace": lambda xp, x: xp.logspace(x[0], x[1], 3, axis=1),
    "unwrap": lambda xp, x: xp.unwrap(x * 3, None, 0, 5.0),
    "pinv": lambda xp, x: xp.linalg.pinv(x, 0.5),
    "corrcoef": lambda xp, x: xp.corrcoef(x, None, True, xp.float32),
    "average": lambda xp, x: xp.average(x, 0, None, False, True),
    "take_along_axis": lambda xp, x: xp.take_along_axis(x, xp.array([[5], [1]]), 1, "clip"),
    "zeros_like": lambda xp, x: xp.zeros_like(x, None, (3,)),
    "stack": lambda xp, x: xp.stack([x, x], 0, None, xp.int32),
    "isin": lambda xp, x: xp.isin(x, xp.array([1.0, 2]), False, True),
    "intersect1d": lambda xp, x: xp.intersect1d(x[0], x[0, 1:], False, True, size=4),
    "trim_zeros": lambda xp, x: xp.trim_zeros(x, "fb", 0),
    "ravel_multi_index": lambda xp, x: xp.ravel_multi_index(
        (xp.array([1, 9]), xp.array([0, 1])), (3, 4), "wrap", "F"
    ),
    "polyfit": lambda xp, x: xp.polyfit(x[1], x[0] ** 2, 1, None, False, None, True),
    "matrix_rank": lambda xp, x: xp.linalg.matrix_rank(xp.diag(x[0]) + 1, 1.5),
    "take_along_axis at negative positions": lambda xp, x: xp.take_along_axis(
        x, xp.array([[-1], [1]]), 1, wrap_negative_indices=False
    ),
    "quantile with weights": lambda xp, x: xp.quantile(
        x, xp.array([0.2, 0.7]), 1, weights=x + 1, method="inverted_cdf"
    ),
    "lstsq": lambda xp, x: xp.linalg.lstsq(x, x[:, 0])[1].shape,
    "put_along_axis": lambda xp, x: xp.put_along_axis(x, xp.array([[0], [1]]), 9.0, 1, False),
}


@pytest.mark.parametrize("call", CALLS)
def test_positional_arguments_mean_what_they_do_in_jax(call: str) -> None:
    import jax
    import jax.numpy as jnp

    import adze.compat.jax.numpy as anp

    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    wanted, got = (jax.tree.leaves(CALLS[call](xp, xp.asarray(x))) for xp in (jnp, anp))
    assert len(wanted) == len(got)
    for one, other in zip(wanted, got, strict=True):
        np.testing.assert_allclose(np.asarray(other), np.asarray(one), rtol=1e-5)


ROWS: Final = {
    "rows": (np.float32([[1, 2], [3, 4], [1, 2], [0, 9]]), 0),
    "columns": (np.float32([[1, 2], [3, 4], [1, 2], [0, 9]]), 1),
    "vector": (np.float32([3, 1, 3]), -1),
    "equal slices": (np.zeros((2, 3, 2), np.float32), 1),
    "one": (np.zeros((1, 2), np.float32), 0),
    "nan": (np.float32([[np.nan, 1], [np.nan, 1], [0, 1]]), 0),
}


@pytest.mark.parametrize("is_traced", [False, True])
@pytest.mark.parametrize("size", [None, 1, 5])
@pytest.mark.parametrize("name", ROWS)
def test_distinct_slices_along_an_axis_are_those_of_jax(name: str, size: int | None, is_traced: bool) -> None:
    import jax.numpy as jnp

    import adze
    import adze.numpy as anp

    if is_traced and size is None:
        pytest.skip("a traced array needs a size")
    x, axis = ROWS[name]
    wanted = jnp.unique(x, True, True, True, axis, size=size)

    def find(v: Any) -> Any:
        return anp.unique(v, True, True, True, axis, size=size)

    got = (adze.jit(find) if is_traced else find)(x)
    for one, other in zip(wanted, got, strict=True):
        np.testing.assert_array_equal(np.asarray(other), np.asarray(one))


def test_transforms_take_has_aux_as_a_positional_argument() -> None:
    import adze

    def squared(x: Any) -> Any:
        return x * x, x

    assert [float(v) for v in adze.grad(squared, 0, True)(3.0)] == [6.0, 3.0]
    assert [float(v) for v in adze.hessian(squared, 0, True)(3.0)] == [2.0, 3.0]
    assert [float(v) for v in adze.jvp(squared, (3.0,), (1.0,), True)] == [9.0, 6.0, 3.0]


@pytest.mark.parametrize("name", ["jit", "custom_jvp", "custom_vjp"])
def test_the_function_is_fun_by_keyword(name: str) -> None:
    """flax writes `jax.custom_vjp(fun=...)`."""

    def square(x: Any) -> Any:
        return x * x

    assert getattr(importlib.import_module("adze.compat.jax"), name)(fun=square).__wrapped__ is square
