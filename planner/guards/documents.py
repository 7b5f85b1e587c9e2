"""The rule of residency as documents for the clouds' own guards, from the same data.

An Azure Policy and an AWS service control policy, for a person to review and to attach: they
hold what is deployed past this program. An account is shared by its workloads, which its guard
cannot tell apart, so a deployment type is admitted where the residency of all of them admits
it, or the plan itself has it there. docs/guards.md says what they cannot do.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from planner.catalog.loader import Catalog
from planner.catalog.rows import Provider
from planner.guards.aws_scp import aws_scp
from planner.guards.terms import GuardedAccount
from planner.plan import Plan

AZURE_FILE = "guards/azure-policy.json"
AWS_FILE = "guards/aws-scp.json"

_ACCOUNTS = "Microsoft.CognitiveServices/accounts"
_DEPLOYMENTS = f"{_ACCOUNTS}/deployments"
_CLUSTERS = "Microsoft.ContainerService/managedClusters"


def guard_files(plan: Plan, catalog: Catalog) -> dict[str, str]:
    """Return the texts of the guards by their files; a cloud without accounts has none."""
    return {
        name: json.dumps(document, indent=2, sort_keys=True) + "\n"
        for name, document in guards(plan, catalog).items()
    }


def guards(plan: Plan, catalog: Catalog) -> dict[str, Any]:
    """Return the documents by their files."""
    azure, aws = _accounts(plan, "azure", catalog), _accounts(plan, "aws", catalog)
    found: dict[str, Any] = {}
    if azure:
        found[AZURE_FILE] = _azure_policy(plan, azure, catalog)
    if aws:
        found[AWS_FILE] = aws_scp(aws, catalog)
    return found


def _accounts(plan: Plan, provider: Provider, catalog: Catalog) -> tuple[GuardedAccount, ...]:
    countries = {decision.workload: set(decision.countries) for decision in plan.decisions}
    found = []
    for account in plan.resources.accounts:
        ours = [item for item in plan.resources.deployments if item.account == account.name]
        if account.provider != provider or not ours:
            continue
        residency = set.intersection(*(countries[item.workload] for item in ours))
        planned = {item.deployment_type for item in ours}
        admitted = {
            kind.name
            for kind in catalog.deployment_types_of(provider)
            if _stays(provider, kind.name, account.region, residency, catalog)
        }
        found.append(
            GuardedAccount(
                name=account.name,
                account_id=account.account_id,
                resource_group=account.resource_group,
                region=account.region,
                countries=tuple(sorted(residency)),
                admitted=tuple(sorted(admitted)),
                planned=tuple(sorted(planned)),
            )
        )
    return tuple(found)


def _stays(
    provider: Provider, deployment_type: str, region: str, residency: set[str], catalog: Catalog
) -> bool:
    """Tell whether a type processes inside of a residency; unknown places are outside."""
    if not catalog.offered(provider, deployment_type, region):
        return False
    _, countries = catalog.processing(provider, deployment_type, region)
    return countries is not None and set(countries) <= residency


def _azure_policy(
    plan: Plan, accounts: tuple[GuardedAccount, ...], catalog: Catalog
) -> dict[str, Any]:
    """Return two definitions and where to assign them, with what values.

    A deployment type that is new at Azure is in no list, and so is denied.
    """
    known = {kind.name for kind in catalog.deployment_types_of("azure")}
    kinds, places = f"llm-{plan.stack}-deployment-types", f"llm-{plan.stack}-locations"
    definitions = [
        _definition(
            kinds,
            "Model deployments stay inside of the residency of their workloads",
            "allowedSkus",
            [
                {"field": "type", "equals": _DEPLOYMENTS},
                {"field": f"{_DEPLOYMENTS}/sku.name", "notIn": "[parameters('allowedSkus')]"},
            ],
        ),
        _definition(
            places,
            "Accounts for models and clusters are made inside of the residency of their workloads",
            "allowedLocations",
            [
                {"field": "type", "in": [_ACCOUNTS, _CLUSTERS]},
                {"field": "location", "notIn": "[parameters('allowedLocations')]"},
            ],
        ),
    ]
    assigned: list[dict[str, Any]] = [
        {
            "definition": kinds,
            "scope": {"resourceGroup": account.resource_group, "account": account.name},
            "parameters": {"allowedSkus": {"value": list(account.deployment_types)}},
            "deniedSkus": sorted(known - set(account.deployment_types)),
        }
        for account in accounts
    ]
    for group, locations in sorted(_locations(plan, accounts, catalog).items()):
        assigned.append(
            {
                "definition": places,
                "scope": {"resourceGroup": group},
                "parameters": {"allowedLocations": {"value": sorted(locations)}},
            }
        )
    return {"definitions": definitions, "assignments": assigned}


def _locations(
    plan: Plan, accounts: tuple[GuardedAccount, ...], catalog: Catalog
) -> dict[str, set[str]]:
    """Return the locations that each resource group may hold: those of all that is in it."""
    found: dict[str, set[str]] = {}
    for account in accounts:
        if account.resource_group is not None:
            inside = _regions_in(account.countries, catalog) | {account.region}
            found.setdefault(account.resource_group, set()).update(inside)
    countries = {decision.workload: decision.countries for decision in plan.decisions}
    pools = {(pool.cluster, pool.name): pool for pool in plan.resources.node_pools}
    for server in plan.resources.servers:
        pool = pools[(server.cluster, server.node_pool)]
        if pool.cloud == "azure" and pool.resource_group is not None:
            inside = _regions_in(countries[server.workload], catalog) | {pool.region}
            found.setdefault(pool.resource_group, set()).update(inside)
    return found


def _regions_in(countries: Iterable[str], catalog: Catalog) -> set[str]:
    return {
        region.name
        for region in catalog.regions
        if region.cloud == "azure" and region.country in set(countries)
    }


def _definition(name: str, title: str, parameter: str, conditions: list[Any]) -> dict[str, Any]:
    return {
        "name": name,
        "properties": {
            "displayName": title,
            "policyType": "Custom",
            "mode": "All",
            "metadata": {"category": "Cognitive Services"},
            "parameters": {
                parameter: {
                    "type": "Array",
                    "metadata": {"displayName": parameter},
                }
            },
            "policyRule": {"if": {"allOf": conditions}, "then": {"effect": "deny"}},
        },
    }
