"""JAX's module names for adze: `adze.compat.jax`, and `jax` itself while it is installed."""

from __future__ import annotations

import copy
import importlib
import os
import pickle
import subprocess
import sys
import textwrap
from typing import Any

import numpy as np
import pytest

import adze
import adze.compat
import adze.compat.jax as jax
import adze.compat.jax.numpy as jnp
from adze.compat.jax import lax, random, tree_util
from adze.compat.jax.experimental import io_callback, mesh_utils
from adze.frontend.errors import ShardingError, UnsupportedError


def test_names_are_those_of_adze() -> None:
    assert jax.jit is adze.jit and jnp.exp is adze.numpy.exp and lax.scan is adze.lax.scan
    assert jax.numpy is jnp and random.PRNGKey is adze.random.PRNGKey
    assert tree_util.keystr is adze.tree_util.keystr
    for name in (
        "scipy.linalg",
        "nn.initializers",
        "example_libraries.optimizers",
        "experimental.ode",
        "debug",
    ):
        assert importlib.import_module(f"adze.compat.jax.{name}")
    assert {"jit", "Array", "grad"} <= set(dir(jax))
    with pytest.raises(AttributeError, match=r"adze has no jax\.numpy\.no_such_name"):
        jnp.no_such_name  # noqa: B018
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("adze.compat.jax.no_such_module")


def test_traced_and_concrete_arrays_are_arrays() -> None:
    seen = []
    jax.eval_shape(lambda x: seen.append(isinstance(x, jax.Array)) or x, jnp.ones(2))
    assert seen == [True] and isinstance(jnp.ones(2), jax.Array) and not isinstance(np.ones(2), jax.Array)


def test_primitives_have_the_rules_that_clients_declare() -> None:
    from adze.compat.jax.extend.core import Primitive
    from adze.compat.jax.interpreters import ad, batching

    mine = Primitive("mine")
    mine.def_impl(lambda x, y, *, scale: np.multiply(x, y) * scale)
    mine.def_abstract_eval(lambda x, y, *, scale: x)
    x, y = np.float32([1, 2]), np.float32([3, 4])
    assert mine.bind(x, y, scale=2).tolist() == [6, 16]
    assert jax.grad(lambda x: mine.bind(x, y, scale=2).sum())(x).tolist() == [6, 8]  # of its ops

    def rule(primals: Any, tangents: Any, scale: Any) -> Any:
        moved, still = tangents
        assert type(still) is ad.Zero and still.aval.shape == (2,)  # as in JAX: `y` is not differentiated
        return mine.bind(*primals, scale=scale), 100 * moved

    ad.primitive_jvps[mine] = rule
    assert jax.grad(jax.jit(lambda x: mine.bind(x, y, scale=2).sum()))(x).tolist() == [100, 100]

    seen = []

    def batcher(args: Any, dims: Any, scale: Any) -> Any:
        seen.append((tuple(dims), scale))
        return mine.bind(args[0].T, args[1][:, None], scale=scale), 1

    batching.primitive_batchers[mine] = batcher
    rows = np.float32([[1, 2], [3, 4], [5, 6]])
    mapped = jax.vmap(lambda row: mine.bind(row, y, scale=2))(rows)
    np.testing.assert_array_equal(mapped, rows * y * 2)
    assert set(seen) == {((0, None), 2)}


def test_results_of_a_primitive_that_are_not_batched_stay_one() -> None:
    from adze.compat.jax.extend.core import Primitive
    from adze.compat.jax.interpreters import batching

    both = Primitive("both")
    both.multiple_results = True
    both.def_impl(lambda x: [jnp.any(x), x + 1])
    batching.primitive_batchers[both] = lambda args, dims: (both.bind(*args), [None, dims[0]])
    any_, more = jax.vmap(lambda x: both.bind(x), out_axes=(None, 0))(np.float32([[0, 0], [0, 1]]))
    assert any_.tolist() is True and more.tolist() == [[1, 1], [1, 2]]

    def known(x: Any) -> Any:
        with jax.ensure_compile_time_eval():
            return both.bind(x)[0]

    assert jax.vmap(known, out_axes=None)(np.float32([[0, 0], [0, 1]])).tolist() is True


def test_public_names_are_found_in_private_modules() -> None:
    from adze.compat.jax._src import api
    from adze.compat.jax._src.lax import lax as private

    assert api.jit is adze.jit and private.add is adze.lax.add


def test_a_traced_function_has_the_types_that_clients_ask_for() -> None:
    shown = jax.make_jaxpr(lambda x: x + 1)(jax.ShapeDtypeStruct.like(jnp.ones((2, 3))))
    assert str(shown.jaxpr) == str(shown)
    assert [str(t) for t in (*shown.in_avals, *shown.out_avals)] == ["f32[2,3]", "f32[2,3]"]


def test_parts_of_jax_ir_are_refused() -> None:
    from adze.compat.jax.extend.core import Primitive

    assert jax.lax.exp_p is adze.lax.exp_p
    with pytest.raises(UnsupportedError, match="mine is a primitive of JAX's own tracer without an implem"):
        Primitive("mine").bind(1)
    with pytest.raises(UnsupportedError, match="is a part of JAX's IR"):
        jax.core.Token()


def test_clients_that_ask_are_told_that_the_default_is_float32() -> None:
    assert jax.config.jax_enable_x64 is False
    jax.config.update("jax_enable_x64", True)
    assert jax.config.x64_enabled
    jax.config.update("jax_enable_x64", False)
    assert (jnp.ones(2) * np.ones(2)).dtype == np.float64  # nothing is narrowed, whatever it says
    with pytest.raises(NotImplementedError):
        jax.config.update("jax_debug_infs", True)


def test_switches_of_the_configuration() -> None:
    traced = []

    @adze.jit
    def f(x: adze.Array) -> adze.Array:
        traced.append(type(x).__name__)
        return jnp.log(x)

    try:
        jax.config.update("jax_disable_jit", True)
        assert jax.config.jax_disable_jit is True
        f(jnp.ones(2))
        assert traced == ["Array"]
        jax.config.update("jax_disable_jit", False)
        f(jnp.ones(2))
        assert traced == ["Array", "Tracer"]
        jax.config.update("jax_debug_nans", True)
        for call in (lambda: jnp.log(-jnp.ones(2)), lambda: f(-jnp.ones(2))):
            with pytest.raises(FloatingPointError):
                call()
        with jax.debug_nans(False):
            assert np.isnan(f(-jnp.ones(2))).all()
    finally:
        jax.config.update("jax_debug_nans", False)
        jax.config.update("jax_disable_jit", False)
    assert np.isnan(f(-jnp.ones(2))).all()


def test_helpers_about_sequences() -> None:
    from adze.compat.jax._src import util

    assert util.safe_map(max, [1, 5], (4, 2)) == [4, 5]
    assert util.safe_zip("ab", range(2)) == [("a", 0), ("b", 1)]
    for call in (lambda: util.safe_map(max, [1, 2], [3]), lambda: util.safe_zip("ab", "c")):
        with pytest.raises(ValueError, match="the lengths differ: 2, 1"):
            call()
    assert util.unzip2([(1, "a"), (2, "b")]) == ((1, 2), ("a", "b"))
    assert util.unzip3([(1, "a", None)]) == ((1,), ("a",), (None,))
    assert util.split_list("abcd", [1, 2]) == [["a"], ["b", "c"], ["d"]]
    flags = [True, False, True]
    assert util.merge_lists(flags, *util.partition_list(flags, "abc")) == list("abc")
    assert util.concatenate(["ab", (3,)]) == ["a", "b", 3]
    assert util.curry(pow)(2)(5) == 32
    assert (util.ceil_of_ratio(7, 2), util.prod([2, 3])) == (4, 6)
    assert util.cache()(lambda x: x + 1)(2) == util.wraps(max)(lambda: 3)() == 3


def test_scipy_functions_on_arrays_of_the_shim() -> None:
    assert jnp.__array_api_version__ == adze.numpy.__array_api_version__
    assert jnp.__array_namespace_info__ is adze.numpy.__array_namespace_info__


def test_one_device() -> None:
    mapped = jax.pmap(lambda x: lax.psum(x, "i"), axis_name="i")
    assert mapped(jnp.ones((1, 2))).tolist() == [[1, 1]]
    with pytest.raises(UnsupportedError, match="pmap over 2 devices, of which each process has 1"):
        mapped(jnp.ones((2, 2)))
    grid = mesh_utils.create_device_mesh((2, 2))
    automatic = (jax.sharding.AxisType.Auto,) * 2
    assert jax.sharding.Mesh(grid, ("i", "j")) == jax.make_mesh((2, 2), ("i", "j"), automatic)
    with pytest.raises(ShardingError, match="create_device_mesh: 3 devices for a mesh of"):
        mesh_utils.create_device_mesh((2, 2), [0, 1, 2])
    full = jax.make_mesh((4,), ("i",))
    for devices in ([0, 1], full.devices[:2], adze.devices()[:2]):
        assert jax.make_mesh((2,), ("i",), devices=devices) == jax.make_mesh((2,), ("i",))
    for devices in (full.devices[2:], full.devices[1::-1]):
        other = jax.make_mesh((2,), ("i",), devices=devices)
        assert other != jax.make_mesh((2,), ("i",)) and list(other.devices) == list(devices)
    with pytest.raises(ShardingError, match="a device stands twice"):
        jax.make_mesh((2,), ("i",), devices=[jax.devices()[0]] * 2)
    with pytest.raises(ShardingError, match=r"make_mesh\(devices=...\): 3 devices for {'i': 2}"):
        jax.make_mesh((2,), ("i",), devices=full.devices[:3])
    assert jax.sharding.PartitionSpec("i", None) == ("i", None)


def test_as_many_devices_as_were_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [repr(d) for d in jax.devices()] == ["CpuDevice(id=0)"]
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_foo --xla_force_host_platform_device_count=4")
    assert jax.device_count() == jax.local_device_count() == len(jax.devices("cpu")) == 4
    monkeypatch.setenv("JAX_NUM_CPU_DEVICES", "3")
    assert jax.device_count() == 3
    try:
        jax.config.update("jax_num_cpu_devices", 8)
        devices = np.array(jax.devices()).reshape(4, 2)
        mesh = jax.sharding.Mesh(devices, ("x", "y"))
        assert str(mesh) == "Mesh('x': 4, 'y': 2, axis_types=(Auto, Auto))"
        assert isinstance(jax.make_mesh((2,), ("x",)), jax.sharding.Mesh)
        share = jax.pmap(lambda x: x / lax.psum(x, "i"), axis_name="i")(jnp.arange(8.0))
        assert np.allclose(share, np.arange(8) / 28)
        times = jax.pmap(lambda x, n: x * n, static_broadcasted_argnums=1)
        assert times(jnp.arange(8.0), 3).tolist() == (np.arange(8) * 3).tolist()
    finally:
        jax.config.update("jax_num_cpu_devices", None)
    with pytest.raises(RuntimeError, match="unknown backend 'gpu'"):
        jax.devices("gpu")
    device = devices[1, 1]
    assert (device.id, device.platform, device.process_index, str(device)) == (3, "cpu", 0, "cpu:3")
    assert jax.device_put(jnp.ones(2), device).tolist() == [1.0, 1.0]


def test_where_arrays_lie_on_meshes_in_any_order() -> None:
    full = jax.make_mesh((4,), ("x",))
    backwards = jax.make_mesh((4,), ("x",), devices=full.devices[::-1])
    place = jax.NamedSharding(backwards, jax.P("x"))
    x = jax.device_put(np.arange(4.0, dtype=np.float32), place)
    assert x.committed and not jnp.ones(3).committed
    assert x.devices() == set(full.devices) and x.sharding.num_devices == 4
    by_device = sorted(x.addressable_shards, key=lambda shard: shard.device.id)
    assert [float(shard.data[0]) for shard in by_device] == [3.0, 2.0, 1.0, 0.0]
    assert repr(by_device[0]).startswith(
        "Shard(device=CpuDevice(id=0), index=(slice(3, 4, None),), replica_id=0"
    )
    moved = jax.shard_map(
        lambda x: x + lax.axis_index("x"), mesh=backwards, in_specs=jax.P("x"), out_specs=jax.P("x")
    )
    assert moved(x).tolist() == [0.0, 2.0, 4.0, 6.0]


def test_shapes_inside_a_trace_may_use_its_values() -> None:
    def function(x: adze.Array) -> adze.Array:
        spec = jax.eval_shape(lambda y: y @ x, jax.ShapeDtypeStruct((3, 2), np.float32))
        return jnp.zeros_like(spec) + jax.eval_shape(lambda: x).size

    assert jax.jit(function)(jnp.ones((2, 4))).tolist() == [[8.0] * 4] * 3


def test_kinds_of_dtypes_that_numpy_has_not() -> None:
    key = random.PRNGKey(0)
    assert not jnp.issubdtype(key.dtype, jax.dtypes.prng_key)
    assert jnp.issubdtype(jax.dtypes.prng_key, jax.dtypes.extended)
    assert jax.dtypes.issubdtype(np.float32, np.floating) and jnp.issubdtype(np.float32, jnp.floating)


def test_values_at_compile_time() -> None:
    def function(x: adze.Array) -> adze.Array:
        with jax.ensure_compile_time_eval():
            count = int(jnp.arange(4).sum())
        return x * count

    assert jax.jit(function)(np.float32(2)) == 12


def test_shapes_of_traced_values_are_known_at_compile_time() -> None:
    def f(x: Any) -> Any:
        with jax.ensure_compile_time_eval():
            shape = jax.eval_shape(lambda: x[:2]).shape
            spec = jax.eval_shape(lambda y: (x + y, jnp.zeros(3)), jnp.ones(4))[0]
        return x * shape[0] + spec.size

    assert jax.jit(f)(jnp.ones(4)).tolist() == [6] * 4
    assert jax.jit(jax.grad(lambda x: f(x).sum()))(jnp.ones(4)).tolist() == [2] * 4


def test_ops_on_traced_values_stay_in_the_trace_at_compile_time() -> None:
    kinds = []

    def function(x: adze.Array) -> adze.Array:
        with jax.ensure_compile_time_eval():
            known, traced = jnp.arange(3).sum(), (x * 2).sum() > 0
            kinds.extend([isinstance(known, jax.core.Tracer), isinstance(traced, jax.core.Tracer)])
            with jax.ensure_compile_time_eval():
                traced = ~traced
        return jnp.where(traced, x, x * known)

    assert jax.jit(function)(np.float32([1, 2])).tolist() == [3, 6]
    assert jax.jit(jax.vmap(function))(np.float32([[1], [-2]])).tolist() == [[3], [-2]]
    assert set(kinds) == {False, True}
    leak = []
    jax.jit(lambda x: leak.append(x) or x)(np.float32(1))
    with jax.ensure_compile_time_eval(), pytest.raises(adze.AdzeError, match="after its trace had ended"):
        leak[0] + 1


INSTALLED = """
import sys
import adze.compat
with adze.compat.install():
    import jax, jax.numpy as jnp
    from jax import lax
    from jax.scipy.special import logsumexp
    import jax.experimental.ode
    import adze.compat.jax as same
    assert jax is same and jax.numpy is same.numpy and sys.modules["jax.numpy"] is jnp
    assert float(jax.grad(lambda x: lax.sin(x) * 1.0)(0.0)) == 1.0
    try:
        import jax.no_such_module
        raise SystemExit("imported")
    except ModuleNotFoundError:
        pass
assert not [name for name in sys.modules if name.partition(".")[0] == "jax"]
sys.modules["jax"] = sys  # something else that is called so
try:
    adze.compat.install()
    raise SystemExit("installed")
except ImportError as error:
    assert "jax is imported already" in str(error), error
print("done")
"""


def test_installed_as_jax_and_removed_again() -> None:
    done = subprocess.run([sys.executable, "-c", INSTALLED], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "done", done.stderr


def test_names_that_clients_of_jax_import() -> None:
    from adze.compat.jax.experimental import checkify
    from adze.compat.jax.extend.core.primitives import jit_p
    from adze.compat.jax.interpreters import xla

    assert jit_p.name == "jit" and np.ndarray in xla.canonicalize_dtype_handlers
    assert all(isinstance(kind, checkify.ErrorCategory) for kind in checkify.all_checks)
    assert jax.core.valid_jaxtype(1.0) and not jax.core.valid_jaxtype("a")
    assert tree_util.default_registry.flatten_one_level({"a": 1})[0] == (1,)
    assert tree_util.default_registry.flatten_one_level(3) is None
    with pytest.raises(UnsupportedError, match="take_current_trace"):
        jax.core.take_current_trace()


def test_an_object_with_operators_of_its_own_answers_for_arrays() -> None:
    class Wrapped:
        def __rmul__(self, other: Any) -> Any:
            return ("wrapped", other)

        __rsub__ = __rpow__ = __rmul__

    class Maker(type):
        def __rpow__(cls, other: Any) -> Any:
            return ("made", other)

    class Made(metaclass=Maker):
        pass

    x = jnp.ones(2)
    assert (x * Wrapped())[0] == "wrapped" and (x - Wrapped())[0] == "wrapped" and (x**Made)[0] == "made"
    assert jax.jit(lambda x: (x * Wrapped())[1])(x).tolist() == [1, 1]
    assert (x * (1 + 2j)).dtype == np.complex64


@pytest.mark.parametrize(
    "name", ["add", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor"]
)
def test_an_object_with_one_operator_answers_that_one(name: str) -> None:
    kind = type("Noise", (), {f"__r{name}__": lambda self, other: ("noise", other)})
    x = jnp.ones(2, jnp.int32)
    operator = getattr(type(x), f"__{name}__")
    assert operator(x, kind()) is NotImplemented
    assert (x * [1, 2]).tolist() == [1, 2]


def test_an_object_without_a_name_is_transformed() -> None:
    class Model:
        __name__ = __annotations__ = None

        def __call__(self, x: Any) -> Any:
            return x**2

    x = jnp.arange(3.0)
    model = Model()
    assert jax.vmap(model)(x).tolist() == [0, 1, 4] and jax.jit(model)(x).tolist() == [0, 1, 4]
    assert jax.grad(model)(3.0) == 6 and jax.jacfwd(model)(3.0) == 6 and jax.checkpoint(model)(3.0) == 9
    assert jax.eval_shape(model, x).shape == (3,) and jax.value_and_grad(model)(2.0)[0] == 4
    assert str(jax.make_jaxpr(model)(x)).startswith("{ lambda ; a:f32[3]. let")


def test_specs_are_results_of_eval_shape_and_have_dtypes() -> None:
    spec = jax.ShapeDtypeStruct((2, 3), "float16")
    assert jax.eval_shape(lambda: {"a": spec})["a"] == spec
    assert jax.jit(lambda x: x * (jax.eval_shape(lambda: spec).shape[1]))(1.0) == 3
    assert jnp.result_type(spec, np.float32) == np.float32 and not jnp.iscomplexobj(spec)


def test_ordered_calls_are_not_batched() -> None:
    seen: list[float] = []

    def call(x: Any, ordered: bool) -> Any:
        return io_callback(
            lambda v: (seen.append(float(v)), v)[1], jax.ShapeDtypeStruct((), x.dtype), x, ordered=ordered
        )

    xs = jnp.arange(3.0)
    assert jax.jit(lambda x: call(x, True))(xs[1]) == 1
    assert jax.vmap(lambda x: call(x, False))(xs).tolist() == [0, 1, 2]
    with pytest.raises(NotImplementedError, match="an ordered io_callback cannot be batched, as in JAX"):
        jax.vmap(lambda x: call(x, True))(xs)
    assert seen == [1, 0, 1, 2]


def test_compiles_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    @jax.jit
    def double(x: Any) -> Any:
        return 2 * x

    double(jnp.arange(2))
    with jax.explain_cache_misses(True):
        double(jnp.arange(2))
        double(jnp.arange(3.0))
    jax.config.update("jax_log_compiles", True)
    double(jnp.arange(4))
    jax.config.update("jax_log_compiles", False)
    double(jnp.arange(5))
    texts = [record.getMessage() for record in caplog.records]
    assert len(texts) == 2 and "Compiling double" in texts[0] and "argument x changed from i64[2]" in texts[0]


def test_constructs_on_traced_values_stay_in_their_trace_at_compile_time() -> None:
    def f(x: Any) -> Any:
        m = x * jnp.eye(3) + jnp.ones((3, 3))
        with jax.ensure_compile_time_eval():
            values = jnp.linalg.eigh(m)[0]
            total = lax.scan(lambda c, row: (c + row.sum(), c), 0.0, m)[0]
            total += lax.cond(m[0, 0] > 0, jnp.sum, jnp.prod, m)
            total += lax.fori_loop(0, 2, lambda _, c: 2 * c, m).sum()
            total += lax.while_loop(
                lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1]), (0, lax.stop_gradient(m))
            )[0]
            total += jax.vmap(jnp.sum)(m).sum() + jax.jit(jnp.sum)(m)
            slope = jax.grad(lambda z: (z**2).sum())(m).sum()
            assert jnp.zeros(3).sum().tolist() == 0  # what is not traced is known
        return values.sum() + total + slope

    expected = 9 + 15 + 15 + 60 + 3 + 15 + 15 + 30
    for run in (f, jax.jit(f), lambda x: jax.vmap(f)(jnp.array([x]))[0]):
        np.testing.assert_allclose(run(2.0), expected, rtol=1e-6)
    np.testing.assert_allclose([jax.grad(f)(2.0), jax.jit(jax.grad(f))(2.0)], [33, 33], rtol=1e-6)


def test_stages_by_their_names_in_jax() -> None:
    scaled = jax.jit(lambda x, n, *, bias: {"y": x * n + bias}, static_argnums=1)
    spec = jax.ShapeDtypeStruct((3,), np.float32)
    traced = scaled.trace(spec, 2, bias=np.float32(1))
    assert str(traced.jaxpr).startswith("{ lambda ; a:f32[3] b:f32[]. let")
    lowered = scaled.lower(spec, 2, bias=np.float32(1))
    assert "stablehlo.multiply" in lowered.as_text() and "linalg" in lowered.as_text("linalg")
    with pytest.raises(ValueError, match=r"as_text\(dialect='hlo'\)"):
        lowered.as_text("hlo")
    compiled = lowered.compile()
    assert compiled(np.float32([1, 2, 3]), bias=np.float32(1))["y"].tolist() == [3.0, 5.0, 7.0]
    for stage in (traced, lowered, compiled):
        assert stage.out_info["y"].shape == (3,) and stage.out_tree == jax.tree.structure({"y": 0})
        (args, kwargs) = stage.args_info
        assert args[0].dtype == np.float32 and list(kwargs) == ["bias"] and stage.in_tree.num_leaves == 2
        assert stage.cost_analysis()["flops"] == 6.0
    memory = compiled.memory_analysis()
    assert (memory.argument_size_in_bytes, memory.output_size_in_bytes) == (16, 12)
    assert memory.generated_code_size_in_bytes > 0 and "func.func" in compiled.as_text()
    assert scaled.eval_shape(spec, 2, bias=np.float32(1))["y"].shape == (3,)


def test_settings_of_xla_change_nothing_and_those_with_a_counterpart_say_it() -> None:
    jax.config.update("jax_compilation_cache_dir", "/tmp/anywhere")
    jax.config.update("jax_traceback_filtering", "off")
    assert jax.config.jax_compilation_cache_dir == "/tmp/anywhere"
    with pytest.raises(UnsupportedError, match="jax_dump_ir_to has no effect here"):
        jax.config.update("jax_dump_ir_to", "/tmp/anywhere")
    with pytest.raises(ValueError, match="has no setting 'jax_nothing'"):
        jax.config.update("jax_nothing", 1)


def test_values_of_all_processes() -> None:
    from adze.compat.jax.experimental import multihost_utils

    multihost_utils.sync_global_devices("begin")
    assert multihost_utils.process_allgather({"x": np.ones(2)})["x"].shape == (1, 2)
    assert multihost_utils.process_allgather(np.ones(2), tiled=True).shape == (2,)
    assert multihost_utils.broadcast_one_to_all(jnp.ones(2)).tolist() == [1.0, 1.0]


def test_types_of_numbers_make_arrays() -> None:
    assert isinstance(jnp.float32(1), jax.Array) and (jnp.float32(1) + jnp.int32(1)).dtype == np.float32
    assert jax.jit(lambda x: jnp.float32(x) * 2)(3).dtype == np.float32
    assert jnp.int32([1.5, 2]).tolist() == [1, 2] and bool(jnp.bool_(1)) is True
    for name in ("float32", "int8", "uint64", "complex64", "bfloat16", "bool_"):
        kind = getattr(jnp, name)
        dtype = np.dtype(kind)
        assert (
            kind == dtype.type
            and dtype.type == kind
            and hash(kind) == hash(dtype.type)
            and kind.dtype == dtype
        )
        assert dtype == kind and {dtype.type: 1}[kind] == 1 and isinstance(dtype.type(1), kind)
        assert jnp.zeros(2, kind).dtype == np.zeros(2, kind).dtype == jnp.ones(2).astype(kind).dtype == dtype
        assert pickle.loads(pickle.dumps(kind)) is kind and copy.deepcopy(kind) is kind
        assert jnp.issubdtype(kind, np.generic) and jnp.issubdtype(dtype, kind)
        assert repr(kind) == f"<class 'jax.numpy.{name}'>"
    assert jnp.single is jnp.float32 and jnp.float64 != np.float32
    # A branch that Python takes at once, on what the caller has: NumPy's scalars would be float64.
    assert lax.cond(True, lambda c: c + jnp.int32(1), lambda c: c, jnp.float32(1)).dtype == np.float32


def test_keys_of_dicts_are_sorted_where_jax_is_answered() -> None:
    program = """
        import collections
        import adze.compat
        adze.compat.install()
        import jax
        import jax.numpy as jnp
        tree = {"b": 1.0, "a": {("y", 1): 2.0, ("x", 2): 3.0}}
        order = lambda t: [*t, *t["a"]]
        wanted = ["a", "b", ("x", 2), ("y", 1)]
        assert order(jax.tree.map(lambda x: x, tree)) == wanted
        assert order(jax.jit(lambda t: t)(tree)) == order(jax.grad(lambda t: t["b"] ** 2)(tree)) == wanted
        assert jax.jit(lambda t: [*t])({}) == []
        assert list(jax.tree.map(str, collections.OrderedDict(b=1, a=2))) == ["b", "a"]
        made = jax.tree.map(str, collections.defaultdict(list, b=1, a=2))
        assert list(made) == ["a", "b"] and made["c"] == []
        adze.compat.uninstall()
        import adze
        assert order(adze.tree.map(lambda x: x, tree)) == ["b", "a", ("y", 1), ("x", 2)]
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True, timeout=120)


PICKLED = """
    [jnp.arange(3.0), jnp.float32([[1, 2, 3]]).T, jnp.full(2, 2.5, "bfloat16"), jnp.asarray(2.0),
     jnp.zeros((0, 3), "c8"), jnp.ones(2, bool), jnp.asarray(7, "uint8"), jnp.int32([1, -2])]
"""
WRITTEN_BY_JAX = """
    import pickle, sys
    import jax.numpy as jnp
    sys.stdout.buffer.write(pickle.dumps(eval(sys.argv[1])))
"""
READ_BY_ADZE = """
    import adze.compat
    adze.compat.install()
    import pickle, sys
    import jax, numpy as np
    from jax._src.array import ArrayImpl
    arrays = pickle.loads(sys.stdin.buffer.read())
    assert all(isinstance(a, jax.Array) and isinstance(a, ArrayImpl) for a in arrays)
    assert not isinstance(np.ones(2), ArrayImpl)
    print([(str(a.dtype), a.weak_type, a.shape, np.asarray(a).tolist()) for a in arrays])
"""


@pytest.mark.parametrize(("written", "read"), [("0", "0"), ("1", "0"), ("1", "1")])
def test_arrays_that_jax_pickled_are_read(written: str, read: str) -> None:
    jax_ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(WRITTEN_BY_JAX), " ".join(PICKLED.split())],
        check=True,
        env=os.environ | {"JAX_ENABLE_X64": written},
        capture_output=True,
        timeout=120,
    )
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(READ_BY_ADZE)],
        check=True,
        env=os.environ | {"JAX_ENABLE_X64": read},
        capture_output=True,
        input=jax_ran.stdout,
        timeout=120,
    )
    floating = "float64" if written == read == "1" else "float32"
    assert eval(ran.stdout) == [
        (floating, False, (3,), [0, 1, 2]),
        ("float32", False, (3, 1), [[1], [2], [3]]),
        ("bfloat16", False, (2,), [2.5, 2.5]),
        (floating, True, (), 2.0),
        ("complex64", False, (0, 3), []),
        ("bool", False, (2,), [True, True]),
        ("uint8", False, (), 7),
        ("int32", False, (2,), [1, -2]),
    ]


WIDE = """
    jnp.zeros(3)  jnp.array([1.5])  jnp.asarray(1.5)  jnp.arange(3.0)  jnp.linspace(0,1,3)  jnp.full(2,1.5)
    jnp.eye(2)  jnp.exp(jnp.arange(3))  jnp.mean(jnp.arange(3))  jnp.array([1,2])/2  jnp.logspace(0,1,3)
    jax.random.normal(key,(2,))  jax.random.uniform(key)  jax.random.gamma(key,2.0)  half(jnp.arange(3))
    jnp.zeros(2)*jnp.float32(2)  jnp.ones(2,jnp.float32)*2.5  jnp.float32(1)*2.0  jnp.zeros(2,jnp.float32)
    jax.random.randint(key,(3,),0,10)  jax.random.bernoulli(key,0.3,(9,))  jax.random.poisson(key,3.0,(4,))
    jax.random.bits(key,(2,))  jnp.zeros(1,jnp.result_type(float))
    jax.lax.full((2,),1.5)  jax.nn.initializers.normal()(key,(2,2))  jax.random.bernoulli(key)
    jax.random.normal(key,(2,),jnp.float32)
    jnp.zeros_like(jnp.float32(1))  jnp.asarray(jnp.float32(1))  jnp.array([1+2j])  jnp.arange(3)
"""


def test_64_bits_are_the_default_where_the_program_asks_for_them() -> None:
    program = """
        import sys
        if sys.argv[1] == "adze":
            import adze.compat
            adze.compat.install()
        import jax
        import jax.numpy as jnp
        key, half = jax.random.PRNGKey(0), jax.jit(lambda x: x / 2)
        narrow = [str(eval(e).dtype) for e in sys.argv[2:]] if sys.argv[1] == "adze" else []
        jax.config.update("jax_enable_x64", True)
        wide = [eval(e) for e in sys.argv[2:]]
        print([(str(x.dtype), jnp.ravel(x)[:1].tolist()) for x in wide])
        if narrow:
            jax.config.update("jax_enable_x64", False)
            assert narrow == [str(eval(e).dtype) for e in sys.argv[2:]] and "float64" not in narrow
    """
    seen = []
    for library in ("jax", "adze"):
        command = [sys.executable, "-c", textwrap.dedent(program), library, *WIDE.split()]
        ran = subprocess.run(command, check=True, timeout=240, capture_output=True, text=True)
        seen.append(eval(ran.stdout))
    for expression, (dtype, value), (own_dtype, own) in zip(WIDE.split(), *seen, strict=True):
        assert dtype == own_dtype and np.allclose(value, own, rtol=1e-6), expression


def test_put_along_axis_says_that_it_is_not_in_place() -> None:
    x, where = np.zeros((2, 3), np.float32), np.int32([[1], [2]])
    assert jnp.put_along_axis(x, where, 9, 1, inplace=False).tolist() == [[0, 9, 0], [0, 0, 9]]
    with pytest.raises(adze.AdzeError, match="arrays of adze do not change"):
        jnp.put_along_axis(x, where, 9, 1, inplace=True)


@pytest.mark.parametrize(
    "values", [np.float32([0, 1, 1, 4]), np.int32([0, 1, 1, 4]), np.zeros(0, np.float32)]
)
def test_histograms_count_in_floats_as_in_jax(values: Any) -> None:
    import jax as original

    wanted, edges = original.numpy.histogram(values, bins=3, range=(0, 4))
    for ours, own_edges in (
        jnp.histogram(values, bins=3, range=(0, 4)),
        jax.jit(lambda x: jnp.histogram(x, bins=3, range=(0, 4)))(values),
    ):
        assert ours.dtype == wanted.dtype and ours.tolist() == wanted.tolist()
        np.testing.assert_allclose(own_edges, edges)
