"""The page of a gradient: well-formed, without external parts, and every op knows its line."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from adze.frontend.report.kernels import kernel_rows
from adze.frontend.report.provenance import Provenance
from adze.frontend.report.report import report_page
from adze.frontend.report.stages import Stage, spread_to_kernels, stage_of
from adze.runtime.measure.profiles import Kernel
from adze.runtime.targets import parse_target

SOURCE = """\
import adze
from adze import numpy as np


def loss(w, x):
    hidden = np.tanh(x @ w)  # </script><b>&amp;
    return (hidden**2).sum()


gradient = adze.grad(loss)


def program():
    return adze.trace(gradient, adze.ShapeDtype((64, 32)), adze.ShapeDtype((16, 64)))
"""
VOID = {"meta", "br", "link", "img", "input", "hr"}


class Page(HTMLParser):
    """Tags with their attributes, checked for being closed in order; the text of scripts and cells."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open:
            self.texts.setdefault(self.open[-1], []).append(data)

    def with_attribute(self, name: str) -> Iterator[tuple[str, dict[str, str | None]]]:
        return ((tag, attributes) for tag, attributes in self.tags if name in attributes)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "model.py"
    path.write_text(SOURCE)
    return path


@pytest.fixture(scope="module")
def text(model: Path) -> str:
    names: dict[str, Any] = {}
    exec(compile(SOURCE, str(model), "exec"), names)
    return report_page(names["program"](), parse_target("cpu"), title="model.py:gradient")


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    return Page(text)


@pytest.fixture(scope="module")
def data(page: Page) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(next(t for t in page.texts["script"] if t.startswith("{")))
    return value


@pytest.mark.thorough
def test_nothing_is_loaded_from_elsewhere(page: Page, text: str) -> None:
    for name in ("src", "srcset", "data", "action", "poster", "xlink:href"):
        assert list(page.with_attribute(name)) == []
    assert all((attributes["href"] or "").startswith("#") for _, attributes in page.with_attribute("href"))
    assert "@import" not in text and "url(" not in text and "http" not in text
    assert {tag for tag, _ in page.tags}.isdisjoint({"link", "iframe", "object", "embed", "img"})


def test_references_within_the_page_lead_somewhere(page: Page) -> None:
    names = [attributes["id"] for _, attributes in page.with_attribute("id")]
    assert len(names) == len(set(names))
    wanted = [attributes["aria-labelledby"] for _, attributes in page.with_attribute("aria-labelledby")]
    wanted += [(attributes["href"] or "")[1:] for _, attributes in page.with_attribute("href")]
    assert set(wanted) <= set(names) and {"code", "graph", "cost", "kernels", "lines"} <= set(wanted)


def test_what_the_mouse_reaches_the_keyboard_reaches(page: Page) -> None:
    source = next(
        attributes for _, attributes in page.with_attribute("role") if attributes["role"] == "listbox"
    )
    assert source["tabindex"] == "0" and source["aria-label"] == "Source"
    rows = [attributes for tag, attributes in page.tags if tag == "tr" and "data-p" in attributes]
    assert rows and all(attributes.get("tabindex") == "0" for attributes in rows)
    assert all("aria-label" in attributes for tag, attributes in page.tags if tag in ("svg", "select"))
    root = next(attributes for tag, attributes in page.tags if tag == "html")
    assert root["lang"] == "en"


def test_numbers_in_the_data_are_in_range(data: dict[str, Any]) -> None:
    assert [stage["name"] for stage in data["stages"]][:3] == ["traced", "inline", "simplify"]
    assert data["stages"][-1]["name"] == "kernels"
    for stage in data["stages"]:
        assert len(stage["lines"]) == len(stage["origins"])
        assert all(0 <= n < len(data["lines"]) for n in stage["lines"])
        assert all(0 <= p < len(data["origins"]) for p in stage["origins"])
        assert all(" loc(" not in data["lines"][n] for n in stage["lines"])


def test_every_op_of_every_stage_has_its_line(data: dict[str, Any]) -> None:
    for stage in data["stages"][:3]:
        for n, p in zip(stage["lines"], stage["origins"], strict=True):
            op = re.search(r"= \"adze\.(\w+)\"", data["lines"][n])
            if op and op[1] != "call" and "dense<1.000000e+00> : tensor<f32>" not in data["lines"][n]:
                assert p, data["lines"][n]
    converted, kernels = (
        {tuple(data["origins"][p]["lines"][0]) for p in stage["origins"] if p}
        for stage in data["stages"]
        if stage["name"] in ("convert", "kernels")
    )
    assert {(0, 6), (0, 7)} <= converted and (0, 6) in kernels  # IREE keeps one line of the ops that it fuses


def test_backward_ops_name_the_line_that_they_differentiate(data: dict[str, Any]) -> None:
    simplified = data["stages"][2]
    products = {
        (tuple(data["origins"][p]["lines"][0]), tuple(data["origins"][p]["via"]))
        for n, p in zip(simplified["lines"], simplified["origins"], strict=True)
        if "adze.dot_general" in data["lines"][n]
    }
    assert products == {((0, 6), ()), ((0, 6), ("transpose", "linearize"))}


def test_the_source_is_shown_as_it_is(page: Page, text: str) -> None:
    assert "    hidden = np.tanh(x @ w)  # </script><b>&amp;" in "".join(page.texts["div"])
    assert text.count("</script>") == 2


def test_kernels_have_tiles_times_and_lines(page: Page, text: str) -> None:
    section = text[text.index('<section id="kernels"') : text.index('<section id="lines"')]
    assert "Times are medians of 10 calls on local-sync" in section
    names = re.findall(
        r">(loss_dispatch_\w+|kernel_\w+)</td><td class=\"number\">[\d.]+ (?:us|ms|s)<", section
    )
    assert names and "model.py:6" in section


def test_tiles_and_launches_are_found_in_the_text() -> None:
    text = """\
#config = #iree_cpu.lowering_config<distribution = [16, 32, 0]>
#translation = #iree_codegen.translation_info<pipeline = #iree_cpu.pipeline<DoubleTilingExpert>>
#compilation = #iree_codegen.compilation_info<lowering_config = #config, translation_info = #translation>
  flow.executable private @f_dispatch_0 {
    flow.executable.export public @f_dispatch_0_matmul workgroups() -> (index) {
    }
        %4 = linalg.generic {} attrs =  {compilation_info = #compilation} {
  }
  stream.executable private @kernel_scatter {
    stream.executable.export public @kernel_scatter workgroups() -> (index) {
      scf.for %i = %c0 to %c1 step %c1 {
  }
    %1 = flow.dispatch @kernel_scatter::@kernel_scatter(%0) : (tensor<f32>) -> tensor<f32>"""
    lines, line = text.split("\n"), Provenance((("m.py", 3),))
    stage = Stage("kernels", "", lines, [Provenance()] * (len(lines) - 1) + [line])
    measured = [Kernel(name, 1, 1e-6, 1e-6, 1e-6, 0.5, (1,)) for name in ("kernel_scatter", "elsewhere")]
    first, second, third = kernel_rows(stage, measured)
    assert (first.name, first.tiles, first.ops) == (
        "f_dispatch_0_matmul",
        ["distribution = [16, 32, 0]"],
        ["linalg.generic"],
    )
    assert (second.origins, second.tiles, second.measured) == (
        [line],
        ["a kernel of adze's own"],
        measured[0],
    )
    assert third.name == "elsewhere" and third.measured is measured[1]


def test_an_op_with_regions_has_the_location_behind_its_end() -> None:
    text = """\
#loc1 = loc("m.py":3:1)
module {
  %0 = scf.if %c -> (f32) {
    scf.yield %a : f32 loc(#loc1)
  } else {
    scf.yield %b : f32 loc(unknown)
  } loc(#loc1)
} loc(unknown)
"""
    stage = stage_of("text", "", text)
    assert [line.strip() for line in stage.lines][1] == "%0 = scf.if %c -> (f32) {"
    assert [bool(origin.lines) for origin in stage.origins] == [False, True, True, True, False, True, False]


def test_lines_of_own_kernels_come_from_what_launches_them() -> None:
    lines = [
        "module {",
        "  stream.executable private @kernel_pack {",
        "    %0 = arith.constant 1 : index",
        "  }",
        "  func.func @f() {",
        "    %1 = flow.dispatch @kernel_pack::@kernel_pack(%0) : (tensor<f32>) -> tensor<f32>",
        "  }",
    ]
    origin = Provenance((("m.py", 3),))
    origins = [Provenance()] * 5 + [origin, Provenance()]
    spread_to_kernels(lines, origins)
    assert [n for n, each in enumerate(origins) if each == origin] == [1, 2, 3, 5]


CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
STEPS = """\
<script>
const told = [];
const press = (key) =>
  document.getElementById("source").dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
const isMarked = (span) => getComputedStyle(span).backgroundColor !== "rgba(0, 0, 0, 0)";
const spans = (pane) => [...pane.querySelectorAll(".code span")];
const panes = [...document.querySelectorAll(".stage")];
const marked = () => panes.map((pane) => spans(pane).filter(isMarked).length);
const selected = () => document.querySelector('[aria-selected="true"]')?.dataset.line ?? null;
told.push(document.documentElement.dataset.ready);
told.push(marked());
for (let n = 0; n < 6; n++) press("ArrowDown");
told.push(selected(), marked(), document.getElementById("origin").textContent);
press("Escape");
told.push(selected(), marked());
const products = spans(panes[0]).filter((span) => span.textContent.includes("dot_general"));
products[1].click();
told.push(selected());
const chooser = document.querySelector(".stage select");
chooser.value = "0";
chooser.dispatchEvent(new Event("change"));
told.push(document.querySelector(".stage .code").textContent.includes("@loss_1_primal"));
document.title = "TOLD" + JSON.stringify(told);
</script>
"""


@pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium is installed; the tests above read the page without one"
)
def test_a_browser_marks_the_ops_of_a_line(text: str, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(text.replace("</body>", f"{STEPS}</body>"))
    options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    command = [str(CHROMIUM), *options, "--dump-dom", file.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    shown = re.search(r"<title>TOLD(.*?)</title>", done.stdout)
    assert shown is not None, done.stderr[-2000:]
    ready, before, line, marks, origin, after, cleared, forward, traced = json.loads(shown[1])
    assert (ready, line, after, forward, traced) == ("yes", "6", None, "6", True)
    assert before == cleared == [0, 0] and min(marks) > 2
    # Below the current folder a file is shown by its path there.
    assert re.search(r"(^|[/ ])model\.py:6", origin)
    assert re.search(r"transpose of linearize of (\S*/)?model\.py:6", origin)
