"""What `adze.toml` may say, and what it is told where it says something else."""

from pathlib import Path

import pytest

from adze.cli.project.configuration import Budgets, find_project, read_project
from adze.cli.reporting import BadUsage

GOOD = """\
output_dir = "out"

[defaults]
targets = ["cpu:x86-64-v3"]
grad = true
default_dtypes = "float32"

[artifact.plain]
entry = "model.py:f"
inputs = ["f32[3]"]

[artifact.batch]
entry = "model.py:g"
inputs = { x = "f32[n,3]" }
vjp = true
argnums = [0, 1]
vmap = "n"
in_axes = [0, "None"]
targets = ["cpu:aarch64", "vulkan:ampere"]
output = "{target}/batch.vmfb"
dims = { n = "1..64, %8", m = "%2" }
specialize = { n = [8, 16], m = 2 }

[artifact.batch.budgets]
max_bytes = "1.5 KiB"
max_compile_s = 2
max_error = 1e-5
"""


def project_file(folder: Path, text: str, name: str = "adze.toml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_each_key_arrives(tmp_path: Path) -> None:
    plain, *batches = read_project(project_file(tmp_path, GOOD)).artifacts
    assert (plain.name, plain.derivative, plain.targets) == ("plain", "grad", ("cpu:x86-64-v3",))
    assert (plain.default_dtypes, plain.decides()["default_dtypes"]) == ("float32", "float32")
    assert plain.output == tmp_path / "out" / "plain.vmfb"
    assert plain.where == f"{tmp_path / 'adze.toml'}:8"
    assert [batch.name for batch in batches] == ["batch@cpu:aarch64", "batch@vulkan:ampere"]
    batch = batches[0]
    assert batch.output == tmp_path / "out" / "cpu-aarch64" / "batch.vmfb"
    assert (batch.derivative, batch.argnums, batch.vmap, batch.in_axes) == ("vjp", "0,1", "n", "0,None")
    assert batch.inputs == ("x=f32[n,3]",)
    assert (batch.dims, batch.specialize) == (("n: 1..64, %8", "m: %2"), ("n=8,16", "m=2"))
    assert batch.budgets == Budgets(max_bytes=1536, max_compile_s=2.0, max_error=1e-5)


def test_several_targets_without_a_placeholder_are_one_file(tmp_path: Path) -> None:
    text = '[artifact.a]\nentry = "m.py:f"\ntargets = ["cpu:aarch64", "cpu:x86-64-v3"]\n'
    (artifact,) = read_project(project_file(tmp_path, text)).artifacts
    assert artifact.targets == ("cpu:aarch64", "cpu:x86-64-v3")
    assert artifact.output == tmp_path / "a.vmfb"


def test_project_is_found_in_a_folder_above_and_in_pyproject(tmp_path: Path) -> None:
    inner = tmp_path / "src" / "deep"
    inner.mkdir(parents=True)
    project_file(tmp_path, '[tool.adze.artifact.a]\nentry = "m.py:f"\n', "pyproject.toml")
    assert find_project(inner).root == tmp_path
    project_file(tmp_path, '[artifact.a]\nentry = "m.py:f"\n')
    with pytest.raises(BadUsage, match="both say what to build"):
        find_project(inner)
    assert find_project(tmp_path / "adze.toml").artifacts[0].name == "a"


ENTRY = '[artifact.a]\nentry = "m.py:f"\n'
WRONG = {
    "syntax": ("[artifact", "no TOML"),
    "nothing": ("", r"there is no artifact in it\n  at .*:1\n  hint: write \[artifact.predict\]"),
    "unknown key": (f'{ENTRY}target = ["cpu"]', r"a.target: .*did you mean targets\?\n  at .*:3"),
    "unknown table": ("[artefact.a]", r"did you mean artifact\?"),
    "no entry": ("[artifact.a]\n", "artifact.a: says no entry"),
    "entry": ('[artifact.a]\nentry = "m.py"', r"expected a file, a colon and a function\n  at .*:2"),
    "target": (f'{ENTRY}targets = ["cpu:z80"]', r"at .*:3\n  hint: unknown CPU 'z80'"),
    "targets": (f'{ENTRY}targets = "cpu"', "expected a list of targets in quotes"),
    "targets twice": (f'{ENTRY}targets = ["cpu", "cpu"]', "expected each target once"),
    "inputs": (f"{ENTRY}inputs = [3]", "expected a list of specs"),
    "dims": (
        f'{ENTRY}dims = {{ n = "1-64" }}',
        r"expected a table of bounds.*\n  at .*:3\n",
    ),
    "no dims": (f"{ENTRY}dims = {{}}", "expected a table of bounds"),
    "sizes": (f"{ENTRY}specialize = {{ n = [1, 1] }}", "expected different sizes for each name"),
    "no sizes": (f"{ENTRY}specialize = {{ n = [] }}", "expected different sizes for each name"),
    "two derivatives": (f"{ENTRY}grad = true\nvjp = true", "one derivative at a time"),
    "number for a switch": (f"{ENTRY}grad = 1", "expected true or false"),
    "dtypes": (f'{ENTRY}default_dtypes = "float16"', r"expected 'float32' or 'numpy'\n  at .*:3"),
    "axes": (f"{ENTRY}in_axes = [0]", r"there is no batch\n  at .*:3\n  hint: write vmap too"),
    "budget": (f'{ENTRY}[artifact.a.budgets]\nmax_bytes = "3 parsecs"', r"number of bytes\n  at .*:4"),
    "unknown budget": (f"{ENTRY}budgets = {{ max_byte = 3 }}", r"did you mean max_bytes\?\n  at .*:3"),
    "nan": (f"{ENTRY}budgets = {{ max_error = nan }}", "expected a number of at least 0"),
    "placeholder": (f'{ENTRY}output = "{{name}}.vmfb"', "the only placeholder"),
    "one path": (f'{ENTRY}output = "q"\n[artifact.b]\nentry = "m.py:f"\noutput = "./x/../q"', r"at .*:6"),
    "source": (f'{ENTRY}output = "m.py"', "would be overwritten"),
    "shared output": ('[defaults]\noutput = "q"\n' + ENTRY, "stands in each artifact of its own"),
    "name": ('[artifact."a b"]\nentry = "m.py:f"', "no name of an artifact"),
    "array": ('[[artifact]]\nentry = "m.py:f"', "expected a table"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_mistake_is_bad_usage_with_line_and_remedy(kind: str, tmp_path: Path) -> None:
    text, said = WRONG[kind]
    with pytest.raises(BadUsage, match=said) as caught:
        read_project(project_file(tmp_path, text))
    assert "adze.toml" in str(caught.value)


def test_files_that_cannot_be_read_are_bad_usage(tmp_path: Path) -> None:
    (tmp_path / "adze.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(BadUsage, match="not a text in UTF-8"):
        read_project(tmp_path / "adze.toml")
    with pytest.raises(BadUsage, match="cannot read"):
        read_project(tmp_path / "none.toml")
    with pytest.raises(BadUsage, match="there is no folder or file"):
        find_project(tmp_path / "none")


def test_unknown_artifact_lists_those_that_there_are(tmp_path: Path) -> None:
    project = read_project(project_file(tmp_path, GOOD))
    assert [a.name for a in project.chosen(["batch"])] == ["batch@cpu:aarch64", "batch@vulkan:ampere"]
    with pytest.raises(BadUsage, match="no artifact 'q': it has plain, batch@cpu:aarch64"):
        project.chosen(["q"])
