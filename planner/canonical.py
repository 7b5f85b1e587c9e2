"""Canonical JSON: sorted keys, no clock, no randomness, numbers cut to the digits that matter.

Equal values give equal bytes, in any process, place or time zone.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from planner.base import Frozen

_SIGNIFICANT_DIGITS = 12


def canonical(value: Any) -> str:
    """Return ``value`` (plain JSON data) as one canonical line."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def plain(model: Frozen) -> Any:
    """Return a model as plain JSON data with rounded numbers."""
    return rounded(model.model_dump(mode="json"))


def rounded(value: Any) -> Any:
    """Return ``value`` with every float cut to 12 significant digits."""
    if isinstance(value, float):
        return float(f"{value:.{_SIGNIFICANT_DIGITS}g}")
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(item) for item in value]
    return value


def digest(value: Any) -> str:
    """Return the sha256 of the canonical form of plain JSON data."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()
