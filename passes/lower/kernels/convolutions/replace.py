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
from dataclasses import field
from math import prod

from .....dialects import mlir
from .....dialects.builder.emitter import Emitter, Reader
from .....dialects.codec import Codec
from .....dialects.dataclass import dataclass
from .....dialects.op import DIALECT
from .....dialects.ops.constants import Constant
from .....dialects.ops.contraction.convolution import ConvGeneral
from .....dialects.ops.shape.rearrange import BroadcastInDim
from ....base import Pass, names_of
from ....ir.aliases import Operation, Value
from ....ir.functions import body, functions
from ...plan import target_of
from ...tuning.array_layouts import plain
from ...tuning.configuration import has_kernels
from ..batched_kernels import BatchedKernels
from ..contractions import contract
from ..copies import copied_array, copy_strided
from ..executable import Calls, Kernels
from .sites import Site, Sites


@dataclass(frozen=True)
class ConvolutionKernels(Pass):
    """Replace convolutions by dispatches of kernels, which apply the elementwise ops behind them as well."""

    name = "convolution-kernels"
    needs = names_of(ConvGeneral)
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
    `batches`: how many images a result has, where that shows at the call.
    """

    kernels: Kernels
    codec: Codec
    replaced: dict[Value, Value] = field(default_factory=dict)
    stored: dict[Value, Value] = field(default_factory=dict)
    batches: dict[Value, Value] = field(default_factory=dict)

    def replace(self, sites: Sequence[Site]) -> None:
        """Replace convolutions and what is applied to them, in their order."""
        for site in sites:
            with mlir.ir.InsertionPoint(site.last), site.operation.location:
                emitter = Emitter(self.codec, mlir.ir.InsertionPoint(site.last), site.operation.location)
                batch = self._batch(emitter, site)
                result = self._emit(emitter, site, batch)
                if batch is not None:
                    self.batches[site.last.results[0]] = batch
                if site.written is None:
                    shape = site.sizes[2] if batch is None else (batch, *site.sizes[2][1:])
                    self.replaced[site.last.results[0]] = emitter.reshape(result, shape=shape)
                else:
                    self.stored[site.last.results[0]] = result
        for value, shaped in self.replaced.items():
            value.replace_all_uses_with(shaped)
        for site in reversed(sites):
            _erase(site.operations)

    def _batch(self, emitter: Emitter, site: Site) -> Value | None:
        """How many images there are, where that shows at the call."""
        if not site.is_batched:
            return None
        image = site.operation.operands[0]
        return self.batches[image] if image in self.batches else emitter.dim(image, axis=0)

    def _emit(self, emitter: Emitter, site: Site, batch: Value | None) -> Value:
        """The flat result of a plan, or those of each image of a batch."""
        image, weights = site.operation.operands
        plan, chain = site.plan, site.chain
        calls: Calls = self.kernels if batch is None else BatchedKernels(self.kernels, batch)
        seen = self._flat(emitter, image, batch)
        if plan.image_copy is not None:
            seen = copy_strided(calls, seen, plan.image_copy)
        known = emitter.constant_of(weights)
        if plan.weights_copy is None:
            packed = self._flat(emitter, weights, batch)
        elif known is not None:
            packed = emitter.array(copied_array(known.reshape(-1), plan.weights_copy))
        else:
            packed = copy_strided(self.kernels, self._flat(emitter, weights, batch), plan.weights_copy)
        left, right = (packed, seen) if plan.is_swapped else (seen, packed)
        beside = [] if chain is None else [self._flat(emitter, value, batch) for value in chain.operands]
        epilogue = None if chain is None else chain.epilogue
        out = site.written or plain(site.sizes[2])
        result = contract(calls, left, right, out, plan.parts, epilogue, beside)
        return result if plan.out_copy is None else copy_strided(calls, result, plan.out_copy)

    def _flat(self, emitter: Emitter, x: Value, batch: Value | None) -> Value:
        """The flat array of a value, as it lies, or one for each image of a batch."""
        if x in self.stored:
            return self.stored[x]
        x = self.replaced.get(x, x)
        sizes = emitter.tensor_type(x).static_shape
        is_of_each = bool(sizes) and sizes[0] is None
        count = prod(n or 0 for n in (sizes[1:] if is_of_each else sizes))
        if is_of_each:
            return x if sizes == (None, count) else emitter.reshape(x, shape=(batch, count))
        return x if sizes == (count,) else emitter.reshape(x, shape=(count,))


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
