"""NPBench's kernels as cases, from a checkout of its public sources: nothing of them is in this repository.

Input: a folder with `bench_info` and `npbench/benchmarks` of https://github.com/spcl/npbench.
Output: a case for each kernel, at the sizes of a preset (S, M).

NPBench has each kernel in NumPy and, written by its authors, in JAX. The JAX source runs unchanged in both
compilers: for adze, the names of the modules that it imports are replaced. All arguments but arrays are
constants, and the whole kernel is compiled. NumPy runs NPBench's NumPy source; arrays that it writes to are
copied in each call.
"""

import ast
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from _case import Case
from _peers import Peer

TOLERANCES = {"stockham_fft": 1000.0}
"""Times the usual tolerance: twiddles made of int64 times a Python complex number are complex64 in adze."""


@dataclass
class Kernel:
    """One kernel: its description in `bench_info`, its sources, and the preset of its sizes.

    `arrays` initializes the kernel. It keeps the other arguments and returns the arrays, which may have a GB.
    """

    folder: Path
    info: dict[str, Any]
    preset: str
    constants: dict[str, Any] = field(default_factory=dict)

    def source(self, postfix: str) -> Path:
        place = self.folder / "npbench" / "benchmarks" / self.info["relative_path"]
        return place / f"{self.info['module_name']}{postfix}.py"

    def arrays(self) -> tuple[Any, ...]:
        """The arrays that `initialize` makes from the parameters of the preset."""
        values = dict(self.info["parameters"][self.preset])
        init = self.info.get("init")
        if init:
            initialize = getattr(loaded(self.source("")), init["func_name"])
            made = initialize(*(values[name] for name in init["input_args"]))
            names = init["output_args"]
            values |= dict(zip(names, made if len(names) > 1 else (made,), strict=True))
        arrays = self.info["array_args"]
        self.constants = {name: value for name, value in values.items() if name not in arrays}
        return tuple(values[name] for name in arrays)

    def joined(self, arrays: tuple[Any, ...]) -> list[Any]:
        """The positional arguments of the kernel, with these arrays."""
        by_name = dict(zip(self.info["array_args"], arrays, strict=True))
        return [by_name.get(name, self.constants.get(name)) for name in self.info["input_args"]]

    def compiled(self, postfix: str) -> Callable[..., Any]:
        def function(peer: Peer, *arrays: Any) -> Any:
            module = loaded(self.source(postfix), peer.name)
            return getattr(module, self.info["func_name"])(*self.joined(arrays))

        return function

    def numpy(self, *arrays: Any) -> Any:
        kernel = getattr(loaded(self.source("_numpy")), self.info["func_name"])
        names = self.info["array_args"]
        written = set(self.info["output_args"])
        own = tuple(a.copy() if n in written else a for n, a in zip(names, arrays, strict=True))
        result = kernel(*self.joined(own))
        if result is None:
            result = tuple(a for n, a in zip(names, own, strict=True) if n in written)
        return result


def npbench_cases(folder: Path, preset: str) -> tuple[Case, ...]:
    """The kernels that have a JAX source which imports nothing but JAX's common modules."""
    cases = []
    for description in sorted((folder / "bench_info").glob("*.json")):
        info = json.loads(description.read_text(encoding="utf-8"))["benchmark"]
        kernel = Kernel(folder, info, preset)
        for postfix, title in (("_jax", ""), ("_jax_lib", " lib")):
            if is_portable(kernel.source(postfix)):
                cases.append(case_of(kernel, f"{description.stem}{title}", postfix))
    return tuple(cases)


def case_of(kernel: Kernel, name: str, postfix: str) -> Case:
    tolerance = TOLERANCES.get(kernel.info["module_name"], 1.0)
    function = kernel.compiled(postfix)
    return Case(name, function, lambda _: kernel.arrays(), numpy=kernel.numpy, tolerance=tolerance, wide=True)


def is_portable(source: Path) -> bool:
    """Whether a file exists and imports JAX and the standard library only; sparse arrays are JAX's own."""
    if not source.exists():
        return False
    text = source.read_text(encoding="utf-8")
    return "jax.experimental" not in text


def loaded(source: Path, library: str = "numpy") -> ModuleType:
    """A module from a file; for another library than JAX, `jax` means that library in its imports."""
    name = f"npbench_{library}_{source.stem}"
    module = ModuleType(name)
    tree = ast.parse(source.read_text(encoding="utf-8"), str(source))
    if library not in ("jax", "numpy"):
        tree = ast.fix_missing_locations(Renamed(library).visit(tree))
    exec(compile(tree, str(source), "exec"), module.__dict__)
    return module


class Renamed(ast.NodeTransformer):
    """Imports of `jax` become imports of another library under the same names.

    NPBench tells JAX to compute with 64 bits, where new arrays are float64 if nothing is said. In adze they
    are float32, so such calls say float64.
    """

    def __init__(self, library: str) -> None:
        self.library = library

    def renamed(self, module: str) -> str:
        first, *rest = module.split(".")
        return ".".join([self.library if first == "jax" else first, *rest])

    def visit_Import(self, node: ast.Import) -> ast.AST:
        names = []
        for alias in node.names:
            is_bare = alias.asname is None and alias.name == "jax"
            names.append(ast.alias(self.renamed(alias.name), "jax" if is_bare else alias.asname))
        return ast.Import(names)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        return ast.ImportFrom(self.renamed(node.module or ""), node.names, node.level)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node.func:
            case ast.Attribute(ast.Name("jnp"), "zeros" | "ones" | "empty" | "eye"):
                if len(node.args) == 1 and not any(keyword.arg == "dtype" for keyword in node.keywords):
                    dtype = ast.Attribute(ast.Name("jnp", ast.Load()), "float64", ast.Load())
                    node.keywords.append(ast.keyword("dtype", dtype))
        return node
