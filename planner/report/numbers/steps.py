"""Seconds of an engine step at a running batch, and what a prefill adds to it."""

from __future__ import annotations

from dataclasses import dataclass

from planner.report.numbers.explained import Explained, Term
from planner.report.numbers.facts import Sheet, constant, worked_out
from planner.report.numbers.hosted import Hosted
from planner.serving.efficiency import (
    LAYER_OVERHEAD_S,
    STEP_OVERHEAD_S,
    prefill_attention_share,
)
from planner.serving.roofline import FLOPS_PER_PARAMETER
from planner.serving.speed import Load, Prompt
from planner.serving.steps import (
    HIDDEN_BYTES,
    all_reduce_seconds,
    decode_bounds,
    kv_read_bytes,
    weight_read_bytes,
)

_CLOSED_FORM = "fitted, see the efficiency factors' source"
_ATTENTION = "medians over vLLM kernels on H100, aiconfigurator-core 0.12.0"


@dataclass(frozen=True)
class At:
    """A running batch at which speed is told: a prefix of kinds, words, and the batch."""

    prefix: str
    words: str
    batch: Term

    @property
    def requests(self) -> float:
        """Running requests; a step has at least one."""
        assert not isinstance(self.batch.value, tuple)  # noqa: S101 - a batch is one figure
        return max(self.batch.value, 1.0)


def step_numbers(sheet: Sheet, hosted: Hosted, load: Load, at: At) -> Explained:
    """Add one decode step at a batch, with what it is made of."""
    model, batch = load.model, at.requests
    weights, arithmetic = decode_bounds(model, batch)
    parts = [
        _weights_read(sheet, load, at, weights),
        _arithmetic(sheet, hosted, load, at, arithmetic),
        _kv_read(sheet, hosted, load, at),
        _all_reduce(sheet, hosted, load, at),
        _overhead(sheet, hosted, load, at),
    ]
    return sheet.add(
        f"{at.prefix}/step_s",
        f"Decode step {at.words}",
        load.step(batch),
        "s",
        "max(weights_read_s, arithmetic_s) + kv_read_s + all_reduce_s + overhead_s",
        parts,
        exactness="modelled",
        rule="a roofline with measured efficiency factors: weights and arithmetic overlap",
    )


def _weights_read(sheet: Sheet, load: Load, at: At, seconds: float) -> Explained:
    model = load.model
    terms: list[Term | Explained] = [
        worked_out(
            "read_bytes",
            weight_read_bytes(model, at.requests),
            "bytes",
            "layers and head once, and of the routed experts those that the batch touches",
        ),
        *_rates(load, "bandwidth"),
    ]
    return sheet.add(
        f"{at.prefix}/weights_read_s",
        f"Reading the weights, {at.words}",
        seconds,
        "s",
        "read_bytes / (bandwidth * bandwidth_share)",
        terms,
        exactness="modelled",
    )


def _arithmetic(sheet: Sheet, hosted: Hosted, load: Load, at: At, seconds: float) -> Explained:
    return sheet.add(
        f"{at.prefix}/arithmetic_s",
        f"Arithmetic of the batch, {at.words}",
        seconds,
        "s",
        "flops_per_parameter * matmul_parameters * batch / tensor_parallel"
        " / (flops * compute_share)",
        [
            constant("flops_per_parameter", FLOPS_PER_PARAMETER, "FLOP", "multiply and add"),
            hosted.of_model("matmul_parameters", load.model.matmul_parameters, "parameters"),
            _batch(at),
            hosted.degree(),
            *_rates(load, "compute"),
        ],
        exactness="modelled",
    )


def _kv_read(sheet: Sheet, hosted: Hosted, load: Load, at: At) -> Explained:
    context = load.profile.prompt_mean + load.profile.output_mean / 2
    read = kv_read_bytes(load.model, context)
    return sheet.add(
        f"{at.prefix}/kv_read_s",
        f"Reading the KV cache, {at.words}",
        at.requests * read / (load.model.bandwidth * load.model.efficiency.attention),
        "s",
        "batch * kv_read_bytes / (bandwidth * attention_share)",
        [
            _batch(at),
            worked_out(
                "kv_read_bytes",
                read,
                "bytes",
                f"one request's cache at its mean context of {context:,.1f} tokens: the prompt "
                "and half of the output",
            ),
            *_rates(load, "attention"),
        ],
        exactness="modelled",
    )


def _all_reduce(sheet: Sheet, hosted: Hosted, load: Load, at: At) -> Explained:
    model = load.model
    title, unit = f"All-reduces between GPUs, {at.words}", "s"
    kind, seconds = f"{at.prefix}/all_reduce_s", all_reduce_seconds(model, at.requests)
    if model.tensor_parallel == 1:
        return sheet.add(kind, title, 0, unit, "0", [], rule="a single GPU has nobody to ask")
    return sheet.add(
        kind,
        title,
        seconds,
        unit,
        "(2 * layers + 1) * (link_latency_s + 2 * (tensor_parallel - 1) / tensor_parallel"
        " * batch * hidden * hidden_bytes / bus_bytes_per_s)",
        [
            hosted.of_model("layers", model.layers, "layers"),
            constant("link_latency_s", model.link.latency_s, "s", model.link.source),
            hosted.degree(),
            _batch(at),
            hosted.of_model("hidden", model.hidden, "elements"),
            constant("hidden_bytes", HIDDEN_BYTES, "bytes", "activations travel at 16 bits"),
            constant("bus_bytes_per_s", model.link.bus_bytes_per_s, "B/s", model.link.source),
        ],
        exactness="modelled",
        rule="two a layer and one for the embedding, around a ring",
    )


def _overhead(sheet: Sheet, hosted: Hosted, load: Load, at: At) -> Explained:
    return sheet.add(
        f"{at.prefix}/overhead_s",
        f"Launches, scheduling and sampling, {at.words}",
        LAYER_OVERHEAD_S * load.model.layers + STEP_OVERHEAD_S,
        "s",
        "layer_overhead_s * layers + step_overhead_s",
        [
            constant("layer_overhead_s", LAYER_OVERHEAD_S, "s", _CLOSED_FORM),
            hosted.of_model("layers", load.model.layers, "layers"),
            constant("step_overhead_s", STEP_OVERHEAD_S, "s", _CLOSED_FORM),
        ],
        exactness="modelled",
    )


def stall_numbers(
    sheet: Sheet, hosted: Hosted, load: Load, at: At, prompt: Prompt, name: str
) -> Explained:
    """Add what one prefill adds to the steps that it shares; ``name`` says whose prompt."""
    model, batch = load.model, at.requests
    kind, title = f"{at.prefix}/stall_{name}_s", f"Stall by a {name} prompt's prefill, {at.words}"
    if prompt.new <= 0:
        rule = "the whole prompt comes from a prefix cache"
        return sheet.add(kind, title, 0, "s", "0", [], rule=rule)
    chunks = max(1.0, prompt.new / load.chunk_tokens)
    chunk = prompt.new / chunks
    read = weight_read_bytes(model, chunk + batch) / (model.bandwidth * model.efficiency.bandwidth)
    more = decode_bounds(model, chunk * model.pipeline_parallel)[1]
    attention = _attention(sheet, load, at, prompt, name)
    moved = all_reduce_seconds(model, prompt.new) - all_reduce_seconds(model, 0)
    return sheet.add(
        kind,
        title,
        load.stall(batch, prompt),
        "s",
        "chunks * (max(mixed_read_s, arithmetic_s + chunk_arithmetic_s)"
        " - max(weights_read_s, arithmetic_s)) + attention_s + link_s",
        [
            worked_out(
                "chunks",
                chunks,
                "steps",
                f"{prompt.new:,.1f} tokens to compute over "
                f"{load.chunk_tokens:,} of a step, at least one",
            ),
            worked_out("mixed_read_s", read, "s", "weights, with the experts that both touch"),
            sheet[f"{at.prefix}/arithmetic_s"],
            worked_out("chunk_arithmetic_s", more, "s", f"of {chunk:,.1f} tokens of prompt"),
            sheet[f"{at.prefix}/weights_read_s"],
            attention.term("attention_s"),
            worked_out("link_s", moved, "s", "the prompt's share of the all-reduces"),
        ],
        exactness="modelled",
        rule="a step that carries a chunk reads the weights once for both",
    )


def _attention(sheet: Sheet, load: Load, at: At, prompt: Prompt, name: str) -> Explained:
    model = load.model
    seen, each = [], []
    for window, per_pair in model.attention_flops:
        before = prompt.cached + prompt.new / 2
        seen.append(before if window is None else min(before, window))
        each.append(per_pair)
    share = prefill_attention_share(prompt.new)
    value = sum(p * prompt.new * s for p, s in zip(each, seen, strict=True))
    return sheet.add(
        f"{at.prefix}/attention_{name}_s",
        f"Attention of a {name} prompt's prefill, {at.words}",
        value / model.tensor_parallel / (model.attention_peak * share),
        "s",
        "sum_of_products(flops_per_pair, tokens_seen) * new_tokens / tensor_parallel"
        " / (attention_peak * attention_share)",
        [
            worked_out("flops_per_pair", tuple(each), "FLOP", "all layers alike, by window"),
            worked_out(
                "tokens_seen", tuple(seen), "tokens", "half of what stands before, or the window"
            ),
            worked_out("new_tokens", prompt.new, "tokens", "the prompt less what is cached"),
            worked_out("tensor_parallel", model.tensor_parallel, "GPUs", "GPUs of a replica"),
            constant("attention_peak", model.attention_peak, "FLOP/s", "the card's bf16 peak"),
            constant("attention_share", share, "share", _ATTENTION),
        ],
        exactness="modelled",
    )


def _batch(at: At) -> Term:
    batch = at.batch
    return Term("batch", at.requests, batch.unit, batch.origin, batch.ref, batch.source)


def _rates(load: Load, what: str) -> tuple[Term, Term]:
    """Return a peak of the card, and the share of it that kernels reach."""
    model, efficiency = load.model, load.model.efficiency
    card = "the card's peak"
    share = constant(f"{what}_share", getattr(efficiency, what), "share", efficiency.source)
    if what == "compute":
        return constant("flops", model.flops, "FLOP/s", f"{card} in the weights' format"), share
    return constant("bandwidth", model.bandwidth, "B/s", f"{card} memory bandwidth"), share
