"""Programs of several ranks as files: built by one process, loaded by a job of their size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from typer import Exit

import adze
import adze.numpy as xp
from adze import lax
from adze.cli.inspect import inspect
from adze.cli.run import run
from adze.dialects.communicator import DistributedError
from adze.frontend.errors import ShardingError
from adze.frontend.staging.packages import write_traced
from adze.runtime.artifact import artifact
from adze.runtime.errors import ArtifactError, CallError
from adze.sharding import NamedSharding
from adze.sharding import PartitionSpec as P

X: Final = np.arange(12, dtype=np.float32).reshape(4, 3) / 12
W: Final = np.ones((3, 2), np.float32)


def step(x: Any, w: Any) -> Any:
    """The sum of all rows, and the rows times the rank that has them."""

    def of_rank(x: Any, w: Any) -> Any:
        y = xp.tanh(x @ w)
        return lax.psum(xp.sum(y), "d"), y * lax.axis_index("d")

    mesh = adze.make_mesh((2,), ("d",))
    return adze.shard_map(of_rank, mesh=mesh, in_specs=(P("d"), P()), out_specs=(P(), P("d")))(x, w)


def expected() -> tuple[np.ndarray, np.ndarray]:
    y = np.tanh(X @ W)
    return y.sum(), y * np.repeat([0, 1], 2)[:, None]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with adze.distributed.planned(2):
        compiled = adze.jit(step).trace(X, W).lower().compile()
        with pytest.raises(DistributedError, match="a program for 2 ranks is only built here"):
            compiled(X, W)
        return compiled.save(tmp_path_factory.mktemp("programs") / "step.vmfb")


def message(call: Callable[[], Any]) -> str:
    with pytest.raises(DistributedError) as caught:
        call()
    return str(caught.value)


def check(results: Any) -> None:
    for actual, wanted in zip(results, expected(), strict=True):
        np.testing.assert_allclose(np.asarray(actual), wanted, rtol=1e-5)


def test_one_file_runs_in_every_rank(program: Path) -> None:
    for results in adze.distributed.run(lambda: adze.load(program)(X, W), 2):
        check(results)


def test_adze_run_writes_the_results_once(program: Path, tmp_path: Path, capsys: Any) -> None:
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "w.npy", W)
    files = [str(tmp_path / name) for name in ("x.npy", "w.npy")]
    out = [tmp_path / "total.npy", tmp_path / "rows.npy"]
    adze.distributed.run(lambda: run(program, inputs=files, outputs=out), 2)
    check(map(np.load, out))
    assert capsys.readouterr().err.count("total.npy: f32[]") == 1


def test_inspect_says_how_many_ranks(program: Path, capsys: Any) -> None:
    inspect(program)
    assert "ranks" in (out := capsys.readouterr().out) and "2, mesh d 2" in out


def test_a_file_for_several_targets_has_what_each_of_them_imports(tmp_path: Path) -> None:
    """Hosts exchange the arrays of one target, devices those of another."""
    with adze.distributed.planned(2):
        program = adze.trace(step, X, W)
        write_traced(tmp_path / "step.vmfb", program, ["cpu", "cuda:sm_80+nccl"])
    imports = artifact.read(tmp_path / "step.vmfb").manifest.extra["job"]["imports"]
    assert {name.split(".")[0] for name in imports} >= {"all_reduce", "channel_id", "channel_rank"}
    for results in adze.distributed.run(lambda: adze.load(tmp_path / "step.vmfb", device="cpu")(X, W), 2):
        check(results)


def test_what_is_no_job_of_that_size_is_refused(program: Path) -> None:
    text = message(lambda: adze.load(program))
    assert "the program is for 2 ranks (mesh d 2), and this process is no rank of a job" in text
    assert "hint: mpirun -n 2 adze run FILE" in text
    text = message(lambda: adze.distributed.run(lambda: adze.load(program), 3))
    assert "the program is for 2 ranks (mesh d 2), and the job has 3" in text
    assert "start it with -n 2, or build it for 3 ranks" in text


def test_ranks_that_load_different_programs_find_out_before_they_wait(program: Path, tmp_path: Path) -> None:
    contents = artifact.read(program)
    other = replace(contents, manifest=replace(contents.manifest, ir_sha256="0" * 64))
    (tmp_path / "other.vmfb").write_bytes(other.to_bytes())
    paths = [program, tmp_path / "other.vmfb"]
    text = message(
        lambda: adze.distributed.run(lambda: adze.load(paths[adze.distributed.process_index()]), 2)
    )
    assert "load different programs" in text


@pytest.mark.parametrize(
    "change",
    [
        {"ranks": 3},
        {"ranks": True},
        {"imports": []},
        {"imports": ["os.system"]},
        {"imports": ["all_reduce.axis-7.kind-sum.mesh-2.float32.0d"]},
        {"meshes": [[{"size": 4, "name": "d"}]]},
        {"meshes": [[{"size": 2, "name": 7}]]},
    ],
)
def test_a_manifest_whose_job_is_none_is_refused(program: Path, tmp_path: Path, change: Any) -> None:
    contents = artifact.read(program)
    job = {**contents.manifest.extra["job"], **change}
    wrong = replace(contents, manifest=replace(contents.manifest, extra={"job": job}))
    (tmp_path / "wrong.vmfb").write_bytes(wrong.to_bytes())
    with pytest.raises(ArtifactError, match=r"extra\.job is no job of several ranks"):
        adze.load(tmp_path / "wrong.vmfb")


def test_all_ranks_trace_the_same_program() -> None:
    def text() -> str:
        return adze.trace(step, X, W).mlir("simplified")

    with adze.distributed.planned(2):
        built = text()
    assert adze.distributed.run(text, 2) == [built] * 2


@pytest.mark.parametrize("ranks", [0, True, "2"])
def test_a_job_has_a_number_of_ranks(ranks: Any) -> None:
    text = message(lambda: adze.distributed.planned(ranks).__enter__())
    assert f"planned({ranks!r}): expected a number of ranks, 1 or more" in text


def update(x: Any, w: Any) -> Any:
    return w - xp.mean(x, 0)[:, None] * xp.sum(xp.tanh(x @ w), 0), xp.sum(x)


needs_shardy = pytest.mark.skipif(find_spec("jaxlib") is None, reason="Shardy is in jaxlib (extra `shard`)")


def shardings() -> tuple[NamedSharding, NamedSharding]:
    mesh = adze.make_mesh((2,), ("d",))
    return NamedSharding(mesh, P("d")), NamedSharding(mesh, P(None, "d"))


@pytest.fixture(scope="module")
def divided(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`update`, built for two ranks that take and return parts."""
    with adze.distributed.planned(2):
        rows, columns = shardings()
        divided = adze.jit(update, in_shardings=(rows, columns), out_shardings=(columns, None))
        compiled = divided.trace(X, W).lower().compile()
        with pytest.raises(DistributedError, match="only built here"):
            compiled(X, W)
        return compiled.save(tmp_path_factory.mktemp("divided") / "update.vmfb")


@needs_shardy
def test_programs_with_shardings_take_and_return_parts(divided: Path) -> None:
    once, total = map(np.asarray, update(X, W))
    twice = np.asarray(update(X, once)[0])

    def train() -> tuple[Any, ...]:
        program = adze.load(divided)
        w, total = program(X, W)  # whole arrays: each rank takes its part
        again, _ = program(adze.device_put(X, program.in_shardings[0]), w)
        specs = [s.spec for s in (*program.in_shardings, *program.out_shardings)]
        return w.shape, w.sharding.spec, w.addressable_data(0), again.addressable_data(0), total, specs

    for rank, (shape, spec, part, next_part, sum_of_x, specs) in enumerate(adze.distributed.run(train, 2)):
        assert specs == [P("d"), P(None, "d"), P(None, "d"), P()]
        assert (shape, spec, part.shape) == ((3, 2), P(None, "d"), (3, 1))
        np.testing.assert_allclose(np.asarray(part), once[:, [rank]], rtol=1e-5)
        np.testing.assert_allclose(np.asarray(next_part), twice[:, [rank]], rtol=1e-5)
        np.testing.assert_allclose(float(sum_of_x), total, rtol=1e-5)


@needs_shardy
def test_a_compiled_program_of_a_job_takes_and_returns_parts() -> None:
    def train() -> Any:
        rows, columns = shardings()
        program = adze.jit(update, in_shardings=(rows, columns), out_shardings=(columns, None))
        return program.trace(X, W).lower().compile()(adze.device_put(X, rows), W)[0].addressable_data(0)

    parts = adze.distributed.run(train, 2)
    np.testing.assert_allclose(np.concatenate(parts, axis=1), np.asarray(update(X, W)[0]), rtol=1e-5)


@needs_shardy
def test_adze_run_gives_each_rank_its_part_and_writes_whole_arrays(
    divided: Path, tmp_path: Path, capsys: Any
) -> None:
    np.save(tmp_path / "x.npy", X)
    np.savez(tmp_path / "w.npz", w=W)
    files = [str(tmp_path / name) for name in ("x.npy", "w.npz")]
    out = [tmp_path / "w1.npy", tmp_path / "total.npy"]
    adze.distributed.run(lambda: run(divided, inputs=files, outputs=out), 2)
    for path, wanted in zip(out, update(X, W), strict=True):
        np.testing.assert_allclose(np.load(path), np.asarray(wanted), rtol=1e-5)
    inspect(divided)
    shown = " ".join(capsys.readouterr().out.split())
    assert "update(x: f32[4,3], w: f32[3,2]) -> (" in shown
    assert "ranks 2, mesh d 2 divided x: f32[2,3], by d, none divided w: f32[3,1], by none, d" in shown
    np.save(tmp_path / "part.npy", X[:2])
    with pytest.raises(Exit):
        run(divided, inputs=[str(tmp_path / "part.npy"), files[1]])
    assert "'x' has size 2 along axis 0: expected 4, f32[4,3]" in capsys.readouterr().err


@needs_shardy
def test_arguments_that_lie_otherwise_are_refused(divided: Path) -> None:
    assert "for 2 ranks (mesh d 2)" in message(lambda: adze.load(divided))

    def call(x: Any) -> Any:
        program = adze.load(divided)
        return program(x(program) if callable(x) else x, W)

    def across(program: Any) -> Any:
        return adze.device_put(xp.ones((4, 2)), program.in_shardings[1])

    with pytest.raises(CallError, match=r"argument 'x' has size 2 along axis 1: expected 3, f32\[4,3\]"):
        adze.distributed.run(lambda: call(across), 2)
    with pytest.raises(CallError, match=r"argument 'x' has size 3 along axis 0: expected 4"):
        adze.distributed.run(lambda: call(X[:3]), 2)

    def turned() -> Any:
        program = adze.load(divided)
        return program(X, adze.device_put(np.zeros((4, 2), np.float32)[:2], program.in_shardings[0]))

    with pytest.raises(CallError, match="argument 'w' has size 2 along axis 0: expected 3"):
        adze.distributed.run(turned, 2)

    with pytest.raises(TypeError) as lacking:
        adze.distributed.run(lambda: adze.load(divided)(X), 2)
    assert "hint: it is update(x: f32[4,3], w: f32[3,2]) -> (" in str(lacking.value)
    (shown, _) = adze.distributed.run(lambda: repr(adze.load(divided)), 2)
    assert shown.startswith("<update(x: f32[4,3], w: f32[3,2]) -> (")

    def of_another_mesh() -> Any:
        return call(adze.device_put(X, NamedSharding(adze.make_mesh((2,), ("e",)), P("e"))))

    text = r"'x' lies on the ranks as P\('e',\), the program was built for P\('d',\)"
    with pytest.raises(ShardingError, match=text):
        adze.distributed.run(of_another_mesh, 2)
    whole = NamedSharding(adze.make_mesh((2,), ("e",)), P())
    adze.distributed.run(lambda: call(adze.device_put(X, whole)), 2)  # each rank takes its part


@needs_shardy
@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"mesh": [{"size": 3, "name": "d"}]}, "extra.job is no job of several ranks"),
        ({"mesh": [{"size": 2, "name": "e"}]}, "extra.job is no job of several ranks"),
        ({"inputs": [[["d"], ["d"]], [[], []]]}, "extra.job is no job of several ranks"),
        ({"inputs": [[["d"], []]]}, "extra.job divides other arrays than its function has"),
        ({"outputs": [[[], ["d"]], [["d"]]]}, "extra.job divides other arrays than its function has"),
    ],
)
def test_a_manifest_whose_division_is_none_is_refused(
    divided: Path, tmp_path: Path, capsys: Any, change: Any, text: str
) -> None:
    contents = artifact.read(divided)
    job = contents.manifest.extra["job"]
    job = {**job, "division": {**job["division"], **change}}
    wrong = replace(contents, manifest=replace(contents.manifest, extra={"job": job}))
    (tmp_path / "wrong.vmfb").write_bytes(wrong.to_bytes())
    with pytest.raises(ArtifactError, match=text):
        adze.load(tmp_path / "wrong.vmfb")
    with pytest.raises(Exit):
        run(tmp_path / "wrong.vmfb", inputs=["1", "1"])
    assert text in capsys.readouterr().err
