"""The pass `convolution-kernels`: convolutions, and the elementwise ops behind them, as kernels of our own.

Input: adze IR with a plan. Output: the same, where a `flow.dispatch` computes what a convolution and a chain
of ops behind it computed. What stays is lowered by `forms/convolution.py`: sizes that are not known, dtypes
other than f32 and f64, GPUs, and little work.
Idea: `sites.py` chooses what becomes a kernel, and how arrays lie between kernels. Here the image is padded
and the weights are packed, both only if the plan says so, and the kernel of `contractions.py` is called. It
applies the ops of the chain (`chains.py`) to sums that are still in registers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

from .....dialects import mlir
from .....dialects.builder.emitter import Emitter, Reader
from .....dialects.codec import Codec
from .....dialects.op import DIALECT
from .....dialects.ops.constants import Constant
from .....dialects.ops.shape.rearrange import BroadcastInDim
from ....base import Pass
from ....ir.aliases import Operation, Value
from ....ir.functions import body, functions
from ...plan import target_of
from ...tuning.array_layouts import plain
from ...tuning.configuration import has_kernels
from ..contractions import contract
from ..copies import copied_array, copy_strided
from ..executable import Kernels
from .sites import Site, Sites


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
        found = False
        for function in functions(module).values():
            operations = [child.operation for child in body(function).operations]
            sites = Sites(target, codec, Reader(codec)).find(operations)
            _Replacement(Kernels(module), codec).replace(sites)
            found |= bool(sites)
        return found


@dataclass(frozen=True, slots=True)
class _Replacement:
    """Replaces the convolutions of one function.

    `replaced` are results by their kernels' arrays; `stored` are flat arrays of results that lie otherwise.
    """

    kernels: Kernels
    codec: Codec
    replaced: dict[Value, Value] = field(default_factory=dict)
    stored: dict[Value, Value] = field(default_factory=dict)

    def replace(self, sites: Sequence[Site]) -> None:
        """Replace convolutions and what is applied to them, in their order."""
        for site in sites:
            with mlir.ir.InsertionPoint(site.last), site.operation.location:
                emitter = Emitter(self.codec, mlir.ir.InsertionPoint(site.last), site.operation.location)
                result = self._emit(emitter, site)
                if site.written is None:
                    shaped = emitter.reshape(result, shape=site.sizes[2])
                    self.replaced[site.last.results[0]] = shaped
                else:
                    self.stored[site.last.results[0]] = result
        for value, shaped in self.replaced.items():
            value.replace_all_uses_with(shaped)
        for site in reversed(sites):
            _erase(site.operations)

    def _emit(self, emitter: Emitter, site: Site) -> Value:
        """The flat result of a plan."""
        image, weights = site.operation.operands
        plan, chain = site.plan, site.chain
        seen = self._flat(emitter, image)
        if plan.image_copy is not None:
            seen = copy_strided(self.kernels, seen, plan.image_copy)
        known = emitter.constant_of(weights)
        if plan.weights_copy is None:
            packed = self._flat(emitter, weights)
        elif known is not None:
            packed = emitter.array(copied_array(known.reshape(-1), plan.weights_copy))
        else:
            packed = copy_strided(self.kernels, self._flat(emitter, weights), plan.weights_copy)
        left, right = (packed, seen) if plan.is_swapped else (seen, packed)
        beside = [] if chain is None else [self._flat(emitter, value) for value in chain.operands]
        epilogue = None if chain is None else chain.epilogue
        out = site.written or plain(site.sizes[2])
        result = contract(self.kernels, left, right, out, plan.parts, epilogue, beside)
        return result if plan.out_copy is None else copy_strided(self.kernels, result, plan.out_copy)

    def _flat(self, emitter: Emitter, x: Value) -> Value:
        """The flat array of a value, as it lies."""
        if x in self.stored:
            return self.stored[x]
        x = self.replaced.get(x, x)
        type_ = emitter.tensor_type(x)
        count = prod(n or 0 for n in type_.static_shape)
        flat: Value = x if type_.shape == (count,) else emitter.reshape(x, shape=(count,))
        return flat


def _erase(erased: Sequence[Operation]) -> None:
    """Erase a convolution and the ops of its chain, and what no op uses any more."""
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
