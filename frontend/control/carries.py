"""Carries of loops and results of branches: trees of values whose types must agree, or an error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...dialects.dialect import BY_NAME
from ...dialects.types import BOOL, TensorType
from .. import tree
from ..errors import ArgumentError, ArgumentTypeError, ShapeError, TraceError
from ..tracing.default_dtypes import note_promotion
from ..tracing.frames import current_frame
from ..tracing.function_scope import (
    Argument,
    FunctionScope,
    PrivateFunction,
    argument_of,
    keep_dimensions,
    varied_over,
)
from ..tracing.interpreter import as_value, as_weak, ops, wide_of
from ..tracing.locations import user_location_text
from ..tracing.scalars import widens_to
from ..tracing.sizes import Dim
from ..tracing.varying import axes_of_value

_KINDS = "biufVc"  # bool, integers, floats (bfloat16 is V), complex: a number yields to a later one


def scalar(value: Any, what: str) -> Any:
    """`value` as a 0-d array, or an error that calls it `what`."""
    array = as_value(value)
    if array.ndim != 0:
        raise ShapeError(
            f"{what} is {ops.type_of(array)}, expected a 0-d array",
            where=user_location_text(),
            hint="reduce it (.all(), .any()), or map over it with adze.vmap",
        )
    return array


def selected(predicate: Any, value: Any, other: Any) -> Any:
    """`value` where the 0-d `predicate` holds, else `other`, both of one shape; Python numbers stay weak."""
    is_weak = value.weak_type and other.weak_type
    if is_weak:
        value, other = wide_of(value), wide_of(other)
    dtype = value.dtype if other.weak_type else other.dtype
    mask = ops.broadcast_in_dim(predicate, shape=value.shape, dimensions=()) if value.ndim else predicate
    result = ops.select(mask, as_value(value, dtype), as_value(other, dtype))
    return as_weak(result) if is_weak else result


def with_carried_sizes(results: Sequence[Any], state: Sequence[Any], body: PrivateFunction) -> None:
    """Let the results of a loop have the named sizes of its initial state, if a step keeps all of them."""
    dynamic = [place for place, v in enumerate(state) if not ops.tensor_type(v).is_static]
    for place in dynamic:
        names = argument_of(state[place]).dimensions
        if tuple(body.result_names[place]) != names or any("?" in (name or "") for name in names):
            return
    for place in dynamic:
        keep_dimensions(results[place], state[place].shape)


def is_true(value: Any) -> Any:
    """Whether a value is not zero."""
    return value if value.dtype == BOOL else ops.compare(value, ops.zeros_like(value), direction="NE")


def integer(value: Any, what: str, least: int) -> int:
    """`value` as an integer that is known now and not below `least`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise ArgumentTypeError(
            f"{what} is {value!r}, expected an integer that is known while tracing",
            where=user_location_text(),
            hint="for a number of steps that is computed, use adze.fori_loop or adze.while_loop",
        )
    if value < least:
        said = "negative" if value < 0 else f"{value}"
        raise ArgumentError(
            f"{what} {value} is {said}" if value < 0 else f"{what} is {said}, expected at least {least}",
            where=user_location_text(),
        )
    return int(value)


def typed_tree(structure: Any, types: Sequence[Any]) -> str:
    """A tree with the type of each leaf in its place."""
    text = tree.describe(structure)
    pieces = text.split("*")
    if len(pieces) != len(types) + 1:
        return f"{text} of ({', '.join(map(str, types))})"
    return pieces[0] + "".join(f"{t}{piece}" for t, piece in zip(types, pieces[1:], strict=True))


def yields_to(value: Any, dtype: np.dtype) -> bool:
    """Whether `value` is a Python number, or made of such alone, that may become `dtype`."""
    return bool(value.weak_type) and _KINDS.index(value.dtype.kind) <= _KINDS.index(dtype.kind)


def fits_in(value: Any, dtype: np.dtype) -> bool:
    """Whether `value` may become `dtype` in a carry: as a number that yields, or a float with more bits."""
    return yields_to(value, dtype) or widens_to(value.dtype, dtype)


def settled_result(result: Any, structure: Any, state: Sequence[Any]) -> Any:
    """What a body returns for what is carried: its Python numbers in the dtypes of the carry, and float32 in
    float64 where that is carried."""
    leaves, result_structure = tree.flatten(result)
    if result_structure != structure:
        return result
    settled = []
    for leaf, carried in zip(leaves, state, strict=True):
        value = as_value(leaf)
        if not carried.weak_type and value.dtype != carried.dtype and fits_in(value, carried.dtype):
            value = as_value(value, carried.dtype)
        settled.append(value)
    return tree.unflatten(structure, settled)


def widened(state: Sequence[Any], types: Sequence[TensorType]) -> list[Any] | None:
    """A carry with its Python numbers in the dtypes that a step returns, and float32 in float64 where a step
    makes that of it, as `+` does; None where they have them."""
    if all(v.dtype == t.dtype for v, t in zip(state, types, strict=True)):
        return None
    after = [
        as_value(v, t.dtype) if v.dtype != t.dtype and v.ndim == t.rank and fits_in(v, t.dtype) else v
        for v, t in zip(state, types, strict=True)
    ]
    note_promotion(state, [v.dtype for v in after])
    return None if all(w is v for w, v in zip(after, state, strict=True)) else after


def strengthened(state: Sequence[Any], are_weak: Sequence[bool]) -> list[Any] | None:
    """A carry whose values are weakly typed only where a step's results are; None where they are so."""
    pairs = list(zip(state, are_weak, strict=False))
    if not any(v.weak_type and not is_weak for v, is_weak in pairs):
        return None
    return [ops.convert(wide_of(v), dtype=v.dtype) if v.weak_type and not w else v for v, w in pairs]


def marked(values: Sequence[Any], are_weak: Sequence[bool]) -> list[Any]:
    """Results of an op, of which some are weakly typed."""
    return [as_weak(v) if weak else v for v, weak in zip(values, are_weak, strict=True)]


def weak_carry(state: Sequence[Any], are_weak: Sequence[bool]) -> list[bool]:
    """Which entries of the last carry are weakly typed: those of the first and of every step."""
    return [bool(v.weak_type) and weak for v, weak in zip(state, are_weak, strict=False)]


def grown(state: Sequence[Any], axes: Sequence[frozenset[str]]) -> list[Any] | None:
    """A carry that varies over the axes of a mesh that a step's results vary over; None where it does."""
    after = [varied_over(v, a) for v, a in zip(state, axes, strict=False)]
    return None if all(w is v for w, v in zip(after, state, strict=True)) else after


def settled_start(init: Any, types: Sequence[TensorType] | None) -> Any:
    """An initial carry outside a trace, its Python numbers in the dtypes that they have inside one."""
    leaves, structure = tree.flatten(init)
    values = [as_value(leaf) for leaf in leaves]
    if types is not None:
        pairs = zip(values, types, strict=False)
        values = [as_value(v, t.dtype) if fits_in(v, t.dtype) else v for v, t in pairs]
    return tree.unflatten(structure, values)


def check_carry(
    name: str,
    function: str,
    structure: Any,
    state: Sequence[Any],
    result_tree: Any,
    result_types: Sequence[TensorType],
    *,
    numbers_yield: bool = False,
) -> None:
    """Raise unless a step returns the tree and the types of its carry."""
    if result_tree != structure:
        before = typed_tree(structure, [ops.tensor_type(v) for v in state])
        raise TraceError(
            f"the carry of {name} changes its tree:\n    before a step: {before}\n    after a step:  "
            f"{typed_tree(result_tree, result_types)}",
            where=user_location_text(),
            hint=f"let {function} give back what it is given, in the same tree",
        )
    for path, value, result_type in zip(tree.paths(structure), state, result_types, strict=True):
        kind = ops.tensor_type(value)
        if kind == result_type or (
            numbers_yield and kind.shape == result_type.shape and yields_to(value, result_type.dtype)
        ):
            continue
        hint = "give the carry one shape"
        if kind.shape == result_type.shape:
            hint = f"convert what the body returns: .astype('{kind.dtype.name}'), or start with {result_type}"
        raise TraceError(
            f"the carry of {name} changes its type: carry{path} is {kind}, {function} returns {result_type}",
            where=user_location_text(),
            hint=hint,
        )


def check_carried_sizes(
    name: str, function: str, structure: Any, state: Sequence[Any], body: PrivateFunction
) -> None:
    """Raise where a step returns a carry of another named size: the loop has one place for it.

    One that a slice may have cut, such as ``min(n, 1)``, may have the other size when the program runs.
    """
    for path, value, names in zip(tree.paths(structure), state, body.result_names, strict=False):
        pairs = list(zip(argument_of(value).dimensions, names, strict=False))
        if all(n == m or "?" in f"{n}{m}" or "(" in f"{n}" for n, m in pairs):
            continue
        before, after = (
            ", ".join(side or str(n) for side, n in zip(sides, value.shape, strict=True))
            for sides in zip(*pairs, strict=True)
        )
        raise TraceError(
            f"the carry of {name} changes its size: carry{path} is [{before}], {function} returns [{after}]",
            where=user_location_text(),
            hint="give the carry one shape",
        )


def with_checked_sizes(name: str, carry: Sequence[Any], result: Any) -> Any:
    """What a step returns; the program fails when it runs where that has other sizes than its carry.

    Sizes without a name, and those that a slice may have cut, show only then.
    """
    leaves = tree.leaves(result)
    frame = current_frame()
    if frame is None or len(leaves) != len(carry):
        return result
    for before, after in zip(carry, leaves, strict=True):
        sides = argument_of(before), argument_of(as_value(after))
        if sides[0].type != sides[1].type or not isinstance(sides[0].type, TensorType):
            continue
        for axis, (n, m) in enumerate(zip(*(side.dimensions for side in sides), strict=True)):
            if n != m and any("?" in text or "(" in text for text in (n or "", m or "")):
                sizes = frame.size_value(before.shape[axis]), frame.size_value(after.shape[axis])
                message = f"adze: the carry of {name} changes its size along axis {axis}"
                frame.emit(BY_NAME["size_check"], sizes, {"message": message})
    return result


def check_eager_carry(name: str, function: str, before: Any, after: Any) -> None:
    """The same outside a trace, so that a function behaves there as it will when it is compiled."""
    leaves, structure = tree.flatten(before)
    results, result_structure = tree.flatten(after)
    types = [ops.tensor_type(as_value(v)) for v in results]
    check_carry(
        name, function, structure, [as_value(v) for v in leaves], result_structure, types, numbers_yield=True
    )


def unchanged(body: PrivateFunction, count: int) -> list[int]:
    """The entries of a carry that each step gives back as it is given them: they are constants of the loop,
    which no derivative keeps for each step and no kernel copies."""
    return [place for place in range(count) if body.forwarded[place] == place]


def without(values: Sequence[Any], places: Sequence[int]) -> list[Any]:
    """The values but those at `places`."""
    return [value for place, value in enumerate(values) if place not in places]


def with_unchanged(results: Sequence[Any], state: Sequence[Any], places: Sequence[int]) -> list[Any]:
    """The results of a loop, with the entries of the carry that it has as constants in their places."""
    values = list(results)
    for place in places:
        values.insert(place, state[place])
    return values


def constants_first(
    scope: FunctionScope,
    nested: PrivateFunction,
    arguments: Sequence[Argument],
    fixed: Sequence[int] = (),
    *,
    returns_fixed: bool = False,
) -> str:
    """A function like `nested` that takes what it captures, and the arguments that are `fixed`, before its
    other arguments; it does not return the results at the places `fixed`, unless it `returns_fixed`."""
    if not nested.captured and not fixed:
        return nested.symbol
    constants = [argument_of(v) for v in nested.captured]
    k = len(constants)
    bound = dict(enumerate(nested.captured))

    def call(operands: Sequence[Any]) -> tuple[Any, ...]:
        captured, first, others = operands[:k], operands[k : k + len(fixed)], iter(operands[k + len(fixed) :])
        own = [
            first[fixed.index(place)] if place in fixed else next(others) for place in range(len(arguments))
        ]
        results = ops.call(*own, *captured, callee=nested.symbol, results=nested.result_types)
        return tuple(results if returns_fixed else without(results, fixed))

    ordered = [*(arguments[place] for place in fixed), *without(arguments, fixed)]
    return scope.trace(nested.symbol, call, [*constants, *ordered], bound).symbol


def slice_argument(x: Any) -> Argument:
    """What a body is traced at for one slice of `x` along its leading axis."""
    kind = ops.tensor_type(x)
    names = tuple(n.text if isinstance(n, Dim) else None for n in x.shape[1:])
    return Argument(TensorType(kind.shape[1:], kind.dtype), names, bool(x.weak_type), axes_of_value(x))
