"""The cheapest size at each tensor-parallel degree, and what every size is made of."""

from __future__ import annotations

from planner.economics.availability import spare_nodes
from planner.economics.cost_types import FloorStep
from planner.economics.selfhost import machines_usd_per_month, running_hours_per_month
from planner.hosting import STARTUP_HOURS
from planner.report.numbers.demand import HOURS, window_term
from planner.report.numbers.explained import Explained, Term
from planner.report.numbers.facts import Case, Sheet, constant, row, worked_out
from planner.report.numbers.floor import Load, cheaper_than
from planner.report.numbers.hosted import Hosted
from planner.serving.sizing import nodes_for
from planner.serving.sizing_types import Replica


def layout_numbers(sheet: Sheet, hosted: Hosted, load: Load) -> None:
    """Add the cheapest size at each tensor-parallel degree that serves."""
    hourly = hosted.hourly
    assert hourly is not None  # noqa: S101 - a chosen machine has a price
    for degree, replicas, nodes, usd in hosted.size.per_layout_usd:
        replica = hosted.candidates[degree]
        prefix, words = f"layout/TP{degree}", f"at degree {degree}"
        step = step_of(hosted, replica, replicas)
        count = _layout_replicas(sheet, hosted, load, replica, replicas)
        needed = nodes_for(replicas, replica.layout, hosted.machine.gpus)
        each = worked_out("gpus_per_replica", replica.layout.gpus, "GPUs", words)
        spare = worked_out("spares", nodes - needed, "nodes", "for the availability asked")
        machines = sheet.add(
            f"{prefix}/nodes",
            f"Nodes {words}",
            nodes,
            "nodes",
            "ceil(replicas / (gpus_per_node // gpus_per_replica)) + spares",
            [count, gpus_per_node(hosted), each, spare],
        )
        spilled = load.held(step).spill_usd_per_month if step else 0.0
        sheet.add(
            f"{prefix}/usd_per_month",
            f"Cost {words}",
            usd,
            "USD/month",
            "usd_per_hour * nodes * running_hours + spill",
            [
                row("usd_per_hour", hourly.usd_per_hour, "USD/h", hourly),
                machines,
                running_hours(sheet, hosted.case).term("running_hours"),
                worked_out("spill", spilled, "USD/month", "what is above these replicas"),
            ],
            exactness="modelled",
        )


def _layout_replicas(
    sheet: Sheet, hosted: Hosted, load: Load, replica: Replica, replicas: int
) -> Explained:
    """Add the replicas at another degree, by the rule of the chosen one."""
    degree = replica.layout.tensor_parallel
    title, kind = f"Replicas at degree {degree}", f"layout/TP{degree}/replicas"
    rate = worked_out(
        "tokens_per_minute",
        replica.tokens_per_minute,
        "tokens/min",
        f"one replica at degree {degree}, by the same model",
    )
    if not load.spills:
        return sheet.add(
            kind,
            title,
            replicas,
            "replicas",
            "max(1, ceil(tokens_per_minute_peak * token_multiplier / tokens_per_minute"
            " - 0.000000001))",
            [sheet["tokens_per_minute_peak"], hosted.case.multiplier(), rate],
            exactness="modelled",
        )
    beside = [n for n in (replicas - 1, replicas + 1) if n > 0]
    steps = [made for n in beside if (made := step_of(hosted, replica, n)) is not None]
    step = step_of(hosted, replica, replicas)
    return sheet.add(
        kind,
        title,
        replicas,
        "replicas",
        "",
        [rate],
        exactness="modelled",
        rule="the cheapest number of replicas with its spill",
        conditions=cheaper_than(load, step, steps, "replicas") if step else (),
    )


def running_hours(sheet: Sheet, case: Case) -> Explained:
    """Add the hours a month for which a node is paid, once."""
    if "running_hours_per_month" in sheet:
        return sheet["running_hours_per_month"]
    window = case.workload.traffic.window
    value = running_hours_per_month(case.workload.tier, window, STARTUP_HOURS)
    title, unit = "Hours a month for which a node is paid", "h/month"
    if case.workload.tier != "batch" or window is None:
        rule = "interactive capacity runs all the time"
        return sheet.add(
            "running_hours_per_month", title, value, unit, "hours_per_month", [HOURS[1]], rule=rule
        )
    return sheet.add(
        "running_hours_per_month",
        title,
        value,
        unit,
        "min(hours_per_week, window_hours_per_week + days * startup_hours) / hours_per_week"
        " * hours_per_month",
        [
            *HOURS,
            window_term(case, window),
            worked_out("days", len(set(window.days)), "days", "days on which the window opens"),
            constant("startup_hours", STARTUP_HOURS, "h", "node start and weights to load"),
        ],
        rule="a batch pool runs its window and the time it needs to start",
    )


def node_availability(hosted: Hosted) -> float:
    """Return a single machine's promised availability; without one, none is assumed."""
    promise = hosted.case.facts.catalog.promise(hosted.cluster.cloud, "instance")
    return promise.availability if promise else 0.0


def step_of(hosted: Hosted, replica: Replica, count: int) -> FloorStep | None:
    """Return the step of ``count`` replicas with its spares, None beyond the node quota."""
    workload, hardware = hosted.case.workload, hosted.outcome.option.hardware
    needed = nodes_for(count, replica.layout, hosted.machine.gpus)
    spares = spare_nodes(
        needed, workload.objectives.availability, node_availability(hosted), workload.tier
    )
    if spares is None or hardware is None or needed + spares > hardware.max_nodes:
        return None
    hours = running_hours_per_month(workload.tier, workload.traffic.window, STARTUP_HOURS)
    each = hosted.hourly.usd_per_hour if hosted.hourly else 0.0
    return FloorStep(
        units=count,
        capacity=count * replica.tokens_per_minute,
        fixed_usd_per_month=machines_usd_per_month(each, needed + spares, hours),
        nodes=needed + spares,
    )


def gpus_per_node(hosted: Hosted) -> Term:
    """Return the GPUs of a machine as a term."""
    return row("gpus_per_node", hosted.machine.gpus, "GPUs", hosted.machine)


def gpus_per_replica(hosted: Hosted) -> Term:
    """Return the GPUs of a replica as a term."""
    return worked_out("gpus_per_replica", hosted.layout.gpus, "GPUs", "the layout's GPUs")
