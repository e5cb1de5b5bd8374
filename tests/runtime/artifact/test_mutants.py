"""Damaged, foreign and resealed program files in child processes: errors of adze or right numbers, no crash.

A mutant is made of a whole file: cut, with flipped bits, with bytes of others, of another version, for
another machine. Those under a right checksum keep the module as it is: who changes native code and seals it
again is stopped by a key alone, and for them the test loads with one.
"""

from __future__ import annotations

import hashlib
import json
import pickle
import random
import struct
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adze
from adze.runtime.artifact import artifact
from adze.runtime.artifact.signing import new_key_pair, private_key
from adze.runtime.artifact.trailer import joined, taken_apart

HEAD = struct.Struct("<8sIQQQ")
X = np.arange(6, dtype=np.float32).reshape(2, 3)


@dataclass(frozen=True)
class Mutant:
    """A file, what was done to it, and whether it is loaded with the key of the one it was made of."""

    what: str
    content: bytes
    with_key: bool = False


@pytest.fixture(scope="module")
def keys() -> tuple[bytes, bytes]:
    return new_key_pair()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, keys: tuple[bytes, bytes]) -> bytes:
    """A signed file that keeps its IR, of `(x * w, sum)`."""
    spec = adze.ShapeDtype(("n", 3))
    traced = adze.trace(lambda x, p: {"y": x * p["w"], "s": x.sum()}, spec, {"w": adze.ShapeDtype((3,))})
    path = traced.lower().compile().save(tmp_path_factory.mktemp("whole") / "f.vmfb", keep_ir=True)
    return artifact.read(path).signed(private_key(keys[0])).to_bytes()


def resealed(content: bytes) -> bytes:
    """The file with a checksum that is right for what stands before it."""
    return content[:-32] + hashlib.sha256(content[:-32]).digest()


def flipped(content: bytes, chosen: random.Random, low: int, high: int) -> bytes:
    changed = bytearray(content)
    for _ in range(chosen.choice((1, 1, 1, 3, 20))):
        changed[chosen.randrange(low, high)] ^= 1 << chosen.randrange(8)
    return bytes(changed)


def damaged(whole: bytes, chosen: random.Random) -> Mutant:
    """What disks, networks and wrong file names do."""
    size = len(whole)
    match chosen.randrange(8):
        case 0:
            return Mutant("cut", whole[: chosen.randrange(size)])
        case 1:
            return Mutant("cut in the trailer", whole[: size - chosen.randrange(1, 120)])
        case 2:
            return Mutant("flipped", flipped(whole, chosen, 0, size))
        case 3:
            start = chosen.randrange(size)
            block = bytes(min(chosen.choice((1, 64, 4096)), size - start))
            return Mutant("zeroed", whole[:start] + block + whole[start + len(block) :])
        case 4:
            return Mutant("longer", whole + chosen.randbytes(chosen.choice((1, 2, 68, 500))))
        case 5:
            start, end = sorted((chosen.randrange(size), chosen.randrange(size)))
            return Mutant("without its middle", whole[:start] + whole[end:])
        case 6:
            return Mutant("random", chosen.randbytes(chosen.choice((1, 68, 100, 5000))))
        case _:
            start = chosen.randrange(size)
            return Mutant("another's beginning", chosen.randbytes(start) + whole[start:])


def changed_seal(whole: bytes, chosen: random.Random) -> Mutant:
    """Wrong in the trailer, the directory, the manifest or the IR, under a right checksum."""
    found = taken_apart(whole)
    parts = dict(found.parts)
    module = len(parts["module"])
    match chosen.randrange(6):
        case 0:
            lengths = [chosen.choice((0, 1, module, 2**31, 2**63, 2**64 - 1)) for _ in range(3)]
            head = HEAD.pack(b"ADZEVMFB", chosen.choice((2, 3)), *lengths)
            return Mutant("lengths", resealed(whole[: -HEAD.size - 32] + head + bytes(32)))
        case 1:
            version = chosen.choice((0, 1, 2, 4, 5, 2**32 - 1))
            head = HEAD.pack(b"ADZEVMFB", version, *HEAD.unpack(whole[-68:-32])[2:])
            return Mutant("version", resealed(whole[: -HEAD.size - 32] + head + bytes(32)))
        case 2:
            low = module + len(parts["ir"]) + len(parts["manifest"])
            return Mutant("directory or signature", resealed(flipped(whole, chosen, low, len(whole) - 32)))
        case 3:
            parts["manifest"] = flipped(parts["manifest"], chosen, 0, len(parts["manifest"]))
            return Mutant("manifest", joined(parts, found.signature))
        case 4:
            parts["manifest"] = json.dumps(_other_manifest(parts["manifest"], chosen)).encode()
            return Mutant("fields of the manifest", joined(parts, found.signature))
        case _:
            del parts[chosen.choice(("manifest", "ir"))]
            return Mutant("a part is missing", joined(parts, found.signature))


def _other_manifest(text: bytes, chosen: random.Random) -> Any:
    manifest = json.loads(text)
    name = chosen.choice([*manifest])
    field, value = chosen.choice(
        [
            ("architecture", "riscv64"),
            ("target", "cpu:future"),
            ("target", "cuda:sm_80"),
            ("required_features", ["avx4096"]),
            ("versions", {"iree_compiler": "3.11.0"}),
            ("versions", {}),
            ("format_version", 99),
            ("format_version", 0),
            (name, None),
            (name, chosen.choice(([], {}, "", -1, 2**70, True))),
        ]
    )
    manifest[field] = value
    return manifest


def changed_code(whole: bytes, chosen: random.Random) -> Mutant:
    """Native code changed and sealed again: only the signature tells."""
    module = len(taken_apart(whole).parts["module"])
    return Mutant("native code", resealed(flipped(whole, chosen, 0, module)), with_key=True)


def mutants(whole: bytes, count: int, seed: int) -> Iterator[Mutant]:
    """Half of them damaged, the others sealed again."""
    chosen = random.Random(seed)
    kinds = (damaged, changed_seal, damaged, changed_code, damaged, changed_seal)
    for index in range(count):
        yield kinds[index % len(kinds)](whole, chosen)


CHILD = """
import pickle, sys
import numpy as np
import adze
from adze.runtime.artifact import artifact
folder = sys.argv[1]
key = open(folder + "/public.pem", "rb").read()
mutants = pickle.load(open(folder + "/mutants", "rb"))
x = np.arange(6, dtype=np.float32).reshape(2, 3)
counts = {"refused": 0, "right": 0}
for index, (content, with_key) in enumerate(mutants):
    open(folder + "/now", "w").write(str(index))
    path = folder + "/m.vmfb"
    open(path, "wb").write(content)
    try:
        artifact.inspect(path)
        result = adze.load(path, key=key if with_key else None)(x, {"w": np.full(3, 2, np.float32)})
        values = adze.tree.leaves(result)
    except adze.AdzeError as error:
        assert str(error).strip() and "Traceback" not in str(error)
        counts["refused"] += 1
        continue
    assert not with_key, "a changed program was loaded with a key"
    assert [np.asarray(v).tolist() for v in values] == [15.0, (x * 2).tolist()], index
    counts["right"] += 1
print(counts["refused"], counts["right"])
"""


def run_child(folder: Path, batch: list[Mutant], public: bytes) -> tuple[int, int]:
    """How many mutants a child process refused and how many were right; a crash names its mutant."""
    (folder / "public.pem").write_bytes(public)
    (folder / "mutants").write_bytes(pickle.dumps([(m.content, m.with_key) for m in batch]))
    command = [sys.executable, "-X", "faulthandler", "-c", CHILD, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode != 0:
        last = batch[int((folder / "now").read_text())]
        pytest.fail(f"{last.what}: exit code {done.returncode}\n{done.stderr[-3000:]}")
    refused, right = map(int, done.stdout.split())
    return refused, right


def check(whole: bytes, keys: tuple[bytes, bytes], folder: Path, count: int, seed: int) -> None:
    batch = [Mutant("whole", whole), *mutants(whole, count, seed)]
    refused, right = run_child(folder, batch, keys[1])
    assert refused + right == len(batch)
    assert refused > 0.8 * count and right >= 1


@pytest.mark.thorough
def test_a_few_mutants(whole: bytes, keys: tuple[bytes, bytes], tmp_path: Path) -> None:
    check(whole, keys, tmp_path, 60, 0)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(1, 9))
def test_many_mutants(whole: bytes, keys: tuple[bytes, bytes], tmp_path: Path, seed: int) -> None:
    """2,000 of them."""
    check(whole, keys, tmp_path, 250, seed)
