"""Draws the dashboard of packaging/monitoring without Grafana: its panels, with data from a Prometheus."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from html import escape
from itertools import pairwise
from typing import Any

ROW, COLUMN = 34, 58  # pixels per unit of a panel's position
LABELS = 46  # the width of the labels at the left of a chart
COLOURS = ("#73bf69", "#f2cc0c", "#5794f2", "#ff9830", "#b877d9", "#8ab8ff", "#ff7383", "#96d98d")
GROUND = {"none": "#2c3235", "green": "#299c46", "orange": "#c4711a", "red": "#c4162a", "yellow": "#a88a00", "blue": "#1f60c4"}
STYLE = f"""body {{ margin: 0; background: #111217; color: #ccccdc; font: 13px sans-serif; width: {24 * COLUMN}px; position: relative; }}
section {{ position: absolute; box-sizing: border-box; padding: 6px 8px; background: #181b1f; border: 2px solid #111217; overflow: hidden; }}
section.row {{ background: none; font-weight: bold; }} section b {{ display: block; overflow: hidden; white-space: nowrap; }}
.stat {{ color: white; }} .stat i {{ display: block; font: bold 34px sans-serif; margin-top: 22px; text-align: center; }}
text {{ fill: #9fa7b3; font: 11px sans-serif; }} table {{ width: 100%; border-spacing: 0; }}
td, th {{ text-align: left; padding: 5px; border-bottom: 1px solid #2c3235; }} .key span {{ margin-right: 12px; white-space: nowrap; }}"""

Series = dict[str, Any]
# The start and end of the drawn time in seconds.
Span = tuple[float, float]
# A function that returns the series of a query: at the end of the drawn time if the flag is true, otherwise over all of it.
Asked = Callable[[str, bool], list[Series]]


def page(dashboard: dict[str, Any], asked: Asked, span: Span) -> str:
    """Returns the whole dashboard as one document."""
    height = max(panel["gridPos"]["y"] + panel["gridPos"]["h"] for panel in dashboard["panels"]) * ROW
    drawn = "".join(section(panel, asked, span) for panel in dashboard["panels"])
    return (f'<!doctype html><meta charset="utf-8"><title>{escape(dashboard["title"])}</title><style>{STYLE}</style>'
            f'<body style="height: {height}px">{drawn}')


def section(panel: dict[str, Any], asked: Asked, span: Span) -> str:
    place, kind = panel["gridPos"], panel["type"]
    box = f'left: {place["x"] * COLUMN}px; top: {place["y"] * ROW}px; width: {place["w"] * COLUMN}px; height: {place["h"] * ROW}px'
    size = place["w"] * COLUMN - 20, place["h"] * ROW - 64
    named = [(name(target, series), series) for target in panel.get("targets", [])
             for series in asked(target["expr"], kind in ("stat", "table"))]
    defaults = panel.get("fieldConfig", {}).get("defaults", {})
    unit, content = defaults.get("unit", ""), ""
    if kind == "stat":
        value = float(named[0][1]["value"][1]) if named else float("nan")
        box += f"; background: {ground(defaults['thresholds'], value)}"
        content = f"<i>{figure(value, unit)}</i>"
    elif kind == "table":
        content = table(panel, asked)
    elif kind == "heatmap":
        content = bands(separated(named), size, span)
    elif kind == "state-timeline":
        content = bands(named, size, span, [
            GROUND[override_of(panel["fieldConfig"], label, "color", {"fixedColor": "none"})["fixedColor"]] for label, _ in named])
    elif kind == "timeseries":
        content = chart(named, size, span, panel["fieldConfig"])
    title = escape(panel["title"].replace("$vehicle", "van-1"))
    return f'<section class="{kind}" style="{box}"><b>{title}</b>{content}</section>'


def name(target: dict[str, Any], series: Series) -> str:
    return re.sub(r"{{(\w+)}}", lambda label: series["metric"].get(label[1], ""), target.get("legendFormat", ""))


def points(series: Series) -> Iterator[tuple[float, float]]:
    for moment, text in series["values"]:
        if (value := float(text)) == value:
            yield float(moment), value


def separated(named: list[tuple[str, Series]]) -> list[tuple[str, Series]]:
    """Returns the separate count of each bucket, the slowest first; in the data, each bucket includes the lower ones."""
    rising = sorted(named, key=lambda pair: float(pair[1]["metric"]["le"]))
    below: dict[float, float] = {}
    separate = []
    for label, series in rising:
        values = dict(points(series))
        separate.append((label, series | {"values": [(moment, value - below.get(moment, 0)) for moment, value in values.items()]}))
        below = values
    return separate[::-1]


def across(moment: float, width: int, span: Span) -> float:
    """Returns the horizontal position of a moment in a panel of this width."""
    return LABELS + (moment - span[0]) / (span[1] - span[0]) * (width - 2 * LABELS)


def chart(named: list[tuple[str, Series]], size: tuple[int, int], span: Span, config: dict[str, Any]) -> str:
    """Returns a line per series; the panel's overrides give some series their own axis at the right."""
    unit = config["defaults"].get("unit", "")
    is_log = config["defaults"].get("custom", {}).get("scaleDistribution", {}).get("type") == "log"
    units = {label: override_of(config, label, "unit", unit) for label, _ in named}
    at_right = {label: override_of(config, label, "custom.axisPlacement", "left") == "right" for label, _ in named}
    drawn = [(label, list(points(series))) for label, series in named]
    if not any(line for _, line in drawn):
        return "<p>No data</p>"
    (width, height), axes, lines = size, "", ""
    for side in (False, True):
        ours = [(number, label, line) for number, (label, line) in enumerate(drawn) if at_right[label] is side]
        values = [value for _, _, line in ours for _, value in line]
        if not values:
            continue
        top, low = max(*values, 0) or 1, min(value for value in values if value > 0) / 10 if is_log else 0

        def place(moment: float, value: float, top: float = top, low: float = low) -> str:
            share = math.log(max(value, low) / low) / math.log(top / low) if is_log else value / top
            return f"{across(moment, width, span):.1f},{(1 - share) * (height - 8) + 4:.1f}"

        for number, _, line in ours:
            lines += (f'<polyline fill="none" stroke-width="1.5" stroke="{COLOURS[number % len(COLOURS)]}" '
                      f'points="{" ".join(place(*point) for point in line)}"/>')
        middle = math.sqrt(top * low) if is_log else top / 2
        for y, value in ((4, top), (height // 2, middle), (height - 4, low)):
            axes += (f'<path stroke="#2c3235" d="M{LABELS} {y}H{width - LABELS}"/>'
                     f'<text x="{width - LABELS + 4 if side else 0}" y="{min(y + 6, height - 1)}">{figure(value, units[ours[0][1]])}</text>')
    return f'<svg width="{width}" height="{height}">{axes}{lines}</svg>{key([label for label, _ in drawn])}'


def override_of(config: dict[str, Any], label: str, id: str, otherwise: Any) -> Any:
    found = [property["value"] for override in config["overrides"] if re.fullmatch(override["matcher"]["options"], label)
             for property in override["properties"] if property["id"] == id]
    return found[-1] if found else otherwise


def bands(named: list[tuple[str, Series]], size: tuple[int, int], span: Span, colours: list[str] | None = None) -> str:
    """Returns a band for each series, in the colour of its state; without colours, the opacity shows the value."""
    every = [point for _, series in named for point in points(series)]
    if not every:
        return "<p>No data</p>"
    moments, most, (width, height) = sorted({moment for moment, _ in every}), max(value for _, value in every) or 1, size
    step = min((after - before for before, after in pairwise(moments)), default=span[1] - span[0])
    high, cells = height / len(named), ""
    for number, (label, series) in enumerate(named):
        for moment, value in points(series):
            # A value applies from the previous moment to its own.
            left, right = (across(max(place, span[0]), width, span) for place in (moment - step, moment))
            paint = f'fill="{colours[number]}"' if colours else f'fill="#5794f2" fill-opacity="{value / most:.2f}"'
            cells += (f'<rect x="{left:.1f}" y="{number * high:.1f}" width="{right - left + .3:.1f}" '
                      f'height="{high - 1:.1f}" {paint}/>')
        if not colours:
            cells += f'<text x="0" y="{(number + .5) * high + 4:.1f}">{escape(label)}</text>'
    return f'<svg width="{width}" height="{height}">{cells}</svg>{key([label for label, _ in named], colours) if colours else ""}'


def key(names: list[str], colours: Sequence[str] = COLOURS) -> str:
    entries = "".join(f'<span><svg width="12" height="8"><rect width="12" height="3" y="3" fill="{colours[number % len(colours)]}"/></svg> '
                   f"{escape(name)}</span>" for number, name in enumerate(names))
    return f'<div class="key">{entries}</div>'


def table(panel: dict[str, Any], asked: Asked) -> str:
    """Returns one row per van, with the columns that the transformation names."""
    [organized] = [step["options"] for step in panel["transformations"] if step["id"] == "organize"]
    units = {override["matcher"]["options"]: property["value"] for override in panel["fieldConfig"]["overrides"]
             for property in override["properties"] if property["id"] == "unit"}
    rows: dict[str, dict[str, str]] = {}
    columns: list[str] = []
    for target in panel["targets"]:
        column = organized["renameByName"].get(f"Value #{target['refId']}", "")
        columns += [column] if column else []
        for series in asked(target["expr"], True):
            row = rows.setdefault(series["metric"]["vehicle"], {})
            row[column] = figure(float(series["value"][1]), units.get(column, ""))
            row["version"] = series["metric"].get("version", row.get("version", ""))
    head = "".join(f"<th>{escape(column)}" for column in ["Van", *columns, organized["renameByName"]["version"]])
    body = "".join(f"<tr><td>{escape(van)}" + "".join(f"<td>{row.get(column, '')}" for column in [*columns, "version"])
                   for van, row in rows.items())
    return f"<table><tr>{head}{body}</table>"


def ground(thresholds: dict[str, Any], value: float) -> str:
    if value != value:
        return GROUND["none"]
    reached = [step["color"] for step in thresholds["steps"] if step["value"] is None or value >= step["value"]]
    return GROUND.get(reached[-1], reached[-1])


def figure(value: float, unit: str) -> str:
    if value != value:
        return "No data"
    if unit == "s" and abs(value) >= 120:
        return f"{value / 60:.0f} min" if abs(value) < 7200 else f"{value / 3600:.1f} h"
    if unit == "s" and 0 < abs(value) < 1:
        return f"{value * 1000:.0f} ms"
    for size, sign in ((1e9, " GB"), (1e6, " MB"), (1e3, " kB")):
        if unit == "decbytes" and value >= size:
            return f"{value / size:.1f}{sign}"
    return (f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}") + {"s": " s", "m": " m", "lengthm": " m"}.get(unit, "")
