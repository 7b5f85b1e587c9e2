"""What a gateway must do so that demand above a floor goes where the plan says, and only there.

Providers differ in who sends overflow on. Azure does it where the deployment names a
target; Vertex does it unasked, to the global endpoint, unless a header refuses; Bedrock's
provisioned throughput and one's own servers do not do it at all. ``overflow.csv`` holds
which; the sentences are here.
"""

from __future__ import annotations

from planner.catalog.loader import Catalog, load_catalog
from planner.catalog.rows import Overflow
from planner.errors import InputError


def overflow_of(catalog: Catalog, provider: str, deployment_type: str) -> Overflow | None:
    """Return who sends overflow of a provisioned type on; None for any other type."""
    for row in catalog.overflow:
        if (row.provider, row.deployment_type) == (provider, deployment_type):
            return row
    return None


def routing_requirement(
    provider: str,
    deployment_type: str,
    model: str,
    spill_type: str | None,
    *,
    catalog: Catalog | None = None,
) -> str | None:
    """Return what the caller's router must do, None when nothing.

    ``spill_type`` is the pay-as-you-go type that the overflow is planned for, None when it
    is to be refused. ``deployment_type`` may be a machine type, for self-hosting. Raises
    InputError for a name that is neither.
    """
    facts = catalog or load_catalog()
    if not _is_type(facts, provider, deployment_type):
        return _own_servers(spill_type)
    row = overflow_of(facts, provider, deployment_type)
    if row is None:
        return None
    match row.by:
        case "setting":
            return _by_setting(row, _supports(facts, row, model), spill_type)
        case "default":
            return _by_default(row, spill_type)
        case "refused":
            return _refused(row, spill_type)
        case "gateway":
            return _gateway_only(row, spill_type)


def _is_type(catalog: Catalog, provider: str, name: str) -> bool:
    """Return whether the name is a deployment type rather than a machine type."""
    try:
        catalog.deployment_type(provider, name)
    except InputError:
        if any((row.cloud, row.name) == (provider, name) for row in catalog.instances):
            return False
        raise
    return True


def _supports(catalog: Catalog, row: Overflow, model: str) -> bool:
    """Return whether the provider spills this model over; not known counts as no."""
    name = catalog.model(model).name
    return any(
        unit.spillover
        for unit in catalog.provisioned_units
        if (unit.provider, unit.model, unit.deployment_type)
        == (row.provider, name, row.deployment_type)
    )


def _by_setting(row: Overflow, supported: bool, spill_type: str | None) -> str | None:
    if spill_type is None:
        return None
    if not supported:
        return (
            f"{row.provider} does not spill this model over: the gateway must resend what gets "
            f"429, 500 or 503 to the {spill_type} deployment, within its retry-after."
        )
    return (
        f"Name the {spill_type} deployment of the same resource in spilloverDeploymentName of the "
        f"{row.deployment_type} deployment, or send `{row.header}: NAME` with each request; the "
        "property wins over the header."
    )


def _by_default(row: Overflow, spill_type: str | None) -> str | None:
    if spill_type == row.target:
        return None
    if row.header is None:
        told = f"{row.provider} sends overflow of {row.deployment_type} to {row.target} by itself"
        if spill_type is None:
            return f"{told}; only a limit in the gateway, below the floor, holds it back."
        return f"{told}: to reach {spill_type} the gateway must divert before the floor is full."
    return (
        f"Send `{row.header}: dedicated` with each request: without it "
        f"overflow goes to the {row.target} endpoint.{_resend(row, spill_type)}"
    )


def _refused(row: Overflow, spill_type: str | None) -> str:
    return (
        f"Send `{row.header}: dedicated` with each request, which refuses overflow with 429: "
        f"without it overflow may use the global endpoint.{_resend(row, spill_type)}"
    )


def _resend(row: Overflow, spill_type: str | None) -> str:
    if spill_type is None:
        return ""
    return (
        f" What gets 429 the gateway resends to the {spill_type} endpoint with "
        f"`{row.header}: shared`."
    )


def _gateway_only(row: Overflow, spill_type: str | None) -> str | None:
    if spill_type is None:
        return None
    return (
        f"{row.provider} has no spillover from {row.deployment_type}: the gateway holds two model "
        f"ids, the provisioned model's and that of the {spill_type} target, and resends what gets "
        "429 (ThrottlingException) to the second."
    )


def _own_servers(spill_type: str | None) -> str | None:
    if spill_type is None:
        return None
    return (
        "Own servers send nothing on: the gateway limits their queue and resends what they "
        f"refuse to the {spill_type} deployment."
    )
