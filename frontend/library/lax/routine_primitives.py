"""What `bind` of the primitives of linear algebra and of named axes does, as `attributed_primitives.py` says.

Input: operands as positional arguments, JAX's attributes as keywords. Output: a list where the primitive of
JAX has several results.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ...errors import UnsupportedError
from ...tracing.locations import user_location_text
from ..linalg import reflections
from . import collectives, exchanges, linalg

Function = Callable[..., Any]


def _listed(function: Function) -> Function:
    """A function that returns a list."""
    return lambda *xs, **attributes: [*function(*xs, **attributes)]


def _eigh(
    x: Any,
    *,
    lower: bool = True,
    sort_eigenvalues: bool = True,
    subset_by_index: Any = None,
    algorithm: Any = None,
) -> list[Any]:
    vectors, values = linalg.eigh(
        x,
        lower=lower,
        symmetrize_input=False,
        sort_eigenvalues=sort_eigenvalues,
        subset_by_index=subset_by_index,
        implementation=algorithm,
    )
    return [vectors, values]


def _svd(x: Any, *, compute_uv: bool = True, **attributes: Any) -> list[Any]:
    """The singular values first, as the primitive has them."""
    if not compute_uv:
        return [linalg.svd(x, compute_uv=False, **attributes)]
    left, values, right = linalg.svd(x, compute_uv=True, **attributes)
    return [values, left, right]


def _eig(
    x: Any,
    *,
    compute_left_eigenvectors: bool = True,
    compute_right_eigenvectors: bool = True,
    enable_eigvec_derivs: bool = False,
    implementation: Any = None,
) -> list[Any]:
    del enable_eigvec_derivs, implementation
    result = reflections.eig(
        x,
        compute_left_eigenvectors=compute_left_eigenvectors,
        compute_right_eigenvectors=compute_right_eigenvectors,
    )
    return [*result]


def _tridiagonal_solve(dl: Any, d: Any, du: Any, b: Any, *, perturb_singular: bool = False) -> Any:
    if perturb_singular:
        raise UnsupportedError("tridiagonal_solve(perturb_singular=True)", where=user_location_text())
    return linalg.tridiagonal_solve(dl, d, du, b)


def _reduced(function: Function) -> Function:
    """A collective of several operands over the named `axes`."""
    return lambda *xs, axes, axis_index_groups=None: [
        function(x, axes, axis_index_groups=axis_index_groups) for x in xs
    ]


def _name(axis_name: Any) -> Any:
    return axis_name[0] if isinstance(axis_name, tuple) and len(axis_name) == 1 else axis_name


def _all_gather(
    *xs: Any,
    all_gather_dimension: int,
    axis_name: Any,
    axis_index_groups: Any = None,
    axis_size: int | None = None,
    tiled: bool = False,
) -> list[Any]:
    del axis_size
    names = {"axis_index_groups": axis_index_groups, "tiled": tiled, "axis": all_gather_dimension}
    return [collectives.all_gather(x, _name(axis_name), **names) for x in xs]


def _all_to_all(
    x: Any,
    *,
    split_axis: int,
    concat_axis: int,
    axis_name: Any,
    axis_index_groups: Any = None,
    tiled: bool = False,
) -> Any:
    return exchanges.all_to_all(
        x, _name(axis_name), split_axis, concat_axis, axis_index_groups=axis_index_groups, tiled=tiled
    )


NAMED_AXES: Final[dict[str, Function]] = {
    "all_gather": _all_gather,
    "all_to_all": _all_to_all,
    "axis_index": lambda *, axis_name: collectives.axis_index(_name(axis_name)),
    "pmax": _reduced(collectives.pmax),
    "pmin": _reduced(collectives.pmin),
    "ppermute": lambda *xs, axis_name, perm: [collectives.ppermute(x, _name(axis_name), perm) for x in xs],
    "psum": _reduced(collectives.psum),
}
"""Functions by the names of JAX's primitives in `jax.lax`."""

LINEAR_ALGEBRA: Final[dict[str, Function]] = {
    "cholesky": lambda x: linalg.cholesky(x, symmetrize_input=False),
    "cholesky_update": linalg.cholesky_update,
    "eig": _eig,
    "eigh": _eigh,
    "hessenberg": _listed(reflections.hessenberg),
    "householder_product": reflections.householder_product,
    "lu": _listed(linalg.lu),
    "lu_pivots_to_permutation": linalg.lu_pivots_to_permutation,
    "ormqr": reflections.ormqr,
    "qr": _listed(linalg.qr),
    "svd": _svd,
    "symmetric_product": linalg.symmetric_product,
    "triangular_solve": linalg.triangular_solve,
    "tridiagonal_solve": _tridiagonal_solve,
}
"""Functions by the names of JAX's primitives in `jax.lax.linalg`."""
