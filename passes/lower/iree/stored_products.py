"""Products that are stored and used by an elementwise op as well: IREE would compute both in one kernel.

Input: adze IR with a plan. Output: those whose results go behind a barrier (`mark-barriers` marks them).

Symptom: for Metal, Adreno and lavapipe a compile takes ten minutes, or hours: IREE's pipeline
    `BaseVectorize` has tiles for the threads of the product alone, and each has all that its workgroup
    computes of the other op, in thousands of vectors.
Seen in: IREE 3.13.
Smallest: `h = x @ w; h, maximum(h, 0)` of f32[128,256] and f32[256,1024]; a gradient of `maximum(x @ w, 0)`.
Goes when: `tests/gpu/test_fences.py::test_iree_still_takes_long_for_products_that_are_stored` fails.
"""

from __future__ import annotations

from ....dialects import mlir
from ....dialects.builder.emitter import Reader
from ....dialects.ops.contraction.dot_general import DotGeneral
from ....runtime.targets import Target, TargetKind, lanes_of_lavapipe
from ...ir.aliases import Value
from ...ir.functions import functions, split_body
from ..plan import target_of


def stored_products(module: mlir.ir.Module, reader: Reader) -> set[Value]:
    """The results of products that must go behind a barrier."""
    values = {
        operation.operation.results[0]
        for function in functions(module).values()
        for operation in split_body(function)[0]
        if reader.declaration(operation.operation.name) is DotGeneral
        and len(list(operation.operation.results[0].uses)) > 1
    }
    return values if values and _has_base_pipeline(target_of(module)) else set()


def _has_base_pipeline(target: Target) -> bool:
    is_of_base = target.kind is TargetKind.METAL or target.architecture == "adreno"
    return is_of_base or lanes_of_lavapipe(target) > 0
