"""`FILE.py:FUNC`: the function is found, and a wrong name says what there is."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from adze.cli.reporting import BadUsage
from adze.cli.source import load_function
from adze.dialects.errors import AdzeError

MODEL = """\
import dataclasses
import helper_beside_the_model

weight = 3.0

@dataclasses.dataclass
class Model:
    scale: float

    def predict(self, x):
        return x * self.scale

model = Model(2.0)

def predict(x):
    return helper_beside_the_model.double(x)

def _private(x):
    return x
"""


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(sys, "path", list(sys.path))
    modules = dict(sys.modules)
    (tmp_path / "helper_beside_the_model.py").write_text("def double(x):\n    return 2 * x\n")
    path = tmp_path / "a_model_of_the_tests.py"
    path.write_text(MODEL)
    yield path
    for name in set(sys.modules) - set(modules):
        del sys.modules[name]


def test_function_may_use_modules_beside_its_file(model: Path) -> None:
    assert load_function(f"{model}:predict")(4) == 8


def test_function_may_be_a_method_of_an_object_in_the_file(model: Path) -> None:
    assert load_function(f"{model}:model.predict")(4) == 8.0


def test_file_named_like_a_loaded_module_does_not_replace_it(tmp_path: Path, model: Path) -> None:
    path = tmp_path / "pathlib.py"
    path.write_text("def answer():\n    return 42\n")
    before = sys.modules["pathlib"]
    assert load_function(f"{path}:answer")() == 42
    assert sys.modules["pathlib"] is before


@pytest.mark.parametrize("text", ["model.py", "model.py:", ":predict", ""])
def test_text_that_names_no_function_is_bad_usage(text: str) -> None:
    with pytest.raises(BadUsage) as caught:
        load_function(text)
    assert str(caught.value) == (
        f"{text!r} does not name a function: expected a file, a colon and a function, "
        "such as model.py:predict, or the file of a model, such as model.onnx"
    )


def test_what_the_file_prints_is_not_the_result_of_the_command(
    tmp_path: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "talkative_model_of_the_tests.py"
    path.write_text("print('hello')\ndef f(x):\n    return x\n")
    load_function(f"{path}:f")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "hello\n")


def test_file_that_ends_python_is_an_error(tmp_path: Path, model: Path) -> None:
    path = tmp_path / "script_of_the_tests.py"
    path.write_text("import sys\nsys.exit(3)\n")
    with pytest.raises(AdzeError) as caught:
        load_function(f"{path}:f")
    assert str(caught.value) == (
        f"the code ended Python with exit code 3 while {path} was imported\n  at {path}:2\n"
        '  hint: put what only a script does under `if __name__ == "__main__":`'
    )


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("sys.exit(0)", "the code ended Python with exit code 0 while "),
        ("sys.exit()", "the code ended Python with exit code 0 while "),
        ("sys.exit('enough')", "the code ended Python with exit code enough while "),
        ("raise typer.Exit(0)", "the code ended Python with exit code 0 while "),
        ("raise typer.Abort", "the code ended Python with exit code 1 while "),
        ("raise GeneratorExit", "GeneratorExit was raised while "),
        ("raise BrokenPipeError('no reader')", "BrokenPipeError: no reader was raised while "),
    ],
)
def test_every_way_to_end_python_is_an_error(
    tmp_path: Path, model: Path, statement: str, message: str
) -> None:
    path = tmp_path / "ending_of_the_tests.py"
    path.write_text(f"import sys\nimport typer\n{statement}\n")
    with pytest.raises(AdzeError) as caught:
        load_function(f"{path}:f")
    assert caught.value.message == f"{message}{path} was imported"
    assert caught.value.where == f"{path}:3"


def test_interrupt_of_the_user_passes(tmp_path: Path, model: Path) -> None:
    path = tmp_path / "interrupted_of_the_tests.py"
    path.write_text("raise KeyboardInterrupt\n")
    with pytest.raises(KeyboardInterrupt):
        load_function(f"{path}:f")


def test_source_with_a_zero_byte_is_an_error_of_the_file(tmp_path: Path, model: Path) -> None:
    path = tmp_path / "zero_of_the_tests.py"
    path.write_bytes(b"def f(x):\0\n    return x\n")
    with pytest.raises(AdzeError) as caught:
        load_function(f"{path}:f")
    assert caught.value.message == f"{path} is no Python source: source code string cannot contain null bytes"


def test_missing_file_is_named() -> None:
    with pytest.raises(BadUsage) as caught:
        load_function("no_such_file.py:predict")
    assert str(caught.value) == "there is no file 'no_such_file.py'"


def test_missing_function_lists_the_public_ones(model: Path) -> None:
    with pytest.raises(BadUsage) as caught:
        load_function(f"{model}:predcit")
    assert str(caught.value) == f"{model} has no function 'predcit': it defines Model, predict"


def test_value_that_is_not_a_function_is_named(model: Path) -> None:
    with pytest.raises(BadUsage) as caught:
        load_function(f"{model}:weight")
    assert str(caught.value) == f"'weight' in {model} is of type float, not a function"


def test_file_of_another_language_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.mlir"
    path.write_text("module {}")
    with pytest.raises(BadUsage) as caught:
        load_function(f"{path}:predict")
    assert str(caught.value) == f"{path} is not a Python file"
