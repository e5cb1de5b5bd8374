"""Routines get their final form: a kernel where the target has one for these types, else their ops.

Input: adze IR with a plan. Output: the same without routines: `expand-routines` puts the bodies of callees in
the place of those without a kernel, and `routine-kernels` a `flow.dispatch` in the place of the others.
Idea: a routine on small matrices in the body of a loop becomes ops too, so that the whole loop can become a
kernel (`loops/`), which saves a dispatch in every step.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Final

from ....dialects import mlir
from ....dialects.builder.core import Application
from ....dialects.builder.emitter import Emitter, Reader
from ....dialects.codec import Codec
from ....dialects.dataclass import dataclass
from ....dialects.dialect import OPS
from ....dialects.routine_arrays import ANY_SIZES, OWN_AXES, attention_scale, takes
from ....dialects.types import TensorType
from ....runtime.targets import Target, TargetKind
from ...base import Pass, names_of
from ...ir.aliases import Operation, Value
from ...ir.functions import body, functions, is_private, referenced, refers_to_functions
from ...optimize.inline import inline_operation
from ...optimize.simplify import drop_unreferenced, simplify
from ..plan import target_of
from ..tuning import configuration
from ..tuning.fused_attention import is_fused
from .builder import Number, Place, least, product
from .executable import Kernels, Result, Size
from .fourier import gpu_rows, real, transforms
from .linalg import ALONE, gpu_cholesky
from .linalg import KERNELS as LINALG
from .linalg.matrices import MakeKernel
from .linalg.vectors import Machine

KERNELS: Final[Mapping[str, MakeKernel]] = {**LINALG, **transforms.KERNELS, **real.KERNELS}
"""Those of CPUs."""
GPU_KERNELS: Final[Mapping[str, MakeKernel]] = {**gpu_rows.KERNELS, **gpu_cholesky.KERNELS}
"""Those of CUDA, for arrays that fit in the memory of a workgroup."""
_ROUTINES: Final = names_of(*(op for op in OPS if op.is_routine))

SMALL: Final = 1024  # elements of an operand: up to so many a routine in a loop becomes ops


@dataclass(frozen=True)
class ExpandRoutines(Pass):
    """Replace routines that have no kernel for the target, or are small parts of loops, by their ops."""

    name = "expand-routines"
    needs = _ROUTINES

    def run(self, module: mlir.ir.Module) -> bool:
        expansion = _Expansion(module)
        for symbol, function in functions(module).items():
            if not is_private(function):
                expansion.within(symbol, in_loop=False)
        if expansion.has_changed:
            simplify(module)
        return expansion.has_changed


@dataclass(frozen=True)
class RoutineKernels(Pass):
    """Replace each routine by a dispatch of its kernel; attention is lowered later."""

    name = "routine-kernels"
    needs = _ROUTINES
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> bool:
        reader, kernels = Reader(Codec(module.context)), Kernels(module)
        target = target_of(module)
        known = _kernels_of(target)
        found = [each for each in _routines(module, reader) if each[1].attributes["kernel"] in known]
        for operation, application in found:
            _dispatch(target, kernels, reader, operation, application)
        if found:
            drop_unreferenced(module, reader)
        return bool(found)


class _Expansion:
    """The routines of a module that have no kernel."""

    def __init__(self, module: mlir.ir.Module) -> None:
        self.reader = Reader(Codec(module.context))
        self.functions = functions(module)
        self.target = target_of(module)
        self.has_changed = False
        self._done: set[str] = set()

    def within(self, symbol: str, *, in_loop: bool) -> None:
        """Expand routines in a function, and in those that it refers to."""
        if symbol in self._done:
            return
        self._done.add(symbol)
        pending = [child.operation for child in body(self.functions[symbol]).operations]
        while pending:
            operation = pending.pop()
            application = self.reader.read_if(operation, refers_to_functions)
            if application is None:
                continue
            if not application.op.is_routine:
                for inner in referenced(application):
                    self.within(inner, in_loop=True)
            elif not self._stays(operation, application, in_loop):
                self.has_changed = True
                callee = self.functions[application.attributes["callee"]]
                pending += inline_operation(operation, callee, application.operands)

    def _stays(self, operation: Operation, application: Application, in_loop: bool) -> bool:
        name = application.attributes["kernel"]
        operands, results = (_tensors(self.reader.codec, v) for v in (operation.operands, operation.results))
        if not takes(name, operands):
            return False
        if attention_scale(name) is not None:
            return is_fused(self.target, operands)
        if name not in _kernels_of(self.target):
            return False
        if not configuration.has_kernels(self.target) and not _fits_on_gpu(name, operands):
            return False
        return not in_loop or any(_is_large(t) for t in (*operands, *results))


def _kernels_of(target: Target) -> Mapping[str, MakeKernel]:
    """The kernels of routines that a target has."""
    if target.kind is TargetKind.CUDA:
        return GPU_KERNELS
    return KERNELS if configuration.has_kernels(target) else {}


def _fits_on_gpu(name: str, operands: Sequence[TensorType]) -> bool:
    return gpu_rows.fits(name, operands) or gpu_cholesky.fits(name, operands)


def _is_large(type_: TensorType) -> bool:
    """Whether an array has more than a few elements, or may have."""
    return not type_.is_static or prod(int(n or 0) for n in type_.static_shape) > SMALL


def _tensors(codec: Codec, values: Sequence[Value]) -> list[TensorType]:
    """The types of arrays; a routine may have the size of a batch as an operand too."""
    types = (codec.read_type(v.type) for v in values)
    return [t for t in types if isinstance(t, TensorType)]


def _routines(module: mlir.ir.Module, reader: Reader) -> Iterator[tuple[Operation, Application]]:
    """The routines of functions that run, which the callees of routines do not."""
    by_symbol = functions(module)
    pending = [symbol for symbol, function in by_symbol.items() if not is_private(function)]
    reached = set(pending)
    while pending:
        for child in list(body(by_symbol[pending.pop()]).operations):
            application = reader.read_if(child.operation, refers_to_functions)
            if application is None:
                continue
            if application.op.is_routine:
                yield child.operation, application
                continue
            inner = set(referenced(application)) - reached
            reached |= inner
            pending.extend(sorted(inner))


def _dispatch(
    target: Target, kernels: Kernels, reader: Reader, operation: Operation, application: Application
) -> None:
    """Put a dispatch in the place of a routine."""
    name = application.attributes["kernel"]
    with mlir.ir.InsertionPoint(operation), operation.location:
        sizes = _Sizes(reader.codec, operation, name)
        results = [Result(v.type, sizes.of_result(n)) for n, v in enumerate(operation.results)]
        types = _tensors(reader.codec, sizes.arrays)
        make, wanted = _kernels_of(target)[name], list(operation.results)
        alone = ALONE.get(name)
        if alone is not None and _is_used_alone(operation, alone.position):
            make, wanted = alone.make, [operation.results[alone.position]]
            results = [results[position] for position in alone.told]
        kernel = make(Machine.of(target), _product(sizes.leading), types, results)
        values = kernels.call(kernel, sizes.arrays, sizes=sizes.of_operand)
    for old, new in zip(wanted, values, strict=False):
        old.replace_all_uses_with(new)
    operation.erase()


def _is_used_alone(operation: Operation, position: int) -> bool:
    """Whether nothing uses the other results of an operation."""
    return not any(list(result.uses) for n, result in enumerate(operation.results) if n != position)


class _Sizes:
    """The sizes of what a routine takes and returns; `leading` are those of the axes that count matrices."""

    def __init__(self, codec: Codec, operation: Operation, name: str) -> None:
        self.arrays = [v for v in operation.operands if isinstance(codec.read_type(v.type), TensorType)]
        self._emitter = Emitter(codec, mlir.ir.InsertionPoint(operation), operation.location)
        self._types = _tensors(codec, operation.results)
        self._own = ANY_SIZES.get(name)
        shapes = [t.static_shape for t in (*_tensors(codec, self.arrays), *self._types)]
        count = len(shapes[0]) - OWN_AXES[name]
        self.leading: list[Size] = [
            next((n for n in each if n is not None), None) or self._emitter.dim(self.arrays[0], axis=axis)
            for axis, each in enumerate(zip(*(shape[:count] for shape in shapes), strict=True))
        ]

    def of_operand(self, value: Value) -> list[Size]:
        """Those of the axes of an array."""
        (type_,) = _tensors(self._emitter.codec, [value])
        own = range(len(self.leading), type_.rank)
        own_sizes = (type_.static_shape[a] for a in own)
        return [
            *self.leading,
            *(
                self._emitter.dim(value, axis=a) if n is None else n
                for a, n in zip(own, own_sizes, strict=True)
            ),
        ]

    def of_result(self, position: int) -> tuple[Value, ...]:
        """Those of the dynamic axes of a result."""
        sizes = list(self.leading)
        if self._own is not None:
            sizes += [self._least(operand, axes) for operand, *axes in self._own[position]]
        shape = self._types[position].static_shape
        return tuple(
            n for n, known in zip(sizes, shape, strict=False) if known is None and not isinstance(n, int)
        )

    def _least(self, operand: int, axes: Sequence[int]) -> Size:
        """The size of the shortest of some axes of an operand."""
        sizes = self.of_operand(self.arrays[operand])
        return _size(functools.reduce(least, (_place(sizes[axis]) for axis in axes)))


def _product(sizes: Sequence[Size]) -> Size:
    return _size(product(map(_place, sizes)))


def _place(size: Size) -> Place:
    return size if isinstance(size, int) else Number(size)


def _size(place: Place) -> Size:
    return place if isinstance(place, int) else place.value
