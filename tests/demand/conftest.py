"""Builders of workloads for the demand tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from planner.workload import (
    Lengths,
    ModelChoice,
    Residency,
    TokensPerMinute,
    Traffic,
    Workload,
)


def _workload(**changes: Any) -> Workload:
    traffic: dict[str, Any] = {
        "tokens_per_minute": TokensPerMinute(
            p10=100.0, p50=200.0, p90=400.0, p99=500.0, peak=600.0
        ),
        "output_fraction": 0.2,
        "prompt_tokens": Lengths(mean=800.0, p50=700.0, p95=2000.0),
        "output_tokens": Lengths(mean=200.0, p50=150.0, p95=500.0),
        "max_tokens": 1000,
    } | changes.pop("traffic", {})
    fields: dict[str, Any] = {
        "name": "assistant",
        "owner": "team",
        "tier": "interactive",
        "classification": "internal",
        "residency": Residency(jurisdictions=("AU",)),
        "data_asset": "tickets",
        "signed_off_by": "owner",
        "models": (ModelChoice(name="gpt-4.1"),),
    } | changes
    return Workload(traffic=Traffic(**traffic), **fields)


@pytest.fixture
def workload() -> Callable[..., Workload]:
    return _workload
