"""The pass `convolution-kernels`: convolutions, and the elementwise ops behind them, as kernels of our own.

Input: adze IR with a plan. Output: the same, where a `flow.dispatch` computes what a convolution and a chain
of ops behind it computed. What stays is lowered by `forms/convolution.py`: sizes that are not known, dtypes
other than f32 and f64, GPUs, and little work.
Idea: `tuning/convolution_plans.py` chooses the order of the axes; here the image is padded and the weights
are packed, both only if the plan says so, and the kernel of `contractions.py` is called. It applies the ops
of the chain (`chains.py`) to sums that are still in registers.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Final

import numpy as np

from .....dialects import mlir
from .....dialects.builder.core import Application
from .....dialects.builder.emitter import Emitter, Reader
from .....dialects.codec import Codec
from .....dialects.op import DIALECT
from .....dialects.ops.constants import Constant
from .....dialects.ops.contraction.convolution import ConvGeneral
from .....dialects.ops.contraction.convolution_window import Convolution
from .....dialects.ops.shape.rearrange import BroadcastInDim
from .....dialects.types import TensorType
from .....runtime.targets import Target
from ....base import Pass
from ....ir.aliases import Operation, Value
from ....ir.functions import body, functions
from ....ir.marks import BARRIER
from ...plan import target_of
from ...tuning.configuration import has_kernels
from ...tuning.convolution_plans import Plan, cheapest_plan
from ..contractions import contract
from ..copies import copied_array, copy_strided
from ..executable import Kernels
from .chains import Chain, chain_behind
from .problems import Shape, find_problem

PASS_OVER: Final = 2.0  # what it costs to load, compute and store an element in a kernel of its own


@dataclass(frozen=True)
class ConvolutionKernels(Pass):
    """Replace convolutions by dispatches of kernels, which apply the elementwise ops behind them as well."""

    name = "convolution-kernels"
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> bool:
        target = target_of(module)
        if not has_kernels(target):
            return False
        codec = Codec(module.context)
        replacement = _Replacement(target, Kernels(module), codec, Reader(codec))
        found = False
        for function in functions(module).values():
            operations = [child.operation for child in body(function).operations]
            for operation in [o for o in operations if o.name == f"{DIALECT}.{ConvGeneral.name}"]:
                found |= replacement.replaces(operation)
        return found


@dataclass(frozen=True, slots=True)
class _Replacement:
    """Replaces convolutions of one module."""

    target: Target
    kernels: Kernels
    codec: Codec
    reader: Reader

    def replaces(self, operation: Operation) -> bool:
        """Replace a convolution and what may be applied to it; whether a kernel can compute it."""
        shapes = [self._shape(value) for value in (*operation.operands, *operation.results)]
        application = self.reader.read(operation)
        if None in shapes or application is None:
            return False
        image, weights, out = (shape for shape in shapes if shape is not None)
        sizes = image, weights, out
        emitter = Emitter(self.codec, mlir.ir.InsertionPoint(operation), operation.location)
        plan = self._plan(application, sizes, emitter)
        if plan is None:
            return False
        chain = None if BARRIER in operation.attributes else chain_behind(operation, self.reader)
        if chain is not None:
            applied = self._plan(application, sizes, emitter, chain)
            if applied is None or applied.cost > plan.cost + PASS_OVER * prod(out):
                chain = None
            else:
                plan = applied
        last = operation if chain is None else chain.operations[-1]
        with mlir.ir.InsertionPoint(last), operation.location:
            emitter = Emitter(self.codec, mlir.ir.InsertionPoint(last), operation.location)
            result = self._emit(emitter, application, out, plan, chain)
        last.results[0].replace_all_uses_with(result)
        _erase(operation, chain)
        return True

    def _shape(self, value: Value) -> Shape | None:
        """The shape of an array, None if it is not known."""
        type_ = self.codec.read_type(value.type)
        assert isinstance(type_, TensorType)
        shape = tuple(n for n in type_.static_shape if n is not None)
        return shape if len(shape) == type_.rank else None

    def _plan(
        self,
        application: Application,
        sizes: tuple[Shape, Shape, Shape],
        emitter: Emitter,
        chain: Chain | None = None,
    ) -> Plan | None:
        attributes = Convolution(**application.attributes)
        dtype = emitter.tensor_type(application.operands[0]).dtype
        known = emitter.constant_of(application.operands[1])
        strides = () if chain is None else chain.strides
        plain = find_problem(attributes, *sizes, strides)
        if plain is None:
            return None
        problems = [plain]
        if known is not None and np.isfinite(known).all():  # zeros of padding add nothing
            axes = tuple(range(len(attributes.window_strides)))
            apart = [find_problem(attributes, *sizes, strides, edges=e) for e in dict.fromkeys([(0,), axes])]
            problems += [problem for problem in apart if problem is not None]
        return cheapest_plan(self.target, problems, dtype, has_constant_weights=known is not None)

    def _emit(
        self, emitter: Emitter, application: Application, out: Shape, plan: Plan, chain: Chain | None
    ) -> Value:
        """The result of a plan."""
        image, weights = application.operands
        seen = _flat(emitter, image)
        if plan.image_copy is not None:
            seen = copy_strided(self.kernels, seen, plan.image_copy)
        known = emitter.constant_of(weights)
        if plan.weights_copy is None:
            packed = _flat(emitter, weights)
        elif known is not None:
            packed = emitter.array(copied_array(known.reshape(-1), plan.weights_copy))
        else:
            packed = copy_strided(self.kernels, _flat(emitter, weights), plan.weights_copy)
        left, right = (packed, seen) if plan.is_swapped else (seen, packed)
        beside = [] if chain is None else [_flat(emitter, value) for value in chain.operands]
        epilogue = None if chain is None else chain.epilogue
        result = contract(self.kernels, left, right, prod(out), plan.parts, epilogue, beside)
        if plan.out_copy is not None:
            result = copy_strided(self.kernels, result, plan.out_copy)
        shaped: Value = emitter.reshape(result, shape=out)
        return shaped


def _flat(emitter: Emitter, x: Value) -> Value:
    type_ = emitter.tensor_type(x)
    count = prod(n or 0 for n in type_.static_shape)
    flat: Value = x if type_.shape == (count,) else emitter.reshape(x, shape=(count,))
    return flat


def _erase(convolution: Operation, chain: Chain | None) -> None:
    """Erase a convolution and the ops of its chain, and what no op uses any more."""
    erased = [convolution, *(() if chain is None else chain.operations)]
    operands = dict.fromkeys(value for operation in erased for value in operation.operands)
    results = {operation.results[0] for operation in erased}
    for operation in reversed(erased):
        operation.erase()
    for value in operands:
        if value not in results:
            _erase_unused(value)


def _erase_unused(value: Value) -> None:
    """Erase the constant or the repetition of one that a value is, if nothing uses it."""
    if isinstance(value.owner, mlir.ir.Block) or next(iter(value.uses), None) is not None:
        return
    operation = value.owner.operation
    if operation.name in (f"{DIALECT}.{Constant.name}", f"{DIALECT}.{BroadcastInDim.name}"):
        operands = list(operation.operands)
        operation.erase()
        for operand in operands:
            _erase_unused(operand)
