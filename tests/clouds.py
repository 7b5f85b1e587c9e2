"""A stack with an account at each of three providers, as plain data."""

from __future__ import annotations

from typing import Any

from tests.projects import CHAT, changed

AWS_ACCOUNT = "123456789012"
CONFIRMED = {
    "account": "br-us",
    "deployment_type": "provisioned",
    "model": "nova-pro",
    "units": 50,
    "date": "2026-11-20",
    "ref": "case 7",
}
PLATFORM: dict[str, Any] = {
    "as_of": "2026-11-29",
    "accounts": [
        {
            "name": "oai-us",
            "provider": "azure",
            "region": "eastus2",
            "resource_group": "rg",
            "create": True,
            "quotas": [{"deployment_type": "DataZoneProvisionedManaged", "units": 1_000}],
        },
        {
            "name": "br-us",
            "provider": "aws",
            "region": "us-east-1",
            "account_id": AWS_ACCOUNT,
            "model_versions": {"nova-pro": "24k"},
        },
        {
            "name": "vx-us",
            "provider": "gcp",
            "region": "us-central1",
            "account_id": "acme-vertex-us",
        },
    ],
    "rates": [
        {
            "kind": "unit",
            "provider": "aws",
            "model": "nova-pro",
            "deployment_type": "provisioned",
            "unit": "MU",
            "input_tokens_per_minute": 250_000,
            "output_weight": 4,
            "date": "2026-11-01",
            "ref": "quote 7",
        },
        {
            "kind": "provisioned",
            "provider": "aws",
            "model": "nova-pro",
            "deployment_type": "provisioned",
            "region": "us-east-1",
            "term_months": 6,
            "usd_per_unit_month": 9_000,
            "date": "2026-11-01",
            "ref": "quote 7",
        },
        {
            "kind": "provisioned",
            "provider": "azure",
            "deployment_type": "DataZoneProvisionedManaged",
            "region": "eastus2",
            "term_months": 12,
            "usd_per_unit_month": 250,
            "date": "2026-11-01",
            "ref": "quote 8",
        },
    ],
    "confirmed_capacity": [CONFIRMED],
}


def workload(name: str, model: str, **pin: str) -> dict[str, Any]:
    """Return a public workload in the US that insists on ``pin``."""
    return changed(
        CHAT,
        name=name,
        models=[{"name": model}],
        classification="public",
        residency={"jurisdictions": ["US"]},
        horizon_months=12,
        pin=pin,
    )


WORKLOADS = (
    workload(
        "copilot",
        "gpt-4.1-mini",
        kind="provisioned",
        deployment_type="DataZoneProvisionedManaged",
        spill_to="DataZoneStandard",
    ),
    changed(
        workload("notes", "nova-pro", kind="provisioned", deployment_type="provisioned"),
        objectives={"max_spill_share": 0.0},
    ),
    workload("tags", "nova-pro", kind="payg", deployment_type="us"),
    workload("vision", "gemini-3.5-flash", kind="provisioned", deployment_type="pt_us_dedicated"),
)
"""A floor with spillover, model units and a profile, and an order that must not spill."""
