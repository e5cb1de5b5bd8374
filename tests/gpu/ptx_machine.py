"""Kernels in PTX as C of this machine: what NVIDIA's GPUs would compute, where there is none.

Input: a PTX module as IREE makes it. Output: C source of a library with `kernels`, a table of functions that
`ptx_machine.h` runs for every thread of a grid.
Idea: a register is a variable of as many bits, an instruction a statement; instructions by which threads wait
for each other are calls. What is not known here is refused by name, never skipped.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

HEADER: Final = Path(__file__).with_name("ptx_machine.h")
_ENTRY: Final = re.compile(r"\.entry (\w+)\((.*?)\)[^{]*\{(.*?)\n\}", re.S)
_PARAMETER: Final = re.compile(
    r"\.param\s+\.(?:align \d+ \.)?(\w+)\s+(?:\.\w+(?: \d+)?\s+)*(\w+)(?:\[(\d+)\])?"
)
_REGISTERS: Final = re.compile(r"\.reg \.(\w+)\s+(%\w+)<(\d+)>;")
_ONE_REGISTER: Final = re.compile(r"\.reg \.(\w+)\s+(%\w+);")
_ARRAY: Final = re.compile(
    r"\.(shared|global|const|local) \.align (\d+) \.b8\s+(\w+)\[(\d*)\](?:\s*=\s*\{(.*?)\})?;", re.S
)
_STATEMENT: Final = re.compile(r"(?:@(!?)(%\w+)\s+)?([\w.:]+)\s*(.*)", re.S)
_BITS: Final = {"pred": "int", "b8": "uint8_t", "b16": "uint16_t", "b32": "uint32_t", "b64": "uint64_t"}
_KINDS: Final = {"s": "int", "u": "uint", "b": "uint"}
_SPECIAL: Final = re.compile(r"%(tid|ntid|ctaid|nctaid)\.([xyz])")
_COMPARISONS: Final = {
    "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
    "lo": "<", "ls": "<=", "hi": ">", "hs": ">=",
}  # fmt: skip
_FLOATS: Final = ("f16", "bf16", "f32", "f64")
_UNARY: Final = {
    "sqrt": "sqrt", "ex2": "exp2", "lg2": "log2", "sin": "sin", "cos": "cos", "tanh": "tanh", "abs": "fabs",
}  # fmt: skip
_ROUNDINGS: Final = {"rni": "nearbyint", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}
_WAITING: Final = ("bar", "barrier", "shfl", "vote", "mma", "redux", "activemask")


class UnknownInstruction(Exception):
    """A statement of PTX that the machine does not have."""


def width(kind: str) -> int:
    """The bits of a type such as `f32` or `bf16`."""
    return 16 if kind == "bf16" else int(kind.lstrip("sufb"))


def c_type(kind: str) -> str:
    """The C type of an integer type of PTX."""
    return f"{_KINDS[kind[0]]}{kind[1:]}_t"


def split_operands(text: str) -> list[str]:
    """Operands at the commas that stand in no braces or brackets."""
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter in "{[") - (letter in "}]")
        if letter == "," and not depth:
            parts.append(text[start:at].strip())
            start = at + 1
    last = text[start:].strip()
    return [*parts, last] if last else parts


class Function:
    """One kernel: its statements as C."""

    def __init__(self, name: str, parameters: str, body: str, arrays: dict[str, str]) -> None:
        self.name, self.body, self.arrays = name, body, dict(arrays)
        found = _PARAMETER.findall(parameters)
        self.parameters = {parameter: at for at, (_, parameter, _) in enumerate(found)}
        self.sizes = [int(count) if count else width(kind) // 8 for kind, _, count in found]
        self.waits = any(re.search(rf"\b{word}\.", body) for word in _WAITING)

    def source(self) -> str:
        """The C function, and its row of constants."""
        declared, statements = [], []
        text = re.sub(r"//[^\n]*", "", self.body)
        for kind, register, count in _REGISTERS.findall(text):
            declared.append(
                f"{_BITS[kind]} {', '.join(f'{register[1:]}_{n} = 0' for n in range(int(count)))};"
            )
        for kind, register in _ONE_REGISTER.findall(text):
            declared.append(f"{_BITS[kind]} {register[1:]} = 0;")
        for _, align, array, size, _ in _ARRAY.findall(text):
            declared.append(f"_Alignas({align}) char {array}[{size}];")
            self.arrays[array] = f"(uint64_t){array}"
        for line in re.split(r"(?<=[;:])\s+", _ARRAY.sub("", text)):
            line = line.strip().rstrip(";").strip()
            if not line or line.startswith(".") or line in "{}":
                continue
            statements.append(f"{label(line[:-1])}: ;" if line.endswith(":") else self.statement(line))
        inside = "\n  ".join(declared + statements)
        return f"static void run_{self.name}(Thread *t, char **parameters) {{\n  {inside}\n}}\n"

    # -- operands --

    def read(self, operand: str, kind: str) -> str:
        """An operand as a value of C: a number of its type."""
        bits = self.bits(operand, width(kind) if kind != "pred" else 1)
        return (
            f"{kind}({bits})"
            if kind in _FLOATS
            else f"(({c_type(kind)})({bits}))"
            if kind != "pred"
            else bits
        )

    def bits(self, operand: str, size: int) -> str:
        """An operand as the bits of a register."""
        special = _SPECIAL.fullmatch(operand)
        if special:
            return f"t->{special[1]}[{'xyz'.index(special[2])}]"
        if operand == "%laneid":
            return "t->lane"
        if operand.startswith("%"):
            return (
                re.sub(r"^%([a-zA-Z_]+)(\d+)$", r"\1_\2", operand) if operand[-1].isdigit() else operand[1:]
            )
        if operand[:2] in ("0f", "0F"):
            return f"0x{operand[2:]}u"
        if operand[:2] in ("0d", "0D"):
            return f"0x{operand[2:]}ull"
        if re.fullmatch(r"-?(0x[0-9A-Fa-f]+|\d+)U?", operand):
            digits = operand.rstrip("U")
            return f"(-{digits[1:]}ll)" if digits.startswith("-") else f"{digits}ull"
        if operand in self.arrays:
            return self.arrays[operand]
        if operand in self.parameters:
            return f"(uint64_t)parameters[{self.parameters[operand]}]"
        raise UnknownInstruction(f"operand {operand}")

    def write(self, operand: str, value: str, kind: str) -> str:
        """The statement that stores a value of C in a register."""
        if operand == "_":
            return f"(void)({value});"
        return f"{self.bits(operand, 0)} = {f'{kind}_bits({value})' if kind in _FLOATS else value};"

    def address(self, operand: str) -> str:
        """A place in memory, `[register+offset]`."""
        base, _, offset = operand.strip("[]").partition("+")
        if base in self.parameters:
            return f"(parameters[{self.parameters[base]}] + {offset or 0})"
        return f"((char *)({self.bits(base, 64)}) + ({offset or 0}))"

    # -- statements --

    def statement(self, line: str) -> str:
        match = _STATEMENT.fullmatch(line)
        if not match:
            raise UnknownInstruction(line)
        negated, predicate, name, rest = match.groups()
        words, operands = name.split("."), split_operands(rest)
        try:
            rule = getattr(self, f"do_{words[0]}", None) or arithmetic(words[0])
            done = (
                rule(self, words[1:], operands) if rule in _ARITHMETIC.values() else rule(words[1:], operands)
            )
        except (UnknownInstruction, KeyError, ValueError, IndexError, TypeError) as error:
            raise UnknownInstruction(f"{line} ({error})") from None
        return f"if ({negated}{self.bits(predicate, 1)}) {{ {done} }}" if predicate else done

    def do_ret(self, words: Sequence[str], operands: Sequence[str]) -> str:
        return "return;"

    do_exit = do_ret

    def do_trap(self, words: Sequence[str], operands: Sequence[str]) -> str:
        return "abort();"

    def do_bra(self, words: Sequence[str], operands: Sequence[str]) -> str:
        return f"goto {label(operands[0])};"

    def do_bar(self, words: Sequence[str], operands: Sequence[str]) -> str:
        if words == ["warp", "sync"]:
            return "warp(t);"
        if words[0] != "sync" or list(operands) not in (["0"], []):
            raise UnknownInstruction("barrier")
        return "barrier(t);"

    def do_barrier(self, words: Sequence[str], operands: Sequence[str]) -> str:
        return self.do_bar([word for word in words if word != "cta"], operands)

    def do_membar(self, words: Sequence[str], operands: Sequence[str]) -> str:
        return ";"

    do_fence = do_membar

    def do_mov(self, words: Sequence[str], operands: Sequence[str]) -> str:
        target, source = operands
        kind = words[-1]
        if kind == "pred":
            return self.write(target, self.bits(source, 1), "pred")
        if target.startswith("{"):
            parts = split_operands(target.strip("{}"))
            size = width(kind) // len(parts)
            value = f"(uint64_t){self.bits(source, width(kind))}"
            return " ".join(
                self.write(part, f"({value} >> {size * at})", "b") for at, part in enumerate(parts)
            )
        if source.startswith("{"):
            parts = split_operands(source.strip("{}"))
            size = width(kind) // len(parts)
            whole = " | ".join(
                f"(uint64_t)(uint{size}_t){self.bits(part, size)} << {size * at}"
                for at, part in enumerate(parts)
            )
            return self.write(target, whole, "b")
        return self.write(target, self.bits(source, width(kind)), "b")

    def do_cvta(self, words: Sequence[str], operands: Sequence[str]) -> str:
        return self.write(operands[0], self.bits(operands[1], 64), "b")

    def do_ld(self, words: Sequence[str], operands: Sequence[str]) -> str:
        kind, place = words[-1], self.address(operands[1])
        type_ = c_type(kind if kind not in _FLOATS else f"b{width(kind)}")
        targets = split_operands(operands[0].strip("{}"))
        return " ".join(
            self.write(target, f"(({type_} *){place})[{at}]", "b") for at, target in enumerate(targets)
        )

    def do_st(self, words: Sequence[str], operands: Sequence[str]) -> str:
        kind, place = words[-1], self.address(operands[0])
        type_ = c_type(kind if kind not in _FLOATS else f"b{width(kind)}")
        sources = split_operands(operands[1].strip("{}"))
        return " ".join(
            f"(({type_} *){place})[{at}] = {self.bits(source, width(kind))};"
            for at, source in enumerate(sources)
        )

    def do_selp(self, words: Sequence[str], operands: Sequence[str]) -> str:
        target, x, y, flag = operands
        size = width(words[-1])
        return self.write(target, f"{self.bits(flag, 1)} ? {self.bits(x, size)} : {self.bits(y, size)}", "b")

    def do_setp(self, words: Sequence[str], operands: Sequence[str]) -> str:
        kind, relation = words[-1], words[0]
        target, x, y, *more = operands
        if kind in ("f16x2", "bf16x2"):
            return self._setp_halves(relation, kind[:-2], operands)
        a, b = self.read(x, kind), self.read(y, kind)
        flag = comparison(relation, a, b, kind in _FLOATS)
        if more:
            joined = {"and": "&&", "or": "||", "xor": "!="}[words[1]]
            flag = f"({flag}) {joined} ({self.bits(more[0], 1)})"
        first, _, second = target.partition("|")
        done = self.write(first, flag, "pred")
        return done if not second else f"{done} {self.write(second, f'!({flag})', 'pred')}"

    def _setp_halves(self, relation: str, half: str, operands: Sequence[str]) -> str:
        """A flag for each of two short floats."""
        target, x, y = operands
        flags = []
        for register, shift in zip(target.split("|"), (0, 16), strict=True):
            a, b = (f"{half}((uint32_t)({self.bits(each, 32)}) >> {shift})" for each in (x, y))
            flags.append(self.write(register, comparison(relation, a, b, True), "pred"))
        return " ".join(flags)

    def do_cvt(self, words: Sequence[str], operands: Sequence[str]) -> str:
        target, source = words[-2:]
        if target in ("f16x2", "bf16x2"):
            half = target[:-2]
            high, low = (f"{half}_bits({self.read(operand, source)})" for operand in operands[1:])
            return self.write(operands[0], f"(uint32_t){high} << 16 | {low}", "b")
        value = self.read(operands[1], source)
        rounding = next((_ROUNDINGS[word] for word in words if word in _ROUNDINGS), None)
        if source in _FLOATS and rounding:
            value = f"{rounding}((double){value})"
        if target in _FLOATS:
            value = f"(float)({value})" if target == "bf16" else value
            if "sat" in words:
                value = f"least(greatest({value}, 0, 0), 1, 0)"
            return self.write(operands[0], value, target)
        if source in _FLOATS:
            name = "to_signed" if target[0] == "s" else "to_unsigned"
            value = f"{name}({value}, {width(target)})"
        return self.write(operands[0], f"({c_type(target)})({value})", "b")

    def do_prmt(self, words: Sequence[str], operands: Sequence[str]) -> str:
        values = ", ".join(self.bits(operand, 32) for operand in operands[1:])
        return self.write(operands[0], f"prmt({values})", "b")

    def do_bfi(self, words: Sequence[str], operands: Sequence[str]) -> str:
        size = width(words[-1])
        part, whole = (f"(uint64_t){self.bits(operand, size)}" for operand in operands[1:3])
        place = ", ".join(self.bits(operand, 32) for operand in operands[3:])
        return self.write(operands[0], f"insert_bits({part}, {whole}, {place}, {size})", "b")

    def do_shf(self, words: Sequence[str], operands: Sequence[str]) -> str:
        values = ", ".join(self.bits(operand, 32) for operand in operands[1:])
        return self.write(
            operands[0], f"funnel({values}, {int(words[0] == 'l')}, {int(words[1] == 'clamp')})", "b"
        )

    def do_shfl(self, words: Sequence[str], operands: Sequence[str]) -> str:
        target, _, valid = operands[0].partition("|")
        values = ", ".join(self.bits(operand, 32) for operand in operands[1:4])
        taken = self.write(target, f"shfl(t, SHFL_{words[1].upper()}, {values}, &is_valid)", "b")
        flag = self.write(valid, "is_valid", "pred") if valid else ""
        return f"{{ int is_valid; {taken} {flag} }}"

    def do_vote(self, words: Sequence[str], operands: Sequence[str]) -> str:
        flag = f"!{self.bits(operands[1][1:], 1)}" if operands[1][0] == "!" else self.bits(operands[1], 1)
        return self.write(operands[0], f"vote(t, VOTE_{words[1].upper()}, {flag})", "b")

    def do_activemask(self, words: Sequence[str], operands: Sequence[str]) -> str:
        return self.write(operands[0], "vote(t, VOTE_BALLOT, 1)", "b")

    def do_cp(self, words: Sequence[str], operands: Sequence[str]) -> str:
        if list(words[:2]) == ["async", "commit_group"]:
            return "end_copies(t);"
        if list(words[:2]) == ["async", "wait_group"]:
            return f"await_copies(t, {operands[0]});"
        if list(words) not in (["async", "cg", "shared", "global"], ["async", "ca", "shared", "global"]):
            raise UnknownInstruction("copy")
        target, source, count = operands
        return f"begin_copy(t, {self.address(target)}, {self.address(source)}, {count});"

    def do_mma(self, words: Sequence[str], operands: Sequence[str]) -> str:
        target, left, right, carried = (split_operands(operand.strip("{}")) for operand in operands)
        if list(words) == ["sync", "aligned", "m8n8k4", "row", "col", "f64", "f64", "f64", "f64"]:
            start = ", ".join(self.read(each, "f64") for each in carried)
            end = " ".join(self.write(each, f"s[{at}]", "f64") for at, each in enumerate(target))
            factors = ", ".join(self.read(each, "f64") for each in (*left, *right))
            return f"{{ double s[] = {{{start}}}; mma884(t, {factors}, s); {end} }}"
        sums, factors = words[-4], words[-3]
        if words[:5] != ["sync", "aligned", "m16n8k16", "row", "col"] or factors not in ("f16", "bf16"):
            raise UnknownInstruction("shape of a product")
        a, b = (", ".join(self.bits(each, 32) for each in part) for part in (left, right))
        if sums == "f32":
            start = ", ".join(f"f32({self.bits(each, 32)})" for each in carried)
            end = " ".join(self.write(each, f"s[{at}]", "f32") for at, each in enumerate(target))
        else:
            start = ", ".join(
                f"f16({self.bits(each, 32)}), f16({self.bits(each, 32)} >> 16)" for each in carried
            )
            end = " ".join(
                self.write(each, f"(uint32_t)f16_bits(s[{2 * at + 1}]) << 16 | f16_bits(s[{2 * at}])", "b")
                for at, each in enumerate(target)
            )
        call = f"mma16816(t, {int(factors == 'bf16')}, a, b, s);"
        return f"{{ uint32_t a[] = {{{a}}}, b[] = {{{b}}}; float s[] = {{{start}}}; {call} {end} }}"


def label(text: str) -> str:
    """A label of PTX as one of C."""
    return text.replace("$", "").strip()


def comparison(relation: str, a: str, b: str, is_float: bool) -> str:
    """Whether a relation of PTX holds; `u` before its name lets NaN hold."""
    if relation in ("num", "nan"):
        nan = f"({a} != {a} || {b} != {b})"
        return nan if relation == "nan" else f"!{nan}"
    if not is_float:
        return f"{a} {_COMPARISONS[relation]} {b}"
    if relation.endswith("u"):
        return f"({a} != {a} || {b} != {b} || {a} {_COMPARISONS[relation[:-1]]} {b})"
    ordered = f" && {a} == {a} && {b} == {b}" if relation == "ne" else ""
    return f"({a} {_COMPARISONS[relation]} {b}{ordered})"


Rule = Callable[[Function, Sequence[str], Sequence[str]], str]


def _of(expression: Callable[..., str]) -> Rule:
    """The rule of an instruction whose result is an expression of its type and its operands."""

    def rule(function: Function, words: Sequence[str], operands: Sequence[str]) -> str:
        kind = words[-1]
        target, *sources = operands
        if kind.endswith("x2"):
            return function.write(target, _of_halves(function, expression, kind[:-2], words, sources), "b")
        values = [function.read(each, kind) for each in sources]
        return function.write(target, expression(kind, words, *values), kind)

    return rule


def _of_halves(
    function: Function,
    expression: Callable[..., str],
    kind: str,
    words: Sequence[str],
    sources: Sequence[str],
) -> str:
    """The bits of a pair of short floats, each computed from those of the operands."""
    halves = []
    for shift in (0, 16):
        values = [f"{kind}((uint32_t)({function.bits(each, 32)}) >> {shift})" for each in sources]
        halves.append(f"(uint32_t){kind}_bits({expression(kind, words, *values)}) << {shift}")
    return " | ".join(halves)


def _infix(sign: str) -> Rule:
    def expression(kind: str, words: Sequence[str], a: str, b: str) -> str:
        return f"({a} {sign} {b})"

    return _of(expression)


def _multiplied(function: Function, words: Sequence[str], operands: Sequence[str]) -> str:
    """`mul` and `mad`: all of a product, its low or its high half, and what is added."""
    kind = words[-1]
    target, x, y, *more = operands
    if kind.startswith(("f", "bf")):
        return _of(lambda kind, words, a, b: f"({a} * {b})")(function, words, operands)
    a, b = function.read(x, kind), function.read(y, kind)
    if "wide" in words:
        wide = f"{kind[0]}{2 * width(kind)}"
        value = f"({c_type(wide)}){a} * ({c_type(wide)}){b}"
        added = function.read(more[0], wide) if more else "0"
    else:
        value = f"hi_{c_type(kind)}({a}, {b})" if "hi" in words else f"(uint64_t){a} * (uint64_t){b}"
        added = function.read(more[0], kind) if more else "0"
    return function.write(target, f"({value}) + {added}", "b")


def _fma(kind: str, words: Sequence[str], a: str, b: str, c: str) -> str:
    return f"fma({a}, {b}, {c})" if kind == "f64" else f"fmaf({a}, {b}, {c})"


def _divided(kind: str, words: Sequence[str], a: str, b: str) -> str:
    return f"({a} / {b})" if kind in _FLOATS else f"div_{c_type(kind)}({a}, {b})"


def _extreme(kind: str, words: Sequence[str], a: str, b: str, name: str) -> str:
    if kind in _FLOATS:
        return f"{'least' if name == 'min' else 'greatest'}({a}, {b}, {int('NaN' in words)})"
    return f"{name}_{c_type(kind)}({a}, {b})"


def _shifted(name: str) -> Rule:
    def rule(function: Function, words: Sequence[str], operands: Sequence[str]) -> str:
        kind, (target, value, by) = words[-1], operands
        shifted = f"{name}_{c_type(kind)}({function.read(value, kind)}, {function.bits(by, 32)})"
        return function.write(target, shifted, "b")

    return rule


def _counted(name: str) -> Rule:
    def rule(function: Function, words: Sequence[str], operands: Sequence[str]) -> str:
        kind, value = words[-1], function.read(operands[1], words[-1])
        count = (
            f"__builtin_popcountll({value})"
            if name == "popc"
            else (f"({value} ? __builtin_clzll({value}) - {64 - width(kind)} : {width(kind)})")
        )
        return function.write(operands[0], count, "b")

    return rule


def _bitwise(sign: str) -> Rule:
    def rule(function: Function, words: Sequence[str], operands: Sequence[str]) -> str:
        target, a, b = operands
        size = 1 if words[-1] == "pred" else width(words[-1])
        return function.write(target, f"({function.bits(a, size)} {sign} {function.bits(b, size)})", "b")

    return rule


def _inverted(function: Function, words: Sequence[str], operands: Sequence[str]) -> str:
    sign = "!" if words[-1] == "pred" else "~"
    return function.write(operands[0], f"{sign}{function.bits(operands[1], 0)}", "b")


def _negated(function: Function, words: Sequence[str], operands: Sequence[str]) -> str:
    return _of(lambda kind, words, a: f"-{a}")(function, words, operands)


def _absolute(kind: str, words: Sequence[str], a: str) -> str:
    return f"fabs({a})" if kind in _FLOATS else f"({a} < 0 ? -{a} : {a})"


def _mapped(name: str) -> Rule:
    def expression(kind: str, words: Sequence[str], a: str) -> str:
        return f"{name}((double){a})" if kind == "f64" else f"{name}f((float){a})"

    return _of(expression)


_ARITHMETIC: Final[dict[str, Rule]] = {
    "add": _infix("+"),
    "sub": _infix("-"),
    "mul": _multiplied,
    "mad": _multiplied,
    "fma": _of(_fma),
    "div": _of(_divided),
    "rem": _of(lambda kind, words, a, b: f"rem_{c_type(kind)}({a}, {b})"),
    "min": _of(lambda kind, words, a, b: _extreme(kind, words, a, b, "min")),
    "max": _of(lambda kind, words, a, b: _extreme(kind, words, a, b, "max")),
    "and": _bitwise("&"),
    "or": _bitwise("|"),
    "xor": _bitwise("^"),
    "not": _inverted,
    "neg": _negated,
    "abs": _of(_absolute),
    "shl": _shifted("shl"),
    "shr": _shifted("shr"),
    "popc": _counted("popc"),
    "clz": _counted("clz"),
    "brev": _of(lambda kind, words, a: f"reversed_bits({a}, {width(kind)})"),
    "rcp": _of(lambda kind, words, a: f"1 / {a}"),
    "rsqrt": _of(lambda kind, words, a: f"1 / sqrt((double){a})"),
    "copysign": _of(lambda kind, words, a, b: f"copysign((double){b}, (double){a})"),
    **{name: _mapped(function) for name, function in _UNARY.items() if name != "abs"},
}


def arithmetic(name: str) -> Rule:
    """The rule of an instruction without waiting or memory."""
    if name not in _ARITHMETIC:
        raise UnknownInstruction(name)
    return _ARITHMETIC[name]


def translated(ptx: str) -> str:
    """The C source of a module of PTX."""
    arrays: dict[str, str] = {}
    globals_, shared = [], 0
    outside = _ENTRY.sub("", re.sub(r"//[^\n]*", "", ptx))
    for space, align, name, size, values in _ARRAY.findall(outside):
        if space == "shared":
            shared = -(-shared // int(align)) * int(align)
            arrays[name] = f"(uint64_t)(t->shared + {shared})"  # that without a size comes last
            shared += int(size or 0)
        else:
            globals_.append(f"_Alignas({align}) static char {name}[{size}] = {{{values or 0}}};")
            arrays[name] = f"(uint64_t){name}"
    for name in re.findall(r"\.extern \.shared \.align \d+ \.b8 (\w+)\[\];", outside):
        arrays[name] = f"(uint64_t)(t->shared + {-(-shared // 256) * 256})"
    functions = [Function(*found, arrays) for found in _ENTRY.findall(ptx)]
    rows = [
        f'{{"{f.name}", run_{f.name}, {int(f.waits)}, {-(-shared // 256) * 256}, {len(f.sizes)}, '
        f"(const int[]){{{', '.join(map(str, f.sizes or [0]))}}}}}"
        for f in functions
    ]
    table = f"const Kernel kernels[] = {{{', '.join([*rows, '{0}'])}}};\n"
    launch = (
        "void launch(const Kernel *kernel, const unsigned *grid, const unsigned *block, unsigned shared, "
        "char **parameters) { run_grid(kernel, grid, block, shared, parameters); }\n"
    )
    return "\n".join([f'#include "{HEADER}"', *globals_, *(f.source() for f in functions), table, launch])


def build(ptx: Path, library: Path) -> None:
    """Make the library of a module.

    Multiplications and additions stay apart, as PTX has them; integers wrap around, and memory has no types.
    """
    source = library.with_suffix(".c")
    source.write_text(translated(ptx.read_text()))
    options = ["-O1", "-w", "-shared", "-fPIC", "-march=native", "-ffp-contract=off"]
    options += ["-fwrapv", "-fno-strict-aliasing"]
    subprocess.run(["cc", *options, "-o", str(library), str(source), "-lm"], check=True)
    source.unlink()


if __name__ == "__main__":
    build(Path(sys.argv[1]), Path(sys.argv[2]))
