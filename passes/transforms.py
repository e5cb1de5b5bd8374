"""The transforms as named passes on text: `jvp`, `linearize`, `transpose`, `grad`, `batch` of a function.

`adze opt model.mlir --pass-pipeline='grad{function=f argnums=0,1}'` differentiates any function of adze IR,
whatever produced it. The function that a transform makes is public and stands beside the original.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..dialects import mlir
from ..dialects.codec import Codec
from ..dialects.dataclass import dataclass
from ..dialects.errors import AdzeError
from ..dialects.types import FLOATS, TensorType
from .analysis.verify import verify
from .base import Pass
from .engines import Engines
from .ir.aliases import Value
from .ir.construction import Activity, NewFunction, call_function, derived_location, unique_symbol
from .ir.functions import body, function, split_body
from .pipeline import OPTIMIZE, run_pipeline


class TransformError(AdzeError, ValueError):
    """A transform was asked of a function that it does not fit."""


def _chosen(argnums: str, arguments: Sequence[Value], what: str) -> Activity:
    """The flags for `argnums` text such as `0,2`; empty text means all arrays."""
    is_array = [not isinstance(argument.type, mlir.ir.IndexType) for argument in arguments]
    if not argnums:
        return tuple(is_array)
    count = len(arguments)
    try:
        numbers = [int(n) for n in argnums.split(",")]
    except ValueError:
        raise TransformError(f"{what} {argnums!r} is not a list of argument numbers such as 0,2") from None
    wrong = [n for n in numbers if not 0 <= n < count]
    if wrong:
        raise TransformError(f"{what} names argument {wrong[0]}, the function has {count}")
    for i in numbers:
        if not is_array[i]:
            raise TransformError(f"{what} names argument {i}, which is a size and no array")
    return tuple(i in numbers for i in range(count))


def _arguments(module: mlir.ir.Module, symbol: str) -> list[Value]:
    """The arguments of a function of a module that is checked here: the engines take valid adze IR only."""
    verify(module)
    return list(body(function(module, symbol)).arguments)


def _publish(module: mlir.ir.Module, symbol: str, wanted: str) -> None:
    """Give a derived function its public name, and inline what it calls."""
    operation = function(module, symbol)
    with module.context:
        if symbol != wanted:
            name = unique_symbol(module, wanted)
            operation.attributes["sym_name"] = mlir.ir.StringAttr.get(name)
        if "sym_visibility" in operation.attributes:
            del operation.attributes["sym_visibility"]
    run_pipeline(module, OPTIMIZE, check=False)  # whoever runs the transform verifies what it leaves


@dataclass(frozen=True)
class Jvp(Pass):
    """Add `@f_jvp(primals, tangents) -> (results, tangents)`, tangents of the arguments `argnums`."""

    name = "jvp"
    function: str = ""
    argnums: str = ""

    def run(self, module: mlir.ir.Module) -> None:
        active = _chosen(self.argnums, _arguments(module, self.function), "argnums")
        pushforward = Engines(module).forward.differentiate(self.function, active)
        _publish(module, pushforward.symbol, f"{self.function}_jvp")


@dataclass(frozen=True)
class Linearize(Pass):
    """Add `@f_primal(arguments) -> (results, residuals)` and `@f_linear(residuals, tangents) -> tangents`."""

    name = "linearize"
    function: str = ""
    argnums: str = ""

    def run(self, module: mlir.ir.Module) -> None:
        active = _chosen(self.argnums, _arguments(module, self.function), "argnums")
        linearized = Engines(module).linearizer.linearize(self.function, active)
        with module.context:
            for symbol in (linearized.primal, linearized.linear):
                del function(module, symbol).attributes["sym_visibility"]
        _publish(module, linearized.primal, linearized.primal)


@dataclass(frozen=True)
class TransposeFunction(Pass):
    """Add `@f_transpose(other arguments, cotangents) -> cotangents` of a function linear in `argnums`."""

    name = "transpose"
    function: str = ""
    argnums: str = ""

    def run(self, module: mlir.ir.Module) -> None:
        linear = _chosen(self.argnums, _arguments(module, self.function), "argnums")
        transposed = Engines(module).transposer.transpose(self.function, linear)
        _publish(module, transposed.symbol, f"{self.function}_transpose")


@dataclass(frozen=True)
class Grad(Pass):
    """Add `@f_grad(arguments) -> gradients` of a function that returns one float scalar, in `argnums`."""

    name = "grad"
    function: str = ""
    argnums: str = "0"

    def run(self, module: mlir.ir.Module) -> None:
        codec = Codec(module.context)
        arguments = _arguments(module, self.function)
        active = _chosen(self.argnums, arguments, "argnums")
        source = function(module, self.function)
        _, terminator = split_body(source)
        types = [codec.read_type(v.type) for v in terminator.operands]
        result = types[0] if types else None
        if len(types) != 1 or not isinstance(result, TensorType) or result.rank or result.dtype not in FLOATS:
            raise TransformError(
                f"grad needs a function that returns one float scalar, @{self.function} returns "
                f"({', '.join(map(str, types))})"
            )
        engines = Engines(module)
        linearized = engines.linearizer.linearize(self.function, active)
        linear = (False,) * len(linearized.residuals) + (True,) * sum(active)
        transposed = engines.transposer.transpose(linearized.linear, linear)
        location = derived_location(source.location, "grad")
        new = NewFunction(
            module, codec, f"{self.function}_grad", [codec.read_type(a.type) for a in arguments], location
        )
        b = new.emitter
        outputs = call_function(b, module, linearized.primal, new.arguments)
        seeds = [b.scalar(1, result.dtype)] if linearized.active_results[0] else []
        residuals = linearized.residual_values(new.arguments, outputs)
        values = iter(call_function(b, module, transposed.symbol, [*residuals, *seeds]))
        flags = iter(transposed.nonzero)
        gradients = []
        for argument, is_active in zip(new.arguments, active, strict=True):
            if is_active:
                gradients.append(next(values) if next(flags) else b.zeros_like(argument))
        new.finish(gradients)
        _publish(module, new.symbol, new.symbol)


@dataclass(frozen=True)
class Batch(Pass):
    """Add `@f_batched`, which maps the function over a new leading axis of `size` of the arguments `argnums`.

    Without `size` the axis is dynamic and its size the first argument.
    """

    name = "batch"
    function: str = ""
    argnums: str = ""
    size: str = ""

    def __post_init__(self) -> None:
        is_number = self.size.isascii() and self.size.isdecimal() and len(self.size) < 20
        if self.size and not is_number:
            raise TransformError(f"size {self.size!r} is not a number of at most 19 digits")

    def run(self, module: mlir.ir.Module) -> None:
        batched = _chosen(self.argnums, _arguments(module, self.function), "argnums")
        batcher = Engines(module).batcher(int(self.size) if self.size else None)
        batched_function = batcher.batch(self.function, batched, all_results=True)
        _publish(module, batched_function.symbol, f"{self.function}_batched")


TRANSFORMS: Sequence[type[Pass]] = (Jvp, Linearize, TransposeFunction, Grad, Batch)
