"""Transforms of functions that read and write references (`new_ref`).

Input: a transform, a function, its arguments. Output: what the transform returns; the references hold what
the function wrote. Idea: a function that is called once returns what it wrote as an auxiliary result.
References among the arguments are values outside and references of their own inside.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ...dialects.errors import AdzeError
from .. import tree
from ..errors import ArgumentTypeError, TraceError
from ..tracing.locations import user_location_text
from ..tracing.references import Effects, Ref, any_alive, require_no_reference, uses
from ..tracing.wrapped import wraps


def carries_effects(transform: Callable[..., Any]) -> Callable[..., Any]:
    """`jvp`, `vjp` or `linearize`, for functions that write references too."""

    @functools.wraps(transform)
    def call(fun: Callable[..., Any], *args: Any, has_aux: bool = False) -> Any:
        if not any_alive():
            return transform(fun, *args, has_aux=has_aux)
        effects = Effects(fun, has_aux)
        *results, aux = transform(effects, *args, has_aux=True)
        aux, values = aux if has_aux else (None, aux)
        effects.apply(values)
        return (*results, aux) if has_aux else tuple(results)

    return call


def pulled_back(transform: Callable[..., Any]) -> Callable[..., Any]:
    """`vjp`, for functions that write references, and of references among the primals."""
    carrying = carries_effects(transform)

    @functools.wraps(transform)
    def call(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
        split = Split(primals) if any_alive() else None
        if split is None or not split.refs:
            return carrying(fun, *primals, has_aux=has_aux)

        @wraps(fun)
        def of_values(*values: Any) -> Any:
            args, own = split.inside(values)
            result = fun(*args)
            value, aux = result if has_aux else (result, None)
            return value, (aux, [ref.read() for ref in own])

        value, pullback, (aux, after) = carrying(of_values, *split.args, has_aux=True)
        for ref, new in zip(split.refs, after, strict=True):
            ref.write(new)
        pullback = PullbackOfReferences(pullback, [_has_reference(primal) for primal in primals])
        return (value, pullback, aux) if has_aux else (value, pullback)

    return call


def _has_reference(primal: Any) -> bool:
    return any(map(is_reference, tree.leaves(primal)))


def value_and_gradient(
    make: Callable[..., Callable[..., Any]], fun: Callable[..., Any], has_aux: bool, args: Any, kwargs: Any
) -> Any:
    """`make(fun, has_aux=...)(*args, **kwargs)` for the maker of such a function."""
    effects = Effects(fun, has_aux)
    (value, aux), gradient = make(effects, has_aux=True)(*args, **kwargs)
    aux, values = aux if has_aux else (None, aux)
    effects.apply(values)
    return ((value, aux) if has_aux else value), gradient


def is_reference(leaf: Any) -> bool:
    """Whether a leaf is a reference."""
    return isinstance(leaf, Ref)


class Split:
    """Arguments with references, as arguments of arrays; `args` has the values."""

    def __init__(self, args: Any) -> None:
        leaves, self.structure = tree.flatten(args)
        self.places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, Ref)]
        self.refs = [leaves[i] for i in self.places]
        for i, ref in enumerate(self.refs):
            if any(ref is other for other in self.refs[:i]):
                raise TraceError(
                    "a reference is passed to a function twice: a write would have to change both arguments",
                    where=user_location_text(),
                    hint="pass it once",
                )
        self.args = tree.unflatten(self.structure, [x.read() if is_reference(x) else x for x in leaves])

    def inside(self, args: Any) -> tuple[Any, list[Ref]]:
        """Arguments as the function gets them, and its own references."""
        leaves = tree.leaves_along(self.structure, args) or []
        own = [Ref(leaves[i]) for i in self.places]
        for i, ref in zip(self.places, own, strict=True):
            leaves[i] = ref
        return tree.unflatten(self.structure, leaves), own

    def require_apart(self, touched: Sequence[Ref]) -> None:
        """Raise where the function uses a reference by itself that is one of its arguments."""
        if any(ref is other for ref in self.refs for other in touched):
            raise TraceError(
                "a reference is an argument of a function that uses it as an outer value too",
                where=user_location_text(),
                hint="use the argument",
            )


def mapped(
    batched: Callable[..., Any], fun: Callable[..., Any], axes: Any, out_axes: Any, args: Any, kwargs: Any
) -> Any:
    """A call of `vmap(fun)`: `batched(function, out_axes)` maps; `axes` are those of the leaves."""
    split = Split((args, kwargs))
    written: list[Ref] = []

    @wraps(fun)
    def call(*args: Any, **kwargs: Any) -> Any:
        with uses() as inner:
            (args, kwargs), own = split.inside((args, kwargs))
            result = fun(*args, **kwargs)
            require_no_reference(result)
            split.require_apart(inner.refs)
            written[:] = inner.written
            return result, [ref.read() for ref in own], [ref.read() for ref in inner.written]

    own_axes = [axes[i] for i in split.places]
    new_args, new_kwargs = split.args
    try:
        result, values, outer = batched(call, (out_axes, own_axes, None))(*new_args, **new_kwargs)
    except AdzeError as error:
        if (written or None in own_axes) and "is None for a result that depends on" in error.message:
            raise TraceError(
                "a mapped function writes what differs from element to element into a reference that is "
                "not mapped",
                where=user_location_text(),
                hint="pass the reference as an argument that vmap maps (in_axes=0)",
            ) from None
        raise
    for ref, value in (*zip(split.refs, values, strict=True), *zip(written, outer, strict=True)):
        ref.write(value)
    return result


# -- derivatives of references ------------------------------------------------------------------------


class _Mark:
    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class GradValue(_Mark):
    """For `with_refs`: return the cotangent of this argument."""


class GradRef(_Mark):
    """In place of a cotangent that was added to a reference."""


class DontWant(_Mark):
    """For `with_refs`: the cotangent of this argument is not wanted."""


class DidntWant(_Mark):
    """In place of a cotangent that nobody wanted."""


def _register(mark: type[_Mark]) -> None:
    """What a call returns in place of an array is a tree without leaves."""
    tree.register(mark, lambda _: ((), None), lambda *_: mark())


_register(GradRef)
_register(DidntWant)


class BoundPullback:
    """A pullback that adds cotangents to references: `pullback.with_refs(...)`."""

    def __init__(self, pullback: Callable[[Any], tuple[Any, ...]], into: Sequence[Any]) -> None:
        self._pullback = pullback
        self._into = into

    def __call__(self, cotangent: Any) -> tuple[Any, ...]:
        cotangents = self._pullback(cotangent)
        if len(cotangents) != len(self._into):
            raise ArgumentTypeError(
                f"with_refs got {len(self._into)} entries for a function of {len(cotangents)} arguments",
                where=user_location_text(),
                hint="give one for each argument: a reference, GradValue() or DontWant()",
            )
        return tuple(_delivered(*pair) for pair in zip(self._into, cotangents, strict=True))


class PullbackOfReferences:
    """What `vjp` returns where primals are references: their cotangents go into references."""

    def __init__(self, pullback: Callable[[Any], tuple[Any, ...]], has_reference: Sequence[bool]) -> None:
        self._pullback = pullback
        self._has_reference = has_reference

    def __call__(self, cotangent: Any) -> tuple[Any, ...]:
        raise TraceError(
            "the cotangent of a reference must be accumulated into a reference, and none is given",
            where=user_location_text(),
            hint="write pullback.with_refs(new_ref(zeros))(cotangent)",
        )

    def with_refs(self, *into: Any) -> BoundPullback:
        """The pullback with a reference, `GradValue()` or `DontWant()` for each argument."""
        if any(isinstance(i, GradValue) and has for i, has in zip(into, self._has_reference, strict=False)):
            self(None)
        return BoundPullback(self._pullback, into)


def _delivered(into: Any, cotangent: Any) -> Any:
    """What a call returns for an argument, leaf by leaf; `into` is a tree prefix of it."""
    if isinstance(into, (GradValue, type(None))):
        return cotangent
    if isinstance(into, DontWant):
        return DidntWant()
    if isinstance(into, Ref):
        into.addupdate(..., cotangent)
        return GradRef()
    leaves, structure = tree.flatten(into)
    parts = tree.leaves_along(structure, cotangent)
    if parts is None or not all(isinstance(leaf, (Ref, _Mark)) for leaf in leaves):
        raise ArgumentTypeError(
            f"with_refs takes for each argument a reference, GradValue(), DontWant() or a tree of these, got "
            f"{into!r}",
            where=user_location_text(),
        )
    return tree.unflatten(structure, [_delivered(*pair) for pair in zip(leaves, parts, strict=True)])
