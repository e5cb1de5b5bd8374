"""`vectorize`: a function of small arrays as one that broadcasts, by `vmap` over every axis in front.

The signature names the axes that the function itself sees, as in NumPy's generalized ufuncs.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from ...errors import ArgumentError, ArgumentTypeError, ShapeError
from ...tracing.interpreter import ops
from ...tracing.locations import user_location_text
from ...tracing.trace import function_name
from ...transforms.vmap import vmap
from ...tree import ARRAY_NODES
from .creation import asarray
from .reshaping import broadcast_shapes
from .ufuncs import Ufunc

_AXES = r"\((?:\w+(?:,\w+)*)?\)"
_SIGNATURE = re.compile(rf"{_AXES}(?:,{_AXES})*->{_AXES}(?:,{_AXES})*")
Core = tuple[str, ...]


def vectorize(
    pyfunc: Callable[..., Any], *, excluded: Collection[int] = (), signature: str | None = None
) -> Callable[..., Any]:
    """`pyfunc`, of scalars, for arrays that broadcast; with `signature` ``"(n,m),(m)->(n)"`` of such arrays.

    Arguments at the positions `excluded` are passed as they are, and so are keyword arguments.
    """
    cores = None if signature is None else _read(pyfunc, signature)
    if not all(isinstance(i, int) and i >= 0 for i in excluded):
        raise ArgumentError(
            f"vectorize: excluded is {excluded!r}, expected positions of arguments",
            where=user_location_text(),
            hint="keyword arguments are passed as they are already",
        )

    @functools.wraps(pyfunc)
    def broadcasting(*args: Any, **kwargs: Any) -> Any:
        chosen = [i for i in range(len(args)) if i not in excluded]
        values = [args[i] if type(args[i]) in ARRAY_NODES else asarray(args[i]) for i in chosen]
        inputs = [()] * len(values) if cores is None else cores
        if len(inputs) != len(values):
            raise ArgumentTypeError(
                f"vectorize: {function_name(pyfunc)} got {len(values)} arrays, "
                f"the signature {signature!r} has {len(inputs)}",
                where=user_location_text(),
            )
        _check(pyfunc, values, inputs)

        def inner(*arrays: Any) -> Any:
            full = list(args)
            for i, array in zip(chosen, arrays, strict=True):
                full[i] = array
            return pyfunc(*full, **kwargs)

        loops = [tuple(v.shape[: v.ndim - len(core)]) for v, core in zip(values, inputs, strict=True)]
        shape = broadcast_shapes(*loops)
        return _mapped(inner, values, loops, shape)

    return broadcasting


def _mapped(
    inner: Callable[..., Any], values: Sequence[Any], loops: Sequence[Any], shape: Sequence[Any]
) -> Any:
    """Axes of size 1 that broadcast, and those that are not there, are not mapped."""
    mapped, plans = inner, []
    for depth in range(1, len(shape) + 1):  # the last axis in front is mapped innermost
        plan = []
        for loop in loops:
            has_axis = len(loop) >= depth
            size, wanted = (loop[-depth] if has_axis else 1), shape[-depth]
            is_one = isinstance(size, int) and size == 1 and not (isinstance(wanted, int) and wanted == 1)
            plan.append(None if not has_axis or is_one else 0)
        plans.append(plan)
    squeezed = []
    for k, (value, loop) in enumerate(zip(values, loops, strict=True)):
        gone = tuple(len(loop) - d for d in range(1, len(loop) + 1) if plans[d - 1][k] is None)
        squeezed.append(value.squeeze(axis=gone) if gone else value)
    for plan in plans:
        mapped = vmap(mapped, in_axes=tuple(plan))
    return mapped(*squeezed)


def _read(function: Callable[..., Any], signature: str) -> list[Core]:
    text = signature.replace(" ", "")
    if not _SIGNATURE.fullmatch(text):
        raise ArgumentError(
            f"vectorize: the signature {signature!r} of {function_name(function)} cannot be read",
            where=user_location_text(),
            hint='write the axes of arguments and results, such as "(n,m),(m)->(n)"',
        )
    cores = re.findall(_AXES, text.split("->")[0])
    return [tuple(filter(None, core.strip("()").split(","))) for core in cores]


def _check(function: Callable[..., Any], values: Sequence[Any], cores: Sequence[Core]) -> None:
    """That every array has the axes of its core, and axes of one name one size."""
    sizes: dict[str, Any] = {}
    for value, core in zip(values, cores, strict=True):
        if value.ndim < len(core):
            raise ShapeError(
                f"vectorize: {function_name(function)} got {ops.type_of(value)} for the axes "
                f"({', '.join(core)})",
                where=user_location_text(),
            )
        for name, size in zip(core, value.shape[value.ndim - len(core) :], strict=True):
            known = sizes.setdefault(name, size)
            if isinstance(size, int) and isinstance(known, int) and size != known:
                raise ShapeError(
                    f"vectorize: axis {name} of {function_name(function)} has the sizes {known} and {size}",
                    where=user_location_text(),
                )


def frompyfunc(func: Callable[..., Any], /, nin: int, nout: int, *, identity: Any = None) -> Ufunc:
    """A function of `nin` scalars that returns `nout` of them, as one of arrays that broadcast, with the
    methods of ufuncs; `identity` is what `reduce` of nothing returns."""
    mapped = vectorize(func)
    named = functools.wraps(func)(lambda *xs: mapped(*xs))
    return Ufunc(named, np.frompyfunc(func, nin, nout, identity=identity))
