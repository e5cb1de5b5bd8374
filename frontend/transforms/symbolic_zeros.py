"""Zeros that a user's rule can see: `SymbolicZero` in place of an array, `CustomVJPPrimal` around a primal.

A rule that is defined with `symbolic_zeros=True` gets them, and may return zeros so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...dialects.dataclass import dataclass
from ...dialects.types import INEXACT
from ...passes.ir.construction import Activity
from ..tracing.interpreter import as_value, ops
from ..tracing.jax_rules import FLOAT0, follows_jax
from ..tracing.specs import ShapeDtype
from ..tree import map as map_tree


class SymbolicZero:
    """A tangent or cotangent that is known to be zero: it has a type and is no array."""

    def __init__(self, aval: ShapeDtype) -> None:
        self.aval = aval

    @staticmethod
    def from_primal_value(value: Any) -> SymbolicZero:
        """The zero tangent of `value`."""
        return SymbolicZero(ShapeDtype.like(as_value(value)))

    @property
    def shape(self) -> tuple[Any, ...]:
        """The shape of the zeros."""
        return self.aval.shape

    @property
    def dtype(self) -> Any:
        """Their dtype."""
        return self.aval.dtype

    @property
    def ndim(self) -> int:
        """The number of their axes."""
        return len(self.shape)

    def __repr__(self) -> str:
        return f"SymbolicZero({self.aval})"


@dataclass(frozen=True)
class CustomVJPPrimal:
    """What a `fwd` rule that asked for symbolic zeros gets: an array, and whether it is differentiated."""

    value: Any
    perturbed: bool


def zero_from_primal(val: Any, symbolic_zeros: bool = False) -> Any:
    """Zero tangents for the arrays of the tree `val`: arrays, or `SymbolicZero`s.

    An array has the shape and dtype of its primal; of integers and bools it is False, or JAX's float0 in
    programs written for JAX.
    """
    return map_tree(SymbolicZero.from_primal_value if symbolic_zeros else _zeros, val)


def _zeros(value: Any) -> Any:
    known = as_value(value)
    if known.dtype in INEXACT:
        return ops.full(0, tuple(known.shape), known.dtype)
    if follows_jax():
        return np.zeros(known.shape, FLOAT0)
    return ops.full(False, tuple(known.shape), np.dtype(np.bool_))


def custom_vjp_primal_tree_values(tree: Any) -> Any:
    """The values in a tree of `CustomVJPPrimal`s, as a `fwd` rule gets it that asked for symbolic zeros."""
    return map_tree(lambda p: p.value, tree, is_leaf=lambda p: isinstance(p, CustomVJPPrimal))


def with_zeros(leaves: Sequence[Any], active: Activity | None) -> list[Any]:
    """Tangents or cotangents as a rule sees them: those of integers are zero, and what is not `active`."""
    flags = (True,) * len(leaves) if active is None else active
    return [
        leaf if has and leaf.dtype in INEXACT else SymbolicZero.from_primal_value(leaf)
        for leaf, has in zip(leaves, flags, strict=True)
    ]


def with_marks(leaves: Sequence[Any], active: Activity | None) -> list[CustomVJPPrimal]:
    """Primals as a `fwd` rule sees them."""
    flags = (True,) * len(leaves) if active is None else active
    return [
        CustomVJPPrimal(leaf, has and leaf.dtype in INEXACT) for leaf, has in zip(leaves, flags, strict=True)
    ]


def instantiated(value: Any) -> Any:
    """A value, or the zeros that it stands for."""
    return ops.full(0, tuple(value.shape), value.dtype) if isinstance(value, SymbolicZero) else value
