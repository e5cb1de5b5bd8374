"""Values that IREE 3.13 would compute wrongly if it fused them with their readers, found before lowering.

Observed: when one elementwise op reads the result of a reduction through two different index maps
(`s[:, None] + s[None, :]`, `g + g.T`), fusing it with the reduction computes only the diagonal. The result
of such a reduction goes behind a barrier. `tests/passes/lowering/test_hazards.py` notices when IREE is right.
"""

from __future__ import annotations

from typing import Any

from ...dialects.building import Application
from ...dialects.emission import Reader
from ...dialects.ops.elementwise import Elementwise
from ...dialects.ops.shape import Movement
from ...dialects.types import TensorType
from ..functions import functions, split_body

Path = tuple[Any, ...]


def guarded(module: Any, reader: Reader) -> set[Any]:
    """The results that must go behind a barrier."""
    found: set[Any] = set()
    for function in functions(module).values():
        found |= _in_function([o.operation for o in split_body(function)[0]], reader)
    return found


def _in_function(operations: list[Any], reader: Reader) -> set[Any]:
    """Follow combined values through movements and elementwise ops; two ways to one reader: a hazard."""
    hazards: set[Any] = set()
    paths: dict[Any, dict[Any, set[Path]]] = {}
    for operation in operations:
        application = reader.read(operation)
        if application is None:
            continue
        if not issubclass(application.op, (Elementwise, Movement)):
            # What a loop or a branch gives is never fused with its readers, and IREE 3.13 loses buffers
            # (a call fails: "binding capacity of the command buffer") where it is behind barriers.
            if operation.operands and not _has_bodies(application):
                for result in operation.results:
                    if isinstance(reader.codec.read_type(result.type), TensorType):
                        paths[result] = {result: {()}}
            continue
        merged = _merged(application, list(operation.operands), paths)
        hazards.update(source for source, ways in merged.items() if len(ways) > 1)
        if merged:
            paths[operation.results[0]] = merged
    return hazards


def _has_bodies(application: Application) -> bool:
    return any(a.kind in ("symbol", "symbols") for a in application.op.attributes.values())


def _merged(
    application: Application, operands: list[Any], paths: dict[Any, dict[Any, set[Path]]]
) -> dict[Any, set[Path]]:
    step: Path = ()
    if issubclass(application.op, Movement):
        step = ((application.op.name, tuple(str(v) for v in application.attributes.values())),)
    merged: dict[Any, set[Path]] = {}
    for operand in operands:
        for source, ways in paths.get(operand, {}).items():
            merged.setdefault(source, set()).update(way + step for way in ways)
    return merged
