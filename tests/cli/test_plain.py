"""Commands without Typer: argparse takes what they declare, as Typer does."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Annotated, Any

import pytest

from adze.cli import main, plain

SEEN: dict[str, Any] = {}


def command(
    file: Annotated[Path, plain.Argument(metavar="FILE", help="A file.")],
    number: Annotated[int, plain.Option("--number", "-n", min=1, help="100% of them.")] = 5,
    names: Annotated[list[str], plain.Option("--in")] = [],  # noqa: B006
    limit: Annotated[float | None, plain.Option("--limit", show_default="none")] = None,
    wanted: Annotated[bool | None, plain.Option("--yes/--no")] = None,
    json: Annotated[bool, plain.Option("--json", help="One object.")] = False,
) -> None:
    """Do it.

    Example: adze do it
    """
    SEEN.clear()
    SEEN.update(file=file, number=number, names=names, limit=limit, wanted=wanted, json=json)


DEFAULTS = {"file": Path("f"), "number": 5, "names": [], "limit": None, "wanted": None, "json": False}


@pytest.mark.parametrize(
    ("words", "changes"),
    [
        ("f", {}),
        ("f -n 3 --limit -1e5 --yes --json", {"number": 3, "limit": -1e5, "wanted": True, "json": True}),
        ("--in -3.5 f --in -inf --in --json --no", {"names": ["-3.5", "-inf", "--json"], "wanted": False}),
        ("--in=x=1 f", {"names": ["x=1"]}),
    ],
)
def test_words_become_arguments(words: str, changes: dict[str, Any]) -> None:
    plain.call(command, "adze do", words.split())
    assert {**DEFAULTS, **changes} == SEEN


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "the following arguments are required"),
        ("f g", "unrecognized arguments: g"),
        ("f --frob", "unrecognized arguments: --frob"),
        ("f --num 3", "unrecognized arguments: --num 3"),
        ("f -n 0", "0 is less than 1"),
        ("f -n x", "invalid int value: 'x'"),
        ("f --in", "expected one argument"),
    ],
)
def test_wrong_words_are_bad_usage(words: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(plain.Exit) as caught:
        plain.call(command, "adze do", words.split())
    assert caught.value.exit_code == 2
    assert message in capsys.readouterr().err


def test_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(plain.Exit) as caught:
        plain.call(command, "adze do", ["--help"])
    shown = capsys.readouterr().out
    assert caught.value.exit_code == 0
    for text in ("Do it.", "Example: adze do it", "100% of them.", "[default: none]"):
        assert text in shown


def test_the_page_of_help_says_what_the_commands_say() -> None:
    """The table of `cli/main.py` spares the import of every command."""
    for name, line in main.COMMANDS.items():
        loaded = main.load(name)
        said = inspect.getdoc(loaded) if inspect.isfunction(loaded) else loaded.info.help
        assert said is not None and said.splitlines()[0] == line, name
