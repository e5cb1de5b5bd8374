"""The page: one file of HTML that needs no other, from disk or from a server.

Input: a `Report`. Output: its HTML. Stages are in the page as JSON, which its script shows as text; tables,
charts and the graph are written here, and can be read without a script.
"""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import Any

from . import sections
from .provenance import NOWHERE, Provenance
from .report_data import Report, Source


class _Numbers:
    """A number for each provenance; 0 is for what has no line."""

    def __init__(self, sources: list[Source]) -> None:
        self._files = {source.path: position for position, source in enumerate(sources)}
        self._names = [source.shown for source in sources]
        self._numbers: dict[Provenance, int] = {NOWHERE: 0}

    def __call__(self, origin: Provenance) -> int:
        if not any(file in self._files for file, _ in origin.lines):
            return 0
        return self._numbers.setdefault(origin, len(self._numbers))

    def to_json(self) -> list[dict[str, Any]]:
        return [
            {"lines": [[self._files[f], n] for f, n in o.lines if f in self._files], "via": list(o.via)}
            for o in self._numbers
        ]


def page(report: Report) -> str:
    """The page as text."""
    numbers = _Numbers(report.sources)
    texts: dict[str, int] = {}  # stages have most of their lines in common
    stages = [
        {
            "name": stage.name,
            "about": stage.about,
            "lines": [texts.setdefault(line, len(texts)) for line in stage.lines],
            "origins": [numbers(origin) for origin in stage.origins],
            "omitted": stage.omitted,
        }
        for stage in report.stages.stages
    ]
    body = [
        sections.code(report),
        sections.graph(report, numbers),
        sections.cost(report, numbers),
        sections.kernels(report, numbers),
        sections.lines(report, numbers),
    ]
    files = [source.shown for source in report.sources]
    data = {"files": files, "lines": list(texts), "stages": stages, "origins": numbers.to_json()}
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")
    links = "".join(f'<a href="#{name}">{title}</a>' for name, title in sections.SECTIONS)
    facts = "".join(
        f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in report.about
    )
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(report.title)}</title>\n<style>\n{_asset('page.css')}</style>\n</head>\n<body>\n"
        f"<header><h1>{escape(report.title)}</h1>"
        f'<p class="signature" tabindex="0"><code>{escape(report.signature)}</code></p>'
        f'<div class="wide"><table>{facts}</table></div></header>\n'
        f'<nav aria-label="Sections">{links}</nav>\n<main>\n{"".join(body)}</main>\n'
        f"<noscript><p>The stages are shown by a script, which this browser does not run.</p></noscript>\n"
        f'<script type="application/json" id="data">{text}</script>\n<script>\n{_asset("page.js")}</script>\n'
        f"</body>\n</html>\n"
    )


def _asset(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")
