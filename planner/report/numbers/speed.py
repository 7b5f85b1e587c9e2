"""A replica's batch, rate and latencies: Little's law and a queue over the step times."""

from __future__ import annotations

from planner.report.numbers.batch import batch_numbers
from planner.report.numbers.explained import Explained, Term
from planner.report.numbers.facts import Sheet, constant, worked_out
from planner.report.numbers.hosted import Hosted
from planner.report.numbers.memory import batched_tokens
from planner.report.numbers.steps import At, stall_numbers, step_numbers
from planner.serving.queueing import TAIL


def speed_numbers(sheet: Sheet, hosted: Hosted) -> None:
    """Add the planned batch, the rate and the latencies of one replica."""
    working, replica = hosted.working, hosted.replica
    load, wanted = working.load, hosted.case.workload.objectives
    interactive = wanted.ttft_p95_ms is not None or wanted.itl_p95_ms is not None
    mean, batch = batch_numbers(sheet, hosted, interactive=interactive)
    output = worked_out("output_mean", load.profile.output_mean, "tokens", "a mean output")
    full = At("at_batch", "at the planned batch", batch.term("batch"))
    step_numbers(sheet, hosted, load, full)
    stall = stall_numbers(sheet, hosted, load, full, load.mean_prompt, "mean")
    sheet.add(
        "itl_p95_ms",
        "Inter-token latency at the planned batch",
        replica.itl_p95_ms,
        "ms",
        "(step_s + batch * stall_mean_s / output_mean) * 1000",
        [sheet["at_batch/step_s"], batch.term("batch"), stall, output],
        exactness="modelled",
        rule="every running request pays for its neighbours' prefills",
    )
    usual = At("at_mean", "at the mean of running requests", mean.term("batch"))
    step_numbers(sheet, hosted, load, usual)
    short = stall_numbers(sheet, hosted, load, usual, load.mean_prompt, "mean")
    rate = _rate(sheet, hosted, mean, short, output)
    sheet.add(
        "tokens_per_minute",
        "Tokens a minute of one replica",
        replica.tokens_per_minute,
        "tokens/min",
        "requests_per_minute * (prompt_mean + output_mean)",
        [
            rate,
            worked_out("prompt_mean", load.profile.prompt_mean, "tokens", "a mean prompt"),
            output,
        ],
        exactness="modelled",
    )
    sheet.add(
        "prefill_share",
        "Share of the time in which steps are stalled by prefills",
        replica.prefill_share,
        "share",
        "min(1, requests_per_minute / 60 * stall_mean_s)",
        [rate, short],
        exactness="modelled",
    )
    _ttft(sheet, hosted, mean, interactive=interactive)


def _rate(
    sheet: Sheet, hosted: Hosted, mean: Explained, stall: Explained, output: Term
) -> Explained:
    load = hosted.working.load
    chunks = worked_out(
        "chunks",
        max(1.0, load.mean_prompt.new / load.chunk_tokens),
        "steps",
        f"a mean prompt over {load.chunk_tokens:,} tokens of a step, at least one",
    )
    return sheet.add(
        "requests_per_minute",
        "Requests a minute that one replica sustains",
        hosted.replica.requests_per_minute,
        "requests/min",
        "60 * mean_running / (chunks * step_s + stall_mean_s"
        " + output_mean * step_s + mean_running * stall_mean_s)",
        [
            mean,
            chunks,
            sheet["at_mean/step_s"],
            stall,
            output,
        ],
        exactness="modelled",
        rule="Little's law: running requests over the time each spends, prefill and output",
    )


def _ttft(sheet: Sheet, hosted: Hosted, mean: Explained, *, interactive: bool) -> None:
    """Add the time to the first token; a batch tier's leaves its queue out."""
    load, replica = hosted.working.load, hosted.replica
    occupancy = hosted.working.occupancy if interactive else 0.0
    prefix, words = (
        ("at_mean", "at the mean of running requests") if interactive else ("alone", "alone")
    )
    single = worked_out("batch", 1, "requests", "a request alone")
    at = At(prefix, words, mean.term("batch") if interactive else single)
    if not interactive:
        step_numbers(sheet, hosted, load, at)
        stall_numbers(sheet, hosted, load, at, load.mean_prompt, "mean")
    long = stall_numbers(sheet, hosted, load, at, load.long_prompt, "long")
    chunks = worked_out(
        "chunks",
        max(1.0, load.long_prompt.new / load.chunk_tokens),
        "steps",
        f"the 95th-percentile prompt over {load.chunk_tokens:,} tokens of a step, at least one",
    )
    terms: list[Term | Explained] = [chunks, sheet[f"{prefix}/step_s"], long]
    formula = "(chunks * step_s + stall_long_s + step_s) * 1000"
    if interactive:
        formula = "(chunks * step_s + stall_long_s + step_s + wait_p95_s) * 1000"
        terms.append(_wait(sheet, hosted, occupancy))
    sheet.add(
        "ttft_p95_ms",
        "Time to the first token, 95th percentile",
        replica.ttft_p95_ms,
        "ms",
        formula,
        terms,
        exactness="modelled",
        rule="prefill of the 95th-percentile prompt, one step in progress, and the wait"
        if interactive
        else "a batch tier's leaves its queue out",
    )


def _wait(sheet: Sheet, hosted: Hosted, occupancy: float) -> Explained:
    load = hosted.working.load
    service = sheet.add(
        "prefill_service_s",
        "Time of the engine that a mean prompt takes",
        load.service(occupancy),
        "s",
        "new_tokens / max_num_batched_tokens * step_s + stall_mean_s",
        [
            worked_out("new_tokens", load.mean_prompt.new, "tokens", "a mean prompt, less cached"),
            batched_tokens(hosted),
            sheet["at_mean/step_s"],
            sheet["at_mean/stall_mean_s"],
        ],
        exactness="modelled",
    )
    use = sheet.add(
        "prefill_use",
        "Share of the time in which the prefill server works",
        load.use(occupancy),
        "share",
        "requests_per_minute / 60 * prefill_service_s",
        [sheet["requests_per_minute"], service],
        exactness="modelled",
    )
    wait = (
        load.ttft_p95(occupancy) - load.prefill(occupancy, load.long_prompt) - load.step(occupancy)
    )
    title = "Wait for the prefill server, 95th percentile"
    if not use.value:
        return sheet.add("wait_p95_s", title, 0, "s", "0", [], rule="no prompt is computed")
    spread = "(deviation / mean)^2 of the prompts' lognormal, from mean and p95"
    return sheet.add(
        "wait_p95_s",
        title,
        wait,
        "s",
        "requests_per_minute / 60 * prefill_service_s ** 2 * (1 + variation2)"
        " / (2 * (1 - prefill_use)) / prefill_use * max(0, log(prefill_use / tail))",
        [
            sheet["requests_per_minute"],
            service,
            worked_out("variation2", load.variation2, "", spread),
            use,
            constant("tail", TAIL, "share", "the share that may wait longer"),
        ],
        exactness="modelled",
        rule="Pollaczek-Khinchine's mean wait of an M/G/1 queue; the waits of those who wait "
        "are taken as exponential",
    )
