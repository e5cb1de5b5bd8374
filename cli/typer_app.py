"""The `adze` command as a Typer app whose commands are imported when they are called.

Input: the names of the commands with a line about each, and a function that imports one. Output: the app.
`adze --help` imports none of them, and no renderer of pages: it answers in a tenth of a second.
"""

# No postponed annotations here: Typer evaluates those of `options`, which names a function beside it.
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer
import typer.core
import typer.main

VALUES_OF_BARE_OPTIONS = {"--vmap": "batch"}
"""What options stand for that are written without their value: Typer has no optional values."""


def make_app(
    name: str,
    about: str,
    commands: Mapping[str, str],
    load: Callable[[str], Any],
    version: Callable[[], str],
) -> typer.Typer:
    """The app called `name`; `load` returns the function of a command, or the Typer app of a group."""

    class Commands(typer.core.TyperGroup):
        """The commands, each of which is loaded when it is asked for."""

        def list_commands(self, ctx: Any) -> list[str]:
            return [*commands]

        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            if cmd_name not in commands:
                self.commands.update(dict.fromkeys(commands.keys() - self.commands.keys()))  # type: ignore[arg-type]
                return None  # Typer proposes those names that are alike
            if self.commands.get(cmd_name) is None:
                self.commands[cmd_name] = _command_of(load(cmd_name), cmd_name)
            return self.commands[cmd_name]

        def format_commands(self, ctx: Any, formatter: Any) -> None:
            with formatter.section("Commands"):
                formatter.write_dl([*commands.items()])

    app = typer.Typer(
        name=name,
        help=about,
        cls=Commands,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )

    def show_version(wanted: bool) -> None:
        if wanted:
            typer.echo(f"{name} {version()}")
            raise typer.Exit

    @app.callback()
    def options(
        version: Annotated[
            bool,
            typer.Option(
                "--version", help="Print the version and stop.", callback=show_version, is_eager=True
            ),
        ] = False,
    ) -> None:
        """Options that stand before the command."""

    # an app without a command of its own is none to Typer
    app.command(hidden=True, name="_")(options)
    return app


def _command_of(loaded: Any, name: str) -> Any:
    """Typer's command of a function, or of an app for a group of commands."""
    if isinstance(loaded, typer.Typer):
        loaded.rich_markup_mode = None
        group = typer.main.get_command(loaded)
        group.name = name
        return group
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    app.command(name=name, cls=_Command)(loaded)
    return typer.main.get_command(app)


class _Command(typer.core.TyperCommand):
    """A command some of whose options may be written without their value."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, _with_values(args))


def _with_values(words: list[str]) -> list[str]:
    full: list[str] = []
    for word, following in zip(words, [*words, "-"][1:], strict=True):
        full.append(word)
        if word in VALUES_OF_BARE_OPTIONS and following.startswith("-") and not following[1:].isdecimal():
            full.append(VALUES_OF_BARE_OPTIONS[word])
    return full
