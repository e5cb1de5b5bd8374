"""While loops whose state is used, all of it, in every iteration.

Input: lowered functions. Output: the same with one op more for each entry of a loop's state that the loop's
body does not use (it is replaced, by a constant perhaps), or on one side alone of a branch that IREE may
decide: its next value is chosen over the old one by a condition that is always true. A next value that does
not follow from the state (a constant, or what can move before the loop), or that is one of another entry
too, goes through a barrier. IREE rotates some loops, condition last, and drops from the values at the start
what the body does not use, and from those behind the condition what is known or there twice; its conversion
to streams then takes the second region to have as many arguments as the first.

Symptom: a while loop whose body does not use an entry of its state, or gives it a value that is the same in
    each iteration, or that of another entry, is refused ("region branch point has 4 operands, but region
    successor needs 2 inputs"), or its compile crashes (in `iree-stream-refine-usage`) or allocates memory
    without end.
Seen in: IREE 3.13.
Smallest: `while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, zeros_like(s[1])), (0, x))`, `x` of a
    dynamic size; `while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, where(s[2], s[1], 0) + w @ w, True),
    ...)`, where `w @ w` is the same in each iteration and moves before the loop, which is rotated for that;
    a body that is a `cond` of which IREE, not adze, knows the side, and this side does not use an entry.
Goes when: `tests/passes/lower/iree/test_iree_faults.py::test_unused_loop_state_is_still_dropped` fails.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ...base import Pass
from ...ir.aliases import Block, Operation, Value
from ...ir.functions import functions


@dataclass(frozen=True)
class UseLoopState(Pass):
    """Let the body of every while loop use every entry of the loop's state."""

    name = "use-loop-state"
    needs = ("scf.while",)
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> None:
        with module.context, mlir.ir.Location.unknown():
            use_loop_state(module)


def use_loop_state(module: mlir.ir.Module) -> None:
    """Make the body of every `scf.while` read every entry of its state."""
    for loop in [o for function in functions(module).values() for o in _loops(function.operation)]:
        block = loop.regions[1].blocks[0]
        end = block.operations[len(block.operations) - 1].operation
        varying, passed = _varying(block), set()
        read = _used(block, varying)
        for position, old in enumerate(block.arguments):
            new = end.operands[position]
            with mlir.ir.InsertionPoint(end), end.location:
                if old not in read and old != new:
                    end.operands[position] = _chosen(new, old)
                elif new in passed or new not in varying:
                    end.operands[position] = _opaque(new)
            passed.add(end.operands[position])


def _loops(operation: Operation) -> Iterator[Operation]:
    if operation.name == "scf.while":
        yield operation
    if operation.name.startswith(("func.", "scf.")):
        for region in operation.regions:
            for block in region.blocks:
                for inner in block.operations:
                    yield from _loops(inner.operation)


def _used(block: Block, varying: set[Value], positions: Collection[int] | None = None) -> set[Value]:
    """The values whose elements the results of `block`, those at `positions`, follow from."""
    *steps, end = [o.operation for o in block.operations]
    used = {result for i, result in enumerate(end.operands) if positions is None or i in positions}
    for step in reversed(steps):
        needed = [i for i, result in enumerate(step.results) if result in used]
        if step.results and not needed:
            continue
        if step.name == "scf.if":
            used |= _used_by_branch(step, varying, needed)
        elif step.name == "scf.for":
            used |= _used_by_loop(step, varying, needed)
        elif step.name == "scf.while":
            blocks = [block for region in step.regions for block in region.blocks]
            used.update(step.operands, *(_used(b, varying | _varying(b, varying)) for b in blocks))
        elif step.name == "linalg.generic":
            used |= _used_by_elements(step, varying, needed)
        elif step.name != "tensor.dim" and not any(_is_empty(v) for v in (*step.operands, *step.results)):
            used.update(_operands(step))
    return used


def _used_by_branch(step: Operation, varying: set[Value], needed: list[int]) -> set[Value]:
    """What a branch uses: where IREE may know the condition, what it uses whichever side that takes."""
    blocks = [block for region in step.regions for block in region.blocks]
    sides = [_used(block, varying | _varying(block, varying), needed) for block in blocks]
    if step.operands[0] in varying:
        return set(step.operands).union(*sides)
    return set.intersection(*sides)


def _used_by_loop(step: Operation, varying: set[Value], needed: list[int]) -> set[Value]:
    """What an inner loop of known length uses: of its start, what its body uses."""
    block = step.regions[0].blocks[0]
    _, *carried = block.arguments
    varying = varying | _varying(block, varying)
    inner, positions = _used(block, varying, needed), set(needed)
    while not positions.issuperset(more := [i for i, value in enumerate(carried) if value in inner]):
        positions.update(more)
        inner = _used(block, varying, positions)
    first = len(step.operands) - len(carried)
    starts = zip(list(step.operands)[first:], carried, strict=True)
    return inner.union(list(step.operands)[:first], (start for start, value in starts if value in inner))


def _used_by_elements(step: Operation, varying: set[Value], needed: list[int]) -> set[Value]:
    """What an op over elements uses for some of its results, and nothing where they have no elements."""
    if any(_is_empty(step.results[i]) for i in needed):
        return set()
    block = step.regions[0].blocks[0]
    inner = _used(block, varying, needed)
    return inner.union(o for o, value in zip(step.operands, block.arguments, strict=True) if value in inner)


def _varying(block: Block, outside: Collection[Value] = ()) -> set[Value]:
    """The values of `block` that follow from its arguments or `outside`; the others can move before the loop.

    Results of a branch whose condition is the same in each iteration are not among them: IREE may know which
    branch it is, and that one may return what is the same each time.
    """
    varying = {*block.arguments, *outside}
    for step in (o.operation for o in block.operations):
        is_decided = step.name == "scf.if" and step.operands[0] not in varying
        if not is_decided and any(operand in varying for operand in _operands(step)):
            varying.update(step.results)
    return varying


def _operands(operation: Operation) -> Iterator[Value]:
    """What an op uses, and what its regions use."""
    yield from operation.operands
    for region in operation.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield from _operands(inner.operation)


def _is_empty(value: Value) -> bool:
    """Whether a value is an array without elements, from which nothing can follow."""
    return isinstance(value.type, mlir.ir.RankedTensorType) and 0 in value.type.shape


def _opaque(value: Value) -> Value:
    """The same value, of which nobody knows that."""
    barrier: Value = mlir.util.OptimizationBarrierOp([value.type], [value]).results[0]
    return barrier


def _chosen(new: Value, old: Value) -> Value:
    """Elementwise `new if true else old`, which nobody can fold."""
    ir = mlir.ir
    type_ = ir.RankedTensorType(new.type)
    # The sizes that the loop states of what it carries: IREE cannot infer those of the results of a branch.
    owners = [use.owner.operation for use in old.uses]
    tied = next((o for o in owners if o.name == "flow.tensor.tie_shape"), None)
    dynamic = [] if tied is None else list(tied.operands)[1:]
    old = old if tied is None else tied.results[0]
    flag = mlir.arith.constant(ir.IntegerType.get_signless(1), 1)
    always = mlir.util.OptimizationBarrierOp([flag.type], [flag]).results[0]
    empty = ir.Operation.create("tensor.empty", results=[type_], operands=dynamic).result
    same = ir.AffineMapAttr.get(ir.AffineMap.get_identity(type_.rank))
    parallel = ir.Attribute.parse("#linalg.iterator_type<parallel>")
    generic = ir.Operation.create(
        "linalg.generic",
        results=[type_],
        operands=[new, old, empty],
        attributes={
            "indexing_maps": ir.ArrayAttr.get([same] * 3),
            "iterator_types": ir.ArrayAttr.get([parallel] * type_.rank),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([2, 1]),
        },
        regions=1,
    )
    element = type_.element_type
    block = generic.regions[0].blocks.append(element, element, element, arg_locs=[ir.Location.current] * 3)
    with ir.InsertionPoint(block):
        value = mlir.arith.select(always, block.arguments[0], block.arguments[1])
        ir.Operation.create("linalg.yield", operands=[value])
    return generic.result
