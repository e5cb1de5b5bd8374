"""What a backward pass saves: `checkpoint` computes values again in place of saving them.

Output: ops that say so (`checkpoint_call`, `checkpoint_name`); the linearize engine reads them.
`stop_gradient` has the derivative zero.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

import numpy as np

from .. import tree
from ..errors import ArgumentError, UnsupportedError
from ..tracing.concrete_values import KnownArgument
from ..tracing.frames import current_frame
from ..tracing.function_scope import FunctionScope, argument_of, resumes_trace, with_all_names
from ..tracing.interpreter import as_value, ops
from ..tracing.jax_rules import Installed
from ..tracing.locations import user_location_text
from ..tracing.operators import library_function
from ..tracing.references import Effects, Ref, any_alive
from ..tracing.scalars import is_python_scalar
from ..tracing.trace import function_name
from ..tracing.wrapped import wraps


class checkpoint_policies:  # a namespace, named as JAX has it
    """What a checkpoint may save for the backward pass; pass one as `policy`."""

    everything_saveable = ("everything", "")
    nothing_saveable = ("nothing", "")
    dots_saveable = checkpoint_dots = ("dots", "")
    dots_with_no_batch_dims_saveable = checkpoint_dots_with_no_batch_dims = ("dots_without_batch", "")

    @staticmethod
    def save_only_these_names(*names: str) -> tuple[str, str]:
        """Only values that `checkpoint_name` gave one of these names."""
        return ("named", ",".join(names))

    @staticmethod
    def save_any_names_but_these(*names: str) -> tuple[str, str]:
        """Only values that `checkpoint_name` gave a name, and none of these."""
        return ("named_except", ",".join(names))

    @staticmethod
    def save_anything_except_these_names(*names: str) -> tuple[str, str]:
        """All values but those that `checkpoint_name` gave one of these names."""
        return ("everything_except", ",".join(names))

    @staticmethod
    def save_and_offload_only_these_names(
        *,
        names_which_can_be_saved: Sequence[str],
        names_which_can_be_offloaded: Sequence[str],
        offload_src: str,
        offload_dst: str,
    ) -> tuple[str, str]:
        """Only values that `checkpoint_name` gave one of these names; all stay in the device's memory."""
        names = (*names_which_can_be_saved, *names_which_can_be_offloaded)
        return checkpoint_policies.save_only_these_names(*names)

    @staticmethod
    def offload_dot_with_no_batch_dims(offload_src: str, offload_dst: str) -> tuple[str, str]:
        """Products without batch dimensions, which stay in the device's memory."""
        return checkpoint_policies.dots_with_no_batch_dims_saveable

    @staticmethod
    def save_from_both_policies(policy_1: Any, policy_2: Any) -> Any:
        """What either policy saves, for those that have a policy for that."""
        if callable(policy_1) and callable(policy_2):
            return lambda *args, **params: policy_1(*args, **params) or policy_2(*args, **params)
        if callable(policy_1) or callable(policy_2):
            raise UnsupportedError(
                "save_from_both_policies of a function and a policy of adze.checkpoint_policies",
                where=user_location_text(),
                hint="write both as functions of a primitive: lambda prim, *_, **__: str(prim) == 'exp'",
            )
        (kind, labels), (other, more) = pair = sorted((policy_1, policy_2), key=_rank)
        if kind == "nothing" or pair[0] == pair[1] or other == "everything":
            return pair[1]
        if kind == other == "named":
            return checkpoint_policies.save_only_these_names(*labels.split(","), *more.split(","))
        if (kind, other) == ("dots_without_batch", "dots"):
            return pair[1]
        raise UnsupportedError(
            f"save_from_both_policies: no policy saves what {kind!r} and {other!r} save",
            where=user_location_text(),
            hint="give one policy; names of values can be joined: save_only_these_names('a', 'b')",
        )


def _array_in_jax(leaf: Any) -> Any:
    """A result of a checkpointed function as an array, which programs written for JAX get for numbers too."""
    return as_value(leaf) if is_python_scalar(leaf) or isinstance(leaf, (np.ndarray, np.generic)) else leaf


SAVED_BY_POLICY: Final = "saved by the policy"
_name_saved_values = library_function("name_saved_values")

_KINDS: Final = (
    *("nothing", "named", "named_except", "dots_without_batch", "dots"),
    *("everything_except", "everything"),
)


def _rank(policy: tuple[str, str]) -> int:
    return _KINDS.index(policy[0])


def checkpoint(
    fun: Callable[..., Any] | None = None,
    *,
    prevent_cse: bool = True,
    policy: tuple[str, str] | Callable[..., Any] | None = None,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
) -> Any:
    """A function like `fun` whose intermediate values are computed again in the backward pass.

    `policy` says what may be kept all the same: one of `checkpoint_policies`, or a function of a primitive,
    the types of its operands and its attributes that says whether its results may. `static_argnums` are the
    positions of arguments that are Python values of the trace, `static_argnames` the names of such keywords.
    What is computed again is never merged with the first computation, whatever `prevent_cse` says.
    """
    policy = ("nothing", "") if policy is None else policy
    if fun is None:
        return functools.partial(
            checkpoint, policy=policy, static_argnums=static_argnums, static_argnames=static_argnames
        )
    saves = policy if callable(policy) else None
    if saves is not None:
        policy = checkpoint_policies.save_only_these_names(SAVED_BY_POLICY)
    if not isinstance(policy, tuple) or len(policy) != 2:
        raise ArgumentError(
            f"checkpoint policy {policy!r} is not one of adze.checkpoint_policies",
            where=user_location_text(),
            hint="such as adze.checkpoint_policies.dots_saveable",
        )
    original = fun
    kept = policy

    @resumes_trace
    @wraps(original)
    def checkpointed(*args: Any, **kwargs: Any) -> Any:
        if current_frame() is None:
            result = original(*args, **kwargs)
            return tree.map(_array_in_jax, result) if Installed.is_on else result
        positions = (static_argnums,) if isinstance(static_argnums, int) else static_argnums
        places = {n % len(args) for n in positions if -len(args) <= n < len(args)}
        names = (static_argnames,) if isinstance(static_argnames, str) else static_argnames
        fixed = {name: kwargs.pop(name) for name in names if name in kwargs}
        function = functools.partial(original, **fixed) if fixed else original
        return _called(function, args, kwargs, places, kept, saves)

    return checkpointed


def _called(
    original: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    static: Collection[int],
    policy: tuple[str, str],
    saves: Callable[..., Any] | None,
) -> Any:
    """A call whose intermediate values are computed again; `static`: arguments that are no arrays."""
    leaves, structure = tree.flatten(([a for i, a in enumerate(args) if i not in static], kwargs))
    held = {i: leaf for i, leaf in enumerate(leaves) if isinstance(leaf, Ref)}
    values = [as_value(leaf) for i, leaf in enumerate(leaves) if i not in held]
    effects = Effects(original) if any_alive() else None
    function = effects or original

    def call(arrays: Sequence[Any]) -> Any:
        rest = iter(arrays)
        positional, named = tree.unflatten(
            structure, [held[i] if i in held else next(rest) for i in range(len(leaves))]
        )
        given = iter(positional)
        result = function(*[arg if i in static else next(given) for i, arg in enumerate(args)], **named)
        if saves is not None:
            _name_saved_values(current_frame(), saves, SAVED_BY_POLICY, tree.leaves(result))
        return result

    arguments = [argument_of(v) for v in values]
    sources = [KnownArgument(v) for v in values]
    nested = FunctionScope().trace(function_name(original), call, arguments, sources=sources)
    kind, labels = policy
    results = ops.checkpoint_call(
        *values,
        *nested.captured,
        callee=nested.symbol,
        policy=kind,
        labels=labels,
        results=nested.result_types,
    )
    with_all_names(list(results), nested.result_names, [*values, *nested.captured])
    result = tree.unflatten(nested.result_tree, results)
    if effects is None:
        return result
    result, written = result
    effects.apply(written)
    return result


remat = checkpoint


def checkpoint_name(x: Any, name: str) -> Any:
    """`x`, under a name that `checkpoint_policies.save_only_these_names` can refer to; maps over trees."""
    return tree.map(lambda leaf: ops.checkpoint_name(as_value(leaf), label=name), x)


def stop_gradient(x: Any) -> Any:
    """`x` with a derivative of zero; maps over trees."""
    return tree.map(lambda leaf: ops.stop_gradient(as_value(leaf)), x)
