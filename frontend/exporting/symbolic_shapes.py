"""Symbolic shapes as texts: `symbolic_shape("a, 2*b")`, and specs of arguments with such shapes."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, TypeGuard

import numpy as np

from .. import tree
from ..errors import ArgumentError
from ..tracing.locations import user_location_text
from ..tracing.sizes import Dim
from ..tracing.specs import ShapeDtype
from ..tracing.symbolic import SymbolicDim, SymbolicScope, size_of_expression


def is_symbolic_dim(p: Any) -> TypeGuard[SymbolicDim | Dim]:
    """Whether a dimension is an expression of names, not an integer."""
    return isinstance(p, (SymbolicDim, Dim))


def symbolic_shape(
    shape_spec: str | None,
    *,
    constraints: str | Sequence[str] = (),
    scope: SymbolicScope | None = None,
    like: Sequence[Any] | None = None,
) -> tuple[Any, ...]:
    """The shape that a text writes: `symbolic_shape("a, 2*b, 4")`.

    Names stand for sizes of at least 1, and obey the `constraints`. The names of one call, or of calls with
    the same `scope`, may be used together. `_` and `...` stand for sizes of `like`. Raises `ArgumentError`.
    """
    texts = (constraints,) if isinstance(constraints, str) else tuple(constraints)
    if scope is not None and texts:
        raise ArgumentError(
            "cannot specify both a scope, which has its constraints, and constraints",
            where=user_location_text(),
            hint="pass them to SymbolicScope",
        )
    scope = scope or SymbolicScope(texts)
    parts = ["..."] if shape_spec is None else _parts(shape_spec)
    known = None if like is None else list(like)
    if "..." in parts:
        at = parts.index("...")
        if known is None or parts.count("...") > 1 or len(known) < len(parts) - 1:
            raise _misfit(shape_spec, like, "'...' stands once, for the other dimensions of a known shape")
        parts[at : at + 1] = ["_"] * (len(known) - len(parts) + 1)
    if known is not None and len(known) != len(parts):
        raise _misfit(shape_spec, like, f"it has {len(parts)} dimensions, the shape {len(known)}")
    shape = []
    for axis, part in enumerate(parts):
        if part == "_":
            if known is None:
                raise _misfit(shape_spec, like, "'_' stands for a size of a known shape")
            shape.append(known[axis])
        else:
            shape.append(scope.dimension(size_of_expression(part)))
        if known is not None and isinstance(shape[-1], int) and shape[-1] != known[axis]:
            raise _misfit(shape_spec, like, f"axis {axis} is {known[axis]}")
    return tuple(shape)


def symbolic_args_specs(
    args: Any,
    shapes_specs: Any,
    *,
    constraints: str | Sequence[str] = (),
    scope: SymbolicScope | None = None,
) -> Any:
    """Specs of arguments with symbolic shapes: a tree like `args`, whose dtypes they have.

    `shapes_specs` is a text as of `symbolic_shape` for all arrays, or a tree of texts that is a prefix of
    `args`; None leaves a shape as it is. Raises `ArgumentError`.
    """
    if scope is None:
        scope = SymbolicScope(constraints)
    elif constraints:
        raise ArgumentError("cannot specify both a scope and constraints", where=user_location_text())
    leaves, structure = tree.flatten(args)
    if isinstance(shapes_specs, list):
        shapes_specs = tuple(shapes_specs)
    texts = tree.leaves(
        tree.broadcast(shapes_specs, args, is_leaf=lambda x: x is None or isinstance(x, str)),
        is_leaf=lambda x: x is None,
    )
    if len(texts) != len(leaves):
        raise ArgumentError(
            f"shapes_specs {shapes_specs!r} is no prefix of the arguments {tree.describe(structure)}",
            where=user_location_text(),
        )
    specs = []
    for leaf, text in zip(leaves, texts, strict=True):
        shape = symbolic_shape(text, scope=scope, like=np.shape(leaf))
        specs.append(ShapeDtype(shape, getattr(leaf, "dtype", None) or np.asarray(leaf).dtype))
    return tree.unflatten(structure, specs)


def _parts(text: str) -> list[str]:
    """The texts of the dimensions of a shape."""
    try:
        node = ast.parse(f"({text.strip().rstrip(',').replace('^', '**')},)", mode="eval").body
    except SyntaxError:
        raise ArgumentError(
            f"cannot read the shape {text!r}",
            where=user_location_text(),
            hint="write dimensions with commas between them: 'a, 2*b, 4', '(a, _)' or 'a, ...'",
        ) from None
    assert isinstance(node, ast.Tuple)
    nodes = node.elts
    if len(nodes) == 1 and isinstance(nodes[0], ast.Tuple):
        nodes = nodes[0].elts
    return [ast.unparse(part) for part in nodes]


def _misfit(text: str | None, like: Sequence[Any] | None, why: str) -> ArgumentError:
    shown = "" if like is None else f" for an array of shape {tuple(like)}"
    return ArgumentError(f"symbolic shape {text!r}{shown}: {why}", where=user_location_text())
