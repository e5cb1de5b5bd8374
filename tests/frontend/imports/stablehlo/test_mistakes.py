"""What is no StableHLO, or not adze's: an error with the op and its place, never a crash."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import pytest

import adze
from adze.imports import StableHLOError

from .jax_programs import FOLDER


def module(body: str, arguments: str = "%x: tensor<3xf32>", results: str = "tensor<3xf32>") -> str:
    return f"func.func @main({arguments}) -> {results} {{\n{body}\n}}"


TEXTS = {
    "no MLIR": ("func.func @main(", "is not StableHLO: expected"),
    "an unknown op": (
        module('%0 = "foo.bar"(%x) : (tensor<3xf32>) -> tensor<3xf32>\nreturn %0 : tensor<3xf32>'),
        r"foo.bar: this is no op of StableHLO\n  at <text>:2:6",
    ),
    "an op that StableHLO has not": (
        module("%0 = stablehlo.sinus %x : tensor<3xf32>\nreturn %0 : tensor<3xf32>"),
        "is not StableHLO: ",
    ),
    "a wrong arity": (
        module('%0 = "stablehlo.add"(%x) : (tensor<3xf32>) -> tensor<3xf32>\nreturn %0 : tensor<3xf32>'),
        r"expected 2 operands, but found 1\n  at <text>:2",
    ),
    "a wrong shape": (
        module("%0 = stablehlo.reshape %x : (tensor<3xf32>) -> tensor<4xf32>\nreturn %x : tensor<3xf32>"),
        "number of output elements",
    ),
    "quantized": (
        module(
            "return %q : tensor<2x!quant.uniform<i8:f32, 0.1>>",
            "%q: tensor<2x!quant.uniform<i8:f32, 0.1>>",
            "tensor<2x!quant.uniform<i8:f32, 0.1>>",
        ),
        "quantized arrays are not supported",
    ),
    "long floats": (
        module("return %q : tensor<2xf128>", "%q: tensor<2xf128>", "tensor<2xf128>"),
        "arrays of f128 are not supported",
    ),
    "the host": (
        module(
            "%t = stablehlo.create_token : !stablehlo.token\n"
            '%0:2 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> (tensor<3xf32>, !stablehlo.token)\n'
            "return %0#0 : tensor<3xf32>"
        ),
        r"stablehlo.infeed: a program that exchanges data with its host.*\n  at <text>:3",
    ),
    "unranked": (module("return %q : tensor<*xf32>", "%q: tensor<*xf32>", "tensor<*xf32>"), "unknown rank"),
    "a huge array": (
        module(
            "return %q : tensor<9223372036854775807x9xf64>",
            "%q: tensor<9223372036854775807x9xf64>",
            "tensor<9223372036854775807x9xf64>",
        ),
        "is not possible",
    ),
    "recursion": (
        module("%0 = call @main(%x) : (tensor<3xf32>) -> tensor<3xf32>\nreturn %0 : tensor<3xf32>"),
        "the function @main calls itself",
    ),
    "nesting": ("(" * 100_000 + "\n", "nested more than 200 levels deep"),
    "elided elements": (
        module(
            "%0 = stablehlo.constant dense_resource<__elided__> : tensor<3xf32>\nreturn %0 : tensor<3xf32>"
        ),
        "cannot read the constant",
    ),
    "no main": ("func.func private @f() { return }", "no function @main"),
    "empty": ("\n", "no function @main"),
    "an axis that would be allocated": (
        "func.func @main() {\n// [b, f, 0]x[o, i, 0]->[b, f, 9223372036854775807]\nreturn\n}",
        r"9223372036854775807\] name an axis that no array has\n  at <text>:2",
    ),
    "several devices of Shardy": (
        module(
            '%0 = sdy.all_reduce {"x"} %x out_sharding=<@mesh, [{}]> : tensor<3xf32>\n'
            "return %0 : tensor<3xf32>"
        ),
        "sdy.all_reduce: a program that is divided",
    ),
}


@pytest.mark.parametrize("case", TEXTS)
def test_texts_that_cannot_be_imported(case: str) -> None:
    text, message = TEXTS[case]
    with pytest.raises((StableHLOError, adze.AdzeError), match=message):
        adze.from_stablehlo(text)


def test_custom_calls_that_are_unknown() -> None:
    call = "%0 = stablehlo.custom_call @{}(%x) : (tensor<3xf32>) -> tensor<3xf32>\nreturn %0 : tensor<3xf32>"
    x = np.zeros(3, np.float32)
    with pytest.raises(StableHLOError, match=r"custom_call: nothing is known of @magic\n  at <text>:2:6"):
        adze.from_stablehlo(module(call.format("magic")))(x)
    with pytest.raises(StableHLOError, match="calls back into the Python"):
        adze.from_stablehlo(module(call.format("xla_ffi_python_cpu_callback")))(x)


def test_the_smallest_elements_are_refused() -> None:
    text = module(
        "%0:2 = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 2 : i64, largest = false}} : "
        "(tensor<3xf32>) -> (tensor<2xf32>, tensor<2xi32>)\nreturn %0#0 : tensor<2xf32>",
        results="tensor<2xf32>",
    )
    with pytest.raises(StableHLOError, match="the smallest elements are not supported"):
        adze.from_stablehlo(text)(np.zeros(3, np.float32))


def test_comparators_and_counters_that_only_look_like_known_ones() -> None:
    """A comparator that takes 5 for 100 and NaN for -inf; a counter whose step is no constant."""
    key = """%z{0} = stablehlo.compare EQ, %{0}, %five : (tensor<f32>, tensor<f32>) -> tensor<i1>
%s{0} = stablehlo.select %z{0}, %hundred, %{0} : tensor<i1>, tensor<f32>
%n{0} = stablehlo.compare NE, %{0}, %{0} : (tensor<f32>, tensor<f32>) -> tensor<i1>
%k{0} = stablehlo.select %n{0}, %least, %s{0} : tensor<i1>, tensor<f32>"""
    text = module(
        '%0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({\n'
        "^bb0(%a: tensor<f32>, %b: tensor<f32>):\n%five = stablehlo.constant dense<5.0> : tensor<f32>\n"
        "%hundred = stablehlo.constant dense<100.0> : tensor<f32>\n"
        f"%least = stablehlo.constant dense<0xFF800000> : tensor<f32>\n{key.format('a')}\n{key.format('b')}\n"
        "%r = stablehlo.compare LT, %ka, %kb, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
        "stablehlo.return %r : tensor<i1>\n}) : (tensor<3xf32>) -> tensor<3xf32>\n"
        "return %0 : tensor<3xf32>"
    )
    result = np.asarray(adze.from_stablehlo(text)(np.float32([7, 5, np.nan])))
    np.testing.assert_array_equal(result, np.float32([np.nan, 7, 5]))
    loop = module(
        "%z = stablehlo.constant dense<0> : tensor<i32>\n"
        "%r:2 = stablehlo.while(%i = %z, %v = %x) : tensor<i32>, tensor<3xf32>\n"
        "cond {\n%n = stablehlo.constant dense<4> : tensor<i32>\n"
        "%c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
        "stablehlo.return %c : tensor<i1>\n} do {\n%o = stablehlo.constant dense<1> : tensor<i32>\n"
        "%p:2 = stablehlo.optimization_barrier %o, %v : tensor<i32>, tensor<3xf32>\n"
        "%j = stablehlo.add %i, %p#0 : tensor<i32>\n%w = stablehlo.add %v, %p#1 : tensor<3xf32>\n"
        "stablehlo.return %j, %w : tensor<i32>, tensor<3xf32>\n}\nreturn %r#1 : tensor<3xf32>"
    )
    assert np.asarray(adze.from_stablehlo(loop)(np.ones(3, np.float32))).tolist() == [16] * 3


def test_statistics_of_many_halves() -> None:
    """More elements than a half counts to."""
    x, c = "tensor<70000x1xf16>", "tensor<1xf16>"
    text = module(
        f'%s = stablehlo.constant dense<1.0> : {c}\n%o:3 = "stablehlo.batch_norm_training"(%x, %s, %s) '
        f"<{{epsilon = 0.001 : f32, feature_index = 1 : i64}}> : ({x}, {c}, {c}) -> ({x}, {c}, {c})\n"
        f"return %o#1 : {c}",
        f"%x: {x}",
        c,
    )
    assert float(np.asarray(adze.from_stablehlo(text)(np.full((70000, 1), 0.5, np.float16)))[0]) == 0.5


def test_calls_that_double_at_each_level_are_refused() -> None:
    """Two to the thirtieth ops from thirty lines."""
    lines = ["func.func private @f0(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }"]
    for i in range(1, 31):
        call = f"func.call @f{i - 1}"
        lines.append(
            f"func.func {'private ' if i < 30 else ''}@f{i}(%x: tensor<f32>) -> tensor<f32> {{\n"
            f"%0 = {call}(%x) : (tensor<f32>) -> tensor<f32>\n"
            f"%1 = {call}(%0) : (tensor<f32>) -> tensor<f32>\n"
            "return %1 : tensor<f32>\n}"
        )
    with pytest.raises(StableHLOError, match="more than 2000000 ops"):
        adze.from_stablehlo("\n".join(lines))


def test_files(tmp_path: Path) -> None:
    with pytest.raises(StableHLOError, match=r"cannot read the StableHLO file .*No such file"):
        adze.from_stablehlo(tmp_path / "missing.mlir")
    with pytest.raises(StableHLOError, match="cannot read the StableHLO file"):
        adze.from_stablehlo("missing.mlir")
    for content, message in (
        (b"ML\xefR\rStableHLO_v1.15.0\0", r"bytecode that MLIR cannot read(.|\n)*mlir_module\(\)"),
        (b"\xff\xfe", "is no text: byte 0"),
        (b"a\0b", "holds a zero byte"),
        (b"", "no function @main"),
    ):
        path = tmp_path / "x.mlir"
        path.write_bytes(content)
        with pytest.raises(StableHLOError, match=message):
            adze.from_stablehlo(path)


def test_damaged_texts_are_errors() -> None:
    """A program cut off at many places, and with one character replaced."""
    text = (FOLDER / "indexed.mlir").read_text()
    for cut in range(1, 8):
        place = len(text) * cut // 8
        with pytest.raises(adze.AdzeError):
            adze.from_stablehlo(text[:place] + "\n")
        with contextlib.suppress(adze.AdzeError):
            adze.from_stablehlo(text[:place] + "7" + text[place + 1 :])


def test_arguments_of_other_types() -> None:
    f = adze.from_stablehlo(module("return %x : tensor<3xf32>"))
    with pytest.raises(adze.imports.ModelError, match=r"argument 'arg0' is f64\[3\], expected f32\[3\]"):
        f(np.zeros(3))
    with pytest.raises(adze.imports.ModelError, match=r"argument 'arg0' is f32\[2\], expected f32\[3\]"):
        f(np.zeros(2, np.float32))
    with pytest.raises(adze.imports.ModelError, match=r"missing a required argument: 'arg0'"):
        f()
    assert str(f) == "main(arg0: f32[3]) -> (f32[3])"


def test_what_goes_wrong_within_names_the_op() -> None:
    text = module(
        "%0 = stablehlo.dynamic_reshape %x, %s : (tensor<6xf32>, tensor<2xi32>) -> tensor<?x?xf32>\n"
        "return %0 : tensor<?x?xf32>",
        "%x: tensor<6xf32>, %s: tensor<2xi32>",
        "tensor<?x?xf32>",
    )
    f = adze.from_stablehlo(text)
    assert f(np.zeros(6, np.float32), np.array([2, 3], np.int32)).shape == (2, 3)
    with pytest.raises(StableHLOError, match="a shape depends on it\n  at <text>:2:6"):
        adze.trace(f, *f.specs)
