"""Errors that public docstrings promise: a call here, or another test that names both, raises each."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import inspect
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adze
from adze import lax
from adze import numpy as xp

VECTOR, MATRIX = np.ones(3, np.float32), np.ones((3, 3), np.float32)
TESTS = Path(__file__).parents[1]


class Registered:
    """A class that is a node of trees once."""


@dataclasses.dataclass
class Pair:
    first: int
    second: int


def of(module: str) -> Any:
    return importlib.import_module(f"adze.{module}")


def sharding(*axes: str | None) -> Any:
    return adze.NamedSharding(adze.make_mesh((1,), ("a",)), adze.P(*axes))


def registered_twice() -> None:
    for _ in range(2):
        adze.tree.register(Registered, lambda node: ((), None), lambda aux, children: Registered())


def batched_by_a_bad_rule() -> Any:
    function = of("custom_batching").custom_vmap(lambda x: x)
    function.def_vmap(lambda size, batched, x: (x[:, None], True))
    return adze.vmap(function)(VECTOR)


def host_program() -> Any:
    function = adze.jit(lambda x: adze.pure_callback(np.asarray, adze.ShapeDtype((3,)), x))
    return function.lower(VECTOR).compile()


def without(module: str, call: Callable[[], Any]) -> Any:
    """The call, where a module is not installed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, module, None)
        return call()


def exported() -> Any:
    export = of("export")
    return export.deserialize(export.export(adze.jit(lambda x: x))(VECTOR).serialize())


def of_a_file(use: Callable[[Path], Any]) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "f.vmfb"
        adze.trace(lambda x: x + 1, VECTOR).lower().compile().save(path)
        return use(path)


def of_a_file_without_ir() -> Any:
    return of_a_file(lambda path: adze.load(path).differentiable())


def loaded_with_a_bad_key() -> Any:
    return of_a_file(lambda path: adze.load(path, key=b"no key"))


def specialized() -> Any:
    program = adze.Program({"w": MATRIX})

    @program.reads(adze.ShapeDtype(("n", 3)))
    def rows(state: Any, x: Any) -> Any:
        return x @ state["w"]

    return program.specialize("rows", {"m": 3})


def initializer(*choice: str) -> Any:
    return of("nn.initializers").variance_scaling(1.0, *choice)


KEY = adze.random.key(0)
PROMISES: list[tuple[str, str, Callable[[], Any]]] = [
    ("custom_vmap", "TraceError", lambda: of("custom_batching").custom_vmap(lambda x: x)(VECTOR)),
    ("custom_vmap", "TraceError", batched_by_a_bad_rule),
    (
        "tridiagonal_solve",
        "UnsupportedError",
        lambda: lax.linalg.tridiagonal_solve(VECTOR, VECTOR, VECTOR, MATRIX, perturb_singular=True),
    ),
    ("view", "ShapeError", lambda: xp.asarray(VECTOR).view(np.float64)),
    ("value_and_grad", "UnsupportedError", lambda: adze.value_and_grad(xp.sum, reduce_axes=("i",))),
    ("breakpoint", "ArgumentError", lambda: adze.debug.breakpoint(backend="web")),
    ("visualize_sharding", "ShapeError", lambda: adze.debug.visualize_sharding((2, 2, 2), sharding("a"))),
    ("device_put", "DeviceError", lambda: adze.device_put(VECTOR, "cpu:99")),
    ("device_put", "DeviceError", lambda: adze.device_put(VECTOR, "nothing")),
    (
        "piecewise_constant",
        "ArgumentError",
        lambda: of("example_libraries.optimizers").piecewise_constant([1, 2], [1.0, 2.0]),
    ),
    (
        "jet",
        "ArgumentError",
        lambda: of("experimental.jet").jet(lambda x, y: x * y, (1.0, 1.0), ((1.0,), (1.0, 2.0))),
    ),
    ("jet", "ArgumentTypeError", lambda: of("experimental.jet").jet(lambda x: x, (1,), ((1.0,),))),
    (
        "BCOO",
        "ShapeError",
        lambda: of("experimental.sparse").BCOO((VECTOR, np.zeros((2, 1), np.int32)), shape=(4,)),
    ),
    (
        "sparsify",
        "UnsupportedError",
        lambda: of("experimental.sparse").sparsify(xp.sort)(of("experimental.sparse").BCOO.fromdense(MATRIX)),
    ),
    ("export", "ArgumentError", lambda: of("export").export(lambda x: x)),
    ("deserialize", "ArtifactError", lambda: of("export").deserialize(b"no export")),
    ("symbolic_shape", "ArgumentError", lambda: of("export").symbolic_shape("a*,b")),
    ("symbolic_args_specs", "ArgumentError", lambda: of("export").symbolic_args_specs((VECTOR,), "a,b")),
    (
        "register_namedtuple_serialization",
        "ArgumentError",
        lambda: of("export").register_namedtuple_serialization(int, serialized_name="int"),
    ),
    (
        "register_pytree_node_serialization",
        "ArgumentError",
        lambda: of("export").register_pytree_node_serialization(
            int, serialized_name="int", serialize_auxdata=bytes, deserialize_auxdata=bytes
        ),
    ),
    ("ravel_pytree", "ShapeError", lambda: of("flatten_util").ravel_pytree([VECTOR])[1](np.ones(4))),
    ("fwd_and_bwd", "ArgumentError", lambda: adze.fwd_and_bwd(lambda x: x, argnums=3)[0](VECTOR)),
    (
        "custom_linear_solve",
        "TraceError",
        lambda: lax.custom_linear_solve(lambda x: x, VECTOR, lambda _, b: b[:2]),
    ),
    (
        "custom_linear_solve",
        "TraceError",
        lambda: lax.custom_linear_solve(lambda x: x, VECTOR, lambda _, b: (b,)),
    ),
    (
        "custom_linear_solve",
        "TraceError",
        lambda: lax.custom_linear_solve(lambda x: x, VECTOR, lambda _, b: b, has_aux=True),
    ),
    (
        "custom_root",
        "TraceError",
        lambda: lax.custom_root(lambda x: x, VECTOR, lambda _, x: x[:2], lambda _, y: y),
    ),
    ("load", "ArgumentTypeError", lambda: adze.load(3)),  # type: ignore[arg-type]
    ("variance_scaling", "ArgumentError", lambda: initializer("fan", "normal")(KEY, (2, 2))),
    ("variance_scaling", "ArgumentError", lambda: initializer("fan_in", "cauchy")(KEY, (2, 2))),
    ("variance_scaling", "ShapeError", lambda: initializer("fan_in", "normal")(KEY, (2,))),
    ("asanyarray", "ArgumentError", lambda: xp.asanyarray(object())),
    ("ascontiguousarray", "ArgumentError", lambda: xp.ascontiguousarray(object())),
    ("partition", "ArgumentError", lambda: xp.partition(VECTOR, 7)),
    ("einsum", "ArgumentError", lambda: xp.einsum("i->->", VECTOR)),
    ("einsum", "ShapeError", lambda: xp.einsum("i,i->i", VECTOR, VECTOR[:2])),
    ("logpdf", "ShapeError", lambda: of("scipy.stats").dirichlet.logpdf(VECTOR / 3, VECTOR[:2])),
    ("gaussian_kde", "ArgumentError", lambda: of("scipy.stats").gaussian_kde(VECTOR, bw_method="other")),
    ("gaussian_kde", "ShapeError", lambda: of("scipy.stats").gaussian_kde(MATRIX, weights=VECTOR[:2])),
    ("require_portable", "UnsupportedError", lambda: host_program().require_portable()),
    ("as_text", "ArgumentError", lambda: adze.trace(lambda x: x, VECTOR).lower().as_text("other")),
    (
        "as_text",
        "ModelUnsupportedError",
        lambda: (
            adze.trace(lambda x: adze.pure_callback(np.asarray, adze.ShapeDtype((3,)), x), VECTOR)
            .lower()
            .as_text("stablehlo")
        ),
    ),
    ("differentiable", "ArgumentError", of_a_file_without_ir),
    ("load", "KeyFileError", loaded_with_a_bad_key),
    ("vjp", "ArgumentError", lambda: exported().vjp()),
    ("check", "ArgumentError", lambda: of("experimental.checkify").check(VECTOR, "is {}", VECTOR)),
    ("initialize", "DistributedError", lambda: without("mpi4py", of("distributed").initialize)),
    (
        "put_along_axis",
        "ArgumentError",
        lambda: xp.put_along_axis(VECTOR, np.array([0]), 1.0, 0, inplace=True),
    ),
    ("specialize", "ArgumentError", specialized),
    ("serialize", "ArgumentError", lambda: exported().serialize(vjp_order=1)),
    (
        "register_einops",
        "UnsupportedError",
        lambda: without("einops._backends", of("imports").register_einops),
    ),
    ("register", "ArgumentError", registered_twice),
    ("register_pytree_node", "ArgumentError", lambda: of("tree_util").register_pytree_node(dict, id, id)),
    (
        "tree_transpose",
        "ArgumentError",
        lambda: of("tree_util").tree_transpose(adze.tree.structure((0, 0)), adze.tree.structure([0]), (1, 2)),
    ),
    (
        "transpose",
        "ArgumentError",
        lambda: adze.tree.transpose(adze.tree.structure((0, 0)), adze.tree.structure([0]), (1, 2)),
    ),
    ("flatten_one_level", "ArgumentError", lambda: of("tree_util").flatten_one_level(3)),
    (
        "flatten_one_level_with_keys",
        "ArgumentError",
        lambda: of("tree_util").flatten_one_level_with_keys(3),
    ),
    ("register_dataclass", "ArgumentError", lambda: of("tree_util").register_dataclass(Pair, ["first"], [])),
    (
        "register_dataclass",
        "ArgumentTypeError",
        lambda: of("tree_util").register_dataclass(Pair, data_fields=["first"]),
    ),
    (
        "minimize",
        "ShapeError",
        lambda: of("scipy.optimize").minimize(lambda x: x.sum(), MATRIX, method="BFGS"),
    ),
    ("cg", "ShapeError", lambda: of("scipy.sparse.linalg").cg(MATRIX, VECTOR, x0=VECTOR[:2])),
    ("check_array", "ShapeError", lambda: sharding(None, "a").check_array(VECTOR)),
    (
        "with_sharding_constraint",
        "ShardingError",
        lambda: lax.with_sharding_constraint(VECTOR, sharding(None, "a")),
    ),
    (
        "autoshard",
        "MissingSolverError",
        lambda: without(
            "scipy.optimize",
            lambda: adze.autoshard(lambda x: x @ x, adze.make_mesh((1,), ("a",)))(adze.ShapeDtype((4, 4))),
        ),
    ),
    (
        "autoshard",
        "ShardingError",
        lambda: adze.autoshard(lambda x: x, adze.make_mesh((1,), ("a",)))(adze.ShapeDtype(("n",))),
    ),
]


@pytest.mark.parametrize(
    ("name", "error", "call"), PROMISES, ids=[f"{n}-{e}-{k}" for k, (n, e, _) in enumerate(PROMISES)]
)
def test_a_call_raises_what_its_docstring_says(name: str, error: str, call: Callable[[], Any]) -> None:
    with pytest.raises(adze.AdzeError) as caught:
        call()
    assert error in [c.__name__ for c in type(caught.value).__mro__], caught.value


def public_modules() -> Iterator[Any]:
    folder = Path(str(adze.__file__)).parent
    for file in sorted(folder.rglob("*.py")):
        parts = [p for p in file.relative_to(folder).with_suffix("").parts if p != "__init__"]
        if not any(part.startswith("_") for part in parts):
            yield importlib.import_module(".".join(("adze", *parts)))


def promised() -> set[tuple[str, str]]:
    """Public functions and methods, and the errors that their docstrings say they raise."""
    found = set()
    for module in public_modules():
        for name in dir(module):
            value = getattr(module, name, None)
            methods = vars(value).items() if inspect.isclass(value) else ()
            for short, function in ((name, value), *methods):
                if short.startswith("_") or not str(getattr(function, "__module__", "")).startswith("adze"):
                    continue
                text = inspect.getdoc(function) or ""
                if re.search("[Rr]aises?", text):
                    found |= {(short, error) for error in re.findall(r"`(\w+Error)`", text)}
    return found


@functools.cache
def texts() -> list[str]:
    """The files that test errors."""
    return [t for t in (p.read_text() for p in sorted(TESTS.rglob("*.py"))) if "raises(" in t]


NEAR = 40
"""Lines between a call and the error that a test expects of it, at most."""


def is_tested(name: str, error: str) -> bool:
    """Whether a test names both, one near the other."""
    words = re.compile(rf"\b{name}\b")
    for text in texts():
        lines = text.splitlines() if error in text else []
        called = [n for n, line in enumerate(lines) if words.search(line)]
        expected = [n for n, line in enumerate(lines) if error in line and "import " not in line]
        if any(abs(n - m) <= NEAR for n in called for m in expected):
            return True
    return False


def test_every_promised_error_is_raised_by_a_test() -> None:
    found = promised()
    assert len(found) > 80
    missing = sorted(pair for pair in found if not is_tested(*pair))
    assert missing == []
