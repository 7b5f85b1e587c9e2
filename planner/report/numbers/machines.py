"""Whole nodes: replicas that serve, spares, and what the machines cost."""

from __future__ import annotations

from planner.decision import Outcome
from planner.economics.availability import pool_availability
from planner.economics.cost_types import FloorResult, FloorStep
from planner.economics.floor import MEDIAN
from planner.report.numbers.explained import Condition, Explained, Term
from planner.report.numbers.facts import Case, Sheet, constant, row, worked_out
from planner.report.numbers.floor import Load, cheaper_than, floor_numbers, weighted_mean
from planner.report.numbers.hosted import Hosted
from planner.report.numbers.layouts import (
    gpus_per_node,
    gpus_per_replica,
    layout_numbers,
    node_availability,
    running_hours,
    step_of,
)
from planner.report.numbers.memory import memory_numbers
from planner.report.numbers.speed import speed_numbers
from planner.serving.sizing import nodes_for


def machine_numbers(sheet: Sheet, case: Case, outcome: Outcome) -> Load:
    """Add replica, nodes, floor and spill; return the load that the floor was held against."""
    hosted = Hosted(case, outcome)
    memory_numbers(sheet, hosted)
    speed_numbers(sheet, hosted)
    option = outcome.option
    spill, book = option.spill, case.facts.book
    load = Load(
        case=case,
        used=case.used,
        curve=case.used.tokens,
        weight=sheet.add(
            "floor_weight",
            "Weight of a token on own machines",
            1,
            "",
            "weight",
            [constant("weight", 1, "", "a replica's rate counts every token alike")],
        ),
        bursts=None,
        spill=book.payg(spill.provider, option.model, spill.deployment_type, spill.region)
        if spill
        else None,
        spills=spill is not None,
    )
    weighted_mean(sheet, load)
    layout_numbers(sheet, hosted, load)
    assert outcome.cost is not None  # noqa: S101 - chosen options are priced
    assert outcome.cost.floor is not None  # noqa: S101 - self-hosting has a floor
    _pool(sheet, hosted, load, outcome.cost.floor)
    if outcome.cost.p50_reference is not None:
        _reference(sheet, hosted, load, outcome.cost.p50_reference)
    return load


def _pool(sheet: Sheet, hosted: Hosted, load: Load, found: FloorResult) -> None:
    size, case = hosted.size, hosted.case
    replicas = _replicas(sheet, hosted, load, found, "replicas")
    nodes = sheet.add(
        "nodes",
        "Nodes that serve",
        size.nodes,
        "nodes",
        "ceil(replicas / (gpus_per_node // gpus_per_replica))",
        [replicas, gpus_per_node(hosted), gpus_per_replica(hosted)],
        rule="a replica never straddles nodes",
    )
    spares = _spares(sheet, hosted, nodes)
    sheet.add(
        "spare_replicas",
        "Replicas that the spare nodes hold",
        size.spare_replicas,
        "replicas",
        "spare_nodes * max(1, gpus_per_node // gpus_per_replica)",
        [spares, gpus_per_node(hosted), gpus_per_replica(hosted)],
    )
    sheet.stated("gpus_per_node", "GPUs of a node", gpus_per_node(hosted))
    _availability(sheet, hosted, nodes, spares)
    capacity = _capacity(sheet, found, replicas.term("replicas"), "floor")
    all_nodes = sheet.add(
        "floor/nodes",
        "Nodes in all",
        found.step.nodes,
        "nodes",
        "nodes + spare_nodes",
        [nodes, spares],
    )
    fixed = _machines(sheet, hosted, all_nodes, found.step, "floor")
    sheet.add(
        "floor/units", "Replicas that serve", found.step.units, "replicas", "replicas", [replicas]
    )
    floor_numbers(sheet, load, found, capacity, fixed, "floor")
    sheet.add(
        "floor_tokens_per_minute",
        "What the floor carries, in the workload's own tokens",
        hosted.outcome.floor_tokens_per_minute,
        "tokens/min",
        "capacity / token_multiplier",
        [capacity, case.multiplier()],
        exactness="modelled",
    )


def _replicas(sheet: Sheet, hosted: Hosted, load: Load, found: FloorResult, kind: str) -> Explained:
    """Add the replicas that serve: the least that cover the peak, or the cheapest that spill."""
    title, unit = "Replicas that serve", "replicas"
    each, case = sheet["tokens_per_minute"], hosted.case
    if not load.spills:
        return sheet.add(
            kind,
            title,
            found.step.units,
            unit,
            "max(1, ceil(tokens_per_minute_peak * token_multiplier / tokens_per_minute"
            " - 0.000000001))",
            [sheet["tokens_per_minute_peak"], case.multiplier(), each],
            exactness="modelled",
            rule="nobody takes the overflow over, so the replicas cover the peak",
        )
    beside = [n for n in (found.step.units - 1, found.step.units + 1) if n > 0]
    steps = [step for n in beside if (step := step_of(hosted, hosted.replica, n)) is not None]
    return sheet.add(
        kind,
        title,
        found.step.units,
        unit,
        "",
        [each],
        exactness="modelled",
        rule="every number of replicas is held against the demand: the cheapest with its spill "
        "that the rules admit",
        conditions=cheaper_than(load, found.step, steps, "replicas"),
    )


def _reference(sheet: Sheet, hosted: Hosted, load: Load, found: FloorResult) -> None:
    """Add the floor that would carry the median of the active minutes."""
    median = worked_out("median", load.curve.quantile(MEDIAN), "tokens/min", "in model's tokens")
    prefix = "p50_reference"
    units = sheet.add(
        f"{prefix}/units",
        "Replicas that cover the median of the demand",
        found.step.units,
        "replicas",
        "max(1, ceil(median / tokens_per_minute))",
        [median, sheet["tokens_per_minute"]],
        exactness="modelled",
    )
    capacity = _capacity(sheet, found, units.term("replicas"), prefix)
    needed = nodes_for(found.step.units, hosted.layout, hosted.machine.gpus)
    spare = worked_out("spares", found.step.nodes - needed, "nodes", "for the same availability")
    nodes = sheet.add(
        f"{prefix}/nodes",
        "Nodes in all",
        found.step.nodes,
        "nodes",
        "ceil(replicas / (gpus_per_node // gpus_per_replica)) + spares",
        [units.term("replicas"), gpus_per_node(hosted), gpus_per_replica(hosted), spare],
    )
    fixed = _machines(sheet, hosted, nodes, found.step, prefix)
    floor_numbers(sheet, load, found, capacity, fixed, prefix)


def _capacity(sheet: Sheet, found: FloorResult, replicas: Term, prefix: str) -> Explained:
    return sheet.add(
        f"{prefix}/capacity",
        "What the replicas carry",
        found.step.capacity,
        "weighted tokens/min",
        "replicas * tokens_per_minute",
        [replicas, sheet["tokens_per_minute"]],
        exactness="modelled",
    )


def _machines(
    sheet: Sheet, hosted: Hosted, nodes: Explained, step: FloorStep, prefix: str
) -> Explained:
    hourly = hosted.hourly
    assert hourly is not None  # noqa: S101 - a chosen machine has a price
    return sheet.add(
        f"{prefix}/fixed_usd_per_month",
        "What the nodes cost, used or not",
        step.fixed_usd_per_month,
        "USD/month",
        "usd_per_hour * nodes * running_hours",
        [
            row("usd_per_hour", hourly.usd_per_hour, "USD/h", hourly),
            nodes,
            running_hours(sheet, hosted.case).term("running_hours"),
        ],
    )


def _spares(sheet: Sheet, hosted: Hosted, nodes: Explained) -> Explained:
    """Add the fewest spare nodes that reach the availability asked."""
    size, workload = hosted.size, hosted.case.workload
    title, unit = "Spare nodes", "nodes"
    if workload.tier == "batch" or workload.objectives.availability is None:
        rule = "batch work waits for its node" if workload.tier == "batch" else "none is asked"
        return sheet.add("spare_nodes", title, size.spare_nodes, unit, "0", [], rule=rule)
    asked = hosted.case.term("availability_asked", "objectives.availability", "share")
    up = node_availability(hosted)
    conditions = []
    for spares, symbol, sign in (
        (size.spare_nodes, "availability", ">="),
        (size.spare_nodes - 1, "with_one_less", "<"),
    ):
        if spares < 0:
            continue
        value = pool_availability(size.nodes, spares, up)
        term = worked_out(symbol, value, "share", f"{spares} spares, see the availability")
        words = f"availability with {spares} spare nodes"
        conditions.append(Condition(words, f"{symbol} {sign} availability_asked", (term, asked)))
    return sheet.add(
        "spare_nodes",
        title,
        size.spare_nodes,
        unit,
        "",
        [nodes],
        exactness="modelled",
        rule="the fewest spares with which enough nodes are up",
        conditions=conditions,
    )


def _availability(sheet: Sheet, hosted: Hosted, nodes: Explained, spares: Explained) -> None:
    value = hosted.outcome.availability
    if value is None:
        return
    promise = hosted.case.facts.catalog.promise(hosted.cluster.cloud, "instance")
    up = (
        row("up", promise.availability, "share", promise)
        if promise
        else worked_out("up", 0.0, "share", "nothing is promised of a single machine")
    )
    lost = range(hosted.size.spare_nodes + 1)
    formula = " + ".join(
        f"comb(nodes + spare_nodes, {n}) * (1 - up) ** {n} * up ** (nodes + spare_nodes - {n})"
        for n in lost
    )
    sheet.add(
        "availability",
        "Availability of the pool",
        value,
        "share",
        f"min(1, {formula})",
        [nodes, spares, up],
        exactness="modelled",
        rule="binomial: nodes fail independently; what they share (zone, image) is left out",
    )
