"""The roof of a GPU, and where prefill and decode of a plan stand below it.

Work is the matrix products of the weights, as in planner.serving.steps: attention's
arithmetic is left out, so both points are lower bounds. Seconds are the model's, with
attention, links and overheads, so a point lies below the roof by what these cost.
"""

from __future__ import annotations

from planner.curves.case import Case
from planner.curves.latency import load_at
from planner.curves.types import Roofline, RooflinePoint
from planner.serving.efficiency import precision_of
from planner.serving.roofline import ridge_point
from planner.serving.speed import Load
from planner.serving.steps import kv_read_bytes, prefill_seconds, product_flops, weight_read_bytes


def roofline(case: Case) -> Roofline | None:
    """Return the roofline of the chosen replica; None without a self-hosted choice.

    Decode stands at the planned running batch, prefill at a mean prompt on its own.
    """
    chosen = case.decision.chosen
    if chosen is None or chosen.self_hosted is None:
        return None
    machine, shape = case.machine(chosen.option)
    load = load_at(case, chosen)
    ridge = ridge_point(load.model.flops, load.model.bandwidth)
    return Roofline(
        accelerator=machine.accelerator.name,
        # Weights that the card cannot multiply as they are stored are computed in bf16.
        precision="bf16"
        if load.model.flops == machine.accelerator.bf16_flops
        else precision_of(shape.quantisation.bits, shape.quantisation.method),
        peak_flops_per_s=load.model.flops,
        bandwidth_bytes_per_s=load.model.bandwidth,
        ridge_flops_per_byte=ridge,
        points=(
            *([_prefill(load, ridge)] if load.mean_prompt.new > 0 else []),
            _decode(load, float(chosen.self_hosted.replica.max_num_seqs), ridge),
        ),
    )


def _prefill(load: Load, ridge: float) -> RooflinePoint:
    model, prompt = load.model, load.mean_prompt
    return _point(
        "prefill",
        tokens=prompt.new,
        flops=product_flops(model, prompt.new),
        read=weight_read_bytes(model, prompt.new),
        seconds=prefill_seconds(model, prompt.new, prompt.cached),
        ridge=ridge,
    )


def _decode(load: Load, batch: float, ridge: float) -> RooflinePoint:
    """Return decode: the weights and the caches of a stage's share of the batch are read."""
    model, profile = load.model, load.profile
    share = batch / model.pipeline_parallel
    context = profile.prompt_mean + profile.output_mean / 2
    return _point(
        "decode",
        tokens=batch,
        flops=product_flops(model, share),
        read=weight_read_bytes(model, share) + share * kv_read_bytes(model, context),
        seconds=load.step(batch),
        ridge=ridge,
    )


def _point(
    phase: str, *, tokens: float, flops: float, read: float, seconds: float, ridge: float
) -> RooflinePoint:
    intensity = flops / read
    return RooflinePoint(
        phase=phase,
        tokens=tokens,
        flops_per_byte=intensity,
        flops_per_s=flops / seconds,
        bound_by="bandwidth" if intensity < ridge else "arithmetic",
    )
