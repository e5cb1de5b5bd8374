"""Checkpoints: written by some ranks, read by others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import adze
from adze.distributed import CheckpointError, load_checkpoint, save_checkpoint
from adze.sharding import NamedSharding
from adze.sharding import PartitionSpec as P

W = np.arange(48, dtype=np.float32).reshape(8, 6)
B = np.arange(6).astype(ml_dtypes.bfloat16)


def state(mesh: Any) -> dict[str, Any]:
    divided = adze.device_put(W, NamedSharding(mesh, P("data", "model")))
    rows = adze.device_put(W.astype(np.complex64), NamedSharding(mesh, P("model")))
    return {"w": divided, "layers": [rows, B], "step": 7, "none": np.zeros((0, 3))}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A checkpoint of four ranks."""
    path = tmp_path / "state"
    adze.distributed.run(lambda: save_checkpoint(path, state(adze.make_mesh((2, 2), ("data", "model")))), 4)
    return path


def check(loaded: Any) -> None:
    np.testing.assert_array_equal(np.asarray(loaded["w"]), W)
    np.testing.assert_array_equal(np.asarray(loaded["layers"][0]), W.astype(np.complex64))
    np.testing.assert_array_equal(np.asarray(loaded["layers"][1]), B)
    assert (int(loaded["step"]), loaded["none"].shape) == (7, (0, 3))


def test_one_file_a_rank_and_each_element_once(folder: Path) -> None:
    index = json.loads((folder / "index.json").read_text())
    assert [each["bytes"] for each in index["files"]] == [
        (folder / each["name"]).stat().st_size for each in index["files"]
    ]
    assert len(list(folder.iterdir())) == 5
    stored = {leaf["path"]: sum(int(np.prod(p[3])) for p in leaf["parts"]) for leaf in index["leaves"]}
    assert stored == {"['layers'][0]": 48, "['layers'][1]": 6, "['none']": 0, "['step']": 1, "['w']": 48}


def test_another_number_of_ranks_reads_it(folder: Path) -> None:
    def run() -> Any:
        mesh = adze.make_mesh((3,), ("d",))
        columns = NamedSharding(mesh, P(None, "d"))
        like = {"w": columns, "layers": [NamedSharding(mesh, P()), B], "step": 0, "none": np.zeros((0, 3))}
        loaded = load_checkpoint(folder, like)
        np.testing.assert_array_equal(
            np.asarray(loaded["w"].addressable_data(0)), W[loaded["w"].addressable_shards[0].index]
        )
        assert loaded["w"].sharding == columns
        return {**loaded, "w": adze.device_put(loaded["w"], NamedSharding(mesh, P()))}

    pytest.importorskip("jaxlib", reason="gathering the array needs Shardy, in jaxlib")
    for loaded in adze.distributed.run(run, 3):
        check(loaded)


def test_one_process_reads_it(folder: Path) -> None:
    mesh = adze.make_mesh((2, 2), ("data", "model"))
    check(load_checkpoint(folder, state(mesh)))
    spec = {"w": adze.ShapeDtype((8, 6), np.float32)}
    assert np.asarray(load_checkpoint(folder, spec)["w"]).tolist() == W.tolist()
    everything = load_checkpoint(folder)
    assert sorted(everything) == ["['layers'][0]", "['layers'][1]", "['none']", "['step']", "['w']"]
    assert everything["['layers'][1]"].dtype == ml_dtypes.bfloat16


def test_a_new_checkpoint_takes_the_place_of_the_old(folder: Path) -> None:
    (folder / "notes.txt").write_text("mine")
    save_checkpoint(folder, {"x": np.float64(2)})
    assert float(load_checkpoint(folder, {"x": 0.0})["x"]) == 2
    assert sorted(p.suffix for p in folder.iterdir()) == [".bin", ".json", ".txt"]


def test_a_rank_that_cannot_write_leaves_the_old_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = sorted(folder.iterdir())
    real = Path.open

    def no_space(self: Path, *args: Any, **kwargs: Any) -> Any:
        if self.name.endswith("00001.bin"):
            raise OSError(28, "No space left on device", str(self))
        return real(self, *args, **kwargs)

    monkeypatch.setattr(Path, "open", no_space)

    def run() -> str:
        with pytest.raises(CheckpointError) as caught:
            save_checkpoint(folder, {"w": W})
        return str(caught.value)

    first, second = adze.distributed.run(run, 2)
    assert "rank 1 could not write its file" in first
    assert "No space left on device" in second
    assert sorted(folder.iterdir()) == before
    monkeypatch.undo()
    assert len(load_checkpoint(folder)) == 5


def damaged(folder: Path, **changes: Any) -> None:
    index = json.loads((folder / "index.json").read_text())
    (folder / "index.json").write_text(json.dumps({**index, **changes}))


def test_what_is_no_whole_checkpoint(folder: Path, tmp_path: Path) -> None:
    def text(path: Path, like: Any = None) -> str:
        with pytest.raises(CheckpointError) as caught:
            load_checkpoint(path, like)
        return str(caught.value)

    assert "is no checkpoint: index.json cannot be read (No such file or directory)" in text(
        tmp_path / "absent"
    )
    assert "there is no array \"['v']\"; it has" in text(folder, {"v": W})
    assert "['w'] is f32[8, 6], expected f64[8, 6]" in text(folder, {"w": W.astype(np.float64)})
    first = next(p for p in folder.iterdir() if p.suffix == ".bin" and p.stat().st_size)
    content = first.read_bytes()
    first.write_bytes(content[:-1])
    assert f"its file {first.name} has {len(content) - 1} bytes, the index says {len(content)}" in text(
        folder
    )
    first.unlink()
    assert f"its file {first.name} is missing" in text(folder)
    first.write_bytes(content)
    index = json.loads((folder / "index.json").read_text())
    index["leaves"][0]["parts"].pop()
    damaged(folder, leaves=index["leaves"])
    assert "elements of ['layers'][0] are missing" in text(folder)
    damaged(folder, files=[{"name": "../../etc/passwd", "bytes": 1}])
    assert "damaged" in text(folder) or "is missing" in text(folder)
    damaged(folder, format="other")
    assert "its format is 'other', this adze reads 'adze-checkpoint-1'" in text(folder)
    (folder / "index.json").write_text("{")
    assert "its index.json is damaged" in text(folder)
    with pytest.raises(TypeError, match=r"state\['x'\] is no concrete array"):
        adze.jit(lambda x: save_checkpoint(folder, {"x": x}))(W)
