"""The chart templates: built by Altair, compiled to Vega, each once for the whole report."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from typing import Any

import vl_convert as vlc

from planner.report.html.charts import economics, serving

TEMPLATES: Mapping[str, Callable[[], dict[str, Any]]] = {
    "break_even": economics.break_even,
    "cost": economics.cost,
    "demand": economics.demand,
    "fleet": serving.fleet,
    "latency": serving.latency,
    "memory": serving.memory,
    "roofline": serving.roofline,
}
"""By kind (planner.report.html.kinds), each a function that returns a Vega-Lite chart."""


@functools.cache
def compiled(kind: str) -> str:
    """Return a kind's template as Vega JSON, so that the report ships no Vega-Lite compiler."""
    spec = vlc.vegalite_to_vega(TEMPLATES[kind]())
    return json.dumps(spec, sort_keys=True, separators=(",", ":"))


@functools.cache
def runtime() -> str:
    """Return the JavaScript that draws Vega charts, from the installed wheel, no network."""
    return str(vlc.javascript_bundle("window.vegaEmbed = vegaEmbed;"))


def versions() -> str:
    """Return which libraries draw the charts."""
    return f"Vega {vlc.get_vega_version()}, Vega-Embed {vlc.get_vega_embed_version()}"
