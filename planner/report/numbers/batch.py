"""The planned batch: what memory, latency and the queue of prefills allow to run at once."""

from __future__ import annotations

import math

from planner.report.numbers.explained import Condition, Explained, Term
from planner.report.numbers.facts import Sheet, constant, worked_out
from planner.report.numbers.hosted import Hosted
from planner.serving.engine import resolved
from planner.serving.memory import stage_memories
from planner.serving.performance import Working
from planner.serving.queueing import MAX_PREFILL_UTILISATION, Z_95, mean_occupancy

_Z = constant("z", Z_95, "", "95th percentile of a standard normal variable")
_NEXT = 1.001
"""How far above a rate found by bisection its other side is worked out."""


def batch_numbers(
    sheet: Sheet, hosted: Hosted, *, interactive: bool
) -> tuple[Explained, Explained]:
    """Add the running requests; return their mean and the planned batch."""
    working = hosted.working
    slots = _slots(sheet, hosted, working)
    mean = _mean_running(sheet, hosted, working, slots, interactive=interactive)
    return mean, _batch(sheet, hosted, slots, mean, interactive=interactive)


def _slots(sheet: Sheet, hosted: Hosted, working: Working) -> Explained:
    """Add the most running requests that memory and inter-token latency allow."""
    wanted = hosted.case.workload.objectives.itl_p95_ms
    limit = constant(
        "engine_limit",
        working.limit,
        "requests",
        "max_num_seqs: of the engine's default and its halves the one with the highest rate",
    )
    terms: list[Term | Explained] = [limit]
    at_most = working.limit
    if working.kv_sequences < 2**31:
        terms.append(_kv_sequences(sheet, hosted, working))
        at_most = min(at_most, working.kv_sequences)
    conditions: list[Condition] = []
    formula = (
        f"min({', '.join(_symbol(term) for term in terms)})" if len(terms) > 1 else ("engine_limit")
    )
    if wanted is not None:
        objective = hosted.case.term("itl_objective_ms", "objectives.itl_p95_ms", "ms")
        conditions.append(_tpot(working, working.slots, "<=", objective))
        if working.slots < at_most:
            conditions.append(_tpot(working, working.slots + 1, ">", objective))
            formula = ""
    return sheet.add(
        "slots",
        "Most running requests within memory and inter-token latency",
        working.slots,
        "requests",
        formula,
        terms,
        exactness="modelled",
        rule="the largest batch that keeps the inter-token latency"
        if not formula
        else "memory and the engine bind before the inter-token latency does",
        conditions=conditions,
    )


def _tpot(working: Working, batch: int, sign: str, objective: Term) -> Condition:
    value = working.load.tpot(batch) * 1000
    symbol = "itl_ms" if sign == "<=" else "itl_next_ms"
    term = worked_out(symbol, value, "ms", f"the same sum at a batch of {batch:,}")
    return Condition(
        f"inter-token latency at a batch of {batch:,}",
        f"{symbol} {sign} itl_objective_ms",
        (term, objective),
    )


def _symbol(term: Term | Explained) -> str:
    return term.term().symbol if isinstance(term, Explained) else term.symbol


def _kv_sequences(sheet: Sheet, hosted: Hosted, working: Working) -> Explained:
    tried = hosted.settings.model_copy(update={"max_num_seqs": working.limit})
    filled = resolved(tried, hosted.accelerator, hosted.shape.max_context_tokens)
    memory = stage_memories(hosted.shape, hosted.layout, hosted.accelerator, filled)[0]
    profile, plan = working.load.profile, memory.plan
    mean = plan.request_blocks(math.ceil(profile.prompt_mean + profile.output_mean))
    long = plan.request_blocks(math.ceil(profile.prompt_p95 + profile.output_p95))
    under = f"under max_num_seqs {working.limit:,}"
    terms = (
        worked_out("mean_blocks", mean, "blocks", "of a mean prompt and output"),
        worked_out("long_blocks", long, "blocks", "of both at their 95th percentile"),
        worked_out("blocks", plan.pool_blocks(memory.kv_pool_bytes), "blocks", f"the pool {under}"),
    )
    held = working.kv_sequences

    def needs(count: int, symbol: str, sign: str) -> Condition:
        term = worked_out(symbol, count, "requests", "requests tried")
        formula = (
            f"{symbol} * mean_blocks + max(0, long_blocks - mean_blocks) * sqrt({symbol})"
            f" {sign} blocks"
        )
        return Condition(f"blocks that {count:,} requests need", formula, (term, *terms))

    return sheet.add(
        "kv_sequences",
        "Requests that the KV cache holds, nineteen times in twenty",
        held,
        "requests",
        "",
        terms,
        exactness="modelled",
        rule="the most requests of varying length whose sum stays within the pool",
        conditions=[needs(held, "held", "<="), needs(held + 1, "one_more", ">")],
    )


def _mean_running(
    sheet: Sheet, hosted: Hosted, working: Working, slots: Explained, *, interactive: bool
) -> Explained:
    """Add the mean of running requests: staffed, or what the queue of prefills bears."""
    load, mean = working.load, working.occupancy
    title, unit = "Running requests, mean", "requests"
    if not interactive:
        rule = "a batch tier keeps every slot full"
        return sheet.add(
            "mean_running", title, mean, unit, "slots", [slots], rule=rule, exactness="modelled"
        )
    staffed = mean_occupancy(working.slots)
    if math.isclose(mean, staffed, rel_tol=1e-12):
        return sheet.add(
            "mean_running",
            title,
            mean,
            unit,
            "(sqrt(z ** 2 / 4 + slots) - z / 2) ** 2",
            [_Z, slots],
            exactness="modelled",
            rule="square-root staffing: 95% of arrivals find a free slot",
        )
    cap = constant(
        "prefill_cap", MAX_PREFILL_UTILISATION, "share", "above it the wait has no useful bound"
    )
    higher = mean * _NEXT
    near = (
        worked_out("use", load.use(mean), "share", f"of the prefill server at {mean:,.4g} running"),
        cap,
    )
    conditions = [Condition("use of the prefill server", "use <= prefill_cap * 1.000001", near)]
    objective_ms = hosted.case.workload.objectives.ttft_p95_ms
    if load.use(higher) > MAX_PREFILL_UTILISATION:
        over = worked_out("use_above", load.use(higher), "share", f"at {higher:,.4g} running")
        conditions.append(Condition("use just above", "use_above > prefill_cap", (over, cap)))
    elif objective_ms is not None:
        objective = hosted.case.term("ttft_objective_ms", "objectives.ttft_p95_ms", "ms")
        for symbol, sign, at in (("ttft_ms", "<=", mean), ("ttft_above_ms", ">", higher)):
            value = load.ttft_p95(at) * 1000
            term = worked_out(symbol, value, "ms", f"time to first token at {at:,.4g} running")
            limit = "ttft_objective_ms * 1.000001" if sign == "<=" else "ttft_objective_ms"
            conditions.append(
                Condition("time to the first token", f"{symbol} {sign} {limit}", (term, objective))
            )
    return sheet.add(
        "mean_running",
        title,
        mean,
        unit,
        "",
        [],
        exactness="modelled",
        rule="the highest mean at which the queue of prefills keeps its cap and the objective",
        conditions=conditions,
    )


def _batch(
    sheet: Sheet, hosted: Hosted, slots: Explained, mean: Explained, *, interactive: bool
) -> Explained:
    value = hosted.replica.max_num_seqs
    title, unit = "Planned running batch (max_num_seqs)", "requests"
    if not interactive:
        return sheet.add(
            "max_num_seqs",
            title,
            value,
            unit,
            "slots",
            [slots],
            exactness="modelled",
            rule="a batch tier keeps every slot full",
        )
    return sheet.add(
        "max_num_seqs",
        title,
        value,
        unit,
        "min(slots, max(1, ceil(mean_running + z * sqrt(mean_running) - 0.000000001)))",
        [slots, mean, _Z],
        exactness="modelled",
        rule=f"slots that 95% of arrivals find free; limited by {hosted.replica.limited_by}",
    )
