"""The plan: decisions, the resources they imply, and the digests that name them."""

from __future__ import annotations

import json
from typing import Any

from planner.base import Frozen
from planner.canonical import canonical, digest, plain, rounded
from planner.capacity import (
    COMMITTED_FIELDS,
    CapacityConfirmation,
    NodePool,
    Phase,
    ProviderAccount,
    ProviderDeployment,
    Purchase,
    QuotaNeed,
    Resources,
    Step,
    VllmServer,
)
from planner.decision import Decision
from planner.policy.verdicts import Finding, Verdict

__all__ = [
    "NOTHING_SPENT",
    "SCHEMA_VERSION",
    "CapacityConfirmation",
    "Inputs",
    "NodePool",
    "Phase",
    "Plan",
    "ProviderAccount",
    "ProviderDeployment",
    "Purchase",
    "QuotaNeed",
    "Resources",
    "Step",
    "Totals",
    "VllmServer",
    "canonical",
    "rounded",
]

SCHEMA_VERSION = 1


class Totals(Frozen):
    """Fleet totals, USD a month; ``reported`` is in the stack's currency with tax.

    ``sunk_usd_per_month`` is paid for commitments already owned whatever is
    decided; it is shown beside the total, not in it.
    """

    fixed_usd_per_month: float
    variable_usd_per_month: float
    engineering_usd_per_month: float
    total_usd_per_month: float
    sunk_usd_per_month: float
    undecided_workloads: int
    currency: str
    reported_per_month: float
    gpus: int
    nodes: int
    provisioned_units: int


NOTHING_SPENT = Totals(
    fixed_usd_per_month=0.0,
    variable_usd_per_month=0.0,
    engineering_usd_per_month=0.0,
    total_usd_per_month=0.0,
    sunk_usd_per_month=0.0,
    undecided_workloads=0,
    currency="USD",
    reported_per_month=0.0,
    gpus=0,
    nodes=0,
    provisioned_units=0,
)
"""The totals of a stack without anything in it."""


class Inputs(Frozen):
    """Digests (sha256) of what the plan rests on."""

    input_digest: str
    catalog_digest: str
    policy_digest: str


class Plan(Frozen):
    """Everything decided for a stack. See the module for its JSON form."""

    schema_version: int = SCHEMA_VERSION
    stack: str
    as_of: str
    verdict: Verdict
    decisions: tuple[Decision, ...]
    findings: tuple[Finding, ...]
    resources: Resources
    totals: Totals
    inputs: Inputs
    warnings: tuple[str, ...]
    overrides: tuple[str, ...] = ()

    @property
    def capacity_digest(self) -> str:
        """Return the digest of what will exist: what an approval names."""
        chosen = [
            {
                "workload": decision.workload,
                "status": decision.status,
                "chosen": decision.chosen and {"option": {"id": decision.chosen.option.id}},
            }
            for decision in self.decisions
        ]
        # The rest of a decision is large and not covered.
        document = {"stack": self.stack, "decisions": chosen, "resources": plain(self.resources)}
        return digest(capacity_document(document))

    @property
    def evidence_digest(self) -> str:
        """Return the digest of the whole plan: prices, catalog and policy included."""
        return digest(plain(self))

    def to_json(self) -> str:
        """Return the canonical JSON document, newline-terminated."""
        document = {
            **plain(self),
            "capacity_digest": self.capacity_digest,
            "evidence_digest": self.evidence_digest,
        }
        return json.dumps(document, sort_keys=True, indent=2, ensure_ascii=False) + "\n"


def capacity_document(document: dict[str, Any]) -> dict[str, Any]:
    """Return what the capacity digest covers, of a plan as plain data."""
    chosen = [
        {
            "workload": row["workload"],
            "status": row["status"],
            "option": row["chosen"]["option"]["id"] if row["chosen"] else None,
        }
        for row in document["decisions"]
    ]
    return {
        "stack": document["stack"],
        "chosen": chosen,
        "resources": _existing(document["resources"]),
    }


def _existing(document: dict[str, Any]) -> dict[str, Any]:
    """Return what will exist: a commitment by what it is, without its price or evidence."""
    return {
        **{
            name: document[name]
            for name in ("accounts", "deployments", "node_pools", "servers", "sites")
        },
        "purchases": [
            {name: item[name] for name in COMMITTED_FIELDS} for item in document["purchases"]
        ],
    }
