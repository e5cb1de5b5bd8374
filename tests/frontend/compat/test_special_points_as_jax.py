"""Functions at special points, of no elements and with options that are rarely stated: JAX is the oracle."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest

pytest.importorskip("jax", reason="the oracle of special points")

NUMBERS: Final = np.float32([1, 2, 3, 4, 5, 6])
MASK: Final = np.array([True, False, False, True])
WILD: Final = np.float32([1, np.nan, -np.inf, -2])
PLACES: Final = np.int32([0, 0, 1, 3, -1, 9])
CALLS: Final = {
    "slopes of hard_tanh": lambda jax, x: jax.grad(lambda v: jax.nn.hard_tanh(v).sum())(
        np.float32([-1, 0, 1, 2])
    ),
    "slopes of windows with equal maxima": lambda jax, x: jax.grad(
        lambda v: jax.lax.reduce_window(v, -np.inf, jax.lax.max, (2,), (1,), "VALID").sum()
    )(np.float32([1, 1, 2, 2, 0])),
    "slopes of windows with equal minima": lambda jax, x: jax.grad(
        lambda v: jax.lax.reduce_window(v, np.inf, jax.lax.min, (2,), (2,), "SAME").sum()
    )(np.float32([1, 1, 2, 2, 0])),
    "softmax of nothing": lambda jax, x: jax.nn.softmax(np.float32([])),
    "softmax along an empty axis": lambda jax, x: jax.nn.softmax(np.zeros((0, 3), np.float32), axis=0),
    "log_softmax of nothing": lambda jax, x: jax.nn.log_softmax(np.zeros((2, 0), np.float32)),
    "logsumexp of nothing": lambda jax, x: jax.nn.logsumexp(np.zeros((2, 0), np.float32), axis=1),
    "clipped segments": lambda jax, x: jax.ops.segment_sum(x, PLACES, 5, mode="clip"),
    "clipped products": lambda jax, x: jax.ops.segment_prod(
        x, PLACES, 5, mode=jax.lax.GatherScatterMode.CLIP
    ),
    "gather beyond the bounds": lambda jax, x: jax.lax.gather(
        x, np.int32([[1], [9]]), jax.lax.GatherDimensionNumbers((), (0,), (0,)), (1,)
    ),
    "gather with fill": lambda jax, x: jax.lax.gather(
        x, np.int32([[1], [9]]), jax.lax.GatherDimensionNumbers((), (0,), (0,)), (1,), mode="fill"
    ),
    "powers of integers": lambda jax, x: jax.lax.pow(-x, PLACES),
    "powers of integer scalars": lambda jax, x: jax.lax.pow(np.float32(-2), PLACES),
    "exponents of few bits": lambda jax, x: jax.numpy.ldexp(x, np.uint8([0, 1, 2, 3, 100, 255])),
    "exponents that are truths": lambda jax, x: jax.numpy.ldexp(x[:2], np.array([True, False])),
    "polygamma at negative numbers": lambda jax, x: jax.scipy.special.polygamma(
        np.int32([1, 2, 3, 1, 2]), np.float32([-2.5, -3.25, -4.75, -0.125, 7.5])
    ),
    "zeta at negative numbers": lambda jax, x: jax.scipy.special.zeta(x + 1, x - 3.25),
    "a factor of no definite matrix": lambda jax, x: jax.scipy.linalg.cholesky(
        -np.eye(3, dtype=np.float32), lower=True
    ),
    "sums over what vmap maps": lambda jax, x: jax.vmap(lambda v: 2 * v, out_axes=None, sum_match=True)(x),
    "sized slices": lambda jax, x: jax.jit(lambda v, i: v[jax.ds(i, 2)])(x, np.int32(3)),
    "densities of a negative scale": lambda jax, x: jax.scipy.stats.norm.logpdf(x, 0.0, -2.0),
    "what a mask leaves out": lambda jax, x: jax.numpy.asarray(MASK) * WILD,
    "a mask of a number": lambda jax, x: (jax.numpy.asarray(MASK) == 0) * float("-inf"),
    "a mask that was converted": lambda jax, x: jax.jit(lambda v: jax.lax.mul(MASK.astype("f"), v))(WILD),
    "a mask that is converted": lambda jax, x: jax.jit(lambda m, v: jax.numpy.multiply(v, m.astype("f")))(
        MASK, WILD
    ),
    "a mask that is converted, eagerly": lambda jax, x: jax.numpy.asarray(MASK).astype("f") * WILD,
    "a mask of fewer axes": lambda jax, x: jax.numpy.asarray(MASK[:2, None]) * WILD.reshape(2, 2),
    "slopes of what a mask leaves out": lambda jax, x: jax.grad(lambda v: (MASK * jax.numpy.exp(v)).sum())(
        np.float32([1, 2, 3, 4])
    ),
    "more segments than the numbers' dtype holds": lambda jax, x: jax.ops.segment_max(
        x, PLACES.astype(np.int8), 200
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_results_are_those_of_jax(name: str) -> None:
    import jax

    import adze.compat.jax

    wanted, got = (np.asarray(CALLS[name](module, NUMBERS)) for module in (jax, adze.compat.jax))
    assert (wanted.dtype, wanted.shape) == (got.dtype, got.shape)
    np.testing.assert_allclose(got, wanted, rtol=1e-6)


SLOPES: Final = {
    "expon.cdf": lambda f, v: f(v),
    "uniform.cdf": lambda f, v: f(v),
    "pareto.sf": lambda f, v: f(v + 1, 2.0),
    "chi2.cdf": lambda f, v: f(v, 3.0),
    "gamma.cdf": lambda f, v: f(v, 2.0),
    "gennorm.cdf": lambda f, v: f(v + 0.5, 1.5),
}


@pytest.mark.parametrize("name", SLOPES)
def test_slopes_at_the_ends_of_supports_are_those_of_jax(name: str) -> None:
    import jax

    import adze.compat.jax

    module, function = name.split(".")

    def slopes(library: Any) -> Any:
        of_values = getattr(getattr(library.scipy.stats, module), function)
        return library.vmap(library.grad(lambda v: SLOPES[name](of_values, v)))(np.float32([0, 0.5, np.inf]))

    np.testing.assert_allclose(slopes(adze.compat.jax), slopes(jax), rtol=2e-6)


EDGES: Final = np.float32([np.nan, -np.inf, -2.5, -0.0, 0, 0.25, 1, 3, np.inf])
WHOLE: Final = np.float32([np.nan, -1, 0, 1, 2, np.inf])
DISTRIBUTIONS: Final = {
    "bernoulli.pmf": lambda f: f(WHOLE, 0.3),
    "bernoulli.cdf": lambda f: (f(EDGES, 0.3), f(1, EDGES)),
    "bernoulli.ppf": lambda f: (f(EDGES, 0.3), f(0.5, EDGES)),
    "beta.logpdf": lambda f: (f(EDGES, 2.0, 3.0), f(0.5, EDGES[:-1], 2.0), f(0.5, 2.0, EDGES[:-1])),
    "betabinom.logpmf": lambda f: (
        f(WHOLE, 5, 2.0, 3.0),
        f(1, WHOLE[:-1], 2.0, 3.0),
        f(1, 5, EDGES[:-1], 3.0),
    ),
    "binom.pmf": lambda f: f(WHOLE[1:], 5, 0.3),
    "nbinom.pmf": lambda f: f(WHOLE[:-1], 5, 0.3),
    "poisson.pmf": lambda f: f(WHOLE[1:-1], 1.5),
    "geom.pmf": lambda f: f(WHOLE[:-1], 0.3),
    "expon.ppf": lambda f: f(EDGES),
    "pareto.ppf": lambda f: f(EDGES, 2.0),
    "truncnorm.logpdf": lambda f: (f(EDGES, -1.0, 2.0), f(0.5, EDGES[:-1], 2.0)),
    "truncnorm.cdf": lambda f: f(EDGES, 2.0, 1.0),
    "vonmises.logpdf": lambda f: f(0.5, EDGES[:-1]),
    "wrapcauchy.logpdf": lambda f: (f(0.5, EDGES), f(EDGES[1:], 0.5)),
}
"""Function of `scipy.stats` -> its results off the support, and of numbers that are no parameters."""


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_distributions_are_those_of_jax_where_they_are_not_defined(name: str) -> None:
    import jax.scipy.stats

    import adze.scipy.stats

    distribution, function = name.split(".")
    modules = (jax.scipy.stats, adze.scipy.stats)
    results = [DISTRIBUTIONS[name](getattr(getattr(m, distribution), function)) for m in modules]
    for wanted, got in zip(*map(jax.tree.leaves, results), strict=True):
        np.testing.assert_allclose(np.asarray(got), np.asarray(wanted), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["bernoulli", "binom", "geom", "nbinom", "poisson"])
def test_probabilities_of_nan_are_nan(name: str) -> None:
    import adze.scipy.stats

    shapes = {"bernoulli": (0.3,), "binom": (5, 0.3), "geom": (0.3,), "nbinom": (5, 0.3), "poisson": (1.5,)}
    assert np.isnan(getattr(adze.scipy.stats, name).pmf(np.float32(np.nan), *shapes[name]))
    assert np.isnan(adze.scipy.stats.truncnorm.cdf(np.float32(np.nan), -1.0, 2.0))


def test_logarithms_of_probabilities_are_constant_where_the_probability_is_0() -> None:
    import adze

    slopes = adze.grad(lambda x: adze.scipy.stats.gamma.logcdf(x, 2.0).sum())(np.float32([-1, 0, 1]))
    assert slopes[:2].tolist() == [0, 0] and 1 < slopes[2].item() < 2


@pytest.mark.parametrize("option", [{"order": "a"}, {"kind": "quicksort"}])
@pytest.mark.parametrize("name", ["sort", "argsort"])
def test_options_of_numpy_sorts_are_refused(name: str, option: dict[str, Any]) -> None:
    import adze.compat.jax.numpy as jnp

    with pytest.raises(TypeError, match=f"^{name}: {next(iter(option))}="):
        getattr(jnp, name)(NUMBERS, **option)


def test_sorts_outside_programs_for_jax_take_the_algorithm_of_numpy() -> None:
    import adze
    import adze.numpy as anp

    assert adze.jit(lambda x: np.sort(x, kind="stable"))(NUMBERS[::-1]).tolist() == NUMBERS.tolist()
    with pytest.raises(TypeError, match=r"^argsort: order='a' names fields, which arrays here have not"):
        anp.argsort(NUMBERS, order="a")
