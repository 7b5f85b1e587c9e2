"""Weight bytes of one GPU: each kind of layer by its matrices, and what stands outside."""

from __future__ import annotations

from planner.report.numbers.explained import Explained, Term
from planner.report.numbers.facts import Sheet, constant, worked_out
from planner.report.numbers.hosted import Hosted
from planner.serving.layers import Layer
from planner.serving.shape import ModelShape
from planner.serving.weights import SIXTEEN_BITS, gpus_sharing, stage_weights

SIXTEEN = constant("sixteen_bits", SIXTEEN_BITS, "bytes", "what is never quantised has 16 bits")


def weight_numbers(sheet: Sheet, hosted: Hosted) -> Explained:
    """Add the weights of one GPU, down to the parameters of each matrix."""
    shape, parts = hosted.shape, stage_weights(hosted.shape, hosted.layout, 0)
    counts = shape.counts()
    layers = [_layer(sheet, hosted, at, layer) for at, (layer, _) in enumerate(counts, start=1)]
    terms: list[Term | Explained] = []
    products = []
    for at, ((_, count), made) in enumerate(zip(counts, layers, strict=True), start=1):
        terms.append(hosted.of_model(f"layers_{at}", count, "layers"))
        terms.append(made.term(f"layer_bytes_{at}"))
        products.append(f"layers_{at} * layer_bytes_{at}")
    formula = f"round({' + '.join(products)}) + hidden * sixteen_bits"
    terms += [hosted.of_model("hidden", shape.hidden, "elements"), SIXTEEN]
    for name, size, what in (
        ("routed_experts", parts.routed_experts, "routed experts of all layers, shared by GPUs"),
        ("embedding", parts.embedding, "the lookup table's rows on this GPU, at 16 bits"),
        ("head", parts.head, "the output head's rows on this GPU, at 16 bits"),
        ("vision", parts.vision, "the vision tower, at 16 bits"),
    ):
        if size:
            formula += f" + {name}"
            terms.append(_outside(sheet, hosted, name, size, what))
    return sheet.add(
        "weights_bytes",
        "Weights on one GPU",
        hosted.replica.ledger.weights_bytes,
        "bytes",
        formula,
        terms,
        rule="layers, the last norm, routed experts, both tables; vLLM divides what it can",
    )


def _layer(sheet: Sheet, hosted: Hosted, at: int, layer: Layer) -> Explained:
    """Add the bytes of one layer of a kind, routed experts left out."""
    hidden, degree = hosted.shape.hidden, hosted.layout.tensor_parallel
    terms: list[Term | Explained] = []
    products, value, small = [], 0.0, layer.norms * hidden
    for part, bits in ((layer.mixer, layer.mixer_bits), (layer.mlp, layer.mlp_bits)):
        if part is None:
            continue
        for name, size in part.projections(hidden):
            symbol = name.replace(".", "_").removeprefix("self_attn_")
            by = gpus_sharing(layer, name, degree)
            products.append(f"{symbol} * {bits:g} / 8 / {by}")
            value += size * bits / 8 / by
            terms.append(hosted.of_model(symbol, size, "parameters", f"matrix {name}"))
        small += part.small(hidden)
    terms += [hosted.of_model("small", small, "parameters", "norms, biases, routers"), SIXTEEN]
    return sheet.add(
        f"weights_bytes/layer_{at}",
        f"Weights of one layer (kind {at}) on one GPU",
        value + small * SIXTEEN_BITS,
        "bytes",
        " + ".join([*products, "small * sixteen_bits"]),
        terms,
        rule="parameters x bits / 8 / the GPUs that share the matrix",
    )


def _outside(sheet: Sheet, hosted: Hosted, name: str, size: int, what: str) -> Term | Explained:
    shape: ModelShape = hosted.shape
    if name not in ("embedding", "head"):
        return worked_out(name, size, "bytes", what)
    titles = {"embedding": "Lookup table on one GPU", "head": "Output head on one GPU"}
    return sheet.add(
        f"weights_bytes/{name}",
        titles[name],
        size,
        "bytes",
        "ceil(ceil(vocabulary / 64) * 64 / tensor_parallel) * hidden * sixteen_bits",
        [
            hosted.of_model("vocabulary", shape.vocabulary, "tokens"),
            hosted.of_model("hidden", shape.hidden, "elements"),
            hosted.degree(),
            SIXTEEN,
        ],
        rule="vLLM pads the vocabulary to a multiple of 64 before it is divided",
    )
