"""`adze verify`: a program that computes what its IR says passes, any other fails."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adze as api
from adze import ShapeDtype
from adze import numpy as xp
from adze.frontend.staging.verification import drawn, error_of
from adze.runtime.artifact.artifact import Contents, read, save

from .conftest import Adze

X = ShapeDtype(("n", 3))


def scores(x: Any, k: Any) -> Any:
    return {"y": xp.exp(x) * 2, "n": k + 1, "big": x.sum() > 0}


def other_scores(x: Any, k: Any) -> Any:
    return {"y": xp.exp(x) * 2.001, "n": k + 2, "big": x.sum() > 0}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("verified") / "scores.vmfb"
    compiled = api.trace(scores, X, ShapeDtype((2,), np.int8)).lower().compile()
    return compiled.save(path, keep_ir=True)


def test_a_right_program_passes(adze: Adze, program: Path) -> None:
    done = adze("verify", program, "--samples", 3, "--size", "n=4")
    assert done.exit_code == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "result['big']: i1[]: error 0, allowed 0"
    assert lines[1] == "result['n']: i8[2]: error 0, allowed 0"
    assert lines[2].startswith("result['y']: f32[n,3]: error ") and lines[2].endswith(", allowed 0.0001")
    assert lines[3] == "3 calls: all results agree"


@pytest.mark.thorough
def test_another_program_fails(adze: Adze, program: Path, tmp_path: Path) -> None:
    """The IR of one function beside the module of another."""
    kept = read(program)
    compiled = api.trace(other_scores, X, ShapeDtype((2,), np.int8)).lower().compile()
    module = compiled.save(tmp_path / "other.vmfb")
    changed = save(tmp_path / "changed.vmfb", Contents(read(module).module, read(module).manifest, kept.ir))
    done = adze("verify", changed)
    assert done.exit_code == 1 and "the kept IR has no function 'other_scores'" in done.stderr
    renamed = Contents(_renamed(tmp_path).module, kept.manifest, kept.ir)
    done = adze("verify", save(tmp_path / "wrong.vmfb", renamed), "--json")
    assert done.exit_code == 1
    told = json.loads(done.stdout)
    assert told["holds"] is False and told["calls"] == 5
    big, n, y = told["results"]
    assert big["error"] == 0 and n["error"] == "inf" and 4e-4 < y["error"] < 6e-4
    assert adze("verify", tmp_path / "wrong.vmfb", "--max-error", 1).exit_code == 1  # for floats only


def _renamed(folder: Path) -> Contents:
    """A program called `scores` that computes something else."""

    def wrong(x: Any, k: Any) -> Any:
        return other_scores(x, k)

    wrong.__name__ = "scores"
    compiled = api.trace(wrong, X, ShapeDtype((2,), np.int8)).lower().compile()
    return read(compiled.save(folder / "renamed.vmfb"))


def test_named_inputs_are_used(adze: Adze, program: Path) -> None:
    done = adze("verify", program, "--in", "[[1, 2, 3]]", "--in", "[1, 127]")
    assert done.exit_code == 0 and done.stdout.splitlines()[-1] == "1 call: all results agree"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--size", "n"), "error: --size: 'n' is not NAME=N"),
        (("--size", "m=3"), "error: --size: the program has no dimension 'm': it has n"),
        (("--in", "[[1, 2]]"), "error: --in: scores takes 2 inputs, and 1 was given"),
    ],
)
def test_bad_usage(adze: Adze, program: Path, options: tuple[str, ...], message: str) -> None:
    done = adze("verify", program, *options)
    assert done.exit_code == 2 and done.stderr.startswith(message), done.stderr


def test_a_program_without_ir_cannot_be_verified(adze: Adze, program: Path, tmp_path: Path) -> None:
    contents = read(program)
    plain = save(tmp_path / "plain.vmfb", Contents(contents.module, contents.manifest))
    done = adze("verify", plain)
    assert done.exit_code == 1 and "keeps no adze IR" in done.stderr


def test_inputs_are_drawn_by_the_seed(program: Path) -> None:
    signature = read(program).manifest.signatures[0]
    one, again, other = (list(drawn(signature, 4, seed, {})) for seed in (1, 1, 2))
    for a, b in zip(one, again, strict=True):
        assert all(map(np.array_equal, a, b))
    assert not np.array_equal(one[0][0], other[0][0])
    assert one[0][0].shape == (1, 3) and one[0][1].dtype == np.int8


@pytest.mark.parametrize(
    ("actual", "expected", "error"),
    [
        (np.float32([1, 2.5]), np.float32([1, 2]), 0.25),
        (np.float32([np.nan, 1]), np.float32([np.nan, 1]), 0),
        (np.float32([np.inf, 1]), np.float32([-np.inf, 1]), np.inf),
        (np.float32([np.nan, 1]), np.float32([2, 1]), np.inf),
        (np.float32([2, 1]), np.float32([np.inf, 1]), np.inf),
        (np.complex64([1j]), np.complex64([1.5j]), 1 / 3),
        (np.complex64([complex(1, np.nan)]), np.complex64([complex(1, np.nan)]), 0),
        (np.int32([1]), np.int32([2]), np.inf),
        (np.float32([]), np.float32([]), 0),
        (np.float32([1]), np.float64([1]), np.inf),
        (np.float32([1]), np.float32([[1]]), np.inf),
    ],
)
def test_errors(actual: Any, expected: Any, error: float) -> None:
    assert error_of(actual, expected) == pytest.approx(error)


def test_a_signature_and_numbers_are_checked_one_after_the_other(
    adze: Adze, program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    adze("keygen", "k")
    assert adze("sign", program, "--key", "k.private.pem", "-o", "signed.vmfb").exit_code == 0
    command = ("verify", "signed.vmfb", "--key", "k.public.pem", "--numbers", "--samples", 1)
    done = adze(*command)
    assert done.exit_code == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("signed.vmfb: whole, signed with key") and lines[0].endswith("which is right")
    assert lines[-1] == "1 call: all results agree"
    report = json.loads(adze(*command, "--json").stdout)
    assert (report["signature"], report["calls"], len(report["results"])) == ("right", 1, 3)
