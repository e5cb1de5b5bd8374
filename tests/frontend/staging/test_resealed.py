"""Programs whose manifest somebody changed, under a right checksum: errors of adze, and never a crash."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adze
from adze.runtime.artifact import artifact
from adze.runtime.artifact.manifest import manifest_from_reflection

X = np.arange(6, dtype=np.float32).reshape(2, 3)
WRONG: list[Any] = [
    None,
    True,
    0,
    -1,
    3,
    1.5,
    2**70,
    "",
    "f32",
    "n",
    [],
    ["x"],
    [None],
    {},
    {"dict": {"a": "*"}},
]


@dataclass
class Text:
    """A manifest as any text."""

    text: str

    def to_json(self) -> str:
        return self.text


def resealed(contents: artifact.Contents, data: Any) -> bytes:
    """The file with another manifest, under a right checksum."""
    return replace(contents, manifest=Text(json.dumps(data))).to_bytes()  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiled = (
        adze.trace(
            lambda x, p: ({"y": x * p["w"]}, [x.sum(axis=0)]),
            adze.ShapeDtype(("n", 3)),
            {"w": adze.ShapeDtype((3,))},
        )
        .lower()
        .compile()
    )
    return compiled.save(tmp_path_factory.mktemp("resealed") / "program.vmfb")


def mutations(data: Any) -> Iterator[tuple[str, Any]]:
    """`data` with one value in it replaced or left out, for each place in it."""

    def places(node: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        if path:
            yield path
        entries = (
            node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
        )
        for key, entry in entries:
            yield from places(entry, (*path, key))

    for path in places(data, ()):
        for wrong in (*WRONG, "left out", "doubled"):
            changed = copy.deepcopy(data)
            holder = changed
            for key in path[:-1]:
                holder = holder[key]
            if wrong == "left out":
                del holder[path[-1]]
            elif wrong == "doubled" and isinstance(holder, list):
                holder.append(holder[path[-1]])
            else:
                holder[path[-1]] = wrong
            if changed != data:
                yield f"{path} = {wrong!r}", changed


@pytest.mark.thorough
def test_every_wrong_field_is_an_error_of_adze(program: Path, tmp_path: Path) -> None:
    """Where a change leaves the program right (another name, other versions), its numbers stay right."""
    content = program.read_bytes()
    contents = artifact.from_bytes(content)
    path = tmp_path / "changed.vmfb"
    refused = 0
    for what, changed in mutations(json.loads(contents.manifest.to_json())):
        path.write_bytes(resealed(contents, changed))
        try:
            artifact.inspect(path)
            loaded = adze.load(path)
            y, total = adze.tree.leaves(loaded(X, {"w": np.ones(3, np.float32)}))
        except adze.AdzeError:
            refused += 1
            continue
        np.testing.assert_array_equal(y, X, err_msg=what)
        np.testing.assert_array_equal(total, X.sum(axis=0), err_msg=what)
    assert refused > 300


def test_types_that_the_module_does_not_have_are_refused(program: Path, tmp_path: Path) -> None:
    contents = artifact.from_bytes(program.read_bytes())
    for change, message in (
        ({"dtype": "i32"}, "input 'x' of lambda() is i32[n,3] in it, and f32[?,3] in the module"),
        ({"shape": [None, 4]}, "input 'x' of lambda() is f32[?,4] in it, and f32[?,3] in the module"),
        ({"shape": [2, 3]}, "input 'x' of lambda() is f32[2,3] in it, and f32[?,3] in the module"),
        ({"shape": [3]}, "input 'x' of lambda() is f32[3] in it, and f32[?,3] in the module"),
    ):
        data = json.loads(contents.manifest.to_json())
        data["functions"][0]["inputs"][0] |= change
        path = tmp_path / "changed.vmfb"
        path.write_bytes(resealed(contents, data))
        with pytest.raises(adze.AdzeError) as caught:
            adze.load(path)
        assert caught.value.message.endswith(f"its manifest is damaged: {message}")


def test_manifest_tells_the_flags_and_the_program(program: Path) -> None:
    loaded = adze.load(program)
    manifest = loaded.manifest
    assert "--iree-hal-target-device=local" in manifest.flags
    assert "--iree-input-demote-f64-to-f32=false" in manifest.flags
    assert len(manifest.ir_sha256) == 64
    name = manifest.functions[0].signature.name
    assert manifest_from_reflection(loaded._loaded.executable.reflection(name)) == manifest


def test_programs_are_the_same_from_any_place() -> None:
    """The hash is of the program, not of where it was written."""

    def there(x: Any) -> Any:
        return x + 1

    def here(x: Any) -> Any:
        return x + 1

    here.__name__ = "there"
    hashes = {adze.trace(f, X).lower("cpu:x86-64-v3").manifest.ir_sha256 for f in (there, here)}
    assert len(hashes) == 1
    assert adze.trace(lambda x: x + 2, X).lower("cpu:x86-64-v3").manifest.ir_sha256 not in hashes


def test_dicts_keep_the_order_of_their_leaves(tmp_path: Path) -> None:
    compiled = adze.trace(lambda x: {2: x, 10: x + 1}, X).lower().compile()
    result = adze.load(compiled.save(tmp_path / "keys.vmfb"))(X)
    np.testing.assert_array_equal(result["2"], X)
    np.testing.assert_array_equal(result["10"], X + 1)
