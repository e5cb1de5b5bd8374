"""`load`: a saved program as a Python function. Needs NumPy and the IREE runtime, never the compiler."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ...dialects.errors import AdzeError
from ...runtime.artifact import artifact
from ...runtime.artifact.manifest import GETTER, SETTER, ExportedFunction, Held, Manifest
from ...runtime.artifact.signature import FunctionSignature
from ...runtime.artifact.signing import public_key
from ...runtime.distributed.programs import EXTRA
from ...runtime.errors import MissingCompilerError, OtherVersionError
from ...runtime.execute.program import Function
from ..errors import ArgumentError, ArgumentTypeError
from ..tracing.array import Array
from ..tracing.locations import located, user_location_text
from .call_arguments import UNKNOWN, call_key
from .call_code import Expression
from .exported_calls import ExportedCall
from .host import runtime_argument
from .ready_functions import MOST_KINDS, KnownLeaves, ReadyFunction

if TYPE_CHECKING:
    from ..sharding.named import NamedSharding
    from .kept import KeptFunction
    from .parts import Parts


class LoadedFunction:
    """A function of a loaded program: call it with the trees of arrays that it was built for."""

    def __init__(
        self,
        loaded: artifact.LoadedProgram,
        exported: ExportedFunction,
        turn: AbstractContextManager[Any],
    ) -> None:
        self._turn = turn
        self._is_in_turn = not isinstance(turn, nullcontext)
        self.parts = _parts_of(loaded.manifest, exported)
        if self.parts is not None:  # who calls it sees whole arrays
            exported = replace(exported, signature=self.parts.signature)
        self._call = ExportedCall(exported)
        self._executable = loaded.executable
        self._function = loaded.executable.function(self._call.name)
        self._known = KnownLeaves()
        self._flat = len(self.signature.inputs) if self._call.is_flat else None

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Call by position or by name; numbers may be written as nested lists."""
        leaves = args if not kwargs and len(args) == self._flat else self._call.leaves(args, kwargs)
        if self._is_in_turn:
            with self._turn:
                results = self._call_known(leaves)
        else:
            results = self._call_known(leaves)
        return self._call_unknown(leaves) if results is UNKNOWN else results

    def _call_known(self, leaves: Sequence[Any]) -> Any:
        """The tree of the results, where a call with leaves like these is known; else `UNKNOWN`."""
        try:
            run = self._known.arrays.get(tuple([leaf.call_kind for leaf in leaves]))
        except (AttributeError, TypeError):
            run = None
        return self._known.call(leaves) if run is None else run(*leaves)

    def _call_unknown(self, leaves: Sequence[Any]) -> Any:
        """The tree of the results; calls with leaves like these are known then."""
        key = call_key(leaves)
        results = self.leaves_of(leaves)
        if key is not None and self.parts is None:
            shapes = [np.shape(leaf) for leaf in leaves]
            ready = _LoadedEntry(self._for(leaves), self._call, results, shapes)
            if not ready.is_static and len(self._known) >= MOST_KINDS:
                self._known.forget()
            self._known.add(key, leaves, ready)
        return self._call.results(results)

    def leaves_of(self, leaves: Sequence[Any]) -> list[Array]:
        """The results in order, for one argument an input in order."""
        specs = self._call.function.signature.inputs
        device = self._executable.device
        if self.parts is not None:
            with located(), self._turn:
                return self.parts.arrays(self._function.call(self.parts.of(leaves, device)))
        arguments = [runtime_argument(x, spec.dtype, device) for x, spec in zip(leaves, specs, strict=True)]
        with located(), self._turn:
            return [Array(r) for r in self._for(arguments).call(arguments)]

    def _for(self, arguments: Sequence[Any]) -> Function:
        """The function, or the one that was built for arguments of these sizes."""
        exported = self._call.function
        if not exported.specializations:
            return self._function
        return self._executable.function(exported.for_shapes([np.shape(a) for a in arguments]))

    @property
    def signature(self) -> FunctionSignature:
        """Names, dtypes and dims of what it takes and returns."""
        return self._call.function.signature

    def __repr__(self) -> str:
        return f"<{self.signature}>"


class _LoadedEntry(ReadyFunction):
    """A function of a loaded program, ready to be called with leaves of these shapes."""

    def __init__(
        self,
        function: Function,
        call: ExportedCall,
        results: Sequence[Array],
        shapes: Sequence[tuple[int, ...]],
    ) -> None:
        self._call = call
        dtypes = [spec.dtype for spec in function.signature.inputs]
        super().__init__(function, dtypes, [False] * len(results), results, shapes)

    def tree_of(self, arrays: Sequence[Array]) -> Any:
        """The tree that the manifest has for the results."""
        return self._call.results(arrays)

    def expression(self, results: Sequence[str]) -> Expression:
        """As `tree_of`, of results that are called so."""
        return self._call.expression(results)

    def raise_located(self, error: AdzeError, leaves: Sequence[Any]) -> NoReturn:
        """Raise the error of a call with the line of the call."""
        error.locate(user_location_text())
        raise error


class LoadedProgram:
    """A program from a `.vmfb`: call it with the trees of arrays that it was built for.

    Of a program with several functions, `program["step"]` is the one called `step`, and a call of the
    program is a call of the first. The arrays that it keeps live on its device as long as it does.
    """

    def __init__(self, loaded: artifact.LoadedProgram) -> None:
        self._loaded = loaded
        # one call at a time may load and store what the program keeps
        self._turn: AbstractContextManager[Any] = threading.Lock() if self._changing else nullcontext()
        self._functions = {
            exported.signature.name: LoadedFunction(loaded, exported, self._turn)
            for exported in loaded.manifest.functions
        }
        self._call = self._functions[loaded.manifest.functions[0].signature.name]

    def __reduce__(self) -> Any:
        raise ArgumentTypeError(
            "a loaded program is on a device of this process: it cannot be pickled or copied",
            where=user_location_text(),
            hint="pass the path of its file on, and load it there",
        )

    def __copy__(self) -> LoadedProgram:
        return self

    @property
    def functions(self) -> list[str]:
        """The names of the functions."""
        return list(self._functions)

    def __getitem__(self, name: str) -> LoadedFunction:
        """The function called `name`."""
        if name not in self._functions:
            raise ArgumentError(
                f"the program has no function {name!r}: it has {', '.join(self._functions)}",
                where=user_location_text(),
            )
        return self._functions[name]

    @property
    def state(self) -> dict[str, Array]:
        """The arrays that calls of the program change, by name, as they are now."""
        with located(), self._turn:
            values = self._loaded.executable.call(GETTER, []) if self._changing else []
        return {held.spec.name: Array(v) for held, v in zip(self._changing, values, strict=True)}

    def set_state(self, arrays: Mapping[str, Any]) -> None:
        """Replace all arrays that calls of the program change; what does not fit is an `ArgumentError`."""
        names = [held.spec.name for held in self._changing]
        wrong = sorted(set(names) ^ set(arrays))
        if wrong or not names:
            raise ArgumentError(
                f"the state is {', '.join(names) or 'empty'}: "
                f"{'no ' if wrong and wrong[0] in names else ''}{wrong[0] if wrong else 'nothing'} was given",
                where=user_location_text(),
            )
        values = [runtime_argument(arrays[held.spec.name], held.spec.dtype) for held in self._changing]
        with located(), self._turn:
            self._loaded.executable.call(SETTER, values)

    @property
    def _changing(self) -> list[Held]:
        parameters = self.manifest.parameters
        return [held for held in parameters.held if held.is_mutable] if parameters else []

    @property
    def in_shardings(self) -> tuple[NamedSharding, ...]:
        """How the inputs of the first function lie on the ranks; empty where it takes whole arrays."""
        return () if self._call.parts is None else self._call.parts.inputs

    @property
    def out_shardings(self) -> tuple[NamedSharding, ...]:
        """How its results lie on the ranks; empty where it returns whole arrays."""
        return () if self._call.parts is None else self._call.parts.outputs

    @property
    def manifest(self) -> Manifest:
        """What the program says of itself."""
        return self._loaded.manifest

    @property
    def target(self) -> str:
        """What its code was built for: of a file with several variants, that of the chosen one."""
        return self._loaded.manifest.target

    @property
    def device(self) -> str:
        """The name of the device that it runs on."""
        return self._loaded.device.name

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Call the first function, by position or by name; numbers may be written as nested lists."""
        return self._call(*args, **kwargs)

    def leaves_of(self, leaves: Sequence[Any]) -> list[Array]:
        """The results of the first function in order, for one argument an input in order."""
        return self._call.leaves_of(leaves)

    def differentiable(self, name: str | None = None) -> KeptFunction:
        """The program as a function that `grad`, `vmap`, `jit` and the other transforms take.

        Of a program with several functions the one called `name`, by default the first. It is that of the
        adze IR which the file keeps, with the shapes, dtypes and custom rules that it was traced with.
        Called as it is, it evaluates op by op with NumPy; `adze.jit` compiles it. Needs the compiler. Raises
        `ArgumentError` where the file keeps no IR, `ArtifactError` for one that this adze cannot read.
        """
        try:
            from .kept import KeptFunction
        except ModuleNotFoundError as error:
            if not (error.name or "").startswith("adze."):
                raise
            raise MissingCompilerError("differentiable()") from None

        with located():
            return KeptFunction(artifact.Contents(b"", self.manifest, self._loaded.ir), name)

    def __repr__(self) -> str:
        shown = "; ".join(str(function.signature) for function in self._functions.values())
        return f"<{shown} on {self.device}>"


def load(
    path: str | os.PathLike[str],
    device: str | None = None,
    *,
    key: str | os.PathLike[str] | bytes | None = None,
    target: str | None = None,
    parameters: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    recompile: bool = True,
) -> LoadedProgram:
    """The program saved at `path`, ready to be called on `device` (by default the cheapest of its target).

    `key` is the public key of who signed the file (`adze sign`), as a PEM file or its text in bytes: a file
    that is not signed by it, or was changed since, is refused before any native code sees it. Without a key
    the file is protected against damage only, and has to come from somewhere that you trust.

    Of a file with several variants the best one is taken that this machine can run, or that for `target`.

    `parameters` replace the arrays that the program has outside its file: a `.safetensors` or `.irpa` file,
    or arrays by name. One that is missing, or of another dtype or shape, is an error here.

    A file that another version of IREE compiled, and that keeps its adze IR, is compiled again from that for
    this machine, in memory, with a `RuntimeWarning`; this needs the compiler. With `recompile=False` it is
    refused, as one without IR is.

    Raises `ArtifactError` for a file that is missing, damaged, foreign, or built for another machine,
    `SignatureError`, which is one, for a wrong signature, `KeyFileError` for what is no key, and
    `ArgumentTypeError` for what is no path.
    """
    if not isinstance(path, str | os.PathLike):
        raise ArgumentTypeError(
            f"load expects the path of a .vmfb file, got {type(path).__name__}",
            where=user_location_text(),
            hint="write the bytes to a file first" if isinstance(path, bytes) else None,
        )
    with located():
        given = parameters if parameters is None or isinstance(parameters, Mapping) else Path(parameters)
        known = None if key is None else public_key(key)
        try:
            return LoadedProgram(artifact.load(path, device, known, target, given))
        except OtherVersionError as error:
            if not recompile:
                raise
            contents = artifact.read(path, known)
            if not contents.ir:
                raise
            new = _compiled_again(contents, device, target, error)
        return LoadedProgram(artifact.load_contents(new, Path(path), device, parameters=given))


def _parts_of(manifest: Manifest, exported: ExportedFunction) -> Parts | None:
    """How arguments and results lie on the ranks, where the program takes and returns parts."""
    if EXTRA not in manifest.extra:
        return None
    try:
        from .parts import parts_of
    except ModuleNotFoundError as missing:
        if not (missing.name or "").startswith("adze."):
            raise
        raise MissingCompilerError(
            "load() of a program for several ranks", hint="adze run FILE runs it, or install adze-compiler"
        ) from None
    return parts_of(manifest.extra, exported.signature)


def _compiled_again(
    contents: artifact.Contents, device: str | None, target: str | None, error: OtherVersionError
) -> artifact.Contents:
    try:
        from .recompiled import recompiled_here
    except ModuleNotFoundError as missing:
        if not (missing.name or "").startswith("adze."):
            raise
        raise OtherVersionError(
            error.message,
            hint="where the compiler is (adze-compiler), adze transform FILE -o NEW compiles it again",
        ) from None
    new = recompiled_here(contents, device, target)
    warnings.warn(
        f"{error.message}; it was compiled again from its adze IR: adze transform FILE -o NEW does that once",
        RuntimeWarning,
        stacklevel=3,
    )
    return new
