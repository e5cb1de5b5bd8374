"""Updates at places that may lie outside: a branch around what they compute and store.

Input: the code of a kernel of a CPU on buffers, as loops. Output: the same, where an element that is stored
again as it is unless its place was inside (`x.at[i].add(u)`, whose updates outside are dropped) is loaded,
computed and stored in a branch. Idea: the branch is always taken, or nearly so, and is one comparison;
clamping the place and choosing between both elements takes seven operations.
"""

from __future__ import annotations

from typing import Final

from .....dialects import mlir
from ....ir.aliases import Operation, Value
from .walk import operations_named

_CLAMPS: Final = ("arith.maxsi", "arith.minsi", "arith.minui")
_CASTS: Final = ("arith.index_cast", "arith.index_castui")
_PURE: Final = ("arith.", "math.")


def branch_around_dropped(module: mlir.ir.Module) -> int:
    """Store under a branch; how many stores are now."""
    return sum(map(_rewrite, operations_named(module, "memref.store")))


def _rewrite(store: Operation) -> bool:
    value, array, *places = store.operands
    chosen = _maker(value, store)
    if chosen is None or chosen.name != "arith.select" or len(list(value.uses)) != 1:
        return False
    mask, new, old = chosen.operands
    loaded, inside = _maker(old, store), _maker(mask, store)
    if loaded is None or loaded.name != "memref.load" or list(loaded.operands) != [array, *places]:
        return False
    clamps = {} if inside is None else _clamped(inside)
    if not clamps:
        return False
    moved = _only_for(chosen, loaded)
    if not _is_unchanged(chosen if loaded in moved else loaded, store):
        return False
    with mlir.ir.InsertionPoint(store), store.location:
        branch = mlir.scf.IfOp(_is_inside(clamps))
        end = mlir.ir.InsertionPoint(branch.then_block)
        with end:
            at = [_unclamped(place, clamps) for place in places]
            yielded = mlir.scf.YieldOp([]).operation
    for operation in moved:
        operation.move_before(yielded)
    with mlir.ir.InsertionPoint(yielded), store.location:
        mlir.memref.store(new, array, at)
    for operation in moved:
        if operation.name == "memref.load" and list(operation.operands) == [array, *places]:
            for position, place in enumerate(at):
                operation.operands[1 + position] = place
    store.erase()
    chosen.erase()
    return True


def _maker(value: Value, beside: Operation) -> Operation | None:
    """What computes a value in the block of an op."""
    if isinstance(value.owner, mlir.ir.Block) or value.owner.operation.block != beside.block:
        return None
    return value.owner.operation


def _clamped(inside: Operation) -> dict[Value, tuple[Value, list[tuple[str, Value]]]]:
    """Of each clamped index the index before, and its clamps; nothing where the mask is another one."""
    if inside.name == "arith.andi":
        makers = [_maker(v, inside) for v in inside.operands]
        parts = [{} if maker is None else _clamped(maker) for maker in makers]
        return parts[0] | parts[1] if all(parts) else {}
    if inside.name != "arith.cmpi" or mlir.ir.IntegerAttr(inside.attributes["predicate"]).value != 0:
        return {}
    for clamped, index in (tuple(inside.operands), tuple(inside.operands)[::-1]):
        clamps: list[tuple[str, Value]] = []
        value = clamped
        while value != index and (maker := _maker(value, inside)) is not None and maker.name in _CLAMPS:
            value, limit = maker.operands
            clamps.append((maker.name, limit))
        if clamps and value == index:
            return {clamped: (index, clamps)}
    return {}


def _is_inside(clamps: dict[Value, tuple[Value, list[tuple[str, Value]]]]) -> Value:
    """Whether no clamp moves its index, at the ambient insertion point."""
    predicates = mlir.arith.CmpIPredicate
    result: Value | None = None
    for index, limits in clamps.values():
        named = dict(limits)
        if len(limits) == 2 and _is_zero(named.get("arith.maxsi")) and "arith.minsi" in named:
            limits = [("arith.minui", named["arith.minsi"])]  # negative ones are large without a sign
        for name, limit in limits:
            predicate = {
                "arith.maxsi": predicates.sge,
                "arith.minsi": predicates.sle,
                "arith.minui": predicates.ule,
            }[name]
            holds = mlir.arith.cmpi(predicate, index, limit)
            result = holds if result is None else mlir.arith.andi(result, holds)
    assert result is not None
    return result


def _is_zero(value: Value | None) -> bool:
    if value is None or isinstance(value.owner, mlir.ir.Block):
        return False
    operation = value.owner.operation
    return bool(
        operation.name == "arith.constant" and mlir.ir.IntegerAttr(operation.attributes["value"]).value == 0
    )


def _unclamped(place: Value, clamps: dict[Value, tuple[Value, list[tuple[str, Value]]]]) -> Value:
    """A place from the index before its clamps, which is the same inside."""
    maker = None if isinstance(place.owner, mlir.ir.Block) else place.owner.operation
    if maker is None or maker.name not in _CASTS or maker.operands[0] not in clamps:
        return place
    cast = {"arith.index_cast": mlir.arith.index_cast, "arith.index_castui": mlir.arith.index_castui}[
        maker.name
    ]
    return cast(place.type, clamps[maker.operands[0]][0])


def _only_for(chosen: Operation, loaded: Operation) -> list[Operation]:
    """The ops before `chosen` that compute for it alone and may be moved to it, in their order."""
    operations = [child.operation for child in chosen.block.operations]
    new = chosen.operands[1]
    moved: list[Operation] = []
    for operation in reversed(operations[: operations.index(chosen)]):
        if len(operation.regions) or operation.name == "memref.store":
            break
        if not operation.name.startswith(_PURE) and operation.name != "memref.load":
            continue
        users = [use.owner.operation for result in operation.results for use in result.uses]
        is_of_new = operation.results[0] == new or operation == loaded
        if all(user in moved or (user == chosen and is_of_new) for user in users):
            moved.append(operation)
    return moved[::-1]


def _is_unchanged(first: Operation, store: Operation) -> bool:
    """Whether nothing is stored between an op and a store."""
    operations = [child.operation for child in store.block.operations]
    between = operations[operations.index(first) : operations.index(store)]
    return not any(len(o.regions) or o.name == "memref.store" for o in between)
