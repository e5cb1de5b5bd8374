"""The sections of the page: source beside stages, graph, cost, kernels, and what each line costs.

Input: a `Report`, and the number of each provenance. Output: HTML. Rows of tables and shapes of drawings have
the class `p<number>` of what they stand for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Sized
from html import escape
from pathlib import Path
from typing import Final

from .cost import Timeline
from .drawing import described, flops_svg, graph_svg, memory_svg, readable_bytes, readable_count
from .provenance import Line, Provenance
from .report_data import Report, Source

Number = Callable[[Provenance], int]

SECTIONS: Final = (
    ("code", "Source and stages"),
    ("graph", "Graph"),
    ("cost", "Cost and memory"),
    ("kernels", "Kernels"),
    ("lines", "Lines and derivatives"),
)
_COSTLIEST: Final = 12
_FORWARD: Final = '<span class="key forward">forward</span> <span class="key backward">backward</span>'


def section(name: str, content: str) -> str:
    """A section of the page with its heading."""
    heading = f'<h2 id="{name}-title">{dict(SECTIONS)[name]}</h2>'
    return f'<section id="{name}" aria-labelledby="{name}-title">{heading}\n{content}</section>\n'


def table(headings: Sequence[str], rows: Sequence[str], name: str = "") -> str:
    """A table; a heading that ends in `#` is that of numbers."""
    cells = "".join(
        f'<th class="number">{h[:-1]}</th>' if h.endswith("#") else f"<th>{h}</th>" for h in headings
    )
    identity = f' id="{name}"' if name else ""
    body = "".join(rows)
    content = f"<thead><tr>{cells}</tr></thead><tbody>{body}</tbody>"
    return f'<div class="wide"><table{identity}>{content}</table></div>'


def row(cells: Sequence[str], kinds: str, p: int | None = None) -> str:
    """A row that stands for `p`; `kinds`: a number (n), code (c) or text (t) in each cell."""
    classes = {"n": ' class="number"', "c": ' class="mono"', "t": ""}
    content = "".join(f"<td{classes[kind]}>{cell}</td>" for cell, kind in zip(cells, kinds, strict=True))
    mark = "" if p is None else f' class="p{p}" data-p="{p}" tabindex="0"'
    return f"<tr{mark}>{content}</tr>"


def code(report: Report) -> str:
    """The source beside two stages, and a table of all stages."""
    stages = report.stages.stages
    used = {line for stage in stages for origin in stage.origins for line in origin.lines}
    names = [stage.name for stage in stages]
    second = names.index("simplify") if "simplify" in names else 0
    unchanged = ", ".join(report.stages.unchanged) or "none"
    counts = [
        f'<tr><th scope="row">{escape(stage.name)}</th><td class="number">{stage.ops}</td>'
        f'<td class="number">{readable_time(stage.seconds) if stage.seconds else ""}</td>'
        f'<td class="number" data-stage="{n}"></td><td>{escape(stage.about)}</td></tr>'
        for n, stage in enumerate(stages)
    ]
    panes = [_source_pane(report.sources, used), _stage_pane(names, second, "Stage")]
    panes.append(_stage_pane(names, len(names) - 1, "Another stage"))
    return section(
        "code",
        '<p class="quiet">Hover a line, or focus the source and use the arrow keys, to see its ops in each '
        "stage; click to keep it, Escape to let go. Ops of a backward pass mark their forward line. "
        'Now: <span id="origin" role="status"></span></p>\n'
        f'<div class="panes">{"".join(panes)}</div>\n<h3>Stages</h3>'
        f"{table(['stage', 'lines#', 'time#', 'of the marked#', 'what it did'], counts, 'counts')}\n"
        f'<p class="quiet">Passes that changed nothing: {escape(unchanged)}.</p>\n',
    )


def _source_pane(sources: list[Source], used: set[Line]) -> str:
    files = []
    for position, source in enumerate(sources):
        rows = []
        for number, text in enumerate(source.lines, 1):
            none = "" if (source.path, number) in used else " data-none"
            place = f'id="s{position}-{number}" data-file="{position}" data-line="{number}"{none}'
            rows.append(f'<div role="option" aria-selected="false" {place}>{escape(text) or " "}</div>')
        heading = f'<h3 id="f{position}" class="mono">{escape(source.shown)}</h3>'
        files.append(f'{heading}<div role="group" aria-labelledby="f{position}">{"".join(rows)}</div>')
    nothing = '<p class="quiet">No source: no op has a line in a file that can be read.</p>'
    return (
        '<div class="pane"><div class="bar">Source</div>'
        '<div class="scroll source code" id="source" role="listbox" tabindex="0" aria-label="Source">'
        f"{''.join(files) or nothing}</div></div>"
    )


def _stage_pane(names: list[str], chosen: int, label: str) -> str:
    options = "".join(
        f'<option value="{n}"{" selected" if n == chosen else ""}>{escape(name)}</option>'
        for n, name in enumerate(names)
    )
    return (
        f'<div class="pane stage"><div class="bar"><select aria-label="{label}">{options}</select>'
        f'<span class="about quiet"></span></div>'
        f'<div class="scroll" tabindex="0" role="region" aria-label="{label}: IR">'
        '<div class="code"></div></div></div>'
    )


def graph(report: Report, number: Number) -> str:
    """The graph of each function of the simplified program."""
    graphs = report.stages.graphs
    most = max(drawn.ops for drawn in graphs.values())
    is_grouped = any(drawn.is_grouped for drawn in graphs.values())
    grouped = f" A box stands for all ops of a line, since there are {most}." if is_grouped else ""
    drawings = "".join(
        f'{_heading(name, graphs)}<div class="drawing" tabindex="0" role="region" aria-label="Graph">'
        f"{graph_svg(drawn, number)}</div>\n"
        for name, drawn in graphs.items()
    )
    buttons = "".join(f'<button id="{b}" type="button">{b}</button> ' for b in ("larger", "smaller"))
    return section(
        "graph",
        f'<p class="quiet">After simplification; values flow downward.{grouped} {_FORWARD} '
        f'<span class="key peak">arguments and results</span> {buttons}</p>{drawings}',
    )


def _heading(name: str, each: Sized) -> str:
    """The heading of what is shown for one function of several."""
    return f'<h3 class="mono">{escape(name)}</h3>' if len(each) > 1 else ""


def cost(report: Report, number: Number) -> str:
    """What each function of the program costs, op by op."""
    lines = report.stages.timelines
    texts = (f"{_heading(name, lines)}{_cost(line, report, number)}" for name, line in lines.items())
    return section("cost", "".join(texts))


def _cost(line: Timeline, report: Report, number: Number) -> str:
    whole = line.cost
    dynamic = "" if whole.is_static else " Sizes that only a call states count as 1."
    peak = ""
    if line.moments:
        moment = line.moments[line.peak]
        peak = f" The peak is at op {line.peak}, {escape(moment.name)}{escape(described(moment.origin))}."
    costly = sorted(enumerate(line.moments), key=lambda entry: -entry[1].flops)[:_COSTLIEST]
    rows = [
        row(
            [
                str(n),
                escape(m.name),
                readable_count(m.flops),
                readable_bytes(m.bytes_moved),
                readable_bytes(m.alive),
                escape(_place(m.origin, report.sources)),
            ],
            "ncnnnt",
            number(m.origin),
        )
        for n, m in costly
        if m.flops
    ]
    return (
        f"<p>{readable_count(whole.flops)} operations, {readable_bytes(whole.bytes_moved)} moved, "
        f"{readable_bytes(whole.peak_bytes)} alive at most, counted op by op before IREE fuses ops.{dynamic}"
        f'{peak}</p><p class="quiet">Bytes alive while each op runs, from first to last: {_FORWARD} '
        f'<span class="key peak">peak</span></p>{memory_svg(line, number)}'
        f'<p class="quiet">Operations of each op: {_FORWARD}</p>{flops_svg(line, number)}'
        f"<h3>Costliest ops</h3>{table(['op#', 'name', 'operations#', 'moved#', 'alive#', 'from'], rows)}\n"
    )


def kernels(report: Report, number: Number) -> str:
    """The kernels with their tiles, and their times where they were measured."""
    if report.stages.kernels_failed is not None:
        return section("kernels", f"<p>IREE makes no kernels: {escape(report.stages.kernels_failed)}</p>\n")
    rows = []
    for each in report.kernels:
        timed = each.measured
        places = sorted({_place(origin, report.sources) for origin in each.origins if number(origin)})
        more = f" and {len(places) - 3} more" if len(places) > 3 else ""
        cells = [
            escape(each.name),
            readable_time(timed.median) if timed else "",
            f"{timed.share:.1%}" if timed else "",
            "<br>".join(map(escape, each.tiles)),
            escape(", ".join(each.ops)),
            escape("; ".join(places[:3]) + more),
        ]
        rows.append(row(cells, "cnncct", number(each.origins[0]) if each.origins else 0))
    shown = (
        table(["kernel", "time#", "share#", "tiles", "ops", "from"], rows)
        if rows
        else "<p>There are none.</p>"
    )
    return section("kernels", f"<p>{escape(report.timing)}</p>{shown}\n")


def lines(report: Report, number: Number) -> str:
    """What each line of source costs in the forward and in the backward pass."""
    totals: dict[Line, list[int]] = {}
    marks: dict[Line, int] = {}
    without = 0
    for moment in (m for line in report.stages.timelines.values() for m in line.moments):
        if not moment.origin.lines:
            without += 1
        for line in moment.origin.lines[:1]:
            total = totals.setdefault(line, [0, 0, 0, 0])
            side = 2 if moment.origin.is_backward else 0
            total[side] += 1
            total[side + 1] += moment.flops
            marks.setdefault(line, number(moment.origin))
    shown = {source.path: source for source in report.sources}
    rows = []
    for (file, at), (ops, flops, back_ops, back_flops) in sorted(totals.items()):
        source = shown.get(file)
        text = source.lines[at - 1].strip() if source and at <= len(source.lines) else ""
        name = source.shown if source else Path(file).name
        forward = [str(ops or ""), readable_count(flops) if ops else ""]
        backward = [str(back_ops or ""), readable_count(back_flops) if back_ops else ""]
        cells = [escape(f"{name}:{at}"), escape(text), *forward, *backward]
        rows.append(row(cells, "tcnnnn", marks[file, at]))
    missing = f"<p>{without} ops have no line of the user's.</p>" if without else ""
    headings = ["line", "", "ops#", "operations#", "backward ops#", "their operations#"]
    return section(
        "lines",
        '<p class="quiet">Each op of a derivative keeps the line that it differentiates.</p>'
        f"{table(headings, rows)}{missing}\n",
    )


def _place(origin: Provenance, sources: list[Source]) -> str:
    shown = {source.path: source.shown for source in sources}
    places = ", ".join(f"{shown.get(file, Path(file).name)}:{at}" for file, at in origin.lines)
    return "".join(f"{name} of " for name in origin.via) + places


def readable_time(seconds: float) -> str:
    """`0.0000123` as `12.3 us`."""
    if seconds >= 1:
        return f"{seconds:.2f} s"
    return f"{seconds * 1e3:.3g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.3g} us"
