"""Nodes, GPUs and provisioned units of the stack, pool by pool."""

from __future__ import annotations

from collections.abc import Mapping

from planner.report.numbers.explained import Amount, Term
from planner.report.numbers.facts import Facts, Sheet, worked_out

_LISTED = 12
"""Workloads up to which a sum lists each by name; a longer one is a series."""


def fleet_numbers(sheet: Sheet, facts: Facts, group_of: dict[str, str]) -> None:
    """Add nodes, GPUs and units, and the nodes of each pool."""
    totals, resources = facts.plan.totals, facts.plan.resources
    for pool in resources.node_pools:
        held = {
            d.workload: d.chosen.self_hosted.nodes + d.chosen.self_hosted.spare_nodes
            for d in facts.plan.decisions
            if d.chosen is not None
            and d.chosen.self_hosted is not None
            and d.chosen.option.hardware is not None
            and d.tier == pool.tier
            and (d.chosen.option.hardware.cluster, d.chosen.option.hardware.instance)
            == (pool.cluster, pool.instance)
        }
        ids = {name: f"{group_of[name]}/floor/nodes" for name in held}
        formula, terms, rule = sum_of(held, ids, "nodes")
        kind = f"pools/{pool.cluster}/{pool.name}"
        title = f"Nodes of pool {pool.name} on {pool.cluster}"
        made = sheet.add(
            f"{kind}/max_nodes",
            f"{title}, at most",
            pool.max_nodes,
            "nodes",
            formula,
            terms,
            rule=rule,
        )
        always = pool.tier == "interactive"
        sheet.add(
            f"{kind}/min_nodes",
            f"{title}, at least",
            pool.min_nodes,
            "nodes",
            "max_nodes" if always else "0",
            [made] if always else [],
            rule="interactive nodes always run" if always else "batch nodes run when work waits",
        )
        sheet.add(
            f"{kind}/gpus",
            f"GPUs of pool {pool.name} on {pool.cluster}, at most",
            pool.max_nodes * pool.gpus_per_node,
            "GPUs",
            "max_nodes * gpus_per_node",
            [made, worked_out("gpus_per_node", pool.gpus_per_node, "GPUs", pool.instance)],
        )
    found = resources.node_pools
    for kind, title, value, each in (
        ("nodes", "GPU nodes, at most", totals.nodes, "max_nodes"),
        ("gpus", "GPUs, at most", totals.gpus, "gpus"),
    ):
        values = {
            f"{p.cluster}/{p.name}": p.max_nodes * (p.gpus_per_node if each == "gpus" else 1)
            for p in found
        }
        ids = {name: f"{sheet.group}/pools/{name}/{each}" for name in values}
        formula, terms, rule = sum_of(values, ids, kind)
        sheet.add(kind, title, value, kind, formula, terms, rule=rule)
    units = {
        d.workload: d.chosen.cost.floor.step.units
        for d in facts.plan.decisions
        if d.chosen is not None
        and d.chosen.option.kind == "provisioned"
        and d.chosen.cost is not None
        and d.chosen.cost.floor is not None
    }
    ids = {name: f"{group_of[name]}/floor/units" for name in units}
    formula, terms, rule = sum_of(units, ids, "units")
    sheet.add(
        "provisioned_units",
        "Provisioned units",
        totals.provisioned_units,
        "units",
        formula,
        terms,
        rule=rule,
    )


def sum_of(
    each: Mapping[str, float], ids: dict[str, str], unit: str
) -> tuple[str, list[Term], str]:
    """Return a sum of named amounts: one term for each, or a series where they are many."""
    if not each:
        return "0", [], "nothing of the kind is decided"
    if len(each) <= _LISTED:
        terms = [
            Term(_symbol(name), value, unit, "number", ids[name]) for name, value in each.items()
        ]
        return " + ".join(term.symbol for term in terms), terms, ""
    values: Amount = tuple(each.values())
    first = next(iter(ids.values()))
    said = f"{first} and its like of {len(each) - 1:,} more"
    return "sum(each)", [worked_out("each", values, unit, said)], ""


def _symbol(name: str) -> str:
    plain = "".join(ch if ch.isalnum() else "_" for ch in name)
    return plain if not plain[:1].isdigit() else f"n_{plain}"
