"""Every number of a plan by its path, and the id under which it is explained."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

MOVED = (
    (r"mix\.(\w+)", r"\1"),
    (r"chosen\.self_hosted\.replica\.ledger\.(\w+)", r"\1"),
    (r"chosen\.self_hosted\.replica\.(\w+)", r"\1"),
    (r"chosen\.self_hosted\.(replicas|nodes|spare_\w+|gpus_per_node)", r"\1"),
    (r"chosen\.cost\.(floor|p50_reference)\.step\.(\w+)", r"\1/\2"),
    (r"chosen\.cost\.(floor|p50_reference)\.(\w+)", r"\1/\2"),
    (r"chosen\.cost\.(break_even|exit)\.(\w+)", r"\1/\2"),
    (r"chosen\.cost\.(\w+)", r"\1"),
    (r"chosen\.latency\.(\w+)", r"\1"),
    (r"chosen\.(compared_usd_per_month|floor_tokens_per_minute|availability)", r"\1"),
    (r"flip\.(\w+)", r"flip/\1"),
)
"""Where a number of a decision is explained, by its path in the plan."""

NEEDS_NONE = (
    (r"chosen\.option\.hardware\.(gpus_per_node|max_nodes)", "what the option is: machine, quota"),
    (r"chosen\.option\.term_months", "what the option is: its term"),
    (r"chosen\.option\.spill\..*", "what the option is: where it spills"),
    (r"chosen\.self_hosted\.replica\.layout\..*", "what was sized: each layout has its cost"),
    (r"chosen\.self_hosted\.replica\.max_num_batched_tokens", "the engine's default, a term"),
    (r"chosen\.self_hosted\.refusals\..*", "the layouts that were refused, in words"),
    (r"chosen\.findings\..*", "what the policy observed"),
    (r"engineering_usd_per_month", "the stack's own line: total/engineering_usd_per_month"),
)
"""Numbers that need no explanation, and why."""

_ZERO_WITHOUT_FLOOR = {"floor_tokens_per_minute"}


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, float]]:
    """Yield each number of plain data with its path."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield from leaves(inner, f"{path}.{index}")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path, value


def kind_of(path: str, decision: dict[str, Any]) -> str | None:
    """Return the kind that explains the number at ``path``, None for one that needs none."""
    layout = re.fullmatch(r"chosen\.self_hosted\.per_layout_usd\.(\d+)\.(\d)", path)
    if layout is not None:
        row = decision["chosen"]["self_hosted"]["per_layout_usd"][int(layout[1])]
        names = {"1": "replicas", "2": "nodes", "3": "usd_per_month"}
        return None if layout[2] == "0" else f"layout/TP{row[0]}/{names[layout[2]]}"
    if any(re.fullmatch(pattern, path) for pattern, _ in NEEDS_NONE):
        return None
    for pattern, kind in MOVED:
        if re.fullmatch(pattern, path):
            return re.sub(pattern, kind, path)
    return path
