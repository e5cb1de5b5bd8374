"""`python -m tests.jax_names`: writes the table of JAX's public names, `tests/jax_names.txt`, again.

Input: jax as installed, adze, the reasons of `tests/jax_absences.py`. Output: a line for each name of JAX's
everyday modules: `name` where adze has it, `name without k1 k2` where some of its parameters are missing, and
`- name: reason` where adze lacks it. A name that the table has cannot leave it: the script refuses.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import sys
import types
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from .jax_absences import IGNORED_PARAMETERS, IN_COMPAT, reason_of

TABLE: Final = Path(__file__).with_suffix(".txt")
MODULES: Final = [
    "jax",
    "jax.Array",
    "jax.numpy",
    "jax.numpy.linalg",
    "jax.numpy.fft",
    "jax.lax",
    "jax.lax.linalg",
    "jax.nn",
    "jax.nn.initializers",
    "jax.random",
    "jax.scipy.special",
    "jax.scipy.linalg",
    "jax.scipy.signal",
    "jax.scipy.ndimage",
    "jax.scipy.fft",
    "jax.scipy.integrate",
    "jax.scipy.interpolate",
    "jax.scipy.optimize",
    "jax.scipy.cluster.vq",
    "jax.scipy.spatial.transform",
    "jax.scipy.sparse.linalg",
    "jax.scipy.stats",
    "jax.tree",
    "jax.tree_util",
    "jax.ops",
    "jax.flatten_util",
    "jax.dtypes",
    "jax.errors",
    "jax.typing",
    "jax.debug",
    "jax.image",
    "jax.dlpack",
    "jax.custom_derivatives",
    "jax.custom_batching",
    "jax.ad_checkpoint",
    "jax.api_util",
    "jax.stages",
    "jax.test_util",
    "jax.sharding",
    "jax.profiler",
    "jax.distributed",
    "jax.monitoring",
    "jax.export",
    "jax.example_libraries.stax",
    "jax.example_libraries.optimizers",
    "jax.experimental",
    "jax.experimental.ode",
    "jax.experimental.sparse",
    "jax.experimental.checkify",
    "jax.experimental.jet",
    "jax.experimental.multihost_utils",
    "jax.experimental.mesh_utils",
]


def modules() -> list[str]:
    """The modules whose names count, the distributions of `jax.scipy.stats` among them."""
    stats = importlib.import_module("jax.scipy.stats")
    return [*MODULES, *sorted(f"jax.scipy.stats.{m.name}" for m in pkgutil.iter_modules(stats.__path__))]


def _imported(name: str) -> Any:
    """A module, or a class of one."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        package, _, member = name.rpartition(".")
        return getattr(_imported(package), member) if member[:1].isupper() else None


def public_names(module: Any) -> list[str]:
    """What `__all__` lists, or else what is defined in jax, is no module and has no underscore."""
    listed = getattr(module, "__all__", None)
    return sorted(n for n in (listed or dir(module)) if _is_public(module, n, listed is not None))


def _is_public(module: Any, name: str, is_listed: bool) -> bool:
    value = getattr(module, name, module)
    if name.startswith("_") or isinstance(value, types.ModuleType) or type(value).__name__ == "_Feature":
        return False
    home = getattr(value, "__module__", None) or "jax"
    is_listed = is_listed or isinstance(module, type)
    return is_listed or home.split(".")[0] in ("jax", "jaxlib", "ml_dtypes", "numpy")


def parameters(function: Any) -> list[str]:
    """The names by which arguments can be passed; empty for what has no signature."""
    if isinstance(function, type) or not callable(function):
        return []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            signature = inspect.signature(function)
    except (TypeError, ValueError):
        return []
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [p.name for p in signature.parameters.values() if p.kind in named]


def missing_parameters(theirs: Any, ours: Any) -> list[str]:
    """The parameters of JAX's function that adze's does not take by name."""
    wanted, have = parameters(theirs), parameters(ours)
    try:
        kinds = {p.kind for p in inspect.signature(ours).parameters.values()}
    except (TypeError, ValueError):
        return []
    if inspect.Parameter.VAR_KEYWORD in kinds:
        return []
    return [p for p in wanted if p not in have and p not in IGNORED_PARAMETERS and not p.startswith("_")]


def ours_of(module: str) -> Any:
    """The module of adze that stands for JAX's, None if there is none."""
    return _imported("adze" + module.removeprefix("jax"))


def lines_of(module: str) -> Iterator[str]:
    """The lines of the table for one module of JAX."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs, ours = _imported(module), ours_of(module)
        for name in public_names(theirs):
            if ours is None or not hasattr(ours, name):
                is_in_compat = hasattr(_imported(f"adze.compat.{module}"), name)
                yield f"- {name}: {IN_COMPAT if is_in_compat else reason_of(module, name)}"
                continue
            missing = missing_parameters(getattr(theirs, name), getattr(ours, name))
            yield f"{name} without {' '.join(missing)}" if missing else name


def table() -> str:
    """The whole table as text."""
    parts, have, total, partial = [], 0, 0, 0
    for module in modules():
        lines = [*lines_of(module)]
        if not lines:
            continue
        present = sum(not line.startswith("- ") for line in lines)
        have, total = have + present, total + len(lines)
        partial += sum(" without " in line and not line.startswith("- ") for line in lines)
        parts.append("\n".join([f"[{module}] {present} of {len(lines)}", *lines]))
    first = f"# {have} of {total} names, {partial} of them without all parameters; by tests/jax_names.py"
    return "\n\n".join([first, *parts]) + "\n"


def present_in(text: str) -> set[tuple[str, str]]:
    """The names that a table says adze has, with their modules."""
    result, module = set(), ""
    for line in text.splitlines():
        if line.startswith("["):
            module = line[1 : line.index("]")]
        elif line and not line.startswith(("#", "- ")):
            result.add((module, line.split(" ")[0]))
    return result


def main() -> None:
    text = table()
    lost = present_in(TABLE.read_text()) - present_in(text) if TABLE.exists() else set()
    if lost:
        sys.exit(f"names that the table has are missing: {sorted(lost)}")
    TABLE.write_text(text)
    print(text.splitlines()[0])


if __name__ == "__main__":
    main()
