"""Weak types of results where JAX's functions have others than adze's: `jnp.full(2, 0.5)`, `jnp.sum(0.5)`.

Input: a function of JAX's modules. Output: the same, whose results are weakly typed where all arrays among
the arguments are, or strongly typed, as in JAX. Idea: adze's functions promote as JAX's do; what is left are
those that only move elements, and reductions. Each is listed by name.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any, Final

import numpy as np

from .. import tree
from ..library.numpy.promotion import PYTHON_SCALARS
from ..library.numpy.ufuncs import Ufunc
from ..library.same_functions import note_same
from ..tracing.array import Array, strong
from ..tracing.frames import Tracer
from ..tracing.interpreter import weak_in_jax
from ..tracing.jax_rules import Installed

LIKE: Final = frozenset(("empty_like", "full_like", "ones_like", "stop_gradient", "zeros_like"))
"""Functions that make arrays like their first argument."""

FIRST: Final = LIKE | {"heaviside", "pad", "reshape"}
"""Functions whose first argument alone says whether the result is weakly typed."""

ALONE: Final = frozenset(("gcd", "hypot", "lcm", "logaddexp2"))
"""Functions whose result is weakly typed where all arguments are, of whatever kind they are."""

_TAILS: Final = ("cdf", "logcdf", "sf", "logsf")
_DENSITIES: Final = ("logpdf", "pdf")

WEAK: Final[dict[str, frozenset[str]]] = {
    "jax.numpy": LIKE
    | frozenset(
        (
            *("append", "block", "column_stack", "concatenate", "copy", "diag", "diff", "dstack"),
            *("ediff1d", "flip", "fliplr", "flipud", "float_power", "full", "gradient", "heaviside"),
            *("hstack", "i0", "imag", "ix_", "kron", "meshgrid", "outer", "pad", "repeat", "sort"),
            *("stack", "tile", "trim_zeros", "unstack", "vdot", "vstack"),
        )
    ),
    "jax.lax": LIKE
    | frozenset(
        (
            *("betainc", "reduce_precision", "reshape"),
            *("abs", "add", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "broadcast"),
            *("broadcast_in_dim", "clz", "cumlogsumexp", "cummax", "cummin", "cumprod", "cumsum"),
            *("div", "expand_dims", "full", "integer_pow", "max", "min", "mul", "neg"),
            *("population_count", "rem", "select", "shift_left", "shift_right_arithmetic"),
            *("shift_right_logical", "sign", "sort", "square", "sub", "unstack"),
        )
    ),
    "jax.nn": frozenset(
        (
            *("hard_tanh", "identity", "log_sigmoid", "mish", "relu", "soft_sign"),
            *("sparse_plus", "sparse_sigmoid", "squareplus", "tanh"),
        )
    ),
    "jax.scipy.special": frozenset(
        (
            *("betainc", "betaln", "boxcox", "boxcox1p", "comb", "digamma", "entr", "erf", "erfc"),
            *("erfinv", "expit", "factorial", "gammainc", "gammaincc", "gammaln", "i0", "i0e", "i1"),
            *("i1e", "kl_div", "loggamma", "logit", "polygamma", "rel_entr", "xlog1py", "xlogy", "zeta"),
        )
    ),
    "jax.scipy.stats.beta": frozenset(_TAILS),
    "jax.scipy.stats.norm": frozenset(_DENSITIES),
    **{
        f"jax.scipy.stats.{name}": frozenset((*_DENSITIES, *_TAILS, "ppf", "isf"))
        for name in ("cauchy", "expon", "gumbel_l", "gumbel_r", "laplace", "logistic")
    },
    "jax.scipy.stats.uniform": frozenset((*_DENSITIES, "ppf")),
}
"""Module of JAX -> functions whose result is weakly typed where the arguments promote to a weak type."""

STRONG: Final[dict[str, frozenset[str]]] = {
    "jax.numpy": frozenset(
        (
            *("amax", "amin", "average", "bitwise_count", "frexp", "log10", "log2", "max", "mean"),
            *("linspace", "min", "nan_to_num", "nanmean", "prod", "ptp", "std", "sum", "var"),
        )
    ),
    "jax.nn": frozenset({"gelu"}),
    "jax.scipy.special": frozenset(
        (
            *("beta", "dawsn", "erfcx", "exp1", "expi", "expn", "gamma", "gammasgn", "log_ndtr"),
            *("ndtr", "ndtri", "owens_t", "poch", "spence"),
        )
    ),
    "jax.scipy.stats.norm": frozenset((*_TAILS, "ppf", "isf")),
    "jax.scipy.stats.truncnorm": frozenset((*_DENSITIES, *_TAILS)),
    "jax.scipy.stats.uniform": frozenset({"cdf"}),
}
"""Module of JAX -> functions whose result is strongly typed, whatever the arguments are."""

STRONG_BESIDE: Final[dict[str, frozenset[str]]] = {
    "jax.scipy.stats.poisson": frozenset({"cdf"}),
    **{
        f"jax.scipy.stats.{name}": frozenset(("cdf", "logpmf", "pmf", "ppf"))
        for name in ("bernoulli", "betabinom", "geom", "nbinom")
    },
}
"""Module of JAX -> functions whose result is strongly typed where an argument is, of whatever kind."""


def with_weak_types(module: str, name: str, value: Any) -> Any:
    """What JAX's `module` has under a name, with the weak types of JAX's results."""
    if not isinstance(value, (FunctionType, Ufunc)):
        return value
    if name in WEAK.get(module, ()):
        made = _weakly_typed(value, only_first=name in FIRST)
        made = _strongly_typed(made, only_first=True) if name == "heaviside" else made
    elif name in ALONE and module == "jax.numpy":
        made = _strongly_typed(_weakly_typed(value, only_first=False), only_beside=True)
    elif name in STRONG.get(module, ()):
        made = _strongly_typed(value)
    elif name in STRONG_BESIDE.get(module, ()):
        made = _strongly_typed(value, only_beside=True)
    else:
        return value
    made = value.calling(made) if isinstance(value, Ufunc) else made
    note_same(made, value)
    return made


def _weakly_typed(function: Callable[..., Any], only_first: bool) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        if not Installed.is_on or kwargs.get("dtype") is not None:
            return result
        dtypes = [a for a in args if isinstance(a, (np.dtype, type, str))]
        deciding = (
            [*args, *kwargs.values()][:1]
            if only_first
            else (args, [v for k, v in kwargs.items() if k != "dtype"])
        )
        if dtypes or not _promote_to_weak(tree.leaves(deciding)):
            return result
        return tree.map(lambda leaf: weak_in_jax(leaf, True), result)

    return call


def _promote_to_weak(leaves: list[Any]) -> bool:
    """Whether arguments promote to a weak type: all are weak, or those that are not are of a lower kind."""
    strong_kinds = [_rank(leaf.dtype) for leaf in leaves if not _is_weak(leaf)]
    weak_kinds = [
        _rank(getattr(leaf, "dtype", type(leaf))) for leaf in leaves if _is_weak(leaf) and _is_number(leaf)
    ]
    return not strong_kinds or max(weak_kinds, default=-1) > max(strong_kinds)


def _is_number(leaf: Any) -> bool:
    return hasattr(leaf, "dtype") or type(leaf) in PYTHON_SCALARS


def _rank(dtype: Any) -> int:
    """The place of a dtype's kind in the order of promotion: booleans, integers, floats, complex numbers."""
    return {"b": 0, "u": 1, "i": 1, "c": 3}.get(np.dtype(dtype).kind, 2)


def _is_weak(leaf: Any) -> bool:
    """Whether an argument leaves the dtype of a result to others: numbers of Python, and what is no array."""
    if isinstance(leaf, (Array, Tracer)):
        return bool(leaf.weak_type)
    return type(leaf) in PYTHON_SCALARS or not hasattr(leaf, "dtype")


def _strongly_typed(
    function: Callable[..., Any], only_beside: bool = False, only_first: bool = False
) -> Callable[..., Any]:
    """`function` with strongly typed results; with `only_beside` where an argument is, with `only_first`
    where the first one is."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        deciding = [*args, *kwargs.values()][: 1 if only_first else None]
        if not Installed.is_on or ((only_beside or only_first) and all(map(_is_weak, deciding))):
            return result
        return tree.map(_strong, result)

    return call


def _strong(leaf: Any) -> Any:
    if not isinstance(leaf, (Array, Tracer)) or not leaf.weak_type:
        return leaf
    return strong(leaf) if isinstance(leaf, Array) else Tracer(leaf.frame, leaf.value, leaf.type, leaf.shape)
