"""Host calls on their way to a compiled program: which functions of the process it calls, under which names.

Input: a module whose ops name Python functions as the frontend registered them. Output: the same ops under
names that count from 0, so that equal programs are equal text, and a `HostSite` for each name. Idea: the
lowered program imports `adze_host.call_0` and so on; the runtime answers with the sites' functions.
"""

from __future__ import annotations

from typing import Any

from ...dialects import mlir
from ...dialects.builder.emitter import Reader
from ...dialects.codec import Codec
from ...dialects.op import DIALECT
from ...dialects.ops.host_calls import HostCall, HostEffect, HostFunction, registered, run
from ...dialects.types import TensorType
from ...runtime.execute.host_calls import HostSite
from ..analysis.verify import location_text

_NAMES = tuple(f"{DIALECT}.{op.name}" for op in (HostCall, HostEffect))


def _function(function: HostFunction, attributes: Any) -> Any:
    results, batches = attributes["result_types"], attributes["batches"]
    return lambda arrays: run(function, arrays, results, batches)


def localized(module: mlir.ir.Module) -> tuple[HostSite, ...]:
    """Name the host calls of `module` from 0 on; what each name stands for. Equal calls share one."""
    reader = Reader(Codec(module.context))
    sites: dict[Any, HostSite] = {}

    def visit(operation: Any) -> Any:
        if operation.name in _NAMES:
            application = reader.read(operation)
            assert application is not None
            attributes = application.attributes
            key = tuple(attributes[n] for n in ("callback", "result_types", "batches"))
            if key not in sites:
                operands = [reader.codec.read_type(v.type) for v in operation.operands]
                sites[key] = HostSite(
                    name=f"call_{len(sites)}",
                    function=_function(registered(attributes["callback"]), attributes),
                    operands=tuple(t.dtype for t in operands if isinstance(t, TensorType)),
                    result_count=len(attributes["result_types"]),
                    where=location_text(operation.location),
                )
            with module.context:
                operation.attributes["callback"] = mlir.ir.StringAttr.get(sites[key].name)
        return mlir.ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return tuple(sites.values())
