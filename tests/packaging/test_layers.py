"""The import graph: imports point one way between the folders, and the two doors to IREE are the only ones.

Read from the syntax trees, so that imports inside functions count as well; those under TYPE_CHECKING count
for the direction, but are no way into IREE.
"""

import ast
import importlib
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from adze.dialects.dialect import BY_NAME
from adze.dialects.op import Op

# What each folder may import from; frontend/api is the public surface and re-exports from frontend.
MAY_IMPORT = {
    "dialects": set(),
    "runtime": {"dialects"},
    "passes": {"dialects", "runtime"},
    "frontend": {"dialects", "runtime", "passes"},
    "cli": {"dialects", "runtime", "passes", "frontend"},
}
# The runtime needs only what an error, a dtype and a type are: loading a program loads no op.
OF_DIALECTS_FOR_RUNTIME = {
    *("adze.dialects.collective_calls", "adze.dialects.communicator", "adze.dialects.errors"),
    *("adze.dialects.dataclass", "adze.dialects.interrupts", "adze.dialects.mlir"),
    "adze.dialects.symbolic_sizes",
    "adze.dialects.types",
}


IMPORTS = (ast.Import, ast.ImportFrom)


@cache
def import_statements(path: Path) -> list[tuple[ast.Import | ast.ImportFrom, bool]]:
    """The imports of a file, those within functions too, each with whether only a type checker reads it."""
    return [*_imports_within(ast.parse(path.read_text(encoding="utf-8")).body, False)]


def _imports_within(
    body: list[ast.stmt], for_types: bool
) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    for node in body:
        if isinstance(node, IMPORTS):
            yield node, for_types
            continue
        is_guard = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        yield from _imports_within(getattr(node, "body", []), for_types or is_guard)
        for part in ("orelse", "finalbody"):
            yield from _imports_within(getattr(node, part, []), for_types)
        for part in (*getattr(node, "handlers", []), *getattr(node, "cases", [])):
            yield from _imports_within(part.body, for_types)


def package_of(path: Path, checkout: Path) -> str:
    """The package whose relative imports `path` writes: `adze.passes.lower` for passes/lower/builder.py."""
    folder = path.relative_to(checkout).parent
    parts = folder.parts
    if parts[:2] == ("frontend", "api"):
        parts = parts[2:]
    return ".".join(("adze", *parts))


def source_of(node: ast.ImportFrom, package: str) -> str:
    """The full name of the module or package that a file of `package` imports from."""
    parts = package.split(".")
    base = parts[: len(parts) - node.level + 1] if node.level else []
    return ".".join([*base, *([node.module] if node.module else [])])


@cache
def imports_of(path: Path, checkout: Path, *, at_run_time: bool = False) -> list[tuple[str, int]]:
    """Full names of what a file imports, with their lines; for `from a import b` both `a` and `a.b`."""
    return [*_imports_of(path, checkout, at_run_time)]


def _imports_of(path: Path, checkout: Path, at_run_time: bool) -> Iterator[tuple[str, int]]:
    package = package_of(path, checkout)
    for node, for_types in import_statements(path):
        if for_types and at_run_time:
            continue
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            module = source_of(node, package)
            yield module, node.lineno
            for alias in node.names:
                yield f"{module}.{alias.name}", node.lineno


def files(folder: Path) -> list[Path]:
    result = sorted(folder.rglob("*.py"))
    assert result, f"{folder} holds no Python files"
    return result


@pytest.mark.parametrize("folder", MAY_IMPORT)
def test_imports_point_one_way(folder: str, checkout: Path) -> None:
    wrong = []
    for path in files(checkout / folder):
        for name, line in imports_of(path, checkout):
            parts = name.split(".")
            if parts[0] != "adze" or len(parts) < 2 or parts[1] not in MAY_IMPORT:
                continue
            if parts[1] != folder and parts[1] not in MAY_IMPORT[folder]:
                wrong.append(f"{path.relative_to(checkout)}:{line} imports {name}")
    assert wrong == []


def test_runtime_needs_no_op_of_the_dialect(checkout: Path) -> None:
    wrong = []
    for path in files(checkout / "runtime"):
        for name, line in imports_of(path, checkout):
            is_dialect = name.startswith("adze.dialects.")
            if is_dialect and ".".join(name.split(".")[:3]) not in OF_DIALECTS_FOR_RUNTIME:
                wrong.append(f"{path.relative_to(checkout)}:{line} imports {name}")
    assert wrong == []


def test_mlir_bindings_enter_through_one_module(checkout: Path) -> None:
    door = checkout / "dialects" / "mlir.py"
    bindings = ("iree.compiler.ir", "iree.compiler.dialects", "iree.compiler.rewrite")
    bindings += ("iree.compiler.passmanager", "iree.compiler._mlir_libs")
    wrong = [
        f"{path.relative_to(checkout)}:{line} imports {name}"
        for folder in MAY_IMPORT
        for path in files(checkout / folder)
        if path != door
        for name, line in imports_of(path, checkout, at_run_time=True)
        if name.startswith(bindings)
    ]
    assert wrong == []


def test_iree_enters_through_dialects_mlir_and_the_runtime(checkout: Path) -> None:
    wrong = [
        f"{path.relative_to(checkout)}:{line} imports {name}"
        for folder in ("passes", "frontend", "cli", "dialects")
        for path in files(checkout / folder)
        if path != checkout / "dialects" / "mlir.py"
        for name, line in imports_of(path, checkout, at_run_time=True)
        if name.split(".")[0] == "iree"
    ]
    assert wrong == []


def test_nothing_imports_jax_or_another_oracle(checkout: Path) -> None:
    oracles = {"jax", "jaxlib", "scipy", "sklearn", "mpmath", "hypothesis", "pytest"}
    # Eager values of the special functions come from SciPy where it is installed, see docs/dependencies.md.
    optional = {
        ("dialects/ops/elementwise/special.py", "scipy"),
        ("passes/partition/shardy.py", "jaxlib"),  # it has Shardy, which propagates shardings
        ("passes/partition/choose.py", "scipy"),  # it solves integer programs
    }
    wrong = [
        f"{path.relative_to(checkout)}:{line} imports {name}"
        for folder in MAY_IMPORT
        for path in files(checkout / folder)
        for name, line in imports_of(path, checkout)
        if name.split(".")[0] in oracles
        if (path.relative_to(checkout).as_posix(), name.split(".")[0]) not in optional
    ]
    assert wrong == []


ENGINES = ("autodiff", "batching", "optimize", "analysis", "ir")


def engine_files(checkout: Path) -> list[Path]:
    return [path for folder in ENGINES for path in files(checkout / "passes" / folder)]


def test_engines_import_no_op(checkout: Path) -> None:
    """Engines ask an op what it is by its hooks, see `dialects/op.py`; helpers of rules may be shared."""
    tables = {"adze.dialects.dialect.BY_NAME", "adze.dialects.dialect.OPS"}
    wrong = []
    for path in engine_files(checkout):
        for name, line in imports_of(path, checkout):
            module, _, member = name.rpartition(".")
            result = None
            if module.startswith("adze.dialects."):
                result = getattr(importlib.import_module(module), member, None)
            is_op = isinstance(result, type) and issubclass(result, Op) and result is not Op
            if is_op or name in tables:
                wrong.append(f"{path.relative_to(checkout)}:{line} imports {name}")
    assert wrong == []


def test_engines_compare_no_name_of_an_op(checkout: Path) -> None:
    wrong = []
    for path in engine_files(checkout):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Compare):
                continue
            sides = [part for side in (node.left, *node.comparators) for part in ast.walk(side)]
            texts = {part.value for part in sides if isinstance(part, ast.Constant)}
            names_an_op = any(isinstance(part, ast.Attribute) and part.attr == "name" for part in sides)
            if names_an_op and texts & (BY_NAME.keys() | {f"adze.{name}" for name in BY_NAME}):
                wrong.append(f"{path.relative_to(checkout)}:{node.lineno} compares with the name of an op")
    assert wrong == []


# The folders and files of frontend/, each importing only from those before it.
FRONTEND = (
    "errors",
    "listed_names",
    "tree",
    "written_trees",
    "tracing",
    "transforms",
    "control",
    "library",
    "sharding",
    "staging",
    "imports",
    "exporting",
    "report",
    "compat",
)


def test_folders_of_the_frontend_import_one_way(checkout: Path) -> None:
    wrong = []
    for path in files(checkout / "frontend"):
        folder = path.relative_to(checkout).parts[1].removesuffix(".py")
        if folder in ("api", "__init__"):
            continue
        for name, line in imports_of(path, checkout):
            parts = name.split(".")
            if parts[:2] != ["adze", "frontend"] or len(parts) < 3:
                continue
            if FRONTEND.index(parts[2]) > FRONTEND.index(folder):
                wrong.append(f"{path.relative_to(checkout)}:{line} imports {name}")
    assert wrong == []


def module_of(path: Path, checkout: Path) -> str:
    """The full name of a file's module."""
    package = package_of(path, checkout)
    return package if path.stem == "__init__" else f"{package}.{path.stem}"


def modules_imported(path: Path, checkout: Path, modules: Mapping[str, Path]) -> set[str]:
    """The modules that a file imports, within functions too; `from package import module` is the module."""
    package = package_of(path, checkout)
    sources = [
        (source_of(node, package), alias.name)
        for node, for_types in import_statements(path)
        if isinstance(node, ast.ImportFrom) and not for_types
        for alias in node.names
    ]
    names = {f"{source}.{name}" if f"{source}.{name}" in modules else source for source, name in sources}
    return names & modules.keys()


def test_no_file_imports_itself_through_others(checkout: Path) -> None:
    """Imports within functions count, and those that a stub lists for its package: they only hide a cycle."""
    modules = {module_of(path, checkout): path for folder in MAY_IMPORT for path in files(checkout / folder)}
    graph: dict[str, set[str]] = {name: set() for name in modules}
    for name, path in modules.items():
        for text in (path, path.with_suffix(".pyi")):
            graph[name] |= modules_imported(text, checkout, modules) - {name} if text.exists() else set()
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))
