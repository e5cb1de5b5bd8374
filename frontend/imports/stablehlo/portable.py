"""Portable bytecode of StableHLO as text: VHLO, in which its ops have versions, written as StableHLO.

Input: bytes, as `jax.export` serializes modules. Output: text in MLIR's generic form.

Idea: MLIR in the compiler's wheel reads and prints VHLO and lacks the pass from there to StableHLO. Ops are
the same under other names; types and attributes are wrapped, and dimension numbers are taken apart.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from ....runtime.compile.bytecode_text import BytecodeError, text_of_bytecode
from .program import StableHLOError

MAGIC: Final = b"ML\xefR"
_HEAD: Final = re.compile(r'"vhlo\.(\w+?)_v\d+"\(')
_TYPE: Final = re.compile(r"!vhlo\.(\w+?)_v\d+")
_WRAPPED: Final = re.compile(r"#vhlo\.(\w+?)_v\d+<")
_ENUM: Final = re.compile(r"#vhlo<(\w+?)_v\d+ (\w+)>")
_SKIPPED: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|->|[<({\[]|[>)}\]]|,')
_VECTOR: Final = re.compile(r"dense<(.*)> : tensor<(\d+)x(i64|i1)>", re.DOTALL)
_FUNCTIONS: Final = {"func": "func.func", "call": "func.call"}
_API: Final = {"ORIGINAL": 1, "STATUS_RETURNING": 2, "STATUS_RETURNING_UNIFIED": 3, "TYPED_FFI": 4}
_NESTING: Final = ("array", "dict", "func", "tuple")
MOST_PARTS: Final = 10_000
"""More parts than a type or attribute of a program has, those of its parts counted."""
_SYMBOLS: Final = ("callee", "decomposition")
_ALGORITHM: Final = (
    *("lhs_precision_type", "rhs_precision_type", "accumulation_type", "lhs_component_count"),
    *("rhs_component_count", "num_primitive_operations", "allow_imprecise_accumulation"),
)
_NUMBERS: Final[dict[str, tuple[str, str, dict[str, str]]]] = {
    # op: the attribute, its head, and what each field is called there
    "dot_general": (
        "dot_dimension_numbers",
        "#stablehlo.dot<",
        {
            f"{side}_{kind}_dimensions": f"{side}_{kind}_dimensions"
            for kind in ("batching", "contracting")
            for side in ("lhs", "rhs")
        },
    ),
    "convolution": (
        "dimension_numbers",
        "#stablehlo.conv<raw ",
        {
            name: name
            for name in (
                *("input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions"),
                *("kernel_input_feature_dimension", "kernel_output_feature_dimension"),
                *("kernel_spatial_dimensions", "output_batch_dimension", "output_feature_dimension"),
                "output_spatial_dimensions",
            )
        },
    ),
    "gather": (
        "dimension_numbers",
        "#stablehlo.gather<",
        {
            name: name
            for name in (
                *("offset_dims", "collapsed_slice_dims", "operand_batching_dims"),
                *("start_indices_batching_dims", "start_index_map", "index_vector_dim"),
            )
        },
    ),
    "scatter": (
        "scatter_dimension_numbers",
        "#stablehlo.scatter<",
        {
            name: name
            for name in (
                *("update_window_dims", "inserted_window_dims", "input_batching_dims"),
                *("scatter_indices_batching_dims", "scatter_dims_to_operand_dims", "index_vector_dim"),
            )
        },
    ),
}
_NUMBERS["dynamic_conv"], _NUMBERS["dynamic_gather"] = _NUMBERS["convolution"], _NUMBERS["gather"]


def portable_text(content: bytes, name: str, hint: str) -> str:
    """The text of a module in portable bytecode; `StableHLOError` where that cannot be."""
    try:
        generic = text_of_bytecode(content)
    except BytecodeError as error:
        raise StableHLOError(f"{name} is bytecode that MLIR cannot read: {error}", hint=hint) from None
    try:
        return _Translation(name, hint).text(generic)
    except RecursionError:
        raise StableHLOError(f"{name} has types or attributes that are nested too deep", hint=hint) from None


class _Translation:
    """Rewrites ops line by line; `parents` are the ops whose regions are open."""

    def __init__(self, name: str, hint: str) -> None:
        self.name, self.hint = name, hint
        self.parents: list[str] = []

    def text(self, generic: str) -> str:
        return "\n".join(self._line(line) for line in generic.splitlines())

    def _line(self, line: str) -> str:
        stripped = line.strip()
        if stripped.startswith("})") and self.parents:
            self.parents.pop()
        head = _HEAD.search(line)
        if head is None:
            result = self.value(line)
            opened = '"builtin.module"'
        else:
            opened = head[1]
            result = line[: head.start()] + self._operation(head[1], line[head.end() - 1 :])
        if stripped.endswith("({"):
            self.parents.append(opened)
        return result

    def _operation(self, op: str, rest: str) -> str:
        """The op from its operands on."""
        target = _FUNCTIONS.get(op, f"stablehlo.{op}")
        if op == "return" and self.parents and self.parents[-1] == "func":
            target = "func.return"
        end = _closing(rest, 0)
        operands, rest = rest[: end + 1], rest[end + 1 :]
        if not rest.startswith(" <{"):
            return f'"{target}"{operands}{self.value(rest)}'
        end = _closing(rest, 2)
        fields = self._fields(op, rest[3:end])
        written = ", ".join(f"{key} = {value}" for key, value in fields.items())
        return f'"{target}"{operands} <{{{written}}}>{self.value(rest[end + 2 :])}'

    def _fields(self, op: str, inside: str) -> dict[str, str]:
        fields: dict[str, str] = {}
        for part in _parts(inside):
            key, _, value = part.partition(" = ")
            if key in ("result_accuracy", "output_operand_aliases") or "!vhlo.none_v1" in value:
                continue
            fields[key] = self._field(op, key, value)
        if op in _NUMBERS:
            attribute, start, names = _NUMBERS[op]
            numbers = {new: _list(fields.pop(old)) for old, new in names.items() if old in fields}
            body = ", ".join(f"{k} = {v}" for k, v in numbers.items() if v != "[]" or "raw" in start)
            fields[attribute] = f"{start}{body}>"
        if "accumulation_type" in fields:
            algorithm = {k: fields.pop(k).removesuffix(" : i64") for k in _ALGORITHM if k in fields}
            body = ", ".join(f"{key} = {value}" for key, value in algorithm.items())
            fields["algorithm"] = f"#stablehlo.dot_algorithm<{body}>"
        if (channel := fields.pop("channel_id", None)) is not None and not channel.startswith("0 "):
            kind = fields.pop("channel_type", "0 ").partition(" ")[0]
            handle = channel.partition(" ")[0]
            fields["channel_handle"] = f"#stablehlo.channel_handle<handle = {handle}, type = {kind}>"
        fields.pop("channel_type", None)
        empty = ("arg_attrs", "res_attrs", "operand_layouts", "result_layouts")
        return {
            key: value
            for key, value in fields.items()
            if not (key in empty and value == "[]")
            and not (key == "sym_visibility" and value in ('""', '"public"'))
            and not (key == "compare_type" and "NOTYPE" in value)
        }

    def _field(self, op: str, key: str, value: str) -> str:
        text = self.value(value)
        if key in _SYMBOLS:
            return f"@{text}"
        if key == "called_computations":
            return re.sub(r'("(?:[^"\\]|\\.)*")', r"@\1", text)
        if key == "api_version" and (enum := _ENUM.fullmatch(value)):
            return f"{_API.get(enum[2].removeprefix('API_VERSION_'), 0)} : i32"
        vector = None if op == "constant" else _VECTOR.fullmatch(text)
        if vector is None:
            return text
        elements = _elements(vector[1], int(vector[2]))
        return f"array<{vector[3]}: {', '.join(elements)}>" if elements else f"array<{vector[3]}>"

    def value(self, text: str) -> str:
        """Attributes and types within `text`, those of StableHLO."""
        result, at = [], 0
        while (start := _next(text, at)) >= 0:
            result.append(text[at:start])
            converted, at = self._one(text, start)
            result.append(converted)
        result.append(text[at:])
        return "".join(result)

    def _one(self, text: str, start: int) -> tuple[str, int]:
        """The attribute or type that begins at `start`, and where it ends."""
        if text[start] == '"':
            quoted = _SKIPPED.match(text, start)
            return (quoted[0], quoted.end()) if quoted else ('"', start + 1)
        if type_ := _TYPE.match(text, start):
            if text.startswith("<", type_.end()):
                end = _closing(text, type_.end())
                self._check_parts(type_[1], text[type_.end() : end])
                return self._type(type_[1], text[type_.end() + 1 : end]), end + 1
            return self._type(type_[1], None), type_.end()
        if enum := _ENUM.match(text, start):
            return f"#stablehlo<{enum[1]} {enum[2]}>", enum.end()
        wrapped = _WRAPPED.match(text, start)
        if wrapped is None:
            raise self._error(text[start : start + 40])
        end = _closing(text, wrapped.end() - 1)
        inside = text[wrapped.end() : end]
        self._check_parts(wrapped[1], inside)
        if wrapped[1] not in _ATTRIBUTES:
            raise self._error(text[start : start + 40])
        return _ATTRIBUTES[wrapped[1]](self, inside), end + 1

    def _check_parts(self, kind: str, inside: str) -> None:
        """A type is printed as often as it is used: of tuples of tuples, that may be without end."""
        if kind in _NESTING and inside.count("vhlo.") > MOST_PARTS:
            raise self._error(f"an attribute or type ({kind}) of more than {MOST_PARTS} parts")

    def _type(self, kind: str, inside: str | None) -> str:
        if inside is None:
            names = {"bool": "i1", "tf31": "tf32", "token": "!stablehlo.token", "none": "none"}
            return names.get(kind, kind)
        if kind == "tensor":
            return f"tensor<{self.value(inside)}>"
        if kind in ("complex", "tuple"):
            return f"{kind}<{self.value(inside)}>"
        if kind == "func":
            end = _closing(inside, 0) + 1
            results = inside[end:].strip().removeprefix("->").strip()
            listed = self.value(results)
            taken = "()" if inside[:end] == "(())" else self.value(inside[:end])  # VHLO prints it so
            return f"{taken} -> {listed if listed.startswith('(') else f'({listed})'}"
        raise self._error(f"!vhlo.{kind}")

    def _dictionary(self, inside: str) -> str:
        pairs = [part.partition(" = ") for part in _parts(inside.strip()[1:-1])]
        return f"{{{', '.join(f'{self.value(k)} = {self.value(v)}' for k, _, v in pairs)}}}"

    def _error(self, what: str) -> StableHLOError:
        return StableHLOError(
            f"{self.name} is portable bytecode with {what}, which cannot be converted", hint=self.hint
        )


_ATTRIBUTES: Final[dict[str, Callable[[_Translation, str], str]]] = {
    **{
        name: _Translation.value for name in ("array", "bool", "float", "integer", "string", "tensor", "type")
    },
    "dict": _Translation._dictionary,
}


def _next(text: str, at: int) -> int:
    """Where the next string, type or attribute of VHLO begins; -1 if there is none."""
    places = [p for p in (text.find('"', at), text.find("!vhlo", at), text.find("#vhlo", at)) if p >= 0]
    return min(places, default=-1)


def _closing(text: str, start: int) -> int:
    """The place of the bracket that closes the one at `start`."""
    depth = 0
    for sign in _SKIPPED.finditer(text, start):
        if sign[0] in ("<", "(", "{", "["):
            depth += 1
        elif sign[0] in (">", ")", "}", "]"):
            depth -= 1
            if depth == 0:
                return sign.start()
    return len(text)


def _parts(text: str) -> list[str]:
    """What the commas at the outermost level separate."""
    parts, depth, begun = [], 0, 0
    for sign in _SKIPPED.finditer(text):
        if sign[0] in ("<", "(", "{", "["):
            depth += 1
        elif sign[0] in (">", ")", "}", "]"):
            depth -= 1
        elif sign[0] == "," and depth == 0:
            parts.append(text[begun : sign.start()].strip())
            begun = sign.end()
    return [part for part in (*parts, text[begun:].strip()) if part]


def _elements(dense: str, count: int) -> list[str]:
    """The elements of a vector as `dense<...>` states them: all, or one for all."""
    listed = [part.strip() for part in dense.strip().strip("[]").split(",") if part.strip()]
    return listed * count if len(listed) == 1 else listed


def _list(value: str) -> str:
    """A field of dimension numbers: a list, or a number."""
    if value.startswith("array<i64"):
        return f"[{value[len('array<i64') : -1].lstrip(': ')}]"
    return value.partition(" ")[0]
