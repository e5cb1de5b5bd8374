"""The last stage of a program: `Compiled`, bytes that a device runs, and how they came about.

Input: what IREE made of a program, or what the cache kept. Output: something to call, save or measure.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...dialects.dataclass import dataclass
from ...dialects.types import TensorType
from ...runtime.artifact import artifact
from ...runtime.artifact.manifest import Manifest
from ...runtime.compile.cache import CacheKey, CacheRecord
from ...runtime.distributed.programs import EXTRA
from ...runtime.execute.devices import get_device
from ...runtime.execute.host_calls import MODULE as HOST_CALLS
from ...runtime.execute.host_calls import HostSite
from ...runtime.execute.program import Executable, Function
from ...runtime.targets import Target
from .. import tree
from ..errors import ArgumentTypeError, UnsupportedError
from ..tracing.array import Array
from ..tracing.locations import located, user_location_text
from ..tracing.trace import Parameter, TracedProgram
from .call_arguments import UNKNOWN, call_key
from .default_devices import default_device
from .described import Described
from .entries import Entry
from .exports import signature_text
from .host import runtime_argument
from .known_calls import KnownCalls, are_leaves
from .modules import kept_ir

if TYPE_CHECKING:
    from ...passes.analysis.cost import Cost
    from .parts import Parts


@dataclass(frozen=True)
class CompileReport:
    """How a compiled program came about: its cache key, and whether the cache had it and why not.

    `compile_seconds` are those of the compile, also where that was long ago; None: an older adze noted none.
    """

    key: CacheKey
    record: CacheRecord
    compile_seconds: float | None = None

    def __str__(self) -> str:
        outcome = "cache hit" if self.record.hit else "cache miss"
        return f"{outcome}: {self.record.explanation} ({self.record.digest[:12]})"


@dataclass(frozen=True)
class MemoryAnalysis:
    """Bytes that a call needs, by JAX's names: dynamic sizes count as 1."""

    argument_size_in_bytes: int
    output_size_in_bytes: int
    temp_size_in_bytes: int
    generated_code_size_in_bytes: int
    peak_memory_in_bytes: int
    alias_size_in_bytes: int = 0


class Compiled(Described):
    """A program, loaded on first use on a device of its target: call it, `save` it, look at it."""

    def __init__(
        self,
        traced: TracedProgram,
        manifest: Manifest,
        vmfb: bytes,
        target: Target,
        report: CompileReport,
        device: str | None,
        sites: tuple[HostSite, ...] = (),
    ) -> None:
        self.sites = sites
        self.program = traced
        self.manifest = manifest
        self.vmfb = vmfb
        self.target = target
        self.report = report
        self._device = device
        self._function: Function | None = None
        self._entry: Entry | None = None
        self._known = KnownCalls()

    @property
    def function(self) -> Function:
        """The runtime's function; loads the program on first use."""
        if self._function is None:
            work = self.manifest.work
            name = self._device or default_device(self.target)
            device = get_device(name, work=work)
            grows = work if name == "cpu" else None
            executable = Executable(self.vmfb, device, self.manifest.signatures, sites=self.sites, work=grows)
            self._function = executable.function(self.program.symbol)
        return self._function

    @property
    def device(self) -> str:
        """The name of the device that the program is loaded on."""
        return self.function.device.name

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Call with arrays of exactly the traced shapes and dtypes (Python numbers for 0-d arguments)."""
        results = self._known.call(args, kwargs)
        if results is not UNKNOWN:
            return results
        leaves, structure = tree.flatten((args, kwargs))
        if structure != self.program.argument_tree:
            raise ArgumentTypeError(
                f"{self.program.symbol}() was compiled for arguments "
                f"{tree.describe_arguments(self.program.argument_tree)}, "
                f"got {tree.describe_arguments(structure)}",
                where=user_location_text(),
            )
        key = call_key(leaves)
        results = self.call_leaves(leaves)
        if self._parts is not None:
            return results
        entry = self._entry or Entry(self)
        if entry.is_static:
            self._entry = entry
        else:
            entry = Entry(self, results, [getattr(leaf, "shape", ()) for leaf in leaves])
        self._known.add(structure, key, leaves, are_leaves(args, kwargs, leaves), entry)
        return results

    def call_leaves(self, leaves: Sequence[Any]) -> Any:
        """Call with the leaves of the argument tree."""
        parts = self._parts
        with located():
            if parts is not None:
                results = parts.arrays(self.function.call(parts.of(leaves)))
            else:
                called = self.function.call(arguments_for(self.program.parameters, leaves))
                results = [Array(r) for r in called]
        return tree.unflatten(self.program.result_tree, results)

    @cached_property
    def _parts(self) -> Parts | None:
        """How arguments and results lie on the ranks, where the program takes and returns parts."""
        if EXTRA not in self.manifest.extra:
            return None
        from .parts import parts_of

        return parts_of(self.manifest.extra, self.manifest.signatures[0])

    def cost(self) -> Cost:
        """The cost of the program as it was traced."""
        from ...passes.analysis.cost import cost

        return cost(self.program.module)

    def memory_analysis(self) -> MemoryAnalysis:
        """The bytes of a call, counted on the IR as traced, and those of the program."""
        arguments = _bytes([p.type for p in self.program.parameters])
        results = _bytes(self.program.result_types)
        peak = self.cost().peak_bytes
        temporary = max(peak - arguments - results, 0)
        return MemoryAnalysis(arguments, results, temporary, len(self.vmfb), peak)

    def as_text(self) -> str:
        """The program as it was lowered for its target, as MLIR."""
        return self.mlir("linalg")

    def mlir(self, stage: str = "traced", *, locations: bool = False) -> str:
        """The IR of a stage that the program went through, for its target."""
        from .stage_texts import text_at

        return text_at(self.program, stage, self.target, locations=locations)

    def require_portable(self) -> None:
        """Raise `UnsupportedError` for a program that no file can hold: one that calls Python functions, or
        takes arguments whose sizes are expressions."""
        calls = [site for site in self.sites if site.module == HOST_CALLS]
        if calls:
            places = ", ".join(dict.fromkeys(site.where or "?" for site in calls))
            raise UnsupportedError(
                f"{self.program.symbol}() calls Python functions of this process, which no file can hold: "
                f"{places}",
                hint="leave debug.print and the callbacks out of what is deployed, or return their arguments",
            )
        for spec in self.manifest.functions[0].signature.inputs:
            if not all(n is None or isinstance(n, int) or n.isidentifier() for n in spec.shape):
                raise UnsupportedError(
                    f"{self.program.symbol}() takes {spec}: no file of a program has an expression as a "
                    "dimension of an argument",
                    hint="give the dimension a name of its own, or write it with adze.export",
                )

    def save(self, path: str | os.PathLike[str], *, keep_ir: bool = False) -> Path:
        """Write the program as a deployable `.vmfb`, whole or not at all.

        With `keep_ir` the file holds the adze IR as it was traced too, constants included, so that
        `load(path).differentiable()` can be differentiated, batched and compiled again.
        """
        self.require_portable()
        ir = kept_ir(self.program.module) if keep_ir else b""
        return artifact.save(path, artifact.Contents(self.vmfb, self.manifest, ir))

    def __repr__(self) -> str:
        return f"Compiled({signature_text(self.program)}, target={self.target}, {len(self.vmfb)} bytes)"


def _bytes(types: Sequence[TensorType]) -> int:
    """The bytes of arrays of these types, dynamic sizes counted as 1."""
    known = ([n if isinstance(n, int) else 1 for n in t.shape] for t in types)
    return sum(t.dtype.itemsize * math.prod(sizes) for t, sizes in zip(types, known, strict=True))


def arguments_for(parameters: Sequence[Parameter], leaves: Sequence[Any]) -> list[Any]:
    """Argument leaves as the runtime takes them: device arrays, NumPy arrays of the parameter's dtype."""
    return [runtime_argument(leaf, p.type.dtype) for leaf, p in zip(leaves, parameters, strict=True)]
