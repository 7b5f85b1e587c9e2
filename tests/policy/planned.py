"""Plans to put to the rules, and an engine whose regimes are our own."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from planner.policy.bundle import policies_folder
from planner.policy.document import Operation, Terms
from planner.policy.engine import PolicyEngine

Said = set[tuple[str, str, str]]
"""(rule, subject, verdict) of each finding."""

REGIMES: dict[str, dict[str, Any]] = {
    "CRITICAL": {"register_entry": "critical"},
    "THIRD_PARTY": {"register_entry": "third_party"},
    "ALL": {"register_entry": "all"},
    "EXIT": {"exit_plan": {"max_age_months": 12, "stressed": True}},
    "SPREAD": {"concentration": {"max_share": 0.6, "verdict": "deny"}},
    "COMPARED": {"baseline": "required"},
    "SILENT": {},
}

DIGEST, REVISION = "sha256:" + "0a" * 32, "0b" * 20


@contextmanager
def own_regimes(opa: str, folder: Path) -> Iterator[PolicyEngine]:
    """Yield an engine with the policies as they are and the regimes of these tests."""
    policies = folder / "policies"
    shutil.copytree(policies_folder(), policies)
    rows = {
        name: {
            "clauses": {
                rule: {"document": f"Regime {name}", "clause": rule}
                for rule in ("REG-001", "EXI-001", "CON-001", "CLS-002")
            },
            **profile,
        }
        for name, profile in REGIMES.items()
    }
    facts = policies / "llm_capacity/facts/regimes/data.json"
    facts.write_text(json.dumps({"regimes": rows}))
    with PolicyEngine(policies=policies, opa=opa) as running:
        yield running


def said(engine: PolicyEngine, document: dict[str, Any]) -> Said:
    findings = engine.ask(document).findings
    return {(found.rule_id, found.subject, found.verdict) for found in findings}


def terms(*regimes: str, operation: str = "preview", agreements: Any = ()) -> Terms:
    return Terms(cast(Operation, operation), regimes, tuple(agreements))


def server(**changes: Any) -> dict[str, Any]:
    return {
        "name": "chat",
        "workload": "chat",
        "cluster": "gpu",
        "image": "vllm/vllm-openai:v0.33.0",
        "image_digest": DIGEST,
        "model": "Qwen/Qwen3-32B",
        "model_source": "claim",
        "model_revision": REVISION,
        **changes,
    }


def pool(**changes: Any) -> dict[str, Any]:
    return {
        "name": "interactive-gpu",
        "cluster": "gpu",
        "region": "australiaeast",
        "country": "AU",
        "tier": "interactive",
        "workloads": ["chat"],
        **changes,
    }


def egress(host: str, purpose: str, workload: str = "chat") -> dict[str, Any]:
    return {"cluster": "gpu", "workload": workload, "host": host, "purpose": purpose}


def purchase(**changes: Any) -> dict[str, Any]:
    return {
        "workload": "chat",
        "order_digest": DIGEST,
        "units": 50,
        "term_months": 12,
        "usd_per_month": 10_000.0,
        "bought_by": "person",
        "signed": True,
        **changes,
    }


def shares(make: SimpleNamespace, **tokens: float) -> list[dict[str, Any]]:
    """Critical workloads by name of a provider, or ``metal`` for own machines."""
    placed = {
        name: {"provider": "azure", "operator_class": "own_metal"}
        if name == "metal"
        else {"provider": name}
        for name in tokens
    }
    return [
        make.decision(
            workload=name,
            tokens_per_month=amount,
            deployment_key=name,
            option=make.option(**placed[name]),
        )
        for name, amount in tokens.items()
    ]
