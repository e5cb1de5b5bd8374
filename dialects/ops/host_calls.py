"""Calls of Python functions while a program runs: `host_call` is pure, `host_effect` does something besides.

IR cannot hold a Python function: `callback` is the name under which the frontend registered it. The rows of
`batches` say how vmap has mapped the call, the outermost first: the kind of the mapping (`Mapping`), then a
flag for each operand that has the batch. One call runs the whole batch, so that no loop of the program enters
Python for each element.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from threading import Lock
from typing import Any, Final
from weakref import WeakValueDictionary

import numpy as np

from ..attributes import Record, stated
from ..errors import AdzeError, MissingRuleError
from ..op import Attribute, Op, Operand, boolean, pairs, text, undefined
from ..protocols import Batched, Builder, Size, Tangent, Tangents, Value, Values
from ..types import ANY, TensorType

HostFunction = Callable[..., tuple[np.ndarray, ...]]
"""The types of the results, arrays -> the results."""

REGISTERED: Final[WeakValueDictionary[str, Any]] = WeakValueDictionary()
"""The functions by name; whoever registers one keeps it alive as long as a program may call it."""

_registering: Final = Lock()
_count = 0


class Mapping(IntEnum):
    """How a call is mapped by `vmap`; JAX's `vmap_method`."""

    REFUSED = 0
    SEQUENTIAL = 1
    """One call an element, in order."""
    EXPAND_DIMS = 2
    """One call, in which operands that are not mapped have a leading axis of size 1."""
    BROADCAST_ALL = 3
    """One call, in which every operand has the batch as its leading axis."""
    LEGACY_VECTORIZED = 4
    """One call, in which operands that are not mapped stay as they are."""


class NoDerivativeError(AdzeError, ValueError):
    """A Python function that a program calls has no derivative."""


class LostCallbackError(AdzeError, RuntimeError):
    """A program refers to a Python function that is gone."""


def register(function: HostFunction) -> str:
    """Let programs refer to `function` under the name that is returned."""
    global _count
    with _registering:
        name = f"call_{_count}"
        _count += 1
        REGISTERED[name] = function
    return name


def registered(name: str) -> HostFunction:
    """The function of that name; `LostCallbackError` where the text of a program outlived it."""
    function: HostFunction | None = REGISTERED.get(name)
    if function is None:
        raise LostCallbackError(
            f"the program calls '{name}', a Python function that its text cannot hold",
            hint="call the function that was traced, in the process that traced it",
        )
    return function


def known_sizes(type_: TensorType) -> tuple[int, ...]:
    """The shape of a type, 0 in place of sizes that are not known."""
    return tuple(n if isinstance(n, int) else 0 for n in type_.shape)


def run(
    function: HostFunction,
    arrays: Sequence[np.ndarray],
    results: Sequence[TensorType],
    batches: Sequence[Sequence[int]],
    depth: int = 0,
) -> tuple[np.ndarray, ...]:
    """Call `function` for the whole batch that `batches` describes; `results` have the types of all of it."""
    if depth == len(batches):
        return function(results, *arrays)
    kind, *flags = batches[depth]
    if kind != Mapping.SEQUENTIAL:
        return run(function, _aligned(kind, flags, arrays, depth), results, batches, depth + 1)
    size = next(a.shape[0] for a, has in zip(arrays, flags, strict=True) if has)
    inner = [r.with_shape(r.shape[1:]) for r in results]
    rows = [
        run(function, [a[i] if has else a for a, has in zip(arrays, flags, strict=True)], inner, batches[1:])
        for i in range(size)
    ]
    if not rows:
        return tuple(np.zeros((size, *known_sizes(r)[1:]), r.dtype) for r in results)
    return tuple(np.stack(column) for column in zip(*rows, strict=True))


def _aligned(kind: int, flags: Sequence[int], arrays: Sequence[np.ndarray], depth: int) -> list[np.ndarray]:
    """The operands with the batch at axis `depth`, as the mapping of one call wants it."""
    if kind == Mapping.LEGACY_VECTORIZED:
        return list(arrays)
    size = next(a.shape[depth] for a, has in zip(arrays, flags, strict=True) if has)
    aligned = [a if has else np.expand_dims(a, depth) for a, has in zip(arrays, flags, strict=True)]
    if kind == Mapping.EXPAND_DIMS:
        return aligned
    return [np.broadcast_to(a, [*a.shape[:depth], size, *a.shape[depth + 1 :]]) for a in aligned]


Steps = tuple[tuple[int, ...], ...]
"""The value of the attribute `batches`."""


class HostCalled(Record):
    """The attributes of a `host_call`."""

    callback: str = stated(text("the registered name of the Python function"))
    result_types: tuple[TensorType, ...] = stated(Attribute("types", "the types of the results"))
    mapping: str = stated(text("how vmap maps it: the name of a `Mapping`"))
    batches: Steps = stated(pairs("a row for each vmap: the kind of the mapping, then a flag an operand"))


class HostEffectCalled(Record):
    """The attributes of a `host_effect`."""

    callback: str = stated(text("the registered name of the Python function"))
    result_types: tuple[TensorType, ...] = stated(Attribute("types", "the types of the results"))
    mapping: str = stated(text("how vmap maps it: the name of a `Mapping`"))
    batches: Steps = stated(pairs("a row for each vmap: the kind of the mapping, then a flag an operand"))
    ignores_tangents: bool = stated(boolean("whether derivatives pass it by; otherwise they are an error"))


class HostCallLike(Op, adds=("mapped",)):
    """Family of ops whose results a Python function computes."""

    operands = (Operand("xs", ANY, variadic=True),)
    is_arithmetic = False
    runs_on_host = True
    transpose = undefined("a Python function has no transpose")

    @staticmethod
    def infer(
        *xs: TensorType, result_types: tuple[TensorType, ...], **attributes: Any
    ) -> tuple[TensorType, ...]:
        return tuple(result_types)

    @classmethod
    def mapped(
        cls, b: Builder, size: Size, operands: Values, batched: Sequence[bool], attributes: dict[str, Any]
    ) -> Values:
        """The call for the whole batch: one row more."""
        kind = Mapping[attributes["mapping"].upper()]
        if kind is Mapping.REFUSED:
            raise MissingRuleError(
                f"'{cls.name}' cannot be batched: its Python function takes one element",
                hint='pass vmap_method="sequential" (or another one) to pure_callback',
            )
        row = (int(kind), *map(int, batched))
        extent = size if isinstance(size, int) else None
        results = tuple(t.with_shape((extent, *t.shape)) for t in attributes["result_types"])
        changed = {"result_types": results, "batches": (row, *attributes["batches"])}
        return b.apply(cls, tuple(operands), {**attributes, **changed})


class HostCall(HostCallLike):
    """``y... = callback(x...)``, by a Python function without effects: it may run more than once, or never.

    A program that is evaluated calls it at once; a compiled one asks the process that it runs in.
    """

    name = "host_call"
    record = HostCalled

    @staticmethod
    def evaluate(
        *xs: np.ndarray,
        attributes: HostCalled,
    ) -> tuple[np.ndarray, ...]:
        return run(registered(attributes.callback), xs, attributes.result_types, attributes.batches)

    @staticmethod
    def jvp(
        b: Builder, primals: Values, tangents: Sequence[Tangent], results: Values, *, attributes: HostCalled
    ) -> Tangents:
        raise NoDerivativeError(
            "pure_callback has no derivative: it calls a Python function",
            hint="state it: put the call into an adze.custom_jvp or custom_vjp function, or stop_gradient",
        )

    @classmethod
    def batch(
        cls, b: Builder, size: Size, operands: Values, batched: Sequence[bool], *, attributes: HostCalled
    ) -> Batched:
        values = cls.mapped(b, size, operands, batched, attributes.keywords)
        return list(values), [True] * len(values)


class HostEffect(HostCallLike):
    """``y... = callback(x...)``, by a Python function that does something: it runs once, in program order.

    The first operand is the predicate under which it runs; where it is false the results are zeros.
    """

    name = "host_effect"
    record = HostEffectCalled
    has_effect = True
    effect_is_a_call = True
    is_always_predicated = True

    @staticmethod
    def evaluate(
        predicate: np.ndarray,
        *xs: np.ndarray,
        attributes: HostEffectCalled,
    ) -> tuple[np.ndarray, ...]:
        arrays = [predicate, *xs]
        return run(registered(attributes.callback), arrays, attributes.result_types, attributes.batches)

    @staticmethod
    def jvp(
        b: Builder,
        primals: Values,
        tangents: Sequence[Tangent],
        results: Values,
        *,
        attributes: HostEffectCalled,
    ) -> Tangents:
        if not attributes.ignores_tangents:
            raise NoDerivativeError(
                "io_callback has no derivative: it calls a Python function with effects",
                hint="pass it adze.stop_gradient(x), or put it into a custom_jvp or custom_vjp function",
            )
        return [None] * len(attributes.result_types)

    @classmethod
    def batch(
        cls,
        b: Builder,
        size: Size,
        operands: Values,
        batched: Sequence[bool],
        *,
        attributes: HostEffectCalled,
    ) -> Batched:
        if attributes.mapping == Mapping.REFUSED.name.lower():
            raise MissingRuleError(
                "an ordered io_callback cannot be batched, as in JAX: the elements of a batch have no order",
                hint="with ordered=False it is called for one element after the other",
            )
        values = cls.mapped(b, size, operands, batched, attributes.keywords)
        return list(values), [True] * len(values)

    @classmethod
    def predicated(
        cls, b: Builder, predicate: Value, operands: Values, engine: object, *, attributes: HostEffectCalled
    ) -> Values:
        """It runs where both predicates hold."""
        first, *others = operands
        return b.apply(cls, (b.and_(first, predicate), *others), attributes.keywords)
