"""A program of adze as Shardy reads it: ops by name alone, each with its rule of sharding.

Input: the main function of a module, a mesh, and how arguments and results lie on it. Output: text, and the
ops that its numbers stand for. Idea: loops become Shardy's own, `stablehlo.while`, whose every operand is
carried, so that its layout is the same before, in and behind the loop. What a scan takes an element of
is carried as that element, and so is what it stacks: layouts are those of arrays without their first axis.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Final

from ...dialects import mlir
from ...dialects.builder.emitter import Reader
from ...dialects.codec import Codec
from ...dialects.dataclass import dataclass
from ...dialects.errors import MissingRuleError
from ...dialects.factors import Axes, Factors, undivided
from ...dialects.ops.collectives.mesh_axes import MeshAxisOp
from ...dialects.ops.collectives.shardings import ShardingConstraint
from ...dialects.ops.control.cond import Cond
from ...dialects.ops.control.scan import Scan
from ...dialects.ops.control.while_loop import While
from ...dialects.types import TensorType
from ..analysis.verify import location_text
from ..ir.aliases import Operation, Value
from ..ir.functions import body, function, split_body
from .layouts import Grid, Spec

NUMBER: Final = "adze.number"
ELEMENT, STACKED, MORE, NOTHING = "adze.element", "adze.stacked", "adze.more", "adze.nothing"
SCALAR: Final = "adze.scalar"
"""The operand of an op that has none: a rule needs one, and a result."""
_LETTERS: Final = "ijklmnopqrstuvwxyz"


@dataclass
class ProgramText:
    """The text of a program, and the ops with a number in it."""

    grid: Grid
    module: mlir.ir.Module
    numbered: list[Operation] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    _names: int = 0

    def __post_init__(self) -> None:
        self.codec = Codec(self.module.context)
        self.reader = Reader(self.codec)

    def write(self, symbol: str, arguments: Sequence[Spec | None], results: Sequence[Spec | None]) -> str:
        """The text of a module with the function; None for an argument or a result: as propagation finds."""
        source = function(self.module, symbol)
        operations, terminator = split_body(source)
        names: dict[Value, str] = {}
        parameters = []
        for argument, spec in zip(body(source).arguments, arguments, strict=True):
            names[argument] = self._new()
            parameters.append(f"{names[argument]}: {argument.type}{self._stated(spec)}")
        self._body(operations, names)
        returned = [names[v] for v in terminator.operands]
        types = [v.type for v in terminator.operands]
        stated = [f"{t}{self._stated(spec)}" for t, spec in zip(types, results, strict=True)]
        listed = f" {', '.join(returned)} : {', '.join(map(str, types))}" if returned else ""
        axes = zip(self.grid.names, self.grid.sizes, strict=True)
        mesh = ", ".join(f"{json.dumps(name)}={size}" for name, size in axes)
        return "\n".join(
            (
                f"sdy.mesh @mesh = <[{mesh}]>",
                f"func.func @main({', '.join(parameters)}) -> ({', '.join(stated)}) {{",
                *self.lines,
                f"  func.return{listed}",
                "}",
            )
        )

    def _new(self) -> str:
        self._names += 1
        return f"%v{self._names}"

    def _stated(self, spec: Spec | None) -> str:
        return "" if spec is None else f" {{sdy.sharding = #sdy.sharding<@mesh, {spec_text(spec)}>}}"

    def _number(self, operation: Operation) -> str:
        self.numbered.append(operation)
        return f"{NUMBER} = {len(self.numbered) - 1} : i64"

    def _emit(
        self,
        name: str,
        operands: Sequence[str],
        types: Sequence[Any],
        results: Sequence[Any],
        attributes: str,
    ) -> list[str]:
        new = [self._new() for _ in results]
        head = f"{', '.join(new)} = " if new else ""
        signature = f"({', '.join(map(str, types))}) -> ({', '.join(map(str, results))})"
        self.lines.append(f'  {head}"{name}"({", ".join(operands)}) {{{attributes}}} : {signature}')
        return new

    def _ruled(
        self,
        name: str,
        operands: Sequence[str],
        types: Sequence[Any],
        results: Sequence[Any],
        attributes: str,
        rule: Factors,
    ) -> list[str]:
        """An op with its rule."""
        stated = rule_text(rule)
        if stated and not operands:
            rule.operands = [[]]
            types = ["tensor<i1>"]
            operands = self._emit(SCALAR, [], [], types, "")
        if stated and not results:
            rule.results = [[]]
            results = ["tensor<i1>"]
        stated = rule_text(rule)
        return self._emit(name, operands, types, results, ", ".join(filter(None, (attributes, stated))))

    # -- ops -------------------------------------------------------------------------------------

    def _body(self, operations: Sequence[Operation], names: dict[Value, str]) -> None:
        for each in operations:
            self._operation(each.operation, names)

    def _operation(self, operation: Operation, names: dict[Value, str]) -> None:
        application = self.reader.read(operation)
        assert application is not None, f"{operation.name} is not an op of adze"
        op, attributes = application.op, application.attributes
        operands = [names[v] for v in operation.operands]
        types = [v.type for v in operation.operands]
        results = [v.type for v in operation.results]
        if issubclass(op, MeshAxisOp):
            raise MissingRuleError(
                f"'{op.name}' in a program that is divided by its shardings",
                where=location_text(operation.location),
                hint="leave in_shardings out, and call the function with shard_map",
            )
        if op is ShardingConstraint:
            new = [self._new()]
            self.lines.append(
                f"  {new[0]} = sdy.sharding_constraint {operands[0]} <@mesh, {attributes['spec']}> "
                f": {types[0]}"
            )
        elif op is Scan:
            new = self._scan(operation, operands, attributes)
        elif op is While:
            new = self._while(operation, operands, attributes)
        elif op is Cond:
            new = self._cond(operation, operands, attributes)
        else:
            arrays = [self._array(t, operation) for t in types]
            made = [self._array(t, operation) for t in results]
            rule = op.factors(*arrays, **attributes) if op.factors is not None else undivided(arrays, made)
            new = self._ruled(operation.name, operands, types, results, self._number(operation), rule)
            new = new[: len(results)]
        names.update(zip(operation.results, new, strict=True))

    def _called(self, symbol: str, arguments: Sequence[str]) -> tuple[list[str], list[Any]]:
        """The results of a function of the module, whose ops are written here, and their types."""
        operations, terminator = split_body(function(self.module, symbol))
        names = dict(zip(body(function(self.module, symbol)).arguments, arguments, strict=True))
        self._body(operations, names)
        return [names[v] for v in terminator.operands], [v.type for v in terminator.operands]

    def _types_of(self, symbol: str) -> list[Any]:
        return [argument.type for argument in body(function(self.module, symbol)).arguments]

    def _loop(
        self,
        operation: Operation,
        state: Sequence[str],
        types: Sequence[Any],
        condition: Any,
        step: Any,
    ) -> list[str]:
        """A `stablehlo.while`: `condition` and `step` write regions, given the names of their arguments."""
        new = [self._new() for _ in types]
        head = f"{', '.join(new)} = " if new else ""
        self.lines.append(f'  {head}"stablehlo.while"({", ".join(state)}) ({{')
        for write, end in ((condition, "}, {"), (step, "})")):
            arguments = [self._new() for _ in types]
            listed = ", ".join(f"{a}: {t}" for a, t in zip(arguments, types, strict=True))
            self.lines.append(f"  ^bb0({listed}):")
            returned, kinds = write(arguments)
            self.lines.append(
                f'  "stablehlo.return"({", ".join(returned)}) : ({", ".join(map(str, kinds))}) -> ()'
            )
            self.lines.append(f"  {end}")
        listed = ", ".join(map(str, types))
        self.lines[-1] += f" {{{self._number(operation)}}} : ({listed}) -> ({listed})"
        return new

    def _scan(self, operation: Operation, operands: list[str], attributes: Mapping[str, Any]) -> list[str]:
        k, n = attributes["constant_count"], attributes["carry_count"]
        symbol = attributes["body"]
        types = self._types_of(symbol)
        state = operands[: k + n]
        for name, value, type_ in zip(
            operands[k + n :], list(operation.operands)[k + n :], types[k + n :], strict=True
        ):
            state += self._ruled(ELEMENT, [name], [value.type], [type_], "", self._of_element(value.type))
        stacked = list(operation.results)[n:]
        _, terminator = split_body(function(self.module, symbol))
        rows = [v.type for v in list(terminator.operands)[n:]]
        for type_ in rows:
            free = Factors()
            free.results = [free.all_free(self._array(type_))]
            state += self._ruled(NOTHING, [], [], [type_], "", free)

        def step(arguments: list[str]) -> tuple[list[str], list[Any]]:
            returned, kinds = self._called(symbol, arguments[: len(types)])
            fixed = [*arguments[:k], *returned[:n], *arguments[k + n : len(types)], *returned[n:]]
            return fixed, [*types[:k], *kinds[:n], *types[k + n :], *kinds[n:]]

        def more(arguments: list[str]) -> tuple[list[str], list[Any]]:
            return self._emit(MORE, [], [], ["tensor<i1>"], ""), ["tensor<i1>"]

        made = self._loop(operation, state, [*types, *rows], more, step)
        whole = []
        for name, row, value in zip(made[len(types) :], rows, stacked, strict=True):
            whole += self._ruled(STACKED, [name], [row], [value.type], "", self._of_stacked(value.type))
        return [*made[k : k + n], *whole]

    def _while(self, operation: Operation, operands: list[str], attributes: Mapping[str, Any]) -> list[str]:
        m = attributes["condition_constants"]
        k = m + attributes["body_constants"]
        types = [v.type for v in operation.operands]

        def condition(arguments: list[str]) -> tuple[list[str], list[Any]]:
            return self._called(attributes["condition"], [*arguments[:m], *arguments[k:]])

        def step(arguments: list[str]) -> tuple[list[str], list[Any]]:
            returned, kinds = self._called(attributes["body"], arguments[m:])
            return [*arguments[:k], *returned], [*types[:k], *kinds]

        return self._loop(operation, operands, types, condition, step)[k:]

    def _cond(self, operation: Operation, operands: list[str], attributes: Mapping[str, Any]) -> list[str]:
        results = [v.type for v in operation.results]
        new = [self._new() for _ in results]
        head = f"{', '.join(new)} = " if new else ""
        self.lines.append(f'  {head}"stablehlo.case"({operands[0]}) ({{')
        for symbol in attributes["branches"]:
            returned, kinds = self._called(symbol, operands[1:])
            self.lines.append(
                f'  "stablehlo.return"({", ".join(returned)}) : ({", ".join(map(str, kinds))}) -> ()'
            )
            self.lines.append("  }, {")
        number = self._number(operation)
        self.lines[-1] = f"  }}) {{{number}}} : (tensor<i32>) -> ({', '.join(map(str, results))})"
        return new

    # -- rules of what stands for parts of a scan ----------------------------------------------

    def _array(self, type_: Any, operation: Operation | None = None) -> TensorType:
        array = self.codec.read_type(type_)
        if not isinstance(array, TensorType) or not array.is_static:
            raise MissingRuleError(
                f"a size that is known when the program runs ({array}): what ranks divide has static sizes",
                where=None if operation is None else location_text(operation.location),
            )
        return array

    def _of_element(self, type_: Any) -> Factors:
        rule = _along_first(self._array(type_))
        rule.operands, rule.results = rule.results, [rule.results[0][1:]]
        return rule

    def _of_stacked(self, type_: Any) -> Factors:
        rule = _along_first(self._array(type_))
        rule.operands = [rule.results[0][1:]]
        return rule


def _along_first(whole: TensorType) -> Factors:
    """Factors of a stacked array, whose first axis is not divided."""
    rule = Factors()
    first, *rest = whole.static_shape
    rule.results = [[(rule.undivided(first),), *((rule.free(n),) for n in rest)]]
    return rule


def spec_text(spec: Spec) -> str:
    """As Shardy writes it; what propagation decides is open."""
    return f"[{', '.join('{?}' if e is None else '{' + ', '.join(map(json.dumps, e)) + '}' for e in spec)}]"


def rule_text(rule: Factors) -> str:
    """A rule as an attribute; nothing where it has no factor."""
    arrays = [*rule.operands, *rule.results]
    order: dict[int, str] = {}
    for factor in (factor for axes in arrays for axis in axes for factor in axis):
        order.setdefault(factor, _letter(len(order)))
    if not order:
        return ""

    def mapping(axes: Axes) -> str:
        return f"[{', '.join(''.join(order[factor] for factor in axis) for axis in axes)}]"

    sizes = ", ".join(f"{letter}={rule.sizes[factor]}" for factor, letter in order.items())
    reduced = [order[f] for f in order if f in rule.reduced]
    whole = [order[f] for f in order if f in rule.whole]
    kinds = (f" reduction={{{', '.join(reduced)}}}" if reduced else "") + (
        f" need_replication={{{', '.join(whole)}}}" if whole else ""
    )
    before, after = (", ".join(map(mapping, each)) for each in (rule.operands, rule.results))
    return f"sdy.sharding_rule = #sdy.op_sharding_rule<({before})->({after}) {{{sizes}}}{kinds}>"


def _letter(number: int) -> str:
    """Shardy's name of a factor: i to z, then z_1, z_2."""
    return _LETTERS[number] if number < len(_LETTERS) else f"z_{number - len(_LETTERS) + 1}"
