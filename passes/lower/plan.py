"""The plan of a module: its target and its hints, as attributes of the module that later passes use.

Input: adze IR and the name of a target. Output: the same ops, and on the module `adze.target = "cpu"` and
`adze.hints = {...}`, the fields of `ModuleHints`. The lowering decides by them, and so does the compile.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, fields
from typing import Any, Final

from ...dialects import mlir
from ...dialects.builder.emitter import Reader
from ...dialects.codec import Codec
from ...dialects.dataclass import dataclass
from ...dialects.errors import AdzeError
from ...dialects.ops.constants import Dim, SizeCheck
from ...runtime.targets import Target, TargetKind, parse_target
from ..base import Pass
from ..ir.aliases import Value
from ..ir.functions import functions
from ..ir.marks import HINTS, TARGET, VECTORIZED
from .tuning.hints import ModuleHints, OpWork, estimate_work, module_hints

_MOST: Final = 2**63 - 1  # what an attribute of i64 holds; a program with more operations never ends


class PlanError(AdzeError, ValueError):
    """A pass needs what the pass `plan` writes on a module."""


@dataclass(frozen=True)
class Plan(Pass):
    """Decide what holds for the whole module: the target, and hints of its work for lowering and compile."""

    name = "plan"
    target: str = "cpu"

    def __post_init__(self) -> None:
        parse_target(self.target)  # a wrong one is a mistake in the pipeline, whatever the module is

    def run(self, module: mlir.ir.Module) -> bool:
        target = parse_target(self.target)
        work = list(_work(module))
        hints = module_hints(target, work, has_square=_has_square(module))
        with module.context:
            attributes = module.operation.attributes
            if VECTORIZED in attributes:
                del attributes[VECTORIZED]
            if target.kind is TargetKind.CPU and any(each.dtype.kind == "c" for each in work):
                attributes[VECTORIZED] = mlir.ir.UnitAttr.get()
            attributes[TARGET] = mlir.ir.StringAttr.get(target.name)
            attributes[HINTS] = mlir.ir.DictAttr.get({k: _written(v) for k, v in asdict(hints).items()})
        return False


def is_vectorized(module: mlir.ir.Module) -> bool:
    """Whether LLVM's vectorizer is to look at kernels: IREE has no vectors of complex numbers."""
    return VECTORIZED in module.operation.attributes


def target_of(module: mlir.ir.Module) -> Target:
    """The target that `module` is lowered for."""
    return parse_target(mlir.ir.StringAttr(_attribute(module, TARGET)).value)


def hints_of(module: mlir.ir.Module) -> ModuleHints:
    """The hints of `module`."""
    written = mlir.ir.DictAttr(_attribute(module, HINTS))
    try:
        return ModuleHints(**{field.name: written[field.name].value for field in fields(ModuleHints)})
    except (KeyError, AttributeError):
        names = ", ".join(field.name for field in fields(ModuleHints))
        raise PlanError(f"the module attribute {HINTS} is {written}: expected {names}") from None


def _attribute(module: mlir.ir.Module, name: str) -> Any:
    attributes = module.operation.attributes
    if name not in attributes:
        raise PlanError(
            f"the module has no attribute {name}",
            hint="run the pass plan{target=...} before this one",
        )
    return attributes[name]


def _written(value: bool | int) -> mlir.ir.Attribute:
    if isinstance(value, bool):
        return mlir.ir.BoolAttr.get(value)
    return mlir.ir.IntegerAttr.get(mlir.ir.IntegerType.get_signless(64), min(value, _MOST))


def _has_square(module: mlir.ir.Module) -> bool:
    """Whether two dynamic sizes of one array are checked to be equal."""
    for function in functions(module).values():
        for operation in (o.operation for block in function.regions[0].blocks for o in block.operations):
            if operation.name == f"adze.{SizeCheck.name}":
                first, second = (_measured(size) for size in operation.operands)
                if first is not None and second is not None and first == second:
                    return True
    return False


def _measured(size: Value) -> Value | None:
    """The array whose size a value is."""
    owner = size.owner
    if isinstance(owner, mlir.ir.Block) or owner.name != f"adze.{Dim.name}":
        return None
    return owner.operands[0]


def _work(module: mlir.ir.Module) -> Iterator[OpWork]:
    """What each op of `module` costs."""
    codec = Codec(module.context)
    reader = Reader(codec)
    known: dict[tuple[object, ...], OpWork] = {}  # of ops whose attributes do not matter
    for function in functions(module).values():
        for operation in (o for block in function.regions[0].blocks for o in block.operations):
            op = reader.declaration(operation.operation.name)
            if op is None:
                continue
            types = tuple([codec.read_type(v.type) for v in operation.operands])
            results = tuple([codec.read_type(v.type) for v in operation.results])
            if op.is_contraction:
                application = reader.read(operation)
                assert application is not None
                yield estimate_work(op, types, results, application.attributes)
            else:
                if (op, types, results) not in known:
                    known[op, types, results] = estimate_work(op, types, results, {})
                yield known[op, types, results]
