"""A traced program as Python source that computes the same, with its large constants in a file beside it.

Input: a traced function, names for its arguments. Output: text, and arrays by name. Idea: the simplified IR
has one op a line, and each is an expression of `adze.numpy` or `adze.lax`; bodies of loops and branches are
functions, as in the IR.
"""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from typing import Any, Final

import numpy as np

from ....dialects.builder.emitter import Reader
from ....dialects.codec import Codec
from ....dialects.dataclass import dataclass
from ....dialects.types import TensorType, ValueType
from ....passes.ir.functions import body, functions, is_private, split_body
from ..errors import ModelUnsupportedError
from .expressions import Text, expression, number, shape_text

_LARGEST_LITERAL: Final = 8
"""Elements of an array that is written into the source."""
_OF_MODULE: Final = frozenset({"xp", "lax", "np", "Path", "WEIGHTS", "_weights"})
_OF_FUNCTIONS: Final = frozenset({"weights", "step", "carry", "items", "values", "s", "max", "complex"})
_RESULT: Final = re.compile(r"[at]\d+")
"""What the written file itself calls something by: no argument may have such a name."""
_MULTIPLE: Final = frozenset({"sort", "top_k", "optimization_barrier"})


@dataclass
class Source:
    """Lines of functions, and arrays that stand in the file of weights."""

    lines: list[str] = field(default_factory=list)
    arrays: dict[str, np.ndarray] = field(default_factory=dict)


def write_functions(
    module: Any, arguments: Sequence[str], name: str, arrays: Mapping[str, np.ndarray]
) -> Source:
    """The functions of a module of adze IR; `arguments` are texts of the public one's, in order.

    Raises `ModelUnsupportedError` for an op that has no name in adze.numpy or adze.lax.
    """
    source = Source(arrays=dict(arrays))
    reader = Reader(Codec(module.context))
    by_symbol = functions(module)
    names: dict[str, str] = {}
    taken = {*arguments, *_OF_MODULE, name}
    for symbol, operation in by_symbol.items():
        names[symbol] = _free(f"_{_identifier(symbol)}", taken) if is_private(operation) else name
        taken.add(names[symbol])
    for symbol, operation in by_symbol.items():
        if is_private(operation):
            source.lines += _Function(operation, reader, names, source).lines(names[symbol], None)
    for operation in by_symbol.values():
        if not is_private(operation):
            source.lines += _Function(operation, reader, names, source).lines(name, arguments)
    return source


def function_identifier(text: str) -> str:
    """A name that a function of the file may have."""
    return _free(_identifier(text), _OF_MODULE)


def argument_names(names: Sequence[str]) -> list[str]:
    """Names of arguments which mean nothing else in the written function."""
    result: list[str] = []
    for text in names:
        name, taken = _identifier(text), {*result, *_OF_MODULE, *_OF_FUNCTIONS}
        result.append(_free(f"{name}_" if _RESULT.fullmatch(name) else name, taken))
    return result


def _free(name: str, taken: Collection[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _identifier(text: str) -> str:
    name = re.sub(r"\W", "_", unicodedata.normalize("NFKC", text))
    name = name if f"_{name}".isidentifier() else re.sub(r"\W", "_", name, flags=re.ASCII)
    name = name if name.isidentifier() else f"_{name}"
    return f"{name}_" if keyword.iskeyword(name) else name


class _Function:
    """One function: a line for each op that is not written into another."""

    def __init__(self, operation: Any, reader: Reader, names: Mapping[str, str], source: Source) -> None:
        self.operation = operation
        self.reader = reader
        self.names = names
        self.source = source
        self.values: dict[Any, Text] = {}
        self.count = 0
        self.written: list[str] = []

    def lines(self, name: str, arguments: Sequence[str] | None) -> list[str]:
        block = body(self.operation)
        texts = list(arguments) if arguments is not None else [f"a{i}" for i in range(len(block.arguments))]
        for argument, text in zip(block.arguments, texts, strict=True):
            self.values[argument] = Text(text, self.reader.codec.read_type(argument.type))
        operations, terminator = split_body(self.operation)
        for operation in operations:
            self._write(operation)
        results = [self.values[v].full for v in terminator.operands]
        if arguments is None:
            returned = f"({', '.join(results)}{',' if len(results) == 1 else ''})"
            head = f"def {name}({', '.join(texts)}):"
        else:
            returned = ", ".join(results)
            own = [text for text in texts if text.isidentifier()]
            head = f"def {name}({', '.join([*own, 'weights=WEIGHTS'])}):"
            # NumPy has other rules of promotion for halves: everything is an array of adze first.
            first = [f"{text} = xp.asarray({text})" for text in own]
            if len(own) < len(texts):
                first.append("weights = {name: xp.asarray(value) for name, value in weights.items()}")
            self.written[:0] = first
        return [head, *(f"    {line}" for line in self.written), f"    return {returned}", "", ""]

    def _write(self, operation: Any) -> None:
        results = list(operation.results)
        types = [self.reader.codec.read_type(r.type) for r in results]
        application = self.reader.read(operation, lambda v: self.values[v])
        if application is None:
            raise ModelUnsupportedError(f"adze import cannot write {operation.name!r} as Python")
        op, operands, attributes = application
        attributes = {k: _sizes(v) for k, v in attributes.items()}
        match op.name:
            case "constant":
                self.values[results[0]] = self._constant(op.evaluate(**attributes), types[0])
            case "broadcast_in_dim":
                self.values[results[0]] = _broadcast(operands[0], attributes, types[0])
            case "size_check":
                return
            case "size_constant" | "size_add" | "size_sub" | "size_mul" | "size_div" | "dim":
                text = expression(op.name, operands, attributes, types[0])
                self.values[results[0]] = Text(text, types[0])
            case "cond" | "while" | "scan" | "call" | "routine" | "linear_routine":
                self._assign(results, types, self._control(op.name, operands, attributes))
            case _:
                if not types:
                    raise ModelUnsupportedError(f"adze import cannot write the op {op.name!r} as Python")
                text = expression(op.name, operands, attributes, types[0])
                if op.name in _MULTIPLE:
                    self._assign(results, types, text)
                else:
                    self.values[results[0]] = Text(self._line(_bare(text)), types[0])

    def _line(self, text: str) -> str:
        self.count += 1
        self.written.append(f"t{self.count} = {text}")
        return f"t{self.count}"

    def _assign(self, results: Sequence[Any], types: Sequence[ValueType], text: str) -> None:
        names = []
        for result, type_ in zip(results, types, strict=True):
            self.count += 1
            names.append(f"t{self.count}")
            self.values[result] = Text(names[-1], type_)
        self.written.append(f"{', '.join(names)}{',' if len(names) == 1 else ''} = {text}")

    def _constant(self, value: np.ndarray, type_: ValueType) -> Text:
        array = np.asarray(value)
        kind = f'dtype="{array.dtype.name}"' if array.dtype.name != "bfloat16" else "dtype=xp.bfloat16"
        flat = array.ravel()
        if array.size and (array.size == 1 or _all_equal(flat)):
            text = number(flat[0])
            full = f"xp.full({shape_text(array.shape)}, {text}, {kind})"
            return Text(full, type_, short=text, is_number=True)
        if array.size <= _LARGEST_LITERAL and array.ndim == 1:
            items = ", ".join(map(number, flat))
            return Text(f"xp.asarray([{items}], {kind})", type_)
        name = next((n for n, a in self.source.arrays.items() if a is value), None)
        if name is None:
            name = _free(f"constant_{len(self.source.arrays)}", self.source.arrays)
            self.source.arrays[name] = array
        return Text(f"WEIGHTS[{name!r}]", type_)

    def _control(self, name: str, operands: Sequence[Text], a: Mapping[str, Any]) -> str:
        texts = [o.full for o in operands]
        if name in ("call", "routine", "linear_routine"):
            return f"{self.names[a['callee']]}({', '.join(texts)})"
        if name == "cond":
            branches = ", ".join(self.names[b] for b in a["branches"])
            return f"lax.switch({', '.join([texts[0], f'[{branches}]', *texts[1:]])})"
        if name == "while":
            first, second = a["condition_constants"], a["body_constants"]
            condition, rest = texts[:first], texts[first:]
            constants, state = rest[:second], rest[second:]
            test = f"lambda s: {self.names[a['condition']]}({', '.join([*condition, '*s'])})[0]"
            step = f"lambda s: {self.names[a['body']]}({', '.join([*constants, '*s'])})"
            return f"lax.while_loop({test}, {step}, ({', '.join(state)},))"
        constants, carried = a["constant_count"], a["carry_count"]
        fixed, state, xs = (
            texts[:constants],
            texts[constants : constants + carried],
            texts[constants + carried :],
        )
        self.written += [
            "def step(carry, items):",
            f"    values = {self.names[a['body']]}({', '.join([*fixed, '*carry', '*items'])})",
            f"    return values[:{carried}], values[{carried}:]",
            "",
        ]
        length = a["length"][0] if a["length"] else None
        loop = (
            f"lax.scan(step, ({''.join(f'{s}, ' for s in state)}), ({''.join(f'{x}, ' for x in xs)}), "
            f"length={length}, reverse={a['reverse']})"
        )
        carry = self._line(loop)
        return f"(*{carry}[0], *{carry}[1])"


def _all_equal(flat: np.ndarray) -> bool:
    return bool((flat.view(np.uint8).reshape(flat.size, -1) == flat[:1].view(np.uint8)).all())


def _sizes(value: Any) -> Any:
    """Sizes of an attribute as texts."""
    if isinstance(value, tuple):
        return tuple(v.full if isinstance(v, Text) else v for v in value)
    return value


def _bare(text: str) -> str:
    """An expression without the parentheses around all of it."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    depth = 0
    for i, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0 and i < len(text) - 1:
            return text
    return text[1:-1]


def _broadcast(x: Text, a: Mapping[str, Any], type_: ValueType) -> Text:
    assert isinstance(type_, TensorType)
    full = expression("broadcast_in_dim", [x], a, type_)
    if x.is_number:
        dtype = x.type.dtype if isinstance(x.type, TensorType) else type_.dtype
        kind = "xp.bfloat16" if dtype.name == "bfloat16" else f'"{dtype.name}"'
        full = f"xp.full({shape_text(a['shape'])}, {x.short}, dtype={kind})"
        return Text(full, type_, short=x.short, is_number=True)
    dimensions = tuple(a["dimensions"])
    if dimensions != tuple(sorted(dimensions)):
        return Text(full, type_)
    first = dimensions[0] if dimensions else len(type_.shape)
    added = tuple(i for i in range(first, len(type_.shape)) if i not in dimensions)
    short = f"xp.expand_dims({x.full}, {tuple(i - first for i in added)})" if added else x.full
    return Text(full, type_, short=short)
