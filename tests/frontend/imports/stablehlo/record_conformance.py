"""Records inputs and outputs of the interpreter tests of openxla/stablehlo as data of our own.

`python -m tests.frontend.imports.stablehlo.record_conformance <clone of openxla/stablehlo>` reads
`stablehlo/tests/interpret/*.mlir` at HEAD and writes `conformance/programs.mlir` (each op applied to
arguments) and `conformance/values.npz` (the arguments, and the results that the specification demands).
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np

from adze.dialects import mlir
from adze.dialects.types import TensorType
from adze.frontend.imports.stablehlo.attributes import type_of
from adze.frontend.imports.stablehlo.program import StableHLOError

FOLDER = Path(__file__).parent / "conformance"
TESTS = "stablehlo/tests/interpret/"
ELSEWHERE = (
    "api_input_arguments",
    "check",
    "infeed",
    "outfeed",
    "printing",
    "probe",
    "send_recv",
    "quantized_ops",
)

_TYPE = r"(tensor<(?:[^<>]|<[^<>]*>)*>)"
_CONSTANT = re.compile(
    rf"^ *(%[\w]+) = stablehlo\.constant\s+(?:\{{[^}}]*\}}\s*)?(dense<.*?>)\s*:\s*{_TYPE}\s*$",
    re.MULTILINE | re.DOTALL,
)
_WITH_CONST = re.compile(
    rf"check\.expect_(?:almost_)?eq_const\s+(%[\w#]+),\s*(dense<.*?>)\s*:\s*{_TYPE}", re.DOTALL
)
_CLOSE = re.compile(
    rf"check\.expect_(?:almost_)?(?:eq|close)\s+(%[\w#]+),\s*(%[\w#]+)[^:]*:\s*{_TYPE}(?:,\s*{_TYPE})?",
    re.DOTALL,
)


def _files(clone: str) -> dict[str, str]:
    def git(*words: str) -> str:
        return subprocess.run(["git", "-C", clone, *words], check=True, capture_output=True, text=True).stdout

    names = [
        n for n in git("ls-tree", "-r", "--name-only", "HEAD", TESTS).splitlines() if n.endswith(".mlir")
    ]
    return {n.removeprefix(TESTS).removesuffix(".mlir"): git("show", f"HEAD:{n}") for n in names}


def _elements(dense: str, type_: str) -> np.ndarray | None:
    """The array that a constant of this text is."""
    from adze.frontend.imports.stablehlo.attributes import _elements as elements

    text = f"func.func @f() {{ %0 = stablehlo.constant {dense} : {type_}\n func.return }}"
    module = mlir.ir.Module.parse(text, mlir.new_context())
    operation = module.body.operations[0].regions[0].blocks[0].operations[0].operation
    try:
        return elements(operation, "here")
    except StableHLOError:
        return None


def _converted(chunk: str, name: str) -> tuple[str, list[np.ndarray], list[np.ndarray]] | str:
    """A function of arguments, the arguments and the results; or why there is none."""
    text = re.sub(r"^\s*//.*$", "", chunk, flags=re.MULTILINE)
    found = re.search(
        r"func\.func (?:public )?@(\w+)\(\) *(?:->[^{]*)?\{\n(.*)\n\s*(?:func\.)?return[^\n]*\n\s*\}",
        text,
        re.DOTALL,
    )
    if text.count("func.func") != 1 or not found:
        return "several functions, or arguments"
    body = found[2]
    expected: list[tuple[str, str, np.ndarray]] = []
    constants: dict[str, tuple[np.ndarray, str]] = {}
    try:
        for value, dense, type_ in _CONSTANT.findall(body):
            array = _elements(dense, type_)
            if array is None:
                return f"a type that adze lacks: {type_}"
            constants[value] = (array, type_)
        for value, dense, type_ in _WITH_CONST.findall(body):
            array = _elements(dense, type_)
            if array is None:
                return f"a type that adze lacks: {type_}"
            expected.append((value, type_, array))
    except mlir.ir.MLIRError as error:
        return f"not parsed: {str(error)[:80]}"
    rest = _CLOSE.sub("", _WITH_CONST.sub("", body))
    for left, right, type_, _ in _CLOSE.findall(body):
        if right in constants and left not in constants:
            left, right = right, left
        if left not in constants:
            return "compares two results"
        expected.append((right, type_, constants[left][0]))
    rest = _CONSTANT.sub("", rest)
    if "check." in rest or "stablehlo.constant" in rest.split("({")[0] or not expected:
        return "checks of another kind"
    used = {v: c for v, c in constants.items() if re.search(rf"{re.escape(v)}\b", rest)}
    pairs = [e for e in expected if e[0] not in constants]
    if not pairs:  # what is tested is the constant itself
        return _constants_alone(body, name, expected)
    arguments = ", ".join(f"{v}: {t}" for v, (_, t) in used.items())
    results = ", ".join(t for _, t, _ in pairs)
    body = "\n".join(line.strip() for line in rest.splitlines() if line.strip())
    returned = f"func.return {', '.join(v for v, _, _ in pairs)} : {results}"
    program = f"func.func @{name}({arguments}) -> ({results}) {{\n{body}\n{returned}\n}}"
    return program, [array for array, _ in used.values()], [array for _, _, array in pairs]


def _constants_alone(
    body: str, name: str, expected: list[tuple[str, str, np.ndarray]]
) -> tuple[str, list[np.ndarray], list[np.ndarray]]:
    types = ", ".join(t for _, t, _ in expected)
    lines = [f"{v} = stablehlo.constant {dense} : {t}" for v, dense, t in _CONSTANT.findall(body)]
    returned = f"func.return {', '.join(v for v, _, _ in expected)} : {types}"
    text = "\n".join([f"func.func @{name}() -> ({types}) {{", *lines, returned, "}"])
    return text, [], [array for _, _, array in expected]


def record(clone: str) -> None:
    """Write both files."""
    FOLDER.mkdir(exist_ok=True)
    texts: list[str] = []
    values: dict[str, np.ndarray] = {}
    for family, text in _files(clone).items():
        for number, chunk in enumerate(text.split("// -----")):
            if family in ELSEWHERE or "mesh" in chunk:
                continue
            name = f"{family.replace('/', '_')}_{number}"
            converted = _converted(chunk, name)
            if isinstance(converted, str):
                print(f"{name}: {converted}")
                continue
            program, arguments, results = converted
            texts.append(program)
            for kind, arrays in (("in", arguments), ("out", results)):
                for i, array in enumerate(arrays):
                    bits = np.array(array, order="C")
                    values[f"{name}.{kind}.{i}"] = (
                        bits.view(np.uint16) if bits.dtype.name == "bfloat16" else bits
                    )
    (FOLDER / "programs.mlir").write_text("\n// -----\n".join(texts) + "\n")
    np.savez_compressed(FOLDER / "values.npz", **values)
    print(len(texts), "programs")


if __name__ == "__main__":
    assert TensorType and type_of
    record(sys.argv[1])
