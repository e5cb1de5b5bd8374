"""`adze opt`: passes over text, in and out, with what goes wrong placed in the user's file."""

import json
import re
from pathlib import Path

import pytest

from adze.passes.pipeline import LOWER, PIPELINE

from .conftest import Adze

MODULE = """\
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "adze.neg"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "adze.neg"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "adze.add"(%0, %1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
"""


@pytest.fixture
def module(tmp_path: Path) -> Path:
    path = tmp_path / "f.mlir"
    path.write_text(MODULE)
    return path


def test_passes_run_in_order_and_the_result_is_printed(adze: Adze, module: Path) -> None:
    result = adze("opt", module, "--pass-pipeline", "simplify")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.count('"adze.neg"') == 1
    assert result.stderr == ""


def test_module_is_read_from_standard_input_and_written_to_a_file(adze: Adze, tmp_path: Path) -> None:
    output = tmp_path / "out.mlir"
    result = adze("opt", "-", "--pass-pipeline", "simplify", "-o", output, stdin=MODULE)
    assert result.exit_code == 0, result.stderr
    assert result.stdout == ""
    assert adze("opt", output).stdout == output.read_text()


def test_lowering_for_a_target_leaves_no_adze(adze: Adze, module: Path) -> None:
    result = adze("opt", module, "--pass-pipeline", "simplify,lower{target=cpu:x86-64-v3}")
    assert result.exit_code == 0, result.stderr
    assert '"adze.' not in result.stdout
    assert "linalg.generic" in result.stdout
    assert 'adze.target = "cpu:x86-64-v3"' in result.stdout


def test_result_of_a_run_is_input_of_the_next(adze: Adze, module: Path) -> None:
    lowered = adze("opt", module, "--pass-pipeline", "lower")
    result = adze("opt", "-", "--pass-pipeline", "canonicalize,cse", stdin=lowered.stdout)
    assert result.exit_code == 0, result.stderr
    assert "linalg.generic" in result.stdout


def test_module_is_printed_after_the_passes_asked_for(adze: Adze, module: Path) -> None:
    pipeline = ["opt", module, "--pass-pipeline", "simplify,lower", "--print-after"]
    one = adze(*pipeline, "simplify").stderr
    assert one.count("// after ") == 1
    assert one.startswith("// after simplify, ")
    last = adze(*pipeline, "lower").stderr
    assert last.startswith(f"// after {PIPELINE[-1].name}, ") and last.count("// after ") == 1
    every = adze(*pipeline, "all").stderr
    assert re.findall("^// after (.*), ", every, re.MULTILINE) == ["simplify", *(p.name for p in LOWER)]
    assert "adze.neg" in every.split("// after convert")[0]
    assert "linalg.generic" in every.split("// after convert")[1]


def test_pipeline_of_jit_starts_and_stops_after_any_pass(adze: Adze, module: Path, tmp_path: Path) -> None:
    whole = adze("opt", module, "--pass-pipeline", "optimize,lower").stdout
    names = [step.name for step in PIPELINE]
    assert adze("opt", module, "--stop-after", names[-1]).stdout == whole
    for name in names[:-1]:
        part = tmp_path / f"{name}.mlir"
        stopped = adze("opt", module, "--stop-after", name, "-o", part, "--json")
        assert [p["pass"] for p in json.loads(stopped.stdout)["passes"]] == names[: names.index(name) + 1]
        assert adze("opt", part, "--start-after", name).stdout == whole
    one = adze("opt", part, "--start-after", names[2], "--stop-after", names[3], "--json", "--no-verify")
    assert [p["pass"] for p in json.loads(one.stdout)["passes"]] == [names[3]]


@pytest.mark.parametrize("option", ["--start-after", "--stop-after"])
def test_start_or_stop_after_a_pass_that_does_not_run_is_bad_usage(
    adze: Adze, module: Path, option: str
) -> None:
    result = adze("opt", module, "--pass-pipeline", "inline,simplify", option, "lower")
    assert result.exit_code == 2
    assert (
        result.stderr
        == f"error: {option}: the pipeline has no pass 'lower'\n  hint: write inline, simplify\n"
    )


def test_print_after_a_pass_that_does_not_run_is_bad_usage(adze: Adze, module: Path) -> None:
    result = adze("opt", module, "--pass-pipeline", "simplify", "--print-after", "lower")
    assert result.exit_code == 2
    assert result.stderr == (
        "error: --print-after: the pipeline has no pass 'lower'\n  hint: write all, simplify\n"
    )


def test_json_has_passes_with_times_and_the_module(adze: Adze, module: Path) -> None:
    report = json.loads(adze("opt", module, "--pass-pipeline", "simplify,verify", "--json").stdout)
    assert [entry["pass"] for entry in report["passes"]] == ["simplify", "verify"]
    assert all(entry["seconds"] > 0 for entry in report["passes"])
    assert report["module"].count('"adze.neg"') == 1


def test_passes_are_listed_with_options(adze: Adze) -> None:
    listed = json.loads(adze("opt", "--list-passes", "--json").stdout)
    options = {entry["name"]: entry["options"] for entry in listed}
    assert {"verify", "simplify", "lower", "canonicalize", "cse"} <= options.keys()
    assert options["lower"] == {"target": "cpu", "kernels": "on"}
    assert all(entry["description"] for entry in listed)
    descriptions = {entry["name"]: entry["description"] for entry in listed}
    assert descriptions["lower"] == f"A group, the same as {','.join(step.name for step in LOWER)}."
    assert [entry["name"] for entry in listed][: len(PIPELINE)] == [step.name for step in PIPELINE]
    text = adze("opt", "--list-passes").stdout
    assert "\nlower{target=cpu kernels=on}  " in text and "\nplan{target=cpu}  " in text


def test_malformed_adze_is_refused_at_the_start(adze: Adze) -> None:
    text = MODULE.replace('"adze.neg"(%x)', '"adze.negate"(%x)', 1)
    result = adze("opt", "-", stdin=text)
    assert result.exit_code == 1
    assert result.stderr.startswith("error: in @f: ")
    assert "adze.negate" in result.stderr
    assert adze("opt", "-", "--no-verify", stdin=text).exit_code == 0


def test_mistakes_of_ops_are_placed_in_the_file(adze: Adze, tmp_path: Path) -> None:
    path = tmp_path / "sine.mlir"
    path.write_text(
        "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
        '  %0 = "adze.sin"(%x) : (tensor<4xf32>) -> tensor<4xf32>\n'
        "  return %0 : tensor<4xf32>\n}\n"
    )
    refused = adze("opt", path, "--pass-pipeline", "transpose{function=f}")
    assert refused.exit_code == 1
    assert refused.stderr == (
        f"error: 'sin' cannot be transposed: it is not linear in its operands\n  at {path}:2\n"
    )
    unknown = adze("opt", "-", stdin=path.read_text().replace("sin", "no_such"))
    assert unknown.stderr.endswith("there is no op 'adze.no_such' in the adze dialect\n  at <stdin>:2\n")
    assert f'"{path}":2:8' in adze("opt", path, "--locations").stdout


def test_text_that_is_not_mlir_is_placed(adze: Adze, tmp_path: Path) -> None:
    path = tmp_path / "broken.mlir"
    path.write_text(MODULE.replace("tensor<4xf32>) -> tensor<4xf32> {", "tensor<4xf32) {"))
    result = adze("opt", path)
    assert result.exit_code == 1
    assert result.stderr == (f"error: {path} is not MLIR: expected '>' in tensor type\n  at {path}:1:30\n")
    piped = adze("opt", "-", stdin=path.read_text())
    assert piped.stderr.endswith("\n  at <stdin>:1:30\n")


@pytest.mark.parametrize(
    ("pipeline", "message"),
    [
        ("simplfy", "there is no pass 'simplfy'"),
        ("lower{tarket=cpu}", "pass 'lower' has no option 'tarket=cpu'"),
        (
            "lower{target=gpu}",
            "unknown target 'gpu': expected cpu, vulkan, cuda or rocm, each optionally with a detail after a "
            "colon, or metal",
        ),
        ("lower{target=cpu:}", "target 'cpu:' ends with a colon: expected a detail after it"),
        ("simplify lower", "cannot read pass pipeline 'simplify lower' at 'simplify lower'"),
    ],
)
def test_wrong_pipeline_is_bad_usage(adze: Adze, module: Path, pipeline: str, message: str) -> None:
    result = adze("opt", module, "--pass-pipeline", pipeline)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: --pass-pipeline: {message}\n  hint: ")


def test_file_that_is_no_text_is_bad_usage(adze: Adze, tmp_path: Path) -> None:
    path = tmp_path / "module.mlirbc"
    path.write_bytes(b"ML\xefR\x06")
    result = adze("opt", path)
    assert result.exit_code == 2
    assert result.stderr == f"error: {str(path)!r} is not a text in UTF-8\n"


def test_file_that_cannot_be_read_is_bad_usage(adze: Adze) -> None:
    result = adze("opt", "/proc/self/mem")
    assert result.exit_code == 2
    assert result.stderr == "error: cannot read '/proc/self/mem': Input/output error\n"


def test_missing_file_is_bad_usage(adze: Adze) -> None:
    result = adze("opt", "no_such.mlir")
    assert result.exit_code == 2
    assert result.stderr == "error: there is no file 'no_such.mlir'\n"
    assert adze("opt").stderr == (
        "error: no FILE.mlir was given\n  hint: adze opt --list-passes needs none\n"
    )


@pytest.mark.parametrize("size", ["x", "-1", "1.5", "\u00b2", "9" * 5000])
def test_size_that_is_no_number_is_bad_usage(adze: Adze, module: Path, size: str) -> None:
    result = adze("opt", module, "--pass-pipeline", f"batch{{function=f size={size}}}")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: --pass-pipeline: size ")


@pytest.mark.parametrize("size", [2**62, 2**63 - 1, 2**63])
def test_size_that_is_too_large_is_an_error(adze: Adze, module: Path, size: int) -> None:
    result = adze("opt", module, "--pass-pipeline", f"batch{{function=f size={size}}}")
    assert result.exit_code == 1
    assert "is not possible: it would have" in result.stderr
