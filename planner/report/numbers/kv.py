"""The KV cache: bytes of a token, blocks of a request, and how much the pool holds."""

from __future__ import annotations

import math

from planner.report.numbers.explained import Explained, Term
from planner.report.numbers.facts import Sheet, constant, worked_out
from planner.report.numbers.hosted import Hosted
from planner.serving.kv import KV_BITS, grows, kept_tokens, state_bytes, token_bytes
from planner.serving.kv_pool import KvGroup, kv_plan
from planner.serving.layers import Attention, Layer


def kv_numbers(sheet: Sheet, hosted: Hosted) -> None:
    """Add what a token and a request take of the KV cache, and what it holds."""
    _longest(sheet, hosted)
    _bytes_per_token(sheet, hosted)
    _fixed_bytes(sheet, hosted)
    _held(sheet, hosted)


def _longest(sheet: Sheet, hosted: Hosted) -> None:
    case = hosted.case
    sheet.add(
        "max_model_len",
        "Tokens a request is admitted for",
        hosted.replica.ledger.max_model_len,
        "tokens",
        "ceil(prompt_p95 * token_multiplier) + ceil(max_tokens * token_multiplier)",
        [
            case.term("prompt_p95", "traffic.prompt_tokens.p95", "tokens"),
            case.term("max_tokens", "traffic.max_tokens", "tokens"),
            case.multiplier(),
        ],
        rule="the prompt at its 95th percentile, and as much output as is allowed",
    )


def _bytes_per_token(sheet: Sheet, hosted: Hosted) -> None:
    terms: list[Term | Explained] = []
    products = []
    for at, (layer, count) in enumerate(hosted.shape.counts(), start=1):
        size = token_bytes(layer, hosted.layout.tensor_parallel, hosted.filled.kv_dtype)
        if not size or not grows(hosted.shape, layer):
            continue
        made = _layer_token(sheet, hosted, at, layer, size)
        terms += [hosted.of_model(f"layers_{at}", count, "layers"), made.term(f"token_bytes_{at}")]
        products.append(f"layers_{at} * token_bytes_{at}")
    sheet.add(
        "kv_bytes_per_token",
        "KV cache of one token on one GPU",
        hosted.replica.ledger.kv_bytes_per_token,
        "bytes",
        " + ".join(products) or "0",
        terms,
        rule="keys and values of every layer that keeps all tokens; KV heads, never query heads",
    )


def _layer_token(
    sheet: Sheet, hosted: Hosted, at: int, layer: Layer, size: int
) -> Explained | Explained:
    mixer, kind = layer.mixer, f"kv_bytes_per_token/layer_{at}"
    title = f"KV cache of one token in one layer (kind {at})"
    bits = KV_BITS[hosted.filled.kv_dtype]
    stored = constant("kv_bits", bits, "bits", f"the KV cache is kept as {hosted.filled.kv_dtype}")
    if isinstance(mixer, Attention):
        return sheet.add(
            kind,
            title,
            size,
            "bytes",
            "round(max(1, kv_heads // tensor_parallel) * (key_dim + value_dim) * kv_bits / 8)",
            [
                hosted.of_model("kv_heads", mixer.kv_heads, "heads"),
                hosted.degree(),
                hosted.of_model("key_dim", mixer.head_dim, "elements"),
                hosted.of_model("value_dim", mixer.value_dim, "elements"),
                stored,
            ],
        )
    said = "the compressed vector and its position part, the same on every GPU"
    latent = hosted.of_model("latent_bits", size * 8 / bits, "elements", said)
    return sheet.add(
        kind, title, size, "bytes", "round(latent_bits * kv_bits / 8)", [latent, stored]
    )


def _fixed_bytes(sheet: Sheet, hosted: Hosted) -> None:
    degree, filled = hosted.layout.tensor_parallel, hosted.filled
    sizes, counts = [], []
    for layer, count in hosted.shape.counts():
        size = state_bytes(layer, degree)
        if not grows(hosted.shape, layer):
            kept = kept_tokens(layer, filled.max_model_len, filled.max_num_batched_tokens)
            size += kept * token_bytes(layer, degree, filled.kv_dtype)
        if size:
            sizes.append(size)
            counts.append(count)
    sheet.add(
        "kv_fixed_bytes_per_sequence",
        "KV cache of a request that does not grow",
        hosted.replica.ledger.kv_fixed_bytes_per_sequence,
        "bytes",
        "sum_of_products(layers, kept_bytes)" if sizes else "0",
        [
            hosted.of_model("layers", tuple(counts), "layers"),
            worked_out("kept_bytes", tuple(sizes), "bytes", "a layer's window or recurrent state"),
        ]
        if sizes
        else [],
        rule="windows and recurrent states" if sizes else "every layer keeps all tokens",
    )


def _held(sheet: Sheet, hosted: Hosted) -> None:
    ledger, plan = (
        hosted.replica.ledger,
        kv_plan(hosted.shape, hosted.layout.tensor_parallel, hosted.filled),
    )
    length = sheet["max_model_len"]
    if not plan.request_blocks(ledger.max_model_len) or not plan.block_bytes:
        batch = Term(
            "max_num_seqs",
            ledger.max_concurrency,
            "requests",
            "number",
            sheet.id_of("max_num_seqs"),
        )
        held = sheet.add(
            "max_concurrency",
            "Longest requests held at once",
            ledger.max_concurrency,
            "requests",
            "max_num_seqs",
            [batch],
            rule="nothing is cached: the batch limit is what counts",
        )
        sheet.add("kv_tokens", "Tokens that the KV cache holds", 0, "tokens", "0", [])
        return
    blocks = _request_blocks(sheet, hosted, plan.groups)
    block = worked_out(
        "block_bytes",
        plan.block_bytes,
        "bytes",
        "a block of every layer of a group, as vLLM cuts the pool (v1/core/kv_cache_utils.py)",
    )
    held = sheet.add(
        "max_concurrency",
        "Longest requests held at once",
        ledger.max_concurrency,
        "requests",
        "(kv_pool_bytes // block_bytes) / kv_request_blocks",
        [sheet["kv_pool_bytes"], block, blocks],
        exactness="modelled",
        rule="vLLM counts whole blocks, never bytes over bytes a token",
    )
    sheet.add(
        "kv_tokens",
        "Tokens that the KV cache holds",
        ledger.kv_tokens,
        "tokens",
        "floor((kv_pool_bytes // block_bytes) / kv_request_blocks * max_model_len)",
        [sheet["kv_pool_bytes"], block, blocks, length],
        exactness="modelled",
        rule=f"{held.title.lower()} x their length, as vLLM prints it",
    )


def _request_blocks(sheet: Sheet, hosted: Hosted, groups: tuple[KvGroup, ...]) -> Explained:
    length = sheet["max_model_len"]
    total = kv_plan(hosted.shape, hosted.layout.tensor_parallel, hosted.filled).request_blocks(
        math.floor(length.value)
    )
    title, said = "Blocks of the KV cache that the longest request takes", "tokens of a block"
    full = [group for group in groups if group.kind == "full"]
    parts = [
        f"copies_{at} * ceil(max_model_len / block_tokens_{at})"
        for at, _ in enumerate(full, start=1)
    ]
    terms: list[Term | Explained] = [length]
    for at, group in enumerate(full, start=1):
        terms.append(worked_out(f"copies_{at}", group.copies, "groups", "groups of layers alike"))
        tokens = group.block_tokens
        terms.append(worked_out(f"block_tokens_{at}", tokens, "tokens", said))
    others = [group for group in groups if group.kind != "full"]
    if others:
        batched = hosted.filled.max_num_batched_tokens
        taken = tuple(group.blocks(math.floor(length.value), batched) for group in others)
        what = "blocks of windows and recurrent states"
        parts.append("sum(window_blocks)")
        terms.append(worked_out("window_blocks", taken, "blocks", what))
    return sheet.add("kv_request_blocks", title, total, "blocks", " + ".join(parts), terms)
