"""Programs of several ranks as files: built by one process, loaded by a job of their size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

import adze
import adze.numpy as xp
from adze import lax
from adze.cli.inspect import inspect
from adze.cli.run import run
from adze.dialects.communicator import DistributedError
from adze.runtime.artifact import artifact
from adze.runtime.errors import ArtifactError
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


def test_a_program_with_shardings_is_saved_for_all_ranks(tmp_path: Path) -> None:
    pytest.importorskip("jaxlib", reason="Shardy is in jaxlib, the extra `shard`")
    with adze.distributed.planned(2):
        mesh = adze.make_mesh((2,), ("d",))
        rows, columns = NamedSharding(mesh, P("d")), NamedSharding(mesh, P(None, "d"))
        divided = adze.jit(update, in_shardings=(rows, columns), out_shardings=(columns, None))
        path = divided.trace(X, W).lower().compile().save(tmp_path / "update.vmfb")
    for w, total in adze.distributed.run(lambda: adze.load(path)(X, W), 2):
        np.testing.assert_allclose(np.asarray(w), np.asarray(update(X, W)[0]), rtol=1e-5)
        np.testing.assert_allclose(float(total), X.sum(), rtol=1e-5)
    assert "for 2 ranks" in message(lambda: adze.load(path))
