"""What tests start from: declared input as plain data, and a copy of the program."""

from __future__ import annotations

import copy
import shutil
from pathlib import Path
from typing import Any

from tools.shell_env import PROJECT

CHAT: dict[str, Any] = {
    "name": "chat",
    "owner": "team",
    "tier": "interactive",
    "classification": "confidential",
    "residency": {"jurisdictions": ["AU"]},
    "data_asset": "customer questions",
    "signed_off_by": "data owner",
    "models": [
        {
            "name": "gpt-4.1-mini",
            "evaluation": {
                "suite": "support-answers",
                "score": 0.91,
                "threshold": 0.85,
                "date": "2026-10-01",
                "ref": "eval/2026-10/support",
            },
        }
    ],
    "traffic": {
        "tokens_per_minute": {
            "p10": 150_000,
            "p50": 220_000,
            "p90": 340_000,
            "p99": 390_000,
            "peak": 400_000,
        },
        "output_fraction": 0.15,
        "prompt_tokens": {"mean": 850, "p50": 800, "p95": 2_000},
        "output_tokens": {"mean": 150, "p50": 120, "p95": 400},
        "max_tokens": 1_000,
    },
    "exit_plan": {"tested_on": "2026-10-15", "alternative": "gpt-5-mini"},
}
"""A workload every test may change: 85% input, requests of 1,000 tokens on average."""

PLATFORM: dict[str, Any] = {
    "as_of": "2026-11-29",
    "accounts": [
        {"name": "aue", "provider": "azure", "region": "australiaeast", "resource_group": "rg"}
    ],
}

CLUSTER: dict[str, Any] = {
    "name": "gpu",
    "cloud": "azure",
    "region": "australiaeast",
    "node_pools": "aks_agent_pool",
    "resource_group": "rg",
    "nodes": [{"instance": "Standard_ND96isr_H100_v5", "max_nodes": 8}],
}


def copy_program(folder: Path) -> Path:
    """Make `folder` with the program and its input alone: what a run reads from a clone."""
    folder.mkdir()
    for name in ("Pulumi.yaml", "__main__.py"):
        shutil.copy(PROJECT / name, folder)
    for name in ("stacks", "policies"):
        shutil.copytree(PROJECT / name, folder / name)
    return folder


def changed(base: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return a deep copy with top-level keys replaced; ``a__b`` replaces a nested key."""
    made = copy.deepcopy(base)
    for key, value in changes.items():
        *path, last = key.split("__")
        target = made
        for part in path:
            target = target.setdefault(part, {})
        target[last] = value
    return made
