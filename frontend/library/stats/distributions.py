"""How a function of a distribution is made of one of its standard form.

Input: `standard(z, *shapes)` for location 0 and scale 1. Output: functions `f(x, *shapes, loc=0, scale=1)`
(of a discrete distribution `f(k, *shapes, loc=0)`), with SciPy's names of parameters and conventions.

Idea: a distribution is a namespace, so that `norm.logpdf` is one attribute; what follows from another
function (`pdf` from `logpdf`, `logcdf` from `cdf`) is derived where nothing better is stated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, Signature
from types import MappingProxyType, SimpleNamespace
from typing import Any, Final

from ...tracing.jax_rules import follows_jax
from .. import numpy as xp
from ..numpy.promotion import stays_weak
from ..special.scipy_names import floats

Standard = Callable[..., Any]
_DENSITIES: Final = ("logpdf", "pdf")
_QUANTILES: Final = ("ppf", "isf")


def _parameters(first: str, shapes: Sequence[str], defaults: dict[str, int]) -> list[Parameter]:
    plain = [Parameter(n, Parameter.POSITIONAL_OR_KEYWORD) for n in (first, *shapes)]
    optional = [Parameter(n, Parameter.POSITIONAL_OR_KEYWORD, default=d) for n, d in defaults.items()]
    return plain + optional


def _callable(name: str, doc: str, parameters: list[Parameter], body: Callable[..., Any]) -> Any:
    signature = Signature(parameters)

    def function(*args: Any, **keywords: Any) -> Any:
        bound = signature.bind(*args, **keywords)
        bound.apply_defaults()
        return weak(*bound.arguments.values())

    weak = stays_weak(lambda *values: body(*floats(*values)))
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


def continuous(
    what: str,
    shapes: Sequence[str] = (),
    *,
    located: bool = True,
    squares_scale: bool = False,
    named: Mapping[str, str] = MappingProxyType({}),
    **standard: Standard,
) -> Any:
    """The namespace of a continuous distribution; `located=False` without location and scale.

    `named` has the first parameters that JAX calls otherwise than the other distributions do, and
    `squares_scale` says that the scale's sign does not count in JAX's density.
    """
    functions = {**_derived(standard)}
    defaults = {"loc": 0, "scale": 1} if located else {}
    made = {}
    for name, of_standard in functions.items():
        first = named.get(name, "q" if name in _QUANTILES else "x")
        body = _located(name, of_standard, squares_scale) if located else of_standard
        made[name] = _callable(
            name, f"{_MEANING[name]} of {what}.", _parameters(first, shapes, defaults), body
        )
    return SimpleNamespace(**made)


def _derived(standard: dict[str, Standard]) -> dict[str, Standard]:
    functions = dict(standard)
    logpdf = standard["logpdf"]
    functions.setdefault("pdf", lambda *a: xp.exp(logpdf(*a)))
    for tail, other in (("cdf", "sf"), ("sf", "cdf")):
        if tail in standard:
            pair = standard[tail], standard.get(other)
            functions.setdefault(f"log{tail}", lambda *a, pair=pair: _log_of_tail(*pair, *a))
    return functions


def _log_of_tail(tail: Standard, other: Standard | None, *args: Any) -> Any:
    """The logarithm of a probability; of one near 1 by the other tail, which keeps its digits."""
    probability = tail(*args)
    if other is None:
        return _log(probability)
    is_low = probability <= 0.5
    beside = xp.log1p(-xp.where(is_low, 0.0, other(*args)))
    return xp.where(is_low, _log(xp.where(is_low, probability, 0.5)), beside)


def _log(probability: Any) -> Any:
    """The logarithm of a probability: -inf of 0, where it is constant to derivatives."""
    return xp.where(probability == 0, -xp.inf, xp.log(xp.where(probability == 0, 1.0, probability)))


def _located(name: str, of_standard: Standard, squares_scale: bool) -> Callable[..., Any]:
    """`of_standard` with a location and a scale; NaN where the scale is not positive, as in SciPy."""

    def body(x: Any, *rest: Any) -> Any:
        *shapes, loc, scale = rest
        if squares_scale and name in _DENSITIES and follows_jax():
            scale = xp.abs(scale)
        if name in _QUANTILES:
            return xp.where(scale > 0, of_standard(x, *shapes) * scale + loc, xp.nan)
        value = of_standard((x - loc) / scale, *shapes)
        if name == "logpdf":
            value = value - xp.log(scale)
        elif name == "pdf":
            value = value / scale
        return xp.where(scale > 0, value, xp.nan)

    return body


def discrete(what: str, shapes: Sequence[str] = (), *, located: bool = True, **standard: Standard) -> Any:
    """The namespace of a distribution over integers."""
    functions = dict(standard)
    if "logpmf" in standard:
        logpmf = standard["logpmf"]
        functions.setdefault("pmf", lambda *a: xp.exp(logpmf(*a)))
    made = {}
    for name, of_standard in functions.items():
        body = _shifted(of_standard) if located else of_standard
        first = "q" if name == "ppf" else "k"
        parameters = _parameters(first, shapes, {"loc": 0} if located else {})
        made[name] = _callable(name, f"{_MEANING[name]} of {what}.", parameters, body)
    return SimpleNamespace(**made)


def _shifted(of_standard: Standard) -> Callable[..., Any]:
    return lambda k, *rest: of_standard(k - rest[-1], *rest[:-1])


_MEANING: Final = {
    "logpdf": "The logarithm of the density",
    "pdf": "The density",
    "logpmf": "The logarithm of the probability",
    "pmf": "The probability",
    "cdf": "The probability of at most `x`",
    "logcdf": "The logarithm of the probability of at most `x`",
    "sf": "The probability of more than `x`",
    "logsf": "The logarithm of the probability of more than `x`",
    "ppf": "The quantile: the inverse of `cdf`",
    "isf": "The inverse of `sf`",
}
