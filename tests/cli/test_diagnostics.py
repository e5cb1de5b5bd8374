"""Bad and odd programs of every kind: each ends in an error of adze, and MLIR and IREE print nothing.

C++ writes to the file descriptors, past Python's streams: what reaches them is captured there.
"""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from typer.testing import Result

import adze as az
import adze.numpy as anp
from adze.passes.ir.parsing import parse_module
from adze.passes.pipeline import run_pipeline
from adze.passes.registry import Verify, parse_pipeline
from adze.runtime.artifact.artifact import Contents, from_bytes, save
from adze.runtime.compile.compiler import CompileOptions, compile_bytecode
from adze.runtime.targets import parse_target

from .conftest import Adze

RAW: Final = re.compile(
    r"<unknown>:\d|loc\(|LLVM ERROR|mlir::|llvm::|iree::|std::|iree/\w+/|third_party|nanobind|MLIRError"
    r"|Assertion `|Traceback|PLEASE submit|Unable to parse|\bINTERNAL;|\bINVALID_ARGUMENT;"
    r"|\.c(pp)?:\d+|hint: --traceback"
)
"""What only MLIR, IREE and LLVM write; the last is said of an error that is not one of adze."""

TYPE = "tensor<4xf32>"
NEG = f'%0 = "adze.neg"(%x) : ({TYPE}) -> {TYPE}'
END = f"return %x : {TYPE}"
PIPELINES = ("inline,simplify,lower", "lower,canonicalize,cse", "grad{function=f}", "batch{function=f}")


def function(*lines: str, argument: str = f"%x: {TYPE}", result: str = f" -> {TYPE}") -> str:
    """`@f` of these lines."""
    return f"func.func @f({argument}){result} {{\n" + "\n".join(lines) + "\n}\n"


def of_type(type_: str) -> str:
    """`@f` that takes an argument of a type and returns nothing."""
    return function("return", argument=f"%x: {type_}", result="")


def reshape(shape: str) -> str:
    """A reshape whose attribute `shape` is written so."""
    return function(f'%0 = "adze.reshape"(%x) {{shape = {shape}}} : ({TYPE}) -> {TYPE}', END)


def constant(value: str, type_: str = "tensor<3xf32>") -> str:
    """A constant whose attribute `value` is written so."""
    return function(f'%0 = "adze.constant"() {{dtype = f32, value = {value}}} : () -> {type_}', END)


def call(callee: str, name: str = "f") -> str:
    """A function that calls `callee`."""
    line = f'%0 = "adze.call"(%x) {{callee = {callee}}} : ({TYPE}) -> {TYPE}'
    return function(line, END).replace("@f(", f"@{name}(")


BAD_TEXTS: Final[dict[str, str | bytes]] = {
    "no MLIR": "hello world",
    "NUL bytes": b"a\0b\0",
    "invalid UTF-8": b'func.func @"\xff\xfe"() { return }',
    "truncated bytecode": b"ML\xefR\x01\x02",
    "unfinished function": "func.func @f(",
    "unfinished modules": "module {" * 300,
    "unknown op": function(NEG.replace("neg", "nope"), END),
    "assembly of an op without one": function(f"%0 = adze.neg %x : {TYPE}", END),
    "op of an unknown dialect": function(NEG, NEG.replace("%0", "%1").replace("adze.neg", "foo.bar"), END),
    "op of a dialect that is not loaded": function(NEG, f"%1 = stablehlo.add %x, %x : {TYPE}", END),
    "op of arith": function(NEG, f"%1 = arith.addf %x, %x : {TYPE}", END),
    "op of arith of a wrong type": function("%0 = arith.addf %x, %x : tensor<4xi32>", END),
    "malformed linalg": function(
        "%0 = linalg.generic {indexing_maps = [], iterator_types = []}",
        f"ins(%x : {TYPE}) outs(%x : {TYPE}) {{ ^bb0(%a: f32): linalg.yield %a : f32 }} -> {TYPE}",
        END,
    ),
    "undefined value": function(f"return %y : {TYPE}"),
    "two results returned for one": function(f"return %x, %x : {TYPE}, {TYPE}"),
    "no return": function(NEG),
    "value before its definition": function(NEG.replace("%x", "%1"), NEG.replace("%0", "%1"), END),
    "function twice": function(END) * 2,
    "calls itself": call("@f"),
    "two that call each other": call("@g") + call("@f", "g"),
    "callee that does not exist": call("@nope"),
    "callee of another module": call("@a::@b"),
    "callee that is a string": call('"f"'),
    "callee without a body": f"func.func private @g({TYPE}) -> {TYPE}\n" + call("@g"),
    "func.call of nothing": function(f"%0 = func.call @nope(%x) : ({TYPE}) -> {TYPE}", END),
    "loop of functions that do not exist": function(
        f'%0 = "adze.while"(%x) {{cond = @a, body = @b}} : ({TYPE}) -> {TYPE}', END
    ),
    "string for sizes": reshape('"4"'),
    "negative size": reshape("array<i64: -4>"),
    "sizes of 32 bits": reshape("array<i32: 4>"),
    "list for sizes": reshape('[4, "a"]'),
    "sizes that do not fit": reshape("array<i64: 5>"),
    "missing attribute": function(f'%0 = "adze.reshape"(%x) : ({TYPE}) -> {TYPE}', END),
    "attribute too many": function(f'%0 = "adze.neg"(%x) {{a = 1}} : ({TYPE}) -> {TYPE}', END),
    "no operand": function(f'%0 = "adze.neg"() : () -> {TYPE}', END),
    "three operands": function(f'%0 = "adze.neg"(%x, %x, %x) : ({TYPE}, {TYPE}, {TYPE}) -> {TYPE}', END),
    "two results": function(f'%0:2 = "adze.neg"(%x) : ({TYPE}) -> ({TYPE}, {TYPE})', END),
    "no result": function(f'"adze.neg"(%x) : ({TYPE}) -> ()', END),
    "wrong result": function(f'%0 = "adze.neg"(%x) : ({TYPE}) -> tensor<5xf32>', END),
    "empty region": function(f'"adze.neg"(%x) ({{ }}) : ({TYPE}) -> ()', END),
    "successors": function(f'"adze.neg"(%x)[^bb1] : ({TYPE}) -> ()', "^bb1:", END),
    "two blocks": function(NEG, "cf.br ^bb1", "^bb1:", END),
    "vector": of_type("vector<4xf32>") + call("@f"),
    "huge size": of_type("tensor<99999999999999999999xf32>"),
    "opaque type": of_type("!foo.bar<1>") + call("@f"),
    "type that IREE does not have": of_type("!hal.bufr"),
    "constant of another length": constant("dense<[1.0, 2.0]> : tensor<3xf32>"),
    "constant of another dtype": constant("dense<1> : tensor<3xi32>", "tensor<3xi32>"),
    "constant of malformed digits": constant('dense<"0xZZ"> : tensor<3xf32>'),
    "constant of too few bytes": constant('dense<"0x00"> : tensor<3xf32>'),
    "global of another dialect": 'memref.global "private" @g : memref<4xf32>\n' + function(NEG, END),
    "module in a module": "module @a { module @b { " + function(NEG, END) + " } }",
    "function of another dialect": "llvm.func @f() { llvm.return }\n" + call("@f", "g"),
    "malformed location": function(NEG + ' loc("a":x)', END),
    "location that is not there": function(NEG + " loc(#loc7)", END),
    "wrong affine map": "#map = affine_map<(d0) -> (d1)>\n" + function(NEG, END),
    "malformed resource": '{-# dialect_resources: { builtin: { blob: "0" } } #-}\n' + function(NEG, END),
    "malformed target attribute": "module attributes {a = #hal.device.target<7>} {"
    + function(NEG, END)
    + "}",
}
ODD_TEXTS: Final[dict[str, str]] = {
    "empty": "",
    "NUL bytes alone": "\0\0",
    "deep type": of_type("tuple<" * 300 + "f32" + ">" * 300),
    "no adze": function(f"%0 = arith.addf %x, %x : {TYPE}", END),
    "no adze, unknown op": function(f'%0 = "foo.bar"(%x) : ({TYPE}) -> {TYPE}', END),
    "no adze, no function": "module { module { } }",
    "declaration": f"func.func private @f({TYPE}) -> {TYPE}",
    "only a global": f"util.global private @g : {TYPE}\n",
    "pattern": "pdl.pattern : benefit(1) { %0 = pdl.operand\n }",
    "splat of 4 TB": constant("dense<1.0> : tensor<1000000x1000000xf32>", "tensor<1000000x1000000xf32>"),
    **{
        f"argument of type {type_}": of_type(type_)
        for type_ in (
            "index", "f32", "none", "() -> ()", "memref<4xf32>", "tensor<*xf32>", "tensor<4xf80>",
            "tensor<4xi3>", "tensor<4xi128>",
            'tensor<4xf32, "sparse">', "tensor<4xindex>", "tensor<4xcomplex<i32>>",
            "tensor<4611686018427387904x4xf32>", "!hal.buffer_view", "!stream.resource<*>",
        )
    },
}  # fmt: skip


@pytest.fixture(autouse=True)
def nothing_printed(capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    """Commands write to streams of the runner: what reaches a descriptor was written by C++."""
    yield
    assert capfd.readouterr() == ("", "")


def check_refused(result: Result, codes: tuple[int, ...] = (1, 2)) -> None:
    """A command ended with an error of adze in plain words."""
    assert isinstance(result.exception, SystemExit), repr(result.exception)
    assert result.exit_code in codes, result.output
    assert result.stdout == ""
    assert result.stderr.startswith(("error: ", "Usage: "))
    assert not RAW.search(result.stderr), result.stderr


def check_refusal(error: BaseException) -> None:
    """An error is one of adze, in plain words."""
    assert isinstance(error, az.AdzeError), repr(error)
    assert not RAW.search(str(error)), str(error)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("text", BAD_TEXTS.values(), ids=BAD_TEXTS.keys())
def test_malformed_text_is_refused(adze: Adze, tmp_path: Path, text: str | bytes) -> None:
    path = tmp_path / "bad.mlir"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    check_refused(adze("opt", path, "--pass-pipeline", "inline,simplify,lower"))


@pytest.mark.parametrize("pipeline", ["inline,simplify,lower", "grad{function=f}"])
def test_malformed_text_that_nobody_verifies_is_refused_or_passes(
    adze: Adze, tmp_path: Path, pipeline: str
) -> None:
    """With `--no-verify` passes meet malformed ops: some do not look at them, the others fail in words."""
    path = tmp_path / "bad.mlir"
    for text in BAD_TEXTS.values():
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        result = adze("opt", path, "--no-verify", "--pass-pipeline", pipeline)
        if result.exit_code:
            check_refused(result)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS.keys())
def test_odd_text_is_refused_or_passes(adze: Adze, tmp_path: Path, text: str) -> None:
    path = tmp_path / "odd.mlir"
    path.write_text(text)
    for pipeline in PIPELINES:
        result = adze("opt", path, "--pass-pipeline", pipeline)
        if result.exit_code:
            check_refused(result)


@pytest.mark.parametrize(
    "pipeline",
    [",", "lower{", "lower}", "lower{target}", "lower{target=}", "lower{target=cpu:}", "lower{target=gpu9}",
     "lower{target=cpu:x86-64-v99}", "builtin.module(cse)", "func.func(canonicalize)", "nope",
     "simplify{x=1}", "grad", "grad{function=}", "grad{function=g}", "grad{function=f argnums=x}",
     "jvp{function=f argnums=9}", "batch{function=f size=-1}", "batch{function=f size=99999999999999999999}",
     "batch{function=f size=9999999999999999999}", "transpose{function=f argnums=,}", "\0",
     "lower{target=cpu:\n}"],
)  # fmt: skip
def test_bad_pipeline_is_refused(adze: Adze, tmp_path: Path, pipeline: str) -> None:
    path = tmp_path / "good.mlir"
    path.write_text(function(NEG, f"return %0 : {TYPE}"))
    check_refused(adze("opt", path, "--pass-pipeline", pipeline))


SEEDS = sorted((Path(__file__).parents[1] / "ir").rglob("*.mlir"))
TOKEN: Final = re.compile(r'"[^"\n]*"|[%@#!^]?[\w.$-]+|\s+|->|.')


def mutated(text: str, generator: random.Random) -> str:
    """`text` with tokens deleted, doubled, swapped, or replaced by others that begin alike."""
    tokens = TOKEN.findall(text)
    places = [i for i, token in enumerate(tokens) if not token.isspace()]
    for _ in range(generator.choice((1, 1, 2))):
        place, other = generator.choice(places), generator.choice(places)
        alike = [i for i in places if tokens[i][:2] == tokens[place][:2]]
        match generator.randrange(8):
            case 0:
                tokens[place] = ""
            case 1:
                tokens[place] += f" {tokens[place]}"
            case 2:
                tokens[place], tokens[other] = tokens[other], tokens[place]
            case _:
                tokens[place] = tokens[generator.choice(alike)]
    return "".join(tokens)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("first", range(0, 200, 50))
def test_mutants_of_good_text_are_refused_or_pass(first: int) -> None:
    outcomes = {"passed": 0, "refused": 0}
    for number in range(first, first + 50):
        source = SEEDS[number % len(SEEDS)].read_text()
        text = "\n".join(line for line in source.splitlines() if not line.startswith("//"))
        text = mutated(text, random.Random(number))
        try:
            module = parse_module(text)
            Verify().run(module)
            run_pipeline(module, parse_pipeline("inline,simplify,lower"))
            outcomes["passed"] += 1
        except Exception as error:
            check_refusal(error)
            outcomes["refused"] += 1
    assert min(outcomes.values()) > 0, outcomes


@pytest.mark.parametrize("kind", ["empty", "text", "cut", "flipped", "sealed text", "directory", "missing"])
def test_damaged_program_is_refused(adze: Adze, program: Path, tmp_path: Path, kind: str) -> None:
    whole = program.read_bytes()
    path = tmp_path / "damaged.vmfb"
    if kind == "directory":
        path.mkdir()
    elif kind == "sealed text":  # the checksum is right, the program is none
        save(path, Contents(b"no program" * 100, from_bytes(whole).manifest))
    elif kind != "missing":
        flipped = bytearray(whole)
        for place in range(0, len(whole), 997):
            flipped[place] ^= 0xFF
        damaged = {
            "empty": b"",
            "text": b"hello\n",
            "cut": whole[: len(whole) // 2],
            "flipped": bytes(flipped),
        }
        path.write_bytes(damaged[kind])
    if kind != "sealed text":  # what it says of itself is whole
        check_refused(adze("inspect", path))
    check_refused(adze("run", path, "--in", "x=1", "--in", "b=2"))
    with pytest.raises(az.AdzeError) as caught:
        az.load(path)(np.ones((2, 3), np.float32), np.ones(3, np.float32))
    check_refusal(caught.value)


@pytest.mark.parametrize(
    "spec",
    ["", "f32[", "f32]", "f99[2]", "f32[-1]", "f32[4611686018427387904,3]", "f32[99999999999999999999]",
     "f32[2.5]", "f32[n,]x", "f32[4]:", "tensor<4xf32>", "f32[\0]", "f32[n n]",
     "c64[9223372036854775807]", "f32[١]"],
)  # fmt: skip
def test_odd_spec_is_refused(adze: Adze, tmp_path: Path, spec: str) -> None:
    source = tmp_path / "model.py"
    source.write_text("def f(x):\n    return x + 1\n")
    check_refused(adze("build", f"{source}:f", "--in", spec, "-o", tmp_path / "f.vmfb"))


@pytest.mark.parametrize(
    "target", ["cpu:x86-64-v99", "cpu:+nope", "cpu:\0", "gpu", "vulkan:nope", "cpu:generic,cpu"]
)
def test_impossible_target_is_refused(adze: Adze, tmp_path: Path, target: str) -> None:
    source = tmp_path / "model.py"
    source.write_text("def f(x):\n    return x + 1\n")
    check_refused(adze("build", f"{source}:f", "--in", "f32[4]", "-t", target, "-o", tmp_path / "f.vmfb"))
    with pytest.raises(az.AdzeError) as caught:
        az.trace(lambda x: x + 1, az.ShapeDtype((4,))).lower(target)
    check_refusal(caught.value)


@pytest.mark.parametrize(
    "text",
    ["no MLIR", "func.func @f(", function(NEG, END), function("custom.op", END),
     of_type("!foo.bar"), function("%0 = arith.addf %x, %x : tensor<4xi32>", END), "a\0", "\0"],
)  # fmt: skip
def test_module_that_iree_refuses_is_an_error_of_adze(text: str) -> None:
    with pytest.raises(az.AdzeError) as caught:
        compile_bytecode(text.encode(), parse_target("cpu"))
    check_refusal(caught.value)


def test_flag_that_iree_does_not_have_is_an_error_of_adze() -> None:
    options = CompileOptions(extra_flags=("--no-such-flag=1",))
    with pytest.raises(az.AdzeError, match="flags refused") as caught:
        compile_bytecode(function(END).encode(), parse_target("cpu"), options)
    check_refusal(caught.value)


def vast(x: Any) -> Any:
    """An array of as many rows, columns and pages as x has elements."""
    n = x.shape[0]
    return anp.zeros((n, n, n), np.float32) + x


RUN_TIME_FAILURES: Final[dict[str, Callable[[], Any]]] = {
    "not enough memory": lambda: (
        az.trace(vast, az.ShapeDtype(("n",))).lower().compile()(np.ones(60_000, np.float32))
    ),
    "other sizes": lambda: (
        az.trace(lambda a, b: a + b, az.ShapeDtype(("n",)), az.ShapeDtype(("n",)))
        .lower()
        .compile()(np.ones(3, np.float32), np.ones(4, np.float32))
    ),
    "other dtype": lambda: (
        az.trace(lambda a: a, az.ShapeDtype((2,))).lower().compile()(np.ones(2, np.float64))
    ),
    "vast size": lambda: az.jit(lambda x: x + anp.zeros((2**62,), np.float32))(1.0),
    "reshape that does not fit": lambda: (
        az.trace(lambda a: a.reshape(2, -1), az.ShapeDtype(("n",))).lower().compile()(np.ones(3, np.float32))
    ),
}


@pytest.mark.parametrize("fail", RUN_TIME_FAILURES.values(), ids=RUN_TIME_FAILURES.keys())
def test_program_that_fails_at_run_time_raises_an_error_of_adze(fail: Callable[[], Any]) -> None:
    with pytest.raises(Exception) as caught:
        fail()
    check_refusal(caught.value)


def test_what_is_written_past_python_is_captured(capfd: pytest.CaptureFixture[str]) -> None:
    os.write(2, b"<unknown>:0: error: bad\n")
    assert RAW.search(capfd.readouterr().err)


def test_patterns_know_the_diagnostics() -> None:
    """The texts that the patterns are for, as MLIR, IREE and the bindings write them."""
    for text in (
        "<unknown>:0: error: 'func.func' op is bad",
        'loc("-":1:1): error: expected',
        "LLVM ERROR: out of memory",
        "/work/iree/runtime/src/iree/vm/invocation.c:12: INTERNAL; failed",
        "nanobind: leaked 1 instances!",
        "MLIRError: Unable to parse module assembly",
        "error: ValueError: x\n  hint: --traceback shows the whole way there",
    ):
        assert RAW.search(text), text
    assert not RAW.search("bad.mlir is not MLIR: expected '('\n  at bad.mlir:1:4")
    assert not RAW.search(json.dumps({"at": "/home/me/model.py:12"}))
