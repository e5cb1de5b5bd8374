"""The stages between a Python function and a program: `Traced -> Lowered -> Compiled`, each inspectable.

`jit(f).trace(*args)` stops after tracing; `.lower(target)` rewrites to linalg for a target; `.compile()`
gives something to call, save or measure. Every stage prints its IR (`.mlir()`) and itself in one line.
"""

from __future__ import annotations

import copy
import hashlib
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from ...dialects import mlir
from ...dialects.communicator import bound
from ...dialects.dialect import BY_NAME
from ...dialects.ops.constants import SizeCheck
from ...passes.analysis.cost import Cost, cost
from ...passes.analysis.verify import location_text, verify
from ...passes.base import Pass
from ...passes.ir.functions import function
from ...passes.ir.pretty import pretty
from ...passes.lower.collective_sites import collective_sites, job_of
from ...passes.lower.host_calls import localized
from ...passes.lower.iree.recomputed_reductions import has_chains
from ...passes.lower.kernels.loops.embed import has_loop_kernels
from ...passes.lower.kernels.loops.replace import LoopKernels, loop_remarks
from ...passes.lower.outline_layers import OutlineLayers, has_layers, may_have_equal_layers
from ...passes.lower.plan import hints_of, is_vectorized
from ...passes.partition.combine import CombineCollectives
from ...passes.partition.divide import divide
from ...passes.partition.traffic import bytes_sent, exchanges, stated_grids
from ...passes.pipeline import (
    LOWERED,
    OPTIMIZE,
    PIPELINE,
    SIMPLIFIED,
    Observer,
    between,
    for_target,
    run_pipeline,
)
from ...passes.registry import parse_pipeline
from ...runtime.artifact import artifact
from ...runtime.artifact.manifest import Manifest, make_manifest, reflection_text
from ...runtime.compile.cache import CacheKey, CacheRecord, CompileCache, cache_key
from ...runtime.compile.compiler import VECTORIZE_LOOPS, CompileOptions
from ...runtime.compile.strategy import Facts, compile_program
from ...runtime.distributed.programs import EXTRA, Job
from ...runtime.errors import CompileError
from ...runtime.execute.devices import get_device
from ...runtime.execute.host_calls import MODULE as HOST_CALLS
from ...runtime.execute.host_calls import HostSite
from ...runtime.execute.program import Executable, Function
from ...runtime.settings import read_settings
from ...runtime.targets import Target, TargetKind, parse_target
from .. import tree
from ..errors import ArgumentError, ArgumentTypeError, UnsupportedError
from ..tracing.array import Array
from ..tracing.locations import located, user_location_text
from ..tracing.trace import Parameter, TracedProgram
from .default_devices import default_device
from .entries import UNKNOWN, Entry, KnownCalls
from .exports import exported_functions, kept_arrays, signature_text
from .features import explained
from .host import runtime_argument
from .kernels import KERNELS, inline_layers, kernels_text, tuning_of
from .modules import StageDumps, bytecode, clone_module, kept_ir, module_text
from .retraces import kind_of_leaf

TRACED: Final = "traced"
PARTITIONED: Final = "partitioned"

STAGES: Final = {"simplified": SIMPLIFIED, "linalg": LOWERED}
"""Stages by the names that users know: each is what the pass leaves."""


class Traced:
    """A function as adze IR. `print` shows it as MLIR; `.pretty()` in the compact readable form."""

    def __init__(self, traced: TracedProgram) -> None:
        self.program = traced
        verify(traced.module)

    @property
    def parameters(self) -> list[Parameter]:
        """The array arguments, in order."""
        return self.program.parameters

    @property
    def jaxpr(self) -> Traced:
        """Itself, under JAX's name for what a trace prints."""
        return self

    def does_anything(self) -> bool:
        """Whether the program has a result or an effect, such as `print`, that a user asked for."""
        has_effect = False

        def look(operation: Any) -> Any:
            nonlocal has_effect
            op = BY_NAME.get(operation.name.removeprefix("adze."))
            has_effect = has_effect or (op is not None and op.has_effect and op is not SizeCheck)
            return mlir.ir.WalkResult.INTERRUPT if has_effect else mlir.ir.WalkResult.ADVANCE

        self.program.module.operation.walk(look)
        return has_effect or bool(self.program.result_types)

    @property
    def defined_at(self) -> str | None:
        """File and line of the traced function."""
        return self.program.defined_at

    def mlir(self, stage: str = "traced", *, locations: bool = False) -> str:
        """The IR as MLIR text at a stage: `traced`, `simplified`, `linalg`, or after the pass of that name.

        `partitioned` is the program of one rank, where the program states shardings over a mesh, and the
        bytes that its collectives send.

        `kernels` shows the kernels that IREE makes, with their tiles. What is lowered is lowered for the
        host's processor.
        """
        return self.at_stage(stage, "cpu", locations=locations)

    def at_stage(self, stage: str, target: str | Target, *, locations: bool = False) -> str:
        """As `mlir`, lowered for `target`."""
        if stage == TRACED:
            return module_text(self.program.module, locations=locations)
        if stage == PARTITIONED:
            return self._partitioned(locations)
        if stage == KERNELS:
            return self.lower(target).kernels(locations=locations)
        last = STAGES.get(stage, stage)
        if last not in (step.name for step in PIPELINE):
            names = ", ".join(step.name for step in PIPELINE)
            raise ArgumentError(
                f"there is no stage {stage!r}: expected traced, simplified, partitioned, linalg or kernels",
                where=user_location_text(),
                hint=f"or the name of a pass: {names}",
            )
        if last == LOWERED:
            return self.lower(target).mlir(locations=locations)
        module = clone_module(self.program.module)
        steps = for_target(
            between(None, last), parse_target(target), loop_kernels=read_settings().loop_kernels
        )
        run_pipeline(module, steps)
        return module_text(module, locations=locations)

    def _partitioned(self, locations: bool) -> str:
        """The program of one rank, and behind it what the ranks send."""
        module = clone_module(self.program.module)
        run_pipeline(module, OPTIMIZE)
        grids = stated_grids(module)
        if len(grids) != 1:
            what = "names no mesh of ranks" if not grids else f"names {len(grids)} meshes"
            raise ArgumentError(
                f"the program {what}, so that there is no program of one rank",
                where=user_location_text(),
                hint="state shardings: adze.jit(f, in_shardings=NamedSharding(mesh, PartitionSpec('data')))",
            )
        main = self.program
        types, results = main.parameters, main.result_types
        with located():
            divide(module, main.symbol, grids.pop(), [None] * len(types), [None] * len(results))
        found = exchanges(module, main.symbol)
        text = module_text(module, locations=locations).rstrip()
        CombineCollectives().run(module)
        together = sum(each.times or 1 for each in exchanges(module, main.symbol))
        lines = [f"// {each}" for each in found]
        lines.append(f"// a rank sends {bytes_sent(found)} bytes a call, in {together} collectives")
        return "\n".join((text, *lines)) + "\n"

    def remarks(self, target: str | Target = "cpu") -> list[str]:
        """A line for each loop that the host sees: where it is, whether it becomes a kernel, and why."""
        module = clone_module(self.program.module)
        steps = for_target(
            between(None, LoopKernels.name), parse_target(target), loop_kernels=read_settings().loop_kernels
        )
        run_pipeline(module, steps)
        return [f"{location_text(location)}: {text}" for location, text in loop_remarks(module)]

    def pretty(self) -> str:
        """One line an op: `%3: f32[4,2] = mul(%1, %2)`."""
        return pretty(self.program.module)

    def cost(self) -> Cost:
        """Arithmetic, memory traffic and the most bytes alive at once, counted on the IR as traced."""
        return cost(self.program.module)

    def lower(self, target: str | Target = "cpu", observer: Observer | None = None) -> Lowered:
        """Run the pipeline for `target`: simplify and rewrite to linalg."""
        with located():
            chosen = parse_target(target)
        dumps = self._dumps()
        dumps.write(TRACED, self.program.module)
        program = self._of_one_rank()
        module = clone_module(program.module)
        sites = localized(module)
        ir_sha256, job = "", None

        def observe(step: Pass, module: Any, seconds: float) -> None:
            nonlocal ir_sha256, job, sites
            dumps.write(step.name, module)
            if step.name == SIMPLIFIED:
                ir_sha256 = hashlib.sha256(module_text(module).encode()).hexdigest()
            if step.name == CombineCollectives.name:
                sites, job = (*sites, *collective_sites(module)), job_of(module)
            if observer is not None:
                observer(step, module, seconds)

        steps = for_target(PIPELINE, chosen, loop_kernels=read_settings().loop_kernels)
        run_pipeline(module, steps, observer=observe)
        return Lowered(program, module, chosen, ir_sha256, sites, job)

    def _of_one_rank(self) -> TracedProgram:
        """The program of each rank of the job that this process is of, or builds for, if it states shardings.

        Its arguments and results are whole: each rank takes its parts, and has all of what comes out.
        """
        communicator = bound()
        if communicator is None or communicator.size == 1:
            return self.program
        grids = [g for g in stated_grids(self.program.module) if math.prod(g.sizes) == communicator.size]
        if not grids:
            return self.program
        program = copy.copy(self.program.program)
        program.module = clone_module(self.program.module)
        run_pipeline(program.module, OPTIMIZE)
        whole = self.program
        arguments = [((),) * p.type.rank for p in whole.parameters]
        with located():
            divide(
                program.module,
                whole.symbol,
                grids[0],
                arguments,
                [((),) * t.rank for t in whole.result_types],
            )
        return replace(whole, program=program)

    def _dumps(self) -> StageDumps:
        root = read_settings().dump_dir
        if root is None:
            return StageDumps(None)
        digest = hashlib.sha256(module_text(self.program.module).encode()).hexdigest()[:8]
        return StageDumps(root / f"{self.program.symbol}-{digest}")

    def __str__(self) -> str:
        return self.mlir()

    def __repr__(self) -> str:
        return f"Traced({signature_text(self.program)})"


class Lowered:
    """A program as linalg on tensors, for one target; `ir_sha256` is of its simplified adze IR."""

    def __init__(
        self,
        traced: TracedProgram,
        module: Any,
        target: Target,
        ir_sha256: str,
        sites: tuple[HostSite, ...] = (),
        job: Job | None = None,
    ) -> None:
        self.sites, self.job = sites, job
        self.program = traced
        self.module = module
        self.target = target
        self.hints = hints_of(module)
        self.ir_sha256 = ir_sha256
        self.manifest = self._manifest(ir_sha256)

    def _manifest(self, ir_sha256: str) -> Manifest:
        return make_manifest(
            exported_functions(self.program),
            self.target,
            flags=(*self.target.flags, *self.options().flags()),
            ir_sha256=ir_sha256,
            work=float(self.hints.largest_work) if self.hints.is_static else None,
            extra=None if self.job is None else {EXTRA: self.job.to_json()},
            parameters=kept_arrays(self.program),
        )

    def cost(self) -> Cost:
        """The cost of the program as it was traced."""
        return cost(self.program.module)

    def mlir(self, *, locations: bool = False) -> str:
        """The IR as MLIR text."""
        return module_text(self.module, locations=locations)

    def kernels(self, *, locations: bool = False) -> str:
        """The kernels that IREE divides the program into, with their tiles, as MLIR text."""
        return kernels_text(self.bytecode(), self.target, self.hints, self.options(), locations=locations)

    def bytecode(self) -> bytes:
        """The module as MLIR bytecode, with the user's lines for IREE's messages."""
        return bytecode(self.module)

    def canonical(self) -> bytes:
        """The module as text without locations: equal programs, equal bytes, wherever they were written."""
        return module_text(self.module).encode()

    def options(self) -> CompileOptions:
        """The compile options that the lowering asks for."""
        vectorizes = has_loop_kernels(self.module) or is_vectorized(self.module)
        flags = VECTORIZE_LOOPS if vectorizes else ()
        return CompileOptions(data_tiling=self.hints.data_tiling, extra_flags=flags)

    def cache_key(self, options: CompileOptions | None = None) -> CacheKey:
        """What decides the bytes that a compile gives: equal keys, equal programs."""
        options = options or self.options()
        self._attach_manifest(self.module, options)
        return cache_key(self.canonical(), self.target, options)

    def compile(
        self, *, device: str | None = None, options: CompileOptions | None = None, cache: bool = True
    ) -> Compiled:
        """Compile with IREE, through the persistent cache unless `cache` is false."""
        options = options or self.options()
        settings = read_settings()
        if settings.verify:
            options = replace(options, verifies_passes=True)
        key = self.cache_key(options)
        text = self.canonical()
        store = CompileCache(settings.cache_dir, settings.cache_max_bytes, settings.cache and cache)
        entry, record = store.get_or_compile(key, lambda: self._build(text, options, settings.dump_dir))
        manifest = replace(self.manifest, flags=tuple(entry.metadata["flags"]))
        return Compiled(
            self.program,
            manifest,
            entry.payload,
            self.target,
            CompileReport(key, record, entry.metadata.get("seconds")),
            device,
            self.sites,
        )

    def _attach_manifest(self, module: Any, options: CompileOptions) -> Any:
        """Let the exported function carry the manifest, for hosts that read reflection; returns `module`."""
        manifest = replace(self.manifest, flags=(*self.target.flags, *options.flags()))
        main = function(module, self.program.symbol)
        with module.context:
            main.attributes["iree.reflection"] = mlir.ir.Attribute.parse(reflection_text(manifest))
        return module

    def _build(self, text: bytes, options: CompileOptions, dump: Path | None) -> tuple[bytes, dict[str, Any]]:
        self.module.operation.verify()
        may_repeat = self.hints.is_static and may_have_equal_layers(self.module)
        is_on_gpu = self.target.kind is not TargetKind.CPU
        has_complex = b"complex<" in text
        facts = Facts(has_chains(self.module), has_complex, self.hints.is_static, may_repeat, is_on_gpu)
        tune = tuning_of(self.target, self.hints)
        try:
            built = compile_program(
                self.form,
                facts,
                self.target,
                options,
                reproducer_dir=dump,
                tune=tune,
                inline=tune or inline_layers,
            )
        except CompileError as error:
            if not has_loop_kernels(self.module):
                raise explained(error, self.program.module, self.target) from None
            return self._with_host_loops()._build_host_loops(options, dump)
        return built.vmfb, {
            "variant": built.variant,
            "rejected": [name for name, _ in built.rejected],
            "flags": [*self.target.flags, *built.options.flags()],
            "seconds": round(built.seconds, 3),
        }

    def _with_host_loops(self) -> Lowered:
        """The program lowered again, with every loop on the host."""
        module = clone_module(self.program.module)
        run_pipeline(module, for_target(PIPELINE, self.target, loop_kernels=False))
        return Lowered(self.program, module, self.target, self.ir_sha256, self.sites, self.job)

    def _build_host_loops(self, options: CompileOptions, dump: Path | None) -> tuple[bytes, dict[str, Any]]:
        """As `_build`, of a program that IREE did not take with its loops as kernels."""
        flags = tuple(flag for flag in options.extra_flags if flag not in VECTORIZE_LOOPS)
        vmfb, metadata = self._build(self.canonical(), replace(options, extra_flags=flags), dump)
        return vmfb, {**metadata, "rejected": ["kernels of loops", *metadata["rejected"]]}

    def form(self, passes: Sequence[str], options: CompileOptions) -> bytes:
        """The module as bytecode, changed by `passes`, with the manifest of a compile with `options`."""
        module = clone_module(self.module)
        run_pipeline(module, [step for name in passes for step in parse_pipeline(name)])
        if OutlineLayers.name in passes and not has_layers(module):
            raise CompileError("the program has no equal layers")
        return bytecode(self._attach_manifest(module, options))

    def __str__(self) -> str:
        return self.mlir()

    def __repr__(self) -> str:
        return f"Lowered({signature_text(self.program)}, target={self.target})"


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


class Compiled:
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
            executable = Executable(self.vmfb, device, self.manifest.signatures, sites=self.sites)
            self._function = executable.function(self.program.symbol)
        return self._function

    @property
    def device(self) -> str:
        """The name of the device that the program is loaded on."""
        return self.function.device.name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
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
        results = self.call_leaves(leaves)
        kinds = tuple([kind_of_leaf(leaf) for leaf in leaves])
        self._entry = self._entry or Entry(self)
        self._known.add(structure, kinds, leaves, not kwargs and len(leaves) == len(args), self._entry)
        return results

    def call_leaves(self, leaves: Sequence[Any]) -> Any:
        """Call with the leaves of the argument tree."""
        with located():
            results = self.function.call(arguments_for(self.program.parameters, leaves))
        return tree.unflatten(self.program.result_tree, [Array(r) for r in results])

    def cost(self) -> Cost:
        """The cost of the program as it was traced."""
        return cost(self.program.module)

    def mlir(self, stage: str = "traced", *, locations: bool = False) -> str:
        """The IR of a stage that the program went through, for its target."""
        return Traced(self.program).at_stage(stage, self.target, locations=locations)

    def require_portable(self) -> None:
        """Raise `UnsupportedError` for a program that calls Python functions, which a file cannot hold."""
        calls = [site for site in self.sites if site.module == HOST_CALLS]
        if calls:
            places = ", ".join(dict.fromkeys(site.where or "?" for site in calls))
            raise UnsupportedError(
                f"{self.program.symbol}() calls Python functions of this process, which no file can hold: "
                f"{places}",
                hint="leave debug.print and the callbacks out of what is deployed, or return their arguments",
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


def arguments_for(parameters: Sequence[Parameter], leaves: Sequence[Any]) -> list[Any]:
    """Argument leaves as the runtime takes them: device arrays, NumPy arrays of the parameter's dtype."""
    return [runtime_argument(leaf, p.type.dtype) for leaf, p in zip(leaves, parameters, strict=True)]
