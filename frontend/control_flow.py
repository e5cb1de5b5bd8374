"""Control flow as users write it: cond, switch, while_loop, fori_loop, scan, map, associative_scan.

Each traces its functions as private functions and records one op that refers to them. Outside a trace, Python
itself is the control flow: the functions run eagerly, step by step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..dialects.types import INTEGERS, TensorType
from . import namespace as xp
from . import tree
from .custom_derivatives import checkpoint
from .errors import ArgumentError, ShapeError, TraceError
from .interpreter import as_value, ops
from .locations import user_location_text
from .nested import Argument, Nested, Workshop, argument_of
from .sizes import Dim
from .trace import function_name
from .tracing import capture_key, current_frame


def cond(pred: Any, true_fun: Callable[..., Any], false_fun: Callable[..., Any], *operands: Any) -> Any:
    """`true_fun(*operands)` where the 0-d `pred` is true, else `false_fun(*operands)`.

    Only the chosen branch runs. Both must give the same tree, shapes and dtypes. Under `vmap` with a batched
    `pred` both run and results are selected.
    """
    predicate = _scalar(pred, "the predicate of cond")
    if current_frame() is None:
        return (true_fun if bool(predicate) else false_fun)(*operands)
    index = ops.convert(ops.compare(predicate, ops.zeros_like(predicate), direction="NE"), dtype=_INT32)
    return _branches("cond", index, (false_fun, true_fun), operands)


def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any) -> Any:
    """`branches[index](*operands)`, the 0-d integer `index` clamped to the branches there are."""
    if not branches:
        raise ArgumentError("switch needs at least one branch", where=user_location_text())
    value = _scalar(index, "the index of switch")
    if value.dtype not in INTEGERS:
        raise ArgumentError(
            f"the index of switch is {ops.type_of(value)}, expected a 0-d integer", where=user_location_text()
        )
    if current_frame() is None:
        return branches[min(max(int(value), 0), len(branches) - 1)](*operands)
    return _branches("switch", ops.convert(value, dtype=_INT32), tuple(branches), operands)


def while_loop(
    cond_fun: Callable[[Any], Any],
    body_fun: Callable[[Any], Any],
    init_val: Any,
    *,
    max_steps: int | None = None,
) -> Any:
    """`val = init_val; while cond_fun(val): val = body_fun(val); val`, with a state of fixed types.

    Differentiable in forward mode; in reverse mode with `max_steps`, an upper bound on the number of steps,
    with which the loop becomes a scan whose finished steps do nothing.
    """
    if current_frame() is None and max_steps is None:
        val = init_val
        while bool(_scalar(cond_fun(val), "what cond_fun gives")):
            val = body_fun(val)
        return val
    if max_steps is not None:

        def step(val: Any, _: Any) -> Any:
            return cond(cond_fun(val), body_fun, lambda v: v, val), None

        return scan(step, init_val, None, length=max_steps)[0]
    leaves, structure = tree.flatten(init_val)
    state = _settled_state("while_loop", body_fun, leaves, structure)
    arguments = [argument_of(v) for v in state]
    shop = Workshop()
    ask = shop.nested("condition", lambda xs: cond_fun(tree.unflatten(structure, xs)), arguments)
    if len(ask.result_types) != 1 or ask.result_types[0].shape != ():
        raise ArgumentError(
            f"cond_fun of while_loop gives {', '.join(_texts(ask.result_types))}, expected one 0-d bool",
            where=user_location_text(),
        )

    def is_left(xs: Sequence[Any]) -> Any:
        value = xp.asarray(tree.leaves(cond_fun(tree.unflatten(structure, xs)))[0])
        return ops.compare(value, ops.zeros_like(value), direction="NE")

    ask = shop.nested("condition", is_left, arguments)
    body = shop.nested("body", lambda xs: body_fun(tree.unflatten(structure, xs)), arguments)
    _check_carry("while_loop", "body_fun", structure, state, body.result_tree, body.result_types)
    ask_first, body_first = _constants_first(shop, ask, arguments), _constants_first(shop, body, arguments)
    results = ops.while_(
        *ask.captured,
        *body.captured,
        *state,
        condition=ask_first,
        body=body_first,
        condition_constants=len(ask.captured),
        body_constants=len(body.captured),
    )
    return tree.unflatten(structure, _sequence(results))


def fori_loop(lower: Any, upper: Any, body_fun: Callable[[Any, Any], Any], init_val: Any) -> Any:
    """`val = init_val; for i in range(lower, upper): val = body_fun(i, val); val`.

    With static bounds it is a scan and differentiable in both modes; with traced bounds a while loop.
    """
    if isinstance(lower, (int, np.integer)) and isinstance(upper, (int, np.integer)):
        steps = max(int(upper) - int(lower), 0)
        if current_frame() is None:
            val = init_val
            for i in range(int(lower), int(upper)):
                val = body_fun(i, val)
            return val
        indices = xp.arange(int(lower), int(lower) + steps)
        return scan(lambda val, i: (body_fun(i, val), None), init_val, indices, length=steps)[0]
    first = as_value(lower)
    dtype = np.dtype(np.int64) if first.weak_type else first.dtype
    last = as_value(upper, dtype)

    def keep_going(state: Any) -> Any:
        return state[0] < state[1]

    def step(state: Any) -> Any:
        i, end, val = state
        return i + 1, end, body_fun(i, val)

    return while_loop(keep_going, step, (as_value(lower, dtype), last, init_val))[2]


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int = 1,
    *,
    checkpoint_every: int | None = None,
) -> tuple[Any, Any]:
    """`carry, ys[t] = f(carry, xs[t])` for each slice of the leading axis; the last carry, and `ys` stacked.

    `xs` is a tree of arrays of one leading size, or None with `length`. The carry keeps its tree, shapes
    and dtypes. `reverse` runs from the end. `unroll` repeats the body in one step of the loop;
    `checkpoint_every=k` saves the carry of every k-th step only for the backward pass and computes the
    steps between again (k = sqrt(length) keeps memory lowest).
    """
    leaves, xs_structure = tree.flatten(xs)
    arrays = [as_value(leaf) for leaf in leaves]
    steps = _scan_length(arrays, tree.paths(xs_structure), length)
    if current_frame() is None:
        return _eager_scan(f, init, arrays, xs_structure, int(steps), reverse)
    if checkpoint_every is not None and isinstance(steps, int) and 1 < checkpoint_every < steps:
        return _checkpointed_scan(f, init, arrays, xs_structure, steps, reverse, checkpoint_every)
    init_leaves, structure = tree.flatten(init)
    slices = [_slice_argument(x) for x in arrays]

    def call(carry: Any, found: Sequence[Any]) -> Any:
        pair = f(carry, tree.unflatten(xs_structure, found))
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TraceError(
                f"the function of scan must give a pair (carry, y), {function_name(f)} gives "
                f"{tree.describe(tree.structure(pair))}",
                where=user_location_text(),
            )
        return tuple(pair)

    shop = Workshop()
    state = [as_value(leaf) for leaf in init_leaves]

    def step(found: Sequence[Any]) -> Any:
        carry = tree.unflatten(structure, found[: len(state)])
        return call(carry, found[len(state) :])

    body = shop.nested(function_name(f), step, [*(argument_of(v) for v in state), *slices])
    carry_tree, y_tree, carry_count = _pair_trees(body)
    carry_types = body.result_types[:carry_count]
    widened = (
        [_widened(v, t) for v, t in zip(state, carry_types, strict=False)]
        if carry_tree == structure
        else state
    )
    if any(w is not v for w, v in zip(widened, state, strict=True)):
        state = widened
        body = shop.nested(function_name(f), step, [*(argument_of(v) for v in state), *slices])
        carry_tree, y_tree, carry_count = _pair_trees(body)
        carry_types = body.result_types[:carry_count]
    _check_carry("scan", function_name(f), structure, state, carry_tree, carry_types)
    width = int(unroll) if isinstance(steps, int) and unroll > 1 and steps % unroll == 0 else 1
    if width > 1:
        return _unrolled_scan(f, init, arrays, xs_structure, int(steps), reverse, width)
    first = _constants_first(shop, body, [*(argument_of(v) for v in state), *slices])
    static = steps if isinstance(steps, int) else None
    columns = [t.with_shape((static, *t.shape)) for t in body.result_types[carry_count:]]
    results = _sequence(
        ops.scan(
            *body.captured,
            *state,
            *arrays,
            body=first,
            constant_count=len(body.captured),
            carry_count=len(state),
            length=(steps,),
            reverse=reverse,
            results=(*carry_types, *columns),
        )
    )
    carry = tree.unflatten(structure, results[:carry_count])
    return carry, tree.unflatten(y_tree, results[carry_count:])


def map(f: Callable[[Any], Any], xs: Any, *, batch_size: int | None = None) -> Any:
    """`f` applied to each slice of the leading axis, one after the other; or `batch_size` at once."""
    leaves, structure = tree.flatten(xs)
    if batch_size is None:
        return scan(lambda _, x: (None, f(x)), None, xs)[1]
    from .batching import vmap

    arrays = [as_value(leaf) for leaf in leaves]
    steps = int(_scan_length(arrays, tree.paths(structure), None))
    whole = steps // batch_size
    grouped = [
        ops.reshape(
            ops.slice(
                x,
                start=(0,) * x.ndim,
                limit=(whole * batch_size, *x.shape[1:]),
                strides=(1,) * x.ndim,
            ),
            shape=(whole, batch_size, *x.shape[1:]),
        )
        for x in arrays
    ]
    parts = []
    if whole:
        found = scan(lambda _, x: (None, vmap(f)(x)), None, tree.unflatten(structure, grouped))[1]
        parts.append(tree.map(lambda y: ops.reshape(y, shape=(whole * batch_size, *y.shape[2:])), found))
    if steps % batch_size or not whole:
        rest = [
            ops.slice(
                x, start=(whole * batch_size, *[0] * (x.ndim - 1)), limit=x.shape, strides=(1,) * x.ndim
            )
            for x in arrays
        ]
        parts.append(vmap(f)(tree.unflatten(structure, rest)))
    return parts[0] if len(parts) == 1 else tree.map(lambda a, b: xp.concatenate([a, b]), *parts)


def associative_scan(fn: Callable[[Any, Any], Any], elems: Any, reverse: bool = False, axis: int = 0) -> Any:
    """All prefix combinations of `elems` along `axis` under the associative `fn`, in logarithmic depth.

    The recursion of Blelloch (1990): combine neighbours, scan the half, fill in between. `fn` maps two
    trees of slices to one and must work on many slices at once.
    """
    leaves, structure = tree.flatten(elems)
    arrays = [as_value(leaf) for leaf in leaves]
    axis = axis % arrays[0].ndim
    if reverse:
        arrays = [ops.reverse(x, axes=(axis,)) for x in arrays]

    def combine(a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
        return [
            as_value(x) for x in tree.leaves(fn(tree.unflatten(structure, a), tree.unflatten(structure, b)))
        ]

    def part(x: Any, start: int, stop: int, stride: int) -> Any:
        starts, limits, strides = [0] * x.ndim, list(x.shape), [1] * x.ndim
        starts[axis], limits[axis], strides[axis] = min(start, stop), stop, stride
        return ops.slice(x, start=tuple(starts), limit=tuple(limits), strides=tuple(strides))

    def prefix(xs: Sequence[Any]) -> list[Any]:
        n = xs[0].shape[axis]
        if n < 2:
            return list(xs)
        paired = combine([part(x, 0, n - n % 2, 2) for x in xs], [part(x, 1, n - n % 2, 2) for x in xs])
        odd = prefix(paired)
        later = [part(x, 2, n, 2) for x in xs]
        count = (n - 1) // 2
        even = combine([part(y, 0, count, 1) for y in odd], later) if count else []
        firsts = [part(x, 0, 1, 1) for x in xs]
        evens = (
            [ops.concatenate(f, e, axis=axis) for f, e in zip(firsts, even, strict=True)] if count else firsts
        )
        return [_interleaved(e, o, axis, n) for e, o in zip(evens, odd, strict=True)]

    found = prefix(arrays)
    if reverse:
        found = [ops.reverse(x, axes=(axis,)) for x in found]
    return tree.unflatten(structure, found)


# -- pieces ------------------------------------------------------------------------------------------

_INT32 = np.dtype(np.int32)


def _sequence(results: Any) -> list[Any]:
    return list(results) if isinstance(results, tuple) else [results]


def _scalar(value: Any, what: str) -> Any:
    found = as_value(value)
    if found.ndim != 0:
        raise ShapeError(
            f"{what} is {ops.type_of(found)}, expected a 0-d array",
            where=user_location_text(),
            hint="reduce it (.all(), .any()), or map over it with adze.vmap",
        )
    return found


def _branches(name: str, index: Any, functions: Sequence[Callable[..., Any]], operands: Sequence[Any]) -> Any:
    leaves, structure = tree.flatten(tuple(operands))
    values = [as_value(leaf) for leaf in leaves]
    arguments = [argument_of(v) for v in values]
    shop = Workshop()

    def call(function: Callable[..., Any]) -> Callable[[Sequence[Any]], Any]:
        return lambda found: function(*tree.unflatten(structure, found))

    made = [shop.nested(function_name(f), call(f), arguments) for f in functions]
    first = made[0]
    for position, other in enumerate(made[1:], 1):
        if other.result_tree != first.result_tree or other.result_types != first.result_types:
            raise TraceError(
                f"the branches of {name} differ: {function_name(functions[0])} gives {_signature(first)}, "
                f"{function_name(functions[position])} gives {_signature(other)}",
                where=user_location_text(),
                hint="give both the same tree, shapes and dtypes (.astype)",
            )
    captured = list({capture_key(v): v for m in made for v in m.captured}.values())
    if captured:
        given = [*arguments, *(argument_of(v) for v in captured)]
        bound = {len(arguments) + i: v for i, v in enumerate(captured)}
        made = [
            shop.nested(function_name(f), _leading(call(f), len(arguments)), given, bound) for f in functions
        ]
    results = ops.cond(
        index, *values, *captured, branches=[m.symbol for m in made], results=first.result_types
    )
    return tree.unflatten(first.result_tree, _sequence(results))


def _signature(nested: Nested) -> str:
    return f"{tree.describe(nested.result_tree)} of ({', '.join(_texts(nested.result_types))})"


def _texts(values: Sequence[Any]) -> list[str]:
    return [str(v) for v in values]


def _constants_first(shop: Workshop, nested: Nested, arguments: Sequence[Argument]) -> str:
    """A function like `nested` that takes what it captures before its own arguments."""
    if not nested.captured:
        return nested.symbol
    constants = [argument_of(v) for v in nested.captured]
    k = len(constants)
    bound = {i: v for i, v in enumerate(nested.captured)}

    def call(found: Sequence[Any]) -> list[Any]:
        results = ops.call(*found[k:], *found[:k], callee=nested.symbol, results=nested.result_types)
        return _sequence(results)

    return shop.nested(nested.symbol, call, [*constants, *arguments], bound).symbol


def _slice_argument(x: Any) -> Argument:
    kind = ops.tensor_type(x)
    names = tuple(n.text if isinstance(n, Dim) else None for n in x.shape[1:])
    return Argument(TensorType(kind.shape[1:], kind.dtype), names, False)


def _scan_length(arrays: Sequence[Any], paths: Sequence[str], length: int | None) -> Any:
    for x, path in zip(arrays, paths, strict=True):
        if x.ndim == 0:
            raise ShapeError(
                f"scan walks over the leading axis of xs{path}, which is {ops.type_of(x)}",
                where=user_location_text(),
            )
    sizes = [("length", length)] if length is not None else []
    sizes += [(f"xs{path}", x.shape[0]) for x, path in zip(arrays, paths, strict=True)]
    if not sizes:
        raise ArgumentError("scan without xs needs a length", where=user_location_text())
    static = [(name, n) for name, n in sizes if isinstance(n, (int, np.integer))]
    if any(n < 0 for _, n in static):
        raise ArgumentError(f"scan: length {length} is negative", where=user_location_text())
    if len({int(n) for _, n in static}) > 1:
        listed = ", ".join(f"{name} has {n}" for name, n in static)
        raise ShapeError(f"scan: numbers of steps differ: {listed}", where=user_location_text())
    return int(static[0][1]) if static else sizes[0][1]


def _eager_scan(
    f: Callable[..., Any], init: Any, arrays: Sequence[Any], structure: Any, steps: int, reverse: bool
) -> tuple[Any, Any]:
    carry, rows = init, []
    for t in reversed(range(steps)) if reverse else range(steps):
        carry, y = f(carry, tree.unflatten(structure, [x[t] for x in arrays]))
        rows.append(y)
    if reverse:
        rows.reverse()
    if not rows:
        from .trace import trace_program

        slices = [xp.zeros(x.shape[1:], dtype=x.dtype) for x in arrays]
        traced = trace_program(f, (init, tree.unflatten(structure, slices)), {})
        kinds = traced.result_types[len(tree.leaves(init)) :]
        pair = tree.unflatten(traced.result_tree, range(len(traced.result_types)))
        empty = [as_value(np.zeros((0, *t.shape), t.dtype)) for t in kinds]
        return carry, tree.unflatten(tree.structure(pair[1]), empty)
    return carry, tree.map(lambda *ys: xp.stack(ys), *rows)


def _checkpointed_scan(
    f: Callable[..., Any],
    init: Any,
    arrays: Sequence[Any],
    structure: Any,
    steps: int,
    reverse: bool,
    every: int,
) -> tuple[Any, Any]:
    """Two loops: over segments, whose carry is saved, and inside each over its steps, computed again."""
    whole = steps // every
    rest = steps - whole * every

    def segment(carry: Any, part: Sequence[Any]) -> Any:
        return scan(f, carry, tree.unflatten(structure, part), length=every, reverse=reverse)

    def main(start: int, carry: Any) -> tuple[Any, Any]:
        grouped = [
            ops.reshape(_rows(x, start, start + whole * every), shape=(whole, every, *x.shape[1:]))
            for x in arrays
        ]
        carry, ys = scan(checkpoint(segment), carry, grouped, length=whole, reverse=reverse)
        return carry, tree.map(lambda y: ops.reshape(y, shape=(whole * every, *y.shape[2:])), ys)

    def tail(start: int, carry: Any) -> tuple[Any, Any]:
        part = [_rows(x, start, start + rest) for x in arrays]
        return scan(f, carry, tree.unflatten(structure, part), length=rest, reverse=reverse)

    if not rest:
        return main(0, init)
    if reverse:
        carry, late = tail(whole * every, init)
        carry, early = main(0, carry)
    else:
        carry, early = main(0, init)
        carry, late = tail(whole * every, carry)
    return carry, tree.map(lambda a, b: ops.concatenate(a, b, axis=0), early, late)


def _rows(x: Any, start: int, stop: int) -> Any:
    starts, limits = [start, *[0] * (x.ndim - 1)], [stop, *x.shape[1:]]
    return ops.slice(x, start=tuple(starts), limit=tuple(limits), strides=(1,) * x.ndim)


def _unrolled_scan(
    f: Callable[..., Any],
    init: Any,
    arrays: Sequence[Any],
    structure: Any,
    steps: int,
    reverse: bool,
    width: int,
) -> tuple[Any, Any]:
    grouped = [ops.reshape(x, shape=(steps // width, width, *x.shape[1:])) for x in arrays]

    def step(carry: Any, part: Sequence[Any]) -> Any:
        rows = []
        for t in reversed(range(width)) if reverse else range(width):
            carry, y = f(carry, tree.unflatten(structure, [x[t] for x in part]))
            rows.append(y)
        if reverse:
            rows.reverse()
        return carry, tree.map(lambda *ys: xp.stack(ys), *rows)

    carry, ys = scan(step, init, grouped, length=steps // width, reverse=reverse)
    return carry, tree.map(lambda y: ops.reshape(y, shape=(steps, *y.shape[2:])), ys)


def _pair_trees(body: Nested) -> tuple[Any, Any, int]:
    """The trees of carry and result of a traced step, and the number of leaves of the carry."""
    pair = tree.unflatten(body.result_tree, range(body.result_tree.num_leaves))
    carry, y = pair
    return tree.structure(carry), tree.structure(y), len(tree.leaves(carry))


def _widened(value: Any, wanted: TensorType) -> Any:
    """An initial value that was a Python number, in the dtype that the body gives."""
    if value.weak_type and value.dtype != wanted.dtype and value.ndim == wanted.rank:
        return as_value(value, wanted.dtype)
    return value


def _settled_state(
    name: str, body_fun: Callable[[Any], Any], leaves: Sequence[Any], structure: Any
) -> list[Any]:
    """The initial state, Python numbers in it in the dtypes that the body gives."""
    state = [as_value(leaf) for leaf in leaves]
    if not any(v.weak_type for v in state):
        return state
    trial = Workshop().nested(
        name, lambda xs: body_fun(tree.unflatten(structure, xs)), [argument_of(v) for v in state]
    )
    if trial.result_tree != structure:
        return state
    return [_widened(v, t) for v, t in zip(state, trial.result_types, strict=True)]


def _check_carry(
    name: str,
    function: str,
    structure: Any,
    state: Sequence[Any],
    found_tree: Any,
    found_types: Sequence[TensorType],
) -> None:
    if found_tree != structure:
        raise TraceError(
            f"the carry of {name} has the tree {tree.describe(structure)}, {function} gives "
            f"{tree.describe(found_tree)}",
            where=user_location_text(),
        )
    for path, value, found in zip(tree.paths(structure), state, found_types, strict=True):
        kind = ops.tensor_type(value)
        if kind != found:
            hint = "give the carry one shape"
            if kind.shape == found.shape:
                hint = f"convert what the body gives: .astype('{kind.dtype.name}'), or start with {found}"
            raise TraceError(
                f"the carry of {name} changes its type: carry{path} is {kind}, {function} gives {found}",
                where=user_location_text(),
                hint=hint,
            )


def _leading(call: Callable[[Sequence[Any]], Any], count: int) -> Callable[[Sequence[Any]], Any]:
    """`call` of the first `count` of the values that it is given."""
    return lambda found: call(found[:count])


def _interleaved(even: Any, odd: Any, axis: int, n: int) -> Any:
    """`even` and `odd` by turns along `axis`, `n` in all."""
    zero = as_value(0, even.dtype)
    rank = even.ndim
    stride = tuple(1 if i == axis else 0 for i in range(rank))
    width = tuple(0 for _ in range(rank))
    missing = tuple(n - (2 * even.shape[axis] - 1) if i == axis else 0 for i in range(rank))
    spread_even = ops.pad(even, zero, low=width, high=missing, interior=stride)
    one = tuple(1 if i == axis else 0 for i in range(rank))
    after = tuple(n - 2 * odd.shape[axis] if i == axis else 0 for i in range(rank))
    spread_odd = ops.pad(odd, zero, low=one, high=after, interior=stride)
    position = ops.iota(shape=(*even.shape[:axis], n, *even.shape[axis + 1 :]), axis=axis, dtype=_INT32)
    is_odd = ops.compare(
        ops.and_(position, ops.full_like(position, 1)), ops.full_like(position, 1), direction="EQ"
    )
    return ops.select(is_odd, spread_odd, spread_even)
