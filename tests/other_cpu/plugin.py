"""Tests on a processor of another kind: programs are compiled for it, and a Python there runs them.

A plugin of pytest: `-p tests.other_cpu.plugin --other-cpu aarch64 --other-python COMMAND`, where `COMMAND`
starts a Python that has adze's runtime, in an emulator or over `ssh` (docs/testing.md). Idea: what is
compiled for `cpu` is compiled for the other processor, and calls go through a pipe (`server.py`). Programs
that call functions of this process, or have parameters in files, are skipped: they need more than arrays.
"""

from __future__ import annotations

import contextlib
import hashlib
import shlex
import subprocess
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adze.runtime import targets
from adze.runtime.execute import program

from .server import receive, send, view_of, words_of

SERVER = Path(__file__).with_name("server.py")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--other-cpu", help="the processor that programs are compiled for, as in cpu:NAME")
    parser.addoption("--other-python", help="the command that starts a Python there")


def pytest_configure(config: pytest.Config) -> None:
    name, command = config.getoption("--other-cpu"), config.getoption("--other-python")
    if (name is None) != (command is None):
        raise pytest.UsageError("--other-cpu and --other-python belong together")
    if name is None:
        return
    patch, elsewhere = pytest.MonkeyPatch(), Elsewhere(shlex.split(command))
    config.add_cleanup(patch.undo)
    config.add_cleanup(elsewhere.close)
    run_elsewhere(patch, name, elsewhere)


class Elsewhere:
    """A Python on the other processor, which starts with the first message."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = [*command, "-c", SERVER.read_text()]
        self._lock = threading.RLock()
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, *message: object) -> Any:
        """The answer to a message; RuntimeError with what failed there, or if it ended."""
        with self._lock:
            if self._process is None:
                self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            try:
                send(self._process.stdin, message)
                outcome, answer = receive(self._process.stdout)
            except (EOFError, BrokenPipeError):
                status = self.close()
                raise RuntimeError(f"UNAVAILABLE; the other Python ended with status {status};") from None
        if outcome == "failed":
            raise RuntimeError(answer)
        return answer

    def call(
        self, key: str, code: bytes, name: str, arguments: list[tuple[int, Any]]
    ) -> list[tuple[int, Any]]:
        """The results of a function of a program, `code`, which has the name `key` there."""
        with self._lock:
            if not self.ask("has", key):
                self.ask("load", key, code)
            results: list[tuple[int, Any]] = self.ask("call", key, name, arguments)
            return results

    def close(self) -> int | None:
        """End it; its exit status, None where it had not started."""
        with self._lock:
            process, self._process = self._process, None
            if process is None:
                return None
            with process, contextlib.suppress(BrokenPipeError):
                assert process.stdin is not None
                process.stdin.close()
            return process.returncode


def run_elsewhere(patch: pytest.MonkeyPatch, name: str, elsewhere: Elsewhere) -> None:
    """Compile for the processor `name` what is compiled for `cpu`, and call it there."""
    target = replace(targets.parse_target(f"cpu:{name}"), name="cpu", fingerprint=f"other {name}")
    patch.setattr(targets, "_host_target", lambda: target)
    codes: dict[int, tuple[Any, bytes]] = {}
    iree = program.native()

    class Modules:
        """IREE's class of modules, which remembers the code of each."""

        @staticmethod
        def copy_buffer(instance: Any, code: bytes) -> Any:
            module = iree.VmModule.copy_buffer(instance, code)
            codes[id(module)] = module, bytes(code)
            return module

    class Runtime:
        """IREE's library with these modules."""

        VmModule = Modules

        def __getattr__(self, attribute: str) -> Any:
            return getattr(iree, attribute)

    class Context:
        """In place of IREE's: a program that is loaded elsewhere when it is called."""

        def __init__(self, modules: Sequence[Any], device: Any) -> None:
            self._device, self._has_others = device, len(modules) > 1
            _, self._code = codes[id(modules[-1])]
            self._key = hashlib.sha256(self._code).hexdigest()

        def invoke(self, function: Any, inputs: Any, results: Any) -> None:
            if self._has_others:
                pytest.skip("the program needs more of this process than arrays")
            views = [inputs.get_as_object(k, iree.HalBufferView) for k in range(len(inputs))]
            answers = elsewhere.call(self._key, self._code, function.name, [words_of(v) for v in views])
            for answer in answers:
                results.push_ref(view_of(self._device, *answer))

    runtime = Runtime()
    patch.setattr(program, "native", lambda: runtime)
    patch.setattr(program, "_new_context", Context)
