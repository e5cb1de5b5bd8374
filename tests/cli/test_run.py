"""`adze run`: arrays from files and from the command line, results to files and to the screen."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from .conftest import Adze

X = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
B = np.array([-10, 0, 10], np.float32)
SUM = X + B
SIGNATURE = "add_row(x: f32[n,3], b: f32[3]) -> (sum: f32[n,3], positive: i1[3])"


@pytest.fixture
def x_file(tmp_path: Path) -> Path:
    np.save(tmp_path / "x.npy", X)
    return tmp_path / "x.npy"


@pytest.fixture
def b_file(tmp_path: Path) -> Path:
    np.save(tmp_path / "b.npy", B)
    return tmp_path / "b.npy"


def test_results_are_written_in_order(
    adze: Adze, program: Path, x_file: Path, b_file: Path, tmp_path: Path
) -> None:
    total, positive = tmp_path / "sum.npy", tmp_path / "positive.npy"
    result = adze("run", program, "--in", x_file, "--in", b_file, "--out", total, "--out", positive)
    assert result.exit_code == 0, result.stderr
    assert result.stdout == ""
    assert result.stderr == f"{total}: f32[2,3]\n{positive}: i1[3]\n"
    np.testing.assert_array_equal(np.load(total), SUM)
    np.testing.assert_array_equal(np.load(positive), B > 0)


def test_inputs_may_be_named_and_written_as_numbers(adze: Adze, program: Path, x_file: Path) -> None:
    result = adze("run", program, "--in", "b=[-10, 0, 10]", "--in", x_file, "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout) == {
        "function": "add_row",
        "device": "local-sync",
        "target": "cpu",
        "outputs": [
            {"name": "sum", "type": "f32[2,3]", "dtype": "float32", "shape": [2, 3], "values": SUM.tolist()},
            {
                "name": "positive",
                "type": "i1[3]",
                "dtype": "bool",
                "shape": [3],
                "values": [False, False, True],
            },
        ],
    }


def test_results_are_printed_when_no_file_is_named(adze: Adze, program: Path) -> None:
    result = adze("run", program, "--in", "[[0.5, 0, 0]]", "--in", "[1, 1, -1]")
    assert result.exit_code == 0, result.stderr
    assert result.stdout == ("sum: f32[1,3]\n[[ 1.5  1.  -1. ]]\npositive: i1[3]\n[ True  True False]\n")


def test_infinities_are_json(adze: Adze, program: Path, x_file: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "b.npy", np.array([np.inf, -np.inf, np.nan], np.float32))
    result = adze("run", program, "--in", x_file, "--in", tmp_path / "b.npy", "--json")
    assert json.loads(result.stdout)["outputs"][0]["values"] == [["inf", "-inf", "nan"]] * 2


def test_function_may_be_named(adze: Adze, program: Path, x_file: Path, b_file: Path) -> None:
    arguments = ["--in", x_file, "--in", b_file]
    assert adze("run", program, *arguments, "--function", "add_row").exit_code == 0
    result = adze("run", program, *arguments, "--function", "add_column")
    assert result.exit_code == 2
    assert result.stderr == "error: --function: the program has no function 'add_column': it has add_row\n"


def test_wrong_number_of_inputs_shows_the_signature(adze: Adze, program: Path, x_file: Path) -> None:
    result = adze("run", program, "--in", x_file)
    assert result.exit_code == 2
    assert result.stderr == (
        f"error: --in: add_row takes 2 inputs, and 1 was given\n  hint: the function is {SIGNATURE}\n"
    )


def test_unknown_input_name_shows_the_signature(adze: Adze, program: Path, x_file: Path) -> None:
    result = adze("run", program, "--in", f"y={x_file}", "--in", "[1, 2, 3]")
    assert result.exit_code == 2
    assert result.stderr == (f"error: --in: there is no input 'y'\n  hint: the function is {SIGNATURE}\n")


def test_input_given_twice_is_named(adze: Adze, program: Path, x_file: Path) -> None:
    result = adze("run", program, "--in", f"x={x_file}", "--in", f"x={x_file}")
    assert result.exit_code == 2
    assert result.stderr == "error: --in: 'x' is given twice\n"


def test_missing_input_file_says_what_is_legal(adze: Adze, program: Path, b_file: Path) -> None:
    result = adze("run", program, "--in", "no_such.npy", "--in", b_file)
    assert result.exit_code == 2
    assert result.stderr == (
        "error: --in: 'no_such.npy' for x: f32[n,3] is neither a file nor numbers\n"
        "  hint: name a file, such as x.npy, or write numbers such as 3.5 or [[1, 2], [3, 4]]\n"
    )


def test_input_file_of_another_format_is_refused(
    adze: Adze, program: Path, b_file: Path, tmp_path: Path
) -> None:
    text = tmp_path / "x.txt"
    text.write_text("1 2 3")
    result = adze("run", program, "--in", text, "--in", b_file)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: --in: {text} is not a .npy file: ")


def test_archives_have_inputs_by_name_or_are_one_array(
    adze: Adze, program: Path, x_file: Path, b_file: Path, tmp_path: Path
) -> None:
    np.savez(tmp_path / "x.npz", X)
    expected = adze("run", program, "--in", x_file, "--in", b_file).stdout
    assert adze("run", program, "--in", tmp_path / "x.npz", "--in", b_file).stdout == expected
    np.savez(tmp_path / "both.npz", b=np.load(b_file), x=X)
    assert adze("run", program, "--in", tmp_path / "both.npz").stdout == expected
    np.savez(tmp_path / "other.npz", b=np.load(b_file), z=X)
    refused = adze("run", program, "--in", tmp_path / "other.npz")
    assert refused.exit_code == 2
    assert refused.stderr == (
        f"error: --in: {tmp_path / 'other.npz'} holds an array 'z', and there is no such input\n"
        f"  hint: the inputs are x, b; one array: {tmp_path / 'other.npz'}:z\n"
    )
    one = adze("run", program, "--in", f"{tmp_path / 'other.npz'}:z", "--in", f"b={tmp_path / 'both.npz'}:b")
    assert one.stdout == expected


def test_wrong_dtype_is_named_with_the_way_out(
    adze: Adze, program: Path, b_file: Path, tmp_path: Path
) -> None:
    np.save(tmp_path / "wide.npy", X.astype(np.float64))
    result = adze("run", program, "--in", tmp_path / "wide.npy", "--in", b_file)
    assert result.exit_code == 2
    assert result.stderr == (
        f"error: --in: {tmp_path / 'wide.npy'} holds float64[2, 3] for x: f32[n,3]: "
        "a file is never converted\n"
        "  hint: write one of that dtype: np.save(file, array.astype('float32'))\n"
    )


def test_wrong_shape_is_bad_usage(adze: Adze, program: Path, b_file: Path) -> None:
    result = adze("run", program, "--in", "[[1, 2]]", "--in", b_file)
    assert result.exit_code == 2
    assert result.stderr == (
        "error: --in: add_row(): argument 'x' has size 2 along axis 1: expected 3, f32[n,3]\n"
    )


def test_wrong_number_of_result_files_is_bad_usage(
    adze: Adze, program: Path, x_file: Path, b_file: Path, tmp_path: Path
) -> None:
    result = adze("run", program, "--in", x_file, "--in", b_file, "--out", tmp_path / "y.npy")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: --out: add_row returns 2 results, and 1 file was named\n")
    assert not (tmp_path / "y.npy").exists()


def test_unknown_device_lists_those_here(adze: Adze, program: Path, x_file: Path, b_file: Path) -> None:
    result = adze("run", program, "--in", x_file, "--in", b_file, "--device", "tpu")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: --device: ")
    assert "tpu" in result.stderr
    assert "local-sync" in result.stderr
    assert "Traceback" not in result.stderr


def test_missing_program_is_named(adze: Adze) -> None:
    result = adze("run", "no_such.vmfb")
    assert result.exit_code == 2
    assert result.stderr == "error: there is no file 'no_such.vmfb'\n"


def refuse(adze: Adze, program: Path, *outputs: object, inputs: tuple[object, ...]) -> str:
    """The message of a run that must be refused for its `--out`, with everything as it was."""
    before = program.read_bytes()
    given = [word for path in inputs for word in ("--in", path)]
    result = adze("run", program, *given, *(word for path in outputs for word in ("--out", path)))
    assert result.exit_code == 2, result.stderr
    assert program.read_bytes() == before
    assert not list(program.parent.glob(".*"))
    message: str = result.stderr
    return message


def test_two_results_in_one_file_are_refused(
    adze: Adze, program: Path, x_file: Path, b_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("link.npy").symlink_to("same.npy")
    for same in ("same.npy", "./same.npy", tmp_path / "same.npy", "link.npy"):
        message = refuse(adze, program, "same.npy", same, inputs=(x_file, b_file))
        assert (
            message
            == f"error: --out: {str(Path(same))!r} is named twice, and would hold the last result only\n"
        )
        assert not Path("same.npy").exists()


def test_result_is_not_written_over_what_is_read(
    adze: Adze, program: Path, x_file: Path, b_file: Path, tmp_path: Path
) -> None:
    for path in (program, x_file, b_file):
        message = refuse(adze, program, tmp_path / "y.npy", path, inputs=(x_file, f"b={b_file}"))
        assert message == f"error: --out: {str(path)!r} is read by this command, and would be overwritten\n"
    np.testing.assert_array_equal(np.load(x_file), X)


def test_place_that_cannot_be_written_is_refused_before_running(
    adze: Adze, program: Path, x_file: Path, b_file: Path, tmp_path: Path
) -> None:
    (tmp_path / "loop").symlink_to("loop")
    for path, problem in (
        (tmp_path, f"{str(tmp_path)!r} is a folder, expected a file"),
        (tmp_path / "no" / "y.npy", f"there is no folder {str(tmp_path / 'no')!r}"),
        ("/proc/y.npy", "cannot write '/proc/y.npy': No such file or directory"),
        (tmp_path / ("y" * 300), f"cannot write {str(tmp_path / ('y' * 300))!r}: File name too long"),
        (tmp_path / "loop", f"cannot write {str(tmp_path / 'loop')!r}: Symlink loop from "),
        (x_file / "y.npy", f"there is no folder {str(x_file)!r}"),
    ):
        message = refuse(adze, program, tmp_path / "sum.npy", path, inputs=(x_file, b_file))
        assert message.startswith(f"error: --out: {problem}")
        assert not (tmp_path / "sum.npy").exists()


def test_pipes_are_not_read(adze: Adze, program: Path, b_file: Path, tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    assert adze("run", fifo).stderr == f"error: {str(fifo)!r} is no ordinary file\n"
    result = adze("run", program, "--in", fifo, "--in", b_file)
    assert result.exit_code == 2
    assert result.stderr == f"error: --in: {str(fifo)!r} is no ordinary file\n"


def test_a_full_disk_is_one_line(
    adze: Adze, program: Path, x_file: Path, b_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    before = sorted(tmp_path.iterdir())
    result = adze("run", program, "--in", x_file, "--in", b_file, "--out", tmp_path / "y.npz")
    assert result.exit_code == 1
    assert result.stderr == f"error: cannot write {tmp_path / 'y.npz'}: No space left on device\n"
    assert sorted(tmp_path.iterdir()) == before
