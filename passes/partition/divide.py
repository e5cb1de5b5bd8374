"""The program of one rank, from a program of whole arrays and how they lie on a mesh.

Input: a module, the symbol of a function, a grid of ranks, and for each argument and result its layout, or
None, which lets propagation find one. Output: the module, whose function computes one rank's parts, and the
layouts. Idea: Shardy says how each array lies and which arrays are exchanged where (`shardy.py`); each op is
emitted again on parts, its types follow from its operands', and each exchange becomes collectives of adze.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from functools import cached_property
from math import prod
from typing import Any, Final, TypeAlias

from ...dialects import mlir
from ...dialects.builder.emitter import Emitter, Reader
from ...dialects.codec import Codec
from ...dialects.dataclass import dataclass
from ...dialects.errors import AdzeError, MissingRuleError
from ...dialects.factors import Factors
from ...dialects.ops.control.cond import Cond
from ...dialects.ops.control.scan import Scan
from ...dialects.types import INT32, TensorType
from ..analysis.verify import location_text
from ..ir.aliases import Operation, Value
from ..ir.construction import NewFunction, derived_location
from ..ir.functions import function
from .layouts import Axis, Cut, Grid, Layout, Spec, count, divides, part_of
from .shardy import propagated
from .text import ELEMENT, MORE, NOTHING, NUMBER, SCALAR, STACKED, ProgramText

_SHARDING: Final = "sdy.sharding"
_AXES: Final = {
    "sdy.all_gather": "gathering_axes",
    "sdy.all_slice": "slicing_axes",
    "sdy.all_reduce": "reduction_axes",
    "sdy.reduce_scatter": "reduce_scatter_axes",
    "sdy.all_to_all": "params",
}


Run: TypeAlias = tuple[int, int]
"""Neighbouring axes of the grid: the positions of the first and of the last."""


@dataclass(frozen=True)
class Divided:
    """How the arguments and results of a divided program lie on the ranks."""

    arguments: tuple[Layout, ...]
    results: tuple[Layout, ...]


def divide(
    module: mlir.ir.Module,
    symbol: str,
    grid: Grid,
    arguments: Sequence[Spec | None],
    results: Sequence[Spec | None],
) -> Divided:
    """Replace the function by that of one rank, in place. Calls must have been inlined, and sizes be static.

    Raises `MissingShardyError` without Shardy, and `AdzeError` for a program that it cannot divide.
    """
    text = ProgramText(grid, module)
    program = propagated(text.write(symbol, arguments, results))
    return _Division(module, grid, text.numbered, program).run(symbol)


@dataclass
class _Division:
    """One program on its way to parts."""

    module: mlir.ir.Module
    grid: Grid
    numbered: Sequence[Operation]
    program: Any

    def __post_init__(self) -> None:
        self.codec = Codec(self.module.context)
        self.reader = Reader(self.codec)

    @cached_property
    def cut(self) -> Cut:
        """The grid that all layouts of the program divide by whole axes."""
        cut = self.grid.cut(str(self.program))
        if not cut.is_even:
            raise AdzeError(f"the parts that arrays have along one axis of {self.grid} do not fit each other")
        return cut

    def run(self, symbol: str) -> Divided:
        old = function(self.module, symbol)
        (main,) = (each for each in self.program.body.operations if each.operation.name == "func.func")
        block = main.regions[0].blocks[0]
        layouts = self._stated(main, "arg_attrs", block.arguments)
        old_block = old.regions[0].blocks[0]
        types = [
            self._part(argument.type, layout)
            for argument, layout in zip(old_block.arguments, layouts, strict=True)
        ]
        location = derived_location(old.location, "partition")
        new = NewFunction(self.module, self.codec, f"{symbol}_part", types, location)
        scope = _Scope(self, new.emitter)
        for value, mine, layout in zip(block.arguments, new.arguments, layouts, strict=True):
            scope.values[value], scope.layouts[value] = mine, layout
        *operations, terminator = block.operations
        scope.walk(operations)
        returned = list(terminator.operands)
        new.finish([scope.values[v] for v in returned])
        made = function(self.module, new.symbol)
        for name in ("sym_visibility",):
            del made.operation.attributes[name]
        for attribute in old.attributes:
            name = attribute if isinstance(attribute, str) else attribute.name
            if name not in ("sym_name", "function_type"):
                made.attributes[name] = old.attributes[name]
        old.operation.erase()
        made.attributes["sym_name"] = mlir.ir.StringAttr.get(symbol, self.module.context)
        return Divided(tuple(layouts), tuple(scope.layouts[v] for v in returned))

    def _stated(self, main: Any, name: str, values: Sequence[Any]) -> list[Layout]:
        """The layouts of the arguments."""
        attributes = main.attributes[name] if name in main.attributes else [{}] * len(values)
        found: list[Layout] = []
        for value, each in zip(values, attributes, strict=True):
            has = _SHARDING in each
            found.append(self.layout(str(each[_SHARDING])) if has else self.whole(value))
        return found

    def whole(self, value: Any) -> Layout:
        """The layout of an array that every rank has."""
        return ((),) * len(value.type.shape)

    def layout(self, text: str) -> Layout:
        """The layout of a sharding."""
        return self.grid.layout(text[text.index("[") :]) if "[" in text else ()

    def result_layouts(self, operation: Any) -> list[Layout]:
        """The layouts of the results of an op of the program."""
        if "out_sharding" in operation.attributes:
            return [self.layout(str(operation.attributes["out_sharding"]))]
        if _SHARDING not in operation.attributes:
            return [self.whole(v) for v in operation.results]
        each = str(operation.attributes[_SHARDING]).split("<@mesh, ")[1:]
        return [self.layout(text) for text in each]

    def _part(self, type_: Any, layout: Layout) -> TensorType:
        array = self.codec.read_type(type_)
        assert isinstance(array, TensorType)
        if not divides(layout, array):
            raise AdzeError(f"an array of {array} cannot be divided equally: {layout}")
        return part_of(array, layout)


@dataclass
class _Scope:
    """A function of one rank under construction: its values by those of Shardy's program, and their layouts.

    `rows`: values that stand for a row of a stacked array, which is what they are here. `kinds`: how the
    parts that ranks have of a sum, or an extremum, are combined.
    """

    division: _Division
    emitter: Emitter
    values: dict[Any, Value] = field(default_factory=dict)
    layouts: dict[Any, Layout] = field(default_factory=dict)
    rows: set[Any] = field(default_factory=set)
    kinds: dict[Any, str] = field(default_factory=dict)
    _indices: dict[Run, Value] = field(default_factory=dict)

    def walk(self, operations: Sequence[Any]) -> None:
        """Emit ops in turn."""
        for each in operations:
            operation = each.operation
            name = operation.name
            if name in _AXES or name == "sdy.collective_permute":
                self._exchange(operation)
            elif name in (ELEMENT, STACKED):
                self._row(operation)
            elif name == "stablehlo.while":
                self._loop(operation)
            elif name == "stablehlo.case":
                self._branches(operation)
            elif name not in (NOTHING, MORE, SCALAR):
                self._apply(operation)
            for value, layout in zip(operation.results, self.division.result_layouts(operation), strict=True):
                self.layouts[value] = layout

    # -- ops -------------------------------------------------------------------------------------

    def _source(self, operation: Any) -> Operation:
        source = self.division.numbered[operation.attributes[NUMBER].value]
        self.emitter.location = derived_location(source.location, "partition")
        return source

    def _apply(self, operation: Any) -> None:
        source = self._source(operation)
        application = self.division.reader.read(source)
        assert application is not None
        op, attributes = application.op, application.attributes
        operands = [self.values[v] for v in list(operation.operands)[: len(source.operands)]]
        types = [self.emitter.type_of(v) for v in operands]
        layouts = self.division.result_layouts(operation)[: len(source.results)]
        parts = []
        for value, layout in zip(source.results, layouts, strict=True):
            array = self.division.codec.read_type(value.type)
            if isinstance(array, TensorType) and not divides(layout, array):
                raise MissingRuleError(
                    f"'{op.name}' makes {array}, which {_layout_text(layout)} cannot divide equally",
                    where=location_text(source.location),
                    hint="pad it to a multiple, or state another sharding: lax.with_sharding_constraint",
                )
            parts.append(part_of(array, layout) if isinstance(array, TensorType) else array)
        whole = [self.division.codec.read_type(v.type) for v in source.operands]
        rule = None if op.factors is None else op.factors(*whole, **attributes)
        if rule is not None and rule.counts_once is not None:
            shares = self._sharing(rule, list(operation.operands))
            operands[rule.counts_once] = self._first_alone(operands[rule.counts_once], shares)
        if op.of_part is not None:
            attributes = op.of_part(types, parts, **attributes)
        starts = (
            [] if rule is None or op.of_block is None else self._starts(rule, list(operation.operands), types)
        )
        if op.of_block is not None and any(start is not None for each in starts for start in each):
            shapes = [t.static_shape if isinstance(t, TensorType) else () for t in whole]
            results: Sequence[Value] = (op.of_block(self.emitter, operands, shapes, starts, **attributes),)
        else:
            results = self.emitter.apply(op, operands, attributes)
        for value, mine, part in zip(list(operation.results)[: len(parts)], results, parts, strict=True):
            actual = self.emitter.type_of(mine)
            assert actual == part, f"a part of {op.name} is {actual}, its layout says {part}"
            self.values[value] = mine
        if rule is not None and len(parts) == 1:
            self.kinds[operation.results[0]] = rule.combining

    def _sharing(self, rule: Factors, operands: Sequence[Any]) -> list[Run]:
        """The axes of the grid along which ranks have results that are added up."""
        found: set[int] = set()
        for value, axes in zip(operands, rule.operands, strict=False):
            for layout, factors in zip(self.layouts[value], axes, strict=True):
                if rule.reduced.intersection(factors):
                    found.update(self._positions(layout))
        return _runs(self.division.cut, sorted(found))

    def _starts(
        self, rule: Factors, operands: Sequence[Any], types: Sequence[Any]
    ) -> list[list[Value | None]]:
        """Where this rank's blocks of the operands begin, along axes whose ranks combine results."""
        found: list[list[Value | None]] = []
        for value, axes, type_ in zip(operands, rule.operands, types, strict=False):
            found.append([])
            for dim, (layout, factors) in enumerate(zip(self.layouts[value], axes, strict=True)):
                runs = _runs(self.division.cut, self._positions(layout))
                is_shared = bool(runs) and bool(rule.reduced.intersection(factors))
                found[-1].append(self._start(runs, type_.static_shape[dim]) if is_shared else None)
        return found

    def _start(self, runs: Sequence[Run], part: int) -> Value:
        """Where this rank's part of an axis begins, of which ranks along `runs` have `part` elements each."""
        b, sizes = self.emitter, self.division.cut.sizes
        number = self._index(runs[0])
        for run in runs[1:]:
            count = prod(sizes[run[0] : run[1] + 1])
            number = b.add(b.mul(number, b.scalar(count, INT32)), self._index(run))
        return b.mul(number, b.scalar(part, INT32))

    def _first_alone(self, x: Value, shares: Sequence[Run]) -> Value:
        """`x` in the first of the ranks along `shares`, zeros in the others."""
        b = self.emitter
        for run in shares:
            is_first = b.compare(self._index(run), b.scalar(0, INT32), direction="EQ")
            shape = b.sizes(x)
            everywhere = b.broadcast_in_dim(is_first, shape=shape, dimensions=())
            x = b.select(everywhere, x, b.zeros_like(x))
        return x

    def _row(self, operation: Any) -> None:
        (operand,), (result,) = operation.operands, operation.results
        self.values[result] = self.values[operand]
        if operation.name == ELEMENT:
            self.rows.add(result)

    # -- exchanges -------------------------------------------------------------------------------

    def _exchange(self, operation: Any) -> None:
        """The collectives of one op of Shardy."""
        (operand,), (result,) = operation.operands, operation.results
        if operand not in self.values:
            return  # it stands for rows that a scan has not stacked yet
        grid, name = self.division.grid, operation.name
        x, before = self.values[operand], self.layouts[operand]
        (after,) = self.division.result_layouts(operation)
        shift = operand in self.rows
        kind = self.kinds.get(operand, "sum")
        text = str(operation.attributes[_AXES[name]]) if name in _AXES else ""
        if name == "sdy.all_reduce":
            for run in _runs(self.division.cut, sorted(self._positions(grid.axes(text)))):
                x = self._reduced(x, run, kind)
        elif name == "sdy.reduce_scatter":
            x = self._scattered(x, _by_axis(grid, text), kind)
        elif name == "sdy.all_gather":
            x = self._gathered(x, _by_axis(grid, text), shift)
        elif name == "sdy.all_slice":
            x = self._sliced(x, _by_axis(grid, text), shift)
        else:
            x = self._moved(x, before, after, shift)
        self.values[result] = x
        if shift:
            self.rows.add(result)
        self.kinds[result] = kind

    def _positions(self, axes: Sequence[Axis]) -> list[int]:
        """Where axes are in the cut grid, the major one first; without those of one rank."""
        cut = self.division.cut
        return [p for axis in axes for p in cut.positions(axis) if cut.sizes[p] > 1]

    def _place(self, run: Run) -> dict[str, Any]:
        """The axis of a mesh that neighbouring axes of the grid are together."""
        cut, (first, last) = self.division.cut, run
        mesh = (*cut.sizes[:first], prod(cut.sizes[first : last + 1]), *cut.sizes[last + 1 :])
        names = [cut.names[i] for i in range(first, last + 1) if cut.sizes[i] > 1]
        return {"axis_name": ",".join(names), "mesh": mesh, "axis": first}

    def _index(self, run: Run) -> Value:
        """This rank's place along neighbouring axes of the grid."""
        if run not in self._indices:
            self._indices[run] = self.emitter.mesh_index(**self._place(run))
        return self._indices[run]

    def _reduced(self, x: Value, run: Run, kind: str) -> Value:
        return self.emitter.all_reduce(x, self._index(run), kind=kind, **self._place(run))

    def _scattered(self, x: Value, axes: Layout, kind: str) -> Value:
        for dim, each in enumerate(axes):
            for run in _runs(self.division.cut, self._positions(each)):
                if kind == "sum":
                    place = self._place(run)
                    x = self.emitter.reduce_scatter(x, self._index(run), dim=dim, **place)
                else:
                    x = self._slice(self._reduced(x, run, kind), dim, [run])
        return x

    def _gathered(self, x: Value, axes: Layout, shift: bool) -> Value:
        for dim, each in enumerate(axes):
            for run in reversed(_runs(self.division.cut, self._positions(each))):
                place = self._place(run)
                x = self.emitter.all_gather(x, self._index(run), dim=dim + shift, is_invariant=False, **place)
        return x

    def _sliced(self, x: Value, axes: Layout, shift: bool) -> Value:
        for dim, each in enumerate(axes):
            runs = _runs(self.division.cut, self._positions(each))
            if runs:
                x = self._slice(x, dim + shift, runs)
        return x

    def _slice(self, x: Value, dim: int, runs: Sequence[Run]) -> Value:
        """This rank's part of an axis of `x` that ranks along `runs` share."""
        b, sizes = self.emitter, self.division.cut.sizes
        shape = [n or 0 for n in b.tensor_type(x).static_shape]
        parts = prod(prod(sizes[run[0] : run[1] + 1]) for run in runs)
        part = shape[dim] // parts
        if part * parts != shape[dim]:
            raise AdzeError(f"{parts} ranks cannot share an axis of {shape[dim]} elements equally")
        zero = b.scalar(0, INT32)
        starts = [self._start(runs, part) if k == dim else zero for k in range(len(shape))]
        return b.dynamic_slice(x, *starts, slice_sizes=(*shape[:dim], part, *shape[dim + 1 :]))

    def _moved(self, x: Value, before: Layout, after: Layout, shift: bool) -> Value:
        """Axes of the mesh that divide other axes of the array than before: one at a time by exchanges."""
        moved = _single_move(before, after)
        if moved is not None:
            source, target, axis = moved
            runs = _runs(self.division.cut, self._positions([axis]))
            if len(runs) == 1:
                return self.emitter.all_to_all(
                    x,
                    self._index(runs[0]),
                    split=target + shift,
                    concat=source + shift,
                    **self._place(runs[0]),
                )
        kept = [_common(a, b) for a, b in zip(before, after, strict=True)]
        gathered = tuple(axes[len(same) :] for axes, same in zip(before, kept, strict=True))
        sliced = tuple(axes[len(same) :] for axes, same in zip(after, kept, strict=True))
        return self._sliced(self._gathered(x, gathered, shift), sliced, shift)

    # -- control flow ----------------------------------------------------------------------------

    def _inner(self, types: Sequence[Any], name: str) -> tuple[NewFunction, _Scope]:
        module, codec = self.division.module, self.division.codec
        new = NewFunction(module, codec, name, types, self.emitter.location)
        return new, _Scope(self.division, new.emitter)

    def _region(
        self,
        name: str,
        operation: Any,
        region: int,
        values: Sequence[Any],
        types: Sequence[Any],
        returned: slice | Sequence[int],
    ) -> tuple[str, list[Any]]:
        """A function of a region of a loop that takes `values` and returns the results `returned`."""
        block = operation.regions[region].blocks[0]
        new, scope = self._inner(types, name)
        for value, mine in zip(values, new.arguments, strict=True):
            scope.values[value] = mine
        layouts = self.division.result_layouts(operation)
        for value, layout in zip(block.arguments, layouts, strict=True):
            scope.layouts[value] = layout
        *operations, terminator = block.operations
        scope.walk(operations)
        results = list(terminator.operands)
        chosen = results[returned] if isinstance(returned, slice) else [results[i] for i in returned]
        mine = [scope.values[v] for v in chosen]
        made = [new.emitter.type_of(v) for v in mine]
        return new.finish(mine), made

    def _loop(self, operation: Any) -> None:
        source = self._source(operation)
        application = self.division.reader.read(source)
        assert application is not None
        if application.op is Scan:
            self._scan(operation, source, application.attributes)
        else:
            self._while(operation, application.attributes)

    def _scan(self, operation: Any, source: Operation, attributes: dict[str, Any]) -> None:
        b = self.emitter
        k, n, taken = attributes["constant_count"], attributes["carry_count"], len(source.operands)
        operands = [self.values[v] for v in list(operation.operands)[:taken]]
        types = [b.tensor_type(v) for v in operands]
        types = [t if i < k + n else t.with_shape(t.shape[1:]) for i, t in enumerate(types)]
        arguments = list(operation.regions[1].blocks[0].arguments)
        chosen = [*range(k, k + n), *range(taken, len(arguments))]
        body, made = self._region(attributes["body"], operation, 1, arguments[:taken], types, chosen)
        length = attributes["length"]
        results = (*made[:n], *(t.with_shape((length[0], *t.shape)) for t in made[n:]))
        stated = {**attributes, "body": body, "results": results}
        for position, mine in zip(chosen, b.scan(*operands, **stated), strict=True):
            self.values[operation.results[position]] = mine
            if position >= taken:
                self.rows.add(operation.results[position])

    def _while(self, operation: Any, attributes: dict[str, Any]) -> None:
        b = self.emitter
        m = attributes["condition_constants"]
        k = m + attributes["body_constants"]
        operands = [self.values[v] for v in operation.operands]
        types = [b.type_of(v) for v in operands]
        first, second = (list(region.blocks[0].arguments) for region in operation.regions)
        condition, _ = self._region(
            attributes["condition"],
            operation,
            0,
            [*first[:m], *first[k:]],
            [*types[:m], *types[k:]],
            slice(None),
        )
        body, _ = self._region(attributes["body"], operation, 1, second[m:], types[m:], slice(k, None))
        stated = {**attributes, "condition": condition, "body": body}
        for value, mine in zip(list(operation.results)[k:], b.while_(*operands, **stated), strict=True):
            self.values[value] = mine
        for value, mine in zip(list(operation.results)[:k], operands, strict=False):
            self.values[value] = mine

    def _branches(self, operation: Any) -> None:
        source = self._source(operation)
        application = self.division.reader.read(source)
        assert application is not None
        assert application.op is Cond
        b = self.emitter
        captured = self._captured(operation)
        types = [b.type_of(self.values[v]) for v in captured]
        symbols, made = [], []
        for symbol, region in zip(application.attributes["branches"], operation.regions, strict=True):
            new, scope = self._inner(types, symbol)
            for value, mine in zip(captured, new.arguments, strict=True):
                scope.values[value], scope.layouts[value] = mine, self.layouts[value]
            *operations, terminator = region.blocks[0].operations
            scope.walk(operations)
            returned = [scope.values[v] for v in terminator.operands]
            made = [new.emitter.type_of(v) for v in returned]
            symbols.append(new.finish(returned))
        operands = [self.values[operation.operands[0]], *(self.values[v] for v in captured)]
        results = b.cond(*operands, branches=tuple(symbols), results=tuple(made))
        self.values.update(zip(operation.results, results, strict=True))

    def _captured(self, operation: Any) -> list[Any]:
        """The values of this scope that the regions of an op use."""
        found: dict[Any, None] = {}
        pending = [region for region in operation.regions]
        while pending:
            for block in pending.pop().blocks:
                for each in block.operations:
                    found.update((v, None) for v in each.operation.operands if v in self.values)
                    pending.extend(each.operation.regions)
        return list(found)


def _runs(cut: Cut, positions: Sequence[int]) -> list[Run]:
    """Axes of the grid, the major one first, as runs of neighbours in its order: each is one axis of a grid
    of fewer axes. Axes of one rank lie between neighbours, too."""
    runs: list[Run] = []
    for position in positions:
        if runs and position > runs[-1][1] and prod(cut.sizes[runs[-1][1] + 1 : position]) == 1:
            runs[-1] = (runs[-1][0], position)
        else:
            runs.append((position, position))
    return runs


def _by_axis(grid: Grid, text: str) -> Layout:
    """The axes for each axis of an array in an attribute of Shardy: `[{"x"}, {}]`."""
    return grid.layout(text[text.index("[") :])


def _common(before: Sequence[Axis], after: Sequence[Axis]) -> tuple[Axis, ...]:
    """The axes that both begin with."""
    same: list[Axis] = []
    for a, b in zip(before, after, strict=False):
        if a != b:
            break
        same.append(a)
    return tuple(same)


def _single_move(before: Layout, after: Layout) -> tuple[int, int, Axis] | None:
    """The one axis of the mesh that goes from the end of one axis of an array to that of another, if any."""
    changed = [dim for dim, (a, b) in enumerate(zip(before, after, strict=True)) if a != b]
    if len(changed) != 2:
        return None
    for source, target in (changed, changed[::-1]):
        if (
            before[source][:-1] == after[source]
            and before[source]
            and (after[target] == (*before[target], before[source][-1]))
        ):
            return source, target, before[source][-1]
    return None


def _layout_text(layout: Layout) -> str:
    return " x ".join(f"{count(axes)} ranks" for axes in layout if axes)
