"""The textbook roofline: what prefill and decode cost at the peak of a card.

Prefill does 2 x parameters FLOPs a token and is bound by arithmetic; a decode
step reads all weights and is bound by bandwidth. These are the reference
calculations; ``steps`` adds what real kernels, links and contexts cost.
"""

from __future__ import annotations

FLOPS_PER_PARAMETER = 2
"""A multiplication and an addition for every weight a token passes."""


def prefill_flops(parameters: float, prompt_tokens: float) -> float:
    """Return the floating-point operations of a prompt: 2 x parameters x tokens."""
    return FLOPS_PER_PARAMETER * parameters * prompt_tokens


def arithmetic_seconds(parameters: float, tokens: float, flops_per_s: float) -> float:
    """Return the seconds the arithmetic of ``tokens`` takes at peak."""
    return prefill_flops(parameters, tokens) / flops_per_s


def weight_read_seconds(weights_bytes: float, bandwidth_bytes_per_s: float) -> float:
    """Return the seconds one read of all weights takes: a batch-1 decode step."""
    return weights_bytes / bandwidth_bytes_per_s


def arithmetic_intensity(batch: float, bytes_per_parameter: float) -> float:
    """Return the FLOPs done for each byte of weights read in a decode step."""
    return FLOPS_PER_PARAMETER * batch / bytes_per_parameter


def ridge_point(flops_per_s: float, bandwidth_bytes_per_s: float) -> float:
    """Return the FLOPs per byte above which a card is bound by arithmetic."""
    return flops_per_s / bandwidth_bytes_per_s


def compute_utilisation(intensity: float, ridge: float) -> float:
    """Return the share of a card's arithmetic in use at an intensity, at most 1."""
    return min(1.0, intensity / ridge)


def decode_seconds_per_token(
    *,
    weights_bytes: float,
    kv_read_bytes_per_sequence: float,
    batch: float,
    bandwidth_bytes_per_s: float,
) -> float:
    """Return seconds a token at a batch: (weights + B x KV read) / (bandwidth x B)."""
    read = weights_bytes + batch * kv_read_bytes_per_sequence
    return read / (bandwidth_bytes_per_s * batch)


def distinct_expert_share(experts: int, active: int, tokens: float) -> float:
    """Return the share of experts that ``tokens`` touch: 1 - (1 - k/E)^tokens.

    Uniform routing; real routers are skewed and touch somewhat fewer.
    """
    if active >= experts:
        return 1.0
    return float(1.0 - (1.0 - active / experts) ** tokens)


def ring_bytes(message_bytes: float, gpus: int) -> float:
    """Return what a ring all-reduce moves through each GPU: 2(n-1)/n x the message."""
    return 2 * (gpus - 1) / gpus * message_bytes
