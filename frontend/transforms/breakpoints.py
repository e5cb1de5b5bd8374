"""`debug.breakpoint`: a prompt where a program has come to, with the values of the user's variables.

Input: the frames of the user's own code at the call. Output: when the program reaches that point, a prompt on
the terminal. Idea: the variables of those frames that are traced are arguments of a callback; others, and the
lines, are kept as they are.
"""

from __future__ import annotations

import cmd
import linecache
import pprint
import sys
from collections.abc import Sequence
from dataclasses import replace
from types import FrameType
from typing import Any

from ...dialects.dataclass import dataclass
from .. import tree
from ..errors import ArgumentError
from ..tracing.frames import Tracer, current_frame, is_usable
from ..tracing.locations import user_frames, user_location_text
from .callbacks import debug_callback


@dataclass(frozen=True)
class Stopped:
    """A frame of the user's code: where it was, and its variables."""

    file: str
    line: int
    function: str
    variables: dict[str, Any]
    names_of_module: dict[str, Any]

    def where(self) -> str:
        """File, line and function, as a traceback states them."""
        return f'File "{self.file}", line {self.line}, in {self.function}'


def breakpoint(
    *,
    backend: str | None = None,
    filter_frames: bool = True,
    num_frames: int | None = None,
    ordered: bool = False,
    token: None = None,
) -> None:
    """Stop the program when it comes here, with a prompt for the variables of the functions that called it.

    The prompt's commands are `p` and `pp` with an expression, `l` (the lines), `bt` (the calls), `u` and `d`
    (to the caller and back), `c` (go on) and `q` (raise `KeyboardInterrupt`). `num_frames` is how many calls
    are kept; frames of adze are none of them. `ordered` changes nothing: programs run in order.

    Raises `ArgumentError` for another `backend` than "cli".
    """
    del filter_frames, ordered, token
    if backend not in (None, "cli"):
        raise ArgumentError(f"breakpoint: backend is {backend!r}, expected 'cli'", where=user_location_text())
    frames = [_stopped(frame) for frame in user_frames(num_frames)]
    leaves, structure = tree.flatten([frame.variables for frame in frames])
    is_traced = [isinstance(leaf, Tracer) and is_usable(leaf) for leaf in leaves]

    def stop(*arrays: Any) -> None:
        given = iter(arrays)
        values = [next(given) if has else leaf for leaf, has in zip(leaves, is_traced, strict=True)]
        known = tree.unflatten(structure, values)
        Prompt([replace(f, variables=v) for f, v in zip(frames, known, strict=True)]).cmdloop()

    traced = [leaf for leaf, has in zip(leaves, is_traced, strict=True) if has]
    if current_frame() is None:
        stop()
    else:
        debug_callback(stop, *traced)


def _stopped(frame: FrameType) -> Stopped:
    code = frame.f_code
    return Stopped(code.co_filename, frame.f_lineno, code.co_name, _plain(frame.f_locals), frame.f_globals)


def _plain(variables: Any) -> dict[str, Any]:
    """The variables whose trees can be taken apart."""
    known = {}
    for name, value in variables.items():
        try:
            tree.flatten(value)
        except Exception:  # a tree of somebody's class, half built
            continue
        known[name] = value
    return known


class Prompt(cmd.Cmd):
    """The prompt of one stop. It begins in the innermost frame."""

    prompt = "adzedb> "

    def __init__(self, frames: Sequence[Stopped]) -> None:
        super().__init__(stdin=sys.stdin, stdout=sys.stdout)
        self.use_rawinput = sys.stdin is sys.__stdin__
        self.frames, self.at = list(frames), 0

    def preloop(self) -> None:
        """Say where the program is."""
        self._say(self.frames[self.at].where())

    def default(self, line: str) -> None:
        """Anything else is no command."""
        self._say(f"no command: {line}; there are p, pp, l, bt, u, d, c and q")

    def emptyline(self) -> bool:
        """An empty line does nothing."""
        return False

    def do_p(self, expression: str) -> None:
        """p EXPRESSION: its value, by the variables of this frame."""
        self._evaluate(expression, str)

    def do_pp(self, expression: str) -> None:
        """pp EXPRESSION: its value, printed over several lines."""
        self._evaluate(expression, pprint.pformat)

    def do_l(self, _: str) -> None:
        """l: the lines around the call."""
        frame = self.frames[self.at]
        for number in range(max(frame.line - 5, 1), frame.line + 6):
            text = linecache.getline(frame.file, number).rstrip()
            if text or number <= frame.line:
                self._say(f"{'->' if number == frame.line else '  '} {number:4} {text}")

    def do_bt(self, _: str) -> None:
        """bt: the calls, outermost first."""
        for number in reversed(range(len(self.frames))):
            self._say(f"{'->' if number == self.at else '  '} {self.frames[number].where()}")

    def do_u(self, _: str) -> None:
        """u: go to the caller."""
        self._move(1)

    def do_d(self, _: str) -> None:
        """d: go to the function that was called."""
        self._move(-1)

    def do_c(self, _: str) -> bool:
        """c: go on."""
        return True

    def do_q(self, _: str) -> bool:
        """q: leave the program."""
        raise KeyboardInterrupt

    do_w = do_where = do_backtrace = do_bt
    do_cont = do_continue = do_EOF = do_c  # the end of the input goes on
    do_quit = do_exit = do_q
    do_up, do_down, do_list = do_u, do_d, do_l

    def _move(self, by: int) -> None:
        at = self.at + by
        if not 0 <= at < len(self.frames):
            self._say("no more calls in that direction")
            return
        self.at = at
        self._say(self.frames[at].where())

    def _evaluate(self, expression: str, text: Any) -> None:
        frame = self.frames[self.at]
        try:
            value = eval(expression, {**frame.names_of_module, **frame.variables})
            self._say(text(value))
        except Exception as error:
            self._say(f"{type(error).__name__}: {error}")

    def _say(self, text: str) -> None:
        self.stdout.write(f"{text}\n")
