"""`adze build` and `adze ir`: a function in a file becomes a program, or an error in the user's terms."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from adze.cli.default_dtypes import NAMES
from adze.frontend.tracing import default_dtypes

from .conftest import Adze

MODEL = """\
import numpy as np

weights = np.arange(6, dtype=np.float32).reshape(3, 2)

def predict(x, scale=2.0):
    return {"y": (x @ weights) * scale, "positive": x > 0}

def affine(params, x):
    return params["w"] * x + params["b"]

def add(x, y):
    return x + y

def choose(x):
    if x.sum() > 0:
        return x
    return -x

def text(x):
    return "a text"

def fail(x):
    raise ValueError("not today")
"""
ADD_LINE = MODEL.split("\n").index("    return x + y") + 1
CHOOSE_LINE = MODEL.split("\n").index("    if x.sum() > 0:") + 1
FAIL_LINE = MODEL.split("\n").index('    raise ValueError("not today")') + 1


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    loaded = set(sys.modules)
    path = Path("model_of_the_build_tests.py")
    path.write_text(MODEL)
    yield path
    for name in set(sys.modules) - loaded:
        if name.startswith(path.stem):
            del sys.modules[name]


def test_built_program_computes_what_the_function_does(adze: Adze, model: Path) -> None:
    built = adze("build", f"{model}:predict", "--in", "f32[n,3]", "-o", "predict.vmfb")
    assert built.exit_code == 0, built.stderr
    signature, line = built.stdout.splitlines()
    assert signature.startswith("predict(x: f32[n,3]) -> (")
    assert line.startswith("predict.vmfb: ")

    x = np.array([[1, -2, 3], [0, 0, 1]], np.float32)
    np.save("x.npy", x)
    result = adze("run", "predict.vmfb", "--in", "x.npy", "--json")
    assert result.exit_code == 0, result.stderr
    values = {entry["name"]: entry["values"] for entry in json.loads(result.stdout)["outputs"]}
    weights = np.arange(6, dtype=np.float32).reshape(3, 2)
    assert values["result['y']"] == ((x @ weights) * 2).tolist()
    assert values["result['positive']"] == (x > 0).tolist()


def test_tree_of_inputs_is_given_as_one_or_leaf_by_leaf(adze: Adze, model: Path) -> None:
    whole = ["--in", "{w: f32[3], b: f32[]}", "--in", "f32[3]"]
    leaves = ["--in", "x=f32[3]", "--in", "params.b=f32[]", "--in", "params.w=f32[3]"]
    for name, inputs in (("whole.vmfb", whole), ("leaves.vmfb", leaves)):
        built = adze("build", f"{model}:affine", *inputs, "-t", "cpu:x86-64-v3", "-o", name)
        assert built.exit_code == 0, built.stderr
    assert Path("whole.vmfb").read_bytes() == Path("leaves.vmfb").read_bytes()

    inputs = ["--in", "x=[1, 2, 3]", "--in", "params.b=10", "--in", "params['w']=[1, 0, -1]"]
    result = adze("run", "whole.vmfb", *inputs, "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["outputs"][0]["values"] == [11.0, 10.0, 7.0]


def test_what_the_function_prints_stays_out_of_the_report(adze: Adze, model: Path) -> None:
    Path(model).write_text("def f(x):\n    print('tracing')\n    return x\n")
    result = adze("build", f"{model}:f", "--in", "f32[4]", "-o", "f.vmfb", "--json")
    assert json.loads(result.stdout)["output"] == "f.vmfb"
    assert result.stderr == "tracing\n"


def test_json_report_names_output_target_and_cache(
    adze: Adze, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADZE_CACHE_DIR", str(tmp_path / "cache"))
    arguments = ["build", f"{model}:add", "--in", "f32[5]", "--in", "f32[5]", "-o", "add.vmfb", "--json"]
    first, second = (json.loads(adze(*arguments).stdout) for _ in range(2))
    assert first["output"] == "add.vmfb"
    assert first["target"] == "cpu"
    assert first["bytes"] == Path("add.vmfb").stat().st_size
    assert first["seconds"] > 0
    assert (first["cache_hit"], second["cache_hit"]) == (False, True)


def test_ir_is_printed_at_each_stage(adze: Adze, model: Path) -> None:
    def ir(stage: str) -> str:
        result = adze("ir", f"{model}:add", "--in", "f32[4]", "--in", "f32[4]", "--stage", stage)
        assert result.exit_code == 0, result.stderr
        text: str = result.stdout
        return text

    assert '"adze.add"(%arg0, %arg1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>' in ir("traced")
    assert "%2: f32[4] = add(%0, %1)" in ir("pretty")
    assert '"adze.add"' in ir("simplified")
    assert "arith.addf" in ir("linalg")
    assert '"adze.' not in ir("linalg")
    assert ir("simplified") == ir("drop-dead-results")
    assert ir("linalg") == ir("keep-lifetimes")
    assert 'adze.target = "cpu"' in ir("plan") and '"adze.add"' in ir("mark-barriers")


def test_float64_of_numpy_yields_where_that_is_asked_for(adze: Adze, tmp_path: Path) -> None:
    source = tmp_path / "wide.py"
    source.write_text("import numpy as np\ndef f(x):\n    return x * np.sqrt(2 / 3)\n")
    ask = ["ir", f"{source}:f", "--in", "f32[4]"]
    assert "f64" in adze(*ask).stdout
    assert "f64" in adze(*ask, "--default-dtypes", "numpy").stdout
    assert "f64" not in adze(*ask, "--default-dtypes", "float32").stdout
    built = ["build", f"{source}:f", "--in", "f32[4]", "-o", tmp_path / "wide.vmfb"]
    assert "-> (result: f32[4])" in adze(*built, "--default-dtypes=float32").stdout
    for command in (ask, built):
        message = refuse(adze, *command, "--default-dtypes", "float16", code=2)
        assert "--default-dtypes: 'float16' is no choice" in message
    assert [default_dtypes.check(name) for name in NAMES] == [None, None]


def test_ir_is_lowered_for_the_target(adze: Adze, model: Path) -> None:
    arguments = ["ir", f"{model}:add", "--in", "f32[4]", "--in", "f32[4]", "--target", "cpu:x86-64-v3"]
    for stage in ("plan", "convert", "linalg"):
        assert 'adze.target = "cpu:x86-64-v3"' in adze(*arguments, "--stage", stage).stdout


def test_printed_ir_is_input_of_opt(adze: Adze, model: Path) -> None:
    written = adze("ir", f"{model}:predict", "--in", "f32[n,3]", "-o", "predict.mlir")
    assert written.exit_code == 0, written.stderr
    assert written.stdout == ""
    result = adze("opt", "predict.mlir", "--pass-pipeline", "simplify,lower{target=cpu}")
    assert result.exit_code == 0, result.stderr


def test_ir_shows_the_lines_of_the_user(adze: Adze, model: Path) -> None:
    result = adze("ir", f"{model}:add", "--in", "f32[4]", "--in", "f32[4]", "--locations")
    assert f'{model}":{ADD_LINE}:' in result.stdout


def test_remarks_say_which_form_each_loop_gets(adze: Adze, tmp_path: Path) -> None:
    source = tmp_path / "loops.py"
    source.write_text(
        "import adze.numpy as xp\nfrom adze import lax\n\n\ndef f(x):\n"
        "    y = lax.fori_loop(0, 9, lambda i, x: xp.sort(x) * 2, x)\n"
        "    return lax.fori_loop(0, 9, lambda i, x: x.at[i].set(x[i - 1]), y)\n"
        "\n\ndef g(x):\n    return x\n"
    )
    lines = adze("ir", f"{source}:f", "--in", "f32[16]", "--remarks").stdout.splitlines()
    assert lines[0] == f"{source}:6: host: adze.sort has no form in kernels"
    assert lines[1].startswith(f"{source}:7: kernel: a step takes about ")
    assert len(lines) == 2
    assert adze("ir", f"{source}:g", "--in", "f32[16]", "--remarks").stdout == "there is no loop\n"


def test_unknown_stage_lists_the_stages(adze: Adze, model: Path) -> None:
    result = adze("ir", f"{model}:add", "--in", "f32[4]", "--in", "f32[4]", "--stage", "final")
    assert result.exit_code == 2
    message = " ".join(result.stderr.split())
    for stage in ("traced", "pretty", "simplified", "linalg", "inline", "keep-lifetimes"):
        assert f"'{stage}'" in message


def refuse(adze: Adze, *arguments: object, code: int) -> str:
    """The message of a build that must fail, without a traceback and without a file."""
    result = adze("build", *arguments, "-o", "out.vmfb")
    assert result.exit_code == code, result.stdout + result.stderr
    assert "Traceback" not in result.stderr
    assert not Path("out.vmfb").exists()
    message: str = result.stderr
    return message


def test_shapes_that_do_not_fit_are_refused(adze: Adze, model: Path) -> None:
    message = refuse(adze, f"{model}:add", "--in", "f32[4]", "--in", "f32[3]", code=1)
    assert message == (
        "error: operands could not be broadcast: f32[4] and f32[3]\n"
        f"  at {Path.cwd() / model}:{ADD_LINE}\n"
        "  hint: sizes must be equal or 1, counted from the last axis\n"
    )


def test_branch_on_a_value_names_the_line_and_the_way_out(adze: Adze, model: Path) -> None:
    message = refuse(adze, f"{model}:choose", "--in", "f32[4]", code=1)
    assert f"{model}:{CHOOSE_LINE}" in message
    assert "hint: " in message


def test_result_that_is_no_array_is_refused(adze: Adze, model: Path) -> None:
    assert refuse(adze, f"{model}:text", "--in", "f32[4]", code=1).startswith(
        "error: text returns str ('a text') at result, expected an array\n"
    )


def test_error_of_the_function_itself_names_its_line(adze: Adze, model: Path) -> None:
    assert refuse(adze, f"{model}:fail", "--in", "f32[4]", code=1) == (
        f"error: ValueError: not today\n  at {Path.cwd() / model}:{FAIL_LINE}\n"
        "  hint: --traceback shows the whole way there\n"
    )


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("sys.exit(0)", "the code ended Python with exit code 0 while {model}:f was traced\n  at {path}:3\n"),
        (
            "x + 1",
            "{model}:f returns nothing: the program would have no results\n  at {path}:2\n"
            "  hint: end the function with `return` and the arrays that it computes\n",
        ),
        (
            "y = x",
            "{model}:f returns nothing: the program would have no results\n  at {path}:2\n"
            "  hint: end the function with `return` and the arrays that it computes\n",
        ),
    ],
)
def test_function_without_a_result_builds_nothing(adze: Adze, model: Path, body: str, message: str) -> None:
    Path(model).write_text(f"import sys\ndef f(x):\n    {body}\n")
    expected = message.format(model=model, path=Path.cwd() / model)
    assert refuse(adze, f"{model}:f", "--in", "f32[n,n]", code=1) == f"error: {expected}"


def test_source_is_not_overwritten(adze: Adze, model: Path) -> None:
    before = model.read_text()
    for command in ("build", "ir"):
        result = adze(command, f"{model}:add", "--in", "f32[4]", "--in", "f32[4]", "-o", model)
        assert result.exit_code == 2
        assert result.stderr == (
            f"error: --output: {str(model)!r} is read by this command, and would be overwritten\n"
        )
    assert model.read_text() == before


@pytest.mark.parametrize(
    "spec", ["f32[4611686018427387904,3]", "f32[99999999999999999999999]", "i8[9,9]" + "[]"]
)
def test_impossible_spec_is_bad_usage(adze: Adze, model: Path, spec: str) -> None:
    message = refuse(adze, f"{model}:add", "--in", spec, "--in", "f32[3]", code=2)
    assert message.startswith("error: --in: ")


def test_syntax_error_in_the_file_is_a_message(adze: Adze, model: Path) -> None:
    Path("broken.py").write_text("def f(x:\n")
    message = refuse(adze, "broken.py:f", code=1)
    assert message.startswith("error: SyntaxError: ")
    assert "broken.py:1" in message


def test_unknown_target_lists_the_targets(adze: Adze, model: Path) -> None:
    message = refuse(adze, f"{model}:add", "--in", "f32[4]", "--in", "f32[4]", "-t", "gpu", code=2)
    assert message.startswith("error: --target: unknown target 'gpu': expected cpu, vulkan, cuda or rocm")
    assert "cpu:x86-64-v3" in message


def test_missing_argument_shows_the_signature(adze: Adze, model: Path) -> None:
    assert refuse(adze, f"{model}:add", "--in", "f32[4]", code=2) == (
        "error: --in: add(x, y) cannot be called so: missing a required argument: 'y'\n"
        "  hint: write one --in for each argument: --in 'f32[8,3]', by name --in 'x=f32[8,3]'\n"
    )


def test_output_is_checked_before_the_work(adze: Adze, model: Path) -> None:
    inputs = ["--in", "f32[4]", "--in", "f32[4]"]
    missing = adze("build", f"{model}:add", *inputs, "-o", "no/such/folder.vmfb")
    assert missing.exit_code == 2
    assert missing.stderr == "error: --output: there is no folder 'no/such'\n"
    folder = adze("build", f"{model}:add", *inputs, "-o", ".")
    assert folder.exit_code == 2
    assert folder.stderr == "error: --output: '.' is a folder, expected a file\n"
    pipe = adze("build", f"{model}:add", *inputs, "-o", "-")
    assert pipe.exit_code == 2
    assert pipe.stderr.startswith("error: --output: '-' is no file")
    device = adze("build", f"{model}:add", *inputs, "-o", "/dev/null")
    assert device.exit_code == 2
    assert device.stderr == "error: --output: '/dev/null' is no ordinary file\n"


def test_link_stays_and_the_file_behind_it_is_written(adze: Adze, model: Path) -> None:
    Path("behind.mlir").write_text("old")
    Path("link.mlir").symlink_to("behind.mlir")
    result = adze("ir", f"{model}:add", "--in", "f32[4]", "--in", "f32[4]", "-o", "link.mlir")
    assert result.exit_code == 0, result.stderr
    assert Path("link.mlir").is_symlink()
    assert "adze.add" in Path("behind.mlir").read_text()


def test_output_option_is_required(adze: Adze, model: Path) -> None:
    result = adze("build", f"{model}:add")
    assert result.exit_code == 2
    assert "--output" in result.stderr


def test_traceback_is_shown_when_asked_for(adze: Adze, model: Path) -> None:
    result = adze("build", f"{model}:fail", "--in", "f32[4]", "-o", "out.vmfb", "--traceback")
    assert result.exit_code == 1
    assert "Traceback (most recent call last)" in result.stderr
    assert 'raise ValueError("not today")' in result.stderr


def test_names_of_files_need_not_be_text(adze: Adze, model: Path) -> None:
    source, output = (Path(os.fsdecode(name)) for name in (b"n\xffame.py", b"o\xff.vmfb"))
    source.write_text(MODEL)
    result = adze("build", f"{source}:add", "--in", "f32[4]", "--in", "f32[4]", "-o", output, "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["output"] == str(output)
    assert output.is_file()


def test_what_became_of_a_program_is_told_to_machines(adze: Adze, model: Path) -> None:
    specs = "--in", "f32[4]", "--in", "f32[4]"
    good = adze("build", f"{model}:add", *specs, "-o", "add.vmfb", "--format", "junit")
    assert good.exit_code == 0, good.stderr
    assert 'name="adze build" tests="1" failures="0"' in good.stdout
    same = adze("build", f"{model}:add", *specs, "-o", "add.vmfb", "--format", "json")
    assert json.loads(same.stdout)["function"].startswith("add(")
    bad = adze("build", f"{model}:fail", "--in", "f32[4]", "-o", "x.vmfb", "--format", "github")
    assert bad.exit_code == 1
    assert bad.stdout.startswith(f"::error file={model},line={FAIL_LINE},title=adze%3A ")
    worse = adze("build", f"{model}:fail", "--in", "f32", "-o", "x.vmfb", "--format", "junit")
    assert worse.exit_code == 2 and worse.stdout == ""


def test_a_gradient_of_several_results_says_what_to_write(adze: Adze, model: Path) -> None:
    failed = adze("build", f"{model}:predict", "--in", "f32[2,3]", "--grad", "-o", "x.vmfb")
    assert failed.exit_code == 1
    assert "grad needs a function that returns one scalar, predict returns {" in failed.stderr
    assert "(--vjp), which takes a cotangent for each result" in failed.stderr
