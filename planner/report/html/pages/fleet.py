"""The fleet: nodes and GPUs, provisioned units, quota and commitments, by region and class."""

from __future__ import annotations

from planner.report.html.model import Chart, Column, Page, Reported, Section, Table
from planner.report.numbers.orders import quota_kind
from planner.report.words import clean
from planner.units import counted


def page(reported: Reported) -> Page:
    """Return the fleet by region and class; what there is nothing of is left out."""
    made = (_gpus(reported), _units(reported), _quotas(reported), _purchases(reported))
    sections = tuple(section for section in made if section is not None)
    if not sections:
        nothing = "No GPU, no provisioned unit and no quota: nothing was decided."
        sections = (Section("fleet-none", "Nothing to run", (nothing,)),)
    return Page("fleet", "Fleet", sections)


def _gpus(reported: Reported) -> Section | None:
    pools = reported.checked.plan.resources.node_pools
    if not pools:
        return None
    rows = tuple(
        (
            f"{pool.cloud} {pool.region}" + (f" ({pool.country})" if pool.country else ""),
            f"{pool.tier}, spot" if pool.spot else pool.tier,
            pool.max_nodes * pool.gpus_per_node,
            pool.max_nodes,
            pool.min_nodes,
            pool.accelerator,
            pool.instance,
            pool.name,
            pool.cluster,
        )
        for pool in pools
    )
    columns = (
        Column("place", "Region"),
        Column("class", "Class"),
        Column("count", "GPUs", "at most"),
        Column("nodes", "Nodes", "at most"),
        Column("least", "Nodes", "at least"),
        Column("accelerator", "Accelerator"),
        Column("instance", "Instance"),
        Column("pool", "Pool"),
        Column("cluster", "Cluster"),
    )
    gpus, nodes = sum(row[2] for row in rows), sum(row[3] for row in rows)
    text = (
        f"{counted(gpus, 'GPU')} on {counted(nodes, 'node')}, spares among them. Each class "
        "has pools of its own.",
    )
    alt = f"Bars: GPUs by region, split by class; {counted(gpus, 'GPU')} in all."
    names = {"count": "gpus", "nodes": "max_nodes", "least": "min_nodes"}
    explain = reported.links(
        {
            (at, key): ("", f"pools/{pool.cluster}/{pool.name}/{name}")
            for at, pool in enumerate(pools)
            for key, name in names.items()
        }
    )
    table = Table("gpus-table", "Node pools by region and class", columns, rows, explain)
    chart = Chart("fleet", alt, {"axis": "GPUs"})
    return Section("gpus", "GPUs and nodes", text, table, chart)


def _units(reported: Reported) -> Section | None:
    bought = [
        item for item in reported.checked.plan.resources.deployments if item.kind == "provisioned"
    ]
    if not bought:
        return None
    columns = (
        Column("place", "Region"),
        Column("class", "Class"),
        Column("count", "Units"),
        Column("type", "Type"),
        Column("model", "Model"),
        Column("term", "Term", "months"),
        Column("workload", "Workload"),
        Column("account", "Account"),
    )
    rows = tuple(
        (
            f"{item.provider} {item.region}",
            item.tier,
            item.capacity,
            item.deployment_type,
            item.model,
            item.term_months,
            item.workload,
            item.account,
        )
        for item in bought
    )
    units = counted(sum(item.capacity for item in bought), "provisioned unit")
    alt = f"Bars: provisioned units by region, split by class; {units} in all."
    explain = reported.links(
        {(at, "count"): (item.workload, "floor/units") for at, item in enumerate(bought)}
    )
    table = Table(
        "units-table", "Provisioned deployments by region and class", columns, rows, explain
    )
    text = (f"{units}. A term of 0 months is hourly, without a commitment.",)
    chart = Chart("fleet", alt, {"axis": "provisioned units"})
    return Section("units", "Provisioned units", text, table, chart)


def _quotas(reported: Reported) -> Section | None:
    quotas = reported.checked.plan.resources.quotas
    if not quotas:
        return None
    columns = (
        Column("place", "Region"),
        Column("type", "Type"),
        Column("model", "Model"),
        Column("need", "Needed"),
        Column("have", "There"),
        Column("missing", "To ask for"),
        Column("unit", "Unit"),
        Column("account", "Account"),
    )
    rows = tuple(
        (
            f"{quota.provider} {quota.region}",
            quota.deployment_type,
            "every model" if quota.model == "*" else quota.model,
            quota.need,
            quota.have,
            quota.missing,
            quota.unit,
            quota.account,
        )
        for quota in quotas
    )
    text = ("Quota is permission, neither capacity nor a reservation.",)
    explain = reported.links(
        {
            (at, name): (
                "",
                f"{quota_kind(quota.account, quota.deployment_type, quota.model)}/{name}",
            )
            for at, quota in enumerate(quotas)
            for name in ("need", "have", "missing")
        }
    )
    table = Table("quotas-table", "Quota that the plan needs", columns, rows, explain)
    return Section("quotas", "Quota", text, table)


def _purchases(reported: Reported) -> Section | None:
    purchases = reported.checked.plan.resources.purchases
    if not purchases:
        return None
    columns = (
        Column("workload", "Workload"),
        Column("what", "What"),
        Column("units", "Units"),
        Column("term", "Term", "months"),
        Column("usd", "Price", "USD a month", 0),
        Column("use", "Used", "share", 3),
        Column("exit", "Leaving", "USD", 0),
        Column("confirmed", "Capacity confirmed"),
        Column("rule", "Exit rule"),
    )
    rows = tuple(
        (
            item.workload,
            f"{item.deployment_type} {item.model} in {item.provider} {item.region}",
            item.units,
            item.term_months,
            item.usd_per_month,
            item.use_share,
            item.exit_usd,
            "yes" if item.signable else "no: ask the provider first",
            clean(item.exit_rule),
        )
        for item in purchases
    )
    text = ("Signed by a person, never bought by the program.",)
    names = {
        "units": "purchase/units",
        "usd": "purchase/usd_per_month",
        "use": "floor/use_share",
        "exit": "purchase/exit_usd",
    }
    explain = reported.links(
        {
            (at, key): (item.workload, kind)
            for at, item in enumerate(purchases)
            for key, kind in names.items()
        }
    )
    table = Table("purchases-table", "Commitments for a person to sign", columns, rows, explain)
    return Section("purchases", "Commitments", text, table)
