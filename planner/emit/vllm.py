"""How one vLLM server is started, watched and stopped: flags, environment, times.

Every flag that moves capacity or latency is stated, because vLLM's defaults move
with the card and the release. Flags were read in the wheels of the releases listed.
"""

from __future__ import annotations

import math

from planner.errors import PlannerError
from planner.plan import VllmServer

PORT = 8000
HEALTH_PATH = "/health"
MODEL_ROOT = "/models"
HOME = "/home/llm"

STARTUP_FACTOR = 1.5
"""Loading may take this much longer than planned before the pod is given up."""
PROBE_PERIOD_SECONDS = 10
MIN_STARTUP_PROBES = 60
PRE_STOP_SECONDS = 15
"""Long enough for endpoints and load balancers to forget a pod that is leaving."""
EXIT_SECONDS = 15
"""What the engine gets to exit after the last request has been answered."""
SCHEDULING_SECONDS = 900
"""Allowance for a new node and the pull of a large image."""

_FLAGS_0_32 = frozenset(
    {
        "--dtype",
        "--enable-chunked-prefill",
        "--enable-prefix-caching",
        "--gpu-memory-utilization",
        "--kv-cache-dtype",
        "--max-model-len",
        "--max-num-batched-tokens",
        "--max-num-seqs",
        "--pipeline-parallel-size",
        "--port",
        "--revision",
        "--served-model-name",
        "--shutdown-timeout",
        "--tensor-parallel-size",
    }
)
FLAGS: dict[tuple[int, int], frozenset[str]] = {(0, 32): _FLAGS_0_32, (0, 33): _FLAGS_0_32}
"""Flags of `vllm serve` that may be emitted, by release (major, minor)."""


def serve_command(server: VllmServer) -> list[str]:
    """Return the whole command line; the model is positional, as `vllm serve` wants it."""
    flags: list[tuple[str, str | None]] = [
        ("--served-model-name", server.model),
        ("--port", str(PORT)),
        ("--tensor-parallel-size", str(server.tensor_parallel)),
    ]
    if server.pipeline_parallel > 1:
        flags.append(("--pipeline-parallel-size", str(server.pipeline_parallel)))
    flags += [
        ("--max-model-len", str(server.max_model_len)),
        ("--max-num-seqs", str(server.max_num_seqs)),
        ("--max-num-batched-tokens", str(server.max_num_batched_tokens)),
        ("--gpu-memory-utilization", str(server.gpu_memory_utilization)),
        ("--dtype", server.dtype),
        ("--kv-cache-dtype", server.kv_cache_dtype),
        ("--shutdown-timeout", str(server.drain_seconds)),
        ("--enable-prefix-caching", None),
        ("--enable-chunked-prefill", None),
    ]
    if server.model_claim is None and server.model_revision is not None:
        flags.append(("--revision", server.model_revision))
    _check_flags(server, [flag for flag, _ in flags])
    words = [word for flag, value in flags for word in (flag, value) if word is not None]
    return ["vllm", "serve", model_location(server), *words]


def model_location(server: VllmServer) -> str:
    """Return where vLLM finds the weights: a folder of the claim, or the hub's name.

    A claim holds each model in the folder named after it, so one claim can
    serve several models.
    """
    return server.model if server.model_claim is None else f"{MODEL_ROOT}/{server.model}"


def image_reference(server: VllmServer) -> str:
    """Return the image by digest where one is given (the tag then says nothing), else by tag."""
    if server.image_digest is None:
        return server.image
    folder, slash, last = server.image.partition("@")[0].rpartition("/")
    return f"{folder}{slash}{last.partition(':')[0]}@{server.image_digest}"


def environment(server: VllmServer) -> list[dict[str, str]]:
    """Return the container's environment: writable homes, no telemetry, no hub if offline."""
    cache = f"{HOME}/.cache"
    values = {
        "HOME": HOME,
        "USER": "llm",
        "LOGNAME": "llm",
        "XDG_CACHE_HOME": cache,
        "XDG_CONFIG_HOME": f"{HOME}/.config",
        "HF_HOME": f"{cache}/huggingface",
        "TORCHINDUCTOR_CACHE_DIR": f"{cache}/torchinductor",
        "TRITON_CACHE_DIR": f"{cache}/triton",
        "VLLM_CACHE_ROOT": f"{cache}/vllm",
        "VLLM_CONFIG_ROOT": f"{HOME}/.config/vllm",
        "VLLM_ENGINE_READY_TIMEOUT_S": str(startup_budget_seconds(server)),
        "VLLM_NO_USAGE_STATS": "1",
        "DO_NOT_TRACK": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
    }
    if server.model_claim is not None:
        values |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
    return [{"name": name, "value": value} for name, value in values.items()]


def startup_probes(server: VllmServer) -> int:
    """Return how many startup probes may fail before the container is restarted."""
    needed = math.ceil(server.startup_seconds * STARTUP_FACTOR / PROBE_PERIOD_SECONDS)
    return max(needed, MIN_STARTUP_PROBES)


def startup_budget_seconds(server: VllmServer) -> int:
    """Return how long a container may take to answer /health."""
    return startup_probes(server) * PROBE_PERIOD_SECONDS


def grace_seconds(server: VllmServer) -> int:
    """Return the termination grace: leave the endpoints, drain, exit."""
    return PRE_STOP_SECONDS + server.drain_seconds + EXIT_SECONDS


def progress_deadline_seconds(server: VllmServer) -> int:
    """Return how long a rollout may go without a new ready pod: old out, new in."""
    return startup_budget_seconds(server) + grace_seconds(server) + SCHEDULING_SECONDS


def _check_flags(server: VllmServer, flags: list[str]) -> None:
    release = _release(server.vllm_version)
    known = FLAGS.get(release)
    if known is None:
        releases = ", ".join(f"{major}.{minor}" for major, minor in sorted(FLAGS))
        raise PlannerError(
            f"server {server.name}: the flags of vLLM {server.vllm_version} are not known here; "
            f"known releases: {releases}. Set the cluster's serving.vllm_version to one of them."
        )
    unknown = sorted(set(flags) - known)
    if unknown:
        raise PlannerError(
            f"server {server.name}: vLLM {server.vllm_version} has no flag {', '.join(unknown)}."
        )


def _release(version: str) -> tuple[int, int]:
    parts = version.removeprefix("v").split(".")
    try:
        return int(parts[0]), int(parts[1])
    except (IndexError, ValueError):
        raise PlannerError(
            f"vLLM version {version!r} is not a release number such as 0.33.0."
        ) from None
