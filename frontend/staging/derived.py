"""Functions that are derived of one before it is compiled: its gradient, vjp, jvp, and its batch.

Input: a function of arrays and the specs of its arguments. Output: another function with the specs of its
own. A derivative comes first and the batch of it second, so that asking for both gives gradients of examples.
Of a dict of arrays, as a program's state is, derivatives are by the floats and complex numbers in it.

| derived | arguments | results |
|---|---|---|
| `grad` | those of the function | the gradient by the first argument, or by those that `argnums` names |
| `value_and_grad` | those of the function | the value, then the gradient |
| `vjp` | those, and `cotangents`: a tree like the results | the results, then the cotangents of `argnums` |
| `jvp` | those, and `tangents`: one for each of `argnums` | the results, then their tangents |
| a batch of `n` | those of the function, each with a first axis of `n` | with such an axis |
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, Final

from ...dialects.dataclass import dataclass
from ...dialects.types import INEXACT
from .. import tree
from ..errors import ArgumentError
from ..tracing.specs import ShapeDtype
from ..tracing.trace import function_name, keyword_names
from ..transforms.differentiation import grad, jvp, value_and_grad, vjp
from ..transforms.vmap import vmap
from .shape_evaluation import eval_shape

DERIVATIVES: Final = ("grad", "value_and_grad", "vjp", "jvp")


@dataclass(frozen=True)
class Derivation:
    """What is asked of a function: a derivative by some of its positional arguments, or a batch, or both."""

    derivative: str | None = None
    argnums: tuple[int, ...] = (0,)
    batch: int | str | None = None
    in_axes: tuple[int | None, ...] | None = None
    """For each positional argument its axis of the batch, None for one that all elements share."""


@dataclass(frozen=True)
class Specified:
    """A function with trees of `ShapeDtype` for its arguments."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def derived(self, how: Derivation) -> Specified:
        """The function that `how` asks for. Raises `ArgumentError` where there is no such function."""
        result = self
        if how.derivative is not None:
            result = result._differentiated(how.derivative, how.argnums)
        return result if how.batch is None else result._batched(how.batch, how.in_axes)

    def _differentiated(self, name: str, argnums: tuple[int, ...]) -> Specified:
        self._check(name, argnums)
        if name in ("grad", "value_and_grad"):
            transform = grad if name == "grad" else value_and_grad
            if any(_floats(self.args[n]) is not self.args[n] for n in argnums):
                return self._named(name, self._by_floats(name, transform, argnums), {})
            by = argnums[0] if len(argnums) == 1 else argnums
            return self._named(name, transform(self._of_one_result(name), argnums=by), {})
        if name == "vjp":
            tree.map(_inexact, tuple(_floats(self.args[n]) for n in argnums))
            cotangents = eval_shape(self.function, *self.args, **self.kwargs)
            return self._named(name, self._vjp(argnums), {"cotangents": tree.map(_cotangent, cotangents)})
        tangents = tuple(tree.map(_inexact, _floats(self.args[n])) for n in argnums)
        return self._named(name, self._jvp(argnums), {"tangents": tangents})

    def _by_floats(self, name: str, transform: Any, argnums: tuple[int, ...]) -> Callable[..., Any]:
        """The gradient by arguments, of dicts with integers among their arrays by the others alone."""
        function = Specified(self._of_one_result(name), self.args, self.kwargs)
        by = 0 if len(argnums) == 1 else tuple(range(len(argnums)))

        def derived(*args: Any, **kwargs: Any) -> Any:
            chosen = (_floats(args[n]) for n in argnums)
            return transform(function._of(args, kwargs, argnums), argnums=by)(*chosen)

        derived.__signature__ = self._signature({})  # type: ignore[attr-defined]
        return derived

    def _of_one_result(self, name: str) -> Callable[..., Any]:
        """The function, which raises `ArgumentError` where it returns a tree of several results."""

        @functools.wraps(self.function)
        def call(*args: Any, **kwargs: Any) -> Any:
            result = self.function(*args, **kwargs)
            if isinstance(result, (tuple, list, dict)):
                raise ArgumentError(
                    f"{name} needs a function that returns one scalar, {function_name(self.function)} "
                    f"returns {tree.describe(tree.structure(result))}",
                    hint="name a function that returns the scalar alone, or ask for the vjp (--vjp), which "
                    "takes a cotangent for each result",
                )
            return result

        return call

    def _vjp(self, argnums: tuple[int, ...]) -> Callable[..., Any]:
        def derived(*args: Any, cotangents: Any, **kwargs: Any) -> Any:
            results, pullback = vjp(self._of(args, kwargs, argnums), *(_floats(args[n]) for n in argnums))
            return results, pullback(cotangents)

        return derived

    def _jvp(self, argnums: tuple[int, ...]) -> Callable[..., Any]:
        def derived(*args: Any, tangents: Any, **kwargs: Any) -> Any:
            primals = tuple(_floats(args[n]) for n in argnums)
            return jvp(self._of(args, kwargs, argnums), primals, tuple(tangents))

        return derived

    def _of(
        self, args: Sequence[Any], kwargs: dict[str, Any], argnums: tuple[int, ...]
    ) -> Callable[..., Any]:
        """The function of the arguments `argnums` alone."""

        def call(*chosen: Any) -> Any:
            full = list(args)
            for n, value in zip(argnums, chosen, strict=True):
                full[n] = {**full[n], **value} if isinstance(value, dict) else value
            return self.function(*full, **kwargs)

        return call

    def _check(self, name: str, argnums: tuple[int, ...]) -> None:
        if len(set(argnums)) != len(argnums) or not all(0 <= n < len(self.args) for n in argnums):
            raise ArgumentError(
                f"{name} of {function_name(self.function)} by arguments {', '.join(map(str, argnums))}: "
                f"it has {len(self.args)} positional arguments, numbered from 0",
                hint="name each of them once",
            )

    def _named(self, name: str, function: Callable[..., Any], added: dict[str, Any]) -> Specified:
        taken = sorted(added.keys() & self.kwargs.keys())
        if taken:
            raise ArgumentError(
                f"{function_name(self.function)} has an argument {taken[0]!r} already, which its {name} adds",
                hint="call it otherwise",
            )
        function.__name__ = f"{function_name(self.function)}_{name}"
        if added:
            function.__signature__ = self._signature(added)  # type: ignore[attr-defined]
        return Specified(function, self.args, {**self.kwargs, **added})

    def _signature(self, added: dict[str, Any]) -> inspect.Signature:
        """The arguments of the function by their names, and those that a derivative has besides."""
        kind = inspect.Parameter
        names = enumerate(keyword_names(self.function, self.args))
        positional = [name or f"arg{n}" for n, name in names]
        keywords = [name for name in (*self.kwargs, *added) if name not in positional]
        return inspect.Signature(
            [
                *(kind(name, kind.POSITIONAL_OR_KEYWORD) for name in positional),
                *(kind(name, kind.KEYWORD_ONLY) for name in keywords),
            ]
        )

    def _batched(self, size: int | str, in_axes: tuple[int | None, ...] | None) -> Specified:
        axes = (0,) * len(self.args) if in_axes is None else in_axes
        if len(axes) != len(self.args):
            raise ArgumentError(
                f"{len(axes)} axes for a batch of {function_name(self.function)}, which has {len(self.args)} "
                "positional arguments",
                hint="name one for each: an integer, or None for an argument that all elements share",
            )
        function = vmap(self.function, in_axes=axes)
        function.__name__ = f"{function_name(self.function)}_batch"
        args = tuple(_with_axis(arg, size, axis) for arg, axis in zip(self.args, axes, strict=True))
        return Specified(function, args, _with_axis(self.kwargs, size, 0))


def _floats(argument: Any) -> Any:
    """Of a dict of arrays with integers among them, such as a program's state, the others; else all of it."""
    if not isinstance(argument, dict) or any(tree.leaves(v) != [v] for v in argument.values()):
        return argument
    kept = {key: value for key, value in argument.items() if value.dtype in INEXACT}
    return kept if 0 < len(kept) < len(argument) else argument


def _with_axis(specs: Any, size: int | str, axis: int | None) -> Any:
    """The specs of a batch, whose axis of this size stands at `axis`."""
    if axis is None:
        return specs

    def longer(spec: ShapeDtype) -> ShapeDtype:
        if not 0 <= axis <= spec.ndim:
            raise ArgumentError(f"{spec} has no place {axis} for the axis of a batch: 0 to {spec.ndim}")
        return ShapeDtype((*spec.shape[:axis], size, *spec.shape[axis:]), spec.dtype)

    return tree.map(longer, specs)


def _inexact(spec: ShapeDtype) -> ShapeDtype:
    """The spec of a tangent or cotangent: only floats and complex numbers have one."""
    if spec.dtype not in INEXACT:
        raise ArgumentError(
            f"{spec} has no derivative: an argument or result of integers or bools is in the way",
            hint="leave it out of the results, or choose other arguments with argnums",
        )
    return spec


def _cotangent(spec: ShapeDtype) -> ShapeDtype:
    """The spec of a cotangent of a result: an argument, whose sizes have names, or none for expressions."""
    shape = [None if isinstance(n, str) and not n.isidentifier() else n for n in spec.shape]
    return ShapeDtype(shape, _inexact(spec).dtype)
