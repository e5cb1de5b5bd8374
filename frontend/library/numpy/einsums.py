"""Einstein summation: the order of products by opt_einsum, each of them one `dot_general`.

The path depends on shapes only and is chosen while tracing. A label that one operand repeats is a
diagonal; one that only one operand has and the result lacks is summed before the product.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ....dialects.types import INT32
from ...tracing.interpreter import ops
from ...tracing.sizes import Dim
from .arguments import argument_error, full_like, refuse_out, shape_error, type_error
from .products import contract
from .promotion import asarray_of, is_one, promote, same_size, type_text
from .reductions import sum as sum_of

_ASSUMED: Final = 128  # what a dynamic size counts for when a path is chosen


Axes = tuple[tuple[int, ...], tuple[int, ...]]
"""Axes of the left operand and those of the right one."""


def einsum_path(subscripts: Any, /, *operands: Any, optimize: Any = "auto") -> tuple[list[Any], Any]:
    """The order in which `einsum` would multiply, as NumPy writes it, and a text about its cost.

    `optimize` is one of opt_einsum's strategies ("auto", "greedy", "optimal"), a path, True or False.
    """
    shapes = [asarray_of(x).shape for x in operands]
    strategy = optimize
    if isinstance(optimize, bool):
        strategy = "auto" if optimize else [tuple(range(len(operands)))]
    from opt_einsum import contract_path  # as below

    if not isinstance(subscripts, str):
        raise type_error(
            f"einsum_path: the first argument must be a string like 'ij,jk->ik', got {subscripts!r}"
        )
    try:
        path, info = contract_path(subscripts, *shapes, shapes=True, optimize=strategy)
    except (KeyError, TypeError, ValueError) as error:  # of opt_einsum
        shown = ", ".join(str(list(shape)) for shape in shapes)
        raise argument_error(f"einsum_path: {subscripts!r} of arrays of shapes {shown}: {error}") from None
    return ["einsum_path", *path], info


def einsum(
    subscripts: Any,
    /,
    *operands: Any,
    out: Any = None,
    optimize: Any = "auto",
    dtype: Any = None,
    precision: Any = None,
    preferred_element_type: Any = None,
    _dot_general: Any = None,
) -> Any:
    """The sum of products that `subscripts` ("ij,jk->ik") describes; traced shapes must be static in rank.

    Products of two operands are computed by `_dot_general`, a function with the arguments of
    `adze.lax.dot_general`, where one is given: JAX's private name, which flax passes.

    Raises `ArgumentError` for a malformed string and `ShapeError` for sizes that contradict each other.
    """
    refuse_out("einsum", out)
    if not isinstance(subscripts, str):
        raise type_error(f"einsum: the first argument must be a string like 'ij,jk->ik', got {subscripts!r}")
    if not operands:
        raise argument_error("einsum: need at least one operand")
    values = list(promote(*operands))
    dtype = preferred_element_type if dtype is None else dtype
    if dtype is not None:
        values = [asarray_of(v).astype(dtype) for v in values]

    def multiplied(x: Any, y: Any, summed: Axes, batch: Axes) -> Any:
        if _dot_general is None:
            return contract(x, y, summed, batch, precision)
        wanted = {"precision": precision, "preferred_element_type": preferred_element_type}
        return _dot_general(x, y, (summed, batch), **wanted)

    inputs, output = _parsed(subscripts, values)
    sizes = _sizes(subscripts, inputs, values)
    terms = [_term(value, labels, sizes) for value, labels in zip(values, inputs, strict=True)]
    for pair in _path(inputs, output, sizes, optimize):
        chosen = [terms[k] for k in pair]
        terms = [t for k, t in enumerate(terms) if k not in pair]
        kept = set(output).union(*(labels for _, labels in terms))
        while len(chosen) > 1:
            outside = kept.union(*(labels for _, labels in chosen[2:]))
            chosen = [_product(chosen[0], chosen[1], outside, multiplied), *chosen[2:]]
        terms.append(_summed(chosen[0], kept))
    value, labels = terms[0]
    order = tuple(labels.index(label) for label in output if label in labels)
    value = ops.transpose(value, permutation=order) if order != tuple(range(len(order))) else value
    return value


def _parsed(subscripts: str, values: list[Any]) -> tuple[list[str], str]:
    from opt_einsum.parser import parse_einsum_input  # imported when first needed: it costs start-up time

    shapes = [tuple(_ASSUMED if isinstance(n, Dim) else n for n in v.shape) for v in values]
    try:
        left, output, _ = parse_einsum_input((subscripts, *shapes), shapes=True)
        inputs = left.split(",")
        if len(set(output)) != len(output):
            raise ValueError("the result names a label twice")
    except (ValueError, TypeError, KeyError, IndexError) as error:
        raise argument_error(f"einsum: cannot read {subscripts!r}: {error}") from None
    if len(inputs) != len(values):
        raise argument_error(f"einsum: {subscripts!r} has {len(inputs)} terms, got {len(values)} operands")
    for labels, value in zip(inputs, values, strict=True):
        if len(labels) != value.ndim:
            raise shape_error(
                f"einsum: term {labels!r} of {subscripts!r} has {len(labels)} labels, its operand "
                f"{type_text(value)} {value.ndim} axes"
            )
    unknown = set(output) - set("".join(inputs))
    if unknown:
        raise argument_error(
            f"einsum: label {sorted(unknown)[0]!r} of the result is in no term of {subscripts!r}"
        )
    return inputs, output


def _sizes(subscripts: str, inputs: list[str], values: list[Any]) -> dict[str, Any]:
    """The size of each label; sizes of 1 yield to others, dynamic ones to static ones."""
    sizes: dict[str, Any] = {}
    for labels, value in zip(inputs, values, strict=True):
        for label, n in zip(labels, value.shape, strict=True):
            known = sizes.get(label)
            if (
                known is None
                or is_one(known)
                or (isinstance(known, Dim) and not isinstance(n, Dim) and n != 1)
            ):
                sizes[label] = n
            elif not (is_one(n) or isinstance(n, Dim) or isinstance(known, Dim) or same_size(n, known)):
                raise shape_error(
                    f"einsum: label {label!r} of {subscripts!r} has sizes {known} and {n}: "
                    f"{', '.join(map(type_text, values))}"
                )
    return sizes


def _path(inputs: list[str], output: str, sizes: dict[str, Any], optimize: Any) -> list[tuple[int, ...]]:
    if len(inputs) == 1:
        return [(0,)]
    if len(inputs) == 2:
        return [(0, 1)]
    import opt_einsum

    shapes = [
        tuple(_ASSUMED if isinstance(sizes[label], Dim) else sizes[label] for label in labels)
        for labels in inputs
    ]
    equation = f"{','.join(inputs)}->{output}"
    chosen = "auto" if optimize in (True, "auto") else "greedy" if optimize is False else optimize
    return [tuple(p) for p in opt_einsum.contract_path(equation, *shapes, shapes=True, optimize=chosen)[0]]


def _term(value: Any, labels: str, sizes: dict[str, Any]) -> tuple[Any, str]:
    """An operand with each label once: broadcast sizes of 1 taken out, diagonals for repeated labels."""
    narrow = [k for k, label in enumerate(labels) if is_one(value.shape[k]) and not is_one(sizes[label])]
    if narrow:
        value = ops.reshape(value, shape=tuple(n for k, n in enumerate(value.shape) if k not in narrow))
        labels = "".join(label for k, label in enumerate(labels) if k not in narrow)
    for label in sorted(set(labels)):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            value = _diagonal(value, first, second)
            labels = labels[:second] + labels[second + 1 :]
    return value, labels


def _diagonal(value: Any, first: int, second: int) -> Any:
    """The elements where two axes agree; the second axis goes. A masked sum, which fuses."""
    counts = [ops.iota(shape=value.shape, axis=a, dtype=INT32) for a in (first, second)]
    mask = ops.compare(*counts, direction="EQ")
    return sum_of(ops.select(mask, value, full_like(value, 0)), axis=second, dtype=value.dtype)


def _summed(term: tuple[Any, str], kept: set[str]) -> tuple[Any, str]:
    """A term without the labels that nothing else needs."""
    value, labels = term
    axes = tuple(k for k, label in enumerate(labels) if label not in kept)
    if not axes:
        return term
    return sum_of(value, axis=axes, dtype=value.dtype), "".join(label for label in labels if label in kept)


def _product(
    left: tuple[Any, str], right: tuple[Any, str], kept: set[str], multiplied: Callable[..., Any]
) -> tuple[Any, str]:
    """The product of two terms, summed over the labels that only they have."""
    x, x_labels = _summed(left, kept | set(right[1]))
    y, y_labels = _summed(right, kept | set(left[1]))
    shared = [label for label in x_labels if label in y_labels]
    batch = [label for label in shared if label in kept]
    summed = [label for label in shared if label not in kept]

    def axes_of(group: list[str]) -> Axes:
        return tuple(map(x_labels.index, group)), tuple(map(y_labels.index, group))

    result = multiplied(x, y, axes_of(summed), axes_of(batch))
    free = [label for label in x_labels + y_labels if label not in shared]
    return result, "".join([*batch, *free])
