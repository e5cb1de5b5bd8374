"""`export`: a jitted function as an `Exported`, which holds its adze IR and what calls must know of it.

Input: a jitted function, and specs of its arguments, whose shapes may be symbolic. Output: an `Exported`: it
is called in other programs, differentiated as often as its export says, and written to bytes.
Idea: the IR is that of a program file (`staging/kept.py`), so that what was exported and what was read again
are one thing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...dialects.dataclass import dataclass
from ...dialects.types import INEXACT
from ...runtime.artifact.artifact import Contents
from ...runtime.artifact.manifest import make_manifest
from ...runtime.targets import parse_target
from .. import tree
from ..errors import ArgumentError, ArgumentTypeError, UnsupportedError
from ..imports.stablehlo_out.function import text_of_module
from ..sharding.named import NamedSharding, of_layout
from ..staging.exports import exported_functions
from ..staging.jit import jit
from ..staging.jitted import Jitted
from ..staging.kept import KeptFunction
from ..staging.modules import bytecode, kept_ir
from ..tracing.frames import Tracer, current_frame
from ..tracing.interpreter import as_value
from ..tracing.locations import user_location_text
from ..tracing.specs import ShapedArray, ShapeDtype
from ..tracing.symbolic import SymbolicDim, SymbolicScope, holds
from ..tracing.trace import function_name
from ..transforms.custom_derivatives import custom_vjp
from ..transforms.differentiation import vjp
from .checks import DisabledSafetyCheck, check_platform, checked_platforms
from .description import Description
from .serialized import from_bytes, to_bytes


@dataclass(frozen=True, eq=False)
class Exported(Description):
    """A function that was traced once, for arguments of these shapes and dtypes.

    `in_avals` and `out_avals` are the types of its flat arguments and results, whose trees are `in_tree` (of
    positional and keyword arguments) and `out_tree`; dimensions of them may be symbolic. Static arguments of
    the jitted function are left out.
    """

    @property
    def module_kept_var_idx(self) -> tuple[int, ...]:
        """The flat arguments that the StableHLO text takes: all of them."""
        return tuple(range(len(self.in_avals)))

    @functools.cached_property
    def _kept(self) -> KeptFunction:
        manifest = make_manifest((self.function,), parse_target("cpu"))
        return KeptFunction(Contents(b"", manifest, self.ir))

    def mlir_module(self) -> str:
        """The function as the text of a StableHLO module, whose main function takes the flat arguments."""
        return text_of_module(self._kept.module, self.function.signature.name)

    @property
    def mlir_module_serialized(self) -> bytes:
        """The StableHLO module as MLIR bytecode."""
        from ...dialects import mlir

        return bytecode(mlir.ir.Module.parse(self.mlir_module(), mlir.new_context()))

    def in_shardings_jax(self, mesh: Any) -> tuple[NamedSharding | None, ...]:
        """How the flat arguments lie on a mesh with the axes that the function was exported for."""
        return tuple(None if spec is None else NamedSharding(mesh, spec) for spec in self.in_specs)

    def out_shardings_jax(self, mesh: Any) -> tuple[NamedSharding | None, ...]:
        """How the flat results lie on such a mesh, None where the export does not say."""
        return tuple(None if spec is None else NamedSharding(mesh, spec) for spec in self.out_specs)

    def has_vjp(self) -> bool:
        """Whether it can be differentiated in reverse."""
        return self.vjp_order != 0

    def vjp(self) -> Exported:
        """The exported derivative: of flat arguments and cotangents of results, the cotangents of arguments.

        Raises `ArgumentError`, a `ValueError`, where the export has none left.
        """
        if not self.has_vjp():
            raise ArgumentError(
                f"No VJP is available: {self.fun_name} was serialized with fewer derivatives",
                where=user_location_text(),
                hint="write it with serialize(vjp_order=...) of as many derivatives as are taken",
            )
        return self._vjp

    @functools.cached_property
    def _vjp(self) -> Exported:
        count = len(self.in_avals)
        by = [k for k, aval in enumerate(self.in_avals) if aval.dtype in INEXACT]
        of = [k for k, aval in enumerate(self.out_avals) if aval.dtype in INEXACT]

        def pullback(*leaves: Any) -> tuple[Any, ...]:
            arguments = list(leaves[:count])

            def inexact(*chosen: Any) -> list[Any]:
                for k, value in zip(by, chosen, strict=True):
                    arguments[k] = value
                results = self._kept.leaves_of(arguments)
                return [results[k] for k in of]

            _, pull = vjp(inexact, *(leaves[k] for k in by))
            cotangents = dict(zip(by, pull([leaves[count + k] for k in of]), strict=True))
            return tuple(
                cotangents[k] if k in cotangents else np.zeros(_tangent(aval).shape, np.bool_)
                for k, aval in enumerate(self.in_avals)
            )

        pullback.__name__ = f"{self.fun_name}_vjp"
        specs = (*self.in_avals, *map(_tangent, self.out_avals))
        order = None if self.vjp_order is None else self.vjp_order - 1
        made = _exported(jit(pullback), specs, {}, self.platforms, self.disabled_safety_checks)
        return replace(made, vjp_order=order, constraints=self.constraints)

    def serialize(self, vjp_order: int = 0) -> bytearray:
        """The function as bytes, which `deserialize` reads; `vjp_order` is how many derivatives it has then.

        The bytes have a version and a checksum: damaged ones are refused. Raises `ArgumentError` for trees
        with nodes of classes that are not registered for this, or an order that is not there.
        """
        if self.vjp_order is not None and vjp_order > self.vjp_order:
            self.vjp()
            raise ArgumentError(
                f"serialize(vjp_order={vjp_order}): {self.fun_name} has {self.vjp_order} derivatives left",
                where=user_location_text(),
            )
        return bytearray(to_bytes(replace(self, vjp_order=vjp_order)))

    def call(self, /, *args: Any, **kwargs: Any) -> Any:
        """The results for arguments of the exported types, in a trace or outside.

        Raises `ArgumentError` for arguments of another tree, dtype or shape, and on another platform.
        """
        leaves, structure = tree.flatten((args, kwargs))
        if structure != self.in_tree:
            raise ArgumentTypeError(
                f"{self.fun_name} was exported for arguments {tree.describe_arguments(self.in_tree)}, "
                f"got {tree.describe_arguments(structure)}",
                where=user_location_text(),
            )
        check_platform(self.fun_name, self.platforms, self.disabled_safety_checks)
        self._check_sizes(leaves)
        self._check_devices(leaves)
        return tree.unflatten(self.out_tree, list(self._flat(*leaves)))

    def _check_sizes(self, leaves: Sequence[Any]) -> None:
        """Raise `ArgumentError` for arguments that do not fit, or against what was assumed of their sizes."""
        sizes = self._kept.sizes_of(leaves)
        known = {name: n for name, n in sizes.items() if isinstance(n, int)}
        assumed = [f"{name} >= 1" for name in sizes if self.uses_global_constants]
        broken = [text for text in (*assumed, *self.constraints) if not holds(text, known)]
        if broken:
            raise ArgumentError(
                f"input shapes do not match the symbolic shapes of {self.fun_name}: {broken[0]} does not "
                f"hold for {', '.join(f'{name} = {n}' for name, n in known.items())}",
                where=user_location_text(),
                hint=f"it is {self.function.signature}",
            )

    def _check_devices(self, leaves: Sequence[Any]) -> None:
        """Raise `ArgumentError` for arrays on another number of devices than a divided function takes."""
        here = max([1, *(_device_count(sharding) for sharding in map(_sharding_of, leaves))])
        if self.nr_devices > 1 and here != self.nr_devices and current_frame() is None:
            raise ArgumentError(
                f"exported module {self.fun_name} was lowered for {self.nr_devices} devices and is called in "
                f"a context with {here}",
                where=user_location_text(),
                hint="put the arguments there: device_put(x, exported.in_shardings_jax(mesh)[0])",
            )

    @functools.cached_property
    def _flat(self) -> Callable[..., Any]:
        """The function of flat arguments, with the derivative that the export has."""

        def call(*leaves: Any) -> tuple[Any, ...]:
            return tuple(self._kept.leaves_of(leaves))

        def forward(*leaves: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
            return call(*leaves), leaves

        def backward(leaves: tuple[Any, ...], cotangents: tuple[Any, ...]) -> tuple[Any, ...]:
            try:
                derivative = self.vjp()
            except ArgumentError as error:  # as one of a user's rule: it is raised where that is asked for
                raise ValueError(str(error)) from None
            given = [
                ct if aval.dtype in INEXACT else np.zeros(np.shape(ct), np.bool_)
                for ct, aval in zip(cotangents, self.out_avals, strict=True)
            ]
            results = derivative._flat(*leaves, *given)
            return tuple(
                ct if aval.dtype in INEXACT else None for ct, aval in zip(results, self.in_avals, strict=True)
            )

        call.__name__ = self.fun_name
        if not any(a.dtype in INEXACT for a in self.in_avals):
            return jit(call)
        differentiable = custom_vjp(call)
        differentiable.defvjp(forward, backward)
        return jit(differentiable)

    def __str__(self) -> str:
        return f"Exported(fun_name={self.fun_name}, ...)"


def deserialize(blob: bytearray | bytes) -> Exported:
    """The exported function that `Exported.serialize` wrote.

    Raises `ArtifactError` for bytes that are damaged, or of something else, or that a newer adze wrote, and
    `ArgumentError` for trees of classes that are not registered here.
    """
    return Exported(**vars(from_bytes(blob)))


def export(
    fun_jit: Callable[..., Any],
    *,
    platforms: Sequence[str] | None = None,
    disabled_checks: Sequence[DisabledSafetyCheck] = (),
) -> Callable[..., Exported]:
    """A function that exports `fun_jit`, a result of `jit`, for given arguments: `export(jit(f))(*specs)`.

    Arguments are arrays or specs (`ShapeDtype`), whose dimensions may be symbolic (`symbolic_shape`).
    `platforms` are those that it may be called on, by default the one here. Raises `ArgumentError` for a
    function that is not jitted, `UnsupportedError` for one that calls Python functions of this process.
    """
    if not isinstance(fun_jit, Jitted):
        raise ArgumentError(
            f"export takes a function that jit returned, got {fun_jit!r}",
            where=user_location_text(),
            hint="write export(jit(f))(...)",
        )
    names, checks = checked_platforms(platforms), tuple(disabled_checks)
    return lambda *args, **kwargs: _exported(fun_jit, args, kwargs, names, checks)


def _exported(
    function: Jitted,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    platforms: tuple[str, ...],
    checks: tuple[DisabledSafetyCheck, ...],
) -> Exported:
    args, kwargs = function.with_arrays(_strongly_typed, args, kwargs)
    program = function.trace(*args, **kwargs).program
    if program.program.callees:
        raise UnsupportedError(
            f"{program.symbol}() calls Python functions of this process, which no export can hold",
            where=program.defined_at,
            hint="leave debug.print and the callbacks out of what is exported",
        )
    scope = next((scope for leaf in tree.leaves((args, kwargs)) for scope in _scopes(leaf)), None)
    (described,) = exported_functions(program)
    shardings = list(map(_sharding_of, tree.leaves(function.with_arrays(lambda x: x, args, kwargs))))
    signature = described.signature
    return Exported(
        function_name(function.function),
        program.argument_tree,
        tuple(ShapedArray(map(_in(scope), spec.shape), spec.dtype) for spec in signature.inputs),
        program.result_tree,
        tuple(ShapedArray(map(_in(scope), spec.shape), spec.dtype) for spec in signature.outputs),
        platforms,
        checks,
        kept_ir(program.module),
        described,
        () if scope is None else scope.constraints,
        nr_devices=max([1, *map(_device_count, shardings)]),
        in_specs=tuple(None if s is None else s.spec for s in shardings),
        out_specs=tuple(
            None if layout is None else of_layout(layout).spec
            for layout in program.result_layouts or [None] * len(signature.outputs)
        ),
    )


def _strongly_typed(leaf: Any) -> Any:
    """A number as the array that it is where it is combined with no other, others as they are."""
    if isinstance(leaf, ShapeDtype):
        return ShapeDtype(leaf.shape, leaf.dtype, sharding=leaf.sharding) if leaf.weak_type else leaf
    value = as_value(leaf) if isinstance(leaf, (bool, int, float, complex)) else leaf
    return value if value is leaf else ShapeDtype(value.shape, value.dtype)


def _sharding_of(leaf: Any) -> NamedSharding | None:
    """How an array or a spec lies on a mesh of several devices."""
    sharding = None if isinstance(leaf, Tracer) else getattr(leaf, "sharding", None)
    return sharding if isinstance(sharding, NamedSharding) and sharding.mesh.size > 1 else None


def _device_count(sharding: NamedSharding | None) -> int:
    return 1 if sharding is None else sharding.num_devices


def _scopes(leaf: Any) -> list[SymbolicScope]:
    return [n.scope for n in getattr(leaf, "shape", ()) if isinstance(n, SymbolicDim)]


def _in(scope: SymbolicScope | None) -> Callable[[Any], Any]:
    """A dimension of a signature as one of a scope."""
    from ...dialects.symbolic_sizes import parse_size

    return lambda n: n if scope is None or not isinstance(n, str) else scope.dimension(parse_size(n))


def _tangent(aval: ShapeDtype) -> ShapedArray:
    """The type of a cotangent: that of integers is of bools."""
    return ShapedArray(aval.shape, aval.dtype if aval.dtype in INEXACT else np.bool_)
