"""IREE's compiler in this process: one module on its way through the phases.

Input: MLIR (bytecode or text, as bytes) and flags. Output: MLIR bytecode at a phase, or the `.vmfb`; what
IREE says is appended to a list. IREE would verify the module behind each of its 500 passes, half of the time
of a large compile. Here the module is verified at the ends of the phases, which costs a millisecond: what a
pass broke is still refused and never compiled. Every compile has its own session, since IREE latches the
flags of a session at its first use. A phase loads the dialects of all targets, and its many clean-ups build
the patterns of all ops that are loaded, which is most of a small compile: where IREE has the passes of a
phase as pipelines with a name too, they run in a session of their own that loads what they need
(`pipelines.py`), also the host's half of the phase that compiles kernels (`halves.py`). The code of adze's
kernels goes around the phases that do nothing to it (`kernel_bodies.py`). Nothing of IREE is imported before
the first compile.
"""

from __future__ import annotations

import ctypes
import io
import os
from collections.abc import Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Final, Self

from ...dialects.interrupts import Come, deferred_interrupts
from ..threads import thread_count
from .diagnostics import SOURCE_NAME, Diagnostic, diagnostic_of, place_of
from .halves import divided, joined
from .kernel_bodies import KernelBodies, gains_of_bodies_apart, has_own_kernels
from .pipelines import (
    ALIGNED,
    EXECUTABLE_SOURCES,
    HOST_OF_SEVERAL_LIBRARIES,
    HOST_WITH_KERNELS,
    HOST_WITHOUT_KERNELS,
    SOURCES_OF_MANY_ARRAYS,
    STREAM,
    STREAM_OF_MANY_ARRAYS,
    STREAM_WITHOUT_GLOBALS,
    VM,
    stated_devices,
    until_flow,
    until_llvm,
)

FLAGS_REFUSED: Final = "flags refused"
START: Final = "start"
END: Final = "end"
PHASES: Final = (
    START,
    "input",
    "abi",
    "preprocessing",
    "global-optimization",
    "dispatch-creation",
    "flow",
    "stream",
    "executable-sources",
    "executable-configurations",
    "executable-targets",
    "hal",
    "vm",
    END,
)
"""The phases of IREE's compiler, in order."""

_PIPELINES: Final = {"stream": STREAM, "executable-sources": EXECUTABLE_SOURCES, "vm": VM}
"""Phases whose passes have names as well, their options being what no flag of ours changes."""

_DIVIDED: Final = "hal"
"""The phase that compiles the kernels and the host's program, each for itself for CPUs."""

_SCHEDULING: Final = ("stream", "executable-sources")
"""Phases that decide how the host calls kernels, and leave those of adze alone."""

_WITHOUT_TARGETS: Final = ("input", "abi")
"""Phases that load no dialects of targets."""
_EVALUATING: Final = "global-optimization"
"""The phase that evaluates what it computes in advance, in initializers; its pipeline does not."""
_INITIALIZERS: Final = b"initializer\0"
_LOADS: Final = b"global.load\0"
"""How a program that has globals gets their values, in bytecode."""

_THREADED: Final = ("executable-configurations", "executable-targets", "hal")
"""Phases that compile kernels, each one on a thread of its own."""

_EXECUTION_MODEL: Final = "--iree-execution-model=async-internal"
_LLVM_CPU: Final = "llvm-cpu"
_DEVICES: Final = "hal.device.targets"
_MOST_COPIED: Final = 16 * 2**20
"""Bytes of a module that is written and parsed again for a session of its own, or written for a look at it:
that takes a second for 100 MB."""

_OF_FEW_ARRAYS: Final = 50_000
"""Bytes of a program without the code of its kernels, up to which it has no hundreds of arrays."""

_SEVERITIES: Final = {0: "note", 1: "warning", 2: "error", 3: "remark"}
_DIAGNOSTIC_CALLBACK: Final = ctypes.CFUNCTYPE(
    None, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p
)

# The process that has the threads that IREE compiles with, once it has compiled.
_threads_of: int | None = None


class Invocation:
    """A module in IREE's compiler, at one of `PHASES`; use it in a `with` statement.

    A method that IREE refuses returns False or None and leaves the reason in `diagnostics`; nothing may
    follow but `replace` or the end of the `with` statement. With `verifies_passes` IREE also verifies behind
    each pass. In the statement Ctrl-C waits for the end of a phase: what it leaves half made or half closed
    ends the process when Python ends.
    """

    def __init__(
        self, flags: tuple[str, ...], diagnostics: list[Diagnostic], *, verifies_passes: bool = False
    ) -> None:
        load_compiler()
        from iree.compiler import api
        from iree.compiler.api import ctypes_dl

        self._api = api
        self._library: Any = ctypes_dl._dylib
        self._flags = flags
        self._diagnostics = diagnostics
        self._verifies_passes = verifies_passes
        self._phase = START
        self._session: Any = None
        self._invocation: Any = None
        self._leaving = ExitStack()
        self._let_interrupts_come: Come
        self._has_targets = self._is_refused = False
        self._is_large = self._has_many_arrays = False
        self._source = b""
        self._until_flow: dict[str, str] = {}
        self._until_llvm = until_llvm(flags)
        self._unparsed: bytes | None = None  # a module that replaces the one before, as far as its kernels
        self._bodies: KernelBodies | None = None
        self._whole = b""  # the module that they were taken out of
        self._is_in_parts = False  # whether each executable becomes a library
        self._is_part = False  # one of them, on a thread of its own
        # Alive until the session is closed: ctypes does not keep the callback for us. A handler set through
        # the MLIR bindings would abort the process, as compiling runs without the interpreter's lock.
        self._callback = _DIAGNOSTIC_CALLBACK(self._note)
        self._is_threaded = False

    def __enter__(self) -> Self:
        with ExitStack() as leaving:
            self._let_interrupts_come = leaving.enter_context(deferred_interrupts())
            leaving.callback(self._close)
            self._session = self._api.Session()
            self._allow_threads(False)
            self._leaving = leaving.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leaving.__exit__(kind, error, trace)

    def begin(self, module: bytes) -> bool:
        """As `parse`, with a module that is refused where it is no MLIR of dialects that IREE has."""
        pipelines = until_flow(self._flags) if len(module) <= _MOST_COPIED else {}
        devices = stated_devices(self._flags) if pipelines else None
        checked = checked_module(module, self._diagnostics, devices)
        if checked is None:
            return False
        if checked is module:
            return self.parse(checked)
        self._source, self._until_flow = module, pipelines
        if has_own_kernels(checked) and self._is_for_cpus():
            self._bodies = KernelBodies(checked)
            checked = self._bodies.without()
        return self.parse(checked)

    def parse(self, module: bytes) -> bool:
        """Begin with `module`, which enters the first phase."""
        try:
            self._session.set_flags(*self._flags)
        except ValueError as error:
            self._refuse(f"{FLAGS_REFUSED}: {' '.join(str(error).split())}")
            return False
        return self._parse(module, START)

    def replace(self, module: bytes, phase: str | None = None) -> bool:
        """Go on with `module` instead, from the present phase or `phase`; also where IREE refused one."""
        phase, self._bodies = phase or self._phase, None
        if self._pipeline_behind(phase) is not None and (self._has_targets or self._is_refused):
            self._renew()
        if _SCHEDULING[0] == _behind(phase) and self._is_for_cpus():
            self._phase, self._unparsed = phase, module
            return True
        return self._parse(module, phase)

    def advance(self, last: str = END) -> bool:
        """Run the phases behind the present one up to `last`, verifying the module at the end of each."""
        phases = PHASES[PHASES.index(self._phase) + 1 : PHASES.index(last) + 1]
        if set(phases).issuperset(_SCHEDULING) and not (
            self._is_advanced(phases[: phases.index(_SCHEDULING[0])])
            and self._takes_bodies_out()
            and self._is_advanced(_SCHEDULING)
            and self._puts_bodies_back()
        ):
            self._is_refused = True
            return False
        return self._is_advanced(PHASES[PHASES.index(self._phase) + 1 : PHASES.index(last) + 1])

    def bytecode(self) -> bytes:
        """The module at the present phase, as MLIR bytecode."""
        self._becomes_whole()
        return self._own_bytecode()

    def text(self) -> str:
        """The module at the present phase, as MLIR text."""
        self._becomes_whole()
        self._is_parsed()
        return self._written(self._invocation.output_ir).decode()

    def program(self) -> bytes | None:
        """The finished program, a `.vmfb`."""
        try:
            return self._written(self._invocation.output_vm_bytecode)
        except ValueError as error:  # a module without a program in it
            self._refuse(str(error))
            return None

    def _own_bytecode(self) -> bytes:
        """As `bytecode`, of the module as it is in this session."""
        if self._unparsed is not None:
            return self._unparsed
        return bytes(self._written(self._invocation.output_ir_bytecode))

    def _becomes_whole(self) -> None:
        """Let the module have the code of its kernels again, if it went without."""
        bodies, self._bodies = self._bodies, None
        if bodies is None:
            return
        self._unparsed = bodies.put_back(self._own_bytecode())
        if self._unparsed is None:
            self._begins_again(self._phase)

    def _is_advanced(self, phases: tuple[str, ...]) -> bool:
        """Run `phases`, the ones behind the present, verifying the module at the end of each."""
        for phase in phases:
            self._let_interrupts_come()
            if not (self._is_parsed() and self._run(phase) and self._is_valid()):
                self._is_refused = True
                return False
            self._phase = phase
        return True

    def _is_parsed(self) -> bool:
        """Parse the module that replaces the one before, if it has not been."""
        module, self._unparsed = self._unparsed, None
        return module is None or self._parse(module, self._phase)

    def _takes_bodies_out(self) -> bool:
        """Go on without the code of adze's kernels, where there is enough of it to gain from that."""
        if not self._is_for_cpus():
            return True
        if self._bodies is not None or (self._is_large and self._unparsed is None):
            return True
        module = self._own_bytecode()
        if len(module) > _MOST_COPIED or not gains_of_bodies_apart(module):
            return True
        self._whole, self._unparsed, self._bodies = module, None, KernelBodies(module)
        return self._parse(self._bodies.without(), self._phase)

    def _puts_bodies_back(self) -> bool:
        """Go on with the code of adze's kernels, and with fewer executables."""
        bodies, self._bodies = self._bodies, None
        if bodies is None:
            return True
        whole = bodies.put_back(self._own_bytecode())
        self._is_in_parts = bodies.is_in_parts
        if whole is not None:
            return self._parse(whole, self._phase) and self._run_pipeline(ALIGNED)
        if not self._whole:
            return self._begins_again(self._phase)
        self._renew()
        return self._parse(self._whole, _before(_SCHEDULING[0])) and self._is_advanced(_SCHEDULING)

    def _begins_again(self, last: str) -> bool:
        """Begin again with all of the module, and run IREE's phases up to `last`."""
        self._until_flow, self._bodies = {}, None
        self._renew()
        phases = PHASES[1 : PHASES.index(last) + 1]
        return self._parse(self._source, START) and all(map(self._run_phase_behind, phases))

    def _run(self, phase: str) -> bool:
        """Run the passes of `phase`, the one behind the present."""
        pipeline = self._pipeline_behind(self._phase)
        if self._is_large and self._has_targets:
            pipeline = None
        if pipeline is not None and (not self._has_targets or self._moves_to_a_new_session()):
            self._use_threads(phase)
            if pipeline == STREAM and self._is_for_cpus() and not self._is_large:
                pipeline = _stream_of(self._own_bytecode())
                self._has_many_arrays = pipeline == STREAM_OF_MANY_ARRAYS
            elif pipeline == EXECUTABLE_SOURCES and self._has_many_arrays:
                pipeline = SOURCES_OF_MANY_ARRAYS
            evaluates = phase == _EVALUATING
            return self._run_pipeline(pipeline) and (not evaluates or self._has_evaluated_all())
        if phase == _DIVIDED and self._is_divided() and not (self._is_large and self._bodies is None):
            return self._run_halves()
        return self._run_phase(phase)

    def _run_pipeline(self, passes: str) -> bool:
        return bool(self._invocation.execute_text_pass_pipeline(passes))

    def _run_phase(self, phase: str) -> bool:
        self._has_targets = self._has_targets or phase not in _WITHOUT_TARGETS
        self._use_threads(phase)
        self._call("SetCompileFromPhase", ctypes.c_char_p, self._phase.encode())
        self._call("SetCompileToPhase", ctypes.c_char_p, phase.encode())
        return bool(self._invocation.execute())

    def _has_evaluated_all(self) -> bool:
        """Begin again, with IREE's phases up to this one, where the program has initializers to evaluate."""
        if _INITIALIZERS not in self._own_bytecode():
            return True
        return self._begins_again(_EVALUATING)

    def _run_phase_behind(self, phase: str) -> bool:
        if not self._run_phase(phase):
            return False
        self._phase = phase
        return True

    def _is_divided(self) -> bool:
        """Whether the halves of a program are compiled apart: for CPUs, where kernels are LLVM's dialect."""
        return self._phase == _before(_DIVIDED) and self._is_for_cpus()

    def _is_for_cpus(self) -> bool:
        """Whether the program is for CPUs, and its host's part a plain function."""
        return _EXECUTION_MODEL in self._flags and any(_LLVM_CPU in flag for flag in self._flags)

    def _run_halves(self) -> bool:
        """Run the phase `hal`: the passes of the kernels here, those of the host in a new session."""
        program, phase = self.bytecode(), self._phase
        if len(program) > _MOST_COPIED:
            return self._run_phase(_DIVIDED)
        halves = divided(program, self._is_in_parts)
        kernels = self._compiled(halves.kernels)
        if kernels is None:
            return False
        self._renew()
        passes = HOST_WITHOUT_KERNELS if len(kernels) == 1 else HOST_OF_SEVERAL_LIBRARIES
        if not (self._parse(halves.host, phase) and self._run_pipeline(passes)):
            return False
        whole = joined(self.bytecode(), kernels, halves.exports)
        if whole is None:
            self._renew()
            return self._parse(program, phase) and self._run_phase(_DIVIDED)
        return self._parse(whole, phase) and self._run_pipeline(HOST_WITH_KERNELS)

    def _compiled(self, kernels: Sequence[bytes]) -> list[bytes] | None:
        """Kernels of the present phase as libraries: one here, several on threads in sessions of their own;
        None where IREE refuses one."""
        from concurrent.futures import ThreadPoolExecutor  # loads `logging`

        phase = self._phase
        if len(kernels) == 1:
            library = self._library_of(kernels[0], phase)
            return None if library is None else [library]

        def compiled(part: bytes) -> tuple[bytes | None, list[Diagnostic]]:
            said: list[Diagnostic] = []
            with Invocation(self._flags, said, verifies_passes=self._verifies_passes) as invocation:
                invocation._is_part = True
                invocation._session.set_flags(*self._flags)
                return invocation._library_of(part, phase), said

        with ThreadPoolExecutor(min(len(kernels), thread_count()), "adze-compile") as threads:
            parts = list(threads.map(compiled, kernels))
        for _, said in parts:
            self._diagnostics += said
        libraries = [library for library, _ in parts if library is not None]
        return libraries if len(libraries) == len(parts) else None

    def _library_of(self, kernels: bytes, phase: str) -> bytes | None:
        """Kernels of `phase` as IREE compiles them in the phase `hal`."""
        is_done = self._parse(kernels, phase) and self._run_phase(_DIVIDED) and self._is_valid()
        return self.bytecode() if is_done else None

    def _pipeline_behind(self, phase: str) -> str | None:
        """The name of the pipeline that takes a module of `phase` to the next one, if it has a name."""
        following = _behind(phase)
        if _EXECUTION_MODEL not in self._flags:
            return None
        return self._until_flow.get(following) or self._until_llvm.get(following) or _PIPELINES.get(following)

    def _moves_to_a_new_session(self) -> bool:
        """Take the module to a session that has loaded no dialects yet, unless it is too large for that."""
        module = self._own_bytecode()
        if len(module) > _MOST_COPIED:
            return False
        self._renew()
        return self._parse(module, self._phase)

    def _renew(self) -> None:
        """Begin a new session."""
        self._close()
        self._invocation = None
        self._session = self._api.Session()
        self._has_targets = self._is_refused = False
        self._is_threaded = False
        self._allow_threads(False)
        self._session.set_flags(*self._flags)

    def _use_threads(self, phase: str) -> None:
        """Let the passes of `phase` run on several threads if it compiles kernels, else not."""
        if (phase in _THREADED and not self._is_part and _has_threads()) != self._is_threaded:
            self._is_threaded = not self._is_threaded
            self._allow_threads(self._is_threaded)

    def _allow_threads(self, are_allowed: bool) -> None:
        """Let passes run on several threads. `Session.context` would take the context from the session, and
        nothing frees it then: 4 MB for each compile."""
        borrow = self._library.ireeCompilerSessionBorrowContext
        allow = self._library.mlirContextEnableMultithreading
        borrow.restype, borrow.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
        allow.restype, allow.argtypes = None, [ctypes.c_void_p, ctypes.c_bool]
        allow(borrow(self._session._session_p), are_allowed)

    def _close(self) -> None:
        if self._invocation is not None:
            self._invocation.close()
        if self._session is not None:
            self._session.close()

    def _parse(self, module: bytes, phase: str) -> bool:
        self._phase, self._is_large = phase, len(module) > _MOST_COPIED
        if self._invocation is not None:
            self._invocation.close()
        self._invocation = self._session.invocation()
        enable = self._library.ireeCompilerInvocationEnableCallbackDiagnostics
        enable.restype = None
        enable.argtypes = [ctypes.c_void_p, ctypes.c_int, _DIAGNOSTIC_CALLBACK, ctypes.c_void_p]
        enable(self._invocation._inv_p, 0, self._callback, None)
        self._call("SetVerifyIR", ctypes.c_bool, self._verifies_passes)
        source = self._api.Source.wrap_buffer(self._session, module, buffer_name=SOURCE_NAME)
        return bool(self._invocation.parse_source(source))

    def _is_valid(self) -> bool:
        """Whether MLIR's verifier accepts the module; it says why not."""
        invocation, library = self._invocation._inv_p, self._library
        export, verify = library.ireeCompilerInvocationExportStealModule, library.mlirOperationVerify
        put_back = library.ireeCompilerInvocationImportStealModule
        export.restype, export.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
        verify.restype, verify.argtypes = ctypes.c_bool, [ctypes.c_void_p]
        put_back.restype, put_back.argtypes = ctypes.c_bool, [ctypes.c_void_p, ctypes.c_void_p]
        module = export(invocation)
        answer = bool(verify(module))
        return bool(put_back(invocation, module)) and answer

    def _call(self, name: str, kind: Any, value: Any) -> None:
        function = getattr(self._library, f"ireeCompilerInvocation{name}")
        function.restype, function.argtypes = None, [ctypes.c_void_p, kind]
        function(self._invocation._inv_p, value)

    def _written(self, write: Any) -> bytes:
        output = self._api.Output.open_membuffer()
        try:
            write(output)
            return bytes(output.map_memory())
        finally:
            output.close()

    def _note(self, severity: int, text: int, length: int, _: object) -> None:
        message = ctypes.string_at(text, length).decode(errors="replace")
        self._diagnostics.append(diagnostic_of(_SEVERITIES[severity], message))

    def _refuse(self, message: str) -> None:
        self._diagnostics.append(Diagnostic("error", message, None))


def _stream_of(program: bytes) -> str:
    """The passes of the phase `stream` for a program for CPUs: most have neither constants of some size, nor
    a state, nor anything that runs when they are loaded."""
    if _LOADS in program or _INITIALIZERS in program:
        return STREAM
    return STREAM_OF_MANY_ARRAYS if len(program) > _OF_FEW_ARRAYS else STREAM_WITHOUT_GLOBALS


def _behind(phase: str) -> str:
    """The phase behind `phase`; none follows the last."""
    return PHASES[PHASES.index(phase) + 1] if phase != END else END


def _before(phase: str) -> str:
    return PHASES[PHASES.index(phase) - 1]


def load_compiler() -> None:
    """Import the compiler, as the first compile does."""
    with deferred_interrupts():
        from iree.compiler import api  # noqa: F401
        from iree.compiler.api import ctypes_dl  # noqa: F401


def checked_module(module: bytes, diagnostics: list[Diagnostic], devices: str | None = None) -> bytes | None:
    """`module` if it is valid MLIR of dialects that IREE has, with at least one op, else None.

    With `devices`, text of an attribute, it says that it is compiled for them, unless it has an attribute
    for that already. IREE's own parser lets an op of a foreign dialect through and crashes on it later. A
    session's context that is told not to is never freed (observed: 4 MB a compile); this one is.
    """
    from ...dialects.mlir import ir, new_context

    with new_context(foreign_ops=False, is_light=True) as context:
        try:
            parsed = ir.Module.parse(module, context)
        except ir.MLIRError as error:
            errors = error.error_diagnostics
            diagnostics += [Diagnostic("error", d.message, place_of(str(d.location))) for d in errors]
            return None
        if len(parsed.body.operations) == 0:
            diagnostics.append(Diagnostic("error", "the module is empty", None))
            return None
        if devices is None or _DEVICES in parsed.operation.attributes:
            return module
        parsed.operation.attributes[_DEVICES] = ir.Attribute.parse(devices)
        buffer = io.BytesIO()
        parsed.operation.write_bytecode(buffer)
        return buffer.getvalue()


def _has_threads() -> bool:
    """Whether the compiler may use its threads here: a forked child would wait for its parent's for ever."""
    global _threads_of
    if _threads_of is None:
        from iree.compiler.api import ctypes_dl

        _threads_of = os.getpid()
        # Initialized once more than shut down, the compiler does not wait for its threads when a child ends.
        os.register_at_fork(after_in_child=ctypes_dl._dylib.ireeCompilerGlobalInitialize)
    return _threads_of == os.getpid()
