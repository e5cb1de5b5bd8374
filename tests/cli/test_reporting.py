"""What a command raises becomes a message and an exit code; a traceback only when it was asked for."""

import json
from collections.abc import Callable

import pytest
import typer
from typer.testing import CliRunner, Result

from adze.cli.reporting import BadUsage, command, print_json, print_rows, readable_bytes
from adze.dialects.errors import AdzeError


def run(action: Callable[[], None], *options: str) -> Result:
    app = typer.Typer()

    @app.command()
    @command
    def act() -> None:
        action()

    return CliRunner().invoke(app, list(options))


def fail(error: Exception) -> Callable[[], None]:
    def action() -> None:
        raise error

    return action


def test_error_of_adze_is_printed_with_its_place_and_hint() -> None:
    result = run(fail(AdzeError("the shapes differ", where="model.py:3", hint="transpose one of them")))
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr == "error: the shapes differ\n  at model.py:3\n  hint: transpose one of them\n"


def test_bad_usage_leaves_with_two() -> None:
    result = run(fail(BadUsage("there is no file 'x.npy'")))
    assert result.exit_code == 2
    assert result.stderr == "error: there is no file 'x.npy'\n"


def test_foreign_error_shows_its_kind_and_the_user_line() -> None:
    result = run(fail(ZeroDivisionError("division by zero")))
    assert result.exit_code == 1
    assert result.stderr.startswith("error: ZeroDivisionError: division by zero\n  at ")
    assert __file__ in result.stderr
    assert "Traceback" not in result.stderr


def test_error_that_cannot_be_told_is_named() -> None:
    class Wordless(Exception):
        def __str__(self) -> str:
            raise ValueError

    result = run(fail(Wordless()))
    assert result.exit_code == 1
    assert result.stderr.startswith("error: Wordless\n  at ")


def test_error_of_the_system_names_the_file() -> None:
    result = run(fail(FileNotFoundError(2, "No such file or directory", "x.npy")))
    assert result.exit_code == 1
    assert result.stderr == "error: x.npy: No such file or directory\n"


def test_traceback_is_shown_when_asked_for_with_the_same_exit_code() -> None:
    result = run(fail(AdzeError("the shapes differ")), "--traceback")
    assert result.exit_code == 1
    assert "Traceback (most recent call last)" in result.stderr
    assert "AdzeError: the shapes differ" in result.stderr


def test_json_is_one_document_on_standard_output() -> None:
    result = run(lambda: print_json({"bytes": 3, "shape": [1, None]}))
    assert json.loads(result.stdout) == {"bytes": 3, "shape": [1, None]}


def test_rows_align_their_values() -> None:
    result = run(lambda: print_rows([("target", "cpu"), ("bytes", 12)]))
    assert result.stdout == "target  cpu\nbytes   12\n"


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (2**20, "1.0 MiB"), (2**31, "2.0 GiB")],
)
def test_bytes_are_readable(count: int, text: str) -> None:
    assert readable_bytes(count) == text
