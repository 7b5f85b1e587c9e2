"""The memory ledger of one GPU, line by line, and the tokens that the rest holds."""

from __future__ import annotations

from planner.report.numbers.explained import Explained, Term
from planner.report.numbers.facts import Sheet, constant, worked_out
from planner.report.numbers.hosted import Hosted
from planner.report.numbers.kv import kv_numbers
from planner.report.numbers.weights import weight_numbers
from planner.serving.activation import (
    ACTIVATION_BYTES,
    DENSE_COPIES,
    GRAPH_BYTES_PER_LAYER,
    NON_TORCH,
    activation_bytes,
    forward_bytes,
)

_DEFAULTS = "default of vLLM's API server by the card's memory (engine/arg_utils.py)"


def memory_numbers(sheet: Sheet, hosted: Hosted) -> None:
    """Add every line of the ledger."""
    ledger = hosted.replica.ledger
    sheet.stated(
        "total_bytes",
        "Memory of one GPU as CUDA reports it",
        hosted.of_card("total_bytes", "cuda_visible_bytes", "bytes"),
    )
    sheet.stated(
        "gpu_memory_utilization",
        "Share of the memory that vLLM may take",
        hosted.case.facts.platform_term(
            "gpu_memory_utilization",
            hosted.cluster,
            "serving.gpu_memory_utilization",
            "share",
            f"clusters[{hosted.cluster.name}].",
        ),
    )
    weights = weight_numbers(sheet, hosted)
    overheads = [_activation(sheet, hosted), _non_torch(sheet, hosted), _graphs(sheet, hosted)]
    sheet.add(
        "kv_pool_bytes",
        "KV cache of one GPU",
        ledger.kv_pool_bytes,
        "bytes",
        "max(0, floor(total_bytes * gpu_memory_utilization) - weights_bytes - activation_bytes"
        " - non_torch_bytes - graph_bytes)",
        [sheet["total_bytes"], sheet["gpu_memory_utilization"], weights, *overheads],
        exactness="modelled",
        rule="vLLM's sum at start: what its share of the memory leaves after all else",
    )
    sheet.add(
        "not_given_bytes",
        "Memory of one GPU that is not given to the engine",
        ledger.total_bytes
        - ledger.weights_bytes
        - ledger.activation_bytes
        - ledger.non_torch_bytes
        - ledger.graph_bytes
        - ledger.kv_pool_bytes,
        "bytes",
        "total_bytes - weights_bytes - activation_bytes - non_torch_bytes - graph_bytes"
        " - kv_pool_bytes",
        [sheet["total_bytes"], weights, *overheads, sheet["kv_pool_bytes"]],
        exactness="modelled",
    )
    kv_numbers(sheet, hosted)


def batched_tokens(hosted: Hosted) -> Term:
    """Return the tokens of one engine step as a term."""
    value = hosted.filled.max_num_batched_tokens
    return constant("max_num_batched_tokens", value, "tokens", _DEFAULTS)


def _activation(sheet: Sheet, hosted: Hosted) -> Explained:
    shape, filled = hosted.shape, hosted.filled
    tokens, rules = filled.max_num_batched_tokens, filled.rules
    copies = constant("activation_element", ACTIVATION_BYTES, "bytes", "activations are 16-bit")
    forward = forward_bytes(shape, hosted.layout, tokens)
    terms: list[Term | Explained] = [
        sheet.add(
            "activation_bytes/forward",
            "Activations of a forward pass",
            forward,
            "bytes",
            "activation_element * max_num_batched_tokens * token_width",
            [
                copies,
                batched_tokens(hosted),
                worked_out(
                    "token_width",
                    forward // (ACTIVATION_BYTES * tokens),
                    "elements",
                    f"what a token holds at the widest layer, {DENSE_COPIES} x hidden among it; "
                    "reproduces vllm-project/vllm#10517",
                ),
            ],
            exactness="modelled",
        )
    ]
    if rules.logits_bytes:
        seqs = hosted.replica.max_num_seqs
        sampler = ACTIVATION_BYTES * tokens * shape.hidden
        terms.append(
            sheet.add(
                "activation_bytes/sampler",
                "Logits of the sampler beside the hidden states",
                sampler + round(rules.logits_bytes * seqs * shape.vocabulary),
                "bytes",
                "activation_element * max_num_batched_tokens * hidden"
                " + round(logits_bytes * max_num_seqs * vocabulary)",
                [
                    copies,
                    batched_tokens(hosted),
                    hosted.of_model("hidden", shape.hidden, "elements"),
                    constant("logits_bytes", rules.logits_bytes, "bytes", rules.source),
                    Term("max_num_seqs", seqs, "requests", "number", sheet.id_of("max_num_seqs")),
                    hosted.of_model("vocabulary", shape.vocabulary, "tokens"),
                ],
                exactness="modelled",
            )
        )
    total = activation_bytes(shape, hosted.layout, filled)
    if shape.vision is not None:
        said = "encoding the images of one step; vllm-project/vllm#16570"
        images = total if total > max(_value(term) for term in terms) else 0
        terms.append(worked_out("vision", images, "bytes", said))
    names = [term.term().symbol if isinstance(term, Explained) else term.symbol for term in terms]
    return sheet.add(
        "activation_bytes",
        "Activations at their peak",
        hosted.replica.ledger.activation_bytes,
        "bytes",
        f"max({', '.join(names)})" if len(names) > 1 else names[0],
        terms,
        exactness="modelled",
        rule="the peaks of a profiling run are never live together: the largest counts",
    )


def _value(term: Term | Explained) -> float:
    assert not isinstance(term.value, tuple)  # noqa: S101 - these terms are single figures
    return term.value


def _non_torch(sheet: Sheet, hosted: Hosted) -> Explained:
    reserve = [item for item in NON_TORCH if item.from_degree <= hosted.layout.gpus][-1]
    rules = hosted.filled.rules
    return sheet.add(
        "non_torch_bytes",
        "CUDA context and communication buffers",
        hosted.replica.ledger.non_torch_bytes,
        "bytes",
        "max(measured_bytes, engine_bytes)",
        [
            constant("measured_bytes", reserve.bytes, "bytes", reserve.source),
            constant("engine_bytes", rules.non_torch_bytes, "bytes", rules.source),
        ],
        exactness="modelled",
    )


def _graphs(sheet: Sheet, hosted: Hosted) -> Explained:
    value = hosted.replica.ledger.graph_bytes
    title = "CUDA graphs"
    if not value:
        said = "this release takes CUDA graphs from what is outside its share of the memory"
        none = constant("graph_bytes", 0, "bytes", hosted.filled.rules.source)
        return sheet.add("graph_bytes", title, 0, "bytes", "graph_bytes", [none], rule=said)
    source = "between 18 and 38 MiB a layer measured (llm-d-planner@e50305a): a middle value"
    return sheet.add(
        "graph_bytes",
        title,
        value,
        "bytes",
        "bytes_per_layer * layers",
        [
            constant("bytes_per_layer", GRAPH_BYTES_PER_LAYER, "bytes", source),
            hosted.of_model("layers", hosted.shape.layer_count, "layers"),
        ],
        exactness="modelled",
    )
